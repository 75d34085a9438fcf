#pragma once

#include "rtl_models/base/types.h"
#include "rtl_models/pcie/packets/tlp.h"

namespace warpline {

/// Whoever takes loosely timed packets ("lt"): a call performs a request whole, on the same core and with the
/// same counters as a timed one, and adds up the time that an idle link takes.
class LooseTlpTarget {
 public:
  /// Performs `tlp`, whose `status` and, of a request that reads, `data` are the answer afterwards. `at`:
  /// when it arrives, and on return when its answer is sent. Pre: nothing timed is under way.
  virtual void perform(Tlp& tlp, Cycle& at) = 0;

 protected:
  ~LooseTlpTarget() = default;
};

}  // namespace warpline
