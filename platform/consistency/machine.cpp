#include "platform/consistency/machine.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <numeric>

#include "platform/consistency/holds.h"
#include "platform/consistency/run_state.h"
#include "platform/consistency/source.h"
#include "platform/machine/direct_backend.h"
#include "platform/machine/system.h"
#include "rtl_models/base/contract.h"
#include "rtl_models/sim/jitter.h"

namespace warpline::litmus {
namespace {

/// Cycles of the fastest clock in which the edges of all clocks repeat.
Cycle period_of(const ClockParameters& c) {
  const Cycle fastest = std::max({c.sm, c.l2, c.dram, c.link});
  Cycle period = 1;
  for (const Cycle mhz : {Cycle{c.sm}, Cycle{c.l2}, Cycle{c.dram}, Cycle{c.link}})
    period = std::lcm(period, fastest / std::gcd(fastest, mhz));
  return period;
}

/// Room for the arena, and for nothing else: the host backs what is used only.
constexpr std::uint64_t kImageBytes = 1U << 20U;

}  // namespace

class Machine::State {
 public:
  State(const GpuConfig& config, std::shared_ptr<NetlistBackend> backend, bool loose);

  [[nodiscard]] std::vector<std::string> refusals(const Test& test) const;
  void load(const Test& test);
  bool run(std::uint64_t seed, Cycle most);
  [[nodiscard]] Cycle cycles() const { return cycles_; }
  [[nodiscard]] bool held() const { return holds_.held(); }
  [[nodiscard]] bool gave_way() const { return gave_way_; }
  [[nodiscard]] const Standstill& standstill() const { return standstill_; }
  [[nodiscard]] const std::string& fault() const { return fault_; }
  [[nodiscard]] std::int64_t value(const Term& term);
  [[nodiscard]] std::uint64_t ticks() const { return backend_->engine().ticks(); }

 private:
  void prepare(std::uint64_t seed);
  void warm(Random& random);
  template <class Drawn>
  void warm(unsigned gpu, Netlist::SmCluster& c, Drawn&& drawn);
  [[nodiscard]] Request fill_of(unsigned memory);
  void end_warps();
  [[nodiscard]] unsigned resident(const Program& program) const;
  [[nodiscard]] std::uint8_t* bytes_of(unsigned memory);
  [[nodiscard]] Cycle next_start() const;

  GpuConfig config_;
  bool takes_holds_;
  std::shared_ptr<NetlistBackend> backend_;
  std::deque<MemoryImage> vidmem_;  ///< by GPU
  MemoryImage sysmem_;
  MemoryDevice peer_;
  AddressSpace space_;
  ImageTable images_;
  std::unique_ptr<System> system_;
  std::unique_ptr<Jitter> jitter_;
  Cycle cycles_ = 0;
  bool has_standstill_ = false;
  Standstill standstill_;
  std::string fault_;  ///< of the last run
  Cycle period_ = 1;   ///< in which the edges of all clocks repeat
  const Test* test_ = nullptr;
  Program program_;
  RunState run_;
  Holds holds_;
  bool gave_way_ = false;
};

Machine::State::State(const GpuConfig& config, std::shared_ptr<NetlistBackend> backend, bool loose)
    : config_(config),
      takes_holds_(backend == nullptr && !loose),
      backend_(backend != nullptr ? std::move(backend) : std::make_shared<DirectBackend>()),
      sysmem_(kImageBytes),
      peer_(kImageBytes),
      period_(period_of(config.clocks)) {
  for (const Home home : {Home::vidmem, Home::sysmem, Home::peer})
    for (unsigned n = 0; n < Arena::kWindows; ++n)
      space_.map({Arena::window(home, n), Arena::kBytes, Arena::base(home), 0});
  std::vector<MemoryImage*> vidmem;
  for (unsigned n = 0; n < config.gpus; ++n) vidmem.push_back(&vidmem_.emplace_back(kImageBytes));
  system_ = std::make_unique<System>(config_, backend_->engine(), vidmem, &sysmem_, &peer_);
  for (unsigned n = 0; n < system_->gpus(); ++n) backend_->connect(system_->gpu(n));
  for (unsigned n = 0; n < system_->gpus(); ++n)
    backend_->set_loose(system_->gpu(n), loose);  // binds hops that are made late, as SystemC's are
  jitter_ = std::make_unique<Jitter>(backend_->engine());
}

unsigned Machine::State::resident(const Program& program) const {
  const unsigned n = std::min(config_.sm.cta_slots, config_.sm.warp_slots / program.threads_per_cta);
  return program.shared_bytes == 0 ? n : std::min(n, config_.sm.shared_bytes / program.shared_bytes);
}

std::vector<std::string> Machine::State::refusals(const Test& test) const {
  std::vector<std::string> out = litmus::refusals(test);
  if (!out.empty()) return out;
  ImageTable images;
  const Program program = lower(test, images);
  if (!test.holds.empty() && !takes_holds_)
    out.push_back(
        "it holds messages back, which timed runs port to port do only (--transport fast, no pins)");
  const unsigned gpus = program.places.gpus;
  if (gpus > config_.gpus)
    out.push_back("its threads are on " + std::to_string(gpus) + " GPUs, of which there are " +
                  std::to_string(config_.gpus));
  if (program.cluster_ctas > 1 && !config_.sm_network.present)
    out.push_back(
        "its CTAs meet or share memory in clusters, for which the GPU has no network between SMs "
        "(sm_network.present)");
  if (program.cluster_ctas > config_.sm_network.cluster_ctas)
    out.push_back("a cluster has " + std::to_string(program.cluster_ctas) + " CTAs, of which the GPU takes " +
                  std::to_string(config_.sm_network.cluster_ctas) + " (sm_network.cluster_ctas)");
  if (!out.empty()) return out;
  const std::uint64_t room = std::uint64_t{resident(program)} * config_.sms;
  if (program.cluster_ctas > 1) {
    // Whole clusters, on one GPC if it comes to that.
    const std::uint64_t all = program.clusters.size() * program.cluster_ctas;
    if (all > std::uint64_t{resident(program)} * (config_.sms / config_.gpcs))
      out.push_back("its " + std::to_string(all) + " CTAs, in whole clusters, do not fit a GPC at once");
    return out;
  }
  for (unsigned g = 0; g < gpus; ++g) {
    const auto ctas = static_cast<std::uint64_t>(std::count_if(
        program.ctas.begin(), program.ctas.end(), [&](const CtaProgram& c) { return c.gpu == g; }));
    if (ctas <= room) continue;
    out.push_back("its " + std::to_string(ctas) + " CTAs of up to " +
                  std::to_string(program.threads_per_cta) +
                  " threads do not fit a GPU at once, which holds " + std::to_string(room));
    break;
  }
  return out;
}

void Machine::State::load(const Test& test) {
  test_ = &test;
  images_ = {};
  program_ = lower(test, images_);
  run_ = RunState{};
  has_standstill_ = false;
  standstill_ = {};
  run_.program = &program_;
  run_.observer = test.holds.empty() ? nullptr : &holds_;
  KernelInfo info;
  info.name = test.name;
  info.block.x = program_.threads_per_cta * kWarpLanes;
  info.registers = program_.registers;
  info.shared_bytes = program_.shared_bytes;
  info.cluster.size.x = program_.cluster_ctas;
  MemoryMap map;
  map.space = &space_;
  map.images = &images_;
  map.constant_base = Arena::base(Home::vidmem);
  for (unsigned g = 0; g < program_.places.gpus; ++g)
    for (Netlist::SmCluster& c : system_->gpu(g).clusters())
      c.sm->start(info, make_source(run_, g, *c.sm, config_.sm.warp_slots), map, resident(program_));
}

std::uint8_t* Machine::State::bytes_of(unsigned memory) {
  const Places& places = program_.places;
  switch (places.home[memory]) {
    case Home::sysmem: return sysmem_.at(run_.offset[memory]);
    case Home::peer: return peer_.image().at(run_.offset[memory]);
    default: return vidmem_[places.owner(memory)].at(run_.offset[memory]);
  }
}

/// A while after whatever a channel or memory still owes, on a common edge of all clocks.
Cycle Machine::State::next_start() const {
  constexpr Cycle kRest = 64;
  return ((backend_->engine().now() + kRest) / period_ + 1) * period_;
}

/// What a fill of the sectors of `memory` brings.
Request Machine::State::fill_of(unsigned memory) {
  const unsigned within = run_.offset[memory] % kLineBytes;
  Request r;
  r.line = PhysicalAddress{Arena::base(program_.places.home[memory]).value + run_.offset[memory] - within};
  r.sectors = sectors_of(within, Test::kBytes);
  std::memcpy(r.data.data(), bytes_of(memory) - within, kLineBytes);
  return r;
}

template <class Drawn>
void Machine::State::warm(unsigned gpu, Netlist::SmCluster& c, Drawn&& drawn) {
  for (const Warmable& w : program_.warmable) {
    if (!program_.places.reaches(gpu, w.memory) || !drawn()) continue;
    Request r = fill_of(w.memory);
    r.virtual_line = VirtualAddress{w.base + offset_in_aperture(r.line)};
    switch (w.cache) {
      case Warmable::Cache::l1_surface: r.surface = true; [[fallthrough]];
      case Warmable::Cache::l1_lg: c.l1_lg->path().put(r); break;
      case Warmable::Cache::texture:
        (c.texture != nullptr ? c.texture->path() : c.l1_lg->path()).put(r);
        break;
      case Warmable::Cache::constant: c.constant->path().put(r); break;
    }
  }
}

/// Half of what may be in a cache is there, of L2 and of each SM that runs a CTA.
void Machine::State::warm(Random& random) {
  std::uint64_t bits = random.next();
  const auto drawn = [&bits] {
    bits = bits >> 1U | bits << 63U;
    return (bits & 1U) != 0;
  };
  const Places& places = program_.places;
  for (unsigned g = 0; g < places.gpus; ++g) {
    Netlist& gpu = system_->gpu(g);
    for (unsigned m = 0; m < places.home.size(); ++m) {
      const bool cached = places.home[m] == Home::vidmem || places.home[m] == Home::sysmem;
      if (!cached || !places.reaches(g, m) || !drawn()) continue;
      const Request r = fill_of(m);
      gpu.slice(gpu.crossbar().core().slice_of(r.line)).core().put(r);
    }
    const std::vector<unsigned>& sms = run_.gpus[g].sms;
    for (auto sm = sms.begin(); sm != sms.end(); ++sm)
      if (std::find(sms.begin(), sm, *sm) == sm) warm(g, gpu.clusters()[*sm], drawn);
  }
}

void Machine::State::prepare(std::uint64_t seed) {
  const std::vector<Home>& home = program_.places.home;
  run_.draw(*test_, seed, config_.sms, {config_.gpcs, config_.sms_per_tpc}, resident(program_));
  backend_->engine().restart();
  jitter_->draw(seed);
  for (unsigned m = 0; m < home.size(); ++m)
    if (home[m] != Home::shared) {
      std::memcpy(bytes_of(m), &test_->memories[m].initial, Test::kBytes);
      std::memset(bytes_of(m) + Test::kBytes, 0, program_.slot_bytes - Test::kBytes);
    }
  Random random(~seed);
  warm(random);
  holds_.begin(*test_, run_, *system_, backend_->engine());
}

bool Machine::State::run(std::uint64_t seed, Cycle most) {
  prepare(seed);
  fault_.clear();
  const Cycle start = next_start();
  for (unsigned g = 0; g < program_.places.gpus; ++g)
    system_->gpu(g).distributor().start_at(run_.gpus[g].sms, start, program_.cluster_ctas);
  RunOutcome outcome = backend_->run_until(start + most);
  gave_way_ = outcome == RunOutcome::deadlock && holds_.let_go();
  if (gave_way_) outcome = backend_->run_until(start + most);
  bool ended = outcome == RunOutcome::quiescent;
  cycles_ = backend_->engine().now() - start;
  if (!ended) end_warps();
  for (unsigned g = 0; g < program_.places.gpus; ++g)
    for (Netlist::SmCluster& c : system_->gpu(g).clusters()) {
      if (c.sm->faults().empty()) continue;
      const FaultReport& first = c.sm->faults().front();
      fault_ = first.kind + " (" + first.where + ")";
      c.sm->forget_faults();
      ended = false;
    }
  return ended;
}

void Machine::State::end_warps() {
  holds_.let_go();
  if (!has_standstill_) standstill_ = backend_->standstill();
  has_standstill_ = true;
  for (unsigned g = 0; g < program_.places.gpus; ++g)
    for (Netlist::SmCluster& c : system_->gpu(g).clusters()) c.sm->end_warps();
  WARPLINE_EXPECT(backend_->run_until(kNever - 1) == RunOutcome::quiescent,
                  "hardware without warps comes to rest");
}

std::int64_t Machine::State::value(const Term& term) {
  if (term.kind == Term::Kind::constant) return term.value;
  if (term.kind == Term::Kind::reg) return run_.threads[term.thread].registers[term.number];
  const unsigned memory = test_->locations[term.number].memory;
  const Memory& own = test_->memories[memory];
  const Home home = program_.places.home[memory];
  if (home == Home::shared) return own.value(static_cast<std::uint64_t>(run_.shared_end[memory]));
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes_of(memory), sizeof bits);
  if (home == Home::sysmem) {
    const PhysicalAddress at{Arena::base(home).value + run_.offset[memory]};
    auto* const bytes = reinterpret_cast<std::uint8_t*>(&bits);
    for (unsigned g = 0; g < program_.places.gpus; ++g) {
      Netlist& gpu = system_->gpu(g);
      gpu.slice(gpu.crossbar().core().slice_of(line_of(at))).core().overlay(at, bytes, sizeof bits);
    }
  }
  return own.value(bits);
}

Machine::Machine(const GpuConfig& config, std::shared_ptr<NetlistBackend> backend, bool loose)
    : state_(std::make_unique<State>(config, std::move(backend), loose)) {}

Machine::~Machine() = default;

std::vector<std::string> Machine::refusals(const Test& test) const {
  return state_->refusals(test);
}

void Machine::load(const Test& test) {
  state_->load(test);
}

bool Machine::run(std::uint64_t seed, Cycle most) {
  return state_->run(seed, most);
}

Cycle Machine::cycles() const {
  return state_->cycles();
}

bool Machine::held() const {
  return state_->held();
}

bool Machine::gave_way() const {
  return state_->gave_way();
}

const Standstill& Machine::standstill() const {
  return state_->standstill();
}

const std::string& Machine::fault() const {
  return state_->fault();
}

std::int64_t Machine::value(const Term& term) {
  return state_->value(term);
}

std::uint64_t Machine::ticks() const {
  return state_->ticks();
}

}  // namespace warpline::litmus
