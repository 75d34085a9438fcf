#pragma once

#include <cstdint>

#include "platform/host/host.h"
#include "rtl_models/base/types.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/pcie/packets/tlp.h"

namespace warpline {

/// A host in plain C++: it runs software natively, as calls from outside the engine, and lets simulated time
/// pass where that software waits for hardware.
///
/// Software costs no time of its own. An access takes as long as hardware takes to answer it, a posted write
/// none.
class WARPLINE_PUBLIC HostMachine final : public Host {
 public:
  using Host::Host;

  [[nodiscard]] std::uint64_t load(std::uint64_t address, unsigned bytes) override;
  void store(std::uint64_t address, unsigned bytes, std::uint64_t value) override;
  void barrier() override;
  [[nodiscard]] std::uint64_t load_config(FunctionId id, std::uint64_t offset, unsigned bytes) override;
  void store_config(FunctionId id, std::uint64_t offset, unsigned bytes, std::uint64_t value) override;
  /// How the load before went.
  [[nodiscard]] TlpOutcome outcome() const { return outcome_; }

  /// Lets time pass.
  void pass(Cycle cycles);
  void delay_ns(std::uint64_t nanoseconds) override;
  bool wait_interrupt(unsigned device, unsigned vector, std::uint32_t timeout_us) override;
  /// The same for so many cycles.
  bool wait_interrupt_for(unsigned device, unsigned vector, Cycle cycles);
  [[nodiscard]] Cycle now() const { return now_; }
  /// What was done so far took no time: software begins in the cycle in which the engine is. Pre: nothing is
  /// under way.
  void forget_time();
  /// Whether somebody has asked the engine to stop (Engine::on_progress) while time passed here.
  [[nodiscard]] bool was_stopped() const { return stopped_; }

 private:
  /// Waits for the answer to what a ticket of the host bridge is for.
  std::uint64_t finish(std::uint64_t ticket, unsigned shift, unsigned bytes);
  [[nodiscard]] bool arrives(unsigned device, unsigned vector, Cycle deadline);
  [[nodiscard]] Cycle soonest();
  [[nodiscard]] bool step(Cycle limit);

  Cycle now_ = 0;
  bool stopped_ = false;
  TlpOutcome outcome_ = TlpOutcome::done;
};

}  // namespace warpline
