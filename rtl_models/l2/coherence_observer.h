#pragma once

#include "rtl_models/sim/request.h"

namespace warpline {

/// Is told of the requests that an L2 slice takes, in the order in which it takes them. For one line that is
/// the order in which its accesses take effect: a slice performs them in it, or sends them on in it.
class CoherenceObserver {
 public:
  /// `r` has been taken; the data of a write, and the lanes of an atomic, are still there.
  virtual void taken(const Request& r) = 0;
  /// `r`, a write, takes effect: reads that the slice takes from now on see it.
  virtual void performed(const Request& /*r*/) {}

 protected:
  ~CoherenceObserver() = default;
};

}  // namespace warpline
