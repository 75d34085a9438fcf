// The law over links of PCI Express: random packets over links whose hops are port to port, sockets, sockets
// with a checker of the base protocol between, or pins. One simulation per process.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <memory>

#include "rtl_models/pcie/hops/tlp_hop_module.h"
#include "rtl_models/pcie/hops/tlp_pin_module.h"
#include "tests/rtl_models/pcie/packets/traffic_end.h"
#include "tests/support/checked_binding.h"
#include "tests/support/environment.h"

namespace warpline::test {
namespace link_law_test {

enum class Hops : std::uint8_t { direct, sockets, checked, pins, mixed };
constexpr std::array kModes = {TickMode::lazy, TickMode::every_cycle, TickMode::spurious_and_shuffled};
constexpr unsigned kLinks = 4;

LinkParameters random_link(Random& random) {
  LinkParameters p;
  p.latency = 1 + static_cast<unsigned>(random.below(40));
  p.bytes_per_cycle = 1 + static_cast<unsigned>(random.below(128));
  p.posted_credits = 1 + static_cast<unsigned>(random.below(6));
  p.non_posted_credits = 1 + static_cast<unsigned>(random.below(6));
  p.completion_credits = 1 + static_cast<unsigned>(random.below(6));
  return p;
}

/// Links with traffic both ways, whose ends are in clusters of their own.
class Links {
 public:
  Links(Engine& engine, std::uint64_t seed, unsigned packets) {
    Random random(seed);
    for (unsigned i = 0; i < kLinks; ++i) {
      const LinkParameters p = random_link(random);
      // Both ends of a link have one clock.
      const ClockDomain clock = random.below(2) == 0 ? ClockDomain() : ClockDomain(3 + random.below(5), 2);
      const std::string number = "[" + std::to_string(i) + "]";
      TrafficEnd* pair[2] = {};
      for (unsigned side = 0; side < 2; ++side) {
        engine.begin_cluster();
        TrafficEnd& end =
            ends.emplace_back(engine, (side == 0 ? "a" : "b") + number, side == 0 ? "b" : "a", p, clock);
        pair[side] = &end;
        end.draw_script(random.next(), packets);
        for (auto& s : end.script) {
          s.tlp.address = random.next();
          s.tlp.requester = FunctionId{static_cast<std::uint16_t>(random.next())};
          s.tlp.poisoned = random.below(9) == 0;
          for (std::uint8_t& byte : s.tlp.data) byte = static_cast<std::uint8_t>(random.next());
        }
        end.stall = static_cast<unsigned>(random.below(4));
        end.one_a_tick = random.below(2) == 0;
        end.wake(0);
      }
      pair[0]->other = pair[1];
      pair[1]->other = pair[0];
    }
  }
  /// When each packet was sent and taken, in which order, and what it said in the end.
  [[nodiscard]] std::vector<std::uint64_t> log() const {
    std::vector<std::uint64_t> all;
    for (const TrafficEnd& end : ends) {
      for (const auto& s : end.script) {
        std::uint64_t text = s.tlp.address ^ s.tlp.requester.value ^ (s.tlp.poisoned ? 1U << 20U : 0U);
        for (const std::uint8_t byte : s.tlp.data) text = splitmix64(text ^ byte);
        all.insert(all.end(), {s.sent, s.taken, s.turn, text, s.tlp.data.size()});
      }
      const LinkCounters& c = end.port.counters();
      c.visit([&](const char*, std::uint64_t value, const char*, const char*) { all.push_back(value); });
    }
    return all;
  }
  std::deque<TrafficEnd> ends;
};

class LinkLaw : public ::testing::TestWithParam<std::tuple<Hops, TickMode>> {};

TEST_P(LinkLaw, EveryPacketBeginsAndEndsInTheSameCycle) {
  const Hops hops = std::get<0>(GetParam());
  const TickMode mode = std::get<1>(GetParam());
  const std::uint64_t seed = 3 + 17 * static_cast<std::uint64_t>(hops) + static_cast<std::uint64_t>(mode);
  // Of 15 processes, each with 8 ends.
  const auto packets = static_cast<unsigned>(from_environment("WARPLINE_LINK_PACKETS", 20000) / 15 / 8);
  Engine plain;
  Links expected(plain, seed, packets);
  for (std::size_t i = 0; i < expected.ends.size(); i += 2)
    connect(expected.ends[i].port, expected.ends[i + 1].port);
  ASSERT_EQ(plain.run_until(1'000'000'000), RunOutcome::quiescent);

  EngineProcess engine("engine", 1000, HopTransport::direct, mode, seed);
  Links links(engine.engine(), seed, packets);
  std::deque<TlpHopModule> sockets;
  std::deque<TlpPinHopModule> pins;
  Random random(seed);
  for (std::size_t i = 0; i < links.ends.size(); i += 2) {
    connect(links.ends[i].port, links.ends[i + 1].port,
            [&](Out<TlpMessage>& out, In<TlpMessage>& in, const ChannelParameters& channel) {
              const Hops kind = hops == Hops::mixed ? static_cast<Hops>(random.below(4)) : hops;
              const char* const name = sc_core::sc_gen_unique_name("hop");
              if (kind == Hops::direct) return warpline::connect(out, in, channel);
              if (kind == Hops::pins) {
                pins.emplace_back(name, engine, out, in, channel);
                return;
              }
              TlpHopModule& hop = sockets.emplace_back(name, engine, out, in, channel);
              if (kind == Hops::checked) {
                bind_checked(hop.to_receiver, hop.from_sender);
              } else {
                hop.to_receiver.bind(hop.from_sender);
              }
            });
  }
  RunOutcome outcome = RunOutcome::cycle_limit;
  engine.on_idle([&](RunOutcome o) {
    if (o == RunOutcome::deadlock && engine.keeps_step()) return;
    outcome = o;
    sc_core::sc_pause();
  });
  engine.run_ahead(50);
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_SEC));
  EXPECT_EQ(outcome, RunOutcome::quiescent);
  EXPECT_EQ(engine.engine().now(), plain.now());
  EXPECT_TRUE(links.log() == expected.log());
  EXPECT_EQ(engine.is_direct(), sockets.empty() && pins.empty());
}

std::string name_of(const ::testing::TestParamInfo<LinkLaw::ParamType>& test) {
  constexpr std::array kHopNames = {"direct", "sockets", "checked", "pins", "mixed"};
  constexpr std::array kModeNames = {"lazy", "every_cycle", "spurious"};
  return std::string(kHopNames[static_cast<std::size_t>(std::get<0>(test.param))]) + "_" +
         kModeNames[static_cast<std::size_t>(std::get<1>(test.param))];
}

INSTANTIATE_TEST_SUITE_P(Carriers, LinkLaw,
                         ::testing::Combine(::testing::Values(Hops::direct, Hops::sockets, Hops::checked,
                                                              Hops::pins, Hops::mixed),
                                            ::testing::ValuesIn(kModes)),
                         name_of);

/// A module of others' sees what a packet is, may keep a copy of the payload, and may change its data.
struct Meddler final : sc_core::sc_module, tlm::tlm_fw_transport_if<>, tlm::tlm_bw_transport_if<> {
  explicit Meddler(const sc_core::sc_module_name& name) : sc_module(name) {
    from_initiator.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
    to_target.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
  }
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    if (phase == tlm::BEGIN_REQ) {
      headers.push_back(*p.get_extension<TlpExtension>());
      commands.push_back(p.get_command());
      if (p.is_write()) p.get_data_ptr()[0] ^= 0xFFU;
    }
    return to_target->nb_transport_fw(p, phase, delay);
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    return from_initiator->nb_transport_bw(p, phase, delay);
  }
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) override {
    to_target->b_transport(p, delay);
  }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& p, tlm::tlm_dmi& dmi) override {
    return to_target->get_direct_mem_ptr(p, dmi);
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& p) override { return to_target->transport_dbg(p); }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  tlm::tlm_target_socket<256> from_initiator{"from_initiator"};
  tlm::tlm_initiator_socket<256> to_target{"to_target"};
  std::vector<TlpExtension> headers;
  std::vector<tlm::tlm_command> commands;
};

TEST(LinkHop, WhatStandsInItSeesThePacketAndMayChangeItsData) {
  EngineProcess engine("engine", 1000);
  const LinkParameters p;
  TrafficEnd a(engine.engine(), "a", "b", p), b(engine.engine(), "b", "a", p);
  a.other = &b;
  b.other = &a;
  Tlp write = packet(TlpKind::memory_write, 0x1234, 64);
  write.requester = function_id(2, 3, 1);
  write.tag = 9;
  write.no_snoop = true;
  std::fill(write.data.begin(), write.data.end(), std::uint8_t{0x11});
  a.add(write, 5);
  a.add(packet(TlpKind::memory_read, 0x4000, 128), 6);
  a.wake(0);
  b.wake(0);
  Meddler meddler("meddler");
  std::deque<TlpHopModule> hops;
  connect(a.port, b.port, [&](Out<TlpMessage>& out, In<TlpMessage>& in, const ChannelParameters& channel) {
    if (out.path() != "a.to_b.posted") return warpline::connect(out, in, channel);
    TlpHopModule& hop = hops.emplace_back("hop", engine, out, in, channel);
    hop.to_receiver.bind(meddler.from_initiator);
    meddler.to_target.bind(hop.from_sender);
  });
  sc_core::sc_start(sc_core::sc_time(10, sc_core::SC_US));
  ASSERT_EQ(meddler.headers.size(), 1U);
  const TlpExtension& seen = meddler.headers[0];
  EXPECT_EQ(seen.kind, TlpKind::memory_write);
  EXPECT_EQ(seen.packet_class(), TlpClass::posted);
  EXPECT_EQ(seen.address, 0x1234U);
  EXPECT_EQ(seen.bytes, 64U);
  EXPECT_EQ(seen.requester, function_id(2, 3, 1));
  EXPECT_EQ(seen.tag, 9U);
  EXPECT_TRUE(seen.no_snoop);
  EXPECT_FALSE(seen.relaxed_ordering);
  EXPECT_EQ(meddler.commands[0], tlm::TLM_WRITE_COMMAND);
  EXPECT_EQ(a.script[0].tlp.data[0], 0xEE);
  EXPECT_EQ(a.script[0].tlp.data[1], 0x11);
  EXPECT_NE(a.script[1].taken, kNever);
  EXPECT_TRUE(engine.at_rest());
}

TEST(LinkHop, WhatIsNoPacketIsRefused) {
  EngineProcess engine("engine", 1000);
  const LinkParameters p;
  TrafficEnd a(engine.engine(), "a", "b", p), b(engine.engine(), "b", "a", p);
  a.other = &b;
  b.other = &a;
  std::deque<TlpHopModule> hops;
  connect(a.port, b.port, [&](Out<TlpMessage>& out, In<TlpMessage>& in, const ChannelParameters& channel) {
    TlpHopModule& hop = hops.emplace_back(sc_core::sc_gen_unique_name("hop"), engine, out, in, channel);
    hop.to_receiver.bind(hop.from_sender);
  });
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  sc_core::sc_report_handler::set_actions(sc_core::SC_ERROR, sc_core::SC_DO_NOTHING);
  tlm::tlm_generic_payload stranger;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay;
  EXPECT_EQ(hops[0].to_receiver->nb_transport_fw(stranger, phase, delay), tlm::TLM_COMPLETED);
  EXPECT_EQ(stranger.get_response_status(), tlm::TLM_COMMAND_ERROR_RESPONSE);
  stranger.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  hops[0].to_receiver->b_transport(stranger, delay);
  EXPECT_EQ(stranger.get_response_status(), tlm::TLM_COMMAND_ERROR_RESPONSE);
  EXPECT_EQ(sc_core::sc_report_handler::get_count(sc_core::SC_ERROR), 2);
}

}  // namespace link_law_test
}  // namespace warpline::test
