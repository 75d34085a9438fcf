// Eviction classes in L1 and L2, by the lines that a program finds there again (PTX ISA, "Cache Eviction
// Priority Hints").
#include "tests/programs/single_thread.h"

namespace warpline::test {
namespace eviction_test {

/// The sectors of one of a kernel's lines 0 to 15, of which %a to %d hold four each.
std::string at(unsigned line, unsigned offset = 0) {
  return std::string("[%") + "abcd"[line / 4] + "+" + std::to_string(line % 4 * kLineBytes + offset) + "]";
}

/// A load that is over before the next one starts, which so meets what it left.
std::string done(const std::string& load) {
  return load + ";\nfence.acq_rel.cta;\n";
}

/// A cache of one set, and what a program finds in it. Before the program's lines, L2 has one that is
/// evict_normal: the kernel's parameters.
class Eviction : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] bool at_l2() const { return GetParam() == std::string("L2"); }
  [[nodiscard]] unsigned others() const { return at_l2() ? 1 : 0; }

  /// A load that names an eviction priority such as "last", or none.
  [[nodiscard]] std::string get(unsigned line, const std::string& priority = "", unsigned offset = 0) const {
    if (!at_l2())
      return done("ld.global" + (priority.empty() ? "" : ".L1::evict_" + priority) + ".u64 %x0, " +
                  at(line, offset));
    if (priority.empty()) return done("ld.global.cg.u64 %x0, " + at(line, offset));
    return "createpolicy.fractional.L2::evict_" + priority + ".b64 %x9;\n" +
           done("ld.global.cg.L2::cache_hint.u64 %x0, " + at(line, offset) + ", %x9");
  }
  /// Lines from 8 on, one after the other.
  [[nodiscard]] std::string newcomers(unsigned count, const std::string& priority = "") const {
    std::string text;
    for (unsigned n = 0; n < count; ++n) text += get(8 + n, priority);
    return text;
  }
  /// How many sectors the loads of `text` find in a cache of `ways` lines.
  [[nodiscard]] std::uint64_t hits(const std::string& text, unsigned ways, unsigned percent) const {
    GpuConfig config = at_l2() ? one_set(1, ways) : one_set(ways, 64);
    (at_l2() ? config.l2.geometry : config.l1_lg.geometry).evict_last_percent = percent;
    SingleThread machine(config, {{"k", text}});
    return machine.added(at_l2() ? "l2.sector_hits" : "l1_lg.load_sector_hits", "k");
  }
  /// Whether a sector is found after `before`.
  [[nodiscard]] bool stays(unsigned line, const std::string& before, unsigned ways, unsigned percent = 100,
                           unsigned offset = 0) const {
    return hits(before + get(line, "", offset), ways, percent) > hits(before, ways, percent);
  }
};

TEST_P(Eviction, TakesInvalidLinesThenFirstThenNormalThenLast) {
  const unsigned ways = 4 + others();
  const std::string three = get(0, "last") + get(1) + get(2, "first");
  const std::vector<std::string> gone = at_l2() ? std::vector<std::string>{"", "", "2", "2", "21", "210"}
                                                // the third is the parameters' line
                                                : std::vector<std::string>{"", "", "2", "21", "210"};
  for (unsigned count = 0; count < gone.size(); ++count)
    for (const unsigned line : {0U, 1U, 2U})
      EXPECT_EQ(stays(line, three + newcomers(count, "last"), ways),
                gone[count].find(std::to_string(line)) == std::string::npos)
          << "line " << line << " after " << count;
}

TEST_P(Eviction, TakesTheLeastRecentlyUsedOfAClass) {
  for (const std::string priority : {"first", "normal", "last"}) {
    const unsigned count = priority == "first" ? 1 : 1 + others();
    const std::string two = get(0, priority) + get(1, priority);
    const std::string more = newcomers(count, priority == "last" ? "last" : "");
    const unsigned ways = 2 + others();
    EXPECT_FALSE(stays(0, two + more, ways)) << priority;
    EXPECT_TRUE(stays(1, two + more, ways)) << priority;
    EXPECT_TRUE(stays(0, two + get(0) + more, ways)) << priority << ", used again";
    EXPECT_FALSE(stays(1, two + get(0) + more, ways)) << priority << ", used again";
  }
}

TEST_P(Eviction, ALaterAccessGivesItsClassUnlessItNamesNone) {
  const unsigned ways = 2 + others();
  const std::string stream = newcomers(3);
  for (const auto& [priority, kept] : std::map<std::string, bool>{
           {"", true}, {"unchanged", true}, {"last", true}, {"normal", false}, {"first", false}})
    EXPECT_EQ(stays(0, get(0, "last") + get(0, priority) + stream, ways), kept) << priority;
  for (const auto& [priority, kept] : std::map<std::string, bool>{
           {"", false}, {"unchanged", false}, {"first", false}, {"normal", true}, {"last", true}})
    EXPECT_EQ(stays(0, get(0, "first") + get(1) + get(0, priority) + newcomers(1), ways), kept) << priority;
}

TEST_P(Eviction, UnchangedLeavesTheAgeOfALineAndMakesANewOneNormal) {
  const unsigned ways = 2 + others();
  const std::string one = newcomers(1 + others());
  EXPECT_TRUE(stays(0, get(0) + get(1) + get(0) + one, ways)) << "used again";
  EXPECT_FALSE(stays(0, get(0) + get(1) + get(0, "unchanged") + one, ways)) << "as old as it was";
  EXPECT_TRUE(stays(1, get(0) + get(1, "unchanged") + one, ways)) << "a new one is not evict_first";
  EXPECT_FALSE(stays(0, get(0, "unchanged") + get(1) + one, ways)) << "nor evict_last";
}

TEST_P(Eviction, ALineHasOneClassForAllOfItsSectors) {
  const unsigned ways = 2 + others();
  for (const unsigned offset : {0U, 96U}) {
    EXPECT_TRUE(stays(0, get(0) + get(0, "last", 96) + newcomers(3), ways, 100, offset));
    EXPECT_FALSE(stays(0, get(0, "last") + get(0, "normal", 96) + newcomers(3), ways, 100, offset));
    EXPECT_FALSE(stays(0, get(0) + get(1) + get(0, "first", 96) + newcomers(1), ways, 100, offset));
  }
}

TEST_P(Eviction, LastHoldsItsSetAsideAndNoMore) {
  const std::string three = get(0, "last") + get(1, "last") + get(2, "last");
  for (const auto& [percent, oldest] :
       std::map<unsigned, unsigned>{{0, 3}, {25, 2}, {50, 1}, {75, 0}, {100, 0}})
    for (const unsigned line : {0U, 1U, 2U})
      EXPECT_EQ(stays(line, three + newcomers(4), 4, percent), line >= oldest)
          << "line " << line << ", " << percent << " percent";
}

INSTANTIATE_TEST_SUITE_P(Caches, Eviction, testing::Values("L1", "L2"),
                         [](const auto& level) { return std::string(level.param); });

TEST(L1NoAllocate, ServesAHitAndPutsNothingIntoL1) {
  const std::string skip = ".L1::no_allocate.u64 %x0, ";
  const std::string two = done("ld.global.u64 %x0, " + at(0)) + done("ld.global.u64 %x0, " + at(1));
  SingleThread machine(one_set(2, 64), {{"present", two + done("ld.global" + skip + at(0))},
                                        {"absent", done("ld.global" + skip + at(2))},
                                        {"again", done("ld.global.u64 %x0, " + at(2))},
                                        {"both", two}});
  EXPECT_EQ(machine.added("l1_lg.load_sector_hits", "present"), 1U);
  EXPECT_EQ(machine.added("l1_lg.load_sector_hits", "absent"), 0U);
  EXPECT_EQ(machine.added("l1_lg.load_sector_hits", "both"), 2U) << "nothing made room";
  EXPECT_EQ(machine.added("l1_lg.load_sector_hits", "again"), 0U) << "nothing was installed";
  EXPECT_EQ(machine.added("l1_lg.load_sector_hits", "again"), 1U) << "and is by others";
}

/// Whether line 0, of two, is still in L2 after `before`, which puts line 0 and line 1 there, and newcomers.
bool outlives(const std::string& before, unsigned newcomers) {
  std::string text = before;
  for (unsigned n = 0; n < newcomers; ++n) text += done("ld.global.cg.u64 %x0, " + at(8 + n));
  const auto hits = [](const std::string& body) {
    return SingleThread(one_set(1, 3), {{"k", body}}).added("l2.sector_hits", "k");
  };
  return hits(text + done("ld.global.cg.u64 %x0, " + at(0))) > hits(text);
}

TEST(Policies, OfAnAccessPropertyAreTheProperty) {
  const auto load = [](const char* property) {
    return std::string("mov.b64 %x8, ") + property + "; createpolicy.cvt.L2.b64 %x9, %x8;\n" +
           done("ld.global.cg.L2::cache_hint.u64 %x0, " + at(0) + ", %x9") +
           done("ld.global.cg.u64 %x0, " + at(1));
  };
  constexpr const char* kNormal = "0x16F0000000000000";
  constexpr const char* kStreaming = "0x12F0000000000000";
  constexpr const char* kPersisting = "0x14F0000000000000";
  for (const auto& [property, most] :
       std::map<std::string, unsigned>{{kStreaming, 0}, {kNormal, 1}, {kPersisting, 6}}) {
    EXPECT_TRUE(outlives(load(property.c_str()), most)) << property;
    EXPECT_EQ(outlives(load(property.c_str()), most + 1), property == kPersisting) << property;
  }
}

TEST(Policies, LeaveALineUnchangedWhereNoSecondaryPriorityIsNamed) {
  // The range's primary bytes end a page before line 0.
  const auto load = [](const std::string& secondary) {
    return "sub.u64 %x8, %a, 8192; createpolicy.range.global.L2::evict_last" + secondary +
           ".b64 %x9, [%x8], 4096, 16384;\n" +
           done("ld.global.cg.L2::cache_hint.u64 %x0, " + at(0) + ", %x9");
  };
  const std::string other = done("ld.global.cg.u64 %x0, " + at(1));
  const std::string normal = done("ld.global.cg.u64 %x0, " + at(0));
  const std::string last = "createpolicy.fractional.L2::evict_last.b64 %x9;\n" +
                           done("ld.global.cg.L2::cache_hint.u64 %x0, " + at(0) + ", %x9");
  EXPECT_TRUE(outlives(last + load(""), 4)) << "its class";
  EXPECT_FALSE(outlives(last + load(".L2::evict_first"), 4));
  EXPECT_TRUE(outlives(normal + other + normal, 2));
  EXPECT_FALSE(outlives(normal + other + load(""), 2)) << "its age";
  EXPECT_TRUE(outlives(load("") + other, 1)) << "a new one is normal";
  EXPECT_FALSE(outlives(load(".L2::evict_first") + other, 1));
}

}  // namespace eviction_test
}  // namespace warpline::test
