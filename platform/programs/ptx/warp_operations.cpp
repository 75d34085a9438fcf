#include <functional>

#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/opcodes.h"
#include "platform/programs/ptx/rounding.h"

namespace warpline::ptx {
namespace {

enum class Shuffle : std::uint8_t { up, down, bfly, idx };

/// What a lane gets in r[0] and in the predicate r[4], where the operation has them.
struct LaneResult {
  std::uint32_t value;
  bool holds;
};

/// Asks `each(lane, members)` for what each lane gets; the members of its mask are those that take part.
template <class F>
void fill_results(const Op& op, Frame& f, F&& each) {
  const auto* members = f.in<std::uint32_t>(op.r[Op::kMask]);
  std::uint32_t t[kWarpLanes];
  LaneMask p = 0;
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    const LaneResult result = each(i, members[i] & f.active);
    t[i] = result.value;
    p |= result.holds ? kLaneBit[i] : 0U;
  }
  if (op.r[0] != kNoRef) f.write(op.r[0], t);
  f.set_predicate(op.r[4], p);
}

/// PTX ISA, "shfl.sync". A lane that reads one outside the active set gets that lane's register
/// all the same, where the ISA leaves the value open.
template <Shuffle kMode>
void run_shuffle(const Op& op, Frame& f) {
  const auto* a = f.in<std::uint32_t>(op.r[1]);
  const auto* b = f.in<std::uint32_t>(op.r[2]);
  const auto* c = f.in<std::uint32_t>(op.r[3]);
  fill_results(op, f, [=](unsigned lane, LaneMask) {
    const unsigned by = b[lane] & 31U;
    const unsigned clamp = c[lane] & 31U;
    const unsigned segment = (c[lane] >> 8U) & 31U;
    const unsigned last = (lane & segment) | (clamp & ~segment);
    unsigned j = lane;
    bool in = false;
    if constexpr (kMode == Shuffle::up) {
      j = lane - by;
      in = static_cast<int>(j) >= static_cast<int>(last);
    } else {
      if constexpr (kMode == Shuffle::down) j = lane + by;
      if constexpr (kMode == Shuffle::bfly) j = lane ^ by;
      if constexpr (kMode == Shuffle::idx) j = (lane & segment) | (by & ~segment);
      in = j <= last;
    }
    return LaneResult{a[(in ? j : lane) & 31U], in};
  });
}

/// Destination `d`, `d|p` or `_|p`.
void take_results(Decoder& d, Op& op) {
  const Operand& result = d.operand(0);
  op.r[4] = kNoRef;
  const bool pair = result.kind == Operand::Kind::pair;
  const Operand& value = pair ? result.elements[0] : result;
  op.r[0] = value.kind == Operand::Kind::sink ? kNoRef : d.destination(value, DataType::b32);
  if (pair) op.r[4] = d.predicate_destination(result.elements[1]);
}

void emit_converging(Decoder& d, Op op, std::size_t mask, unsigned latency) {
  op.flow = Flow::converge;
  op.r[Op::kMask] = d.source(mask, DataType::b32);
  d.emit(op, latency);
}

void need_sync(Decoder& d) {
  if (!d.take(".sync")) d.fail(d.opcode() + " without '.sync' is not supported");
}

void decode_shfl(Decoder& d) {
  need_sync(d);
  const std::size_t mode =
      d.need_one_of({".up", ".down", ".bfly", ".idx"}, "'shfl' needs '.up', '.down', '.bfly' or '.idx'");
  d.take_type({DataType::b32});
  d.need_operands(5);
  Op op;
  for (unsigned i = 1; i <= 3; ++i) op.r.at(i) = d.source(i, DataType::b32);
  take_results(d, op);
  constexpr std::array<Handler, 4> kHandlers = {&run_shuffle<Shuffle::up>, &run_shuffle<Shuffle::down>,
                                                &run_shuffle<Shuffle::bfly>, &run_shuffle<Shuffle::idx>};
  op.run = kHandlers.at(mode);
  emit_converging(d, op, 4, latency::kShuffle);
}

enum class Vote : std::uint8_t { all, any, uniform, ballot };

void run_vote(const Op& op, Frame& f) {
  const auto vote = static_cast<Vote>(op.mode);
  const LaneMask votes = f.condition(op);
  fill_results(op, f, [=](unsigned, LaneMask members) {
    const LaneMask yes = votes & members;
    const bool all = yes == members;
    return LaneResult{yes, vote == Vote::all ? all : vote == Vote::any ? yes != 0 : all || yes == 0};
  });
}

void decode_vote(Decoder& d) {
  need_sync(d);
  const std::size_t mode =
      d.need_one_of({".all", ".any", ".uni", ".ballot"}, "'vote' needs '.all', '.any', '.uni' or '.ballot'");
  const bool ballot = static_cast<Vote>(mode) == Vote::ballot;
  d.take_type({ballot ? DataType::b32 : DataType::pred});
  d.need_operands(3);
  Op op;
  op.mode = static_cast<std::uint8_t>(mode);
  d.take_condition(op, 1);
  op.r[0] = ballot ? d.destination(0, DataType::b32) : kNoRef;
  op.r[4] = ballot ? kNoRef : d.predicate_destination(d.operand(0));
  op.run = &run_vote;
  emit_converging(d, op, 2, latency::kVote);
}

/// mode 1: match.all.
template <class T>
void run_match(const Op& op, Frame& f) {
  const T* a = f.in<T>(op.r[1]);
  fill_results(op, f, [&op, a](unsigned lane, LaneMask members) {
    LaneMask same = 0;
    for (unsigned j = 0; j < kWarpLanes; ++j) same |= a[j] == a[lane] ? kLaneBit[j] : 0U;
    same &= members;
    return LaneResult{op.mode == 0 || same == members ? same : 0, same == members};
  });
}

void decode_match(Decoder& d) {
  const auto mode = d.take_one_of({".any", ".all"});
  need_sync(d);
  if (!mode) d.fail("'match' needs '.any' or '.all'");
  const DataType type = d.take_type({DataType::b32, DataType::b64});
  d.need_operands(3);
  Op op;
  op.mode = static_cast<std::uint8_t>(*mode);
  op.r[1] = d.source(1, type);
  take_results(d, op);
  if (*mode == 0 && op.r[4] != kNoRef) d.fail("'match.any' has no predicate result");
  op.run = size_of(type) == 8 ? &run_match<std::uint64_t> : &run_match<std::uint32_t>;
  emit_converging(d, op, 2, latency::kReduce);
}

using Reduction = std::uint32_t (*)(std::uint32_t, std::uint32_t);

template <class F>
std::uint32_t by(std::uint32_t a, std::uint32_t b) {
  return F{}(a, b);
}
/// The number that T's order F puts first.
template <class T, template <class> class F>
std::uint32_t first_of(std::uint32_t a, std::uint32_t b) {
  return F<T>{}(static_cast<T>(b), static_cast<T>(a)) ? b : a;
}

/// The lesser or greater of two binary32, as `redux.sync` has it: -0 is below +0; a NaN is dropped where the
/// other is none, or taken (kNan).
template <bool kMax, bool kAbs, bool kNan>
std::uint32_t extreme_single(std::uint32_t a, std::uint32_t b) {
  if (kAbs) a &= 0x7FFFFFFFU, b &= 0x7FFFFFFFU;
  const auto is_nan = [](std::uint32_t x) { return (x & 0x7FFFFFFFU) > 0x7F800000U; };
  if (is_nan(a) && is_nan(b)) return kNan32;
  if (is_nan(a) || is_nan(b)) return kNan ? kNan32 : is_nan(a) ? b : a;
  // As integers of a sign and a magnitude.
  const auto rank = [](std::uint32_t x) {
    const auto magnitude = static_cast<std::int64_t>(x & 0x7FFFFFFFU);
    return (x >> 31U) != 0 ? -magnitude - 1 : magnitude;
  };
  return (rank(a) < rank(b)) == kMax ? b : a;
}

template <Reduction kReduction>
void run_reduce(const Op& op, Frame& f) {
  const auto* a = f.in<std::uint32_t>(op.r[1]);
  const auto* members = f.in<std::uint32_t>(op.r[Op::kMask]);
  std::uint32_t t[kWarpLanes] = {};
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    if (i > 0 && members[i] == members[i - 1]) {
      t[i] = t[i - 1];
      continue;
    }
    bool first = true;
    for (unsigned j = 0; j < kWarpLanes; ++j) {
      if ((members[i] & f.active & kLaneBit[j]) == 0) continue;
      t[i] = first ? a[j] : kReduction(t[i], a[j]);
      first = false;
    }
  }
  f.write(op.r[0], t);
}

/// A reduction of one operand by itself makes it what it counts as: without its sign, or the canonical NaN.
template <Reduction kReduction>
void run_reduce_singles(const Op& op, Frame& f) {
  run_reduce<kReduction>(op, f);
  auto* t = f.out<std::uint32_t>(op.r[0]);
  for (unsigned i = 0; i < kWarpLanes; ++i)
    if ((f.active & kLaneBit[i]) != 0) t[i] = kReduction(t[i], t[i]);
}

template <bool kMax>
Handler reduce_singles(bool abs, bool nan) {
  if (abs)
    return nan ? &run_reduce_singles<&extreme_single<kMax, true, true>>
               : &run_reduce_singles<&extreme_single<kMax, true, false>>;
  return nan ? &run_reduce_singles<&extreme_single<kMax, false, true>>
             : &run_reduce_singles<&extreme_single<kMax, false, false>>;
}

void decode_redux_singles(Decoder& d) {
  const std::size_t operation = d.need_one_of({".min", ".max"}, "'redux' of '.f32' needs '.min' or '.max'");
  const bool abs = d.take(".abs");
  const bool nan = d.take(".NaN");
  d.take_type({DataType::f32});
  d.need_operands(3);
  Op op;
  op.r[1] = d.source(1, DataType::f32);
  op.r[0] = d.destination(0, DataType::f32);
  op.run = operation == 1 ? reduce_singles<true>(abs, nan) : reduce_singles<false>(abs, nan);
  emit_converging(d, op, 2, latency::kReduce);
}

void decode_redux(Decoder& d) {
  using U = std::uint32_t;
  using S = std::int32_t;
  constexpr Handler kUnsigned[] = {
      &run_reduce<&by<std::plus<U>>>,          &run_reduce<&first_of<U, std::less>>,
      &run_reduce<&first_of<U, std::greater>>, &run_reduce<&by<std::bit_and<U>>>,
      &run_reduce<&by<std::bit_or<U>>>,        &run_reduce<&by<std::bit_xor<U>>>};
  constexpr Handler kSigned[] = {kUnsigned[0], &run_reduce<&first_of<S, std::less>>,
                                 &run_reduce<&first_of<S, std::greater>>};
  need_sync(d);
  if (d.has(".f32")) return decode_redux_singles(d);
  const std::size_t operation = d.need_one_of({".add", ".min", ".max", ".and", ".or", ".xor"},
                                              "'redux' needs an operation such as '.add'");
  const bool logic = operation > 2;
  const DataType type = logic ? d.take_type({DataType::b32}) : d.take_type({DataType::u32, DataType::s32});
  d.need_operands(3);
  Op op;
  op.r[1] = d.source(1, type);
  op.r[0] = d.destination(0, type);
  op.run = type == DataType::s32 ? kSigned[operation] : kUnsigned[operation];
  emit_converging(d, op, 2, latency::kReduce);
}

void run_activemask(const Op& op, Frame& f) {
  fill_lanes(op, f, [&f] { return f.active; });
}

void decode_activemask(Decoder& d) {
  d.take_type({DataType::b32});
  Op op = d.operands(DataType::b32, {});
  op.run = &run_activemask;
  op.effect = Effect::together;
  d.emit(op, latency::kVote);
}

/// The lowest member leads.
void run_elect(const Op& op, Frame& f) {
  fill_results(op, f, [](unsigned lane, LaneMask members) {
    const auto leader = members == 0 ? 0 : static_cast<std::uint32_t>(__builtin_ctz(members));
    return LaneResult{leader, members != 0 && leader == lane};
  });
}

void decode_elect(Decoder& d) {
  need_sync(d);
  d.need_operands(2);
  Op op;
  take_results(d, op);
  op.run = &run_elect;
  emit_converging(d, op, 1, latency::kVote);
}

}  // namespace

std::vector<Opcode> warp_opcodes() {
  return {{"shfl", &decode_shfl},
          {"vote", &decode_vote},
          {"match", &decode_match},
          {"redux", &decode_redux},
          {"activemask", &decode_activemask},
          {"elect", &decode_elect}};
}

}  // namespace warpline::ptx
