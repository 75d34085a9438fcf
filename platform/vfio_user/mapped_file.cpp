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

/// What is no access to a client's file is for who handled the signal before.
void pass_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction& before = action_before();
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(signal, info, context);
    return;
  }
  const bool sent = info->si_code <= 0;  // by a process: there is no access that fails again
  if (before.sa_handler == SIG_IGN && sent) return;
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(signal);
    return;
  }
  sigaction(SIGBUS, &before, nullptr);  // which ends the process
  if (sent) raise(SIGBUS);
}

/// Puts zeros where the file has nothing any more, from the page that was touched to the end, so that the
/// access ends and a mapping never falls into more than a few parts.
void put_zeros(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (MappedFile::Slot& slot : slots()) {
    const std::uintptr_t begin = slot.begin.load(), end = slot.end.load();
    if (info->si_code <= 0 || begin == 0 || at < begin || at >= end) continue;
    const std::size_t page = slot.page.load();
    const std::uint64_t from = (at - begin) / page * page, to = (end - begin + page - 1) / page * page;
    // Who finds the zeros also finds that they are none of the file's.
    std::uint64_t kept = slot.kept.load();
    while (from < kept && !slot.kept.compare_exchange_weak(kept, from)) {
    }
    if (mmap(reinterpret_cast<void*>(begin + from), to - from, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED)
      break;
    errno = error;
    return;
  }
  pass_on(signal, info, context);
  errno = error;
}

void handle_lost_pages() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = put_zeros;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
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
    slot.kept = bytes;
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

std::variant<std::shared_ptr<MappedFile>, int> MappedFile::map(const Descriptor& file, std::uint64_t most) {
  struct stat status {};
  struct statfs system {};
  if (fstat(file.number(), &status) != 0 || fstatfs(file.number(), &system) != 0) return errno;
  if (!S_ISREG(status.st_mode) || status.st_size <= 0) return EINVAL;
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  const bool huge = system.f_type == HUGETLBFS_MAGIC;
  if (!huge && system.f_type != TMPFS_MAGIC && system.f_type != RAMFS_MAGIC) return EINVAL;
  if (bytes > most) return ENOMEM;
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
  {  // before: the addresses may be somebody else's at once
    const std::lock_guard guard(slots_lock());
    slot_->begin = 0;
    slot_->end = 0;
  }
  munmap(memory_, bytes_);
}

}  // namespace warpline::vfio_user
