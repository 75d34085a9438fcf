#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "rtl_models/pcie/endpoint/endpoint_function.h"
#include "rtl_models/pcie/gpu_link/registers/gpu.h"
#include "rtl_models/registers/register_file.h"

namespace warpline {

/// What software did at a GPU's registers.
struct GpuRegisterCounters {
  std::uint64_t reads = 0, writes = 0, bad_accesses = 0;
  std::uint64_t launches = 0, refused = 0, faulted = 0, aborted = 0, interrupts = 0;

  template <class F>
  void visit(F&& f) const {
    f("reads", reads, "accesses", "reads of registers, of the MSI-X table too");
    f("writes", writes, "accesses", "writes of registers, of the MSI-X table too");
    f("bad_accesses", bad_accesses, "accesses", "that no register takes");
    f("launches", launches, "launches", "that have ended, in whatever way");
    f("refused", refused, "launches", "of those, that did not run");
    f("faulted", faulted, "launches", "of those, that a fault ended");
    f("aborted", aborted, "launches", "of those, that software ended");
    f("interrupts", interrupts, "interrupts", "raised, masked ones included");
  }
};

/// How a launch ended.
struct GpuLaunchEnd {
  regs::gpu::State state = regs::gpu::kStateDone;  ///< none of IDLE and RUNNING
  regs::gpu::LaunchError error = regs::gpu::kLaunchErrorNone;
  std::uint64_t cycles = 0;
  regs::gpu::FaultCode fault = regs::gpu::kFaultCodeNone;
  std::uint64_t fault_address = 0;
  unsigned fault_sm = 0;
};

/// The registers of a GPU, without time (their manual is made of sw/regs/gpu.toml): BAR 2, and its MSI-X
/// table in BAR 4. It says what software wants, and is told what became of it; whoever runs kernels looks at
/// it between cycles.
class GpuRegisters final : public EndpointFunction {
 public:
  static constexpr unsigned kRegisterBar = 2, kMsixBar = 4;
  /// Adds what a function with these registers has.
  static void add_to(FunctionDescription& description);

  /// The bus outlives it, and is that of a function with these BARs.
  GpuRegisters(EndpointCore& bus, std::uint64_t log_entries);

  /// What registers tell of the GPU.
  struct Facts {
    unsigned sms = 0, mhz = 0;
    std::uint64_t memory_bytes = 0, memory_first = 0, memory_end = 0, memory_base = 0;
  };
  /// Somebody runs kernels from now on: without, launches are refused (NOT_SERVED).
  void describe(const Facts& facts) {
    facts_ = facts;
    is_served_ = true;
  }

  /// A window that is enabled, as its registers are now.
  struct Window {
    unsigned number = 0;
    std::uint64_t bus = 0, address = 0, bytes = 0;
    bool prefetchable = false;
  };
  [[nodiscard]] std::vector<Window> windows() const;
  /// What a doorbell has asked for: the offset of the descriptor. STATUS says RUNNING until ended(). To be
  /// taken once; nothing: it was, or there was none.
  [[nodiscard]] bool has_launch() const { return launch_.has_value(); }
  [[nodiscard]] std::optional<std::uint64_t> take_launch() { return std::exchange(launch_, std::nullopt); }
  /// Whether software wants what runs to end. To be taken once.
  [[nodiscard]] bool has_abort() const { return abort_; }
  [[nodiscard]] bool take_abort() { return std::exchange(abort_, false); }
  /// How often everything was as at power-on again: what was taken before that, nobody hears of any more.
  [[nodiscard]] std::uint64_t power_ons() const { return power_ons_; }
  /// Pre: a launch was taken since the last of these, and has not ended.
  void ended(const GpuLaunchEnd& end);
  /// Whether step() has an interrupt to raise.
  [[nodiscard]] bool has_interrupt() const { return raise_; }

  Cycle step(Cycle now, unsigned room) override;
  void power_on() override;
  /// Of the bus: what kernels do is nothing of its own.
  [[nodiscard]] bool busy() const override { return raise_; }
  [[nodiscard]] const RegisterFile& registers() const override { return registers_; }
  [[nodiscard]] unsigned register_bar() const override { return kRegisterBar; }
  void visit(std::string_view block, CounterVisitor& visitor) const override {
    visit_counters(block, counters_, visitor);
  }
  void visit_gauges(GaugeVisitor& /*visitor*/) const override {}
  /// Pre: no launch is under way.
  void archive(StateArchive& a) override { a(registers_, log_, counters_, now_, state_); }
  [[nodiscard]] const GpuRegisterCounters& counters() const { return counters_; }

 private:
  AccessOutcome access(const BarHit& where, Tlp& tlp, Cycle now) override;
  void ring();
  void mistake(std::uint64_t bits);
  void tell(std::uint64_t bits);
  [[nodiscard]] bool is_running() const { return state_ == regs::gpu::kStateRunning; }

  RegisterFile registers_;
  Facts facts_;
  regs::gpu::State state_ = regs::gpu::kStateIdle;
  std::optional<std::uint64_t> launch_;
  std::uint64_t power_ons_ = 0;
  bool is_served_ = false;
  bool abort_ = false;
  bool raise_ = false;
  GpuRegisterCounters counters_;
  Cycle now_ = 0;  ///< of what is being done
};

}  // namespace warpline
