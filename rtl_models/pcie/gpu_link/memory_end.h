#pragma once

#include <cstdint>
#include <vector>

#include "rtl_models/pcie/gpu_link/memory_device.h"
#include "rtl_models/pcie/gpu_link/pcie_transfers.h"
#include "rtl_models/pcie/packets/memory_writers.h"
#include "rtl_models/pcie/packets/timed_queue.h"
#include "rtl_models/sim/engine.h"
#include "rtl_models/sim/in_flight.h"
#include "rtl_models/sim/memory_image.h"

namespace warpline {

/// The memory at the far end of a link: system memory, or the memory of a device, which is `farther` cycles
/// beyond the end of the wire. Transfers take effect in the order of the wire. An answer takes the same
/// `farther` cycles back to the wire.
class MemoryEnd final : public MemoryWriter {
 public:
  struct Memory {
    Aperture aperture = Aperture::sysmem;
    MemoryImage* image = nullptr;    ///< null: of system memory, tags only; of a device, there is none
    MemoryDevice* device = nullptr;  ///< whose bus shows what arrives; null: nobody's
    bool with_data = true;           ///< false: tags only
    unsigned farther = 0;            ///< one way beyond the end of the link, link cycles
  };
  /// All outlive it.
  MemoryEnd(const Component& link, const PcieCore& core, PcieTransfers& transfers, PcieCounters& counters,
            const Memory& memory)
      : link_(link), core_(core), transfers_(transfers), counters_(counters), memory_(memory) {}

  [[nodiscard]] const Memory& memory() const { return memory_; }
  /// Whether the line is one of this memory, and not beyond its end; tags only, system memory has none.
  [[nodiscard]] bool reaches(PhysicalAddress line) const;
  /// The last packet of a transfer comes to the end of the link at edge `at`.
  void expect(std::uint64_t at, PcieTransfer& transfer) { arriving_.push(at + memory_.farther, &transfer); }
  /// Performs a transfer that is at the end of the link at edge `t`, loosely timed; `t`: when its answer is
  /// on the wire downward.
  void perform(std::uint64_t& t, PcieTransfer& transfer) {
    t += memory_.farther;
    take_effect(t, transfer);
    t += memory_.farther;
  }
  void arrive(Cycle now) override;
  /// For a debugger behind the link: lays what posted writes are bringing over `bytes`, which are the
  /// memory's, at `address` and on, within one line.
  void overlay(PhysicalAddress address, std::uint8_t* bytes, unsigned count) const;
  /// For a debugger: the memory has been written; so is what they are bringing.
  void update(PhysicalAddress address, const std::uint8_t* bytes, unsigned count);
  /// Transfers whose answers are on their way to the wire downward.
  [[nodiscard]] TimedQueue<PcieTransfer*>& returning() { return returning_; }
  /// Edge at which something arrives or returns; kNever: nothing is under way.
  [[nodiscard]] std::uint64_t next() const { return std::min(arriving_.next(), returning_.next()); }
  void in_flight(std::vector<InFlight>& rows) const;

 private:
  /// The bytes of a line that it reaches; null: tags only.
  [[nodiscard]] std::uint8_t* at(PhysicalAddress line) const {
    return memory_.with_data ? memory_.image->at(offset_in_aperture(line)) : nullptr;
  }
  void take_effect(std::uint64_t at, PcieTransfer& transfer);
  /// Calls f(n, byte) where a posted write brings byte n of those at `address` and on, in the order of the
  /// wire.
  template <class F>
  void for_each_coming(PhysicalAddress address, unsigned count, F&& f) const;
  void show(const PcieTransfer& transfer, const PcieSwap& swap, std::uint64_t at) const;

  const Component& link_;
  const PcieCore& core_;
  PcieTransfers& transfers_;
  PcieCounters& counters_;
  Memory memory_;
  TimedQueue<PcieTransfer*> arriving_;
  TimedQueue<PcieTransfer*> returning_;
};

}  // namespace warpline
