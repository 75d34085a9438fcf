#include <gtest/gtest.h>

#include "rtl_models/l1_lg/l1_lg.h"
#include "rtl_models/sim/loose_hop.h"
#include "tests/support/mock_components.h"

namespace warpline::test {
namespace l1_lg_loose_test {

/// Cycles from the answer to the first of two writes of whole lines to the answer to the second, sent as soon
/// as the hop to L1 lets them.
Cycle between_answers(bool loose, const HopParameters& hop) {
  Engine engine;
  ByteMask all;
  all.set(0, kLineBytes);
  std::vector<Item> items;
  for (std::uint64_t n = 0; n < 2; ++n) {
    items.push_back(write_item(0, PhysicalAddress{n * kLineBytes}, all));
    items.back().request.virtual_line = VirtualAddress{n * kLineBytes};
    items.back().request.local = true;  // kept in L1
  }
  Requester requester(engine, "requester", {}, items);
  L1Lg l1(engine, "l1", {}, L1LgParameters{}, true);
  Target below(engine, "below", {}, 1, 1);
  connect(requester.out, l1.from_sm, hop.request);
  connect(l1.to_sm, requester.in, hop.response);
  connect(l1.to_crossbar, below.in, {});
  connect(below.out, l1.from_crossbar, {});
  LooseHop in_between(requester.out, requester.in);
  in_between.set_loose(loose);
  EXPECT_EQ(engine.run_until(kNever - 1), RunOutcome::quiescent);
  return requester.answers[1].answered - requester.answers[0].answered;
}

TEST(L1LgLoose, AWriteHoldsTheWireForItsBeatsOnTheRequestChannel) {
  HopParameters hop;
  hop.request.width = 32;
  hop.response.width = 128;
  EXPECT_EQ(between_answers(false, hop), 4U);
  EXPECT_EQ(between_answers(true, hop), 4U);
  std::swap(hop.request.width, hop.response.width);
  EXPECT_EQ(between_answers(false, hop), 1U);
  EXPECT_EQ(between_answers(true, hop), 1U);
}

}  // namespace l1_lg_loose_test
}  // namespace warpline::test
