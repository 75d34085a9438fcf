#pragma once

#include <cstdint>

#include "platform/vfio_user/descriptor.h"

namespace warpline::vfio_user {

/// Adds to eventfds of a client's, which must not stop who does: the client may have made one wait, and fill
/// it, at any time. The kernel adds to them without waiting when it completes a request of Linux's
/// asynchronous I/O (io_submit(2), IOCB_FLAG_RESFD). Where there is none of that, they are written, if they
/// look as if that would not wait: a client that changes one just then stops the server.
class EventSignal {
 public:
  EventSignal() = default;
  ~EventSignal();
  EventSignal(const EventSignal&) = delete;
  EventSignal& operator=(const EventSignal&) = delete;

  /// Adds one. False: it is no eventfd, or nothing can be added.
  bool add(const Descriptor& event);

 private:
  [[nodiscard]] bool has_requests();

  bool tried_ = false;
  unsigned long context_ = 0;  ///< of the asynchronous I/O; 0: there is none
  Descriptor nowhere_;         ///< /dev/null, which requests write to
};

}  // namespace warpline::vfio_user
