#include <algorithm>
#include <initializer_list>

#include "tests/programs/hints.h"
#include "tests/programs/program.h"

namespace warpline::test {
namespace {

class Author {
 public:
  explicit Author(Random& random) : random_(random) {}

  std::vector<Statement> block(unsigned count, unsigned depth) {
    std::vector<Statement> out;
    for (unsigned i = 0; i < count; ++i) out.push_back(statement(depth));
    return out;
  }
  /// `full`: all warps have 32 lanes.
  std::vector<Statement> outermost(unsigned count, bool full) {
    full_ = full;
    return block(count, 0);
  }
  Counter counter() {
    static const Counter kKinds[] = {
        {"add", "u32"}, {"add", "s32"}, {"add", "u64"}, {"min", "u32"},     {"min", "s32"},    {"min", "u64"},
        {"min", "s64"}, {"max", "u32"}, {"max", "s32"}, {"max", "u64"},     {"max", "s64"},    {"and", "b32"},
        {"and", "b64"}, {"or", "b32"},  {"or", "b64"},  {"xor", "b32"},     {"xor", "b64"},    {"inc", "u32"},
        {"dec", "u32"}, {"add", "f32"}, {"add", "f64"}, {"casloop", "b32"}, {"casloop", "b64"}};
    return kKinds[random_.below(std::size(kKinds))];
  }

 private:
  using Kind = Statement::Kind;
  unsigned below(unsigned n) { return static_cast<unsigned>(random_.below(n)); }
  bool one_in(unsigned n) { return random_.below(n) == 0; }
  std::string pick(std::initializer_list<const char*> list) {
    return *(list.begin() + below(static_cast<unsigned>(list.size())));
  }
  std::string scope(bool with_cta) {
    return with_cta ? pick({".cta", ".cluster", ".gpu", ".sys"}) : pick({".gpu", ".sys"});
  }

  std::string load_qualifiers(Area area) {
    if (area == Area::local) return pick({"", ".ca", ".cg", ".cs", ".lu", ".cv"});
    if (area == Area::shared) return pick({"", ".volatile", ".relaxed.cta", ".acquire.cta"});
    switch (below(4)) {
      case 0: return pick({".ca", ".cg", ".cs", ".lu", ".cv"});
      case 1: return one_in(2) ? ".volatile" : ".relaxed" + scope(true);
      case 2: return one_in(3) ? ".acquire" + scope(true) : "";
      default: return "";
    }
  }
  std::string store_qualifiers(Area area) {
    if (area == Area::local) return pick({"", ".wb", ".cg", ".cs", ".wt"});
    if (area == Area::shared) return pick({"", ".volatile", ".relaxed.cta", ".release.cta"});
    switch (below(4)) {
      case 0: return pick({".wb", ".cg", ".cs", ".wt"});
      case 1: return one_in(2) ? ".volatile" : ".relaxed" + scope(true);
      case 2: return one_in(3) ? ".release" + scope(true) : "";
      default: return "";
    }
  }

  /// Qualifiers and operand that no result may depend on.
  void give_hints(Statement& s, const Hinted& what) {
    if (!what.wide && !one_in(2)) return;
    const Hints h = random_hints(random_, what);
    s.hints = h.qualifiers;
    s.policy = h.policy;
  }

  Statement access(Kind kind) {
    Statement s;
    s.kind = kind;
    s.area = static_cast<Area>(below(kAreas));
    s.bytes = 1U << below(4);
    s.elements = std::min(1U << below(3), 16 / s.bytes);
    if (s.elements == 8) s.elements = 4;
    s.with_sign = one_in(3);
    s.to = below(kRegisters);
    s.by = below(kRegisters);
    s.from = below(kRegisters);
    s.generic = one_in(3);
    s.moving = one_in(2);
    const unsigned size = s.bytes * s.elements;
    s.number = below(kSlice / size) * size;
    s.guarded = one_in(4);
    s.guard = below(8);
    s.text = kind == Kind::load ? load_qualifiers(s.area) : store_qualifiers(s.area);
    s.odd_area = s.area;
    if (s.generic && one_in(3)) {
      s.odd_area = static_cast<Area>(below(kAreas));
      s.text.clear();
    }
    const bool global = s.area < Area::shared && s.odd_area < Area::shared;
    // The widest accesses lie in one piece.
    const bool packed = s.area == Area::vidmem_packed || s.area == Area::sysmem_packed;
    if (s.bytes >= 4 && packed && s.odd_area == s.area && s.text != ".volatile" && one_in(3)) {
      s.elements = 32 / s.bytes;
      s.number = below(kSlice / 32) * 32;
    }
    const bool orders = s.text.rfind(".re", 0) == 0 || s.text.rfind(".ac", 0) == 0;
    Hinted what;
    what.load = kind == Kind::load;
    what.store = !what.load;
    what.takes_l1_priority = global && (s.text.empty() || orders);
    what.takes_policy = global && s.text != ".volatile";
    what.takes_prefetch = global;
    what.wide = s.bytes * s.elements == 32;
    give_hints(s, what);
    return s;
  }

  Statement atomic() {
    Statement s;
    s.kind = Kind::atomic;
    s.number = below(kCounters);
    s.from = below(kRegisters);
    // Which memory: 0 vidmem, 1 sysmem, 2 shared.
    s.by = below(3);
    s.generic = one_in(4);
    s.guarded = one_in(3);
    s.guard = below(8);
    s.with_sign = one_in(2);  // as a reduction where there is one
    s.text = one_in(2) ? "" : pick({".relaxed", ".acquire", ".release", ".acq_rel"}) + scope(s.by == 2);
    give_atomic_hints(s, s.by != 2);
    return s;
  }

  /// Of a compare-and-swap they are left out where it is written.
  void give_atomic_hints(Statement& s, bool global) {
    s.hints.clear();
    s.policy.clear();
    Hinted what;
    what.atomic = true;
    what.takes_policy = global;
    give_hints(s, what);
  }

  /// On the thread's own slice, so that the old value is known.
  Statement own_atomic() {
    Statement s = access(Kind::own_atomic);
    s.area = s.odd_area = static_cast<Area>(below(kAreas - 1));
    s.bytes = 4U << below(2);
    s.elements = 1;
    s.number = below(kSlice / s.bytes) * s.bytes;
    s.op = pick({"add", "min", "max", "and", "or", "xor", "inc", "dec", "exch", "cas"});
    if (s.op == "inc" || s.op == "dec") s.bytes = 4;
    if (s.op == "inc" || s.op == "dec" || s.op == "add") s.with_sign = false;
    s.text = one_in(2) ? "" : pick({".relaxed", ".acquire", ".release", ".acq_rel"}) + scope(true);
    s.discards = s.op != "exch" && s.op != "cas" && s.text.rfind(".ac", 0) != 0 && one_in(3);
    give_atomic_hints(s, s.area < Area::shared && s.op != "cas");
    return s;
  }

  Statement alu() {
    Statement s;
    s.to = below(kRegisters);
    s.from = below(kRegisters);
    s.by = below(kRegisters);
    s.text = pick({"add.s64", "sub.s64", "mul.lo.s64", "xor.b64", "and.b64", "or.b64", "min.u64", "shr.u64"});
    s.number = 1 + below(63);
    return s;
  }

  Statement table() {
    Statement s = access(Kind::table);
    s.bytes = std::min(s.bytes, 8U);
    if (s.bytes * s.elements == 32) s.elements = 16 / s.bytes;
    s.text = pick({"ld.global.nc", "ld.global.nc", "ld.global.ca.nc", "ld.global.cg.nc", "ld.global.cs.nc",
                   "ld.global", "ld.const", "ld.param"});
    s.generic = false;
    if (s.text == "ld.param") s.moving = false;
    s.hints.clear();
    s.policy.clear();
    Hinted what;
    what.load = what.takes_policy = what.takes_prefetch = s.text.rfind("ld.global", 0) == 0;
    what.takes_l1_priority = s.text == "ld.global.nc" || s.text == "ld.global";
    give_hints(s, what);
    return s;
  }

  /// An instruction that is a hint and nothing else.
  Statement hint() {
    Statement s;
    s.kind = Kind::hint;
    do s.area = s.odd_area = static_cast<Area>(below(kAreas));
    while (s.area == Area::shared);
    s.by = below(kRegisters);
    s.from = below(kRegisters);
    s.bytes = 4;
    s.generic = s.area != Area::local && one_in(3);
    s.moving = one_in(2);
    s.number = below(kSlice / 4) * 4;
    s.guarded = one_in(4);
    s.guard = below(8);
    s.text = random_hint_instruction(random_, s.area, s.generic);
    return s;
  }

  Statement branch(unsigned depth) {
    Statement s;
    s.kind = Kind::branch;
    s.from = below(kRegisters);
    s.guard = below(40);  // from 32 on: lanes below 4 * (guard - 31)
    s.body = block(1 + below(4), depth + 1);
    if (one_in(2)) s.otherwise = block(1 + below(4), depth + 1);
    return s;
  }

  Statement loop(unsigned depth) {
    Statement s;
    s.kind = Kind::loop;
    s.from = below(kRegisters);
    s.number = one_in(2) ? 1 : 3;
    s.body = block(1 + below(4), depth + 1);
    return s;
  }

  Statement fence() {
    Statement s;
    s.kind = Kind::fence;
    s.text = one_in(2) ? pick({"membar.cta", "membar.gl", "membar.sys"})
                       : pick({"fence.sc", "fence.acq_rel"}) + scope(true);
    return s;
  }

  Statement shuffle() {
    Statement s;
    s.kind = Kind::shuffle;
    s.text = full_ ? pick({"idx", "bfly", "up", "down"}) : "up";
    s.to = below(kRegisters);
    s.from = below(kRegisters);
    s.number = below(32);
    return s;
  }

  /// Hands a register to another thread of the CTA through shared memory or, around a barrier, global memory.
  Statement swap() {
    Statement s;
    s.kind = Kind::swap;
    s.to = below(kRegisters);
    s.from = below(kRegisters);
    s.number = below(70);
    s.area =
        std::initializer_list<Area>{Area::shared, Area::vidmem_packed, Area::sysmem_packed}.begin()[below(3)];
    s.text =
        s.area == Area::shared ? "" : pick({"", ".ca", ".cg", ".cs", ".cv", ".volatile", ".relaxed.gpu"});
    return s;
  }

  Statement statement(unsigned depth) {
    if (one_in(12)) return hint();
    const unsigned kind = below(depth == 0 ? 24 : depth == 1 ? 20 : 17);
    if (kind < 3) return alu();
    if (kind < 8) return access(Kind::load);
    if (kind < 13) return access(Kind::store);
    if (kind < 15) return one_in(2) ? atomic() : own_atomic();
    if (kind < 16) return table();
    if (kind < 17) return fence();
    if (kind < 19) return branch(depth);
    if (kind < 20) return loop(depth);
    return kind < 22 ? shuffle() : swap();
  }

  Random& random_;
  bool full_ = false;
};

}  // namespace

Program random_program(Random& random) {
  Program p;
  Author author(random);
  for (unsigned i = 0; i < kCounters; ++i) p.counters.push_back(author.counter());
  const auto ctas = static_cast<unsigned>(1 + random.below(6));
  const auto threads =
      static_cast<unsigned>(random.below(2) == 0 ? 32 * (1 + random.below(4)) : 1 + random.below(100));
  const auto grids = 1 + random.below(3);
  for (std::uint64_t g = 0; g < grids; ++g) {
    Grid grid;
    grid.ctas = ctas;
    grid.threads = threads;
    grid.shift = static_cast<unsigned>(random.below(ctas * threads));
    grid.statements = author.outermost(static_cast<unsigned>(5 + random.below(25)), threads % 32 == 0);
    p.grids.push_back(std::move(grid));
  }
  return p;
}

Contents initial_contents(const Program& program, Random& random) {
  Contents c;
  for (auto& slices : c.slices)
    for (unsigned i = 0; i < program.threads_in_all() * kSlice; ++i)
      slices.push_back(static_cast<std::uint8_t>(random.next()));
  for (auto& counters : c.counters)
    for (unsigned i = 0; i < kCounters; ++i)
      counters.push_back(program.counters[i].type[0] == 'f' || program.counters[i].operation == "dec"
                             ? 0
                             : random.below(100));
  for (unsigned i = 0; i < kTable; ++i) c.table.push_back(static_cast<std::uint8_t>(random.next()));
  for (unsigned i = 0; i < kTable / 4; ++i) c.constants.push_back(static_cast<std::uint8_t>(random.next()));
  return c;
}

}  // namespace warpline::test
