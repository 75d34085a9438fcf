#pragma once

#define SC_INCLUDE_DYNAMIC_PROCESSES
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "rtl_models/sim/loose_hop.h"
#include "rtl_models/sim/memory_image.h"
#include "rtl_models/tlm/engine_process.h"
#include "tests/rtl_models/tlm/loose_netlists.h"

namespace warpline::test {

/// One of several threads at a socket.
struct Asker {
  Access access;
  Request* model = nullptr;
  sc_core::sc_time starts;
  sc_core::sc_time delay;           ///< as handed over
  sc_core::sc_time returned, ends;  ///< when the call returned, and when its answer was there
  bool done = false;
};

/// Several threads that share one socket of ours.
struct Crowd final : sc_core::sc_module {
  Crowd(const sc_core::sc_module_name& name, std::vector<Asker> who)
      : sc_module(name), askers(std::move(who)) {
    initiator = std::make_unique<LooseInitiator>("initiator", [](LooseInitiator&) {});
    for (Asker& a : askers)
      sc_core::sc_spawn([this, &a] {
        wait(a.starts);
        sc_core::sc_time delay = a.delay;
        initiator->call(a.access, delay, a.model);
        a.returned = sc_core::sc_time_stamp();
        a.ends = a.returned + delay;
        a.done = true;
      });
  }
  std::vector<Asker> askers;
  std::unique_ptr<LooseInitiator> initiator;
};

inline Asker reads(std::uint64_t address, sc_core::sc_time starts, Request* model = nullptr) {
  Asker a;
  a.access = access(tlm::TLM_READ_COMMAND, address, 16);
  a.starts = starts;
  a.model = model;
  return a;
}

/// A cache of ours over somebody's memory.
template <class Module, class Parameters>
struct CacheOver {
  CacheOver(const std::string& name, LooseMemory::Habits habits, std::vector<Asker> askers,
            const Parameters& parameters)
      : engine(text(name, "_engine").c_str(), 1000),
        cache(name.c_str(), engine, ClockDomain{}, parameters, true),
        memory(text(name, "_memory").c_str(), habits),
        crowd(text(name, "_crowd").c_str(), std::move(askers)) {
    for (std::uint64_t a = 0; a < 0x4000; ++a) memory.bytes[a] = static_cast<std::uint8_t>(a / 16 + 1);
    bind_checked(cache.to_crossbar, memory.socket);
    bind_checked(crowd.initiator->socket, cache.from_sm);
    engine.set_loose(true);
  }
  EngineProcess engine;
  Module cache;
  LooseMemory memory;
  Crowd crowd;
};
using L1Over = CacheOver<L1LgModule, L1LgParameters>;
using TextureOver = CacheOver<ReadOnlyCacheModule, ReadOnlyCacheParameters>;

/// An L2 slice of ours whose DRAM and link are somebody's.
struct SliceOver {
  SliceOver(const std::string& name, LooseMemory::Habits habits, std::vector<Asker> askers,
            unsigned registers)
      : engine(text(name, "_engine").c_str(), 1000),
        l2(name.c_str(), engine, {}, L2Parameters{1, {4, 4}, registers}, &vidmem, 1),
        dram(text(name, "_dram").c_str(), habits),
        pcie(text(name, "_link").c_str(), habits),
        crowd(text(name, "_crowd").c_str(), std::move(askers)) {
    for (std::uint64_t a = 0; a < 0x4000; ++a) {
      pcie.bytes[kSysmem + a] = static_cast<std::uint8_t>(a / 16 + 1);
      *vidmem.at(a) = static_cast<std::uint8_t>(a / 16 + 1);
    }
    bind_checked(l2.to_dram[0], dram.socket);
    bind_checked(l2.to_pcie, pcie.socket);
    bind_checked(crowd.initiator->socket, l2.from_crossbar);
    engine.set_loose(true);
  }
  MemoryImage vidmem{kMemory};
  EngineProcess engine;
  L2SliceModule l2;
  LooseMemory dram, pcie;
  Crowd crowd;
};

/// Our crossbar over somebody's L2.
struct CrossbarOver {
  CrossbarOver(const std::string& name, LooseMemory::Habits habits, std::vector<Asker> askers)
      : engine(text(name, "_engine").c_str(), 1000),
        crossbar(name.c_str(), engine, {}, {}, 1, 1, {}, true),
        l2(text(name, "_l2").c_str(), habits),
        crowd(text(name, "_crowd").c_str(), std::move(askers)) {
    for (std::uint64_t a = 0; a < 0x4000; ++a) l2.bytes[a] = static_cast<std::uint8_t>(a / 16 + 1);
    bind_checked(crossbar.to_l2[0], l2.socket);
    bind_checked(crowd.initiator->socket, crossbar.from_client[0]);
    engine.set_loose(true);
  }
  EngineProcess engine;
  CrossbarModule crossbar;
  LooseMemory l2;
  Crowd crowd;
};

/// A requester of ours in an engine over an L1 and somebody's memory, at rest between rounds of reads.
struct FromEngine {
  static constexpr unsigned kReads = 8;  ///< of a round
  FromEngine(const std::string& name, LooseMemory::Habits habits, HopTransport transport)
      : engine(text(name, "_engine").c_str(), 1000, transport),
        requester(engine.engine(), name, {}, {}),
        ours(text(name, "_sm").c_str(), engine, requester),
        l1(name.c_str(), engine, ClockDomain{}, L1LgParameters{}, true),
        memory(text(name, "_memory").c_str(), habits) {
    for (std::uint64_t a = 0; a < 0x4000; ++a) memory.bytes[a] = static_cast<std::uint8_t>(a / 16 + 1);
    if (transport == HopTransport::direct) {
      ours.socket.bind(l1.from_sm);
    } else {
      bind_checked(ours.socket, l1.from_sm);
    }
    bind_checked(l1.to_crossbar, memory.socket);
  }
  void set_loose(bool loose) {
    if (hop == nullptr) hop = std::make_unique<LooseHop>(requester.out, requester.in);
    engine.set_loose(loose);
    hop->set_loose(loose);
  }
  void ask(unsigned first_line) {
    std::vector<Item> all;
    for (unsigned n = 0; n < kReads; ++n) {
      all.push_back(read_item(0, PhysicalAddress{(first_line + n) * kLineBytes}, 1));
      all.back().request.virtual_line = VirtualAddress{all.back().request.line.value};
    }
    requester.ask(all);
    engine.wake();
  }
  EngineProcess engine;
  Requester requester;
  OurSocket ours;
  L1LgModule l1;
  LooseMemory memory;
  std::unique_ptr<LooseHop> hop;
  std::vector<sc_core::sc_time> rest;  ///< when each round was over
};

}  // namespace warpline::test
