#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "rtl_models/nvme/admin_commands.h"
#include "rtl_models/nvme/nvm_commands.h"
#include "rtl_models/nvme/nvme_engine.h"
#include "rtl_models/nvme/nvme_state.h"
#include "rtl_models/pcie/endpoint/endpoint_function.h"
#include "rtl_models/registers/register_file.h"

namespace warpline {

/// An NVMe controller without time of its own: registers, queues, commands and interrupts are as its manual
/// says, which is made of sw/regs/nvme.toml.
///
/// BARs, of 64 bits each: 0 registers and doorbells, 2 MSI-X, 4 the controller memory buffer.
class NvmeCore final : public EndpointFunction, private NvmeExecutor {
 public:
  static constexpr unsigned kRegisterBar = 0, kMsixBar = 2, kBufferBar = 4;

  /// What its configuration space says of it.
  [[nodiscard]] static FunctionDescription description(const NvmeParameters& parameters);

  /// The bus outlives it, and is that of a function with this description. `controller`: which of the system
  /// it is. `stores`: of its namespaces, from number 1 on: as many as the parameters say, each a multiple of
  /// 4096 bytes. `cycles_per_us`: of the clock in which it is told the time. Pre: the parameters have no
  /// problems.
  NvmeCore(EndpointCore& bus, const NvmeParameters& parameters, unsigned controller,
           std::vector<std::unique_ptr<BlockStore>> stores, unsigned cycles_per_us);

  Cycle step(Cycle now, unsigned room) override;
  void power_on() override;
  [[nodiscard]] bool busy() const override { return engine_.busy() || resetting_; }
  [[nodiscard]] const RegisterFile& registers() const override { return registers_; }
  [[nodiscard]] unsigned register_bar() const override { return kRegisterBar; }
  void visit(std::string_view block, CounterVisitor& visitor) const override {
    visit_counters(block, state_.counters, visitor);
  }
  void visit_gauges(GaugeVisitor& visitor) const override;
  void archive(StateArchive& a) override;

  /// Has commands fail as the rule says, from now on, and across resets. False: there are as many rules as
  /// may be, NvmeFaults::kMost.
  [[nodiscard]] bool inject(const NvmeFaultRule& rule) { return state_.faults.add(rule); }
  /// Rules that are not spent.
  [[nodiscard]] std::size_t injected() const { return state_.faults.size(); }
  /// Takes back all rules; the chances of the parameters stay.
  void forget_injected() { state_.faults.clear(); }
  /// Shows a namespace, or hides it, as if it were attached or detached by other means; the host is told.
  /// Pre: there is one of that number.
  void set_active(std::uint32_t nsid, bool active);

  [[nodiscard]] const NvmeCounters& counters() const { return state_.counters; }
  [[nodiscard]] const NvmeQueues& queues() const { return state_.queues; }
  [[nodiscard]] unsigned namespaces() const { return static_cast<unsigned>(state_.spaces.size()); }
  /// Number `nsid`, from 1 on. Pre: there is that one.
  [[nodiscard]] NvmeNamespace& space(std::uint32_t nsid) { return state_.spaces.at(nsid - 1); }
  /// The bytes of its memory buffer.
  [[nodiscard]] EndpointMemory& buffer() { return buffer_; }
  [[nodiscard]] EndpointMemory* memory_behind(unsigned bar) override {
    return bar == kBufferBar && !buffer_.empty() ? &buffer_ : nullptr;
  }

 private:
  /// Completions of a vector that no interrupt has told of.
  struct Untold {
    unsigned count = 0;
    Cycle deadline = kNever;
    template <class Archive>
    void archive(Archive& a) {
      a(count, deadline);
    }
  };
  void describe_registers();
  void describe_doorbells();
  [[nodiscard]] bool buffer_is_misplaced() const;
  [[nodiscard]] std::uint64_t capabilities() const;
  [[nodiscard]] std::uint64_t status() const;
  AccessOutcome access(const BarHit& where, Tlp& tlp, Cycle now) override;
  void configure(std::uint64_t before, std::uint64_t value);
  void enable();
  void disable();
  void shut_down_if_idle();
  void ring_submissions(unsigned queue, std::uint32_t tail);
  void ring(bool known, bool taken, unsigned queue);
  bool tell_events();
  void raise(unsigned vector);
  void find_to_tell();
  void forget();

  NvmeStatus begin(unsigned queue, std::uint64_t number, const NvmeCommand& command, NvmePlan& plan,
                   Cycle now) override;
  bool may_perform(unsigned queue, const NvmeCommand& command) override;
  NvmeStatus perform(unsigned queue, std::uint64_t number, const NvmeCommand& command,
                     std::vector<std::uint8_t>& data, std::uint32_t& result, Cycle now) override;
  void entered(unsigned queue, std::uint64_t number, const char* step, Cycle now) override {
    if (observer_ != nullptr) observer_->entered(queue, number, step, now);
  }
  bool completed(unsigned queue, std::uint64_t number, const NvmeCommand& command, NvmeStatus status,
                 Cycle now) override;
  void written(unsigned completion_queue, Cycle now) override;
  void failed_fatally() override { fatal_ = true; }
  std::uint8_t* local(std::uint64_t address, std::uint32_t bytes) override;

  unsigned cycles_per_us_;
  RegisterFile registers_;
  NvmeState state_;
  NvmeEngine engine_;
  AdminCommands admin_;
  NvmCommands nvm_;
  EndpointMemory buffer_;
  std::vector<Untold> untold_;
  Cycle to_tell_ = kNever;    ///< the first deadline of those
  std::uint32_t masked_ = 0;  ///< what INTMS and INTMC say
  bool ready_ = false, fatal_ = false;
  bool resetting_ = false;  ///< what was under way on the bus has not come back
  bool shutting_ = false, shut_ = false;
  bool unsaved_ = false;  ///< the shutdown could not write caches back, and is never complete
  /// Some queue may have a command to fetch, or an event is to be told. Set by accesses, and computed anew by
  /// each step().
  bool waiting_ = false;
  Cycle now_ = 0;  ///< of what is being done
};

}  // namespace warpline
