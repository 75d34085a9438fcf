// Memory that a function takes from its thread's stack in local memory: alloca, stacksave, stackrestore.
#include <algorithm>

#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/opcodes.h"

namespace warpline::ptx {
namespace {

// Op::immediate: the stack's end, to which its first byte lies kStackBytes below; the register r[1] has how
// much of it is in use. It grows downward.

/// r[0]: the pointer, of T; r[2]: the size. Op::target: the alignment.
template <class T>
void run_alloca(const Op& op, Frame& f) {
  const auto* used = f.in<std::uint64_t>(op.r[1]);
  const auto* size = f.in<T>(op.r[2]);
  const auto end = static_cast<std::uint64_t>(op.immediate);
  std::uint64_t now[kWarpLanes];
  T pointer[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    const std::uint64_t room = kStackBytes - std::min<std::uint64_t>(used[i], kStackBytes);
    const std::uint64_t top = end - used[i];
    const bool fits = size[i] <= room;
    const std::uint64_t at = fits ? (top - size[i]) / op.target * op.target : 0;
    now[i] = end - at;
    pointer[i] = static_cast<T>(at);
    const bool inside = fits && now[i] <= kStackBytes;
    if (!inside && (f.active & kLaneBit[i]) != 0)
      f.issue->fault = "alloca: the stack of 16 KiB has no room left";
  }
  f.write(op.r[1], now);
  f.write(op.r[0], pointer);
}

template <class T>
void run_save(const Op& op, Frame& f) {
  const auto* used = f.in<std::uint64_t>(op.r[1]);
  T t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i)
    t[i] = static_cast<T>(static_cast<std::uint64_t>(op.immediate) - used[i]);
  f.write(op.r[0], t);
}

/// r[2]: the pointer.
template <class T>
void run_restore(const Op& op, Frame& f) {
  const auto* to = f.in<T>(op.r[2]);
  const auto end = static_cast<std::uint64_t>(op.immediate);
  std::uint64_t t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    t[i] = end - to[i];
    if (t[i] > kStackBytes && (f.active & kLaneBit[i]) != 0)
      f.issue->fault = "stackrestore: no pointer into the stack";
  }
  f.write(op.r[1], t);
}

DataType take_pointer_type(Decoder& d) {
  return d.take_type({DataType::u32, DataType::u64});
}

void decode_alloca(Decoder& d) {
  const DataType type = take_pointer_type(d);
  d.need_operands(2, 3);
  Op op;
  op.target = 8;
  if (d.operand_count() == 3) {
    const Operand& o = d.operand(2);
    if (o.kind != Operand::Kind::integer || o.bits == 0 || (o.bits & (o.bits - 1)) != 0 || o.bits > 1U << 23U)
      d.fail(o.token.place(), "an alignment is a power of two, at most 8388608");
    op.target = std::max(op.target, static_cast<std::uint32_t>(o.bits));
  }
  op.r[2] = d.source(1, type);
  d.take_stack(op, 1, true);
  op.r[0] = d.destination(0, type);
  op.flow = Flow::may_trap;
  op.run = type == DataType::u64 ? &run_alloca<std::uint64_t> : &run_alloca<std::uint32_t>;
  d.emit(op, latency::kSimple);
}

void decode_save(Decoder& d) {
  const DataType type = take_pointer_type(d);
  d.need_operands(1);
  Op op;
  d.take_stack(op, 1, false);
  op.r[0] = d.destination(0, type);
  op.run = type == DataType::u64 ? &run_save<std::uint64_t> : &run_save<std::uint32_t>;
  d.emit(op, latency::kSimple);
}

void decode_restore(Decoder& d) {
  const DataType type = take_pointer_type(d);
  d.need_operands(1);
  Op op;
  op.r[2] = d.source(0, type);
  d.take_stack(op, 1, true);
  op.flow = Flow::may_trap;
  op.run = type == DataType::u64 ? &run_restore<std::uint64_t> : &run_restore<std::uint32_t>;
  d.emit(op, latency::kSimple);
}

}  // namespace

std::vector<Opcode> stack_opcodes() {
  return {{"alloca", &decode_alloca}, {"stacksave", &decode_save}, {"stackrestore", &decode_restore}};
}

}  // namespace warpline::ptx
