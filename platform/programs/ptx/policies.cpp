// Cache policies: the instructions that make them, and the operand that takes them.
#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/memory_operands.h"
#include "platform/programs/ptx/opcodes.h"
#include "rtl_models/isa/cache_policy.h"
#include "rtl_models/sm/address_windows.h"

namespace warpline::ptx {
namespace {

/// Op::mode of the makers: the primary priority in the low four bits, the secondary above.
L2Eviction primary_of(const Op& op) {
  return static_cast<L2Eviction>(op.mode & 15U);
}
L2Eviction secondary_of(const Op& op) {
  return static_cast<L2Eviction>(op.mode >> 4U);
}

/// Op::count of a maker whose operand is a literal that has been looked at.
constexpr std::uint8_t kOfLiteral = 0;

void run_fractional(const Op& op, Frame& f) {
  const auto* bits = f.in<std::uint32_t>(op.r[1]);
  std::uint64_t t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    const auto fraction = bits_as<float>(bits[i]);
    if (op.count != kOfLiteral && (f.active & kLaneBit[i]) != 0 && !(fraction > 0 && fraction <= 1)) {
      f.issue->fault = "createpolicy.fractional: a fraction that is not above 0 and at most 1";
      f.issue->fault_lanes = kLaneBit[i];
      return;
    }
    t[i] = fractional_policy(primary_of(op), secondary_of(op), fraction);
  }
  f.write(op.r[0], t);
}

/// Op::count of a range with a generic address.
constexpr std::uint8_t kByGenericAddress = 2;

void run_range(const Op& op, Frame& f) {
  const auto* base = f.in<std::uint64_t>(op.r[Op::kAddress]);
  const auto* primary_bytes = f.in<std::uint32_t>(op.r[1]);
  const auto* total_bytes = f.in<std::uint32_t>(op.r[2]);
  std::uint64_t t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    const std::uint64_t address = base[i] + static_cast<std::uint64_t>(op.immediate);
    const bool active = (f.active & kLaneBit[i]) != 0;
    if (active && op.count == kByGenericAddress && AddressWindows::space_of(address) != Space::global) {
      f.issue->fault = "createpolicy.range: a generic address outside global memory";
      f.issue->fault_lanes = kLaneBit[i];
      f.issue->fault_address = address;
      return;
    }
    if (active && primary_bytes[i] > total_bytes[i]) {
      f.issue->fault = "createpolicy.range: a primary size above the total size, at address";
      f.issue->fault_lanes = kLaneBit[i];
      f.issue->fault_address = address;
      return;
    }
    t[i] = range_policy(primary_of(op), secondary_of(op), address, primary_bytes[i], total_bytes[i]);
  }
  f.write(op.r[0], t);
}

std::uint64_t copy(std::uint64_t policy) {
  return policy;
}

void take_priorities(Decoder& d, Op& op) {
  const auto primary = d.take_value<L2Eviction>();
  if (!primary) d.fail("'createpolicy' needs a primary priority such as '.L2::evict_last'");
  const L2Eviction second = d.take_value<L2Eviction>().value_or(L2Eviction::unchanged);
  op.mode = static_cast<std::uint8_t>(static_cast<unsigned>(*primary) | static_cast<unsigned>(second) << 4U);
}

void decode_fractional(Decoder& d) {
  Op op;
  take_priorities(d, op);
  d.take_type({DataType::b64});
  d.need_operands(1, 2);
  bool known = true;
  if (d.operand_count() == 1) {
    op.r[1] = d.constant(bits_as<std::uint32_t>(1.0F), 4);
  } else if (const Operand& o = d.operand(1); o.kind == Operand::Kind::real) {
    const float fraction = o.single ? bits_as<float>(static_cast<std::uint32_t>(o.bits))
                                    : static_cast<float>(bits_as<double>(o.bits));
    if (!(fraction > 0 && fraction <= 1))
      d.fail(o.token.place(), "a fraction is above 0 and at most 1, in single precision");
    op.r[1] = d.constant(bits_as<std::uint32_t>(fraction), 4);
  } else {
    if (o.kind == Operand::Kind::integer)
      d.fail(o.token.place(), "a fraction is a floating-point number", "write it with a point, such as 1.0");
    op.r[1] = d.source(o, DataType::b32);
    known = false;
  }
  op.r[0] = d.destination(0, DataType::b64);
  op.run = &run_fractional;
  if (known) {
    op.count = kOfLiteral;
  } else {
    op.flow = Flow::may_trap;
  }
  d.emit(op, known ? latency::kWide : latency::kFraction);
}

/// A size of a range, a register or a literal; the literal's value.
std::optional<std::uint32_t> take_size(Decoder& d, std::size_t index, Ref& ref) {
  const Operand& o = d.operand(index);
  ref = d.source(o, DataType::b32);
  if (o.kind == Operand::Kind::real) d.fail(o.token.place(), "a size is a number of bytes");
  if (o.kind != Operand::Kind::integer) return std::nullopt;
  const auto value = static_cast<std::uint32_t>(o.bits);
  if (o.bits != value && o.bits != static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(value)}))
    d.fail(o.token.place(), "a size has 32 bits");
  return value;
}

void decode_range(Decoder& d) {
  Op op;
  MemOp m;
  if (d.take(".global")) m.space = Space::global;
  take_priorities(d, op);
  d.take_type({DataType::b64});
  d.need_operands(4);
  take_address(d, d.operand(1), op, m);
  if (m.space != Space::generic && m.space != Space::global)
    d.fail(d.operand(1).token.place(), "a range lies in global memory");
  const auto primary = take_size(d, 2, op.r[1]);
  const auto total = take_size(d, 3, op.r[2]);
  if (primary && total && *primary > *total)
    d.fail(d.operand(2).token.place(), "the primary size is above the total size, which counts it too");
  op.r[0] = d.destination(0, DataType::b64);
  op.run = &run_range;
  if (m.space == Space::generic) op.count = kByGenericAddress;
  op.flow = Flow::may_trap;
  d.emit(op, latency::kRange);
}

void decode_createpolicy(Decoder& d) {
  const std::size_t form = d.need_one_of({".fractional", ".range", ".cvt"},
                                         "'createpolicy' needs '.fractional', '.range' or '.cvt'");
  if (form == 0) return decode_fractional(d);
  if (form == 1) return decode_range(d);
  if (!d.take(".L2")) d.fail("'createpolicy.cvt' needs '.L2'");
  d.take_type({DataType::b64});
  d.compute(&run_lanes<&copy>, latency::kWide, DataType::b64, {DataType::b64});
}

}  // namespace

void take_policy(Decoder& d, std::size_t index, Op& op, const MemOp& m) {
  if (!m.cache_hint) return;
  if (m.space != Space::generic && m.space != Space::global)
    d.fail("a cache hint goes with global memory only");
  if (m.is_volatile || m.is_mmio || m.atomic == AtomicOperation::compare_and_swap)
    d.fail("this access takes no cache hint");
  const Operand& o = d.operand(index);
  if (o.kind == Operand::Kind::real) d.fail(o.token.place(), "a cache policy is a register or an integer");
  op.r[Op::kPolicy] = d.source(o, DataType::b64);
  op.has_policy = true;
}

std::vector<Opcode> policy_opcodes() {
  return {{"createpolicy", &decode_createpolicy}};
}

}  // namespace warpline::ptx
