#pragma once

#include <cstdint>
#include <vector>

#include "rtl_models/isa/mem_op.h"
#include "rtl_models/sim/request.h"
#include "rtl_models/sim/zeroed_bytes.h"
#include "rtl_models/sm/address_windows.h"
#include "rtl_models/sm/lane_addresses.h"

namespace warpline {

/// Shared memory of one SM: one array that resident CTAs have parts of, in banks of 4 bytes.
class SharedMemory {
 public:
  SharedMemory(unsigned bytes, unsigned banks, bool with_data)
      : bytes_(with_data ? bytes : 0), banks_(banks) {}

  /// How often an access goes over the banks.
  struct Passes {
    unsigned parts = 0;      ///< of the warp that move 128 bytes each at most, and take a pass at least
    unsigned conflicts = 0;  ///< further passes, as words of a part fall in the same bank
    [[nodiscard]] unsigned all() const { return parts + conflicts; }
  };
  /// Each part takes as many passes as the largest number of different words that fall in one bank; atomics
  /// and mbarriers count lanes instead of words. Lanes that touch the same word share it.
  [[nodiscard]] Passes passes(const MemOp& op, const LaneAddresses<SharedAddress>& addresses);
  /// Performs the access: loads and atomics fill `access.data`. `base`: where the CTA's part begins. Pre: all
  /// in range.
  void perform(const MemOp& op, const LaneAddresses<SharedAddress>& addresses, MemoryAccess& access,
               std::uint64_t base);
  /// What lies from `base` on; null without data. Pre: in range.
  [[nodiscard]] const std::uint8_t* at(std::uint64_t base) const {
    return bytes_.empty() ? nullptr : bytes_.at(base);
  }
  /// Writes `count` bytes of an asynchronous copy and zeros up to `bytes`, at `to` of all shared memory. Pre:
  /// in range; count <= bytes.
  void fill(std::uint64_t to, const std::uint8_t* from, unsigned count, unsigned bytes);
  /// The eight bytes at `at` of all shared memory, as an mbarrier object has them. Pre: in range, and the run
  /// carries data.
  [[nodiscard]] std::uint64_t word(std::uint64_t at) const {
    std::uint64_t word = 0;
    __builtin_memcpy(&word, bytes_.at(at), sizeof word);
    return word;
  }
  void set_word(std::uint64_t at, std::uint64_t word) { __builtin_memcpy(bytes_.at(at), &word, sizeof word); }
  [[nodiscard]] std::uint64_t size() const { return bytes_.size(); }
  /// Passes over the banks that a request of another CTA takes: of a read or a write, its words; of an
  /// atomic, its lanes.
  [[nodiscard]] unsigned passes(const Request& r) const;
  /// Performs it on the line that begins at `line` of all shared memory. Pre: in range.
  void perform(Request& r, std::uint64_t line);
  /// Reads `count` bytes at `at` of all shared memory. Pre: in range, and the run carries data.
  void read(std::uint64_t at, std::uint8_t* to, unsigned count) const {
    __builtin_memcpy(to, bytes_.at(at), count);
  }
  /// Clears a CTA's part, so that no run depends on what an earlier CTA left.
  void clear(std::uint64_t base, std::uint64_t bytes);

 private:
  ZeroedBytes bytes_;
  unsigned banks_;
  std::vector<std::uint64_t> words_;  ///< scratch
};

}  // namespace warpline
