#include "platform/vfio_user/mapped_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <mutex>

namespace warpline::vfio_user {
namespace {

/// Mappings at a time. Windows of one file share one, so that a guest has a few.
constexpr std::size_t kMostMappings = 1024;

// The handler of a signal may reach nothing but what is there all the time and changes in one step.
std::array<MappedFile::Slot, kMostMappings>& slots() {
  static std::array<MappedFile::Slot, kMostMappings> all;
  return all;
}
struct sigaction& action_before() {
  static struct sigaction before {};
  return before;
}

/// Puts a page of zeros where the file has none any more, so that the access ends. What is no file of a
/// client's goes on to who handled the signal before.
void put_zeros(int, siginfo_t* info, void*) {
  const int error = errno;
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (MappedFile::Slot& slot : slots()) {
    const std::uintptr_t begin = slot.begin.load(), end = slot.end.load();
    if (begin == 0 || at < begin || at >= end) continue;
    const std::size_t page = slot.page.load();
    void* const there = reinterpret_cast<void*>(begin + (at - begin) / page * page);
    if (mmap(there, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
        MAP_FAILED)
      break;
    slot.lost.store(true);
    errno = error;
    return;
  }
  sigaction(SIGBUS, &action_before(), nullptr);  // the access fails again, and meets that
  errno = error;
}

void handle_lost_pages() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = put_zeros;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, nullptr, &action_before());
    sigaction(SIGBUS, &action, nullptr);
  });
}

std::mutex& slots_lock() {
  static std::mutex lock;
  return lock;
}

MappedFile::Slot* take_slot(std::uintptr_t begin, std::uint64_t bytes, std::size_t page) {
  const std::lock_guard guard(slots_lock());
  for (MappedFile::Slot& slot : slots()) {
    if (slot.end.load() != 0) continue;
    slot.lost = false;
    slot.page = page;
    slot.end = begin + bytes;
    slot.begin = begin;
    return &slot;
  }
  return nullptr;
}

}  // namespace

std::variant<MappedFile::Identity, int> MappedFile::identity(const Descriptor& file) {
  struct stat status {};
  if (fstat(file.number(), &status) != 0) return errno;
  if (!S_ISREG(status.st_mode)) return EINVAL;
  return Identity{status.st_dev, status.st_ino};
}

std::variant<std::shared_ptr<MappedFile>, int> MappedFile::map(const Descriptor& file) {
  struct stat status {};
  struct statfs system {};
  if (fstat(file.number(), &status) != 0 || fstatfs(file.number(), &system) != 0) return errno;
  if (!S_ISREG(status.st_mode) || status.st_size <= 0) return EINVAL;
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  const bool huge = system.f_type == HUGETLBFS_MAGIC;
  const std::size_t page = huge ? static_cast<std::size_t>(system.f_bsize) : 4096;
  const int mode = fcntl(file.number(), F_GETFL);
  bool writable = (mode & O_ACCMODE) == O_RDWR;
  const auto mapped = [&] {
    return mmap(nullptr, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED | MAP_NORESERVE,
                file.number(), 0);
  };
  void* memory = mapped();
  if (memory == MAP_FAILED && writable && (errno == EPERM || errno == EACCES)) {  // a seal forbids writes
    writable = false;
    memory = mapped();
  }
  if (memory == MAP_FAILED) return errno == EACCES || errno == ENODEV ? EINVAL : errno;
  handle_lost_pages();
  Slot* const slot = take_slot(reinterpret_cast<std::uintptr_t>(memory), bytes, page);
  if (slot == nullptr) {
    munmap(memory, bytes);
    return ENOSPC;
  }
  return std::shared_ptr<MappedFile>(
      new MappedFile(static_cast<std::uint8_t*>(memory), bytes, writable, *slot));
}

MappedFile::~MappedFile() {
  munmap(memory_, bytes_);
  const std::lock_guard guard(slots_lock());
  slot_->begin = 0;
  slot_->end = 0;
}

}  // namespace warpline::vfio_user
