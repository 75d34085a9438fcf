#include "rtl_models/sim/memory_image.h"

#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

namespace warpline {
namespace {

/// Whether the host keeps memory of any process elsewhere: what it does not have at hand may then be there.
bool swaps() {
  struct sysinfo host {};
  return sysinfo(&host) != 0 || host.totalswap != host.freeswap;
}

bool is_zero(const std::uint8_t* bytes, std::uint64_t count) {
  return bytes[0] == 0 && std::memcmp(bytes, bytes + 1, count - 1) == 0;
}

}  // namespace

MemoryImage::MemoryImage(std::uint64_t bytes, std::uint64_t preferred, bool lends) : size_(bytes) {
  if (lends) {
    file_ = memfd_create("memory", MFD_CLOEXEC);
    if (file_ == -1 || ftruncate(file_, static_cast<off_t>(bytes)) != 0) throw std::bad_alloc();
  }
  void* p = mmap(reinterpret_cast<void*>(preferred), bytes == 0 ? 1 : bytes, PROT_READ | PROT_WRITE,
                 MAP_NORESERVE | (lends ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS), file_, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<std::uint8_t*>(p);
}

MemoryImage::~MemoryImage() {
  munmap(base_, size_ == 0 ? 1 : size_);
  if (file_ != -1) close(file_);
}

bool MemoryImage::lend(std::uint64_t offset, std::uint64_t bytes, void* to) {
  std::memcpy(base_ + offset, to, bytes);
  return mmap(to, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_, static_cast<off_t>(offset)) ==
         to;
}

void MemoryImage::clear() {
  clear(0, size_);
}

void MemoryImage::clear(std::uint64_t offset, std::uint64_t bytes) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t end = offset + bytes;
  const std::uint64_t first = (offset + page - 1) / page * page;
  // The last page of the mapping is whole, however much of it the memory is.
  const std::uint64_t last = end == size_ ? (end + page - 1) / page * page : end / page * page;
  if (first >= last || madvise(base_ + first, last - first, file_ == -1 ? MADV_DONTNEED : MADV_REMOVE) != 0) {
    std::memset(base_ + offset, 0, bytes);  // less than a page, or locked ones
    return;
  }
  std::memset(base_ + offset, 0, first - offset);
  if (end > last) std::memset(base_ + last, 0, end - last);
}

void MemoryImage::for_each_run(const std::function<void(std::uint64_t, std::uint64_t)>& visit) const {
  constexpr std::uint64_t kStretch = std::uint64_t{1} << 30U;
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> resident;
  std::uint64_t begin = 0, end = 0;  // of the run that grows
  for (std::uint64_t stretch = 0; stretch < size_; stretch += kStretch) {
    const std::uint64_t bytes = std::min(kStretch, size_ - stretch);
    resident.assign((bytes + page - 1) / page, 1);
    if (swaps() || mincore(base_ + stretch, bytes, resident.data()) != 0 || swaps())
      std::fill(resident.begin(), resident.end(), static_cast<unsigned char>(1));
    for (std::uint64_t at = 0; at < bytes; at += kBlock) {
      const std::uint64_t block = std::min(kBlock, bytes - at);
      if ((resident[at / page] & 1U) == 0 || is_zero(base_ + stretch + at, block)) continue;
      if (stretch + at != end) {
        if (end != begin) visit(begin, end - begin);
        begin = stretch + at;
      }
      end = stretch + at + block;
    }
  }
  if (end != begin) visit(begin, end - begin);
}

}  // namespace warpline
