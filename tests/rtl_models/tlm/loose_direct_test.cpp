// Direct memory access, and how the two kinds of time keep apart.
#define SC_INCLUDE_DYNAMIC_PROCESSES
#include <gtest/gtest.h>

#include "rtl_models/sim/memory_image.h"
#include "rtl_models/tlm/engine_process.h"
#include "tests/rtl_models/tlm/loose_netlists.h"

namespace warpline::test {
namespace loose_direct_test {

using Range = LooseInitiator::Range;
const Range kAll{0, ~sc_dt::uint64{0}};

/// What a socket says about direct access.
struct Said {
  bool hint_vidmem = false, hint_sysmem = false, hint_beyond = false;
  bool vidmem_read = false, vidmem_write = false, sysmem = false, beyond = false, alias = false;
  tlm::tlm_dmi dmi, refused;
  tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;

  void ask(LooseInitiator& i) {
    sc_core::sc_time delay;
    Access v = access(tlm::TLM_READ_COMMAND, 0x100, 8), s = access(tlm::TLM_READ_COMMAND, kSysmem, 8),
           b = access(tlm::TLM_READ_COMMAND, kMemory, 8);
    hint_vidmem = i.call(v, delay);
    status = v.status;
    hint_sysmem = i.call(s, delay);
    hint_beyond = i.call(b, delay);
    hint_vidmem = i.call(v, delay) && hint_vidmem;
    sysmem = i.direct(tlm::TLM_READ_COMMAND, kSysmem + 8, refused);
    beyond = i.direct(tlm::TLM_READ_COMMAND, kMemory, refused);
    tlm::tlm_dmi none;
    alias = i.direct(tlm::TLM_READ_COMMAND, std::uint64_t{1} << 62U, none);
    vidmem_read = i.direct(tlm::TLM_READ_COMMAND, 0x180, dmi);  // of another slice than 0x100
    vidmem_write = i.direct(tlm::TLM_WRITE_COMMAND, 0x100, dmi);
  }
  [[nodiscard]] bool nothing() const {
    return !hint_vidmem && !vidmem_read && !vidmem_write && !others() && dmi.is_none_allowed();
  }
  [[nodiscard]] bool others() const { return hint_sysmem || hint_beyond || sysmem || beyond || alias; }
};

struct Asked {
  Said l1, crossbar, texture, constant;
  bool uncounted = false, same_bytes = false;
  Driven netlist;
  Asked(const std::string& name, const Build& build)
      : netlist(
            name, build, [this](LooseInitiator& i) { l1.ask(i); },
            [this](LooseInitiator& i) {
              crossbar.ask(i);
              use(i);
            },
            [this](LooseInitiator& i) { texture.ask(i); }, [this](LooseInitiator& i) { constant.ask(i); }) {}
  void use(LooseInitiator& i) {
    if (!crossbar.vidmem_write) return;
    const auto before = netlist.subsystem.counters();
    for (unsigned n = 0; n < 64; ++n)
      crossbar.dmi.get_dmi_ptr()[0x700 + n - crossbar.dmi.get_start_address()] = static_cast<std::uint8_t>(n);
    uncounted = netlist.subsystem.counters() == before;
    Access a = access(tlm::TLM_READ_COMMAND, 0x700, 64);
    sc_core::sc_time delay;
    i.call(a, delay);
    same_bytes = a.data == access(tlm::TLM_READ_COMMAND, 0x700, 64, 0).data;
  }
};

/// Our crossbar over a slice of somebody else's that grants, and takes back; two clients, of whom one asks.
struct ForeignSlice {
  EngineProcess engine{"foreign_engine", 1000};
  CrossbarModule crossbar{"foreign", engine, {}, {}, 2, 1, {}, true};
  LooseMemory l2{"foreign_l2", {}};
  bool hinted = false, granted = false;
  std::size_t after_part = 0, after_all = 0;
  LooseInitiator asks{"foreign_asks", [this](LooseInitiator& i) { run(i); }};
  LooseInitiator other{"foreign_other", [](LooseInitiator&) {}};
  ForeignSlice() {
    l2.direct.resize(0x1000);
    bind_checked(crossbar.to_l2[0], l2.socket);
    bind_checked(asks.socket, crossbar.from_client[0]);
    bind_checked(other.socket, crossbar.from_client[1]);
    engine.set_loose(true);
  }
  void run(LooseInitiator& i) {
    Access a = access(tlm::TLM_READ_COMMAND, 0x100, 8);
    sc_core::sc_time delay;
    hinted = i.call(a, delay);
    tlm::tlm_dmi dmi;
    granted = i.direct(tlm::TLM_READ_COMMAND, 0x200, dmi) && dmi.get_dmi_ptr() == l2.direct.data() &&
              dmi.get_end_address() == 0xFFF;
    l2.socket->invalidate_direct_mem_ptr(0x200, 0x2FF);
    after_part = i.invalidated.size();
    l2.socket->invalidate_direct_mem_ptr(0, ~sc_dt::uint64{0});
    after_all = i.invalidated.size();
    static_cast<void>(i.direct(tlm::TLM_READ_COMMAND, 0x200, dmi));
  }
};

/// b_transport at rest and not, where time is timed; nb_transport where it is loose.
struct Kinds {
  Access at_rest = access(tlm::TLM_WRITE_COMMAND, 0x40, 8, 3), amid = access(tlm::TLM_READ_COMMAND, 0, 8),
         after = access(tlm::TLM_READ_COMMAND, 0x40, 8), wrong_kind = access(tlm::TLM_READ_COMMAND, 0, 8);
  sc_core::sc_time waited_for;
  Driven timed{"timed",
               {HopTransport::direct, false},
               [this](LooseInitiator& i) {
                 waited_for = i.loose(at_rest);
                 wait(ns(500));
                 Access a = access(tlm::TLM_READ_COMMAND, kSysmem, 8);
                 i.timed(a);
                 wait(ns(2000));
                 i.loose(after);
               },
               [this](LooseInitiator& i) {
                 wait(ns(600));
                 i.loose(amid);
               }};
  Driven loose{"loose", {}, [this](LooseInitiator& i) { i.timed(wrong_kind); }};
};

/// A switch of time while somebody is blocked below.
struct Blocked {
  EngineProcess engine{"blocked_engine", 1000};
  CrossbarModule crossbar{"blocked", engine, {}, {}, 1, 1, {}, true};
  LooseMemory l2{"blocked_l2", {ns(100), {}}};
  bool remained = false, switched = false;
  LooseInitiator asks{"blocked_asks", [](LooseInitiator& i) {
                        Access a = access(tlm::TLM_READ_COMMAND, 0, 8);
                        i.loose(a);
                      }};
  Blocked() {
    bind_checked(crossbar.to_l2[0], l2.socket);
    bind_checked(asks.socket, crossbar.from_client[0]);
    engine.set_loose(true);
    sc_core::sc_spawn([this] {
      wait(ns(50));
      engine.set_loose(false);
      remained = engine.is_loose();
      wait(ns(100));
      engine.set_loose(false);
      switched = !engine.is_loose();
    });
  }
};

struct Simulation {
  Asked direct{"direct", {}}, socket{"socket", {HopTransport::socket}};
  Asked tags_only{"tags_only", {HopTransport::direct, true, 2, false}};
  Asked timed{"timed_asked", {HopTransport::direct, false}};
  ForeignSlice foreign;
  Kinds kinds;
  Blocked blocked;
  std::vector<std::vector<Range>> first, second;  ///< what clients of direct and socket were told, per switch
  Simulation() {
    sc_core::sc_report_handler::set_handler(note_report);
    sc_core::sc_start();
    first = take_back();
    for (Asked* a : {&direct, &socket}) {
      a->netlist.subsystem.engine.set_loose(true);
      tlm::tlm_dmi dmi;
      static_cast<void>(a->netlist.crossbar.direct(tlm::TLM_READ_COMMAND, 0, dmi));
    }
    second = take_back();
    foreign.asks.invalidated.clear();
    foreign.engine.set_loose(false);
  }
  std::vector<std::vector<Range>> take_back() {
    std::vector<std::vector<Range>> all;
    for (Asked* a : {&direct, &socket}) {
      a->netlist.subsystem.engine.set_loose(false);
      for (LooseInitiator* i : {&a->netlist.crossbar, &a->netlist.l1, &a->netlist.texture}) {
        all.push_back(i->invalidated);
        i->invalidated.clear();
      }
      a->netlist.subsystem.engine.set_loose(false);  // it is so already
    }
    return all;
  }
};
Simulation& simulation() {
  static Simulation s;
  return s;
}

TEST(LooseDirect, VideoMemoryIsGrantedWholeWhereNoCacheIsAbove) {
  for (const Asked* a : {&simulation().direct, &simulation().socket}) {
    SCOPED_TRACE(a->netlist.l1.name());
    const Said& s = a->crossbar;
    EXPECT_TRUE(s.hint_vidmem && s.vidmem_read && s.vidmem_write);
    EXPECT_TRUE(s.dmi.is_read_write_allowed());
    EXPECT_EQ(s.dmi.get_start_address(), 0U);
    EXPECT_EQ(s.dmi.get_end_address(), kMemory - 1);
    EXPECT_EQ(s.dmi.get_dmi_ptr(), const_cast<MemoryImage&>(a->netlist.subsystem.vidmem).at(0));
    EXPECT_FALSE(s.others());
    EXPECT_TRUE(a->uncounted);
    EXPECT_TRUE(a->same_bytes);
    EXPECT_TRUE(a->l1.nothing() && a->texture.nothing() && a->constant.nothing());
  }
}

TEST(LooseDirect, ARefusalSaysOfWhichAddresses) {
  const tlm::tlm_dmi& refused = simulation().direct.crossbar.refused;
  EXPECT_TRUE(refused.is_none_allowed());
  EXPECT_EQ(refused.get_start_address(), kMemory);
  EXPECT_EQ(refused.get_end_address(), ~sc_dt::uint64{0});
}

TEST(LooseDirect, NothingIsGrantedWithoutDataOrWhereTimeIsTimed) {
  for (const Asked* a : {&simulation().tags_only, &simulation().timed})
    EXPECT_TRUE(a->crossbar.nothing() && a->l1.nothing()) << a->netlist.l1.name();
}

TEST(LooseDirect, IsTakenBackOnceWhenTimeIsTimedAgain) {
  const std::vector<std::vector<Range>> once = {{kAll}, {}, {}, {kAll}, {}, {}};
  EXPECT_EQ(simulation().first, once);
  EXPECT_EQ(simulation().second, once);
}

TEST(LooseDirect, WhatAForeignSliceTakesBackReachesThoseWhoHaveIt) {
  const ForeignSlice& f = simulation().foreign;
  EXPECT_TRUE(f.hinted && f.granted);
  EXPECT_EQ(f.after_part, 1U);
  EXPECT_EQ(f.after_all, 2U);
  EXPECT_EQ(f.asks.invalidated, std::vector<Range>{kAll});
  EXPECT_EQ(f.other.invalidated, std::vector<Range>{});
}

TEST(LooseDirect, TheTwoKindsOfTimeChangeOverAtRest) {
  const Kinds& k = simulation().kinds;
  EXPECT_EQ(k.at_rest.status, tlm::TLM_OK_RESPONSE);
  EXPECT_GT(k.waited_for, sc_core::SC_ZERO_TIME);
  EXPECT_EQ(k.amid.status, tlm::TLM_OK_RESPONSE) << "it takes its turn";
  EXPECT_EQ(reported("timed_crossbar.from_client_3", "b_transport"), 0);
  EXPECT_EQ(k.after.data, k.at_rest.data);
  EXPECT_EQ(k.wrong_kind.status, tlm::TLM_GENERIC_ERROR_RESPONSE);
  EXPECT_EQ(reported("loose_l1.from_sm", "nb_transport_fw"), 1);
  const Blocked& b = simulation().blocked;
  EXPECT_TRUE(b.remained && b.switched);
  EXPECT_EQ(reported("blocked_engine", "set_loose"), 1);
  EXPECT_EQ(reports().size(), 2U);
}

}  // namespace loose_direct_test
}  // namespace warpline::test
