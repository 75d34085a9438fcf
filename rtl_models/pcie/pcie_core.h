#pragma once

#include <array>
#include <cstdint>

#include "warpline/base/types.h"
#include "warpline/fabric/memory_image.h"
#include "warpline/fabric/request.h"
#include "warpline/pcie/pcie_parameters.h"
#include "warpline/pcie/peer_memory.h"

namespace warpline {

/// Packets that travel together in one direction.
struct PcieTrain {
  unsigned packets = 0;
  unsigned payload = 0;  ///< bytes of all of them, overhead excluded
  unsigned cycles = 0;   ///< of the wire: each packet takes ceil((overhead + payload) / bytes_per_cycle)
};

/// How an atomic request is done over the link.
enum class PcieAtomicWay : std::uint8_t {
  atomic_op,         ///< one AtomicOp per lane: add, exchange of 4 or 8 bytes, compare-and-swap of 4, 8 or 16
  compare_and_swap,  ///< the words are read, then swapped by AtomicOps until none has changed meanwhile
  read_and_write,    ///< the link carries no AtomicOps: read, then written; atomic among this GPU only, as
                     ///< what others write in between is lost
};

/// An atomic request done by compare-and-swap: the words it saw and the words it wants there.
struct PcieSwap {
  unsigned word_bytes = 4;  ///< 4, 8 or 16: what one AtomicOp swaps
  std::uint32_t words = 0;  ///< bit w: word w of the line is touched and not yet swapped
  std::array<std::uint8_t, kLineBytes> seen{};
  std::array<std::uint8_t, kLineBytes> wanted{};
};

/// Whether it is a read of no byte: it comes back when the writes before it have arrived.
[[nodiscard]] inline bool is_flush(const Request& r) {
  return r.command == Command::read && r.sectors == 0 && !r.exact;
}

/// What a PCIe link and the memories behind it do, without time: which packets a request takes, and
/// its effect there. Without system memory it is tags only: packets, and no effect.
///
/// Packets: a read sends one without payload and is answered by its sectors, in packets of up to
/// max_payload; a write sends one for each run of adjacent double words with a byte to write (byte
/// enables are free), split at max_payload; an AtomicOp sends its operand, a compare-and-swap two,
/// and is answered by the old value.
class PcieCore {
 public:
  /// The memories outlive it. `sysmem`: null: tags only. `peer`: null: there is none. Pre: parameters without
  /// problems.
  PcieCore(const PcieParameters& parameters, MemoryImage* sysmem, PeerMemory* peer = nullptr)
      : parameters_(parameters), sysmem_(sysmem), peer_(peer) {}

  /// Whether the line is one of system memory or the peer's, and not beyond its end; tags only, system memory
  /// has none.
  [[nodiscard]] bool reaches(PhysicalAddress line) const;
  /// The bytes of a line that it reaches; null if tags only.
  [[nodiscard]] std::uint8_t* at(PhysicalAddress line) const;
  [[nodiscard]] const PeerMemory* peer() const { return peer_; }
  [[nodiscard]] PcieAtomicWay way_of(const AtomicBlock& atomics) const;

  [[nodiscard]] PcieTrain read_request() const { return uniform(1, 0); }
  [[nodiscard]] PcieTrain read_completion(SectorMask sectors) const {
    return completion(kSectorBytes * sector_count(sectors));
  }
  /// Completions with so many bytes; of none, one packet all the same.
  [[nodiscard]] PcieTrain completion(unsigned bytes) const;
  /// One packet, of any length.
  [[nodiscard]] PcieTrain packet(unsigned payload) const { return uniform(1, payload); }
  [[nodiscard]] PcieTrain write(const ByteMask& bytes) const;
  [[nodiscard]] PcieTrain atomic_request(const AtomicBlock& atomics) const;
  [[nodiscard]] PcieTrain atomic_completion(const AtomicBlock& atomics) const;
  /// One packet per word of `swap` left: reads of them, swaps, or plain values.
  [[nodiscard]] PcieTrain word_reads(const PcieSwap& swap) const { return uniform(words_left(swap), 0); }
  [[nodiscard]] PcieTrain word_swaps(const PcieSwap& swap) const {
    return uniform(words_left(swap), 2 * swap.word_bytes);
  }
  [[nodiscard]] PcieTrain word_values(const PcieSwap& swap) const {
    return uniform(words_left(swap), swap.word_bytes);
  }
  /// A completion without data, for what cannot be reached.
  [[nodiscard]] PcieTrain refusal() const { return uniform(1, 0); }

  /// Copies the request's sectors from memory into its data.
  void perform_read(Request& request) const;
  void perform_write(PhysicalAddress line, const std::uint8_t* data, const ByteMask& bytes);
  /// Applies the lanes in order, and writes their old values into the request.
  void perform_atomic(Request& request);

  /// The words of `request` that a compare-and-swap works on.
  [[nodiscard]] static PcieSwap begin_swap(const Request& request);
  /// Samples the words.
  void see(PhysicalAddress line, PcieSwap& swap) const;
  /// Computes what the lanes, in order, make of the words seen that are left; writes their old values.
  static void want(Request& request, PcieSwap& swap);
  /// What a plain write of the words wanted writes: leaves only those words in `swap`, and returns the bytes.
  /// These are all that the lanes name, but of compare-and-swaps those only that swapped.
  [[nodiscard]] ByteMask written(const Request& request, PcieSwap& swap) const;
  /// Swaps each word left that still is as it was seen, and samples the others again. Returns
  /// whether any is left.
  bool try_swap(PhysicalAddress line, PcieSwap& swap);

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
  [[nodiscard]] static unsigned words_left(const PcieSwap& swap) {
    return static_cast<unsigned>(__builtin_popcount(swap.words));
  }

  PcieParameters parameters_;
  MemoryImage* sysmem_;
  PeerMemory* peer_;
};

}  // namespace warpline
