// Prefetches across invalidations (R1): every order of their requests, their fills and what invalidates.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "rtl_models/l1_lg/l1_lg_core.h"

namespace warpline {
namespace l1_lg_interleaving_test {

/// What drops a line, or all of its kind.
struct Killer {
  const char* name;
  std::set<LineKind> kinds;  ///< of lines that it drops
  std::function<void(L1LgCore&, const Request&)> act;
};

void control(L1LgCore& core, Request r, LineControl what) {
  r.command = Command::control;
  r.control = what;
  r.surface = false;  // an address, not a proxy
  static_cast<void>(core.control_line(r));
}

const std::vector<Killer> kKillers = {
    {"CCTL.IV",
     {LineKind::global, LineKind::local, LineKind::surface},
     [](L1LgCore& c, const Request& r) { control(c, r, LineControl::invalidate); }},
    {"CCTL.RS",
     {LineKind::global, LineKind::local, LineKind::surface},
     [](L1LgCore& c, const Request& r) { control(c, r, LineControl::reset); }},
    {"acquire", {LineKind::global}, [](L1LgCore& c, const Request&) { c.invalidate_global(); }},
    {"CCTLL.IVALL", {LineKind::local}, [](L1LgCore& c, const Request&) { c.invalidate_local(); }},
    {"fence.proxy.surface", {LineKind::surface}, [](L1LgCore& c, const Request&) {
       c.invalidate_surfaces();
     }}};

/// One line, a memory whose bytes tell how often it was written, and two prefetches or loads of the line.
class Play {
 public:
  Play(LineKind kind, bool dropped) : core_(parameters(), true), dropped_(dropped) {
    line_.local = kind == LineKind::local;
    line_.surface = kind == LineKind::surface;
    line_.sectors = kAllSectors;
    line_.virtual_line = VirtualAddress{line_.local ? std::uint64_t{1} << 63U : 0};
  }
  /// `a`, `b`: requests; `A`, `B`: their fills; `K`: memory is written and the line dropped.
  void step(char what, const Killer& killer, bool load) {
    if (what == 'K') {
      killer.act(core_, line_);
      if (dropped_) killed_at_ = ++version_;
      return;
    }
    const unsigned n = what == 'a' || what == 'A' ? 0 : 1;
    if (what == 'a' || what == 'b') {
      Request& r = requests_[n];
      r = line_;
      // The second may be a load that joins the first's fetch, or finds the line.
      const ReadOutcome out = load && n == 1 ? core_.read(r) : core_.prefetch(r);
      fetched_[n] = out.fetch != 0;
      if (load && n == 1 && out.kind == ReadOutcome::Kind::hit) check(r);
      Request& fetch = fills_[n];
      fetch = line_;
      fetch.sectors = out.fetch;
      fetch.token = out.entry;
      fetch.data.fill(version_);
      return;
    }
    if (!fetched_[n]) return;  // it joined the other, or hit
    RequestList served;
    static_cast<void>(core_.fill(fills_[n], served));
  }
  /// What a load finds at the end is no older than the invalidation.
  void finish() {
    Request r = line_;
    const ReadOutcome out = core_.read(r);
    if (out.kind == ReadOutcome::Kind::hit) check(r);
    hit = out.kind == ReadOutcome::Kind::hit;
  }
  bool hit = false;

 private:
  static L1LgParameters parameters() {
    L1LgParameters p;
    p.geometry = {2, 2};
    p.miss_registers = 4;
    return p;
  }
  void check(const Request& r) const {
    for (const std::uint8_t byte : r.data) ASSERT_GE(byte, killed_at_);
  }
  L1LgCore core_;
  bool dropped_;  ///< the line is of a kind that is dropped
  Request line_;
  Request requests_[2], fills_[2];
  bool fetched_[2] = {};
  std::uint8_t version_ = 1, killed_at_ = 0;
};

TEST(L1LgInterleavings, APrefetchAcrossAnInvalidationInstallsNothing) {
  unsigned orders = 0, hits = 0, misses = 0;
  for (const Killer& killer : kKillers)
    for (const LineKind kind : {LineKind::global, LineKind::local, LineKind::surface}) {
      const bool kills = killer.kinds.count(kind) != 0;
      for (const bool load : {false, true}) {
        std::string order = "ABKab";
        std::sort(order.begin(), order.end());
        do {
          if (order.find('A') < order.find('a') || order.find('B') < order.find('b')) continue;
          SCOPED_TRACE(std::string(killer.name) + ", kind " + std::to_string(static_cast<int>(kind)) + ", " +
                       order + (load ? " load" : ""));
          Play play(kind, kills);
          for (const char what : order) play.step(what, killer, load);
          play.finish();
          // The line is there if it is of another kind, or if a request came after the invalidation and its
          // fill, or the one that it joined, is back: nothing is dropped that need not be.
          const std::size_t k = order.find('K');
          const bool asked_later = order.find('a') > k || order.find('b') > k;
          EXPECT_EQ(play.hit, asked_later || !kills);
          ++orders;
          ++(play.hit ? hits : misses);
        } while (std::next_permutation(order.begin(), order.end()));
      }
    }
  EXPECT_EQ(orders, kKillers.size() * kLineKinds * 2 * 30);
  EXPECT_GT(hits, 0U);
  EXPECT_GT(misses, 0U);
}

}  // namespace l1_lg_interleaving_test
}  // namespace warpline
