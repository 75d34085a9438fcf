// One platform that several ranks run together, each with an engine of its own: the same cycles, counters,
// memory, faults and listings on every rank as in one process. Ranks are threads here; by MPI they are
// processes (tests/integration/ranks_test.sh).
//
// WARPLINE_RANK_PROGRAMS sets how many programs are drawn, WARPLINE_RANDOM_SEED the first one's seed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rtl_models/sim/engine.h"
#include "rtl_models/sm/input_error.h"
#include "rtl_models/sm/instruction_source.h"
#include "tests/platform/machine/two_gpus.h"
#include "tests/programs/machine.h"
#include "tests/programs/multimem_program.h"
#include "tests/support/memory_exchange.h"

namespace warpline::test {
namespace ranks_test {

using Ranked = std::shared_ptr<MemoryExchange>;

GpuConfig preset_of_gpus(unsigned gpus) {
  return TwoGpus::config({"gpus=" + std::to_string(gpus)});
}

struct Seen {
  std::vector<std::vector<std::uint8_t>> memory;
  Cycle cycles = 0;
  std::map<std::string, std::uint64_t> counters;
  std::vector<std::string> listed;  ///< in flight when the run paused
  std::size_t bytes = 0;            ///< that were sent
};

RunOptions options_of(const Ranked& exchange, std::uint64_t seed = 1) {
  RunOptions o;
  o.seed = seed;
  o.max_cycles = 20'000'000;
  o.exchange = exchange;
  return o;
}

/// The text of a listing.
std::vector<std::string> text_of(const Standstill& s) {
  std::vector<std::string> out;
  const auto add = [&out](const std::string& what, const Wait& w) {
    out.push_back(what + ": " + w.who + " waits for " + w.what);
    for (const std::string& on : w.on) out.back() += ", " + on;
  };
  for (const InFlight& row : s.in_flight)
    add(std::to_string(row.id) + " " + row.what + " in " + row.holder + " at " + row.at, row.wait);
  const auto waits = static_cast<std::ptrdiff_t>(out.size());
  for (const Wait& w : s.waits) add("-", w);
  // A crossbar shows its queues in the order in which they were filled, of one cycle in any.
  std::sort(out.begin() + waits, out.end());
  out.push_back(s.dead ? "dead" : s.repeats ? "repeats" : "alive");
  return out;
}

Seen play(const MultimemProgram& program, const GpuConfig& config, const Ranked& exchange, std::uint64_t seed,
          unsigned threads = 1) {
  RunOptions o = options_of(exchange, seed);
  o.threads = threads;
  if (seed % 3 == 0) o.jitter = seed;
  GpuPlatform platform(config, o);
  Seen seen;
  if (seed % 2 == 0) {
    // Where it pauses depends on how far blocks run ahead of each other, which more threads do not change.
    platform.on_progress(150 + seed % 50, [&](double) {
      const std::vector<std::string> rows = text_of(platform.standstill());
      seen.listed.push_back(std::to_string(platform.now()));
      seen.listed.insert(seen.listed.end(), rows.begin(), rows.end());
      return true;
    });
  }
  MultimemProgram::Left left = program.run(platform);
  EXPECT_THAT(platform.unreconciled(), testing::IsEmpty());
  Observation counters;
  platform.visit(counters);
  seen.memory = std::move(left.memory);
  seen.cycles = left.cycles;
  seen.counters = counters.values;
  EXPECT_EQ(platform.backend().engine().requests_in_use(), 0U);
  if (exchange != nullptr) seen.bytes = exchange->bytes();
  return seen;
}

TEST(Ranks, RandomProgramsOfSeveralGpusAreAsInOneProcess) {
  const std::uint64_t first = from_environment("WARPLINE_RANDOM_SEED", 1);
  const std::uint64_t count = from_environment("WARPLINE_RANK_PROGRAMS", 5);
  std::size_t listed = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("WARPLINE_RANK_PROGRAMS=1 WARPLINE_RANDOM_SEED=" + std::to_string(seed));
    Random random(splitmix64(seed));
    const GpuConfig config = machine_of_gpus(random, 2);
    const MultimemProgram program(random, config.gpus);
    const Seen one = play(program, config, nullptr, seed);
    ASSERT_EQ(one.memory, program.wanted());
    listed += one.listed.size();
    const unsigned ranks = 2 + static_cast<unsigned>(random.below(config.gpus - 1));
    const unsigned threads = seed % 5 == 0 ? 2 : 1;
    const auto all = on_ranks<Seen>(
        ranks, [&](const Ranked& exchange) { return play(program, config, exchange, seed, threads); });
    for (const Seen& s : all) {
      ASSERT_EQ(s.memory, one.memory) << ranks << " ranks";
      ASSERT_EQ(s.cycles, one.cycles) << ranks << " ranks";
      ASSERT_EQ(s.counters, one.counters) << ranks << " ranks";
      ASSERT_EQ(s.listed.size(), one.listed.size()) << ranks << " ranks";
      for (std::size_t n = 0; n < one.listed.size(); ++n)
        ASSERT_EQ(s.listed[n], one.listed[n]) << ranks << " ranks, line " << n;
      ASSERT_GT(s.bytes, 0U);
    }
  }
  EXPECT_GT(listed, count);
}

/// What two GPUs leave that talk by system memory: how often each added, what each has seen, a fault of the
/// second one, and what stands still.
struct Told {
  std::vector<std::uint32_t> words;
  std::vector<std::string> text;
  std::map<std::string, std::uint64_t> counters;
  Cycle now = 0;
  bool operator==(const Told& o) const {
    return words == o.words && text == o.text && counters == o.counters && now == o.now;
  }
};

std::string text_of(const LaunchResult& r) {
  std::string all = std::to_string(static_cast<int>(r.outcome)) + " after " + std::to_string(r.cycles);
  if (r.outcome != RunOutcome::quiescent)
    for (const std::string& line : text_of(r.standstill)) all += "\n" + line;
  return all;
}

Told talk(const Ranked& exchange) {
  RunOptions o = options_of(exchange);
  GpuPlatform platform(TwoGpus::config({}), o);
  const std::uint64_t sum = platform.allocate("sum", 128, Aperture::sysmem);
  const std::uint64_t flag = platform.allocate("flag", 128, Aperture::sysmem);
  const std::uint64_t own = platform.allocate("own", 128, Aperture::vidmem, 1);
  std::vector<std::unique_ptr<programs::Module>> modules;
  const auto kernel = [&](const std::string& body) {
    modules.push_back(module_of_body(body, 3));
    return modules.back()->make_kernel("k", {2, 1, 1}, {64, 1, 1}, 0, block_of({sum, flag, own}));
  };
  Told told;
  const auto launch = [&](const std::string& first, const std::string& second) {
    const auto a = kernel(first), b = kernel(second);
    told.text.push_back(
        text_of(platform.launch({GridLaunch{a.get(), 0, true}, GridLaunch{b.get(), 1, true}})));
  };
  launch(
      "red.relaxed.sys.global.add.u32 [%a0], 1;\nfence.acq_rel.sys;\nst.relaxed.sys.global.u32 [%a1], 1;\n",
      spin("ld.relaxed.sys.global.u32", "%a1") +
          "fence.acq_rel.sys;\nld.relaxed.sys.global.u32 %r1, [%a0];\nst.global.u32 [%a2], %r1;\n"
          "red.relaxed.sys.global.add.u32 [%a0], 100;\n");
  launch("red.relaxed.sys.global.add.u32 [%a0], 1;\n", "st.global.u32 [%a2+4096], %r1;\n");  // a fault
  for (const FaultRecord& f : platform.faults())
    told.text.push_back(f.kind + " of GPU " + std::to_string(f.gpu) + " in cycle " + std::to_string(f.cycle) +
                        " at " + f.where + ", " + access_text(f) + ", " + distance_text(f));
  EXPECT_FALSE(platform.faults().empty());
  for (const std::uint64_t at : {sum, own}) {
    told.words.emplace_back();
    platform.read(at, &told.words.back(), sizeof(std::uint32_t));
  }
  Observation counters;
  platform.visit(counters);
  told.counters = counters.values;
  // Last, as nothing can follow: one waits for the other, which never comes.
  platform.begin_run(60'000);
  launch("red.relaxed.sys.global.add.u32 [%a0], 1;\n", spin("ld.relaxed.sys.global.u32", "%a2"));
  told.now = platform.now();
  return told;
}

TEST(Ranks, TalkBySystemMemoryFaultAndStandStillAsOneProcess) {
  const Told one = talk(nullptr);
  EXPECT_EQ(one.words.front(), 128U + 128 * 100 + 128);
  for (const Told& t : on_ranks<Told>(2, [](const Ranked& exchange) { return talk(exchange); })) {
    EXPECT_EQ(t.text, one.text);
    EXPECT_EQ(t.words, one.words);
    EXPECT_EQ(t.counters, one.counters);
    EXPECT_EQ(t.now, one.now);
  }
}

/// A kernel whose instructions turn out to be unusable in the middle of a run: `early`: before it begins.
class BrokenKernel final : public Kernel {
 public:
  BrokenKernel(KernelInfo info, bool early) : info_(std::move(info)), early_(early) {}
  [[nodiscard]] const KernelInfo& info() const override { return info_; }
  [[nodiscard]] std::unique_ptr<InstructionSource> make_source(const SmSite& /*site*/) override {
    if (early_) fail();
    return std::make_unique<Source>();
  }
  [[noreturn]] static void fail() {
    throw InputError({"broken.traceg", 7, 3, "??", "this is no instruction", "write one", 2});
  }

 private:
  class Source final : public InstructionSource {
    void begin_warp(unsigned, Dim3, unsigned, LaneMask) override { fail(); }
    [[nodiscard]] WarpState state(unsigned) const override { return WarpState::exited; }
    const Instruction& next(unsigned) override { fail(); }
    void execute(unsigned, Issue&) override {}
    void complete(unsigned, const Instruction&, const MemoryAccess&, bool) override {}
    void release_barrier(unsigned, std::uint32_t) override {}
    [[nodiscard]] LaneMask live_lanes(unsigned) const override { return 0; }
    void kill(unsigned) override {}
    [[nodiscard]] std::string where(const Instruction&) const override { return ""; }
  };
  KernelInfo info_;
  bool early_;
};

std::string what_breaks(const Ranked& exchange, bool early) {
  GpuPlatform platform(TwoGpus::config({}), options_of(exchange));
  const auto module = module_of_body("st.global.u32 [%a0], %r1;\n", 3);
  const auto good =
      module->make_kernel("k", {2, 1, 1}, {64, 1, 1}, 0, block_of({platform.allocate("a", 128), 0, 0}));
  BrokenKernel broken(good->info(), early);
  std::string said;
  try {
    platform.launch({GridLaunch{good.get(), 0, true}, GridLaunch{&broken, 1, true}});
  } catch (const InputError& error) {
    said = error.diagnostic.text();
  }
  // They go on alike.
  Observation counters;
  platform.visit(counters);
  return said;
}

TEST(Ranks, AllSayWhichInputIsUnusableForOne) {
  for (const bool early : {false, true}) {
    const std::string one = what_breaks(nullptr, early);
    EXPECT_THAT(one, testing::HasSubstr("broken.traceg:7:3: error: this is no instruction"));
    EXPECT_THAT(
        on_ranks<std::string>(2, [&](const Ranked& exchange) { return what_breaks(exchange, early); }),
        testing::Each(one));
  }
}

TEST(Ranks, KnowWhatTheOneKnowsThatRunsAGpu) {
  const auto known = [](const Ranked& exchange) {
    const GpuPlatform platform(preset_of_gpus(3), options_of(exchange));
    const std::string own = std::to_string(exchange == nullptr ? 9 : exchange->rank());
    return platform.known_where(0, own) + platform.known_where(1, own) + platform.known_where(2, own);
  };
  EXPECT_EQ(known(nullptr), "999");
  EXPECT_THAT(on_ranks<std::string>(3, known), testing::Each("012"));
  EXPECT_THAT(on_ranks<std::string>(2, known), testing::Each("001"));
}

TEST(Ranks, OneThatDoesSomethingElseEndsAll) {
  try {
    on_ranks<bool>(2, [](const Ranked& exchange) {
      GpuPlatform platform(TwoGpus::config({}), options_of(exchange));
      const std::uint64_t at = platform.allocate("a", 128);
      std::uint32_t word = 0;
      if (exchange->rank() == 0)
        platform.read(at, &word, sizeof word);
      else
        static_cast<void>(platform.faults()), platform.build(), static_cast<void>(platform.faults());
      return true;
    });
    FAIL() << "nobody says so";
  } catch (const ExchangeError& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("ranks have to do the same"));
  }
}

TEST(Ranks, OneThatIsGoneEndsAll) {
  try {
    on_ranks<bool>(3, [](const Ranked& exchange) {
      if (exchange->rank() == 1) return true;
      GpuPlatform platform(preset_of_gpus(3), options_of(exchange));
      platform.build();
      static_cast<void>(platform.faults());
      return true;
    });
    FAIL() << "nobody says so";
  } catch (const ExchangeError& e) {
    EXPECT_STREQ(e.what(), "rank 1 is gone");
  }
}

TEST(Ranks, SayWhatTheyCannotRun) {
  const auto exchange = MemoryExchange::of(2).front();
  const auto why = [&](const GpuConfig& config, const std::function<void(RunOptions&)>& change) {
    RunOptions o = options_of(exchange);
    change(o);
    return GpuPlatform::why_no_ranks(config, o);
  };
  const auto nothing = [](RunOptions&) {};
  EXPECT_EQ(why(preset_of_gpus(2), nothing), "");
  EXPECT_EQ(why(preset_of_gpus(1), nothing), "the platform has 1 GPU, of which each rank needs one");
  EXPECT_EQ(why(TwoGpus::config({"pcie_system.peers=1"}), nothing), "devices and the host are run by one");
  EXPECT_EQ(why(preset_of_gpus(2), [](RunOptions& o) { o.loose = true; }), "requests are not timed");
  EXPECT_EQ(why(preset_of_gpus(2), [](RunOptions& o) { o.tick_mode = TickMode::every_cycle; }),
            "blocks are ticked when nothing is due, too");
  EXPECT_EQ(why(preset_of_gpus(2), [](RunOptions& o) { o.backend = std::make_shared<DirectBackend>(); }),
            "hops are not joined directly");
}

}  // namespace ranks_test
}  // namespace warpline::test
