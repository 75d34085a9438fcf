// Accellera's example components as initiators above and as targets below a memory subsystem: data right, and
// no complaint from anybody. One simulation per process.
#define REPORT_DEFINE_GLOBALS
#include <reporting.h>
// Theirs count on that.
#include <at_initiator_annotated.h>
#include <at_initiator_explicit.h>
#include <at_target_1_phase.h>
#include <at_target_2_phase.h>
#include <at_target_4_phase.h>
#include <lt_dmi_initiator.h>
#include <lt_initiator.h>
#include <lt_synch_target.h>
#include <lt_target.h>
#include <lt_td_initiator.h>
#include <select_initiator.h>
#include <traffic_generator.h>
// Ours.
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <functional>
#include <memory>

#include "platform/systemc/memory_subsystem_module.h"
#include "platform/systemc/slice_maker_module.h"
#include "rtl_models/tlm/idle_sockets.h"
#include "rtl_models/tlm/width_adapter.h"
#include "tests/integration/accellera/narrow.h"
#include "tests/rtl_models/tlm/foreign_modules.h"
#include "tests/support/protocol_checker.h"

namespace warpline::test {
namespace accellera_test {

constexpr unsigned kAccesses = 64;  ///< of a traffic generator
constexpr std::uint64_t kSysmem = MemorySubsystemModule::kSystemMemory;

std::vector<std::string>& complaints() {
  static std::vector<std::string> all;
  return all;
}
void listen(const sc_core::sc_report& report, const sc_core::sc_actions& /*actions*/) {
  if (report.get_severity() != sc_core::SC_INFO)
    complaints().push_back(std::string(report.get_msg_type()) + ": " + report.get_msg());
}

sc_core::sc_time ns(unsigned n) {
  return {static_cast<double>(n), sc_core::SC_NS};
}

/// A traffic generator and an initiator, and what adapts and checks it.
struct Unit {
  virtual ~Unit() = default;
  Unit(const std::string& name, unsigned id, std::uint64_t its_base)
      : base(its_base),
        generator((name + "_traffic").c_str(), id, its_base, its_base + 64, 2),
        widen((name + "_widen").c_str()),
        checker((name + "_checker").c_str()) {
    widen.to_target.bind(checker.from_initiator);
    generator.request_out_port(requests);
    generator.response_in_port(responses);
  }
  std::uint64_t base;
  sc_core::sc_fifo<tlm::tlm_generic_payload*> requests{2}, responses{2};
  traffic_generator generator;
  WidthAdapter<32, 256> widen;
  ProtocolChecker checker;
};

template <class Initiator>
struct UnitOf final : Unit {
  template <class... A>
  UnitOf(const std::string& name, unsigned id, std::uint64_t its_base, A... more)
      : Unit(name, id, its_base), initiator((name + "_initiator").c_str(), id, more...) {
    initiator.request_in_port(requests);
    initiator.response_out_port(responses);
    initiator.initiator_socket(widen.from_initiator);
  }
  Initiator initiator;
};

/// A memory subsystem with Accellera's initiators at its sockets.
struct Board {
  explicit Board(const MemorySubsystemOptions& options) : memory("memory", options) {
    complaints().clear();
    REPORT_SET_ENABLES(false, true, true, true);
    sc_core::sc_report_handler::set_handler(listen);
  }
  ~Board() { sc_core::sc_report_handler::set_handler(sc_core::sc_report_handler::default_handler); }

  template <class Initiator, class... A>
  Unit& add(std::uint64_t base, A... more) {
    const auto n = static_cast<unsigned>(units.size());
    units.push_back(std::make_unique<UnitOf<Initiator>>("unit" + std::to_string(n), 101 + n, base, more...));
    units.back()->checker.to_target.bind(next_socket());
    return *units.back();
  }
  /// SMs first.
  MemorySubsystemModule::Socket& next_socket() {
    const unsigned n = used++;
    return n < memory.sms() ? memory.from_sm(n) : memory.from_device(n - memory.sms());
  }
  void run() {
    while (used < memory.sms() + memory.devices())
      idle.emplace_back(("idle_" + std::to_string(used)).c_str()).bind(next_socket());
    // Checkers are silent while a generator is: Accellera's never end.
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS));
  }
  /// All of them are done, and say nothing; memory has what they wrote last.
  void expect_done(bool has_debug = true) {
    EXPECT_EQ(complaints(), std::vector<std::string>{});
    EXPECT_TRUE(memory.idle());
    for (const auto& unit : units) {
      SCOPED_TRACE(unit->generator.name());
      // Some initiators use a payload again before the end that they have annotated themselves.
      for (const std::string& v : unit->checker.violations())
        if (v.find("is used again before the end of its last transaction") == std::string::npos)
          ADD_FAILURE() << v;
      for (unsigned n = 0; has_debug && n < 32; ++n) {
        const std::uint64_t address = unit->base + n * 4;
        std::uint32_t word = 0;
        tlm::tlm_generic_payload p;
        p.set_command(tlm::TLM_READ_COMMAND);
        p.set_address(address);
        p.set_data_ptr(reinterpret_cast<unsigned char*>(&word));
        p.set_data_length(4);
        p.set_streaming_width(4);
        ASSERT_EQ(unit->widen.to_target->transport_dbg(p), 4U);
        const auto written = static_cast<std::uint32_t>(address);
        ASSERT_EQ(word, n < 16 ? written : ~written) << n;  // the second pass writes the complement
      }
    }
  }
  MemorySubsystemModule memory;
  std::vector<std::unique_ptr<Unit>> units;
  std::deque<IdleInitiatorSocket<256>> idle;
  unsigned used = 0;
};

MemorySubsystemOptions options(std::vector<std::string> settings, unsigned devices) {
  MemorySubsystemOptions o;
  o.settings = std::move(settings);
  o.devices = devices;
  return o;
}

TEST(Accellera, TimedAndLooselyTimedInitiatorsSideBySide) {
  tlm::tlm_global_quantum::instance().set(ns(500));
  Board board(options({"sms=6"}, 2));
  const Unit* timed[] = {&board.add<select_initiator>(0x10000, ns(3)),
                         &board.add<select_initiator>(0x20000, ns(0)),
                         &board.add<at_initiator_annotated>(0x30000, ns(17)),
                         &board.add<at_initiator_explicit>(kSysmem + 0x40000, ns(5))};
  const Unit* loose[] = {&board.add<lt_initiator>(0x50000), &board.add<lt_td_initiator>(0x60000),
                         &board.add<lt_td_initiator>(kSysmem + 0x70000),
                         &board.add<lt_dmi_initiator>(0x80000)};
  board.run();
  board.expect_done();
  for (const Unit* unit : timed)
    EXPECT_EQ(unit->checker.counts().begin_req, kAccesses) << unit->generator.name();
  for (const Unit* unit : loose) EXPECT_EQ(unit->checker.unchecked().b_transport, kAccesses);
}

TEST(Accellera, LooselyTimedInitiatorsWithDirectMemory) {
  tlm::tlm_global_quantum::instance().set(ns(500));
  Board board(options({"sms=2"}, 2));
  board.memory.set_loose(true);
  board.add<lt_initiator>(0x10000);
  board.add<lt_td_initiator>(0x20000);
  board.add<lt_td_initiator>(kSysmem + 0x30000);
  const Unit& direct = board.add<lt_dmi_initiator>(0x40000);
  board.run();
  board.expect_done();
  EXPECT_LT(direct.checker.unchecked().b_transport, 8U) << "the rest went by the pointer";
  EXPECT_GT(direct.checker.unchecked().get_direct_mem_ptr, 0U);
  board.memory.set_loose(false);
  EXPECT_GT(direct.checker.unchecked().invalidate_direct_mem_ptr, 0U);
}

/// Words all over a region, each written, then read, so that a small L2 forgets them in between.
std::vector<Access> accesses(std::uint64_t base, unsigned lines) {
  std::vector<Access> all;
  for (const tlm::tlm_command command : {tlm::TLM_WRITE_COMMAND, tlm::TLM_READ_COMMAND})
    for (unsigned i = 0; i < lines; ++i) {
      Access a;
      a.command = command;
      a.address = base + i * 128 + i % 32 * 4;
      a.data.assign(1 + i % 4, command == tlm::TLM_WRITE_COMMAND ? static_cast<std::uint8_t>(i * 3 + 1) : 0);
      all.push_back(a);
    }
  return all;
}

/// Accellera's targets in the place of system memory, one behind each of six slices. `lines` of each
/// initiator go through a small L2 to them and back.
void run_on_targets(EndResponse form, unsigned lines) {
  constexpr std::uint64_t kBytes = 1 << 20;
  std::deque<Narrow> narrow;
  std::deque<ProtocolChecker> checkers;
  std::deque<IdleInitiatorSocket<256>> idle;
  std::vector<std::shared_ptr<void>> targets;
  const auto make = [&](auto* type, unsigned n, Narrow& before) {
    using Target = std::remove_pointer_t<decltype(type)>;
    const std::string name = "target" + std::to_string(n);
    auto target = std::make_shared<Target>(name.c_str(), n, "socket", kBytes, 4, ns(10), ns(50), ns(30));
    before.to.bind(target->m_memory_socket);
    targets.push_back(target);
  };
  MemorySubsystemOptions o =
      options({"sms=2", "l2.slices=6", "l2.sets=2", "l2.ways=2", "dram.channels=6"}, 4);
  o.end_response = form;
  o.interpose = [&](const HopSite& site) -> HopSockets {
    if (!site.matches("pcie.from_l2*")) return {};
    const auto n = static_cast<unsigned>(narrow.size());
    Narrow& adapter = narrow.emplace_back(site.module_name.c_str(), kBytes);
    ProtocolChecker& checker = checkers.emplace_back((site.module_name + "_checker").c_str());
    checker.to_target.bind(adapter.from);
    const std::function<void()> kinds[] = {
        [&] { make(static_cast<at_target_1_phase*>(nullptr), n, adapter); },
        [&] { make(static_cast<at_target_2_phase*>(nullptr), n, adapter); },
        [&] { make(static_cast<at_target_4_phase*>(nullptr), n, adapter); },
        [&] { make(static_cast<lt_target*>(nullptr), n, adapter); },
        [&] { make(static_cast<lt_synch_target*>(nullptr), n, adapter); },
        [&] { make(static_cast<at_target_4_phase*>(nullptr), n, adapter); },
    };
    kinds[n % std::size(kinds)]();
    return {&checker.from_initiator, &idle.emplace_back(("idle_" + site.module_name).c_str())};
  };
  Board board(o);
  board.add<select_initiator>(kSysmem + 0x1000, ns(3));
  board.add<lt_td_initiator>(kSysmem + 0x2000);
  board.add<at_initiator_explicit>(kSysmem + 0x3000, ns(3));
  std::deque<ForeignInitiator> others;
  for (unsigned n = 0; n < 3; ++n) {
    others.emplace_back(("other" + std::to_string(n)).c_str(), accesses(kSysmem + (n + 1) * 0x20000, lines),
                        ForeignInitiator::Habits{ns(n * 3), n == 1});
    others.back().socket.bind(board.next_socket());
  }
  board.run();
  board.expect_done(false);
  for (const ForeignInitiator& other : others)
    for (std::size_t i = 0; i < other.accesses.size(); ++i) {
      ASSERT_EQ(other.accesses[i].status, tlm::TLM_OK_RESPONSE) << other.name() << " " << i;
      ASSERT_EQ(other.accesses[i].data, other.accesses[i % lines].data) << other.name() << " " << i;
    }
  for (ProtocolChecker& checker : checkers) {
    checker.finish();
    for (const std::string& v : checker.violations()) ADD_FAILURE() << v;
  }
  for (const Narrow& n : narrow) {
    EXPECT_GT(n.reads, lines / 6) << n.name();
    EXPECT_GT(n.writes, lines / 6) << n.name();
  }
}

TEST(Accellera, TargetsGetAnEndOfEachResponseByACall) {
  run_on_targets(EndResponse::by_call, 400);
}

/// The same cannot be said of the short form: this is what the option is for, and why it is one.
TEST(Accellera, ATargetStopsAtAnEndThatIsReturned) {
  MemorySubsystemOptions o = options({"sms=1", "l2.sets=1", "l2.ways=1"}, 0);
  o.end_response = EndResponse::by_return;
  std::deque<Narrow> narrow;
  std::deque<IdleInitiatorSocket<256>> idle;
  std::deque<at_target_4_phase> targets;
  o.interpose = [&](const HopSite& site) -> HopSockets {
    if (!site.matches("pcie.from_l2*")) return {};
    Narrow& adapter = narrow.emplace_back(site.module_name.c_str(), 1 << 20);
    const auto n = static_cast<unsigned>(targets.size());
    adapter.to.bind(targets
                        .emplace_back(("target" + std::to_string(n)).c_str(), n, "socket", 1 << 20, 4, ns(10),
                                      ns(50), ns(30))
                        .m_memory_socket);
    return {&adapter.from, &idle.emplace_back(("idle_" + site.module_name).c_str())};
  };
  Board board(o);
  ForeignInitiator initiator("initiator", accesses(kSysmem, 40), {});
  initiator.socket.bind(board.next_socket());
  board.run();
  ASSERT_FALSE(complaints().empty());
  EXPECT_NE(complaints().front().find("TLM_UPDATED invalid response to BEGIN_RESP"), std::string::npos)
      << complaints().front();
}

}  // namespace accellera_test
}  // namespace warpline::test
