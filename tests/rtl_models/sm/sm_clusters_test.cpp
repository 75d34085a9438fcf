// The barrier of a cluster and the distribution of clusters, each against a naive twin.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "rtl_models/base/random.h"
#include "rtl_models/sm/cluster_barrier.h"
#include "rtl_models/sm/work_distributor.h"

namespace warpline::test {
namespace sm_clusters_test {

/// CTAs of a cluster that arrive, hear of each other in any order that single lines of messages keep, and
/// exit. A phase is over for a CTA when it has heard that every CTA has arrived in it, or exited.
TEST(ClusterBarrier, EndsAPhaseWhenAllHaveArrivedWhateverTheOrderOfMessages) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const auto ctas = static_cast<unsigned>(1 + random.below(8));
    std::vector<ClusterBarrier> barriers(ctas);
    for (ClusterBarrier& b : barriers) b.reset(ctas);
    struct Cta {
      unsigned phase = 0;  ///< that it is in
      bool arrived = false, exited = false;
    };
    std::vector<Cta> all(ctas);
    std::map<std::pair<unsigned, unsigned>, std::vector<int>> lines;  ///< phases; -1: exited
    std::vector<std::vector<std::set<unsigned>>> heard(ctas, std::vector<std::set<unsigned>>(60));
    std::vector<std::set<unsigned>> gone(ctas);
    const auto settle = [&](unsigned cta) {
      if (all[cta].exited) return;
      unsigned there = 0;
      for (unsigned r = 0; r < ctas; ++r)
        there += heard[cta][all[cta].phase].count(r) != 0 || gone[cta].count(r) != 0;
      ASSERT_EQ(barriers[cta].complete(), there == ctas);
      if (there != ctas) return;
      ++all[cta].phase;
      all[cta].arrived = false;
    };
    for (unsigned n = 0; n < 400; ++n) {
      const auto cta = static_cast<unsigned>(random.below(ctas));
      Cta& c = all[cta];
      if (random.below(2) == 0 && !c.exited && !c.arrived && c.phase < 50) {
        const bool exits = random.below(20) == 0;
        (exits ? c.exited : c.arrived) = true;
        for (unsigned r = 0; r < ctas; ++r)
          if (r != cta) lines[{cta, r}].push_back(exits ? -1 : static_cast<int>(c.phase));
        if (exits) continue;
        barriers[cta].arrive(cta, barriers[cta].odd());
        heard[cta][c.phase].insert(cta);
        settle(cta);
      } else {
        const auto from = static_cast<unsigned>(random.below(ctas));
        std::vector<int>& line = lines[{from, cta}];
        if (line.empty() || c.exited) continue;
        const int what = line.front();
        line.erase(line.begin());
        if (what < 0) {
          barriers[cta].exit(from);
          gone[cta].insert(from);
        } else {
          barriers[cta].arrive(from, what % 2 != 0);
          heard[cta][static_cast<unsigned>(what)].insert(from);
        }
        settle(cta);
      }
      if (HasFatalFailure()) return;
    }
  }
}

/// Takes CTAs and ends each after a while that is drawn. While it has some, it may ask now and then that
/// others do not begin.
class DrawnSm final : public Component {
 public:
  DrawnSm(Engine& engine, unsigned number, std::uint64_t seed, unsigned questions = 0)
      : Component(engine, "sm" + std::to_string(number)), random_(seed), questions_(questions) {}
  In<CtaLaunch> in{*this, "in"};
  Out<CtaDone> out{*this, "out"};
  struct Begun {
    Cycle at;
    CtaLaunch launch;
  };
  std::vector<Begun> begun;
  std::vector<CtaLaunch> answers;
  unsigned resident = 0, most = 0;

  Cycle tick(Cycle now) override {
    if (in.ready(now)) {
      const CtaLaunch launch = in.pop(now);
      if (launch.kind == CtaLaunch::Kind::answer) {
        answers.push_back(launch);
        return ends_.empty() ? kNever : std::max(now + 1, ends_.begin()->first);
      }
      begun.push_back({now, launch});
      for (std::uint32_t ranks = launch.ranks; ranks != 0; ranks &= ranks - 1, ++resident)
        ends_.insert({now + 1 + random_.below(200), launch.place.number});
      most = std::max(most, resident);
    }
    if (questions_ != 0 && !ends_.empty() && answers.size() == asked_ && out.ready(now)) {
      --questions_;
      out.send(now, {CtaDone::Kind::cancel, false, asked_++});
    }
    // Who has asked does not end before it is answered.
    if (!ends_.empty() && ends_.begin()->first <= now && answers.size() == asked_ && out.ready(now)) {
      out.send(now, {CtaDone::Kind::ended, false, 0});
      ends_.erase(ends_.begin());
      --resident;
    }
    return ends_.empty() ? kNever : std::max(now + 1, ends_.begin()->first);
  }
  [[nodiscard]] bool busy() const override { return !ends_.empty(); }
  void explain(std::vector<Wait>&) const override {}

 private:
  Random random_;
  unsigned questions_, asked_ = 0;
  std::multimap<Cycle, std::uint32_t> ends_;
};

/// Of the 16 and 18 SMs of h100's GPCs, whole clusters of five only.
TEST(WorkDistributor, CountsTheCtasThatFitInWholeClusters) {
  EXPECT_EQ(WorkDistributor::resident_ctas(132, {8, 2}, 2, 1), 264U);
  EXPECT_EQ(WorkDistributor::resident_ctas(132, {8, 2}, 2, 5), 250U);
  EXPECT_EQ(WorkDistributor::resident_ctas(132, {8, 2}, 1, 16), 128U);
}

/// The SMs in the order in which the first CTAs of a grid begin.
std::vector<unsigned> order_of(unsigned sms, GpcShape shape, WorkDistributor::Placement placement) {
  Engine engine;
  WorkDistributor distributor(engine, "distributor", {}, sms, shape, placement);
  std::deque<DrawnSm> all;
  for (unsigned i = 0; i < sms; ++i) {
    all.emplace_back(engine, i, i);
    connect(distributor.to_sm[i], all[i].in, {1, 16, 32, 16});
    connect(all[i].out, distributor.from_sm[i], {1, 16, 32, 16});
  }
  distributor.start({sms, 1, 1}, 1);
  static_cast<void>(engine.run_until(1000));  // these SMs end clusters only
  std::vector<unsigned> order(sms, sms);
  for (unsigned i = 0; i < sms; ++i)
    for (const DrawnSm::Begun& b : all[i].begun) order.at(b.launch.cta.x) = i;
  return order;
}

TEST(WorkDistributor, PlacesCtasByTpcsOrByGpcs) {
  using P = WorkDistributor::Placement;
  EXPECT_EQ(order_of(4, {1, 1}, P::by_tpc), (std::vector<unsigned>{0, 1, 2, 3}));
  EXPECT_EQ(order_of(7, {2, 2}, P::by_tpc), (std::vector<unsigned>{0, 2, 4, 6, 1, 3, 5}));
  EXPECT_EQ(order_of(6, {2, 2}, P::by_gpc), (std::vector<unsigned>{0, 1, 4, 5, 2, 3}));
  EXPECT_EQ(order_of(5, {3, 1}, P::by_gpc), (std::vector<unsigned>{0, 3, 1, 4, 2}));
  EXPECT_EQ(order_of(7, {4, 2}, P::by_gpc), (std::vector<unsigned>{0, 1, 2, 3, 4, 5, 6}))
      << "the larger first";
}

TEST(WorkDistributor, HandsAWholeClusterToOneGpcAndBeginsItInOneCycle) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const auto pick = [&random](unsigned low, unsigned high) {
      return static_cast<unsigned>(low + random.below(high - low + 1));
    };
    const unsigned sms = pick(1, 20), resident = pick(1, 4);
    const GpcShape shape{pick(1, 3), pick(1, 2)};
    const Dim3 cluster{pick(1, 3), pick(1, 2), pick(1, 2)};
    const Dim3 grid{cluster.x * pick(1, 6), cluster.y * pick(1, 3), cluster.z * pick(1, 2)};
    if (cluster.count() > WorkDistributor::most_ctas(sms, shape, resident)) continue;
    Engine engine;
    WorkDistributor distributor(engine, "distributor", {}, sms, shape);
    std::deque<DrawnSm> all;
    for (unsigned i = 0; i < sms; ++i) {
      all.emplace_back(engine, i, seed + i);
      connect(distributor.to_sm[i], all[i].in, {1, 16, 32, 16});
      connect(all[i].out, distributor.from_sm[i], {1, 16, 32, 16});
    }
    distributor.start_clusters(grid, resident, cluster);
    ASSERT_EQ(engine.run_until(1'000'000), RunOutcome::quiescent);
    EXPECT_EQ(distributor.done(), grid.count());
    // By the first CTA of a cluster: when its CTAs began, and where each rank did.
    std::map<std::uint64_t, std::pair<Cycle, std::map<unsigned, unsigned>>> clusters;
    for (unsigned i = 0; i < sms; ++i) {
      EXPECT_LE(all[i].most, resident);
      for (const DrawnSm::Begun& b : all[i].begun) {
        auto& [at, where] =
            clusters.try_emplace(b.launch.cta.number_in(grid), b.at, std::map<unsigned, unsigned>{})
                .first->second;
        EXPECT_EQ(at, b.at);
        EXPECT_EQ(b.launch.cta.x % cluster.x + b.launch.cta.y % cluster.y + b.launch.cta.z % cluster.z, 0U);
        for (unsigned rank = 0; rank < kMaxClusterCtas; ++rank) {
          if ((b.launch.ranks >> rank & 1U) == 0) continue;
          EXPECT_EQ(b.launch.place.sms.at(rank), i);
          EXPECT_TRUE(where.emplace(rank, i).second);
        }
      }
    }
    EXPECT_EQ(clusters.size(), grid.count() / cluster.count());
    for (const auto& [first, begun] : clusters) {
      EXPECT_EQ(begun.second.size(), cluster.count());
      for (const auto& [rank, sm] : begun.second)
        EXPECT_EQ(shape.gpc_of(sm), shape.gpc_of(begun.second.begin()->second));
    }
  }
}

/// Every CTA of a grid, or cluster, begins or is cancelled, none twice; and a question is refused when none
/// is left.
TEST(WorkDistributor, CancelsWhatHasNotBegunOnce) {
  std::uint64_t cancelled = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const auto pick = [&random](unsigned low, unsigned high) {
      return static_cast<unsigned>(low + random.below(high - low + 1));
    };
    const unsigned sms = pick(2, 8);
    const Dim3 cluster{pick(1, 2), 1, 1};
    const Dim3 grid{cluster.x * pick(1, 9), pick(1, 3), 1};
    Engine engine;
    WorkDistributor distributor(engine, "distributor", {}, sms, {1, 1});
    std::deque<DrawnSm> all;
    for (unsigned i = 0; i < sms; ++i) {
      all.emplace_back(engine, i, seed + i, pick(0, 9));
      connect(distributor.to_sm[i], all[i].in, {1, 16, 32, 16});
      connect(all[i].out, distributor.from_sm[i], {1, 16, 32, 16});
    }
    distributor.start_clusters(grid, 1, cluster);
    ASSERT_EQ(engine.run_until(1'000'000), RunOutcome::quiescent);
    EXPECT_EQ(distributor.done(), grid.count());
    std::set<std::uint64_t> begun, stopped;
    for (const DrawnSm& sm : all) {
      for (const DrawnSm::Begun& b : sm.begun) begun.insert(b.launch.cta.number_in(grid));
      for (std::size_t n = 0; n < sm.answers.size(); ++n) {
        EXPECT_EQ(sm.answers[n].ticket, n);
        if (!sm.answers[n].cancelled)
          ++refused;
        else
          EXPECT_TRUE(stopped.insert(sm.answers[n].cta.number_in(grid)).second);
      }
    }
    for (const std::uint64_t cta : stopped) EXPECT_EQ(begun.count(cta), 0U);
    EXPECT_EQ(begun.size() + stopped.size(), grid.count() / cluster.count());
    cancelled += stopped.size();
  }
  EXPECT_GT(cancelled, 20U);
  EXPECT_GT(refused, 20U);
}

}  // namespace sm_clusters_test
}  // namespace warpline::test
