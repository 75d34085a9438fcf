#include "platform/vfio_user/event_signal.h"

#include <fcntl.h>
#include <linux/aio_abi.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace warpline::vfio_user {
namespace {

bool add_by_write(const Descriptor& event) {
  const int flags = fcntl(event.number(), F_GETFL);
  if ((flags & O_NONBLOCK) == 0) fcntl(event.number(), F_SETFL, flags | O_NONBLOCK);
  pollfd room{event.number(), POLLOUT, 0};
  const std::uint64_t one = 1;
  return poll(&room, 1, 0) == 1 && (room.revents & POLLOUT) != 0 &&
         write(event.number(), &one, sizeof one) == sizeof one;
}

}  // namespace

EventSignal::~EventSignal() {
  if (context_ != 0) syscall(SYS_io_destroy, context_);
}

bool EventSignal::has_requests() {
  if (!std::exchange(tried_, true)) {
    nowhere_ = Descriptor(open("/dev/null", O_WRONLY | O_CLOEXEC));
    if (!nowhere_ || syscall(SYS_io_setup, 1, &context_) != 0) context_ = 0;
  }
  return context_ != 0;
}

bool EventSignal::add(const Descriptor& event) {
  if (!has_requests()) return add_by_write(event);
  const char byte = 0;
  iocb request{};
  request.aio_lio_opcode = IOCB_CMD_PWRITE;
  request.aio_fildes = static_cast<std::uint32_t>(nowhere_.number());
  request.aio_buf = reinterpret_cast<std::uintptr_t>(&byte);
  request.aio_nbytes = sizeof byte;
  request.aio_flags = IOCB_FLAG_RESFD;
  request.aio_resfd = static_cast<std::uint32_t>(event.number());
  iocb* const requests = &request;
  if (syscall(SYS_io_submit, context_, 1L, &requests) != 1) return false;
  // A write to nowhere is complete at once; its result makes room for the next.
  std::array<io_event, 4> results;
  syscall(SYS_io_getevents, context_, 0L, static_cast<long>(results.size()), results.data(), nullptr);
  return true;
}

}  // namespace warpline::vfio_user
