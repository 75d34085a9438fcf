#include "rtl_models/sim/wait_graph.h"

#include <gtest/gtest.h>

#include <set>

#include "rtl_models/base/random.h"
#include "tests/support/mock_components.h"

namespace warpline::test {
namespace wait_graph_test {

/// Asks its neighbour for something, and answers nobody before it has been answered itself.
class Stubborn final : public Component {
 public:
  Stubborn(Engine& engine, const std::string& name) : Component(engine, name) { wake(3); }
  Cycle tick(Cycle now) override {
    if (!asked_ && out.ready(now)) {
      Request* r = pool().allocate();
      r->maker = this;
      r->sectors = 1;
      out.send(now, {r});
      asked_ = true;
    }
    return kNever;
  }
  [[nodiscard]] bool busy() const override { return asked_; }
  void explain(std::vector<Wait>& waits) const override {
    waits.push_back({name(), "an answer", {}, {this}});
  }
  Out<RequestMessage> out{*this, "out"};
  In<RequestMessage> in{*this, "in"};

 private:
  bool asked_ = false;
};

/// Takes nothing.
class Mute final : public Component {
 public:
  Mute(Engine& engine, const std::string& name) : Component(engine, name) {}
  Cycle tick(Cycle /*now*/) override { return kNever; }
  [[nodiscard]] bool busy() const override { return false; }
  void explain(std::vector<Wait>& waits) const override { waits.push_back({name(), "its master's voice"}); }
  In<RequestMessage> in{*this, "in"};
};

TEST(WaitGraph, ComponentsThatWaitForEachOtherAreACircle) {
  Engine engine;
  Stubborn a(engine, "a"), b(engine, "b"), c(engine, "c");
  connect(a.out, b.in, {});
  connect(b.out, c.in, {});
  connect(c.out, a.in, {});
  ASSERT_EQ(engine.run_until(1000), RunOutcome::deadlock);
  const Standstill s = engine.standstill();
  EXPECT_TRUE(s.dead);
  const std::vector<WaitEdge> circle = circle_of(s);
  EXPECT_EQ(to_text(circle), "a -> b -> c -> a");
  for (const WaitEdge& e : circle) EXPECT_EQ(e.why, "an answer");
  ASSERT_EQ(s.in_flight.size(), 3U);
  EXPECT_EQ(s.in_flight[0].at, "a.in");
  EXPECT_EQ(s.in_flight[0].what, "read of 1 sector at vidmem 0x0");
  EXPECT_EQ(s.in_flight[0].wait.what, "a to take it");
  EXPECT_EQ(s.in_flight[0].made, kNever);
}

TEST(WaitGraph, WithoutACircleTheEndsOfTheWaitsAreTold) {
  Engine engine;
  Stubborn a(engine, "a"), b(engine, "b");
  Mute mute(engine, "mute");
  connect(a.out, b.in, {});
  connect(b.out, mute.in, {});
  ASSERT_EQ(engine.run_until(1000), RunOutcome::deadlock);
  const Standstill s = engine.standstill();
  EXPECT_TRUE(circle_of(s).empty());
  const std::vector<Wait> ends = ends_of(s);
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0].who, "mute");
  EXPECT_EQ(ends[0].what, "its master's voice");
}

TEST(WaitGraph, AComponentWaitsWithItsPartsAndNeverForItself) {
  Standstill s;
  s.waits = {{"x", "y to do something", {"y"}}, {"y part 1", "x", {"x"}}, {"z", "z", {"z"}}};
  EXPECT_EQ(to_text(circle_of(s)), "x -> y -> y part 1 -> x");
  s.waits = {{"x", "y to do something", {"y"}}, {"z", "z", {"z"}}};
  EXPECT_TRUE(circle_of(s).empty());
  s.waits = {{"x part 1", "two barriers", {"x part 1"}}};
  EXPECT_EQ(to_text(circle_of(s)), "x part 1 -> x part 1");
}

/// Whether `to` is reached from `from` by one edge or more, by Warshall's closure.
std::vector<std::vector<bool>> closure(std::vector<std::vector<bool>> edge) {
  const std::size_t n = edge.size();
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) edge[i][j] = edge[i][j] || (edge[i][k] && edge[k][j]);
  return edge;
}

TEST(WaitGraph, FindsACircleWhereverThereIsOneAndEndsWhereverThereAreSome) {
  unsigned with = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const std::size_t n = 1 + random.below(12);
    std::vector<std::vector<bool>> edge(n, std::vector<bool>(n, false));
    Standstill s;
    for (std::size_t i = 0; i < n; ++i) s.waits.push_back({"n" + std::to_string(i), "something"});
    for (std::uint64_t e = random.below(2 * n); e != 0; --e) {
      const std::size_t from = random.below(n), to = random.below(n);
      if (from == to) continue;
      edge[from][to] = true;
      s.waits[from].on.push_back("n" + std::to_string(to));
      if (random.below(3) == 0) s.waits[from].on.push_back("somebody who waits for nobody");
    }
    const auto reached = closure(edge);
    bool circular = false;
    for (std::size_t i = 0; i < n; ++i) circular = circular || reached[i][i];
    const std::vector<WaitEdge> circle = circle_of(s);
    ASSERT_EQ(!circle.empty(), circular);
    with += circular;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < circle.size(); ++i) {
      const auto number = [](const std::string& name) { return std::stoul(name.substr(1)); };
      ASSERT_TRUE(edge[number(circle[i].from)][number(circle[i].to)]);
      ASSERT_EQ(circle[i].to, circle[(i + 1) % circle.size()].from);
      ASSERT_TRUE(seen.insert(circle[i].from).second) << "each stands in it once";
    }
    std::set<std::string> ends, expected;
    for (const Wait& w : ends_of(s)) ends.insert(w.who);
    for (std::size_t i = 0; i < n; ++i)
      if (std::none_of(edge[i].begin(), edge[i].end(), [](bool e) { return e; }))
        expected.insert("n" + std::to_string(i));
    ASSERT_EQ(ends, expected);
  }
  EXPECT_GT(with, 300U);
  EXPECT_LT(with, 1700U);
}

TEST(InFlight, RequestsAreDescribedForPeople) {
  Request r;
  r.id = id_of_sm({3}, 1234);
  r.sm = 3;
  r.warp = 7;
  r.command = Command::read;
  r.sectors = 0b0110;
  r.line = physical(Aperture::sysmem, 0x1280);
  EXPECT_EQ(describe(r), "read of 2 sectors at sysmem 0x1280, SM 3 warp 7");
  EXPECT_EQ(InFlight(r, "l2[0]", "l2[0].in", "room").made, 1234U);
  r.id = 0;
  r.command = Command::write;
  r.sectors = 1;
  EXPECT_EQ(describe(r), "write of 1 sector at sysmem 0x1280");
  r.command = Command::maintain;
  r.maintenance = maintenance::kDrain | maintenance::kInvalidate;
  EXPECT_EQ(describe(r), "drain, invalidation");
  AtomicBlock block;
  block.count = 5;
  r.atomics = &block;
  r.command = Command::reduce;
  r.line = physical(Aperture::vidmem, 0xABCDEF80);
  EXPECT_EQ(describe(r), "reduction of 5 lanes at vidmem 0xabcdef80");
}

}  // namespace wait_graph_test
}  // namespace warpline::test
