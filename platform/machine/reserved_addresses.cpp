#include "platform/machine/reserved_addresses.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace warpline {

ReservedAddresses::ReservedAddresses(std::uint64_t bytes, std::uint64_t preferred)
    : bytes_(std::max<std::uint64_t>(bytes, 1)) {
  constexpr std::uint64_t kStep = std::uint64_t{1} << 40U;
  constexpr std::uint64_t kEnd = std::uint64_t{1} << 47U;  // of what a process may have
  for (std::uint64_t at = preferred; at < kEnd && bytes_ < kEnd - at; at += kStep) {
    void* const wanted = reinterpret_cast<void*>(at);
    void* const got = mmap(wanted, bytes_, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == MAP_FAILED) continue;
    if (got == wanted) {
      first_ = at;
      return;
    }
    munmap(got, bytes_);  // a kernel that takes the address as a wish only
  }
  throw std::bad_alloc();
}

ReservedAddresses::~ReservedAddresses() {
  munmap(reinterpret_cast<void*>(first_), bytes_);
}

}  // namespace warpline
