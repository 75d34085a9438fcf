#include <array>

#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/opcodes.h"

namespace warpline::ptx {
namespace {

/// What ends a warp in the device library, by number.
constexpr std::array<const char*, 3> kTraps = {"assertion failed", "free of memory that is free already",
                                               "free of what malloc did not hand out"};
constexpr std::uint8_t kAssertionFailed = 0;

void run_trap(const Op& op, Frame& f) {
  f.issue->fault = kTraps.at(op.mode);
  f.issue->fault_lanes = f.active;
  f.issue->fault_address = f.in<std::uint64_t>(op.r[1])[first_lane(f.active)];
  f.issue->ends_grid = op.mode == kAssertionFailed;
}

/// warpline_trap NUMBER, ADDRESS: a mistake of the program, which is about an address, or 0.
void decode_trap(Decoder& d) {
  d.need_operands(2);
  Op op;
  op.flow = Flow::may_trap;
  op.mode = static_cast<std::uint8_t>(d.operand(0).bits);
  op.r[1] = d.source(1, DataType::u64);
  op.run = &run_trap;
  d.emit(op, latency::kControl);
}

}  // namespace

std::vector<Opcode> library_opcodes() {
  return {{"warpline_trap", &decode_trap}};
}

}  // namespace warpline::ptx
