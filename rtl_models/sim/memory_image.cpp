#include "rtl_models/sim/memory_image.h"

#include <sys/mman.h>

#include <new>

namespace warpline {

MemoryImage::MemoryImage(std::uint64_t bytes) : size_(bytes) {
  void* p = mmap(nullptr, bytes == 0 ? 1 : bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<std::uint8_t*>(p);
}

MemoryImage::~MemoryImage() {
  munmap(base_, size_ == 0 ? 1 : size_);
}

}  // namespace warpline
