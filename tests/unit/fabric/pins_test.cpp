// A hop opened as pins: what its wires say in each cycle, against what the rules of a channel say; and
// hardware of somebody else's on the wires. SystemC elaborates once, so one simulation runs all scenarios.
#include <gtest/gtest.h>

#include <algorithm>

#include "../../support/mock_components.h"
#include "pin_hardware.h"
#include "warpline/base/random.h"
#include "warpline/fabric/tlm_pins.h"

namespace warpline::testing {
namespace {

std::vector<std::string>& reports() {
  static std::vector<std::string> all;
  return all;
}
void note(const sc_core::sc_report& report, const sc_core::sc_actions&) {
  reports().emplace_back(report.get_msg());
}

constexpr std::uint64_t kWords = 256;

std::vector<Item> random_items(Random& random, unsigned count, bool strobes = true) {
  std::vector<Item> items;
  Cycle at = 0;
  for (unsigned i = 0; i < count; ++i) {
    at += random.below(8);
    const PhysicalAddress line{random.below(kWords / 4) * kLineBytes};
    const auto sectors = static_cast<SectorMask>(1 + random.below(15));
    if (random.below(2) == 0) {
      items.push_back(read_item(at, line, sectors));
      continue;
    }
    ByteMask bytes = ByteMask::of_sectors(sectors);
    if (strobes) bytes = bytes & ByteMask{random.next() | 0x100000001ULL, random.next() | 0x100000001ULL};
    items.push_back(write_item(at, line, bytes, static_cast<std::uint8_t>(random.next())));
  }
  return items;
}

/// Two components of ours with a hop of wires in between, in clocks of their own, watched.
struct Watched {
  Watched(const std::string& name, std::uint64_t seed)
      : random(seed),
        hop{{8U << random.below(5), 1 + static_cast<unsigned>(random.below(4)),
             1 + static_cast<unsigned>(random.below(4)), 1 + static_cast<unsigned>(random.below(12))},
            {8U << random.below(5), 1 + static_cast<unsigned>(random.below(4)),
             1 + static_cast<unsigned>(random.below(4)), 1 + static_cast<unsigned>(random.below(12))}},
        engine((name + "_engine").c_str(), 1000),
        requester(engine.engine(), name + "_requester", domain(), random_items(random, 60),
                  1 + random.below(6), 1),
        target(engine.engine(), name + "_target", domain(), 1 + random.below(9), 1 + random.below(6)),
        pins((name + "_pins").c_str(), engine, name,
             {requester.out, target.in, target.out, requester.in, hop}),
        requests((name + "_requests").c_str(), engine, pins.near().request),
        responses((name + "_responses").c_str(), engine, pins.near().response) {}
  ClockDomain domain() {
    const std::uint64_t denominator = 1 + random.below(5);
    return random.below(2) == 0 ? ClockDomain{} : ClockDomain{denominator + random.below(8), denominator};
  }
  Random random;
  HopParameters hop;
  EngineModule engine;
  Requester requester;
  Target target;
  PinHop pins;
  PinLog requests, responses;
};

/// Our requests into somebody's memory; through registers, if wanted.
struct ToMemory {
  ToMemory(const std::string& name, RtlMemory::Habits habits, bool skid, std::uint64_t seed)
      : random(seed),
        engine((name + "_engine").c_str(), 1000),
        requester(engine.engine(), name + "_requester", {}, random_items(random, 80)),
        near((name + "_near").c_str(), engine, name, {}),
        end((name + "_end").c_str(), engine, near, requester.out, requester.in) {
    if (skid) {
      far = std::make_unique<PinWires>((name + "_far").c_str(), engine, name + ".far", HopParameters{});
      skids.push_back(std::make_unique<SkidBuffer>((name + "_down").c_str(), near.request, far->request));
      skids.push_back(std::make_unique<SkidBuffer>((name + "_up").c_str(), far->response, near.response));
    }
    memory = std::make_unique<RtlMemory>((name + "_memory").c_str(), skid ? *far : near, kWords, habits);
  }
  Random random;
  EngineModule engine;
  Requester requester;
  PinWires near;
  PinInitiator end;
  std::unique_ptr<PinWires> far;
  std::vector<std::unique_ptr<SkidBuffer>> skids;
  std::unique_ptr<RtlMemory> memory;
};

/// Answers reads and writes from a memory of lines.
class FlatTarget final : public Component {
 public:
  FlatTarget(Engine& e, std::string name, ClockDomain domain)
      : Component(e, std::move(name), domain), in(*this, "from_requester"), out(*this, "to_requester") {}
  Cycle tick(Cycle now) override {
    if (held_ == nullptr && in.ready(now)) {
      held_ = in.pop(now).request;
      auto& line = lines[held_->line.value];
      if (held_->command == Command::write) copy_masked(line.data(), held_->data.data(), held_->bytes);
      if (held_->command == Command::read) copy_sectors(held_->data.data(), line.data(), held_->sectors);
      if (held_->line.value >= kWords * 32) held_->status = Status::address_error;
      return now + 1;
    }
    if (held_ != nullptr && out.ready(now)) {
      out.send(now, {held_});
      held_ = nullptr;
      return now + 1;
    }
    return kNever;
  }
  [[nodiscard]] bool busy() const override { return held_ != nullptr; }
  void explain(std::vector<Wait>&) const override {}
  In<RequestMessage> in;
  Out<ResponseMessage> out;
  std::map<std::uint64_t, std::array<std::uint8_t, kLineBytes>> lines;

 private:
  Request* held_ = nullptr;
};

/// Somebody's master into our component.
struct FromMaster {
  FromMaster(const std::string& name, std::vector<RtlMaster::Access> accesses, unsigned in_flight,
             ClockDomain d)
      : engine((name + "_engine").c_str(), 1000),
        target(engine.engine(), name + "_target", d),
        wires((name + "_wires").c_str(), engine, name, {{32, 1, 2, 3}, {32, 1, 2, 1}}, d, d),
        end((name + "_end").c_str(), engine, wires, target.in, target.out),
        master((name + "_master").c_str(), wires, std::move(accesses), in_flight) {}
  EngineModule engine;
  FlatTarget target;
  PinWires wires;
  PinTarget end;
  RtlMaster master;
};

std::vector<RtlMaster::Access> master_accesses() {
  std::vector<RtlMaster::Access> all;
  Random random(5);
  for (unsigned i = 0; i < 60; ++i) {
    RtlMaster::Access a;
    a.write = i % 2 == 0;
    a.line = i % 20 == 19 ? 1U << 20 : random.below(kWords / 4) * kLineBytes;
    a.sectors = 1 + static_cast<unsigned>(random.below(15));
    a.strobes = static_cast<unsigned>(random.next()) | 1U;
    for (int n = 4 * __builtin_popcount(a.sectors); a.write && n != 0; --n) a.words.push_back(random.next());
    all.push_back(a);
  }
  return all;
}

/// Two components of ours, hardware that knows no message in the middle of their hop.
struct Spliced {
  explicit Spliced(const std::string& name)
      : random(9),
        engine((name + "_engine").c_str(), 1000),
        requester(engine.engine(), name + "_requester", {}, items(random)),
        target(engine.engine(), name + "_target", {}),
        pins((name + "_pins").c_str(), engine, name, {requester.out, target.in, target.out, requester.in, {}},
             true, PinHop::Wiring::cut),
        down((name + "_down").c_str(), pins.near().request, pins.far().request),
        up((name + "_up").c_str(), pins.far().response, pins.near().response) {}
  static std::vector<Item> items(Random& random) {
    std::vector<Item> all = random_items(random, 60);
    AtomicBlock add;
    add.operation = AtomicOperation::add;
    add.type = DataType::u32;
    add.count = 20;
    all.push_back(atomic_item(0, PhysicalAddress{0}, add));
    all.push_back(maintain_item(0, maintenance::kDrain));
    return all;
  }
  Random random;
  EngineModule engine;
  Requester requester;
  FlatTarget target;
  PinHop pins;
  SkidBuffer down, up;
};

using Step = RtlScript::Step;
/// A script of requests into our component, and what is reported of it.
struct Fault {
  std::string name;
  std::vector<Step> steps;
  std::string report;
};
std::vector<Fault> request_faults() {
  const unsigned all = 0xFFFFFFFF;
  return {
      {"fits", {{true, 1, 0, 3, 7, 0, false, all}, {true, 1, 32, 3, 7, 1, true, all}}, ""},
      {"late_beats", {{true, 1, 0, 3, 7, 0, false, all}, {false}, {true, 1, 32, 3, 7, 1, true, all}}, ""},
      {"last_early",
       {{true, 1, 0, 3, 7, 0, true, all}},
       "beat 0 of 2 with identifier 7 is marked as the last"},
      {"last_late",
       {{true, 1, 0, 3, 7, 0, false, all},
        {true, 1, 32, 3, 7, 1, false, all},
        {true, 1, 32, 3, 7, 2, true, all}},
       "beat 1 of 2 with identifier 7 is not marked as the last"},
      {"wrong_beat",
       {{true, 1, 0, 3, 7, 0, false, all}, {true, 1, 32, 3, 7, 2, true, all}},
       "beat 1 of 2 with identifier 7 says that it is beat 2"},
      {"other_identifier",
       {{true, 1, 0, 3, 7, 0, false, all}, {true, 1, 32, 3, 8, 1, true, all}},
       "beat 1 of 2 with identifier 7 says identifier 8"},
      {"no_sector", {{true, 0, 0, 0, 7, 0, true, 0}}, "names sectors 0"},
      {"five_sectors", {{true, 0, 0, 31, 7, 0, true, 0}}, "names sectors 31"},
      {"no_strobe", {{true, 1, 0, 1, 7, 0, true, 0}}, "has a sector without a strobe"},
      {"atomic", {{true, 2, 0, 1, 7, 0, true, 0}}, "a foreign sender can read (0) and write (1)"},
      {"twice",
       {{true, 0, 0, 1, 7, 0, true, 0}, {true, 0, 0, 1, 7, 0, true, 0}},
       "a request has that is not answered"},
      // One credit: `ready` is low after the first message.
      {"fell",
       {{true, 0, 0, 1, 7, 0, true, 0}, {true, 0, 0, 1, 8, 0, true, 0}, {false}},
       "valid fell before ready"},
      {"changed",
       {{true, 0, 0, 1, 7, 0, true, 0}, {true, 0, 0, 1, 8, 0, true, 0}, {true, 0, 0, 1, 9, 0, true, 0}},
       "the wires changed while valid waited for ready"},
  };
}
std::vector<Fault> response_faults() {
  return {
      {"answers", {{true, 0, 0, 0, 0, 0, false, 0}, {true, 0, 0, 0, 0, 1, true, 0}}, ""},
      {"unknown", {{true, 0, 0, 0, 3, 0, true, 0}}, "an answer with identifier 3, which no request has"},
      {"answers_twice",
       {{true, 0, 0, 0, 0, 0, false, 0}, {true, 0, 0, 0, 0, 1, true, 0}, {true, 0, 0, 0, 0, 0, true, 0}},
       "an answer with identifier 0, which no request has"},
      {"too_short", {{true, 0, 0, 0, 0, 0, true, 0}}, "beat 0 of 2 with identifier 0 is marked as the last"},
  };
}

struct WrongSender {
  explicit WrongSender(const Fault& f)
      : fault(f),
        engine((f.name + "_engine").c_str(), 1000),
        target(engine.engine(), f.name + "_target", {}, 1, 1),
        wires((f.name + "_wires").c_str(), engine, "sender." + f.name,
              {{32, 1, f.name == "twice" ? 2U : 1U, 20}, {32, 1, 2, 1}}),
        end((f.name + "_end").c_str(), engine, wires, target.in, target.out),
        script((f.name + "_script").c_str(), wires.request, f.steps, 3) {}
  Fault fault;
  EngineModule engine;
  Target target;
  PinWires wires;
  PinTarget end;
  RtlScript script;
};
struct WrongResponder {
  explicit WrongResponder(const Fault& f)
      : fault(f),
        engine((f.name + "_engine").c_str(), 1000),
        requester(engine.engine(), f.name + "_requester", {}, {read_item(0, PhysicalAddress{0}, 5)}),
        wires((f.name + "_wires").c_str(), engine, "responder." + f.name, {}),
        end((f.name + "_end").c_str(), engine, wires, requester.out, requester.in),
        script((f.name + "_script").c_str(), wires.response, f.steps, 10) {
    wires.request.ready.write(true);
  }
  Fault fault;
  EngineModule engine;
  Requester requester;
  PinWires wires;
  PinInitiator end;
  RtlScript script;
};

struct Simulation {
  std::deque<Watched> watched;
  std::deque<ToMemory> to_memory;
  std::deque<FromMaster> from_master;
  std::deque<Spliced> spliced;
  std::deque<WrongSender> wrong_senders;
  std::deque<WrongResponder> wrong_responders;
  Simulation() {
    for (unsigned i = 0; i < 60; ++i) watched.emplace_back("watched" + std::to_string(i), i + 1);
    unsigned n = 0;
    for (const bool skid : {false, true})
      for (const RtlMemory::Habits h :
           {RtlMemory::Habits{1, 2, 0, 0}, {7, 1, 0, 0}, {3, 4, 3, 0}, {2, 2, 2, 5}})
        to_memory.emplace_back("memory" + std::to_string(n++), h, skid, n);
    from_master.emplace_back("master0", master_accesses(), 1, ClockDomain{});
    from_master.emplace_back("master1", master_accesses(), 8, ClockDomain{});
    from_master.emplace_back("master2", master_accesses(), 8, ClockDomain{7, 3});
    spliced.emplace_back("spliced");
    for (const Fault& f : request_faults()) wrong_senders.emplace_back(f);
    for (const Fault& f : response_faults()) wrong_responders.emplace_back(f);
    sc_core::sc_report_handler::set_handler(note);
    sc_core::sc_start(sc_core::sc_time(20, sc_core::SC_US));
  }
};
Simulation& simulation() {
  static Simulation s;
  return s;
}

/// What a channel's rules make of messages with so many beats, begun and popped in these cycles.
void expect_channel(const std::vector<PinLog::Entry>& log, const ChannelParameters& p,
                    const ClockDomain& sender, const std::vector<std::pair<Cycle, unsigned>>& begun,
                    std::vector<Cycle> popped) {
  std::sort(popped.begin(), popped.end());
  std::size_t message = 0;
  unsigned beat = 0;
  for (const PinLog::Entry& e : log) {
    SCOPED_TRACE("cycle " + std::to_string(e.cycle));
    const bool begins = beat == 0 && message < begun.size() && begun[message].first == e.cycle;
    ASSERT_EQ(e.valid, begins || beat != 0);
    const std::size_t credits_back = std::count_if(
        popped.begin(), popped.end(), [&](Cycle c) { return sender.align(c + p.credit_latency) <= e.cycle; });
    ASSERT_EQ(e.ready, beat != 0 || message < p.depth + credits_back);
    if (!e.valid) continue;
    ASSERT_EQ(e.beat, beat);
    ASSERT_EQ(e.last, beat + 1 == begun[message].second);
    ASSERT_TRUE(e.ready);
    if (++beat == begun[message].second) {
      ++message;
      beat = 0;
    }
  }
  EXPECT_EQ(message, begun.size());
}

TEST(Pins, SayInEachCycleWhatTheRulesOfTheChannelSay) {
  for (Watched& w : simulation().watched) {
    SCOPED_TRACE(w.pins.near().hop());
    ASSERT_TRUE(w.engine.engine().quiescent());
    EXPECT_EQ(w.engine.outcome(), RunOutcome::quiescent);
    std::vector<std::pair<Cycle, unsigned>> requests;
    std::vector<Cycle> request_pops, response_pops;
    const auto beats = [](unsigned width, bool carries, SectorMask sectors) {
      return carries ? (sector_count(sectors) * kSectorBytes + width - 1) / width : 1;
    };
    std::map<std::uint64_t, const Item*> by_id;
    const std::vector<Item>& items = w.requester.items();
    for (std::size_t i = 0; i < items.size(); ++i) {
      const Request& r = items[i].request;
      requests.emplace_back(w.requester.answers[i].sent,
                            beats(w.hop.request.width, r.command == Command::write, r.sectors));
      by_id[i + 1] = &items[i];
      response_pops.push_back(w.requester.answers[i].answered);
    }
    for (const Target::Seen& s : w.target.seen) request_pops.push_back(s.at);
    expect_channel(w.requests.entries, w.hop.request, w.requester.domain(), requests, request_pops);
    // When responses begin the wires say; how long they are and what `ready` does follows.
    std::vector<std::pair<Cycle, unsigned>> responses;
    for (const PinLog::Entry& e : w.responses.entries)
      if (e.valid && e.beat == 0) {
        const Request& r = by_id.at(e.origin)->request;
        responses.emplace_back(e.cycle, beats(w.hop.response.width, r.command == Command::read, r.sectors));
      }
    EXPECT_EQ(responses.size(), items.size());
    expect_channel(w.responses.entries, w.hop.response, w.target.domain(), responses, response_pops);
  }
}

TEST(Pins, ClocksOfOurOwnHopsStandWhenThereIsNothingToDo) {
  for (Watched& w : simulation().watched) {
    EXPECT_LT(w.requests.entries.size(), 15000U);
    EXPECT_GT(w.requests.entries.size(), 60U);
  }
  EXPECT_TRUE(simulation().watched.front().engine.pins().wires().front() ==
              &simulation().watched.front().pins.near());
}

TEST(Pins, SomebodysMemoryServesOurRequests) {
  for (ToMemory& m : simulation().to_memory) {
    SCOPED_TRACE(m.near.hop());
    std::map<std::uint64_t, std::array<std::uint8_t, kLineBytes>> lines;
    const std::vector<Item>& items = m.requester.items();
    for (std::size_t i = 0; i < items.size(); ++i) {
      const Request& r = items[i].request;
      const Answer& a = m.requester.answers[i];
      ASSERT_NE(a.answered, kNever) << i;
      ASSERT_EQ(a.status, Status::ok);
      auto& line = lines[r.line.value];
      if (r.command == Command::write) {
        copy_masked(line.data(), r.data.data(), r.bytes);
        continue;
      }
      for (unsigned b = 0; b < kLineBytes; ++b) {
        if ((r.sectors >> (b / kSectorBytes) & 1U) == 0) continue;
        ASSERT_EQ(a.data[b], line[b]) << "item " << i << " byte " << b;
      }
    }
    EXPECT_EQ(m.engine.engine().pool().in_use(), 0U);
    EXPECT_EQ(m.memory->commands.size(), items.size());
  }
}

TEST(Pins, SomebodysHardwareSendsUsRequests) {
  for (FromMaster& f : simulation().from_master) {
    SCOPED_TRACE(f.wires.hop());
    std::map<std::uint64_t, std::array<PinChannel::Word, 16>> lines;
    for (const RtlMaster::Access& a : f.master.accesses) {
      ASSERT_TRUE(a.answered);
      ASSERT_EQ(a.error, a.line >= kWords * 32);
      std::size_t word = 0;
      for (unsigned s = 0; s < 4; ++s) {
        if ((a.sectors >> s & 1U) == 0) continue;
        for (unsigned i = 0; i < 4; ++i, ++word) {
          PinChannel::Word& stored = lines[a.line][s * 4 + i];
          if (!a.write && !a.error) {
            ASSERT_EQ(a.words.at(word), stored);
          }
          for (unsigned b = 0; a.write && b < 8; ++b) {
            if ((a.strobes >> (i * 8 + b) & 1U) == 0) continue;
            const PinChannel::Word mask = PinChannel::Word{0xFF} << (8 * b);
            stored = (stored & ~mask) | (a.words[word] & mask);
          }
        }
      }
    }
    EXPECT_EQ(f.engine.engine().pool().in_use(), 0U);
  }
}

TEST(Pins, HardwareInTheMiddleCostsTimeAndNothingElse) {
  Spliced& s = simulation().spliced.front();
  EXPECT_TRUE(s.engine.engine().quiescent());
  std::map<std::uint64_t, std::array<std::uint8_t, kLineBytes>> lines;
  for (std::size_t i = 0; i < s.requester.items().size(); ++i) {
    const Request& r = s.requester.items()[i].request;
    const Answer& a = s.requester.answers[i];
    ASSERT_NE(a.answered, kNever);
    ASSERT_EQ(a.status, Status::ok);
    auto& line = lines[r.line.value];
    if (r.command == Command::write) copy_masked(line.data(), r.data.data(), r.bytes);
    for (unsigned b = 0; r.command == Command::read && b < kLineBytes; ++b) {
      if ((r.sectors >> (b / kSectorBytes) & 1U) == 0) continue;
      ASSERT_EQ(a.data[b], line[b]) << "item " << i << " byte " << b;
    }
  }
  EXPECT_EQ(s.engine.engine().pool().in_use(), 0U);
}

TEST(Pins, MistakesOnTheWiresAreReportedWithTheHop) {
  static_cast<void>(simulation());
  const auto check = [](const std::string& hop, const Fault& f) {
    std::vector<std::string> mine;
    for (const std::string& r : reports())
      if (r.find(hop + ": ") == 0) mine.push_back(r);
    SCOPED_TRACE(hop);
    if (f.report.empty()) {
      EXPECT_TRUE(mine.empty()) << mine.front();
      return;
    }
    ASSERT_FALSE(mine.empty());
    EXPECT_NE(mine.front().find(f.report), std::string::npos) << mine.front();
  };
  for (const WrongSender& w : simulation().wrong_senders) check(w.wires.hop(), w.fault);
  for (const WrongResponder& w : simulation().wrong_responders) check(w.wires.hop(), w.fault);
  EXPECT_EQ(simulation().wrong_senders[0].target.seen.size(), 1U);
  EXPECT_EQ(simulation().wrong_senders[1].target.seen.size(), 1U);
  EXPECT_NE(simulation().wrong_responders[0].requester.answers[0].answered, kNever);
  for (const std::string& r : reports())
    EXPECT_TRUE(r.find("sender.") == 0 || r.find("responder.") == 0) << r;
}

}  // namespace
}  // namespace warpline::testing
