#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "rtl_models/pcie/endpoint/endpoint_function.h"
#include "rtl_models/queue_device/command_engine.h"
#include "rtl_models/queue_device/queue_device_parameters.h"
#include "rtl_models/queue_device/queue_pair.h"
#include "rtl_models/registers/register_file.h"

namespace warpline {

/// What a queue device did.
struct QueueDeviceCounters {
  std::uint64_t register_reads = 0;
  std::uint64_t register_writes = 0;
  std::uint64_t buffer_accesses = 0;
  std::uint64_t bad_accesses = 0;
  std::uint64_t doorbells = 0;
  std::uint64_t commands = 0;
  std::uint64_t failed_commands = 0;
  std::uint64_t interrupts = 0;
  std::uint64_t resets = 0;

  template <class F>
  void visit(F&& f) const {
    f("register_reads", register_reads, "accesses", "reads of registers, of the MSI-X table too");
    f("register_writes", register_writes, "accesses", "writes of registers, of the MSI-X table too");
    f("buffer_accesses", buffer_accesses, "accesses", "of its own memory");
    f("bad_accesses", bad_accesses, "accesses", "that no register takes");
    f("doorbells", doorbells, "accesses", "of registers, those to doorbells");
    f("commands", commands, "commands", "completed");
    f("failed_commands", failed_commands, "commands", "of those, with another status than OK");
    f("interrupts", interrupts, "interrupts", "raised, masked ones included");
    f("resets", resets, "resets", "by its CONTROL register");
  }
};

/// A queue device without time: a queue-pair engine behind registers (its manual is made of
/// sw/regs/peer.toml).
///
/// BARs, of 64 bits each: 0 registers, 2 MSI-X, 4 its own memory. Queues, commands and interrupts are as the
/// manual says.
class QueueDeviceCore final : public EndpointFunction, private CommandListener {
 public:
  static constexpr unsigned kRegisterBar = 0, kMsixBar = 2, kBufferBar = 4;

  /// What its configuration space says of it.
  [[nodiscard]] static FunctionDescription description(const QueueDeviceParameters& parameters);

  /// The bus outlives it, and is that of a function with this description. `cycles_per_us`: of the clock in
  /// which it is told the time. Pre: the parameters have no problems.
  QueueDeviceCore(EndpointCore& bus, const QueueDeviceParameters& parameters, double cycles_per_us);

  /// Executes commands and raises interrupts.
  Cycle step(Cycle now, unsigned room) override;
  void power_on() override {
    forget_queues();
    resetting_ = false;
    registers_.power_on();
    buffer_.clear();
  }

  /// Has `heard` be told of every vector that it raises, masked or not, whatever kind of time it is.
  void on_interrupt(std::function<void(unsigned vector, Cycle now)> heard) {
    interrupt_heard_ = std::move(heard);
  }
  /// A write of its that somebody answers, as on a bus without PCI Express, was refused: an error of the bus,
  /// as a read that fails.
  void write_refused(std::uint64_t address) { bus_failed(address); }
  [[nodiscard]] bool busy() const override { return engine_.busy() || resetting_; }
  [[nodiscard]] const QueueDeviceCounters& counters() const { return counters_; }
  /// Its own memory.
  [[nodiscard]] EndpointMemory& buffer() { return buffer_; }
  [[nodiscard]] EndpointMemory* memory_behind(unsigned bar) override {
    return bar == kBufferBar ? &buffer_ : nullptr;
  }
  [[nodiscard]] const RegisterFile& registers() const override { return registers_; }
  [[nodiscard]] unsigned register_bar() const override { return kRegisterBar; }
  [[nodiscard]] const std::vector<QueuePair>& queues() const { return queues_; }

  void visit(std::string_view block, CounterVisitor& visitor) const override {
    visit_counters(block, counters_, visitor);
  }
  void visit_gauges(GaugeVisitor& visitor) const override;
  void archive(StateArchive& a) override {
    a(registers_, engine_, events_, waiting_, log_, counters_, now_).fixed(queues_)(buffer_);
  }

 private:
  void describe_registers();
  void describe_queues();
  AccessOutcome access(const BarHit& where, Tlp& tlp, Cycle now) override;
  void control_queue(unsigned queue, std::uint64_t value);
  void ring_submissions(unsigned queue, std::uint32_t tail);
  void ring(bool taken);
  void forget_queues();
  void error(std::uint64_t bits);
  void raise(unsigned queue);
  /// What a queue's COALESCE is set to.
  struct Coalescing {
    unsigned count = 0;
    Cycle time = 0;  ///< 0: no limit
  };
  [[nodiscard]] Coalescing coalescing(unsigned queue) const;
  void command_completed(unsigned queue, std::uint64_t number, const QueueDeviceCommand& command,
                         unsigned status, Cycle now) override;
  void notified(std::uint64_t operand) override;
  void bus_failed(std::uint64_t address) override;

  QueueDeviceParameters parameters_;
  double cycles_per_us_;
  RegisterFile registers_;
  std::vector<QueuePair> queues_;
  EndpointMemory buffer_;
  CommandEngine engine_;
  std::deque<std::uint32_t> events_;
  bool resetting_ = false;
  /// Some queue may have a command to fetch or an interrupt to raise. Set by doorbells and COALESCE, and
  /// computed anew by each step().
  bool waiting_ = false;
  QueueDeviceCounters counters_;
  std::function<void(unsigned, Cycle)> interrupt_heard_;
  Cycle now_ = 0;  ///< of what is being done
};

}  // namespace warpline
