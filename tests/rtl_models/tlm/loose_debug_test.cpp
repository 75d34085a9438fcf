// Debug transport: what a debugger reads and writes is what programs would find, and nobody notices.
#include <gtest/gtest.h>

#include "rtl_models/tlm/engine_module.h"
#include "tests/rtl_models/tlm/loose_netlists.h"

namespace warpline::test {
namespace loose_debug_test {

constexpr std::uint64_t kLocal = 0x8000;

Request local_write(std::uint64_t line) {
  Request r;
  r.command = Command::write;
  r.local = true;
  r.virtual_line = VirtualAddress{line};
  return r;
}

/// Reads as a debugger.
std::vector<std::uint8_t> look(LooseInitiator& i, std::uint64_t address, std::size_t length) {
  Access a = access(tlm::TLM_READ_COMMAND, address, length);
  a.data.resize(i.debug(a));
  return a.data;
}
/// Writes as a debugger.
unsigned poke(LooseInitiator& i, std::uint64_t address, std::size_t length, std::uint8_t value) {
  Access a = access(tlm::TLM_WRITE_COMMAND, address, length, value);
  return i.debug(a);
}
std::vector<std::uint8_t> run_of(std::size_t length, std::uint8_t value) {
  return access(tlm::TLM_READ_COMMAND, 0, length, value).data;
}
void store(LooseInitiator& i, std::uint64_t address, std::size_t length, std::uint8_t value,
           Request* model = nullptr) {
  Access a = access(tlm::TLM_WRITE_COMMAND, address, length, value);
  sc_core::sc_time delay;
  i.call(a, delay, model);
}
std::vector<std::uint8_t> load(LooseInitiator& i, std::uint64_t address, std::size_t length,
                               Request* model = nullptr) {
  Access a = access(tlm::TLM_READ_COMMAND, address, length);
  sc_core::sc_time delay;
  i.call(a, delay, model);
  return a.data;
}

/// What was to be so and was not, by line of this file.
struct Notes {
  std::vector<int> wrong;
  void expect(bool right, int line) {
    if (!right) wrong.push_back(line);
  }
};
#define EXPECT_NOTED(condition) notes.expect((condition), __LINE__)

struct Scenes {
  Notes notes;
  std::map<std::string, std::uint64_t> before;
  Driven netlist;
  explicit Scenes(HopTransport t)
      : netlist(text("scenes", std::to_string(static_cast<int>(t))), {t},
                [this](LooseInitiator& i) { play(i, netlist.subsystem, netlist.crossbar); }) {}

  void play(LooseInitiator& i, Subsystem& s, LooseInitiator& below) {
    dirty_bytes_are_seen(i, s, below);
    writes_reach_copies_and_memory(i, s);
    other_names_for_lines(i, s);
    ends_of_memory(i);
  }
  void dirty_bytes_are_seen(LooseInitiator& i, Subsystem& s, LooseInitiator& below) {
    for (unsigned n = 0; n < 0x400; ++n) *s.vidmem.at(kLocal + n) = 0xEE;
    Request r = local_write(kLocal + 0x80);
    store(i, kLocal + 0x85, 50, 1, &r);
    store(i, kSysmem + 0x100, 60, 100);
    before = s.counters();
    EXPECT_NOTED(look(i, kLocal + 0x85, 50) == run_of(50, 1));
    EXPECT_NOTED(look(i, kLocal + 0x84, 1) == std::vector<std::uint8_t>{0xEE});
    EXPECT_NOTED(look(below, kLocal + 0x85, 1) == std::vector<std::uint8_t>{0xEE});
    EXPECT_NOTED(look(i, kSysmem + 0x110, 44) == run_of(44, 116));
    EXPECT_NOTED(look(below, kSysmem + 0x100, 60) == run_of(60, 100));
    EXPECT_NOTED(*s.sysmem.at(0x100) == 0);
    // Over many lines, and so slices, with the dirty one among them.
    const std::vector<std::uint8_t> many = look(i, kLocal + 3, 1000);
    EXPECT_NOTED(many.size() == 1000 && many[0x81] == 0xEE && many[0x82] == 1 && many[0x82 + 49] == 50 &&
                 many[0x82 + 50] == 0xEE && many[999] == 0xEE);
    EXPECT_NOTED(s.counters() == before);
  }
  void writes_reach_copies_and_memory(LooseInitiator& i, Subsystem& s) {
    static_cast<void>(load(i, 0x200, 128));
    static_cast<void>(load(i, kSysmem + 0x300, 128));
    before = s.counters();
    EXPECT_NOTED(poke(i, kLocal + 0x82, 6, 200) == 6);
    EXPECT_NOTED(poke(i, kSysmem + 0x104, 10, 50) == 10);
    EXPECT_NOTED(poke(i, 0x1F0, 300, 7) == 300);
    EXPECT_NOTED(poke(i, kSysmem + 0x2FF, 3, 9) == 3);
    EXPECT_NOTED(s.counters() == before);
    EXPECT_NOTED(*s.vidmem.at(kLocal + 0x82) == 200 && *s.vidmem.at(kLocal + 0x87) == 205);
    EXPECT_NOTED(*s.sysmem.at(0x104) == 50 && *s.sysmem.at(0x10D) == 59 && *s.sysmem.at(0x10E) == 0);
    Request r = local_write(kLocal + 0x80);
    r.command = Command::read;
    EXPECT_NOTED(load(i, kLocal + 0x80, 8, &r) ==
                 (std::vector<std::uint8_t>{0xEE, 0xEE, 200, 201, 202, 203, 204, 205}));
    EXPECT_NOTED(load(i, kSysmem + 0x103, 3) == (std::vector<std::uint8_t>{103, 50, 51}));
    EXPECT_NOTED(load(i, 0x200, 128) == run_of(128, 7 + 16));
    EXPECT_NOTED(load(i, kSysmem + 0x300, 2) == run_of(2, 10));
    // What was dirty still goes back, with the debugger's bytes.
    Request clean;
    clean.command = Command::maintain;
    clean.maintenance = maintenance::kDrain | maintenance::kWriteBackSysmem;
    Access a = access(tlm::TLM_IGNORE_COMMAND, 0, 4);
    sc_core::sc_time delay;
    i.call(a, delay, &clean);
    EXPECT_NOTED(*s.sysmem.at(0x103) == 103 && *s.sysmem.at(0x104) == 50 && *s.sysmem.at(0x10E) == 114);
  }
  /// L1 tags virtual addresses, a debugger writes physical ones.
  void other_names_for_lines(LooseInitiator& i, Subsystem& s) {
    constexpr std::uint64_t kHome = 0x3000, kName = 0x5000;
    *s.vidmem.at(kHome) = 1;
    *s.vidmem.at(kName) = 2;
    Request r;
    r.virtual_line = VirtualAddress{kName};
    EXPECT_NOTED(load(i, kHome, 1, &r)[0] == 1);
    EXPECT_NOTED(poke(i, kName, 1, 3) == 1);
    EXPECT_NOTED(load(i, kHome, 1, &r)[0] == 1);
    EXPECT_NOTED(poke(i, kHome, 1, 4) == 1);
    EXPECT_NOTED(load(i, kHome, 1, &r)[0] == 4);
  }
  void ends_of_memory(LooseInitiator& i) {
    EXPECT_NOTED(look(i, kMemory - 10, 100).size() == 10);
    EXPECT_NOTED(look(i, kSysmem + kMemory - 300, 1000).size() == 300);
    EXPECT_NOTED(poke(i, kMemory - 1, 2, 1) == 1);
    Access out = access(tlm::TLM_READ_COMMAND, kMemory, 4), none = access(tlm::TLM_READ_COMMAND, 0, 0);
    EXPECT_NOTED(i.debug(out) == 0 && out.status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_NOTED(i.debug(none) == 0);
    Access ignore = access(tlm::TLM_IGNORE_COMMAND, 0, 4);
    EXPECT_NOTED(i.debug(ignore) == 0);
    EXPECT_NOTED(look(i, std::uint64_t{1} << 62U, 4).empty());
  }
};

/// Random accesses, with and without a debugger that reads between them.
struct Watched {
  std::vector<sc_core::sc_time> took;
  Driven netlist;
  Watched(const std::string& name, bool watched)
      : netlist(name, {}, [this, watched](LooseInitiator& i) {
          Random random(splitmix64(3)), where(splitmix64(4));
          for (unsigned n = 0; n < 4000; ++n) {
            const bool sysmem = random.below(3) == 0;
            const bool writes = random.below(3) == 0;
            const std::uint64_t line = random.below(60) * kLineBytes;
            Request r = local_write(kLocal + line);
            r.command = writes ? Command::write : Command::read;
            const bool local = !sysmem && random.below(2) == 0;
            Access a = access(writes ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND,
                              line + (sysmem  ? kSysmem
                                      : local ? kLocal
                                              : 0),
                              1 + random.below(128));
            took.push_back(i.loose(a, local ? &r : nullptr));
            if (!watched) continue;
            look(i, where.below(kMemory), 1 + where.below(500));
            look(netlist.crossbar, kSysmem + where.below(kMemory), 1 + where.below(500));
          }
        }) {}
};

/// A debugger in the middle of timed traffic.
struct Amid {
  Notes notes;
  bool under_way = false;
  unsigned looks = 0;
  Driven netlist;
  Amid()
      : netlist(
            "amid", {HopTransport::direct, false},
            [this](LooseInitiator& i) {
              for (unsigned n = 0; n < 40; ++n) {
                Access a = access(n % 2 == 0 ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND,
                                  (n % 4 < 2 ? kSysmem : 0) + n / 2 * 128, 64, 5);
                under_way = true;
                i.timed(a);
                under_way = false;
                if (n % 2 == 1) EXPECT_NOTED(a.data == run_of(64, 5));
              }
            },
            [this](LooseInitiator& i) {
              for (unsigned n = 0; n < 300; ++n) {
                wait(ns(13));
                looks += under_way;
                *netlist.subsystem.vidmem.at(0xF000) = static_cast<std::uint8_t>(n);
                EXPECT_NOTED(look(i, 0xF000, 200).size() == 200);
                EXPECT_NOTED(look(i, 0xF000, 1)[0] == static_cast<std::uint8_t>(n));
              }
            }) {}
};

struct TagsOnly {
  Notes notes;
  Driven netlist;
  TagsOnly()
      : netlist("tags_only", {HopTransport::direct, true, 2, false}, [this](LooseInitiator& i) {
          EXPECT_NOTED(look(i, 0, 4).empty());
          EXPECT_NOTED(look(i, kSysmem, 4).empty());
          EXPECT_NOTED(poke(netlist.crossbar, 0, 4, 1) == 0);
        }) {}
};

struct Simulation {
  Scenes direct{HopTransport::direct}, socket{HopTransport::socket};
  Watched watched{"watched", true}, alone{"alone", false};
  Amid amid;
  TagsOnly tags_only;
  Simulation() {
    sc_core::sc_report_handler::set_handler(note_report);
    sc_core::sc_start();
  }
};
Simulation& simulation() {
  static Simulation s;
  return s;
}

TEST(LooseDebug, SeesAndChangesWhatProgramsWould) {
  for (const Scenes* s : {&simulation().direct, &simulation().socket}) {
    EXPECT_TRUE(s->netlist.l1.done);
    EXPECT_EQ(s->notes.wrong, std::vector<int>{}) << "lines of this file";
  }
}

TEST(LooseDebug, ChangesNoCounterAndNoStateOfCaches) {
  Simulation& s = simulation();
  ASSERT_EQ(s.watched.took.size(), 4000U);
  ASSERT_EQ(s.watched.took, s.alone.took);
  EXPECT_EQ(s.watched.netlist.subsystem.counters(), s.alone.netlist.subsystem.counters());
  EXPECT_GT(s.alone.netlist.subsystem.counters()["l1.writebacks"], 50U);
}

TEST(LooseDebug, IsServedWhileTimedRequestsAreUnderWay) {
  EXPECT_TRUE(simulation().amid.netlist.l1.done && simulation().amid.netlist.crossbar.done);
  EXPECT_EQ(simulation().amid.notes.wrong, std::vector<int>{});
  EXPECT_GT(simulation().amid.looks, 10U);
  EXPECT_EQ(reports(), std::vector<std::string>{});
}

TEST(LooseDebug, ARunWithoutDataServesNothing) {
  EXPECT_TRUE(simulation().tags_only.netlist.l1.done);
  EXPECT_EQ(simulation().tags_only.notes.wrong, std::vector<int>{});
}

}  // namespace loose_debug_test
}  // namespace warpline::test
