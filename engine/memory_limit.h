// Refusing what does not fit into memory, before it is taken: the system would end the process
// without a word.
#pragma once

#include <cstddef>
#include <string>

namespace specbench::engine {

/// "12.3 MB", "4.56 GB": powers of 1000.
std::string size_text(std::size_t bytes);

/// Throws InputError "<what> needs <bytes> of memory and <limit> are free; <advice>." where bytes
/// exceed the limit; a limit of 0 is none.
void require_memory(const std::string& what, std::size_t bytes, std::size_t limit_bytes,
                    const std::string& advice);

}  // namespace specbench::engine
