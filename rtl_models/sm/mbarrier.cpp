#include "rtl_models/sm/mbarrier.h"

#include "rtl_models/sm/sm_mutations.h"

namespace warpline {
namespace {

MbarrierStatus expect_and_arrive(std::uint32_t bytes, Mbarrier& on, bool drops) {
  if (!mutated(SmMutation::mbarrier_arrives_before_expecting))
    return on.expect_bytes_and_arrive(bytes, drops);
  const MbarrierStatus arrived = on.arrive(1, true);
  static_cast<void>(on.expect_bytes(bytes));
  return arrived;
}

}  // namespace

MbarrierStatus operate(const MemOp& op, std::uint32_t count, Mbarrier& on) {
  const bool completes = op.mbarrier_form != MbarrierForm::no_complete;
  const bool expects = op.mbarrier_form == MbarrierForm::expect_tx;
  switch (op.mbarrier) {
    case MbarrierOperation::init: return on.init(count);
    case MbarrierOperation::inval: return on.inval();
    case MbarrierOperation::arrive:
      return expects ? expect_and_arrive(count, on, false) : on.arrive(count, completes);
    case MbarrierOperation::arrive_drop:
      return expects ? expect_and_arrive(count, on, true) : on.arrive_and_drop(count, completes);
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
