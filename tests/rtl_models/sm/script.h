#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rtl_models/sm/sm.h"
#include "rtl_models/sm/work_distributor.h"
#include "tests/support/flat_memory.h"

namespace warpline::test {

/// One instruction of a scripted warp.
struct Step {
  Instruction instruction;
  std::function<void(MemoryAccess&)> fill;  ///< of a memory instruction
  BarrierOp barrier;
  std::uint64_t sleep = 0;
  bool others_run = false;  ///< a barrier for some lanes only: the warp stays runnable
};

/// Instructions in PTX's words.
inline Instruction with_registers(Instruction i, const std::vector<std::uint16_t>& sources,
                                  const std::vector<std::uint16_t>& destinations) {
  i.source_count = static_cast<std::uint8_t>(sources.size());
  i.destination_count = static_cast<std::uint8_t>(destinations.size());
  std::size_t n = 0;
  for (const std::uint16_t r : sources) i.registers[n++] = r;
  for (const std::uint16_t r : destinations) i.registers[n++] = r;
  return i;
}
inline Step alu(std::uint8_t latency, const std::vector<std::uint16_t>& sources = {},
                const std::vector<std::uint16_t>& destinations = {}) {
  Step s;
  s.instruction = with_registers(s.instruction, sources, destinations);
  s.instruction.latency = latency;
  return s;
}
inline Step memory(MemKind kind, Space space, DataType type, std::function<void(MemoryAccess&)> fill,
                   const std::vector<std::uint16_t>& destinations = {}) {
  Step s;
  s.instruction = with_registers(s.instruction, {}, destinations);
  s.instruction.kind = InstructionKind::memory;
  s.instruction.mem.kind = kind;
  s.instruction.mem.space = space;
  s.instruction.mem.type = type;
  s.fill = std::move(fill);
  return s;
}
inline Step ordered(Step s, Semantics semantics, Scope scope) {
  s.instruction.mem.semantics = semantics;
  s.instruction.mem.scope = scope;
  return s;
}
inline Step fence(Semantics semantics, Scope scope) {
  Step s;
  s.instruction.kind = InstructionKind::fence;
  s.instruction.mem.kind = MemKind::fence;
  return ordered(s, semantics, scope);
}
inline Step barrier(BarrierOp op) {
  Step s;
  s.instruction.kind = InstructionKind::barrier;
  s.barrier = op;
  return s;
}
/// The step, its instruction lying at `pc`.
inline Step at(std::uint32_t pc, Step s) {
  s.instruction.pc = pc;
  return s;
}
inline Step invalidate_instructions(std::uint8_t latency) {
  Step s = alu(latency);
  s.instruction.kind = InstructionKind::invalidate_instructions;
  return s;
}
/// All lanes at base + lane * stride.
inline std::function<void(MemoryAccess&)> strided(std::uint64_t base, std::int64_t stride,
                                                  LaneMask active = ~LaneMask{0}) {
  return [=](MemoryAccess& a) {
    a.active = active;
    a.form = AddressForm::strided;
    a.base = base;
    a.stride = stride;
  };
}

/// What a scripted kernel did, seen from its source.
struct Log {
  struct Issued {
    unsigned slot;
    std::size_t step;
    std::uint64_t edge;
    const Instruction* expected;  ///< what next() said last
    const Instruction* executed;
  };
  std::vector<Issued> issued;
  std::map<std::pair<unsigned, std::size_t>, LaneBuffers> loaded;  ///< by slot and step
  [[nodiscard]] std::uint64_t edge_of(unsigned slot, std::size_t step) const {
    for (const Issued& i : issued)
      if (i.slot == slot && i.step == step) return i.edge;
    return ~std::uint64_t{0};
  }
};

/// Runs script w in warp w of every CTA.
class ScriptSource final : public InstructionSource {
 public:
  ScriptSource(const std::vector<std::vector<Step>>& scripts, Log& log, unsigned slots)
      : scripts_(scripts), log_(log), slots_(slots) {}
  void begin_warp(unsigned slot, Dim3, unsigned warp, LaneMask threads) override {
    slots_[slot] = {&scripts_[warp % scripts_.size()], 0, false, threads, nullptr, false};
  }
  [[nodiscard]] WarpState state(unsigned slot) const override {
    const Warp& w = slots_[slot];
    if (w.lanes == 0) return WarpState::exited;
    return w.waits ? WarpState::at_barrier : WarpState::runnable;
  }
  [[nodiscard]] const Instruction& next(unsigned slot) override {
    Warp& w = slots_[slot];
    w.said = &(*w.script)[w.step].instruction;
    return *w.said;
  }
  void execute(unsigned slot, Issue& issue) override {
    Warp& w = slots_[slot];
    const Step& s = (*w.script)[w.step];
    log_.issued.push_back({slot, w.step, issue.clock, w.said, &s.instruction});
    issue.active = w.lanes;
    // What another instruction accessed is none of this one's affairs.
    const bool accesses = s.instruction.kind == InstructionKind::memory;
    EXPECT_EQ(issue.access != nullptr, accesses) << "step " << w.step;
    EXPECT_EQ(issue.fault, nullptr) << "step " << w.step;
    if (s.fill && issue.access != nullptr) {
      s.fill(*issue.access);
      issue.access->active &= w.lanes;
    }
    issue.barrier = s.barrier;
    issue.sleep_cycles = s.sleep;
    w.waits = s.instruction.kind == InstructionKind::barrier && s.barrier.waits && !s.others_run;
    if (s.others_run) w.jump = true;
    ++w.step;
    if (w.step == w.script->size() && !w.waits) w.lanes = 0;
  }
  void complete(unsigned slot, const Instruction& i, const MemoryAccess& access, bool) override {
    const Warp& w = slots_[slot];
    const void* const its = reinterpret_cast<const char*>(&i) - offset_of_instruction();
    const auto step = static_cast<std::size_t>(static_cast<const Step*>(its) - w.script->data());
    LaneBuffers& b = log_.loaded[{slot, step}];
    std::memcpy(b.data.data(), access.data, b.data.size());
  }
  void release_barrier(unsigned slot, std::uint32_t) override {
    Warp& w = slots_[slot];
    if (w.jump) ++w.step;  // the released lanes run first, from one step further on
    w.jump = w.waits = false;
    if (w.step >= w.script->size()) w.lanes = 0;
  }
  [[nodiscard]] LaneMask live_lanes(unsigned slot) const override { return slots_[slot].lanes; }
  void kill(unsigned slot) override { slots_[slot].lanes = 0; }
  [[nodiscard]] std::string where(const Instruction& i) const override {
    return "pc " + std::to_string(i.pc);
  }

 private:
  struct Warp {
    const std::vector<Step>* script = nullptr;
    std::size_t step = 0;
    bool waits = false;
    LaneMask lanes = 0;
    const Instruction* said = nullptr;
    bool jump = false;
  };
  static std::size_t offset_of_instruction() {
    const Step s;
    return static_cast<std::size_t>(reinterpret_cast<const char*>(&s.instruction) -
                                    reinterpret_cast<const char*>(&s));
  }
  const std::vector<std::vector<Step>>& scripts_;
  Log& log_;
  std::vector<Warp> slots_;
};

/// One SM that runs scripts, with flat memories around it.
struct SmBench {
  using Delay = std::function<Cycle(const Request&, std::size_t)>;
  explicit SmBench(std::vector<std::vector<Step>> the_scripts, const Delay& delay = fixed(20),
                   SmParameters p = {}, TickMode mode = TickMode::lazy)
      : scripts(std::move(the_scripts)),
        parameters(p),
        engine(mode, 3),
        sm(engine, "sm[0]", ClockDomain{}, p, SmNumber{}),
        distributor(engine, "distributor", ClockDomain{}, 1),
        l1(engine, "l1", delay),
        texture(engine, "texture", delay),
        constant(engine, "constant", delay),
        instruction(engine, "instruction", delay),
        crossbar(engine, "crossbar", delay) {
    join(sm.to_l1_lg, l1.in, l1.out, sm.from_l1_lg);
    join(sm.to_texture, texture.in, texture.out, sm.from_texture);
    join(sm.to_constant, constant.in, constant.out, sm.from_constant);
    join(sm.to_instruction, instruction.in, instruction.out, sm.from_instruction);
    join(sm.to_crossbar, crossbar.in, crossbar.out, sm.from_crossbar);
    for (L1Port& port : sm.more_l1_ports()) {
      FlatMemory& m = more_l1.emplace_back(engine, "l1[" + std::to_string(more_l1.size() + 1) + "]", delay);
      join(port.to_l1_lg, m.in, m.out, port.from_l1_lg);
    }
    connect(distributor.to_sm[0], sm.from_distributor, kChannel);
    connect(sm.to_distributor, distributor.from_sm[0], kChannel);
    space.map({0x1000, 0x1000, physical(Aperture::vidmem, 0x8000), 0});
    space.map({0x10000000, 0x10000, physical(Aperture::vidmem, 0x10000), 0});
  }
  static Delay fixed(Cycle cycles) {
    return [cycles](const Request&, std::size_t) { return cycles; };
  }
  /// Runs `ctas` CTAs of one warp per script.
  RunOutcome run(unsigned ctas = 1, unsigned threads = 0, unsigned resident = 1) {
    prepare(ctas, threads, resident);
    return engine.run_until(1000000);
  }
  /// The same up to the first cycle.
  void prepare(unsigned ctas = 1, unsigned threads = 0, unsigned resident = 1) {
    KernelInfo info;
    info.grid = {ctas, 1, 1};
    info.block = {threads != 0 ? threads : static_cast<unsigned>(scripts.size()) * kWarpLanes, 1, 1};
    info.registers = 32;
    info.shared_bytes = 1024;
    info.local_bytes = 64;
    info.code_bytes = code_bytes;
    MemoryMap map;
    map.space = &space;
    map.images = &images;
    map.constant_base = physical(Aperture::vidmem, 0x100000);
    map.local_base = physical(Aperture::vidmem, 0x200000);
    map.local_bytes = 64;
    map.code_base = kCodeBase;
    sm.start(info, std::make_unique<ScriptSource>(scripts, log, parameters.warp_slots), map, resident);
    distributor.start(info.grid, resident);
  }
  static constexpr ChannelParameters kChannel{128, 1, 8, 1};
  static constexpr PhysicalAddress kCodeBase = physical(Aperture::vidmem, 0x400000);

  std::vector<std::vector<Step>> scripts;
  SmParameters parameters;
  std::uint64_t code_bytes = 0;  ///< of the kernels that run: with none, nothing is fetched
  Log log;
  AddressSpace space;
  ImageTable images;
  Engine engine;
  Sm sm;
  WorkDistributor distributor;
  FlatMemory l1, texture, constant, instruction, crossbar;
  std::deque<FlatMemory> more_l1;  ///< behind the other ports to L1, as many as SmParameters::l1_ports says

 private:
  static void join(Out<RequestMessage>& a, In<RequestMessage>& b, Out<ResponseMessage>& c,
                   In<ResponseMessage>& d) {
    connect(a, b, kChannel);
    connect(c, d, kChannel);
  }
};

}  // namespace warpline::test
