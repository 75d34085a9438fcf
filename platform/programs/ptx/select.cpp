#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/opcodes.h"

namespace warpline::ptx {
namespace {

/// r[1] in the lanes `first`, r[2] in the others.
template <class T>
void select_lanes(const Op& op, Frame& f, LaneMask first) {
  const T* a = f.in<T>(op.r[1]);
  const T* b = f.in<T>(op.r[2]);
  T t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i) t[i] = (first & kLaneBit[i]) != 0 ? a[i] : b[i];
  f.write(op.r[0], t);
}

template <class T>
void run_select(const Op& op, Frame& f) {
  select_lanes<T>(op, f, f.condition(op));
}

/// slct: the condition is c >= 0, which NaN is not.
template <class T>
void run_slct(const Op& op, Frame& f) {
  select_lanes<T>(op, f, op.compare(f.at(op.r[3]), f.at(op.r[4])));
}

/// Reads the destination; `by_size` are the handlers for 16, 32 and 64 bits.
void emit_select(Decoder& d, Op op, DataType type, const std::array<Handler, 3>& by_size) {
  op.r[0] = d.destination(0, type);
  op.run = by_size.at(size_of(type) / 4);
  d.emit(op, latency::kSimple);
}

Op take_choices(Decoder& d, DataType type) {
  if (size_of(type) < 2 || size_of(type) > 8) d.fail("type " + type_text(type) + " cannot be selected");
  d.need_operands(4);
  Op op;
  op.r[1] = d.source(1, type);
  op.r[2] = d.source(2, type);
  return op;
}

void decode_selp(Decoder& d) {
  const DataType type = d.take_type();
  Op op = take_choices(d, type);
  d.take_condition(op, 3);
  emit_select(d, op, type,
              {&run_select<std::uint16_t>, &run_select<std::uint32_t>, &run_select<std::uint64_t>});
}

void decode_slct(Decoder& d) {
  const bool flush = d.take(".ftz");
  const DataType type = d.take_type();
  const DataType condition = d.take_type({DataType::s32, DataType::f32});
  Op op = take_choices(d, type);
  op.r[3] = d.source(3, condition);
  op.r[4] = d.constant(0, 4);
  op.compare = at_least(condition, flush);
  emit_select(d, op, type, {&run_slct<std::uint16_t>, &run_slct<std::uint32_t>, &run_slct<std::uint64_t>});
}

}  // namespace

std::vector<Opcode> select_opcodes() {
  return {{"selp", &decode_selp}, {"slct", &decode_slct}};
}

}  // namespace warpline::ptx
