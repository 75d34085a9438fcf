#include "platform/programs/ptx/instruction_order.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <type_traits>
#include <utility>
#include <vector>

#include "platform/programs/ptx/address_forms.h"
#include "platform/programs/ptx/liveness.h"
#include "platform/programs/ptx/register_pressure.h"

namespace warpline::ptx {
namespace {

/// Accesses to memory among which an order is looked for; the next one lies behind them all.
constexpr unsigned kWindow = 128;
constexpr unsigned kNobody = ~0U;

/// Cycles until results are there, as an assembler would assume them: those of memory that it finds in L2.
/// Published measurements of Volta and Ampere, rounded; only their order matters much.
unsigned assumed_latency(const Instruction& i) {
  constexpr unsigned kFar = 250, kNear = 30, kProduct = 20;
  if (i.kind == InstructionKind::matrix) return kProduct;
  if (i.kind != InstructionKind::memory) return i.latency;
  if (!i.mem.reads()) return i.latency;
  switch (i.mem.space) {
    case Space::shared:
    case Space::shared_cluster:
    case Space::constant:
    case Space::param: return kNear;
    default: return kFar;
  }
}

/// How an instruction's place depends on memory.
enum class Role : std::uint8_t {
  computes,  ///< not
  loads,
  stores,
  orders,  ///< all accesses before it, and all behind it
  wall     ///< nothing passes it
};

bool is_plain(const MemOp& m) {
  const bool is_access = m.kind == MemKind::load || m.kind == MemKind::store;
  const bool is_generic = m.proxy == Proxy::generic || m.proxy == Proxy::noncoherent;
  return is_access && is_generic && !m.is_strong() && !m.is_volatile && !m.is_mmio && !m.multimem &&
         !m.of_image() && m.cache_operator != CacheOperator::cv && m.cache_operator != CacheOperator::lu &&
         m.cache_operator != CacheOperator::wt;
}

Role role_of(const Op& op, const Instruction& i) {
  if (ends_block(op.flow) || i.reads_time || i.mem.tile_passes != 0) return Role::wall;
  if (op.flow == Flow::may_trap) return Role::orders;
  switch (i.kind) {
    case InstructionKind::alu:
      return op.flow == Flow::next || op.effect == Effect::together ? Role::computes : Role::orders;
    case InstructionKind::matrix: return Role::computes;
    case InstructionKind::memory:
      if (!is_plain(i.mem)) return Role::orders;
      return i.mem.kind == MemKind::load ? Role::loads : Role::stores;
    case InstructionKind::barrier:
    case InstructionKind::fence:
    case InstructionKind::commit_copies:
    case InstructionKind::wait_copies:
    case InstructionKind::commit_bulk:
    case InstructionKind::wait_bulk:
    case InstructionKind::wait_bulk_reads:
    case InstructionKind::trigger_dependents:
    case InstructionKind::cluster_arrive:
    case InstructionKind::cluster_wait: return Role::orders;
    case InstructionKind::sleep:
    case InstructionKind::invalidate_constants:
    case InstructionKind::invalidate_instructions:
    case InstructionKind::commit_products:
    case InstructionKind::wait_products:
    case InstructionKind::reallocate_registers:
    case InstructionKind::call:
    case InstructionKind::ret:
    case InstructionKind::set_stack:
    case InstructionKind::flush_stack: break;
  }
  return Role::wall;
}

/// What of memory a weak access touches.
struct Touched {
  unsigned index = 0;  ///< in its stretch
  Space space = Space::generic;
  bool stores = false;
  bool read_only = false;   ///< nobody writes it while the kernel runs
  bool collective = false;  ///< a lane's address is not what it accesses
  bool wide = true;         ///< the address has 64 bits
  unsigned bytes = 0;
  SumForm address;
};

bool is_shared(Space s) {
  return s == Space::shared || s == Space::shared_cluster;
}

bool may_overlap(const Touched& a, const Touched& b) {
  const auto is_one_place = [](Space s) { return s == Space::global || s == Space::local || is_shared(s); };
  const bool alike = a.space == b.space || (is_shared(a.space) && is_shared(b.space));
  if (!alike && is_one_place(a.space) && is_one_place(b.space)) return false;
  if (a.collective || b.collective || a.wide != b.wide || a.address.base != b.address.base) return true;
  // A generic address in global memory is the global one.
  const auto is_generic = [](Space s) { return s == Space::generic || s == Space::global; };
  if (a.space != b.space && !(is_generic(a.space) && is_generic(b.space))) return true;
  const auto distance = [&](const SumForm& from, const SumForm& to) {
    const std::uint64_t d = to.offset - from.offset;
    return a.wide ? d : std::uint64_t{static_cast<std::uint32_t>(d)};
  };
  return distance(a.address, b.address) < a.bytes || distance(b.address, a.address) < b.bytes;
}

/// Whether `later` must stay behind `earlier`.
bool must_follow(const Touched& earlier, const Touched& later) {
  if (later.stores) return true;
  if (earlier.read_only || later.read_only) return false;
  return may_overlap(earlier, later);
}

/// The instructions of a block, and what each must wait for.
class BlockGraph {
 public:
  explicit BlockGraph(const Program& program)
      : program_(program),
        forms_(program),
        writer_(program.registers, kNobody),
        reader_(program.registers, kNobody) {}

  /// Those from `begin` to `end`, which are a block.
  void take(std::size_t begin, std::size_t end) {
    begin_ = begin;
    const std::size_t n = end - begin;
    first_.assign(n, kNobody);
    waits_.assign(n, 0);
    edges_.clear();
    readers_.clear();
    accesses_.clear();
    forms_.begin_block();
    behind_wall_ = 0;
    wall_ = orderer_ = together_ = parameter_ = kNobody;
    of_all_.clear();
    for (unsigned i = 0; i < n; ++i) add(i);
    for (unsigned i = 0; i < n; ++i) forget_registers(i);
    find_priorities();
  }
  [[nodiscard]] unsigned size() const { return static_cast<unsigned>(first_.size()); }
  /// Cycles from its issue to the block's end at least, and what makes loads go before others.
  [[nodiscard]] unsigned priority(unsigned i) const { return priority_[i]; }
  /// For how many instructions each waits.
  [[nodiscard]] const std::vector<unsigned>& waits() const { return waits_; }
  /// Calls f(instruction, cycles) for each that waits for `i`, and for how long.
  template <class F>
  void for_each_waiting(unsigned i, F&& f) const {
    for (unsigned e = first_[i]; e != kNobody; e = edges_[e].next) f(edges_[e].to, edges_[e].cycles);
  }
  /// The cycle in which the last one issues, in the text's order.
  [[nodiscard]] unsigned length_of_text() const {
    std::vector<unsigned> from(size());
    unsigned now = 0;
    for (unsigned i = 0; i < size(); ++i) {
      now = std::max(i == 0 ? 0 : now + 1, from[i]);
      for_each_waiting(i, [&](unsigned to, unsigned cycles) { from[to] = std::max(from[to], now + cycles); });
    }
    return now;
  }

 private:
  struct Edge {
    unsigned to, cycles, next;
  };
  struct Reader {
    unsigned index, next;
  };
  [[nodiscard]] const Instruction& instruction(unsigned i) const { return program_.instructions[begin_ + i]; }
  [[nodiscard]] const Op& op(unsigned i) const { return program_.ops[begin_ + i]; }

  void add_edge(unsigned from, unsigned to, unsigned cycles) {
    edges_.push_back({to, cycles, first_[from]});
    first_[from] = static_cast<unsigned>(edges_.size() - 1);
    ++waits_[to];
  }

  void add(unsigned i) {
    const Op& o = op(i);
    const Role role = role_of(o, instruction(i));
    if (wall_ != kNobody) add_edge(wall_, i, 1);
    add_registers(i);
    if (o.flow == Flow::converge || o.flow == Flow::barrier || o.effect == Effect::together)
      add_together(i, role);
    if (o.effect == Effect::parameter) follow(parameter_, i);
    if (role == Role::wall) {
      for (unsigned before = behind_wall_; before < i; ++before) add_edge(before, i, 1);
      behind_wall_ = i + 1;
      wall_ = i;
      accesses_.clear();
      orderer_ = together_ = parameter_ = kNobody;
      of_all_.clear();
    } else if (role != Role::computes) {
      add_memory(i, role);
    }
    forms_.execute(begin_ + i);
  }

  /// What lanes do together keeps its order, but for products of matrices and loads of their fragments, which
  /// all lanes of a warp execute wherever they are (`.aligned`), among each other.
  void add_together(unsigned i, Role role) {
    const bool of_all = op(i).flow == Flow::converge &&
                        (instruction(i).kind == InstructionKind::matrix || role == Role::loads);
    if (of_all) {
      if (together_ != kNobody) add_edge(together_, i, 1);
      of_all_.push_back(i);
      return;
    }
    for (const unsigned before : of_all_) add_edge(before, i, 1);
    if (!of_all_.empty()) together_ = kNobody;  // they are behind it
    of_all_.clear();
    follow(together_, i);
  }

  /// Behind the last of a chain, whose last it is then.
  void follow(unsigned& last, unsigned i) {
    if (last != kNobody) add_edge(last, i, 1);
    last = i;
  }

  void add_registers(unsigned i) {
    const Instruction& x = instruction(i);
    const unsigned sources = x.source_count, all = sources + x.destination_count;
    const auto follow_writer = [&](std::uint16_t r) {
      if (writer_[r] != kNobody) add_edge(writer_[r], i, assumed_latency(instruction(writer_[r])));
    };
    for (unsigned n = 0; n < sources; ++n) follow_writer(x.registers[n]);
    for (unsigned n = sources; n < all; ++n) {
      const std::uint16_t r = x.registers[n];
      for (unsigned e = reader_[r]; e != kNobody; e = readers_[e].next) add_edge(readers_[e].index, i, 1);
      // As the scoreboard has it, a register that a load owes cannot be written.
      follow_writer(r);
      reader_[r] = kNobody;
      writer_[r] = i;
    }
    for (unsigned n = 0; n < sources; ++n) {
      const std::uint16_t r = x.registers[n];
      if (writer_[r] == i) continue;
      readers_.push_back({i, reader_[r]});
      reader_[r] = static_cast<unsigned>(readers_.size() - 1);
    }
  }
  void forget_registers(unsigned i) {
    const Instruction& x = instruction(i);
    for (unsigned n = 0; n < unsigned{x.source_count} + x.destination_count; ++n)
      writer_[x.registers[n]] = reader_[x.registers[n]] = kNobody;
  }

  void add_memory(unsigned i, Role role) {
    if (orderer_ != kNobody) add_edge(orderer_, i, 1);
    if (role == Role::orders || accesses_.size() == kWindow) {
      for (const Touched& earlier : accesses_) add_edge(earlier.index, i, 1);
      accesses_.clear();
      orderer_ = i;
      return;
    }
    const Touched t = touched_by(i);
    for (const Touched& earlier : accesses_)
      if (must_follow(earlier, t)) add_edge(earlier.index, i, 1);
    accesses_.push_back(t);
  }

  [[nodiscard]] Touched touched_by(unsigned i) {
    const MemOp& m = instruction(i).mem;
    const Op& o = op(i);
    Touched t;
    t.index = i;
    t.space = m.space;
    t.stores = m.kind == MemKind::store;
    t.read_only = m.is_noncoherent || m.space == Space::constant || m.space == Space::param;
    t.collective = o.flow == Flow::converge;
    t.wide = o.wide_address;
    t.bytes = m.bytes_per_lane();
    t.address = forms_.of(o.r[Op::kAddress], o.wide_address ? 8 : 4);
    t.address.offset += static_cast<std::uint64_t>(o.immediate);
    return t;
  }

  void find_priorities() {
    constexpr unsigned kLoadsFirst = 8;  // before the addresses of later ones are computed
    priority_.assign(size(), 0);
    for (unsigned i = size(); i-- > 0;) {
      unsigned longest = 1;
      for_each_waiting(
          i, [&](unsigned to, unsigned cycles) { longest = std::max(longest, cycles + priority_[to]); });
      priority_[i] = longest;
    }
    for (unsigned i = 0; i < size(); ++i)
      if (role_of(op(i), instruction(i)) == Role::loads) priority_[i] += kLoadsFirst;
  }

  const Program& program_;
  AddressForms forms_;
  std::vector<unsigned> writer_;  ///< by register; nobody between blocks
  std::vector<unsigned> reader_;  ///< likewise: the newest in readers_
  std::size_t begin_ = 0;
  std::vector<unsigned> first_;  ///< edge from it
  std::vector<unsigned> waits_;  ///< edges to it
  std::vector<unsigned> priority_;
  std::vector<Edge> edges_;
  std::vector<Reader> readers_;
  std::vector<unsigned> of_all_;   ///< what all lanes do together, since the last of together_
  std::vector<Touched> accesses_;  ///< since the orderer or the wall
  unsigned behind_wall_ = 0;
  unsigned wall_ = kNobody, orderer_ = kNobody, together_ = kNobody, parameter_ = kNobody;
};

/// Registers that hold values which are still needed, as a block is gone through in any order.
class Occupied {
 public:
  Occupied(const Program& program, const Liveness& liveness)
      : program_(program),
        liveness_(liveness),
        reads_(program.registers, 0),
        occupied_(program.registers),
        behind_(program.registers) {}

  void begin_block(std::size_t block) {
    for (std::size_t i = liveness_.begin_of(block); i < liveness_.end_of(block); ++i)
      for_each_source(i, [&](std::uint16_t r) { ++reads_[r]; });
    behind_ = liveness_.needed_behind(block);
    occupied_ = liveness_.needed_before(block);
    now_ = 0;
    occupied_.for_each([&](std::uint16_t r) { now_ += liveness_.units(r); });
  }
  [[nodiscard]] unsigned now() const { return now_; }
  /// By how much instruction `i` of the program changes it.
  [[nodiscard]] int change_by(std::size_t i) const {
    int change = 0;
    for_each_source(i, [&](std::uint16_t r) {
      if (reads_[r] == 1 && !behind_.has(r) && occupied_.has(r)) change -= units(r);
    });
    for_each_destination(i, [&](std::uint16_t r) {
      if (!occupied_.has(r) && (reads_[r] != 0 || behind_.has(r))) change += units(r);
    });
    return change;
  }
  void execute(std::size_t i) {
    for_each_source(i, [&](std::uint16_t r) {
      if (--reads_[r] != 0 || behind_.has(r) || !occupied_.has(r)) return;
      occupied_.remove(r);
      now_ -= liveness_.units(r);
    });
    for_each_destination(i, [&](std::uint16_t r) {
      if (occupied_.has(r) || (reads_[r] == 0 && !behind_.has(r))) return;
      occupied_.add(r);
      now_ += liveness_.units(r);
    });
  }

 private:
  [[nodiscard]] int units(std::uint16_t r) const { return static_cast<int>(liveness_.units(r)); }
  template <class F>
  void for_each_source(std::size_t i, F&& f) const {
    const Instruction& x = program_.instructions[i];
    for (unsigned n = 0; n < x.source_count; ++n) f(x.registers[n]);
  }
  template <class F>
  void for_each_destination(std::size_t i, F&& f) const {
    const Instruction& x = program_.instructions[i];
    for (unsigned n = 0; n < x.destination_count; ++n) f(x.registers[x.source_count + n]);
  }

  const Program& program_;
  const Liveness& liveness_;
  std::vector<unsigned> reads_;  ///< by register, of those still to come in the block
  RegisterSet occupied_, behind_;
  unsigned now_ = 0;
};

/// Instructions of a block in the order in which they issue.
class Orderer {
 public:
  explicit Orderer(Program& program)
      : program_(program), liveness_(program), graph_(program), occupied_(program, liveness_) {}

  unsigned run(unsigned most) {
    if (!liveness_.is_known()) return kMostRegisters;
    unsigned in_text = 0;
    for (std::size_t b = 0; b < liveness_.blocks(); ++b) in_text = std::max(in_text, liveness_.most_in(b));
    most_ = needed_within(std::min(most, std::max(kUnlimitingRegisters, registers_for(in_text))));
    unsigned needed = 0;
    for (std::size_t b = 0; b < liveness_.blocks(); ++b) {
      if (waits_for_something(b) && !has_mmio(b)) order_block(b);
      needed = std::max(needed, liveness_.most_in(b));
    }
    for (std::size_t i = 0; i < program_.instructions.size(); ++i)
      program_.instructions[i].pc = static_cast<std::uint32_t>(i << kPcShift);
    return registers_for(needed);
  }

 private:
  using Offset = std::ptrdiff_t;

  /// Whether it reads or writes a device's registers: a program may count on it that what follows issues once
  /// such a value was used.
  [[nodiscard]] bool has_mmio(std::size_t block) const {
    for (std::size_t i = liveness_.begin_of(block); i < liveness_.end_of(block); ++i) {
      const Instruction& instruction = program_.instructions[i];
      const MemOp& m = instruction.mem;
      if (instruction.kind == InstructionKind::memory && m.is_mmio) return true;
    }
    return false;
  }
  /// Whether it has an instruction behind which others may wait for long.
  [[nodiscard]] bool waits_for_something(std::size_t block) const {
    const auto first = program_.instructions.begin();
    return std::any_of(first + static_cast<Offset>(liveness_.begin_of(block)),
                       first + static_cast<Offset>(liveness_.end_of(block)), [](const Instruction& i) {
                         return i.kind == InstructionKind::memory || i.kind == InstructionKind::matrix;
                       });
  }

  void order_block(std::size_t block) {
    const std::size_t begin = liveness_.begin_of(block);
    const unsigned allowed = std::max(most_, liveness_.most_in(block));
    graph_.take(begin, liveness_.end_of(block));
    occupied_.begin_block(block);
    const unsigned length = list(begin, allowed);
    if (length >= graph_.length_of_text()) return;
    move(begin, order_);
    if (liveness_.most_in(block) <= allowed) return;
    std::vector<unsigned> back(order_.size());
    for (unsigned i = 0; i < order_.size(); ++i) back[order_[i]] = i;
    move(begin, back);
  }

  /// Makes the order of the block that begins at `begin`: in each cycle, the instruction that can issue and
  /// has most behind it. What would need more registers than `allowed` waits; where all would, the first of
  /// the text that is left is taken. The cycle in which the last one issues.
  unsigned list(std::size_t begin, unsigned allowed) {
    constexpr std::size_t kMostTried = 16;
    const unsigned n = graph_.size();
    waits_ = graph_.waits();
    from_.assign(n, 0);
    done_.assign(n, false);
    order_.clear();
    std::priority_queue<std::pair<unsigned, unsigned>> can;  // priority, from the back of the text
    std::priority_queue<std::pair<unsigned, unsigned>, std::vector<std::pair<unsigned, unsigned>>,
                        std::greater<>>
        will;  // cycle, instruction
    for (unsigned i = 0; i < n; ++i)
      if (waits_[i] == 0) will.emplace(0, i);
    std::vector<std::pair<unsigned, unsigned>> tried;
    unsigned now = 0, first = 0;
    while (order_.size() < n) {
      if (can.empty() && !will.empty()) now = std::max(now, will.top().first);
      for (; !will.empty() && will.top().first <= now; will.pop())
        if (const unsigned i = will.top().second; !done_[i]) can.emplace(graph_.priority(i), n - 1 - i);
      unsigned next = kNobody;
      tried.clear();
      while (!can.empty() && next == kNobody && tried.size() < kMostTried) {
        const unsigned i = n - 1 - can.top().second;
        if (!done_[i]) {
          const int change = occupied_.change_by(begin + i);
          if (change <= 0 || occupied_.now() + static_cast<unsigned>(change) <= allowed) next = i;
          if (next == kNobody) tried.push_back(can.top());
        }
        can.pop();
      }
      for (const auto& t : tried) can.push(t);
      if (next == kNobody && tried.empty()) continue;  // whatever could issue is done
      if (next == kNobody) {
        while (done_[first]) ++first;
        next = first;
        now = std::max(now, from_[next]);
      }
      done_[next] = true;
      order_.push_back(next);
      occupied_.execute(begin + next);
      graph_.for_each_waiting(next, [&](unsigned to, unsigned cycles) {
        from_[to] = std::max(from_[to], now + cycles);
        if (--waits_[to] == 0) will.emplace(from_[to], to);
      });
      ++now;
    }
    return now - 1;
  }

  /// The instruction that is number n of a block comes from number order[n].
  void move(std::size_t begin, const std::vector<unsigned>& order) {
    const auto permute = [&](auto& all) {
      const auto at = all.begin() + static_cast<Offset>(begin);
      const std::vector<typename std::decay_t<decltype(all)>::value_type> before(
          at, at + static_cast<Offset>(order.size()));
      for (std::size_t i = 0; i < order.size(); ++i) all[begin + i] = before[order[i]];
    };
    permute(program_.ops);
    permute(program_.instructions);
    permute(program_.lines);
  }

  Program& program_;
  unsigned most_ = 0;  ///< registers needed at once, but where the text's order needs more
  Liveness liveness_;
  BlockGraph graph_;
  Occupied occupied_;
  std::vector<unsigned> order_;         ///< of the block's instructions
  std::vector<unsigned> waits_, from_;  ///< by instruction: for so many yet; from what cycle on it can issue
  std::vector<bool> done_;
};

}  // namespace

unsigned order_as_assembler(Program& program, unsigned most) {
  if (program.ops.empty()) return register_pressure(program);
  return Orderer(program).run(most);
}

}  // namespace warpline::ptx
