#include "rtl_models/pcie/packets/tlp_rules.h"

#include <gtest/gtest.h>

#include <array>

#include "rtl_models/pcie/packets/link_parameters.h"
#include "tests/rtl_models/pcie/packets/packets.h"

namespace warpline {
namespace tlp_rules_test {

using test::packet;

TEST(TlpRules, PacketsOfEachKindAreInTheClassThatFlowControlKnows) {
  for (const TlpKind kind : test::kAllTlpKinds) {
    const TlpClass expected = kind == TlpKind::memory_write ? TlpClass::posted
                              : kind == TlpKind::completion ? TlpClass::completion
                                                            : TlpClass::non_posted;
    EXPECT_EQ(class_of(kind), expected) << static_cast<int>(kind);
    EXPECT_EQ(packet(kind, 0, 4).posted(), expected == TlpClass::posted);
  }
}

struct Passing {
  TlpKind later;
  bool relaxed;
  TlpKind earlier;
  bool same_read;
  bool may;
};

// Rows and columns of the ordering table of the PCI Express base specification.
TEST(TlpRules, WhatMayPassWhatIsTheOrderingTable) {
  using K = TlpKind;
  const std::array<Passing, 24> table = {{
      {K::memory_write, false, K::memory_write, false, false},
      {K::memory_write, true, K::memory_write, false, true},
      {K::memory_write, false, K::memory_read, false, true},
      {K::memory_write, false, K::swap, false, true},
      {K::memory_write, false, K::config_write, false, true},
      {K::memory_write, false, K::completion, false, true},
      {K::memory_read, false, K::memory_write, false, false},
      {K::memory_read, true, K::memory_write, false, false},
      {K::memory_read, false, K::memory_read, false, true},
      {K::memory_read, false, K::fetch_add, false, true},
      {K::memory_read, false, K::completion, false, true},
      {K::fetch_add, false, K::memory_write, false, false},
      {K::fetch_add, true, K::memory_write, false, true},
      {K::compare_and_swap, false, K::memory_read, false, true},
      {K::config_read, false, K::memory_write, false, false},
      {K::config_write, false, K::memory_write, false, false},
      {K::config_write, false, K::completion, false, true},
      {K::completion, false, K::memory_write, false, false},
      {K::completion, true, K::memory_write, false, true},
      {K::completion, false, K::memory_read, false, true},
      {K::completion, false, K::config_read, false, true},
      {K::completion, false, K::completion, false, true},
      {K::completion, false, K::completion, true, false},
      {K::completion, true, K::completion, true, false},
  }};
  for (std::size_t i = 0; i < table.size(); ++i) {
    const Passing& row = table[i];
    Tlp later = packet(row.later, 0x100, 4), earlier = packet(row.earlier, 0x200, 4);
    later.relaxed_ordering = row.relaxed;
    later.tag = 7;
    earlier.tag = row.same_read ? 7 : 8;
    EXPECT_EQ(may_pass(later, earlier), row.may) << "row " << i;
    earlier.relaxed_ordering = true;
    EXPECT_EQ(may_pass(later, earlier), row.may) << "row " << i << ": what is passed need not be relaxed";
  }
}

TEST(TlpRules, ReadsOfTwoFunctionsWithOneTagAreNotTheSame) {
  Tlp later = packet(TlpKind::completion, 0, 4), earlier = later;
  later.requester = function_id(1, 0, 0);
  earlier.requester = function_id(2, 0, 0);
  EXPECT_TRUE(may_pass(later, earlier));
}

TEST(TlpRules, WellFormedPacketsOfEveryKindAreAccepted) {
  for (const TlpKind kind : test::kAllTlpKinds) EXPECT_EQ(malformation(packet(kind, 8, 4), 128, 128), "");
  EXPECT_EQ(malformation(packet(TlpKind::memory_write, 0xF80, 128), 128, 128), "");
  EXPECT_EQ(malformation(packet(TlpKind::memory_read, 0xE00, 512), 128, 512), "");
  EXPECT_EQ(malformation(packet(TlpKind::memory_read, 0xFFF, 0), 128, 512), "") << "a flush";
  EXPECT_EQ(malformation(packet(TlpKind::compare_and_swap, 16, 16), 128, 512), "");
  EXPECT_EQ(malformation(packet(TlpKind::config_write, 0xFFF, 1), 128, 512), "");
  Tlp refusal = packet(TlpKind::completion, 0, 0);
  refusal.status = CompletionStatus::unsupported_request;
  refusal.remaining = 64;
  EXPECT_EQ(malformation(refusal, 128, 128), "");
}

TEST(TlpRules, EveryMalformationIsNamed) {
  const auto expect_fault = [](const Tlp& tlp, const std::string& part) {
    const std::string why = malformation(tlp, 128, 512);
    EXPECT_NE(why.find(part), std::string::npos) << "'" << why << "' without '" << part << "'";
  };
  expect_fault(packet(TlpKind::memory_write, 0, 129), "more than 128");
  expect_fault(packet(TlpKind::completion, 0, 129), "more than 128");
  expect_fault(packet(TlpKind::memory_read, 0, 513), "more than 512");
  expect_fault(packet(TlpKind::memory_read, 0xFFF, 2), "4 KiB");
  expect_fault(packet(TlpKind::memory_write, 0xFFFFFFFFFFFFFFFE, 4), "4 KiB");
  expect_fault(packet(TlpKind::fetch_add, 2, 4), "multiple");
  expect_fault(packet(TlpKind::swap, 4, 8), "multiple");
  expect_fault(packet(TlpKind::compare_and_swap, 8, 16), "multiple");
  expect_fault(packet(TlpKind::fetch_add, 16, 16), "no atomics of 16");
  expect_fault(packet(TlpKind::swap, 0, 0), "no atomics of 0");
  expect_fault(packet(TlpKind::compare_and_swap, 0, 2), "no atomics of 2");
  expect_fault(packet(TlpKind::config_read, 4096, 4), "ends at 4096");
  expect_fault(packet(TlpKind::config_read, 2, 4), "one register");
  expect_fault(packet(TlpKind::config_write, 0, 0), "one register");
  for (const TlpKind kind : test::kAllTlpKinds) {
    Tlp tlp = packet(kind, 0, 4);
    tlp.data.push_back(0);
    expect_fault(tlp, "instead of");
    if (tlp.data.size() == 1) continue;
    tlp.data.resize(tlp.data.size() - 2);
    expect_fault(tlp, "instead of");
  }
  Tlp completion = packet(TlpKind::completion, 0, 8);
  completion.remaining = 4;
  expect_fault(completion, "8 bytes of 4");
  completion.status = CompletionStatus::completer_abort;
  expect_fault(completion, "instead of 0");
}

TEST(TlpRules, AtomicsChangeMemoryAndAnswerWhatWasThere) {
  const auto perform = [](TlpKind kind, std::vector<std::uint8_t> operands,
                          std::vector<std::uint8_t> memory) {
    Tlp tlp = packet(kind, 0, static_cast<std::uint32_t>(memory.size()));
    tlp.data = std::move(operands);
    const std::vector<std::uint8_t> before = memory;
    perform_atomic(tlp, memory.data());
    EXPECT_EQ(tlp.data, before);
    return memory;
  };
  using Bytes = std::vector<std::uint8_t>;
  EXPECT_EQ(perform(TlpKind::fetch_add, {1, 0, 0, 0}, {0xFF, 0xFF, 0, 0}), (Bytes{0, 0, 1, 0}));
  EXPECT_EQ(perform(TlpKind::fetch_add, {2, 0, 0, 0}, {0xFF, 0xFF, 0xFF, 0xFF}), (Bytes{1, 0, 0, 0}));
  EXPECT_EQ(perform(TlpKind::fetch_add, {1, 0, 0, 0, 0, 0, 0, 0}, {0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 7}),
            (Bytes{0, 0, 0, 0, 1, 0, 0, 7}));
  EXPECT_EQ(perform(TlpKind::swap, {1, 2, 3, 4}, {5, 6, 7, 8}), (Bytes{1, 2, 3, 4}));
  EXPECT_EQ(perform(TlpKind::compare_and_swap, {5, 6, 7, 8, 1, 2, 3, 4}, {5, 6, 7, 8}), (Bytes{1, 2, 3, 4}));
  EXPECT_EQ(perform(TlpKind::compare_and_swap, {5, 6, 7, 9, 1, 2, 3, 4}, {5, 6, 7, 8}), (Bytes{5, 6, 7, 8}));
  Bytes wide(32, 0), memory(16, 0);
  wide[31] = 9;
  EXPECT_EQ(perform(TlpKind::compare_and_swap, wide, memory)[15], 9);
  memory[15] = 1;
  EXPECT_EQ(perform(TlpKind::compare_and_swap, wide, memory)[15], 1);
}

TEST(TlpPool, APacketComesBackAsNewAndKeepsNothingOfItsPast) {
  TlpPool pool;
  Tlp* first = pool.allocate();
  EXPECT_EQ(pool.in_use(), 1U);
  *first = packet(TlpKind::completion, 0x123, 8);
  first->poisoned = true;
  pool.release(first);
  EXPECT_EQ(pool.in_use(), 0U);
  Tlp* again = pool.allocate();
  EXPECT_EQ(again, first) << "it is recycled";
  EXPECT_EQ(again->kind, TlpKind::memory_read);
  EXPECT_EQ(again->address, 0U);
  EXPECT_FALSE(again->poisoned);
  EXPECT_TRUE(again->data.empty());
  EXPECT_NE(pool.allocate(), again);
}

TEST(LinkParameters, EveryBrokenRuleIsNamedAtOnce) {
  EXPECT_TRUE(LinkParameters{}.problems("link").empty());
  LinkParameters none{0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  const Problems problems = none.problems("link");
  EXPECT_EQ(problems.size(), 10U);
  EXPECT_EQ(problems.front().path, "link.latency");
  for (const unsigned bad : {64U, 192U, 8192U}) {
    LinkParameters p;
    p.max_payload = bad;
    ASSERT_EQ(p.problems("link").size(), 1U) << bad;
    EXPECT_EQ(p.problems("link").front().path, "link.max_payload");
  }
  LinkParameters hasty;
  hasty.completion_timeout = 2 * hasty.latency;
  EXPECT_EQ(hasty.problems("link").size(), 1U);
}

}  // namespace tlp_rules_test
}  // namespace warpline
