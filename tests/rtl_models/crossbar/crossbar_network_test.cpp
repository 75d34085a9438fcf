// The network between SMs and slices, alone against a naive twin, and in a crossbar.
#include "rtl_models/crossbar/crossbar_network.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/rtl_models/crossbar/bench_of_crossbar.h"

namespace warpline::test {
namespace crossbar_network_test {

/// What the header says, with exact times: bandwidths are powers of two.
class NaiveNetwork {
 public:
  NaiveNetwork(const NetworkParameters& p, unsigned slices) : p_(p), slices_(slices) {}
  /// When a message that enters at `edge` is in its queue.
  double due(double edge, const NetworkPlace& at, unsigned number_in_gpc, unsigned slice, unsigned data,
             bool reply, std::uint64_t line) {
    double last = edge;
    const auto level = [&](const std::string& name, unsigned bandwidth) {
      if (bandwidth == 0) return;
      double& free = free_[name];
      free = std::max(free, edge);
      last = std::max(last, free);
      free += static_cast<double>(data + p_.header) / bandwidth;
    };
    const std::string tpc = std::to_string(at.tpc), gpc = std::to_string(at.gpc);
    const unsigned group = slice * p_.groups / slices_;
    if (!reply) {
      level("tpc down " + tpc, p_.tpc_request);
      level("gpc down " + gpc, p_.gpc_request);
      unsigned first = slice;  // of its group
      while (first > 0 && (first - 1) * p_.groups / slices_ == group) --first;
      double distance = 0;
      if (!p_.gpc_distance.empty())
        distance += static_cast<double>(p_.gpc_distance[at.gpc * p_.groups + group]);
      if (!p_.tpc_distance.empty())
        distance += static_cast<double>(p_.tpc_distance[number_in_gpc % p_.tpc_distance.size()]);
      if (!p_.slice_distance.empty())
        distance += static_cast<double>(p_.slice_distance[(slice - first) % p_.slice_distance.size()]);
      return std::ceil(last) + distance;
    }
    level("tpc up " + tpc, p_.tpc_reply);
    double& until = shared_.try_emplace(gpc + " " + std::to_string(line), -1).first->second;
    if (p_.share_window == 0 || data == 0 || edge > until) {
      level("gpc up " + gpc, p_.gpc_reply);
      if (data != 0) until = edge + p_.share_window;
    }
    level("pair " + std::to_string(at.sm) + " " + std::to_string(slice), p_.slice_reply);
    level("group " + gpc + " " + std::to_string(group), p_.group_reply);
    return std::ceil(last);
  }

 private:
  NetworkParameters p_;
  unsigned slices_;
  std::map<std::string, double> free_, shared_;
};

NetworkParameters random_network(Random& random, unsigned gpcs, unsigned slices) {
  const auto bandwidth = [&random] { return random.below(3) == 0 ? 0U : 1U << (1 + random.below(7)); };
  const auto distances = [&random](std::size_t count) {
    std::vector<std::uint64_t> list(random.below(3) == 0 ? 0 : count);
    for (std::uint64_t& cycles : list) cycles = random.below(2000);
    return list;
  };
  NetworkParameters p;
  p.tpc_request = bandwidth();
  p.tpc_reply = bandwidth();
  p.gpc_request = bandwidth();
  p.gpc_reply = bandwidth();
  p.slice_reply = bandwidth();
  p.group_reply = bandwidth();
  p.share_window = static_cast<unsigned>(random.below(2) * random.below(50));
  p.groups = static_cast<unsigned>(1 + random.below(slices));
  p.header = static_cast<unsigned>(1 + random.below(32));
  p.gpc_distance = distances(std::size_t{gpcs} * p.groups);
  p.tpc_distance = distances(1 + random.below(3));
  p.slice_distance = distances(1 + random.below(3));
  if (!p.present()) p.tpc_request = 8;
  return p;
}

/// SMs of two to a TPC, and last a client outside.
std::vector<NetworkPlace> places_of(unsigned sms, unsigned gpcs) {
  std::vector<NetworkPlace> places;
  for (unsigned sm = 0; sm < sms; ++sm) places.push_back({sm, sm / 2, sm / 2 % gpcs});
  places.emplace_back();
  return places;
}

class NetworkTwin : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(NetworkTwin, EveryMessageIsDueWhenTheNaiveOneIs) {
  Random random(GetParam());
  const auto sms = static_cast<unsigned>(1 + random.below(12)),
             gpcs = static_cast<unsigned>(1 + random.below(3)),
             slices = static_cast<unsigned>(1 + random.below(9));
  const NetworkParameters p = random_network(random, gpcs, slices);
  ASSERT_TRUE(p.problems("network").empty());
  const std::vector<NetworkPlace> places = places_of(sms, gpcs);
  CrossbarNetwork network(p, {}, places, slices, slices + 1);
  NaiveNetwork naive(p, slices);
  RequestPool pool;
  std::map<const Request*, std::uint64_t> due;
  std::uint64_t edge = 0;
  std::size_t taken = 0;
  const auto take_all = [&] {
    network.advance(edge);
    network.for_each_output([&](unsigned output) {
      while (network.waiting_at_output(output) != 0) {
        const CrossbarNetwork::Entry e = network.take_request(output);
        ASSERT_EQ(e.port, output);
        ASSERT_EQ(due.at(e.request), edge);
        ++taken;
      }
    });
    network.for_each_client([&](unsigned client) {
      while (network.waiting_for_client(client) != 0) {
        const CrossbarNetwork::Entry e = network.take_reply(client);
        ASSERT_EQ(e.client, client);
        ASSERT_EQ(due.at(e.request), edge);
        ++taken;
      }
    });
  };
  constexpr std::size_t kMessages = 400;
  std::vector<Request*> all;
  while (taken < kMessages) {
    if (all.size() < kMessages && random.below(3) == 0) {
      Request* r = pool.allocate();
      const auto client = static_cast<unsigned>(random.below(sms + 1)),
                 slice = static_cast<unsigned>(random.below(slices));
      const bool reply = random.below(2) == 0;
      r->command = random.below(2) == 0 ? Command::read : Command::write;
      r->sectors = static_cast<SectorMask>(1 + random.below(15));
      r->line = line_at(random.below(5));
      const bool data = (r->command == Command::read) == reply;
      const unsigned bytes = data ? 32U * sector_count(r->sectors) : 0;
      const bool outside = client == sms;
      const double when =
          outside ? static_cast<double>(edge)
                  : naive.due(static_cast<double>(edge), places[client], places[client].tpc / gpcs, slice,
                              bytes, reply, line_number(r->line));
      due[r] = static_cast<std::uint64_t>(when);
      const bool waits =
          reply ? network.enter_reply(edge, r, client, slice) : network.enter_request(edge, r, client, slice);
      const bool far = !reply && network.distance(client, slice) != 0;
      ASSERT_EQ(waits, when > static_cast<double>(edge) + (far ? network.distance(client, slice) : 0));
      all.push_back(r);
    }
    take_all();
    if (HasFatalFailure()) return;
    // Where nothing is in a queue, it says when something will be.
    if (network.held() == 0) {
      ASSERT_EQ(network.next(), ~std::uint64_t{0});
    }
    ++edge;
    ASSERT_LT(edge, 10'000'000U);
  }
  EXPECT_EQ(network.held(), 0U);
  EXPECT_EQ(all.size(), kMessages);
  for (Request* r : all) pool.release(r);
}
INSTANTIATE_TEST_SUITE_P(Seeds, NetworkTwin, ::testing::Range<std::uint64_t>(1, 41));

/// Two SMs of a TPC, or of two, that each read or write 40 lines of different slices at once.
Cycle time_of(const NetworkParameters& p, bool writes, bool one_tpc, bool one_line = false) {
  CrossbarBench::Shape shape;
  shape.parameters.network = p;
  shape.slices = 8;
  shape.channel = {128, 2, 16, 2};
  for (unsigned sm = 0; sm < 2; ++sm) {
    shape.places.push_back({sm, one_tpc ? 0 : sm, 0});
    std::vector<Item> items;
    for (unsigned n = 0; n < 40; ++n) {
      const PhysicalAddress line = line_at(one_line ? n : 2 * n + sm);
      items.push_back(writes ? write_item(0, line, ByteMask::of_sectors(0xF)) : read_item(0, line, 0xF));
    }
    shape.items.push_back(items);
  }
  CrossbarBench bench(shape);
  EXPECT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
  Cycle last = 0;
  for (const auto& client : bench.clients)
    for (const Answer& a : client->answers) last = std::max(last, a.answered);
  const CrossbarCounters& c = bench.crossbar.counters();
  EXPECT_EQ(c.network_requests, p.present() ? 80U : 0U);
  EXPECT_EQ(c.network_replies, c.network_requests);
  return last;
}

TEST(CrossbarNetwork, ATpcCarriesItsSmsOneAfterTheOther) {
  NetworkParameters p;
  p.header = 1;
  p.tpc_request = 43;  // a line and its header in three cycles
  EXPECT_NEAR(static_cast<double>(time_of(p, true, true)), 80 * 3, 20);
  EXPECT_NEAR(static_cast<double>(time_of(p, true, false)), 40 * 3, 20);
  EXPECT_LT(time_of(p, false, true), 80U) << "requests of reads have no data";
  p.tpc_request = 0;
  p.tpc_reply = 43;
  EXPECT_NEAR(static_cast<double>(time_of(p, false, true)), 80 * 3, 20);
  EXPECT_LT(time_of(p, true, true), 80U) << "nor have answers of writes";
}

TEST(CrossbarNetwork, AGpcCarriesAllOfItsTpcs) {
  NetworkParameters p;
  p.header = 1;
  p.gpc_reply = 43;
  EXPECT_NEAR(static_cast<double>(time_of(p, false, false)), 80 * 3, 20);
  p.share_window = 10;
  EXPECT_NEAR(static_cast<double>(time_of(p, false, false)), 80 * 3, 20) << "of different lines";
  EXPECT_NEAR(static_cast<double>(time_of(p, false, false, true)), 40 * 3, 20) << "of the same";
  p = {};
  p.header = 1;
  p.gpc_request = 43;
  EXPECT_NEAR(static_cast<double>(time_of(p, true, false)), 80 * 3, 20);
}

TEST(CrossbarNetwork, SlicesAndTheirGroupsHaveWaysOfTheirOwn) {
  NetworkParameters p;
  p.header = 1;
  p.slice_reply = 2;  // 65 cycles a line; eight slices at once, and two SMs, of which each has half of them
  EXPECT_NEAR(static_cast<double>(time_of(p, false, false)), 10 * 65, 70);
  p = {};
  p.header = 1;
  p.group_reply = 8;
  EXPECT_NEAR(static_cast<double>(time_of(p, false, false)), 80 * 16.1, 40);
  p.groups = 4;
  EXPECT_NEAR(static_cast<double>(time_of(p, false, false)), 20 * 16.1, 40);
}

TEST(CrossbarNetwork, FarSlicesTakeLonger) {
  CrossbarBench::Shape shape;
  shape.parameters.network.groups = 2;
  shape.parameters.network.gpc_distance = {0, 30};
  shape.parameters.network.slice_distance = {0, 5};
  shape.parameters.network.tpc_distance = {0, 100};
  shape.slices = 4;
  shape.places = {{0, 0, 0}, {1, 1, 0}};
  shape.items.resize(2);
  for (unsigned n = 0; n < 4; ++n)
    for (unsigned sm = 0; sm < 2; ++sm)
      shape.items[sm].push_back(read_item(1000 * n + 500 * sm, line_at(n), 1));
  CrossbarBench bench(shape);
  ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
  const auto took = [&](unsigned sm, unsigned n) {
    const Answer& a = bench.clients[sm]->answers[n];
    return a.answered - a.sent;
  };
  const Cycle least = took(0, 0);
  EXPECT_EQ(took(0, 1), least + 5);
  EXPECT_EQ(took(0, 2), least + 30);
  EXPECT_EQ(took(0, 3), least + 35);
  EXPECT_EQ(took(1, 0), least + 100);
  EXPECT_EQ(took(1, 3), least + 135);
  EXPECT_EQ(bench.crossbar.counters().network_waits, 0U);

  // Without limits and distances, it takes no time.
  shape.parameters.network = {};
  CrossbarBench without(shape);
  ASSERT_EQ(without.engine.run_until(100000), RunOutcome::quiescent);
  const Answer& a = without.clients[0]->answers[0];
  EXPECT_EQ(a.answered - a.sent, least);
}

/// Client 0 asks a slice that is slow, and then another.
Cycle behind_a_slow_one(const NetworkParameters& p) {
  CrossbarBench::Shape shape;
  shape.parameters.network = p;
  shape.slices = 2;
  shape.slice_gap = 50;
  shape.places = {{0, 0, 0}};
  shape.items.resize(1);
  for (unsigned n = 0; n < 20; ++n) shape.items[0].push_back(read_item(0, line_at(2 * n), 1));
  shape.items[0].push_back(read_item(0, line_at(1), 1));
  CrossbarBench bench(shape);
  EXPECT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
  return bench.clients[0]->answers.back().answered;
}

TEST(CrossbarNetwork, AMessageThatWaitsHoldsUpNoneToAnotherSlice) {
  EXPECT_GT(behind_a_slow_one({}), 500U);
  NetworkParameters p;
  p.tpc_request = 128;
  EXPECT_LT(behind_a_slow_one(p), 100U);
  p.queue = 2;
  EXPECT_GT(behind_a_slow_one(p), 500U) << "the client's room is taken";
}

TEST(CrossbarNetwork, AResetForgetsWhatHasPassed) {
  NetworkParameters p;
  p.tpc_request = 1;
  p.share_window = 1000;
  CrossbarNetwork network(p, {}, {{0, 0, 0}}, 1, 1);
  RequestPool pool;
  Request* r = pool.allocate();
  r->command = Command::write;
  r->sectors = 0xF;
  r->line = line_at(0);
  const auto waits = [&] {
    const bool w = network.enter_request(10, r, 0, 0);
    network.advance(1000);
    static_cast<void>(network.take_request(0));
    return w;
  };
  EXPECT_FALSE(waits());
  EXPECT_TRUE(waits());
  std::string saved;
  StateArchive out(saved);
  out(network);
  network.restart();
  EXPECT_FALSE(waits());
  StateArchive in{std::string_view(saved)};
  in(network);
  EXPECT_TRUE(waits()) << "restored";
  pool.release(r);
}

}  // namespace crossbar_network_test
}  // namespace warpline::test
