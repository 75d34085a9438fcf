#pragma once

#include <cstdint>

#include "rtl_models/base/counter.h"
#include "rtl_models/base/state_archive.h"
#include "rtl_models/pcie/endpoint/device_observer.h"
#include "rtl_models/pcie/endpoint/endpoint_memory.h"
#include "rtl_models/pcie/packets/endpoint_core.h"
#include "rtl_models/registers/access_log.h"
#include "rtl_models/registers/register_file.h"
#include "rtl_models/sim/gauge_visitor.h"

namespace warpline {

/// What a PCI Express function does behind its BARs, without time: EndpointDevice puts it at the end of a
/// link. It makes its own requests by its EndpointCore.
class EndpointFunction {
 public:
  /// The bus outlives it. `log_entries`: of the access log.
  EndpointFunction(EndpointCore& bus, std::uint64_t log_entries) : bus_(bus), log_(log_entries) {}
  virtual ~EndpointFunction() = default;
  EndpointFunction(const EndpointFunction&) = delete;
  EndpointFunction& operator=(const EndpointFunction&) = delete;

  /// Performs an access to a BAR, and writes it into the log as it returns it. Of a read or an atomic, `data`
  /// is the answer.
  BusAccess perform(const BarHit& where, Tlp& access, Cycle now);
  /// Does its own work and raises interrupts, as far as may be in cycle `now`. `room`: packets that may be
  /// made, about. Returns when there is more to do, if nothing comes; kNever: never.
  virtual Cycle step(Cycle now, unsigned room) = 0;
  /// Power-on: everything as it was built. What the bus has under way must have been forgotten.
  virtual void power_on() = 0;
  /// Whether it has work that is not over.
  [[nodiscard]] virtual bool busy() const = 0;

  /// Who hears what it does from now on; null: nobody.
  void observe_by(DeviceObserver* observer) { observer_ = observer; }
  /// What arrived at its BARs, oldest first.
  [[nodiscard]] const AccessLog& log() const { return log_; }
  [[nodiscard]] virtual const RegisterFile& registers() const = 0;
  /// The BAR in which they lie, at offset 0.
  [[nodiscard]] virtual unsigned register_bar() const = 0;
  /// What is behind a BAR that has memory of the device and nothing else; null: that one has not.
  [[nodiscard]] virtual EndpointMemory* memory_behind(unsigned /*bar*/) { return nullptr; }
  /// Its counters, under the path `block`.
  virtual void visit(std::string_view block, CounterVisitor& visitor) const = 0;
  /// Gauges beyond those of its link, its vectors and its registers.
  virtual void visit_gauges(GaugeVisitor& visitor) const = 0;
  /// Pre: not busy().
  virtual void archive(StateArchive& a) = 0;

 protected:
  /// Performs an access of a byte or more: a read or an atomic leaves its answer in `data`.
  virtual AccessOutcome access(const BarHit& where, Tlp& tlp, Cycle now) = 0;

  /// An access to registers, which take no atomic. `takes_writes` false: a write changes nothing, and counts
  /// as done.
  static AccessOutcome access_registers(RegisterFile& registers, const BarHit& where, Tlp& tlp,
                                        bool takes_writes);
  /// An access to the table of vectors and their pending bits, as registers say it. Pre: it has vectors.
  AccessOutcome access_msix(const BarHit& where, Tlp& tlp);
  /// An access to memory of the device, in which it lies at `offset`.
  static void access_memory(EndpointMemory& memory, std::uint64_t offset, Tlp& tlp);

  EndpointCore& bus_;
  AccessLog log_;
  DeviceObserver* observer_ = nullptr;
};

}  // namespace warpline
