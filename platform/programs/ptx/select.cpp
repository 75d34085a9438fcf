#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/opcodes.h"

namespace warpline::ptx {
namespace {

template <class T>
void run_select(const Op& op, Frame& f) {
  const T* a = f.in<T>(op.r[1]);
  const T* b = f.in<T>(op.r[2]);
  const LaneMask c = op.saturate ? ~f.predicate(op.r[3]) : f.predicate(op.r[3]);
  T t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i) t[i] = (c & kLaneBit[i]) != 0 ? a[i] : b[i];
  f.write(op.r[0], t);
}

/// slct: the condition is c >= 0, which NaN is not.
template <class T>
void run_slct(const Op& op, Frame& f) {
  const T* a = f.in<T>(op.r[1]);
  const T* b = f.in<T>(op.r[2]);
  const LaneMask c = op.compare(f.at(op.r[3]), f.at(op.r[4]));
  T t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i) t[i] = (c & kLaneBit[i]) != 0 ? a[i] : b[i];
  f.write(op.r[0], t);
}

template <class U16, class U32, class U64>
Handler by_size(DataType type, U16 two, U32 four, U64 eight) {
  return size_of(type) == 8   ? static_cast<Handler>(eight)
         : size_of(type) == 4 ? static_cast<Handler>(four)
                              : static_cast<Handler>(two);
}

void need_selectable(Decoder& d, DataType type) {
  if (size_of(type) < 2 || size_of(type) > 8)
    d.fail("type ." + std::string(name_of(type)) + " cannot be selected");
}

void decode_selp(Decoder& d) {
  const DataType type = d.take_type();
  need_selectable(d, type);
  d.need_operands(4);
  Op op;
  op.r[1] = d.source(1, type);
  op.r[2] = d.source(2, type);
  op.r[3] = d.predicate_source(d.operand(3));
  op.saturate = d.operand(3).negated;
  op.r[0] = d.destination(std::size_t{0}, type);
  op.run = by_size(type, &run_select<std::uint16_t>, &run_select<std::uint32_t>, &run_select<std::uint64_t>);
  d.emit(op, latency::kSimple);
}

void decode_slct(Decoder& d) {
  const bool flush = d.take(".ftz");
  const DataType type = d.take_type();
  const DataType condition = d.take_type({DataType::s32, DataType::f32});
  need_selectable(d, type);
  d.need_operands(4);
  Op op;
  op.r[1] = d.source(1, type);
  op.r[2] = d.source(2, type);
  op.r[3] = d.source(3, condition);
  op.r[4] = d.constant(0, 4);
  op.r[0] = d.destination(std::size_t{0}, type);
  op.compare = at_least(condition, flush);
  op.run = by_size(type, &run_slct<std::uint16_t>, &run_slct<std::uint32_t>, &run_slct<std::uint64_t>);
  d.emit(op, latency::kSimple);
}

}  // namespace

const std::vector<Opcode>& select_opcodes() {
  static const std::vector<Opcode> kOpcodes = {{"selp", &decode_selp}, {"slct", &decode_slct}};
  return kOpcodes;
}

}  // namespace warpline::ptx
