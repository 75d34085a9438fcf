// Hardware of somebody else's on the wires of our hops: behind them, before them, in the middle of one.
#include <gtest/gtest.h>

#include <deque>

#include "rtl_models/tlm/pins/pins.h"
#include "tests/rtl_models/tlm/pins/pin_hardware.h"
#include "tests/rtl_models/tlm/pins/pin_items.h"
#include "tests/rtl_models/tlm/pins/pin_senders.h"

namespace warpline::test {
namespace pin_foreign_test {

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
  EngineProcess engine;
  Requester requester;
  PinWires near;
  PinInitiator end;
  std::unique_ptr<PinWires> far;
  std::vector<std::unique_ptr<SkidBuffer>> skids;
  std::unique_ptr<RtlMemory> memory;
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
  EngineProcess engine;
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
             PinHop::Data{}, PinHop::Wiring::cut),
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
  EngineProcess engine;
  Requester requester;
  FlatTarget target;
  PinHop pins;
  SkidBuffer down, up;
};

struct Simulation {
  std::deque<ToMemory> to_memory;
  std::deque<FromMaster> from_master;
  std::deque<Spliced> spliced;
  Simulation() {
    unsigned n = 0;
    for (const bool skid : {false, true})
      for (const RtlMemory::Habits h :
           {RtlMemory::Habits{1, 2, 0, 0}, {7, 1, 0, 0}, {3, 4, 3, 0}, {2, 2, 2, 5}})
        to_memory.emplace_back("memory" + std::to_string(n++), h, skid, n);
    from_master.emplace_back("master0", master_accesses(), 1, ClockDomain{});
    from_master.emplace_back("master1", master_accesses(), 8, ClockDomain{});
    from_master.emplace_back("master2", master_accesses(), 8, ClockDomain{7, 3});
    spliced.emplace_back("spliced");
    sc_core::sc_start(sc_core::sc_time(20, sc_core::SC_US));
  }
};
Simulation& simulation() {
  static Simulation s;
  return s;
}

TEST(PinForeign, SomebodysMemoryServesOurRequests) {
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

TEST(PinForeign, SomebodysHardwareSendsUsRequests) {
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

TEST(PinForeign, HardwareInTheMiddleCostsTimeAndNothingElse) {
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

}  // namespace pin_foreign_test
}  // namespace warpline::test
