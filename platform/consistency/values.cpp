#include <algorithm>

#include "platform/consistency/execution.h"
#include "rtl_models/isa/atomic.h"

namespace warpline::litmus {
namespace {

std::uint64_t low_bytes(std::uint64_t bits, unsigned bytes) {
  return bytes >= 8 ? bits : bits & ((std::uint64_t{1} << (8 * bytes)) - 1);
}

/// What the bytes [from, from + bytes) of the `of` with `bits` from its offset on hold.
std::uint64_t part(const Event& of, std::uint64_t bits, unsigned from, unsigned bytes) {
  return low_bytes(bits >> (8 * (from - of.offset)), bytes);
}

}  // namespace

Values::Values(const Candidate& candidate, const std::vector<ReadsFrom>& reads_from)
    : candidate_(candidate), reads_from_(reads_from), known_(candidate.first_value.back()) {}

bool Values::written(unsigned write, std::uint64_t& bits) {
  const Event& e = candidate_.events[write];
  if (e.thread == Event::kInitial) {
    bits = static_cast<std::uint64_t>(candidate_.test.memories[e.memory].initial);
    return true;
  }
  std::int64_t value = 0;
  if (!of(e.thread, candidate_.paths[e.thread]->events[e.in_path].value, value)) return false;
  bits = low_bytes(static_cast<std::uint64_t>(value), e.bytes);
  return true;
}

bool Values::read(unsigned event, std::int64_t& out) {
  if (busy_.has(event)) return false;
  const Event& e = candidate_.events[event];
  std::uint64_t bits = 0;
  busy_.add(event);
  bool known = true;
  for (const ReadsFrom& r : reads_from_) {
    if (r.read != event) continue;
    std::uint64_t from = 0;
    known = known && r.write != Event::kNone && written(r.write, from);
    if (!known) break;
    bits |= part(candidate_.events[r.write], from, r.offset, r.bytes) << (8 * (r.offset - e.offset));
  }
  busy_.remove(event);
  out = extended(e.instruction->op.type, bits);
  return known;
}

bool Values::of(unsigned thread, unsigned value, std::int64_t& out) {
  const Value& v = candidate_.paths[thread]->values[value];
  if (v.kind == Value::Kind::constant) {
    out = v.constant;
    return true;
  }
  Known& k = known_[candidate_.first_value[thread] + value];
  if (!k.asked) {
    k.known = work_out(thread, v, k.value);
    k.asked = true;
  }
  if (k.known) out = k.value;
  return k.known;
}

bool Values::work_out(unsigned thread, const Value& v, std::int64_t& out) {
  if (v.kind == Value::Kind::read) return read(candidate_.first_event[thread] + v.event, out);
  std::int64_t a = 0, b = 0;
  if (!of(thread, v.a, a) || !of(thread, v.b, b)) return false;
  // Sums wrap as the hardware's do.
  const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
  if (v.kind == Value::Kind::add) {
    out = static_cast<std::int64_t>(x + y);
  } else if (v.kind == Value::Kind::subtract) {
    out = static_cast<std::int64_t>(x - y);
  } else if (v.kind == Value::Kind::narrowed) {
    out = extended(v.instruction->op.type, x);
  } else {
    const Instruction& i = *v.instruction;
    const std::uint64_t operand = i.subtracts ? 0 - y : y;
    out = extended(i.op.type, apply_atomic(i.op.atomic, i.atomic_type(), low_bytes(x, i.bytes()),
                                           low_bytes(operand, i.bytes()), 0));
  }
  return true;
}

bool Values::possible() {
  for (unsigned t = 0; t < candidate_.paths.size(); ++t)
    for (const Assumption& assumption : candidate_.paths[t]->assumptions) {
      std::int64_t a = 0, b = 0;
      if (of(t, assumption.a, a) && of(t, assumption.b, b) &&
          holds(assumption.comparison, a, b) != assumption.holds)
        return false;
    }
  return true;
}

}  // namespace warpline::litmus
