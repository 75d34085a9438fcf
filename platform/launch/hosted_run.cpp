#include "platform/launch/hosted_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "platform/launch/element.h"
#include "platform/machine/device_log.h"
#include "platform/machine/pcie_system.h"
#include "rtl_models/base/bits.h"
#include "rtl_models/base/contract.h"
#include "rtl_models/base/text.h"
#include "rtl_models/pcie/endpoint/endpoint_device.h"
#include "rtl_models/pcie/gpu_link/gpu_function.h"
#include "rtl_models/sim/memory_image.h"

namespace warpline {
namespace {

/// Looks over the bus at a machine at rest, all alike, after which another would be like them: more than a
/// queue behind a register holds.
constexpr unsigned kVainLooks = 64;
/// Time that passes before the host hears that it is to stop.
constexpr Cycle kMostAtOnce = 1000;

bool holds(const HostStep& step, std::uint64_t got, std::uint64_t wanted) {
  const DataType type = step.target.type;
  if (!step.at_least) return same_element(type, got & step.mask, wanted & step.mask);
  if (is_float(type)) return element_as_double(type, got) >= element_as_double(type, wanted);
  if (!is_signed(type)) return got >= wanted;
  const unsigned bits = 8 * size_of(type);
  return sign_extended(got, bits) >= sign_extended(wanted, bits);
}

/// "\"flags[0]\" to be 1"
std::string condition(const HostStep& step, std::uint64_t wanted) {
  return "\"" + step.target.text + "\" to be " + (step.at_least ? "at least " : "") +
         element_text(step.target.type, wanted);
}

/// Of a load that brought no value.
std::string text_of(TlpOutcome outcome) {
  switch (outcome) {
    case TlpOutcome::done: break;
    case TlpOutcome::unsupported_request: return "was refused: unsupported request";
    case TlpOutcome::completer_abort: return "was refused: completer abort";
    case TlpOutcome::poisoned: return "was answered with poisoned data";
    case TlpOutcome::timeout: return "was not answered in time (pcie_system.host.completion_timeout)";
  }
  return "was answered";
}

/// "write flags[0]"
std::string text_of(const HostStep& step) {
  switch (step.kind) {
    case HostStep::Kind::write: return "write " + step.target.text;
    case HostStep::Kind::read: return "read " + step.target.text;
    case HostStep::Kind::wait: return "wait " + step.target.text;
    case HostStep::Kind::interrupt:
      return fmt::format("interrupt {}.vector[{}]", step.device.text(), step.vector);
    case HostStep::Kind::delay: break;
  }
  return "delay";
}

}  // namespace

Diagnostics HostedRun::set_up(PlacedFile& placed) {
  platform_.build();
  PcieSystem& system = *platform_.pcie();
  if (!host_) {
    const bool loose = system.is_loose();
    system.set_loose(true);
    host_.emplace(system);
    host_->enumerate();
    system.set_loose(loose);
  }
  const LaunchFile& file = placed.file;
  Diagnostics faults;
  check_reach(placed, faults);
  const auto lies_in = [&](const DevicePlace& where, std::uint64_t bytes) {
    const std::uint64_t size = bar_of(where).bytes;
    if (where.offset < size && bytes <= size - where.offset) return;
    if (size == 0) {
      faults.push_back(file.document->fault(
          where.place, fmt::format("{} has no BAR {}", where.device.text(), where.bar),
          "a controller has a memory buffer with --set pcie_system.nvme.buffer_bytes=1048576"));
      return;
    }
    faults.push_back(file.document->fault(
        where.place, "\"" + where.text + "\" lies beyond its BAR, which has " + counted(size, "byte")));
  };
  for (const DeviceAddress& a : file.addresses)
    if (a.where) lies_in(*a.where, 1);
  for (const Launch& l : file.launches)
    for (const HostStep& s : l.host)
      if (s.target.device) {
        lies_in(*s.target.device, size_of(s.target.type));
      } else if (s.kind == HostStep::Kind::interrupt) {
        if (const unsigned has = host_->devices()[number_of(s.device)].vectors; s.vector >= has)
          faults.push_back(file.document->fault(
              s.place, fmt::format("interrupt: {} has the vectors 0 to {}", s.device.text(), has - 1)));
      }
  if (!faults.empty()) return faults;
  for (const DeviceAddress& a : file.addresses)
    placed.addresses.push_back(a.bus ? bus_address(*a.bus, placed) : mapped(*a.where));
  set_registers(placed);
  host_->forget_time();
  return {};
}

void HostedRun::set_registers(const PlacedFile& placed) {
  const std::vector<LaunchRegister>& registers = placed.file.registers;
  const auto is_set = [](const LaunchRegister& r) { return r.initial.has_value(); };
  if (std::none_of(registers.begin(), registers.end(), is_set)) return;
  // A doorbell among them makes a device work, perhaps in the memory of a GPU. That passes by hops that are
  // opened as pins: their wires show what is timed.
  PcieSystem& system = *platform_.pcie();
  const bool loose = system.is_loose();
  platform_.set_loose(true);
  for (const LaunchRegister& r : registers)
    if (r.initial) host_->store(address_of(r.where), r.where.bytes, bits_of(*r.initial, placed));
  for (Cycle next = system.next_activity(); next != kNever; next = system.next_activity())
    static_cast<void>(system.run_until(next));
  platform_.set_loose(loose);
}

/// Of what is over, components and wires may have wakes: how many is the carrier's.
bool HostedRun::at_rest() const {
  PcieSystem& system = *platform_.pcie();
  return system.engine().quiescent() || system.next_activity() == kNever;
}

void HostedRun::begin() {
  const PcieSystem& system = *platform_.pcie();
  log_begins_.clear();
  for (unsigned i = 0; i < system.ports(); ++i)
    log_begins_.push_back(system.at_port(i).function.log().total());
}

std::uint64_t HostedRun::offset_of(std::size_t buffer, const PlacedFile& placed) const {
  return offset_in_aperture(
      platform_.physical_of(placed.buffers[buffer], placed.file.buffers[buffer].gpu).value());
}

unsigned HostedRun::number_of(const DeviceName& device) const {
  return device.kind == DeviceName::Kind::nvme ? platform_.pcie()->peers() + device.number : device.number;
}

const HostDevice::Bar& HostedRun::bar_of(const DevicePlace& where) const {
  return host_->devices()[number_of(where.device)].bars[where.bar];
}

const HostDevice::Bar& HostedRun::memory_bar(unsigned gpu) const {
  return host_->devices()[device_of(gpu)].bars[GpuFunction::kMemoryBar];
}

void HostedRun::check_reach(const PlacedFile& placed, Diagnostics& faults) const {
  const LaunchFile& file = placed.file;
  const bool among_each_other = platform_.config().pcie_system.root.peer_to_peer;
  std::vector<bool> seen(file.buffers.size());
  const auto refuse = [&](Place place, const std::string& what) {
    faults.push_back(file.document->fault(place, what + ", and root ports pass nothing on to each other",
                                          "they do with --set pcie_system.root.peer_to_peer=true"));
  };
  const auto check_once = [&](std::size_t buffer, Place place) {
    const Buffer& b = file.buffers[buffer];
    if (seen[buffer] || b.aperture != Aperture::vidmem) return;
    seen[buffer] = true;
    const std::uint64_t bar = memory_bar(b.gpu).bytes;
    const std::uint64_t end = offset_of(buffer, placed) + b.bytes();
    if (end <= bar) return;
    std::uint64_t enough = 4096;
    while (enough < end) enough *= 2;
    faults.push_back(file.document->fault(
        place,
        fmt::format("buffer \"{}\" reaches beyond the BAR of GPU {}, which has {} bytes", b.name, b.gpu, bar),
        fmt::format("host and devices reach all of it with --set pcie.bar_bytes={}", enough)));
  };
  const auto check_bus = [&](const std::optional<BusAddress>& bus) {
    if (!bus) return;
    if (!among_each_other && file.buffers[bus->buffer].aperture == Aperture::vidmem)
      refuse(bus->place, "buffer \"" + file.buffers[bus->buffer].name + "\" lies in the memory of a GPU");
    check_once(bus->buffer, bus->place);
  };
  for (const DeviceAddress& a : file.addresses) {
    check_bus(a.bus);
    if (a.where && !among_each_other)
      refuse(a.place, "kernels reach \"" + a.where->text + "\" over their link");
  }
  for (const LaunchRegister& r : file.registers)
    if (r.initial) check_bus(r.initial->bus);
  for (const Launch& l : file.launches)
    for (const HostStep& s : l.host) {
      if (s.value) check_bus(s.value->bus);
      if (!s.target.text.empty() && !s.target.device) check_once(s.target.buffer, s.place);
    }
}

std::uint64_t HostedRun::bus_address(const BusAddress& bus, const PlacedFile& placed) {
  const unsigned device = number_of(bus.device);
  if (const Buffer& b = placed.file.buffers[bus.buffer]; b.aperture == Aperture::vidmem) {
    if (opened_.emplace(device, b.gpu).second)
      WARPLINE_EXPECT(host_->open_bar(device, device_of(b.gpu), GpuFunction::kMemoryBar),
                      "a buffer that is reached lies behind a BAR");
    return memory_bar(b.gpu).address + offset_of(bus.buffer, placed) + bus.offset;
  }
  const std::uint64_t at = offset_of(bus.buffer, placed);
  const auto [found, fresh] = buffers_.try_emplace({device, at}, 0);
  if (fresh) {
    std::uint8_t* const memory = platform_.pcie()->sysmem().at(at);
    found->second =
        host_->map_dma(device, memory, placed.file.buffers[bus.buffer].bytes(), WL_DMA_BOTH).value();
  }
  return found->second + bus.offset;
}

std::uint64_t HostedRun::bits_of(const HostValue& value, const PlacedFile& placed) {
  return value.bus ? bus_address(*value.bus, placed) : value.bits;
}

std::uint64_t HostedRun::address_of(const DevicePlace& where) const {
  return bar_of(where).address + where.offset;
}

std::uint64_t HostedRun::mapped(const DevicePlace& where) {
  const unsigned device = number_of(where.device);
  const auto [found, fresh] = bars_.try_emplace({device, where.bar}, 0);
  if (fresh) {
    for (unsigned gpu = 0; gpu < platform_.config().gpus; ++gpu)
      WARPLINE_EXPECT(host_->open_bar(device_of(gpu), device, where.bar), "BARs of 64 bits are placed");
    const HostDevice::Bar& bar = bar_of(where);
    found->second = platform_.map(Aperture::peer, bar.address, bar.bytes, bar.prefetchable);
    platform_.name_memory(found->second, fmt::format("{}.bar[{}]", where.device.text(), where.bar));
  }
  return found->second + where.offset;
}

std::vector<Comparison> HostedRun::compared(const LaunchFile& file) {
  std::vector<Comparison> out;
  for (const LaunchRegister& r : file.registers) {
    if (!r.expect) continue;
    const RegisterFile& registers =
        platform_.pcie()->function(number_of(r.where.device)).function().registers();
    const std::uint64_t got = registers.peek(r.where.offset, r.where.bytes).value & r.mask;
    const std::uint64_t wanted = *r.expect & r.mask;
    out.push_back({"register \"" + r.where.text + "\"", {}});
    if (got != wanted)
      out.back().failure = fmt::format("{0}: got 0x{1:0{3}X}, wanted 0x{2:0{3}X}", out.back().what, got,
                                       wanted, 2 * r.where.bytes);
  }
  return out;
}

std::string HostedRun::access_log(bool json) {
  return device_log(*platform_.pcie(), log_begins_, json);
}

/// A launch, and what the host does meanwhile.
class HostedRun::Program {
 public:
  Program(HostedRun& software, const PlacedFile& placed)
      : software_(software),
        platform_(software.platform_),
        system_(*platform_.pcie()),
        host_(*software.host_),
        placed_(placed) {}

  HostedLaunch run(const Launch& launch, const std::vector<GridLaunch>& grids) {
    Engine& engine = system_.engine();
    const Cycle started = engine.now();
    platform_.start(grids);
    for (const HostStep& step : launch.host) {
      if (!may_go_on()) give_up(step, "time for its next step");
      if (!may_go_on() || !perform(step)) break;
    }
    LaunchResult& result = out_.result;
    if (grids_ended_) {
      result.outcome = system_.run_until(software_.max_cycles_);
    } else {
      result = platform_.finish();
    }
    if (result.outcome == RunOutcome::quiescent && host_.now() > engine.now()) {
      // The host went on when nothing moved any more: its last step ends the launch.
      engine.note_move(host_.now());
      result.outcome = system_.run_until(software_.max_cycles_);
    }
    result.cycles = engine.now() - started;
    if (host_.was_stopped()) {
      result.outcome = RunOutcome::stopped;
    } else if (waits_ && result.outcome == RunOutcome::quiescent) {
      out_.host_is_stuck = true;
      result.outcome = left() != 0 ? RunOutcome::deadlock : RunOutcome::cycle_limit;
    }
    if (result.outcome != RunOutcome::quiescent) {
      result.standstill = platform_.standstill();
      if (waits_) result.standstill.waits.push_back(*waits_);
    }
    return std::move(out_);
  }

 private:
  /// Does a step, and tells the timeline. False: the program cannot go on.
  bool perform(const HostStep& step) {
    // What grids that have ended wrote is seen by now.
    if (system_.engine().quiescent()) end_grids();
    const Cycle begun = now();
    bool goes_on = true;
    switch (step.kind) {
      case HostStep::Kind::write: write(step); break;
      case HostStep::Kind::read: read(step); break;
      case HostStep::Kind::wait: goes_on = wait(step); break;
      case HostStep::Kind::interrupt: goes_on = wait_interrupt(step); break;
      case HostStep::Kind::delay: goes_on = delay(step); break;
    }
    platform_.host_did(text_of(step), place_of(step), begun, now());
    return goes_on;
  }

  [[nodiscard]] Cycle now() const { return std::max(host_.now(), platform_.now()); }
  /// Cycles before the limit.
  [[nodiscard]] Cycle left() const { return software_.max_cycles_ - std::min(software_.max_cycles_, now()); }
  [[nodiscard]] bool may_go_on() const { return !host_.was_stopped() && left() != 0; }
  [[nodiscard]] std::string place_of(const HostStep& step) const {
    return placed_.file.document->file() + ":" + std::to_string(step.place.line);
  }
  void give_up(const HostStep& step, const std::string& what) {
    waits_ = Wait{"host", what + " (" + place_of(step) + ")"};
  }

  /// Of a target that the host reaches by loads and stores of the bus; nothing: it lies in system memory.
  [[nodiscard]] std::optional<std::uint64_t> on_bus(const HostTarget& target) const {
    if (target.device) return software_.address_of(*target.device);
    const Buffer& b = placed_.file.buffers[target.buffer];
    if (b.aperture != Aperture::vidmem) return std::nullopt;
    return software_.memory_bar(b.gpu).address + offset_of(target);
  }
  /// Where an element lies in its memory.
  [[nodiscard]] std::uint64_t offset_of(const HostTarget& target) const {
    return software_.offset_of(target.buffer, placed_) + target.element * size_of(target.type);
  }

  /// What the host reads; nothing: nobody has answered, or with an error (HostMachine::outcome).
  [[nodiscard]] std::optional<std::uint64_t> look(const HostTarget& target) {
    const auto address = on_bus(target);
    if (!address) return load_element(target.type, system_.sysmem().at(offset_of(target)));
    const std::uint64_t value = host_.load(*address, size_of(target.type));
    if (host_.outcome() != TlpOutcome::done) return std::nullopt;
    return value;
  }

  void write(const HostStep& step) {
    const HostTarget& target = step.target;
    const std::uint64_t bits = software_.bits_of(*step.value, placed_);
    if (const auto address = on_bus(target)) {
      host_.store(*address, size_of(target.type), bits);
    } else {
      store_element(target.type, bits, system_.sysmem().at(offset_of(target)));
    }
  }

  void read(const HostStep& step) {
    const auto got = look(step.target);
    if (got && !step.value) return;
    Comparison& comparison = out_.comparisons.emplace_back();
    comparison.what = "\"" + step.target.text + "\", read by the host (" + place_of(step) + ")";
    const std::uint64_t wanted = step.value ? software_.bits_of(*step.value, placed_) : 0;
    if (got && holds(step, *got, wanted)) return;
    const DataType type = step.target.type;
    comparison.failure = "the host (" + place_of(step) + ") read \"" + step.target.text + "\": " +
                         (got ? "got " + element_text(type, *got & step.mask) + ", wanted " +
                                    element_text(type, wanted & step.mask)
                              : text_of(host_.outcome()));
  }

  bool wait(const HostStep& step) {
    const std::uint64_t wanted = software_.bits_of(*step.value, placed_);
    const bool by_loads = on_bus(step.target).has_value();
    std::optional<std::uint64_t> before;
    for (unsigned alike = 0;;) {
      // What answered the look before may yet have wakes for what is over.
      const bool rested = by_loads ? system_.engine().quiescent() : software_.at_rest();
      const auto got = look(step.target);
      if (got && holds(step, *got, wanted)) return true;
      // What is not answered now will not be, whatever else goes on.
      alike = (rested || !got) && got == before ? alike + 1 : 0;
      before = got;
      const bool over = rested && !end_grids();
      const bool in_vain = (over || !got) && (!by_loads || alike >= kVainLooks);
      if (in_vain || !may_go_on()) {
        give_up(step, condition(step, wanted) + ", which " +
                          (got ? "is " + element_text(step.target.type, *got & step.mask)
                               : text_of(host_.outcome())));
        return false;
      }
      host_.pass(std::min(kPoll, left()));
    }
  }

  bool wait_interrupt(const HostStep& step) {
    const unsigned device = software_.number_of(step.device);
    for (;;) {
      const bool rested = software_.at_rest();
      if (host_.wait_interrupt_for(device, step.vector, std::min(kMostAtOnce, left()))) return true;
      if (!(rested && !end_grids()) && may_go_on()) continue;
      give_up(step, fmt::format("interrupt {} of {}", step.vector, step.device.text()));
      return false;
    }
  }

  bool delay(const HostStep& step) {
    Cycle more = step.cycles;
    while (more != 0 && may_go_on()) {
      const Cycle at_once = std::min({more, kMostAtOnce, left()});
      host_.pass(at_once);
      more -= at_once;
    }
    if (more != 0) give_up(step, std::to_string(more) + " more cycles to pass");
    return more == 0;
  }

  /// Whether grids, of a machine at rest, end now: then what they wrote is seen. False: they have before, or
  /// cannot end.
  bool end_grids() {
    if (grids_ended_ || platform_.running()) return false;
    out_.result = platform_.finish();
    grids_ended_ = true;
    return true;
  }

  HostedRun& software_;
  GpuPlatform& platform_;
  PcieSystem& system_;
  HostMachine& host_;
  const PlacedFile& placed_;
  HostedLaunch out_;
  bool grids_ended_ = false;
  std::optional<Wait> waits_;  ///< for what did not come
};

HostedLaunch HostedRun::run(const PlacedFile& placed, const Launch& launch,
                            const std::vector<GridLaunch>& grids) {
  return Program(*this, placed).run(launch, grids);
}

}  // namespace warpline
