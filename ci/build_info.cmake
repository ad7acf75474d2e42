# Writes a header with the commit, whether the tree is dirty, the compiler and its flags; only when it changes.
execute_process(COMMAND git -C ${SOURCE_DIR} rev-parse HEAD OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE
                ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit "unknown")
endif()
execute_process(COMMAND git -C ${SOURCE_DIR} status --porcelain --untracked-files=no OUTPUT_VARIABLE changes ERROR_QUIET)
set(dirty false)
if(NOT changes STREQUAL "")
  set(dirty true)
endif()
set(text "#pragma once
// Made by ci/build_info.cmake at build time.
inline constexpr char kBuildCommit[] = \"${commit}\";
inline constexpr bool kBuildDirty = ${dirty};
inline constexpr char kBuildCompiler[] = \"${COMPILER}\";
inline constexpr char kBuildType[] = \"${BUILD_TYPE}\";
inline constexpr char kBuildFlags[] = \"${FLAGS} -ffp-contract=off\";
")
set(old "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
