#include "tests/programs/hints.h"

#include <algorithm>
#include <initializer_list>

namespace warpline::test {
namespace {

std::string pick(Random& random, std::initializer_list<const char*> list) {
  return *(list.begin() + random.below(list.size()));
}

/// Descriptors: static ones, a fraction, a range, and two that are malformed.
std::string literal(Random& random) {
  return pick(random, {"0x14F0000000000000", "0x12F0000000000000", "0x16F0000000000000", "0x10F0000000000000",
                       "0x1000000000000000", "0x1570000000000000", "0x1D10000200000000", "0x3450000000000000",
                       "0x5570000000000000", "1", "0xFFFFFFFFFFFFFFFF"});
}

void strip(std::vector<Statement>& list) {
  list.erase(std::remove_if(list.begin(), list.end(),
                            [](const Statement& s) { return s.kind == Statement::Kind::hint; }),
             list.end());
  for (Statement& s : list) {
    s.hints.clear();
    s.policy.clear();
    for (const char* cop : {".ca", ".cg", ".cs", ".lu", ".cv", ".wb", ".wt"})
      if (s.text == cop) s.text.clear();
    if (s.text == "ld.global.ca.nc" || s.text == "ld.global.cg.nc" || s.text == "ld.global.cs.nc")
      s.text = "ld.global.nc";
    strip(s.body);
    strip(s.otherwise);
  }
}

}  // namespace

Hints random_hints(Random& random, const Hinted& what) {
  Hints h;
  if (what.takes_l1_priority)
    h.qualifiers += pick(random, {"", "", ".L1::evict_normal", ".L1::evict_unchanged", ".L1::evict_first",
                                  ".L1::evict_last", ".L1::no_allocate"});
  if (what.wide)
    h.qualifiers += pick(random, {"", ".L2::evict_normal", ".L2::evict_first", ".L2::evict_last"});
  if (what.takes_policy && random.below(2) == 0) {
    h.qualifiers += ".L2::cache_hint";
    h.policy = random.below(3) == 0 ? literal(random) : "%pol" + std::to_string(random.below(6));
  }
  if (what.load && what.takes_prefetch)
    h.qualifiers += pick(random, {"", "", ".L2::64B", ".L2::128B", ".L2::256B"});
  return h;
}

std::string policy_prologue() {
  return "\tcreatepolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %pol0, 0.5;\n"
         "\tcreatepolicy.fractional.L2::evict_first.b64 %pol1;\n"
         "\tcreatepolicy.range.global.L2::evict_last.L2::evict_first.b64 %pol2, [%b0], 4096, 16384;\n"
         "\tcreatepolicy.fractional.L2::evict_unchanged.L2::evict_first.b64 %pol3, 0.25;\n"
         "\tcreatepolicy.cvt.L2.b64 %pol4, %pol0;\n"
         "\tmov.b64 %pol5, 0x9E3779B97F4A7C15;\n";
}

std::string random_hint_instruction(Random& random, Area area, bool generic) {
  if (area == Area::local) return pick(random, {"prefetch.local.L1", "prefetch.local.L2"});
  if (generic)
    return pick(random, {"prefetch.L1", "prefetch.L2", "prefetchu.L1", "prefetch.L2::evict_last",
                         "applypriority.L2::evict_normal"});
  return pick(random, {"prefetch.global.L1", "prefetch.global.L2", "prefetch.global.L2::evict_last",
                       "prefetch.global.L2::evict_normal", "applypriority.global.L2::evict_normal"});
}

Program without_hints(Program program) {
  for (Grid& grid : program.grids) strip(grid.statements);
  return program;
}

}  // namespace warpline::test
