#include "platform/sweep_report/figures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "platform/sweep_report/subjects.h"

namespace warpline::sweep {
namespace figures_test {

class MadeUp : public FigureSource {
 public:
  double counter(const char* path) override { return counters[path]; }
  double key(const char* path) override { return keys.count(path) == 0 ? NAN : keys[path]; }
  double time_ns() override { return 1000; }
  std::map<std::string, double> counters, keys;
};

double value_of(const std::string& name, MadeUp& source) {
  const auto f =
      std::find_if(figures().begin(), figures().end(), [&](const Figure& one) { return one.name == name; });
  EXPECT_NE(f, figures().end()) << name;
  if (f == figures().end()) return NAN;
  const auto [part, whole] = f->of(source);
  return part / whole;
}

TEST(Figures, AreSharesOfWhatAllBlocksOfAllGpusCouldDo) {
  MadeUp s;
  s.keys = {{"gpus", 2},         {"sms", 4},           {"sm.partitions", 4},
            {"clocks.sm", 2000}, {"clocks.dram", 500}, {"dram.channels", 4}};
  s.counters = {{"sm.instructions", 3200}, {"dram.busy_cycles", 1000}, {"dram[max].busy_cycles", 400}};
  EXPECT_NEAR(value_of("issue slots of SMs", s), 3200.0 / (2 * 4 * 4 * 2000), 1e-12)
      << "1 us has 2000 cycles of the SMs";
  EXPECT_NEAR(value_of("DRAM data buses", s), 1000.0 / (2 * 4 * 500), 1e-12);
  EXPECT_NEAR(value_of("busiest DRAM data bus", s), 400.0 / 500, 1e-12);
  s.keys.clear();
  EXPECT_TRUE(std::isnan(value_of("DRAM data buses", s))) << "of a GPU that nobody knows nothing is known";
}

/// Acknowledgements of writes take beats, and carry no sectors.
TEST(Figures, OfPortsAreTheirBeats) {
  MadeUp s;
  s.keys = {{"gpus", 1}, {"sms", 2}, {"l2.slices", 4}, {"clocks.l2", 1000}};
  s.counters = {{"crossbar.beats", 3000}, {"crossbar.reply_beats", 1000}, {"crossbar.response_sectors", 8}};
  EXPECT_NEAR(value_of("ports from crossbar to L1", s), 1000.0 / (2 * 1000), 1e-12);
  EXPECT_NEAR(value_of("request ports of L2 slices", s), 2000.0 / (4 * 1000), 1e-12);
  EXPECT_NEAR(value_of("reply ports of L2 slices", s), 1000.0 / (4 * 1000), 1e-12);
}

/// What goes with a key is told by points that differ in nothing else: (0, 0) and (1, 0), not (1, 1).
TEST(Subjects, AreComparedBesideWhatIsTheSameOtherwise) {
  std::vector<Factor> factors(2);
  factors[0].level_of = {0, 1, 1, 0};
  factors[1].level_of = {0, 0, 1, 2};
  Subject s;
  s.runs = {0, 1, 2, 3};
  const auto [before, after] = s.matched(factors, 0, 0, 1);
  EXPECT_EQ(before, std::vector<std::size_t>{0});
  EXPECT_EQ(after, std::vector<std::size_t>{1});
  EXPECT_TRUE(s.matched(factors, 1, 0, 2).first == std::vector<std::size_t>{0});
  EXPECT_TRUE(s.matched(factors, 1, 1, 2).first.empty());
}

/// Runs of a sum of effects, of which one is missing: means of what is left would mix the factors.
TEST(Subjects, HaveMeansAsIfOtherKeysWereTheSame) {
  std::vector<Factor> factors(2);
  for (Factor& f : factors) f.levels = {{"a", NAN}, {"b", NAN}};
  factors[0].level_of = {0, 0, 1};
  factors[1].level_of = {0, 1, 0};
  Subject s;
  s.runs = {0, 1, 2};
  const std::vector<double> values = {100, 400,
                                      50};  // b of the first halves, b of the second is four times a
  const std::vector<double> alike = s.with_others_the_same(factors, values, {0});
  EXPECT_NEAR(alike[0], alike[1], 1e-6) << "they differ in the other factor alone";
  EXPECT_NEAR(alike[0] / alike[2], 2, 1e-6);
  EXPECT_NEAR(alike[0] * alike[1] * alike[2], 100.0 * 400 * 50, 1) << "the mean of all is as it was";
  EXPECT_EQ(s.with_others_the_same(factors, values, {0, 1})[1], 400);
  EXPECT_EQ(s.with_others_the_same(factors, {1, 0, 2}, {0})[2], 2) << "nothing has no logarithm";
  EXPECT_EQ(s.at_all_levels(factors, 0), (std::vector<std::size_t>{0, 2}));
  factors[1].level_of = {0, 1, 1};
  factors[0].level_of = {0, 1, 1};
  EXPECT_EQ(s.at_all_levels(factors, 0), (std::vector<std::size_t>{0, 1, 2})) << "no two are alike";
}

TEST(Figures, AreForPeople) {
  Figure f;
  f.kind = FigureKind::busy;
  EXPECT_EQ(figure_text(f, 0.482), "48%");
  EXPECT_EQ(figure_text(f, 0.0482), "4.8%");
  f.kind = FigureKind::bytes;
  EXPECT_EQ(figure_text(f, 512), "512 B");
  EXPECT_EQ(figure_text(f, 1.5 * 1024 * 1024), "1.5 MiB");
  f.kind = FigureKind::number;
  f.unit = "GB/s";
  EXPECT_EQ(figure_text(f, 1234567), "1,234,567 GB/s");
  EXPECT_EQ(figure_text(f, 0.12345), "0.123 GB/s");
  EXPECT_EQ(figure_text(f, NAN), "\u2013");
}

}  // namespace figures_test
}  // namespace warpline::sweep
