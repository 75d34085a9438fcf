// What the modifiers of a SASS trace do, from the text of the trace to the counters of the caches.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/platform/machine/harness.h"
#include "tests/platform/programs/sass_trace/trace_player.h"

namespace warpline::test {
namespace trace_modifiers_test {

/// A trace of one warp. Each load writes the register that the next one reads its address from, so that they
/// run one after the other.
class Chain {
 public:
  Chain& global(const std::string& opcode, std::uint64_t address) {
    return add(opcode, address, opcode.rfind("ST", 0) == 0);
  }
  /// The same word of every lane: one line. `word` is in bytes.
  Chain& local(const std::string& opcode, std::uint64_t word) {
    return add(opcode, 0x7fb137000000 + word, opcode.rfind("ST", 0) == 0, 0);
  }
  /// CCTL, or CCTLL of such a word.
  Chain& control(const std::string& opcode, std::uint64_t address) { return add(opcode, address, true); }
  Chain& control_local(const std::string& opcode, std::uint64_t word) {
    return add(opcode, 0x7fb137000000 + word, true, 0);
  }
  Chain& line(const std::string& text) {
    lines_.push_back(text);
    return *this;
  }
  [[nodiscard]] AllCounters run(const std::vector<std::string>& overrides) const {
    TraceText t;
    t.body = block_of(lines_);
    const TemporaryFile file("kernel-1.traceg", t.text());
    auto kernel = sass::open_trace(file.path());
    EXPECT_TRUE(kernel.ok());
    RunOptions options;
    options.tags_only = true;
    GpuPlatform platform(preset("mini", overrides), options);
    platform.map_everything();
    EXPECT_EQ(platform.launch(*kernel.value()).outcome, RunOutcome::quiescent);
    EXPECT_TRUE(kernel.value()->unknown_opcodes().empty());
    EXPECT_EQ(platform.unreconciled(), std::vector<std::string>{});
    EXPECT_TRUE(platform.faults().empty());
    return AllCounters(platform);
  }

 private:
  Chain& add(const std::string& opcode, std::uint64_t address, bool store, int stride = 4) {
    std::ostringstream line;
    line << std::hex << 0x10 * lines_.size() << " ffffffff " << (store ? "0 " : "1 R2 ") << opcode
         << (store ? " 2 R2 R3" : " 1 R2") << " 4 1 0x" << address << std::dec << ' ' << stride << " 0";
    lines_.push_back(line.str());
    return *this;
  }
  std::vector<std::string> lines_;
};

constexpr std::uint64_t kA = 0x7f0000000000, kB = kA + 0x1000, kC = kA + 0x2000;

/// One set of two ways in `cache`, one of which evict_last may hold.
std::vector<std::string> two_lines(const std::string& cache) {
  return {{cache + ".sets=1"}, {cache + ".ways=2"}, {cache + ".evict_last_percent=50"}};
}

struct Row {
  const char* first;   ///< loads A, before B is loaded without modifier
  const char* second;  ///< loads A again
  unsigned hits;       ///< sectors, of the second load and of one more after C has taken a place
};

void check_rows(const std::string& cache, const std::string& load, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const AllCounters c = Chain()
                              .global(load + row.first, kA)
                              .global(load, kB)
                              .global(load + row.second, kA)
                              .global(load, kC)
                              .global(load, kA)
                              .run(two_lines(cache));
    EXPECT_EQ(c.total(cache + ".sector_hits"), row.hits) << load << row.first << ", " << load << row.second;
  }
}

const std::vector<Row> kRows = {{"", "", 8},       {"", ".EF", 4},   {".EF", "", 4},    {"", ".EU", 4},
                                {".EL", ".EU", 8}, {"", ".EL", 8},   {".EL", ".EF", 4}, {"", ".LU", 4},
                                {".NA", "", 4},    {".NA", ".NA", 0}};

TEST(TraceModifiers, EvictionPrioritiesPickTheVictimInL1) {
  check_rows("l1_lg", "LDG.E", kRows);
}

TEST(TraceModifiers, EvictionPrioritiesPickTheVictimInTheTextureCache) {
  check_rows("texture", "LDG.E.CONSTANT", kRows);
}

TEST(TraceModifiers, AStoreWithAPriorityGivesItToAPresentLine) {
  for (const bool last : {false, true}) {
    const AllCounters c = Chain()
                              .global("LDG.E", kA)
                              .global(last ? "STG.E.EL" : "STG.E", kA)
                              .global("LDG.E", kB)
                              .global("LDG.E", kC)
                              .global("LDG.E", kA)
                              .run(two_lines("l1_lg"));
    EXPECT_EQ(c.total("l1_lg.load_sector_hits"), last ? 4U : 0U);
  }
}

TEST(TraceModifiers, ALastUseSparesALocalLineItsWriteBack) {
  for (const bool last : {false, true}) {
    const AllCounters c = Chain()
                              .local("STL", 0)
                              .local(last ? "LDL.LU" : "LDL", 0)
                              .local("LDL", 4)
                              .local("LDL", 8)
                              .run(two_lines("l1_lg"));
    EXPECT_EQ(c.total("l1_lg.writebacks"), last ? 0U : 1U);
    EXPECT_EQ(c.total("l1_lg.saved_writebacks"), last ? 1U : 0U);
  }
}

TEST(TraceModifiers, ALastUseOfALineThatL1HasEvictedSparesL2TheWriteBack) {
  for (const bool last : {false, true}) {
    Chain chain;
    chain.local("STL", 0).local("LDL", 4).local("LDL", 8).local(last ? "LDL.LU" : "LDL", 0);
    // L2 is one set of two lines in a single slice: these push the local lines out.
    chain.global("LDG.E", kA).global("LDG.E", kB).global("LDG.E", kC);
    std::vector<std::string> overrides = two_lines("l1_lg");
    for (const std::string& o : two_lines("l2")) overrides.push_back(o);
    overrides.push_back({"l2.slices=1"});
    overrides.push_back({"sm.fetch_instructions=false"});
    const AllCounters c = chain.run(overrides);
    EXPECT_EQ(c.total("l1_lg.writebacks"), 1U);
    EXPECT_EQ(c.total("l2.writebacks"), last ? 0U : 1U);
    EXPECT_EQ(c.total("dram.bytes_written"), last ? 0U : 128U);
  }
}

TEST(TraceModifiers, APrefetchSizeBringsTheBlockToL2AndNothingToL1) {
  struct Size {
    const char* modifier;
    unsigned fetched, prefetched, hits;  ///< sectors at L2, after one lane's load and then of the whole block
  };
  for (const std::string load : {"LDG.E", "LDG.E.CONSTANT", "LDG.E.STRONG.GPU"}) {
    const std::string cache = load == "LDG.E.CONSTANT" ? "texture" : "l1_lg";
    for (const Size& size : {Size{"", 8, 0, 0}, Size{".LTC64B", 8, 1, 1}, Size{".LTC128B", 8, 3, 3},
                             Size{".LTC256B", 8, 7, 7}}) {
      const bool strong = load == "LDG.E.STRONG.GPU";
      std::ostringstream one_lane;
      one_lane << "0000 00000001 1 R2 " << load << size.modifier << " 1 R2 4 2 0x" << std::hex << kA + 0x80
               << " 0";
      Chain chain;
      chain.line(one_lane.str()).global(load, kA + 0x80).global(load, kA);
      const AllCounters c = chain.run({{"sm.fetch_instructions=false"}});
      EXPECT_EQ(c.total("l2.fetched_sectors"), size.fetched) << load << size.modifier;
      EXPECT_EQ(c.total("l2.prefetched_sectors"), size.prefetched) << load << size.modifier;
      EXPECT_EQ(c.total("l2.sector_hits"), size.hits + (strong ? 1U : 0U)) << load << size.modifier;
      EXPECT_EQ(c.total(cache + ".sector_hits"), strong ? 0U : 1U) << load << size.modifier;
      EXPECT_EQ(c.total(cache + ".prefetch_requests"), size.prefetched == 7 ? 1U : 0U)
          << load << size.modifier;
    }
  }
}

TEST(TraceModifiers, APrefetchGivesALineThatL2HasNoPriority) {
  const auto one_lane = [](std::uint64_t address) {
    std::ostringstream line;
    line << "0000 00000001 1 R2 LDG.E.STRONG.GPU 1 R2 4 2 0x" << std::hex << address << " 0";
    return line.str();
  };
  std::vector<std::string> overrides = two_lines("l2");
  overrides.push_back({"l2.slices=1"});
  // The prefetch goes with an evict-first load. Used once more, the line it completes is not the next to go.
  const AllCounters c = Chain()
                            .line(one_lane(kA + 0x80))
                            .global("LDG.E.LU.LTC256B", kA)
                            .line(one_lane(kA + 0x80))
                            .global("LDG.E", kB)
                            .line(one_lane(kA + 0x80))
                            .global("LDG.E", kC)
                            .line(one_lane(kA + 0x80))
                            .run(overrides);
  EXPECT_EQ(c.total("l2.prefetched_sectors"), 3U);
  EXPECT_EQ(c.total("l2.sector_hits"), 3U);
}

/// Loads A twice, with a CCTL in between.
AllCounters between_loads(const std::string& control, bool with_address) {
  Chain chain;
  chain.global("LDG.E", kA).global("LDG.E", kB);
  if (with_address) {
    chain.control(control, kA);
  } else {
    chain.line("0100 ffffffff 0 " + control + " 0 0 0");
  }
  return chain.global("LDG.E", kA).global("LDG.E", kB).run({});
}

TEST(TraceModifiers, CacheControlActsOnTheLinesThatItNames) {
  struct Case {
    const char* opcode;
    bool with_address;
    unsigned hits;  ///< sectors of the loads behind it
  };
  for (const Case& c : std::vector<Case>{{"CCTL.E.IV", true, 4},
                                         {"CCTL.E.RS", true, 4},
                                         {"CCTL.E.WB", true, 8},
                                         {"CCTL.E.PF1", true, 8},
                                         {"CCTL.IVALL", false, 0},
                                         {"CCTL.D.IVALL", false, 0},
                                         {"CCTLL.IVALL", false, 8},
                                         {"CCTL.E.RML2", true, 4},
                                         {"CCTL.E.DML2", true, 8}}) {
    const AllCounters counters = between_loads(c.opcode, c.with_address);
    EXPECT_EQ(counters.total("l1_lg.load_sector_hits"), c.hits) << c.opcode;
  }
  EXPECT_EQ(between_loads("CCTL.IVALL", false).total("l1_lg.invalidations"),
            between_loads("CCTLL.IVALL", false).total("l1_lg.invalidations") + 1);
  const AllCounters code = between_loads("CCTL.I.IVALL", false);
  EXPECT_EQ(code.total("l1_lg.load_sector_hits"), 8U);
  EXPECT_EQ(code.total("instruction.invalidations"), 1U);
}

TEST(TraceModifiers, CacheControlOfLocalLinesWritesBackOrLosesWhatIsDirty) {
  for (const bool reset : {false, true}) {
    const AllCounters c =
        Chain().local("STL", 0).control_local(reset ? "CCTLL.RS" : "CCTLL.IV", 0).local("LDL", 0).run({});
    EXPECT_EQ(c.total("l1_lg.writebacks"), reset ? 0U : 1U);
    EXPECT_EQ(c.total("l1_lg.reset_lines"), reset ? 1U : 0U);
    EXPECT_EQ(c.total("l1_lg.load_sector_hits"), 0U);
  }
  const AllCounters all = Chain()
                              .local("STL", 0)
                              .local("STL", 4)
                              .line("0100 ffffffff 0 CCTLL.IVALL 0 0 0")
                              .local("LDL", 0)
                              .run({});
  EXPECT_EQ(all.total("l1_lg.writebacks"), 2U);
  EXPECT_EQ(all.total("l1_lg.local_invalidations"), 1U);
}

}  // namespace trace_modifiers_test
}  // namespace warpline::test
