#include "engine/memory_limit.h"

#include <cstdio>

#include "engine/error.h"

namespace specbench::engine {

std::string size_text(std::size_t bytes) {
  char text[32];
  const bool is_small = bytes < 1'000'000'000;
  (void)std::snprintf(text, sizeof text, is_small ? "%.1f MB" : "%.2f GB",
                      static_cast<double>(bytes) / (is_small ? 1e6 : 1e9));
  return text;
}

void require_memory(const std::string& what, std::size_t bytes, std::size_t limit_bytes,
                    const std::string& advice) {
  if (limit_bytes == 0 || bytes <= limit_bytes) return;
  throw InputError(what + " needs " + size_text(bytes) + " of memory and " +
                   size_text(limit_bytes) + " are free; " + advice + ".");
}

}  // namespace specbench::engine
