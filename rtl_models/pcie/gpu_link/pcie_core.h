#pragma once

#include <cstdint>

#include "rtl_models/base/types.h"
#include "rtl_models/pcie/gpu_link/pcie_parameters.h"
#include "rtl_models/pcie/gpu_link/pcie_transfer.h"
#include "rtl_models/sim/request.h"

namespace warpline {

/// How an atomic request is done over the link.
enum class PcieAtomicWay : std::uint8_t {
  atomic_op,         ///< one AtomicOp per lane: add, exchange of 4 or 8 bytes, compare-and-swap of 4, 8 or 16
  compare_and_swap,  ///< the words are read, then swapped by AtomicOps until none has changed meanwhile
  read_and_write,    ///< the link carries no AtomicOps: read, then written; atomic among this GPU only, as
                     ///< what others write in between is lost
};

/// Whether it is a read of no byte: it comes back when the writes before it have arrived.
[[nodiscard]] inline bool is_flush(const Request& r) {
  return r.command == Command::read && r.sectors == 0 && !r.exact;
}

/// What a PCIe link does, without time: which packets a request takes.
///
/// A read sends one without payload and is answered by its sectors, in packets of up to
/// max_payload; a write sends one for each run of adjacent double words with a byte to write (byte
/// enables are free), split at max_payload; an AtomicOp sends its operand, a compare-and-swap two,
/// and is answered by the old value.
class PcieCore {
 public:
  /// Pre: parameters without problems.
  explicit PcieCore(const PcieParameters& parameters) : parameters_(parameters) {}

  [[nodiscard]] PcieAtomicWay way_of(const AtomicBlock& atomics) const;
  /// The packets of a transfer upward, as its leg says.
  [[nodiscard]] PcieTrain packets_up(const PcieTransfer& transfer) const;
  /// Those that answer it; of words, before any is done with. Pre: the leg is not posted.
  [[nodiscard]] PcieTrain packets_down(const PcieTransfer& transfer) const;

  [[nodiscard]] PcieTrain read_request() const { return uniform(1, 0); }
  [[nodiscard]] PcieTrain read_completion(SectorMask sectors) const {
    return completion(kSectorBytes * sector_count(sectors));
  }
  /// Completions with so many bytes; of none, one packet all the same.
  [[nodiscard]] PcieTrain completion(unsigned bytes) const;
  /// One packet, of any length.
  [[nodiscard]] PcieTrain packet(unsigned payload) const { return uniform(1, payload); }
  [[nodiscard]] PcieTrain write(const ByteMask& bytes) const;
  [[nodiscard]] PcieTrain atomic_request(const AtomicBlock& atomics) const {
    const unsigned operands = atomics.operation == AtomicOperation::compare_and_swap ? 2 : 1;
    return uniform(atomics.count, operands * size_of(atomics.type));
  }
  [[nodiscard]] PcieTrain atomic_completion(const AtomicBlock& atomics) const {
    return uniform(atomics.count, size_of(atomics.type));
  }
  /// A completion without data, for what cannot be reached.
  [[nodiscard]] PcieTrain refusal() const { return uniform(1, 0); }

  /// Link cycles that an idle link takes from the pop of a read to its response:
  /// ceil(tlp_overhead / bytes_per_cycle) + 2 * latency + those of the completion,
  /// ceil((tlp_overhead + 32 * n) / bytes_per_cycle) for n sectors in one packet.
  [[nodiscard]] unsigned idle_read_cycles(SectorMask sectors) const {
    return read_request().cycles + 2 * parameters_.latency + read_completion(sectors).cycles;
  }
  [[nodiscard]] const PcieParameters& parameters() const { return parameters_; }

 private:
  [[nodiscard]] unsigned packet_cycles(unsigned payload) const;
  [[nodiscard]] PcieTrain uniform(unsigned packets, unsigned payload_each) const {
    return {packets, packets * payload_each, packets * packet_cycles(payload_each)};
  }
  void add_split(PcieTrain& train, unsigned payload) const;

  PcieParameters parameters_;
};

}  // namespace warpline
