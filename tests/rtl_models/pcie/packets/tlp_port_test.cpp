#include "rtl_models/pcie/packets/tlp_port.h"

#include <gtest/gtest.h>

#include <deque>

#include "tests/rtl_models/pcie/packets/packets.h"

namespace warpline {
namespace tlp_port_test {

using test::packet;

constexpr auto kAny = [](const Tlp&) { return true; };

/// Owns one end of a link that a test works by hand.
class Hand final : public Component {
 public:
  Hand(Engine& engine, const std::string& name, const std::string& other, const LinkParameters& parameters,
       ClockDomain domain = {})
      : Component(engine, name, domain), port(*this, other, parameters) {}
  Cycle tick(Cycle) override { return kNever; }
  [[nodiscard]] bool busy() const override { return port.busy(); }
  void explain(std::vector<Wait>& waits) const override { port.explain(waits); }
  TlpPort port;
};

struct Link {
  explicit Link(const LinkParameters& p = {}, ClockDomain domain = {})
      : device(engine, "device", "root", p, domain), root(engine, "root", "device", p, domain) {
    connect(device.port, root.port);
  }
  Tlp* send(TlpKind kind, std::uint32_t bytes = 4, bool relaxed = false, std::uint16_t tag = 0) {
    packets.push_back(packet(kind, 0, bytes));
    packets.back().relaxed_ordering = relaxed;
    packets.back().tag = tag;
    device.port.send(&packets.back());
    return &packets.back();
  }
  Engine engine;
  Hand device, root;
  std::deque<Tlp> packets;
};

LinkParameters credits(unsigned posted, unsigned non_posted, unsigned completion) {
  LinkParameters p;
  p.posted_credits = posted;
  p.non_posted_credits = non_posted;
  p.completion_credits = completion;
  return p;
}

TEST(TlpPort, APacketArrivesALatencyAfterItsLastByte) {
  for (const unsigned width : {1U, 16U, 128U}) {
    for (const std::uint32_t bytes : {0U, 8U, 100U, 256U}) {
      LinkParameters p;
      p.bytes_per_cycle = width;
      p.latency = 33;
      Link link(p);
      Tlp* tlp = link.send(TlpKind::memory_write, bytes);
      EXPECT_EQ(link.device.port.transmit(100), kNever);
      const Cycle arrival = 100 + (24 + bytes + width - 1) / width - 1 + 33;
      EXPECT_EQ(link.root.port.next(arrival - 1, kAny), nullptr);
      EXPECT_EQ(link.root.port.next(arrival, kAny), tlp) << bytes << " bytes, " << width << " a cycle";
    }
  }
}

TEST(TlpPort, TheWireIsSharedByTheClasses) {
  Link link;  // 16 bytes a cycle: 256 bytes take 18 cycles
  link.send(TlpKind::memory_write, 256);
  Tlp* read = link.send(TlpKind::memory_read);
  EXPECT_EQ(link.device.port.transmit(100), 118U);
  EXPECT_EQ(link.device.port.transmit(117), 118U) << "blocked one cycle before";
  EXPECT_EQ(link.device.port.waiting(), 1U);
  EXPECT_EQ(link.device.port.transmit(118), kNever);
  EXPECT_EQ(link.device.port.waiting(), 0U);
  EXPECT_EQ(read->sequence, 1U);
}

TEST(TlpPort, ACreditComesBackALatencyAfterItsPacketWasTaken) {
  Link link(credits(1, 1, 1));
  Tlp* first = link.send(TlpKind::memory_write);
  link.send(TlpKind::memory_write);
  EXPECT_EQ(link.device.port.transmit(0), 2U);
  EXPECT_EQ(link.device.port.transmit(5000), kNever) << "no credit, no packet";
  EXPECT_EQ(link.device.port.waiting(), 1U);
  ASSERT_EQ(link.root.port.next(6000, kAny), first);
  link.root.port.take(6000, first);
  EXPECT_EQ(link.device.port.transmit(6099), kNever);
  EXPECT_EQ(link.device.port.waiting(), 1U);
  EXPECT_EQ(link.device.port.transmit(6100), kNever);
  EXPECT_EQ(link.device.port.waiting(), 0U);
}

TEST(TlpPort, WithoutPostedCreditsOnlyWhatIsRelaxedGoesOn) {
  Link link(credits(1, 4, 4));
  for (int i = 0; i < 2; ++i) link.send(TlpKind::memory_write);
  Tlp* read = link.send(TlpKind::memory_read);
  Tlp* strict = link.send(TlpKind::completion);
  Tlp* relaxed = link.send(TlpKind::completion, 4, true, 1);
  for (Cycle c = 0; c < 100; ++c) static_cast<void>(link.device.port.transmit(c));
  EXPECT_EQ(link.device.port.waiting(), 3U);
  EXPECT_EQ(relaxed->sequence, 1U);
  EXPECT_EQ(read->sequence + strict->sequence, 0U) << "neither has left";
}

TEST(TlpPort, ItTellsWhenARequestGoesOnTheWireOrIsLostBefore) {
  Link link(credits(1, 1, 4));
  TlpPool pool;
  std::vector<std::pair<const Tlp*, Cycle>> told;
  link.device.port.on_request([&](const Tlp& tlp, Cycle now) { told.emplace_back(&tlp, now); });
  std::vector<Tlp*> queued;
  for (const TlpKind kind : {TlpKind::memory_write, TlpKind::memory_read, TlpKind::memory_read}) {
    queued.push_back(pool.allocate());
    *queued.back() = packet(kind, 0, 4);
    link.device.port.send(queued.back());
  }
  for (Cycle c = 0; c < 100; ++c) static_cast<void>(link.device.port.transmit(c));
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].first, queued[1]);
  EXPECT_GT(told[0].second, 0U) << "after the write";
  // The second read has no credit when the link goes down.
  link.device.port.cut(pool);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[1].first, queued[2]);
}

TEST(TlpPort, AReceiverThatWantsNoReadsStillGetsWritesAndCompletions) {
  Link link;
  Tlp* read = link.send(TlpKind::memory_read);
  Tlp* write = link.send(TlpKind::memory_write);
  Tlp* completion = link.send(TlpKind::completion);
  for (Cycle c = 0; c < 100; ++c) static_cast<void>(link.device.port.transmit(c));
  const auto no_reads = [](const Tlp& t) { return t.kind != TlpKind::memory_read; };
  const auto only_completions = [](const Tlp& t) { return t.kind == TlpKind::completion; };
  EXPECT_EQ(link.root.port.next(1000, only_completions), nullptr) << "it must not pass the write";
  ASSERT_EQ(link.root.port.next(1000, no_reads), write);
  link.root.port.take(1000, write);
  ASSERT_EQ(link.root.port.next(1000, no_reads), completion);
  link.root.port.take(1000, completion);
  EXPECT_EQ(link.root.port.next(1000, kAny), read);
}

TEST(TlpPort, APacketThatLiesInItsQueueForLongerIsNotOvertaken) {
  Link link;
  link.root.port.in(TlpClass::posted).set_residence(1000);
  Tlp* write = link.send(TlpKind::memory_write);
  static_cast<void>(link.device.port.transmit(1));
  Tlp* read = link.send(TlpKind::memory_read);
  static_cast<void>(link.device.port.transmit(5));
  EXPECT_EQ(link.root.port.next(900, kAny), nullptr) << "the read has arrived, and the write has not";
  ASSERT_EQ(link.root.port.next(1200, kAny), write);
  link.root.port.take(1200, write);
  EXPECT_EQ(link.root.port.next(1201, kAny), read);
}

TEST(TlpPort, ItTicksOnItsOwnersEdgesOnly) {
  Link link({}, ClockDomain(2, 1));
  Tlp* tlp = link.send(TlpKind::memory_write, 8);  // 2 beats
  link.send(TlpKind::memory_write, 8);
  EXPECT_EQ(link.device.port.transmit(100), 104U);
  EXPECT_EQ(link.root.port.next(301, kAny), nullptr);
  EXPECT_EQ(link.root.port.next(302, kAny), tlp) << "101 edges of two cycles later";
}

TEST(TlpPort, CountersSayWhatWentAcross) {
  Link link;
  const Tlp* write = link.send(TlpKind::memory_write, 100);
  const Tlp* read = link.send(TlpKind::memory_read, 512);
  for (Cycle c = 0; c < 100; ++c) static_cast<void>(link.device.port.transmit(c));
  link.root.port.take(1000, write);
  link.root.port.take(1000, read);
  EXPECT_EQ(link.device.port.counters().packets_sent, 2U);
  EXPECT_EQ(link.device.port.counters().payload_sent, 100U);
  EXPECT_EQ(link.root.port.counters().packets_received, 2U);
  EXPECT_EQ(link.root.port.counters().payload_received, 100U);
  EXPECT_EQ(link.root.port.counters().packets_sent, 0U);
}

TEST(TlpPort, ItSaysWhatItWaitsForAndCanDropIt) {
  LinkParameters p = credits(1, 1, 1);
  Link link(p);
  TlpPool pool;
  for (int i = 0; i < 3; ++i) {
    Tlp* tlp = pool.allocate();
    *tlp = packet(TlpKind::memory_write, 0, 4);
    link.device.port.send(tlp);
  }
  static_cast<void>(link.device.port.transmit(0));
  std::vector<Wait> waits;
  link.device.port.explain(waits);
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_EQ(waits[0].who, "device");
  EXPECT_EQ(waits[0].what, "room on device.to_root.posted for 2 packets");
  EXPECT_EQ(waits[0].on, std::vector<std::string>{"root"});
  EXPECT_TRUE(link.device.port.busy());
  link.device.port.cut(pool);
  EXPECT_FALSE(link.device.port.busy());
  EXPECT_EQ(pool.in_use(), 1U) << "what is on the wire is lost when it arrives";
}

}  // namespace tlp_port_test
}  // namespace warpline
