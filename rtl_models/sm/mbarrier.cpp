#include "rtl_models/sm/mbarrier.h"

namespace warpline {

MbarrierStatus operate(const MemOp& op, std::uint32_t count, Mbarrier& on) {
  const bool completes = op.mbarrier_form != MbarrierForm::no_complete;
  const bool expects = op.mbarrier_form == MbarrierForm::expect_tx;
  switch (op.mbarrier) {
    case MbarrierOperation::init: return on.init(count);
    case MbarrierOperation::inval: return on.inval();
    case MbarrierOperation::arrive:
      return expects ? on.expect_bytes_and_arrive(count, false) : on.arrive(count, completes);
    case MbarrierOperation::arrive_drop:
      return expects ? on.expect_bytes_and_arrive(count, true) : on.arrive_and_drop(count, completes);
    case MbarrierOperation::expect_tx: return on.expect_bytes(count);
    case MbarrierOperation::complete_tx: return on.complete_bytes(count);
    case MbarrierOperation::copies_arrive:
      if (op.mbarrier_form != MbarrierForm::no_increment) return on.add_pending(1);
      [[fallthrough]];
    case MbarrierOperation::test_wait:
    case MbarrierOperation::try_wait: break;
  }
  return on.valid() ? MbarrierStatus::done : MbarrierStatus::no_object;
}

}  // namespace warpline
