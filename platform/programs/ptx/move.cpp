#include "platform/programs/nanoseconds.h"
#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/opcodes.h"
#include "platform/programs/ptx_syntax/special_registers.h"
#include "rtl_models/sm/address_windows.h"

namespace warpline::ptx {
namespace {

template <class T>
void run_move(const Op& op, Frame& f) {
  f.write(op.r[0], f.in<T>(op.r[1]));
}

void run_move_wide(const Op& op, Frame& f) {
  copy_lanes(f.active, 16, f.file + op.r[0], 16, f.at(op.r[1]), 16);
}

void run_move_predicate(const Op& op, Frame& f) {
  f.set_predicate(op.r[0], f.source_predicate(op, 1));
}

/// mode: a half of a ClockRegister. r[1]: the clock's frequency, where it counts nanoseconds.
void run_clock(const Op& op, Frame& f) {
  const std::uint64_t cycles = f.issue->clock;
  const std::uint64_t now =
      op.r[1] == kNoRef ? cycles : programs::nanoseconds_of(cycles, *f.in<std::uint32_t>(op.r[1]));
  const bool high = static_cast<ClockRegister::Half>(op.mode) == ClockRegister::Half::high;
  if (op.register_bytes == 8)
    fill_lanes(op, f, [now] { return now; });
  else
    fill_lanes(op, f, [=] { return static_cast<std::uint32_t>(high ? now >> 32U : now); });
}

/// `count` elements of `data_bytes` bytes make one register of `register_bytes`, or come from it.
void run_pack(const Op& op, Frame& f) {
  std::array<std::byte, std::size_t{16} * kWarpLanes> t{};
  for (std::size_t e = 0; e < op.count; ++e)
    copy_lanes(kAllLanes, op.data_bytes, &t[e * op.data_bytes], op.register_bytes, f.at(op.r[1 + e]),
               op.data_bytes);
  copy_lanes(f.active, op.register_bytes, f.file + op.r[0], op.register_bytes, t.data(), op.register_bytes);
}
void run_unpack(const Op& op, Frame& f) {
  std::array<std::byte, std::size_t{16} * kWarpLanes> t{};
  std::memcpy(t.data(), f.at(op.r[0]), std::size_t{op.register_bytes} * kWarpLanes);
  for (std::size_t e = 0; e < op.count; ++e)
    if (op.r[1 + e] != kNoRef)
      copy_lanes(f.active, op.data_bytes, f.file + op.r[1 + e], op.data_bytes, &t[e * op.data_bytes],
                 op.register_bytes);
}

void decode_vector_move(Decoder& d, DataType type) {
  const bool packs = d.operand(1).kind == Operand::Kind::vector;
  const Operand& list = d.operand(packs ? 1 : 0);
  const auto n = static_cast<unsigned>(list.elements.size());
  if ((n != 2 && n != 4) || size_of(type) / n == 0)
    d.fail(list.token.place(), "expected two or four elements");
  const DataType part = bits_of_size(size_of(type) / n);
  Op op;
  op.count = static_cast<std::uint8_t>(n);
  op.data_bytes = static_cast<std::uint8_t>(size_of(part));
  op.register_bytes = static_cast<std::uint8_t>(size_of(type));
  for (unsigned e = 0; e < n; ++e) {
    const Operand& o = list.elements[e];
    const bool sink = !packs && o.kind == Operand::Kind::sink;
    op.r.at(1 + e) = packs ? d.source(o, part) : sink ? kNoRef : d.destination(o, part);
  }
  op.r[0] = packs ? d.destination(0, type) : d.source(1, type);
  op.run = packs ? &run_pack : &run_unpack;
  d.emit(op, latency::kSimple);
}

Handler move_handler(DataType type) {
  if (size_of(type) > 8) return &run_move_wide;
  return for_storage(size_of(type), [](auto t) -> Handler { return &run_move<decltype(t)>; });
}

/// r[0] = r[1] + immediate, in 64 bits or their lower half.
template <class T>
T offset(const Op& op, std::uint64_t base) {
  return static_cast<T>(base + static_cast<std::uint64_t>(op.immediate));
}

bool decode_symbol_move(Decoder& d, DataType type) {
  const Operand& o = d.operand(1);
  if (o.kind != Operand::Kind::name || d.find_register(o) != nullptr) return false;
  const auto symbol = d.find_symbol(o.name);
  const bool function = !symbol && d.is_function(o.name);
  if (!symbol && !function) return false;
  Op op;
  op.run = move_handler(type);
  op.register_bytes = static_cast<std::uint8_t>(size_of(type));
  if (size_of(type) < 4) d.fail(o.token.place(), "an address has 32 or 64 bits");
  const Register* frame = d.local_frame();
  if (function) {
    op.r[1] = d.constant(d.function_address(o.name), size_of(type));
  } else if (symbol->declaration->space == Space::local && frame != nullptr && !symbol->of_module) {
    op.r[1] = d.reads(*frame);
    op.immediate = static_cast<std::int64_t>(d.local_offset(*symbol)) + o.offset;
    op.run = size_of(type) == 4 ? &run_lanes<&offset<std::uint32_t>> : &run_lanes<&offset<std::uint64_t>>;
  } else {
    op.r[1] = d.symbol_address(*symbol, static_cast<std::uint64_t>(o.offset), size_of(type), false);
  }
  op.r[0] = d.destination(0, type);
  d.emit(op, latency::kSimple);
  return true;
}

void decode_mov(Decoder& d) {
  const DataType type = d.take_type();
  d.need_operands(2);
  if (type == DataType::pred) {
    Op op = d.predicates(1);
    op.run = &run_move_predicate;
    d.emit(op, latency::kSimple);
    return;
  }
  if (d.operand(0).kind == Operand::Kind::vector || d.operand(1).kind == Operand::Kind::vector)
    return decode_vector_move(d, type);
  if (decode_symbol_move(d, type)) return;
  Op op;
  op.register_bytes = static_cast<std::uint8_t>(size_of(type));
  const Operand& from = d.operand(1);
  if (const auto clock = clock_register(from.name); clock && from.kind == Operand::Kind::name) {
    if (size_of(type) < 4) d.fail(from.token.place(), "a clock has 32 or 64 bits");
    op.mode = static_cast<std::uint8_t>(clock->half);
    op.r[1] = clock->nanoseconds ? d.special(clock_frequency(), 4) : kNoRef;
    op.run = &run_clock;
    op.r[0] = d.destination(0, type);
    Op& emitted = d.emit(op, latency::kClock);
    emitted.runs_ahead = emitted.is_private = false;
    d.emitted().reads_time = true;
    d.emitted().reads_short_clock = clock->half == ClockRegister::Half::low && !clock->nanoseconds;
    return;
  }
  op.r[1] = d.source(1, type);
  op.r[0] = d.destination(0, type);
  op.run = move_handler(type);
  op.effect = Effect::offset;
  d.emit(op, latency::kSimple);
}

Space take_space(Decoder& d) {
  const auto space = d.take_value<Space>();
  if (!space) d.fail(d.opcode() + " needs a state space");
  if (space == Space::global || space == Space::shared || space == Space::shared_cluster ||
      space == Space::local || space == Space::param || space == Space::constant)
    return *space;
  d.fail("generic addresses reach .global, .shared, .local, .param and .const, not this space");
}

void decode_cvta(Decoder& d) {
  const bool to = d.take(".to");
  const Space space = take_space(d);
  const DataType type = d.take_type({DataType::u64, DataType::b64});
  d.need_operands(2);
  const std::uint64_t window = AddressWindows::to_generic(space, 0);
  Op op;
  op.immediate = static_cast<std::int64_t>(to ? std::uint64_t{0} - window : window);
  op.run = &run_lanes<&offset<std::uint64_t>>;
  op.effect = Effect::offset;
  const Operand& o = d.operand(1);
  const auto symbol =
      o.kind == Operand::Kind::name && d.find_register(o) == nullptr ? d.find_symbol(o.name) : std::nullopt;
  op.r[1] =
      symbol ? d.symbol_address(*symbol, static_cast<std::uint64_t>(o.offset), 8, false) : d.source(1, type);
  op.r[0] = d.destination(0, type);
  d.emit(op, latency::kSimple);
}

bool lies_in_space(const Op& op, std::uint64_t address, std::uint32_t rank) {
  const auto wanted = static_cast<Space>(op.mode);
  const Space space = AddressWindows::space_of(address);
  if (space != Space::shared_cluster)
    return space == wanted || (space == Space::shared && wanted == Space::shared_cluster);
  // The shared memory of a CTA is a part of its cluster's.
  const std::uint64_t code = AddressWindows::rank_code(AddressWindows::from_generic(space, address));
  return wanted == space || (wanted == Space::shared && code == rank + 1U);
}

void decode_isspacep(Decoder& d) {
  const Space space = take_space(d);
  d.need_operands(2);
  Op op;
  op.mode = static_cast<std::uint8_t>(space);
  op.r[1] = d.source(1, DataType::b64);
  op.r[2] = d.special(*special_register("%cluster_ctarank"), 4);
  op.r[0] = d.predicate_destination(d.operand(0));
  op.run = &run_lanes<&lies_in_space>;
  d.emit(op, latency::kSimple);
}

}  // namespace

std::vector<Opcode> move_opcodes() {
  return {{"mov", &decode_mov}, {"cvta", &decode_cvta}, {"isspacep", &decode_isspacep}};
}

}  // namespace warpline::ptx
