#include "engine/model/mapped_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

#include "engine/error.h"
#include "engine/model/input_file.h"

namespace specbench::engine {

std::shared_ptr<const MappedFile> MappedFile::open(const std::filesystem::path& path) {
  const InputFile file(path);
  std::shared_ptr<MappedFile> mapped(new MappedFile);
  mapped->name_ = file.name();
  mapped->size_ = static_cast<std::size_t>(file.size());
  if (mapped->size_ == 0) return mapped;
  void* const data = ::mmap(nullptr, mapped->size_, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (data == MAP_FAILED)
    throw InputError(file.name() + " cannot be mapped (" + std::to_string(file.size()) +
                     " bytes): " + std::generic_category().message(errno) + ".");
  mapped->data_ = static_cast<const std::byte*>(data);
  return mapped;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

void release_mapped(std::span<const std::byte> bytes) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(bytes.data());
  const std::uintptr_t begin = (first + page - 1) / page * page;
  const std::uintptr_t end = (first + bytes.size()) / page * page;
  if (begin < end) (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace specbench::engine
