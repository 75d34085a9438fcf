#include "platform/vfio_user/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <utility>

namespace warpline::vfio_user {

int SharedMemory::make(std::size_t count) {
  Descriptor made(memfd_create("warpline", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!made || ftruncate(made.number(), static_cast<off_t>(count)) != 0) return errno;
  // Who is given the file could cut it short otherwise, and an access of what is gone ends a process.
  if (fcntl(made.number(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) return errno;
  return map(std::move(made), count);
}

int SharedMemory::map(Descriptor its_file, std::size_t count, std::uint64_t offset) {
  void* const at =
      mmap(nullptr, count, PROT_READ | PROT_WRITE, MAP_SHARED, its_file.number(), static_cast<off_t>(offset));
  if (at == MAP_FAILED) return errno;
  bytes = {static_cast<std::uint8_t*>(at), [count](std::uint8_t* memory) { munmap(memory, count); }};
  file = std::move(its_file);
  return 0;
}

}  // namespace warpline::vfio_user
