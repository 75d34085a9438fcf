#include "rtl_models/pcie/gpu_link/gpu_registers.h"

#include "rtl_models/base/contract.h"

namespace warpline {

using namespace regs::gpu;

void GpuRegisters::add_to(FunctionDescription& description) {
  description.bars[kRegisterBar] = {kMap.bytes, true, false};
  description.bars[kMsixBar] = {4096, true, false};
  description.vectors = 1;
  description.msix_bar = kMsixBar;
}

GpuRegisters::GpuRegisters(EndpointCore& bus, std::uint64_t log_entries)
    : EndpointFunction(bus, log_entries), registers_(kMap) {
  const auto tells = [this](unsigned index, auto fact) {
    registers_.on_look(index, [this, fact](unsigned) { return std::uint64_t{facts_.*fact}; });
  };
  tells(kSms, &Facts::sms);
  tells(kClockMhz, &Facts::mhz);
  tells(kMemoryBytes, &Facts::memory_bytes);
  tells(kMemoryFirst, &Facts::memory_first);
  tells(kMemoryEnd, &Facts::memory_end);
  tells(kMemoryBase, &Facts::memory_base);
  registers_.on_look(kTime, [this](unsigned) { return now_; });
  registers_.on_look(kStatus, [this](unsigned) { return in_field<kStatusState>(state_); });
  registers_.on_write(kControl, [this](const RegisterWrite& w) {
    if ((w.value & w.bits & kControlAbort) != 0 && is_running()) abort_ = true;
  });
  registers_.on_write(kInterruptEnable, [this](const RegisterWrite& w) {
    if ((w.value & ~w.before & registers_.get(kInterruptStatus)) != 0) raise_ = true;
  });
  registers_.on_write(kLaunchDoorbell, [this](const RegisterWrite&) { ring(); });
}

void GpuRegisters::ring() {
  if (is_running()) return mistake(kErrorBusy);
  state_ = kStateRunning;
  for (const unsigned index : {kErrorCode, kFaultAddress, kFaultKind, kFaultSm}) registers_.set(index, 0);
  if (is_served_) {
    launch_ = registers_.get(kLaunchDescriptor);
  } else {
    GpuLaunchEnd end;
    end.state = kStateRefused;
    end.error = kLaunchErrorNotServed;
    ended(end);
  }
}

std::vector<GpuRegisters::Window> GpuRegisters::windows() const {
  std::vector<Window> out;
  for (unsigned i = 0; i < kWindows; ++i) {
    const std::uint64_t control = registers_.get(kWindowControl, i);
    if ((control & kWindowControlEnable) == 0) continue;
    out.push_back({i, registers_.get(kWindowBus, i), registers_.get(kWindowAddress, i),
                   registers_.get(kWindowBytes, i), (control & kWindowControlPrefetchable) != 0});
  }
  return out;
}

void GpuRegisters::ended(const GpuLaunchEnd& end) {
  WARPLINE_EXPECT(is_running() && !launch_, "a launch that was taken ends once");
  state_ = end.state;
  abort_ = false;
  ++counters_.launches;
  counters_.refused += end.state == kStateRefused;
  counters_.faulted += end.state == kStateFaulted;
  counters_.aborted += end.state == kStateAborted;
  registers_.set(kErrorCode, end.error);
  if (end.state != kStateRefused) registers_.set(kCycles, end.cycles);
  registers_.set(kFaultKind, end.fault);
  registers_.set(kFaultAddress, end.fault_address);
  registers_.set(kFaultSm, end.fault_sm);
  registers_.set(kCompletions, registers_.get(kCompletions) + 1);
  tell(kInterruptStatusEnded);
}

void GpuRegisters::mistake(std::uint64_t bits) {
  registers_.raise(kError, bits);
  tell(kInterruptStatusMistake);
}

void GpuRegisters::tell(std::uint64_t bits) {
  registers_.raise(kInterruptStatus, bits);
  if ((registers_.get(kInterruptEnable) & bits) != 0) raise_ = true;
}

AccessOutcome GpuRegisters::access(const BarHit& where, Tlp& tlp, Cycle now) {
  now_ = now;
  if (tlp.kind == TlpKind::memory_read) ++counters_.reads;
  if (tlp.posted()) ++counters_.writes;
  const bool in_registers = where.bar == kRegisterBar;
  const AccessOutcome outcome =
      in_registers ? access_registers(registers_, where, tlp, true) : access_msix(where, tlp);
  if (outcome == AccessOutcome::done) return outcome;
  ++counters_.bad_accesses;
  if (!in_registers) return outcome;
  if ((registers_.get(kError) & kErrorBadAccess) == 0) registers_.set(kBadOffset, where.offset);
  mistake(kErrorBadAccess);
  return outcome;
}

Cycle GpuRegisters::step(Cycle now, unsigned /*room*/) {
  now_ = now;
  if (std::exchange(raise_, false)) {
    ++counters_.interrupts;
    bus_.msix()->raise(0);
  }
  return kNever;
}

void GpuRegisters::power_on() {
  ++power_ons_;
  registers_.power_on();
  state_ = kStateIdle;
  launch_.reset();
  abort_ = raise_ = false;
}

}  // namespace warpline
