#pragma once

#include <cstdint>

#include "rtl_models/sim/request.h"
#include "rtl_models/sm/memory_access.h"

namespace warpline {

/// Is told of what is done to the shared memory of an SM, in the order in which it takes effect.
class SharedObserver {
 public:
  /// The lanes of a warp of this SM have accessed their own CTA's. Of operations on mbarriers see
  /// mbarrier_performed().
  virtual void shared_performed(const MemoryAccess& access) = 0;
  /// A lane has performed an operation on an mbarrier object, or has looked at its phase: what the object was
  /// before, and after it.
  virtual void mbarrier_performed(const MemoryAccess& access, unsigned lane, std::uint64_t before,
                                  std::uint64_t after) = 0;
  /// A request of another SM, a write or an atomic, has taken effect. Its line is a ClusterAddress.
  virtual void remote_performed(const Request& r) = 0;

 protected:
  ~SharedObserver() = default;
};

}  // namespace warpline
