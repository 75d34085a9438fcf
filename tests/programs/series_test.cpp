// Random programs on random machines, sampled: nothing changes, the rows of each launch follow one another
// without a gap, what they counted is what was counted in all, and they are the same however the hardware is
// ticked.
//
// WARPLINE_SAMPLED_PROGRAMS sets how many are drawn, WARPLINE_RANDOM_SEED the first one's seed.
#include <gtest/gtest.h>

#include "platform/machine/direct_backend.h"
#include "platform/series/figure_sampler.h"
#include "tests/programs/random_run.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/series_reader.h"

namespace warpline::test {
namespace series_test {

/// Does nothing, for a while after the last message of a launch, too.
class Idler final : public Component {
 public:
  explicit Idler(Engine& engine) : Component(engine, "idler") { wake(engine.now() + 1); }
  Cycle tick(Cycle now) override { return now > engine().last_move() + 300 ? kNever : now + 7; }
  [[nodiscard]] bool busy() const override { return false; }
  void explain(std::vector<Wait>& /*waits*/) const override {}
};

struct Sampled {
  Outcome outcome;
  std::string text;
};

Sampled play_sampled(const Program& program, const Contents& start, const GpuConfig& config, TickMode mode,
                     std::uint64_t seed, const SampleOptions& options, Timing timing = Timing::timed,
                     unsigned threads = 1, bool idles = false) {
  Play play(program, start, config, to_ptx(program, start),
            std::make_shared<DirectBackend>(mode, seed, threads));
  FigureSampler& sampler =
      play.platform().attach(std::make_unique<FigureSampler>(play.platform(), options, nullptr));
  EXPECT_TRUE(sampler.start().empty());
  std::optional<Idler> idler;
  if (idles) idler.emplace(play.platform().backend().engine());
  Sampled out;
  out.outcome = play.run(0, timing);
  EXPECT_EQ(sampler.finish(), "");
  out.text = text_of(options.series);
  return out;
}

void check_rows(const Series& series, Cycle every) {
  Cycle cycles = 0;
  for (std::size_t row = 0; row < series.rows.size(); ++row) {
    const Cycle first = series.number(row, "first"), last = series.number(row, "last");
    ASSERT_LE(first, last + 1);
    ASSERT_LE(last + 1 - first, every);
    cycles += last + 1 - first;
    if (row == 0) continue;
    ASSERT_EQ(first, series.number(row - 1, "last") + 1);
    if (series.at(row, "launch") != series.at(row - 1, "launch")) continue;
    ASSERT_EQ(first, series.number(row - 1, "first") + every);
  }
  EXPECT_EQ(cycles, series.rows.empty() ? 0 : series.number(series.rows.size() - 1, "last"));
}

void try_one(std::uint64_t seed) {
  SCOPED_TRACE("WARPLINE_SAMPLED_PROGRAMS=1 WARPLINE_RANDOM_SEED=" + std::to_string(seed));
  Random random(splitmix64(seed));
  const Program program = random_program(random);
  const Contents start = initial_contents(program, random);
  const GpuConfig config = random_machine(random);
  const ScratchFolder folder;
  SampleOptions counted{100 + random.below(4000), folder.path("counted.csv"), {"*"}};
  std::uint64_t counted_in_all = 0;
  for (const Timing timing : {Timing::timed, Timing::alternating}) {
    const Outcome plain = play(program, start, config, to_ptx(program, start),
                               std::make_shared<DirectBackend>(TickMode::lazy, seed), 0, timing);
    const Sampled lazy = play_sampled(program, start, config, TickMode::lazy, seed, counted, timing);
    EXPECT_EQ(plain.cycles, lazy.outcome.cycles);
    EXPECT_EQ(plain.counters, lazy.outcome.counters);
    EXPECT_EQ(difference(lazy.outcome.contents, plain.contents), "");
    const Series series = Series::read(counted.series);
    std::map<std::string, std::uint64_t> sums = series.sums(4);
    if (timing != Timing::timed) {
      // The first grid is left out, and every other.
      EXPECT_LT(sums["sm.instructions"], counted_in_all);
      continue;
    }
    counted_in_all = sums["sm.instructions"];
    check_rows(series, counted.every);
    for (const auto& [path, value] : plain.counters) EXPECT_EQ(sums.at(path), value) << path;
    for (const TickMode mode : {TickMode::every_cycle, TickMode::spurious_and_shuffled})
      EXPECT_EQ(lazy.text, play_sampled(program, start, config, mode, seed, counted).text);
    EXPECT_EQ(lazy.text,
              play_sampled(program, start, config, TickMode::lazy, seed, counted, Timing::timed, 3).text);
  }
  SampleOptions standard{5 + random.below(200), folder.path("standard.csv"), {}};
  const Sampled lazy = play_sampled(program, start, config, TickMode::lazy, seed, standard);
  check_rows(Series::read(standard.series), standard.every);
  // Of spans that are shorter than the time that passes after the last message of a launch.
  EXPECT_EQ(
      lazy.text,
      play_sampled(program, start, config, TickMode::lazy, seed, standard, Timing::timed, 1, true).text);
  EXPECT_EQ(lazy.text,
            play_sampled(program, start, config, TickMode::lazy, seed, standard, Timing::timed, 3).text);
}

TEST(Series, AddsUpAndChangesNothing) {
  const std::uint64_t first = from_environment("WARPLINE_RANDOM_SEED", 1);
  const std::uint64_t count = from_environment("WARPLINE_SAMPLED_PROGRAMS", 2);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    try_one(seed);
    if (HasFailure()) return;
  }
}

}  // namespace series_test
}  // namespace warpline::test
