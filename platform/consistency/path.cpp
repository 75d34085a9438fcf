#include "platform/consistency/path.h"

#include <algorithm>

namespace warpline::litmus {
namespace {

constexpr std::size_t kMostPaths = 4096;
constexpr unsigned kMostPathEvents = 64;
constexpr unsigned kMostSteps = 4096;           ///< of a path: loops without events end, too
constexpr std::size_t kMostValues = 1U << 20U;  ///< of all paths that a branch has begun

/// A path in the making.
struct State {
  Path path;
  unsigned at = 0;
  unsigned steps = 0;
  std::vector<unsigned> taken;    ///< by instruction: how often it has branched back
  std::vector<unsigned> control;  ///< reads that branches so far depended on
  // Of the access being added: PathEvent::shift of its first element, and reads that its address depends on.
  std::int32_t shift = 0;
  std::vector<unsigned> address;
  /// Events of copies that no wait has waited for, each with its group, and the group that is open.
  std::vector<std::pair<unsigned, unsigned>> copying;
  unsigned open_group = 0;
  /// Likewise of bulk copies to global memory.
  std::vector<std::pair<unsigned, unsigned>> bulk_copying;
  unsigned open_bulk_group = 0;
};

class Unfolding {
 public:
  Unfolding(const Thread& thread, unsigned unroll, Cut& cut) : thread_(thread), unroll_(unroll), cut_(cut) {}

  std::vector<Path> run() {
    State s;
    s.taken.assign(thread_.code.size(), 0);
    for (const std::int64_t v : thread_.initial) s.path.registers.push_back(constant(s.path, v));
    walk(std::move(s));
    std::stable_sort(paths_.begin(), paths_.end(),
                     [](const Path& a, const Path& b) { return a.events.size() < b.events.size(); });
    return std::move(paths_);
  }

 private:
  static unsigned add(Path& p, Value v) {
    p.values.push_back(v);
    return static_cast<unsigned>(p.values.size() - 1);
  }
  static unsigned constant(Path& p, std::int64_t v) { return add(p, {Value::Kind::constant, v}); }
  static unsigned computed(Path& p, Value::Kind kind, unsigned a, unsigned b,
                           const Instruction* i = nullptr) {
    return add(p, {kind, 0, 0, a, b, i});
  }
  static unsigned operand(Path& p, const Operand& o) {
    return o.is_register ? p.registers[o.number] : constant(p, o.value);
  }

  /// Adds the reads that `value` depends on.
  static void reads_of(const Path& p, unsigned value, std::vector<unsigned>& out) {
    // A value is made of earlier ones.
    std::vector<bool> wanted(value + 1, false);
    wanted[value] = true;
    for (unsigned n = value + 1; n-- > 0;) {
      const Value& v = p.values[n];
      if (!wanted[n] || v.kind == Value::Kind::constant) continue;
      if (v.kind != Value::Kind::read) {
        wanted[v.a] = wanted[v.b] = true;
      } else if (std::find(out.begin(), out.end(), v.event) == out.end()) {
        out.push_back(v.event);
      }
    }
  }

  static PathEvent& push(State& s, EventKind kind, const Instruction& i) {
    PathEvent& e = s.path.events.emplace_back();
    e.kind = kind;
    e.instruction = &i;
    e.after = s.control;
    if (i.kind != InstructionKind::memory) return e;
    e.after.insert(e.after.end(), s.address.begin(), s.address.end());
    e.shift = s.shift;
    return e;
  }

  static unsigned push_read(State& s, const Instruction& i) {
    const auto event = static_cast<unsigned>(s.path.events.size());
    push(s, EventKind::read, i);
    return add(s.path, {Value::Kind::read, 0, event});
  }

  static void mbarrier(State& s, const Instruction& i) {
    const auto event = static_cast<unsigned>(s.path.events.size());
    const unsigned read = push_read(s, i);
    if (waits_for_phase(i.mbarrier)) {
      s.path.registers[i.destination] = computed(s.path, Value::Kind::waited, read, operand(s.path, i.a), &i);
      return;
    }
    push_write(s, i, computed(s.path, Value::Kind::mbarrier, read, operand(s.path, i.b), &i), event);
    if (i.mbarrier == MbarrierUse::copies_arrive) {
      for (const unsigned e : {event, event + 1})
        s.path.events[e].copies = s.path.events[e].follows_copies = true;
    } else if (i.destination != Instruction::kNoRegister) {
      s.path.registers[i.destination] = computed(s.path, Value::Kind::phase, read, read, &i);
    }
  }

  /// The event pushed last becomes a part of the asynchronous operation that begins with event `first`.
  static void take_part(State& s, AsyncPart part, unsigned first, unsigned element, bool bulk) {
    PathEvent& e = s.path.events.back();
    e.copies = true;
    e.part = part;
    e.chain = first;
    e.element = element;
    e.bulk = bulk;
  }

  /// A copy reads, and writes what it has read, while the thread goes on.
  static void copy(State& s, const Instruction& i) {
    const auto event = static_cast<unsigned>(s.path.events.size());
    const unsigned value = push_read(s, i);
    take_part(s, AsyncPart::source, event, 0, false);
    push_write(s, i, value, PathEvent::kNone);
    s.path.events.back().shift =
        static_cast<std::int32_t>(i.copy_offset) - static_cast<std::int32_t>(i.offset);
    take_part(s, AsyncPart::target, event, 0, false);
    s.copying.emplace_back(event, s.open_group);
    s.copying.emplace_back(event + 1, s.open_group);
  }

  /// A bulk copy: reads, and where the generic proxy knows of them; writes, likewise; and the mbarrier object
  /// that is told, if one is.
  static void bulk_copy(State& s, const Instruction& i) {
    const auto first = static_cast<unsigned>(s.path.events.size());
    std::vector<unsigned> values;
    for (unsigned e = 0; e * i.bytes() < i.copied; ++e) {
      s.shift = static_cast<std::int32_t>(e * i.bytes());
      values.push_back(push_read(s, i));
      take_part(s, AsyncPart::source, first, e, true);
    }
    push(s, EventKind::completion, i);
    take_part(s, AsyncPart::source_done, first, 0, true);
    for (unsigned e = 0; e < values.size(); ++e) {
      s.shift = static_cast<std::int32_t>(e * i.bytes());
      push_write(s, i, values[e], PathEvent::kNone);
      take_part(s, AsyncPart::target, first, e, true);
    }
    s.shift = 0;
    push(s, EventKind::completion, i);
    take_part(s, AsyncPart::target_done, first, 0, true);
    if (i.completes != Instruction::kNoLocation) return tell(s, i, first, Test::kBulkBytes);
    for (auto e = first; e < s.path.events.size(); ++e) s.bulk_copying.emplace_back(e, s.open_bulk_group);
  }

  /// The end of an asynchronous operation: an mbarrier object is told of its bytes.
  static void tell(State& s, const Instruction& i, unsigned first, unsigned bytes) {
    const auto event = static_cast<unsigned>(s.path.events.size());
    s.shift = 0;
    const unsigned read = push_read(s, i);
    take_part(s, AsyncPart::told, first, 0, true);
    const unsigned count = constant(s.path, bytes);
    push_write(s, i, computed(s.path, Value::Kind::mbarrier, read, count, &i), event);
    take_part(s, AsyncPart::told, first, 1, true);
  }

  /// `st.async`, `red.async`: a write, or an atomic, that its thread does not wait for.
  static void store_asynchronously(State& s, const Instruction& i) {
    const auto first = static_cast<unsigned>(s.path.events.size());
    const unsigned a = operand(s.path, i.a);
    if (i.op.is_atomic()) {
      const unsigned read = push_read(s, i);
      take_part(s, AsyncPart::source, first, 0, true);
      push_write(s, i, computed(s.path, Value::Kind::atomic, read, a, &i), first);
    } else {
      push_write(s, i, a, PathEvent::kNone);
    }
    take_part(s, AsyncPart::target, first, 0, true);
    tell(s, i, first, i.bytes());
  }

  /// Of `copying`, events of groups before `first` are done; of bulk copies those alone that tell of reads,
  /// if `reads_only`.
  static void finish_copies(State& s, std::vector<std::pair<unsigned, unsigned>>& copying, unsigned first,
                            bool reads_only) {
    const auto now = static_cast<unsigned>(s.path.events.size());
    std::vector<std::pair<unsigned, unsigned>> left;
    for (const auto& [event, group] : copying) {
      PathEvent& e = s.path.events[event];
      if (group < first && (!reads_only || e.part <= AsyncPart::source_done)) {
        e.done_at = now;
      } else {
        left.emplace_back(event, group);
      }
    }
    copying = std::move(left);
  }
  /// The groups that are committed, all but the last `left`: those before which number.
  static unsigned groups_before(unsigned open, const Instruction& i) {
    const auto left = static_cast<unsigned>(i.a.value);
    return open > left ? open - left : 0;
  }

  /// The elements of a vector: as many accesses, in no order.
  static void vector(State& s, const Instruction& i) {
    const auto first = static_cast<unsigned>(s.path.events.size());
    const std::int32_t begin = s.shift;
    for (unsigned e = 0; e < i.op.vector; ++e) {
      s.shift = begin + static_cast<std::int32_t>(e * i.bytes());
      if (i.op.writes()) {
        push_write(s, i, operand(s.path, e == 0 ? i.a : i.more_values[e - 1]), PathEvent::kNone);
      } else {
        const unsigned value = push_read(s, i);
        s.path.registers[e == 0 ? i.destination : i.more_destinations[e - 1]] = value;
      }
      s.path.events.back().vector = first;
    }
  }

  /// An access whose address a register says: a way for each place where it may go.
  void indexed(const State& s, const Instruction& i) {
    const unsigned index = s.path.registers[i.index];
    const Value& known = s.path.values[index];
    for (std::uint32_t at = 0; at < Test::kBytes; at += i.all_bytes()) {
      if (known.kind == Value::Kind::constant && i.offset_at(known.constant) != at) continue;
      State next = s;
      values_ += s.path.values.size();
      const unsigned offset = computed(next.path, Value::Kind::offset, index, index, &i);
      next.path.assumptions.push_back({Comparison::equal, offset, constant(next.path, at), true});
      next.shift = static_cast<std::int32_t>(at) - static_cast<std::int32_t>(i.offset);
      reads_of(next.path, index, next.address);
      if (i.op.atomic == AtomicOperation::compare_and_swap) {
        compare_and_swap(std::move(next), i);
        continue;
      }
      access(next, i);
      ++next.at;
      walk(std::move(next));
    }
  }

  /// Goes on without the instruction, too.
  void leave_out(State& s, const Instruction& i) {
    const unsigned guard = s.path.registers[i.guard], zero = constant(s.path, 0);
    State without = s;
    values_ += s.path.values.size();
    without.path.assumptions.push_back({Comparison::not_equal, guard, zero, i.guard_negated});
    depend(without, guard, zero);
    ++without.at;
    walk(std::move(without));
    s.path.assumptions.push_back({Comparison::not_equal, guard, zero, !i.guard_negated});
    depend(s, guard, zero);
  }

  static void push_write(State& s, const Instruction& i, unsigned value, unsigned partner) {
    PathEvent& e = push(s, EventKind::write, i);
    e.value = value;
    e.partner = partner;
    reads_of(s.path, value, e.after);
  }

  void walk(State s) {
    while (s.at < thread_.code.size()) {
      if (paths_.size() >= kMostPaths || values_ > kMostValues || s.path.events.size() > kMostPathEvents ||
          ++s.steps > kMostSteps) {
        cut_.rest = true;
        return;
      }
      const Instruction& i = thread_.code[s.at];
      if (i.guard != Instruction::kNoRegister) leave_out(s, i);
      s.shift = 0;
      s.address.clear();
      switch (i.kind) {
        case InstructionKind::memory:
          if (i.index != Instruction::kNoRegister) return indexed(s, i);
          if (i.op.atomic == AtomicOperation::compare_and_swap) return compare_and_swap(std::move(s), i);
          access(s, i);
          break;
        case InstructionKind::fence:
          push(s, i.op.kind == MemKind::fence ? EventKind::fence : EventKind::proxy_fence, i);
          break;
        case InstructionKind::barrier: {
          const unsigned id = operand(s.path, i.a);
          const unsigned threads = i.counts ? operand(s.path, i.b) : 0;
          PathEvent& e = push(s, EventKind::barrier, i);
          e.value = id;
          e.threads = threads;
          break;
        }
        case InstructionKind::cache_control: break;
        case InstructionKind::commit_copies: ++s.open_group; break;
        case InstructionKind::wait_copies:
          finish_copies(s, s.copying, i.waits ? groups_before(s.open_group, i) : ~0U, false);
          break;
        case InstructionKind::commit_bulk: ++s.open_bulk_group; break;
        case InstructionKind::wait_bulk:
          finish_copies(s, s.bulk_copying, groups_before(s.open_bulk_group, i), i.reads_only);
          break;
        case InstructionKind::cluster_arrive:
        case InstructionKind::cluster_wait: push(s, EventKind::barrier, i); break;
        case InstructionKind::move: s.path.registers[i.destination] = operand(s.path, i.a); break;
        case InstructionKind::compare:
        case InstructionKind::add:
        case InstructionKind::subtract: {
          const unsigned a = operand(s.path, i.a), b = operand(s.path, i.b);
          const auto kind = i.kind == InstructionKind::add       ? Value::Kind::add
                            : i.kind == InstructionKind::compare ? Value::Kind::compared
                                                                 : Value::Kind::subtract;
          s.path.registers[i.destination] = computed(s.path, kind, a, b, &i);
          break;
        }
        case InstructionKind::branch: {
          const unsigned a = operand(s.path, i.a), b = operand(s.path, i.b);
          State other = s;
          values_ += s.path.values.size();
          other.path.assumptions.push_back({i.comparison, a, b, true});
          depend(other, a, b);
          if (jump(other, i)) walk(std::move(other));
          s.path.assumptions.push_back({i.comparison, a, b, false});
          depend(s, a, b);
          break;
        }
        case InstructionKind::jump:
          if (!jump(s, i)) return;
          continue;
      }
      ++s.at;
    }
    paths_.push_back(std::move(s.path));
  }

  static void depend(State& s, unsigned a, unsigned b) {
    reads_of(s.path, a, s.control);
    reads_of(s.path, b, s.control);
  }

  /// Returns whether the loop, if it is one, may be taken once more.
  bool jump(State& s, const Instruction& i) {
    if (i.target <= s.at && ++s.taken[s.at] > unroll_) {
      cut_.loops = true;
      return false;
    }
    s.at = i.target;
    return true;
  }

  static void access(State& s, const Instruction& i) {
    if (i.op.vector > 1) return vector(s, i);
    if (i.mbarrier != MbarrierUse::none) return mbarrier(s, i);
    if (i.op.kind == MemKind::async_copy) return copy(s, i);
    if (i.op.kind == MemKind::bulk_copy) return bulk_copy(s, i);
    if (i.completes != Instruction::kNoLocation) return store_asynchronously(s, i);
    unsigned read = 0;
    unsigned partner = PathEvent::kNone;
    const unsigned a = i.op.writes() ? operand(s.path, i.a) : 0;
    if (i.op.kind != MemKind::store && i.op.kind != MemKind::surface_store) {
      partner = static_cast<unsigned>(s.path.events.size());
      read = push_read(s, i);
    }
    // What an exchange writes does not depend on what it reads.
    const bool stores_operand = partner == PathEvent::kNone || i.op.atomic == AtomicOperation::exchange;
    if (i.op.writes())
      push_write(s, i, stores_operand ? a : computed(s.path, Value::Kind::atomic, read, a, &i), partner);
    const bool wide = is_wide(i);
    if (wide && i.op.writes()) s.path.events.back().high = operand(s.path, i.more_values.front());
    if (i.destination != Instruction::kNoRegister) s.path.registers[i.destination] = read;
    if (wide && i.op.reads()) s.path.registers[i.more_destinations.front()] = upper(s.path, partner);
  }

  static bool is_wide(const Instruction& i) { return i.op.type == DataType::b128; }
  /// What event `read` has read beyond its first 8 bytes.
  static unsigned upper(Path& p, unsigned read) { return add(p, {Value::Kind::read, 8, read}); }

  /// Two ways: memory equals the comparand, in the bytes of the access, and it writes; or it only reads, of
  /// 16 bytes where the lower half differs, or the upper one alone does.
  void compare_and_swap(State s, const Instruction& i) {
    const bool wide = is_wide(i);
    const bool swaps = true;
    swap_or_not(s, i, swaps, swaps);
    swap_or_not(s, i, !swaps, !swaps);
    if (wide) swap_or_not(s, i, swaps, !swaps);
  }

  /// `low`, `high`: whether those halves are equal.
  void swap_or_not(State next, const Instruction& i, bool low, bool high) {
    const bool wide = is_wide(i);
    const auto partner = static_cast<unsigned>(next.path.events.size());
    const unsigned a = operand(next.path, i.a), b = operand(next.path, i.b);
    const unsigned read = push_read(next, i);
    const unsigned wanted = wide ? a : computed(next.path, Value::Kind::narrowed, a, a, &i);
    next.path.assumptions.push_back({Comparison::equal, read, wanted, low});
    unsigned upper_read = 0;
    if (wide) {
      upper_read = upper(next.path, partner);
      if (low)
        next.path.assumptions.push_back(
            {Comparison::equal, upper_read, operand(next.path, i.more_values.front()), high});
    }
    if (low && high) {
      push_write(next, i, b, partner);
      if (wide) next.path.events.back().high = operand(next.path, i.more_values.back());
    }
    if (i.destination != Instruction::kNoRegister) next.path.registers[i.destination] = read;
    if (wide && !i.more_destinations.empty()) next.path.registers[i.more_destinations.front()] = upper_read;
    ++next.at;
    walk(std::move(next));
  }

  const Thread& thread_;
  unsigned unroll_;
  Cut& cut_;
  std::size_t values_ = 0;
  std::vector<Path> paths_;
};

}  // namespace

std::vector<Path> unfold(const Thread& thread, unsigned unroll, Cut& cut) {
  return Unfolding(thread, unroll, cut).run();
}

}  // namespace warpline::litmus
