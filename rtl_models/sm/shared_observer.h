#pragma once

#include <cstdint>

#include "rtl_models/sim/request.h"
#include "rtl_models/sm/bulk_order.h"
#include "rtl_models/sm/instruction.h"
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
  /// A lane has told an mbarrier object of its own CTA of what it has stored there asynchronously.
  virtual void mbarrier_told(const MemoryAccess& access, unsigned lane, std::uint64_t before,
                             std::uint64_t after) = 0;
  /// What the answer `r` brings of asynchronous copies is in the shared memory of their CTA, which begins at
  /// `shared`.
  virtual void copies_landed(const MemoryAccess& access, const Request& r, const std::uint8_t* shared) = 0;
  /// The arrival of lane `lane` of the warp in slot `slot` of SM `sm`, and of those of its lanes that arrive
  /// at the same object by `i`, has waited for their copies, and has happened.
  virtual void copies_arrived(unsigned sm, unsigned slot, const Instruction& i, unsigned lane,
                              std::uint64_t before, std::uint64_t after) = 0;
  /// A request of another SM, a write or an atomic, has taken effect. Its line is a ClusterAddress.
  virtual void remote_performed(const Request& r) = 0;
  /// The same of an operation on an mbarrier object, `part` of the request, which is called for each that it
  /// stands for.
  virtual void remote_mbarrier_performed(const Request& r, const LaneAtomic& part, std::uint64_t before,
                                         std::uint64_t after) = 0;

  /// A bulk copy of SM `sm` has read `count` bytes from byte `offset` of it on. `landed`: they are in the
  /// shared memory of its own CTA, too.
  virtual void bulk_moved(unsigned sm, const BulkOrder& order, std::uint32_t offset,
                          const std::uint8_t* bytes, std::uint32_t count, bool landed) = 0;
  /// The mbarrier object of the copy's own CTA has been told of those from byte `offset` on.
  virtual void bulk_told(unsigned sm, const BulkOrder& order, std::uint32_t offset, std::uint64_t before,
                         std::uint64_t after) = 0;

 protected:
  ~SharedObserver() = default;
};

}  // namespace warpline
