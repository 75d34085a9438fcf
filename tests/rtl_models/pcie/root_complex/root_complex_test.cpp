#include <gtest/gtest.h>

#include <cstring>

#include "tests/rtl_models/pcie/root_complex/bench_of_root.h"

namespace warpline {
namespace root_complex_test {

using test::BenchOfRoot;
using test::ScriptedDevice;
using Outcome = TlpOutcome;

TEST(RootComplex, ALoadOfTheHostReachesTheDeviceThatHasTheAddress) {
  BenchOfRoot bench;
  const auto ticket = bench.host.load(BenchOfRoot::window(1) + 0x10, 4, 100);
  EXPECT_EQ(bench.run(), RunOutcome::quiescent);
  HostBridge::Answer answer;
  ASSERT_TRUE(bench.host.take(ticket, answer));
  EXPECT_EQ(answer.outcome, Outcome::done);
  EXPECT_EQ(answer.data, (std::vector<std::uint8_t>{0x10, 0x11, 0x12, 0x13}));
  ASSERT_EQ(bench.device(1).came.size(), 1U);
  EXPECT_TRUE(bench.device(0).came.empty());
  const LinkParameters host = BenchOfRoot::host_link(), link;
  const RootComplexParameters root;
  const Cycle there = 100 + host.cycles_of(0) + root.forward_latency + link.cycles_of(0);
  EXPECT_EQ(bench.device(1).came[0].first, there);
  EXPECT_EQ(answer.cycle, there + link.cycles_of(4) + root.forward_latency + host.cycles_of(4));
}

TEST(RootComplex, AWriteThatIsTooLongForALinkGoesOnAsSeveral) {
  BenchOfRoot bench;
  std::vector<std::uint8_t> data(700);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::uint8_t>(i * 7);
  const std::uint64_t address = BenchOfRoot::window(1) + 0x10;
  bench.host.store(address, data.data(), 700, 100);
  EXPECT_EQ(bench.run(), RunOutcome::quiescent);
  std::vector<std::uint8_t> came;
  for (const auto& [cycle, tlp] : bench.device(1).came) {
    EXPECT_EQ(tlp.kind, TlpKind::memory_write);
    EXPECT_EQ(tlp.address, address + came.size());
    EXPECT_EQ(tlp.bytes, tlp.data.size());
    EXPECT_LE(tlp.payload(), LinkParameters{}.max_payload);
    came.insert(came.end(), tlp.data.begin(), tlp.data.end());
  }
  EXPECT_EQ(came, data);
  EXPECT_EQ(bench.device(1).came.size(), 3U);
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

TEST(RootComplex, ConfigurationGoesByBusNumber) {
  BenchOfRoot bench;
  const auto read = bench.host.load_config(RootComplexCore::id_of(1), 0x3C, 1);
  const auto write = bench.host.store_config(RootComplexCore::id_of(0), 4, 6, 2, 1);
  const auto nobody = bench.host.load_config(function_id(9, 0, 0), 0, 1);
  bench.run();
  HostBridge::Answer answer;
  ASSERT_TRUE(bench.host.take(read, answer));
  EXPECT_EQ(answer.data, (std::vector<std::uint8_t>{0x3C, 0x3D, 0x3E, 0x3F}));
  ASSERT_TRUE(bench.host.take(write, answer));
  EXPECT_EQ(answer.outcome, Outcome::done);
  ASSERT_TRUE(bench.host.take(nobody, answer));
  EXPECT_EQ(answer.outcome, Outcome::unsupported_request);
  EXPECT_EQ(bench.device(0).came.at(0).second.data, (std::vector<std::uint8_t>{6, 0}));
}

TEST(RootComplex, ADeviceReadsAndWritesMemory) {
  BenchOfRoot bench;
  std::memset(bench.memory.at(0x2000), 0xAB, 512);
  bench.device(0).send(5, TlpKind::memory_write, 0x1004, 3);
  bench.device(0).send(6, TlpKind::memory_read, 0x2010, 400, 7);
  bench.run();
  EXPECT_EQ(std::memcmp(bench.memory.at(0x1003), "\0\1\2\3\0", 5), 0);
  // At most 256 bytes each, and cut at multiples of 64.
  std::vector<std::uint32_t> sizes;
  std::uint32_t left = 400;
  for (const auto& [cycle, tlp] : bench.device(0).came) {
    EXPECT_EQ(tlp.kind, TlpKind::completion);
    EXPECT_EQ(tlp.tag, 7);
    EXPECT_EQ(tlp.remaining, left);
    EXPECT_EQ(tlp.data, std::vector<std::uint8_t>(tlp.bytes, 0xAB));
    left -= tlp.bytes;
    sizes.push_back(tlp.bytes);
  }
  EXPECT_EQ(left, 0U);
  EXPECT_EQ(sizes, (std::vector<std::uint32_t>{240, 160}));
}

TEST(RootComplex, AnAtomicReturnsWhatWasThere) {
  BenchOfRoot bench;
  bench.memory.at(0x80)[0] = 40;
  bench.device(1).send(1, TlpKind::fetch_add, 0x80, 4, 3);  // adds 0x04030201
  bench.run();
  ASSERT_EQ(bench.device(1).came.size(), 1U);
  EXPECT_EQ(bench.device(1).came[0].second.data, (std::vector<std::uint8_t>{40, 0, 0, 0}));
  EXPECT_EQ(std::memcmp(bench.memory.at(0x80), "\x29\x02\x03\x04", 4), 0);
}

TEST(RootComplex, ADamagedAtomicIsRefusedAndADamagedWriteDropped) {
  BenchOfRoot bench;
  bench.memory.at(0x80)[0] = 40;
  for (const TlpKind kind :
       {TlpKind::fetch_add, TlpKind::swap, TlpKind::compare_and_swap, TlpKind::memory_write})
    bench.device(1).send(1, kind, 0x80, 4, 3).poisoned = true;
  bench.run();
  ASSERT_EQ(bench.device(1).came.size(), 3U);
  for (const auto& [cycle, tlp] : bench.device(1).came) {
    EXPECT_EQ(tlp.status, CompletionStatus::unsupported_request);
    EXPECT_TRUE(tlp.data.empty());
  }
  Tlp loose;
  loose.kind = TlpKind::fetch_add;
  loose.requester = RootComplexCore::id_of(1);
  loose.address = 0x80;
  loose.bytes = 4;
  loose.data = {1, 0, 0, 0};
  loose.poisoned = true;
  Cycle at = bench.engine.now();
  bench.root.perform(loose, at);
  EXPECT_EQ(loose.status, CompletionStatus::unsupported_request);
  EXPECT_EQ(bench.memory.at(0x80)[0], 40);
}

TEST(RootComplex, NoSnoopIsCountedAndComesBackAndChangesNothing) {
  BenchOfRoot bench;
  bench.device(0).send(1, TlpKind::memory_write, 0x1000, 4).no_snoop = true;
  bench.device(0).send(1, TlpKind::memory_read, 0x1000, 4, 1).no_snoop = true;
  bench.device(0).send(1, TlpKind::memory_read, 0x1000, 4, 2);
  bench.run();
  EXPECT_EQ(bench.root.core().counters().no_snoop, 2U);
  ASSERT_EQ(bench.device(0).came.size(), 2U);
  for (const auto& [cycle, tlp] : bench.device(0).came) {
    EXPECT_EQ(tlp.no_snoop, tlp.tag == 1);
    EXPECT_EQ(tlp.data, (std::vector<std::uint8_t>{1, 2, 3, 4}));
  }
}

TEST(RootComplex, TheIommuLetsThroughWhatIsMappedAndNothingElse) {
  BenchOfRoot bench;
  Iommu& iommu = bench.root.core().iommu();
  iommu.enable(true);
  const auto domain = iommu.make_domain();
  iommu.attach(RootComplexCore::id_of(0), domain);
  ASSERT_TRUE(iommu.map(domain, {0x7000'0000, 4096, 0x3000, true, false}));
  bench.memory.at(0x3008)[0] = 0x5A;
  bench.device(0).send(1, TlpKind::memory_read, 0x7000'0008, 1, 1);
  bench.device(0).send(2, TlpKind::memory_write, 0x7000'0008, 1);
  bench.device(0).send(3, TlpKind::memory_read, 0x3008, 1, 2);
  bench.device(1).send(40, TlpKind::memory_read, 0x7000'0008, 1, 3);
  bench.run();
  ASSERT_EQ(bench.device(0).came.size(), 2U);
  const auto answer_of = [](test::ScriptedDevice& device, std::uint16_t tag) {
    for (const auto& [cycle, tlp] : device.came)
      if (tlp.tag == tag) return tlp;
    return Tlp{};
  };
  EXPECT_EQ(answer_of(bench.device(0), 1).data, std::vector<std::uint8_t>{0x5A});
  EXPECT_EQ(answer_of(bench.device(0), 2).status, CompletionStatus::unsupported_request);
  EXPECT_EQ(answer_of(bench.device(1), 3).status, CompletionStatus::unsupported_request);
  EXPECT_EQ(bench.memory.at(0x3008)[0], 0x5A);
  using Reason = IommuFault::Reason;
  ASSERT_EQ(iommu.faults().size(), 3U);
  EXPECT_EQ(iommu.faults()[0].reason, Reason::no_write);
  EXPECT_EQ(iommu.faults()[1].reason, Reason::unmapped);
  EXPECT_EQ(iommu.faults()[2].reason, Reason::no_domain);
  EXPECT_EQ(bench.root.core().counters().refused, 3U);
}

TEST(RootComplex, AnInterruptArrivesAfterTheWritesBeforeIt) {
  RootComplexParameters parameters;
  parameters.memory_channels = 4;
  parameters.channel_distance = 300;
  BenchOfRoot bench(1, parameters);
  bench.device(0).send(1, TlpKind::memory_write, 3 * 4096, 4);
  bench.device(0).send(1, TlpKind::memory_write, RootComplexCore::kInterruptWindow, 4);
  bool visible = false;
  Cycle heard = 0;
  bench.host.on_event([&](Cycle now) {
    heard = now;
    visible = bench.memory.at(3 * 4096)[0] == 1;
  });
  bench.run();
  ASSERT_EQ(bench.host.interrupts().size(), 1U);
  EXPECT_EQ(bench.host.interrupts()[0].data, 0x04030201U);
  EXPECT_TRUE(visible);
  EXPECT_GT(heard, 900U);
}

TEST(RootComplex, DevicesReachEachOtherIfTheyMay) {
  for (const bool allowed : {true, false}) {
    RootComplexParameters parameters;
    parameters.peer_to_peer = allowed;
    BenchOfRoot bench(2, parameters);
    bench.device(0).send(1, TlpKind::memory_write, BenchOfRoot::window(1) + 8, 4);
    bench.device(0).send(2, TlpKind::memory_read, BenchOfRoot::window(1) + 8, 4, 9);
    bench.run();
    EXPECT_EQ(bench.device(1).came.size(), allowed ? 2U : 0U);
    ASSERT_EQ(bench.device(0).came.size(), 1U);
    EXPECT_EQ(bench.device(0).came[0].second.status,
              allowed ? CompletionStatus::successful : CompletionStatus::unsupported_request);
    EXPECT_EQ(bench.root.core().counters().peer_to_peer, allowed ? 2U : 0U);
  }
}

TEST(RootComplex, WhatNobodyHasIsUnsupported) {
  BenchOfRoot bench;
  std::vector<HostBridge::Ticket> tickets;
  for (const std::uint64_t address :
       {std::uint64_t{1} << 20U, RootComplexCore::kInterruptWindow,
        BenchOfRoot::window(1) + BenchOfRoot::kWindowBytes, BenchOfRoot::window(0) - 4})
    tickets.push_back(bench.host.load(address, 4, 1));
  bench.host.store(std::uint64_t{1} << 50U, "abcd", 4, 1);
  bench.run();
  for (const auto ticket : tickets) {
    HostBridge::Answer answer;
    ASSERT_TRUE(bench.host.take(ticket, answer));
    EXPECT_EQ(answer.outcome, Outcome::unsupported_request);
  }
  EXPECT_EQ(bench.root.core().counters().unsupported, 5U);
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

TEST(RootComplex, BehindALinkThatIsDownIsNobody) {
  BenchOfRoot bench;
  bench.root.set_link(0, false);
  const auto ticket = bench.host.load(BenchOfRoot::window(0), 4, 1);
  bench.device(0).send(1, TlpKind::memory_write, 0x100, 4);
  bench.run();
  HostBridge::Answer answer;
  ASSERT_TRUE(bench.host.take(ticket, answer));
  EXPECT_EQ(answer.outcome, Outcome::unsupported_request);
  EXPECT_EQ(bench.memory.at(0x100)[0], 0);
  bench.root.set_link(0, true);
  const auto again = bench.host.load(BenchOfRoot::window(0), 4, bench.engine.now() + 1);
  bench.run();
  ASSERT_TRUE(bench.host.take(again, answer));
  EXPECT_EQ(answer.outcome, Outcome::done);
}

/// Device 0 and the host ask device 1, which answers when it is told to.
TEST(RootComplex, WhatWasAskedBeforeALinkWasDownIsNotAnswered) {
  for (const int reset : {-1, 0, 1}) {
    BenchOfRoot bench;
    ScriptedDevice& answering = bench.device(1);
    answering.answers = false;
    bench.device(0).send(1, TlpKind::memory_read, BenchOfRoot::window(1) + 8, 4, 9);
    const auto load = bench.host.load(BenchOfRoot::window(1) + 16, 4, 400);
    bench.run(1500);
    ASSERT_EQ(answering.came.size(), 2U);
    if (reset >= 0) bench.root.reset_link(static_cast<unsigned>(reset));
    for (unsigned i = 0; i < 2; ++i) answering.answer(answering.came[i].second);
    answering.wake(bench.engine.now() + 1);
    bench.run();
    EXPECT_EQ(bench.device(0).came.size(), reset < 0 ? 1U : 0U) << reset;
    HostBridge::Answer answer;
    ASSERT_TRUE(bench.host.take(load, answer));
    EXPECT_EQ(answer.outcome, reset == 1 ? Outcome::timeout : Outcome::done) << reset;
    EXPECT_EQ(bench.root.core().counters().dropped, reset < 0 ? 0U : reset == 0 ? 1U : 2U);

    bench.device(0).came.clear();
    answering.answers = true;
    bench.device(0).send(bench.engine.now() + 1, TlpKind::memory_read, BenchOfRoot::window(1), 4, 9);
    bench.run();
    EXPECT_EQ(bench.device(0).came.size(), 1U) << "what is asked after that is";
    EXPECT_EQ(bench.pool.in_use(), 0U);
  }
}

TEST(RootComplex, WhatWaitsToGoOnFromALinkThatWasDownIsNotRefusedToIt) {
  for (const bool reset : {false, true}) {
    RootComplexParameters parameters;
    parameters.forward_latency = 5000;
    BenchOfRoot bench(2, parameters);
    bench.device(0).send(1, TlpKind::memory_read, BenchOfRoot::window(1) + 8, 4, 9);
    bench.run(2000);
    if (reset) bench.root.reset_link(0);
    bench.root.set_link(1, false);
    bench.run();
    EXPECT_EQ(bench.device(0).came.size(), reset ? 0U : 1U);
    EXPECT_EQ(bench.pool.in_use(), 0U);
  }
}

TEST(RootComplex, AnAnswerThatDoesNotComeIsGivenUpInTime) {
  BenchOfRoot bench;
  bench.device(0).answers = false;
  const auto ticket = bench.host.load(BenchOfRoot::window(0), 4, 10);
  bench.run(10 + 4999);
  HostBridge::Answer answer;
  EXPECT_FALSE(bench.host.take(ticket, answer));
  bench.run(10 + 5000);
  ASSERT_TRUE(bench.host.take(ticket, answer));
  EXPECT_EQ(answer.outcome, Outcome::timeout);
}

TEST(RootComplex, WhatLeavesItCanBeLostDamagedOrRefused) {
  const std::vector<std::pair<Injection, Outcome>> rows = {{Injection::none, Outcome::done},
                                                           {Injection::lose, Outcome::timeout},
                                                           {Injection::damage, Outcome::poisoned},
                                                           {Injection::refuse, Outcome::unsupported_request}};
  for (const auto& [injection, outcome] : rows) {
    BenchOfRoot bench;
    bench.root.inject([what = injection](unsigned device, const Tlp& tlp) {
      return device == RootComplexCore::kHost && tlp.kind == TlpKind::completion ? what : Injection::none;
    });
    const auto ticket = bench.host.load(BenchOfRoot::window(0), 4, 1);
    bench.run();
    HostBridge::Answer answer;
    ASSERT_TRUE(bench.host.take(ticket, answer));
    EXPECT_EQ(answer.outcome, outcome);
    EXPECT_EQ(answer.data.size(), outcome == Outcome::done ? 4U : 0U);
    EXPECT_EQ(bench.pool.in_use(), 0U);
  }
}

TEST(HostBridge, LoadsBeyondItsTagsWaitInOrder) {
  BenchOfRoot bench;
  std::vector<HostBridge::Ticket> tickets;
  const unsigned more = BenchOfRoot::host_link().tags + 3;
  for (unsigned i = 0; i < more; ++i)
    tickets.push_back(bench.host.load(BenchOfRoot::window(0) + 4 * i, 4, 1));
  bench.run();
  ASSERT_EQ(bench.device(0).came.size(), more);
  for (unsigned i = 0; i < more; ++i)
    EXPECT_EQ(bench.device(0).came[i].second.address, BenchOfRoot::window(0) + 4 * i);
  for (const auto ticket : tickets) {
    HostBridge::Answer answer;
    EXPECT_TRUE(bench.host.take(ticket, answer));
    EXPECT_FALSE(bench.host.take(ticket, answer)) << "an answer is taken once";
  }
}

TEST(HostBridge, ALateAnswerIsNobodyElses) {
  BenchOfRoot bench;
  bench.device(0).answers = false;
  const auto given_up = bench.host.load(BenchOfRoot::window(0), 4, 1);
  bench.run(6000);
  HostBridge::Answer answer;
  ASSERT_TRUE(bench.host.take(given_up, answer));
  const Tlp late = bench.device(0).came.at(0).second;
  bench.device(0).answers = true;
  std::vector<HostBridge::Ticket> tickets;
  for (unsigned i = 1; i <= 200; ++i)
    tickets.push_back(bench.host.load(BenchOfRoot::window(0) + 8 * i, 1, 6001));
  bench.device(0).answer(late);
  bench.device(0).wake(6100);
  bench.run();
  for (unsigned i = 1; i <= 200; ++i) {
    ASSERT_TRUE(bench.host.take(tickets[i - 1], answer));
    EXPECT_EQ(answer.data, std::vector<std::uint8_t>{static_cast<std::uint8_t>(8 * i)});
  }
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

TEST(RootComplex, WindowsLieApartFromAllElse) {
  BenchOfRoot bench;
  RootComplexCore& core = bench.root.core();
  using Window = RootComplexCore::Window;
  ASSERT_TRUE(bench.windows_placed);
  EXPECT_FALSE(core.set_window(0, Window::wide, 0x1000, 0x1000)) << "memory";
  EXPECT_FALSE(core.set_window(0, Window::wide, RootComplexCore::kInterruptWindow + 4096, 4096));
  EXPECT_FALSE(core.set_window(0, Window::wide, BenchOfRoot::window(1) + 4096, 4096)) << "another port's";
  EXPECT_FALSE(core.set_window(0, Window::narrow, 0xFFFF'F000, 0x2000)) << "beyond 4 GiB";
  EXPECT_FALSE(core.set_window(0, Window::wide, ~std::uint64_t{0} - 4095, 8192)) << "beyond the end";
  EXPECT_FALSE(core.set_window(0, Window::narrow, 0xF000'0800, 0x1000)) << "begins within a page";
  EXPECT_FALSE(core.set_window(0, Window::narrow, 0xF000'0000, 0x0800)) << "ends within a page";
  EXPECT_TRUE(core.set_window(0, Window::narrow, 0xF000'0000, 0x1000));
  EXPECT_TRUE(core.set_window(0, Window::wide, 0, 0));
}

TEST(RootComplex, ACompletionThatIsTooLongForTheLinkOfItsRequesterIsCut) {
  std::vector<LinkParameters> links(2);
  links[0].max_payload = 128;
  links[1].max_payload = 512;
  BenchOfRoot bench(links);
  constexpr std::uint64_t kOffset = 0x1010;
  bench.device(0).send(1, TlpKind::memory_read, BenchOfRoot::window(1) + kOffset, 500, 3);
  EXPECT_EQ(bench.run(), RunOutcome::quiescent);
  std::uint32_t left = 500;
  std::uint64_t address = kOffset;
  for (const auto& [cycle, tlp] : bench.device(0).came) {
    ASSERT_EQ(malformation(tlp, 128, 0), "");
    EXPECT_EQ(tlp.remaining, left);
    EXPECT_EQ(tlp.address % 4096, address % 4096);
    for (const std::uint8_t byte : tlp.data) ASSERT_EQ(byte, static_cast<std::uint8_t>(address++));
    left -= tlp.bytes;
    EXPECT_TRUE(left == 0 || address % 64 == 0) << "at a read completion boundary";
  }
  EXPECT_EQ(left, 0U);
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

}  // namespace root_complex_test
}  // namespace warpline
