#include "platform/consistency/execution.h"
#include "platform/consistency/mbarrier_state.h"
#include "rtl_models/isa/atomic.h"

namespace warpline::litmus {
namespace {

std::uint64_t low_bytes(std::uint64_t bits, unsigned bytes) {
  return bytes >= 8 ? bits : bits & ((std::uint64_t{1} << (8 * bytes)) - 1);
}

constexpr unsigned kHalf = 8;  ///< bytes of a value

/// As which an event's bytes are read: the state of an mbarrier object whole.
DataType type_of(const Event& e) {
  return e.of_mbarrier ? DataType::b64 : e.instruction->op.type;
}

}  // namespace

Values::Values(const Candidate& candidate, const std::vector<ReadsFrom>& reads_from)
    : candidate_(candidate), reads_from_(reads_from), known_(candidate.first_value.back()) {}

std::optional<std::uint64_t> Values::written(unsigned write, const Stretch& bytes) {
  const Event& e = candidate_.events[write];
  unsigned from = bytes.offset - e.offset;
  const bool upper = from >= kHalf;
  if (e.thread == Event::kInitial) {
    if (upper) return 0;
    const auto initial = static_cast<std::uint64_t>(candidate_.test.memories[e.memory].initial);
    return low_bytes(initial >> (8 * from), bytes.bytes);
  }
  const PathEvent& p = candidate_.paths[e.thread]->events[e.in_path];
  if (upper) from -= kHalf;
  const auto value = of(e.thread, upper ? p.high : p.value);
  if (!value) return std::nullopt;
  return low_bytes(static_cast<std::uint64_t>(*value) >> (8 * from), bytes.bytes);
}

/// Eight of the event's bytes at most, from byte `from` on.
std::optional<std::int64_t> Values::read(unsigned event, unsigned from) {
  if (busy_.has(event)) return std::nullopt;
  const Event& e = candidate_.events[event];
  std::uint64_t bits = 0;
  busy_.add(event);
  bool known = true;
  for (const ReadsFrom& r : reads_from_) {
    if (r.read != event || (r.offset - e.offset) / kHalf != from / kHalf) continue;
    const auto part = r.write == Event::kNone ? std::nullopt : written(r.write, r);
    known = part.has_value();
    if (!known) break;
    bits |= *part << (8 * (r.offset - e.offset - from));
  }
  busy_.remove(event);
  if (!known) return std::nullopt;
  return e.bytes > kHalf ? static_cast<std::int64_t>(bits) : extended(type_of(e), bits);
}

std::optional<std::int64_t> Values::of(unsigned thread, unsigned value) {
  const Value& v = candidate_.paths[thread]->values[value];
  if (v.kind == Value::Kind::constant) return v.constant;
  Known& k = known_[candidate_.first_value[thread] + value];
  if (!k.asked) k.value = work_out(thread, v);
  k.asked = true;
  return k.value;
}

/// What an operation on an mbarrier object leaves of it, that had `word`.
std::int64_t Values::after(const Instruction& i, std::int64_t word, std::int64_t bytes) const {
  const bool told = i.completes != Instruction::kNoLocation;
  const unsigned location = told ? i.completes : i.location;
  const std::uint32_t expected =
      candidate_.test.memories[candidate_.test.locations[location].memory].arrivals;
  MbarrierState state = MbarrierState::of(word);
  switch (told ? MbarrierUse::complete : i.mbarrier) {
    case MbarrierUse::complete: state.expect(-bytes, expected); break;
    case MbarrierUse::expect: state.expect(bytes, expected); break;
    case MbarrierUse::arrive_expect:
      state.bytes += bytes;
      state.arrive(expected);
      break;
    default: state.arrive(expected);
  }
  return state.word();
}

std::optional<std::int64_t> Values::work_out(unsigned thread, const Value& v) {
  if (v.kind == Value::Kind::read)
    return read(candidate_.first_event[thread] + v.event, static_cast<unsigned>(v.constant));
  const auto a = of(thread, v.a), b = a ? of(thread, v.b) : std::nullopt;
  if (!b) return std::nullopt;
  // Sums wrap as the hardware's do.
  const auto x = static_cast<std::uint64_t>(*a), y = static_cast<std::uint64_t>(*b);
  if (v.kind == Value::Kind::add) return static_cast<std::int64_t>(x + y);
  if (v.kind == Value::Kind::subtract) return static_cast<std::int64_t>(x - y);
  const Instruction& i = *v.instruction;
  if (v.kind == Value::Kind::compared) return holds(i.comparison, *a, *b) ? 1 : 0;
  if (v.kind == Value::Kind::offset) return i.offset_at(*a);
  if (v.kind == Value::Kind::mbarrier) return after(i, *a, *b);
  if (v.kind == Value::Kind::phase || v.kind == Value::Kind::waited) {
    const std::int64_t phase = MbarrierState::of(*a).phase_number();
    if (v.kind == Value::Kind::phase) return phase;
    // What is waited for is complete when the next phase has begun; of earlier ones the parity decides.
    return ((phase ^ *b) & 1) != 0 ? 1 : 0;
  }
  if (v.kind == Value::Kind::narrowed) return extended(i.op.type, x);
  const std::uint64_t operand = i.subtracts ? 0 - y : y;
  return extended(i.op.type, apply_atomic(i.op.atomic, i.atomic_type(), low_bytes(x, i.bytes()),
                                          low_bytes(operand, i.bytes()), 0));
}

bool Values::possible() {
  for (unsigned t = 0; t < candidate_.paths.size(); ++t)
    for (const Assumption& assumption : candidate_.paths[t]->assumptions) {
      const auto a = of(t, assumption.a), b = of(t, assumption.b);
      if (a && b && holds(assumption.comparison, *a, *b) != assumption.holds) return false;
    }
  return true;
}

}  // namespace warpline::litmus
