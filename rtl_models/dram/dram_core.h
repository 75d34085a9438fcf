#pragma once

#include <cstdint>
#include <vector>

#include "rtl_models/base/divider.h"
#include "rtl_models/base/types.h"
#include "rtl_models/dram/dram_parameters.h"

namespace warpline {

/// A place in a channel. Two lines of one row have the same bank and row.
struct DramPlace {
  std::uint32_t bank = 0;  ///< of bank group bank mod DramParameters::bank_groups
  std::uint64_t row = 0;   ///< within the bank
};

/// How a request finds the row of its bank.
enum class RowOutcome : std::uint8_t {
  hit,       ///< open
  miss,      ///< no row is open
  conflict,  ///< another row is open, and is closed first
};

/// What one DRAM channel does, without time: where lines lie, and which row of each bank is open.
///
/// Local line number n = line number / channels. Row number r = n * 128 / row_bytes. Consecutive
/// rows lie in different banks: row = r / banks, bank = (r + fold(row)) mod banks, where fold
/// XORs the nibbles of a number, so that strides of many rows spread too.
///
/// Where bank groups take turns on the data bus (DramParameters::interleaves_groups()), as many rows side by
/// side as it takes to fill it, of banks of different groups, have consecutive lines in turn: n mod that
/// number says which bank, and the rest is as above, of rows and banks so many times as large.
class DramCore {
 public:
  /// Pre: parameters without problems.
  explicit DramCore(const DramParameters& parameters)
      : parameters_(parameters),
        channels_(parameters.channels),
        abreast_(parameters.rows_abreast()),
        lines_per_row_(abreast_.divisor() * parameters.row_bytes / kLineBytes),
        banks_(parameters.banks / abreast_.divisor()),
        step_(parameters.sector_step()),
        open_(parameters.banks, kClosed) {}

  [[nodiscard]] DramPlace place_of(PhysicalAddress line) const {
    const std::uint64_t local = channels_.quotient(offset_in_aperture(line) / kLineBytes);
    const std::uint64_t number = lines_per_row_.quotient(local);
    const std::uint64_t row = banks_.quotient(number);
    std::uint64_t fold = row ^ row >> 32U;
    fold ^= fold >> 16U;
    fold ^= fold >> 8U;
    fold ^= fold >> 4U;
    const std::uint64_t in_turn = number - row * banks_.divisor();
    if (abreast_.divisor() == 1)
      return {static_cast<std::uint32_t>(banks_.remainder(in_turn + (fold & 0xFU))), row};
    // Few banks are left to spread over: aligned arrays would meet in them all the time.
    const std::uint64_t bank = banks_.remainder(in_turn + (row * kGolden >> 60U));
    return {static_cast<std::uint32_t>(bank * abreast_.divisor() + abreast_.remainder(local)), row};
  }
  [[nodiscard]] bool is_open(const DramPlace& place) const { return open_[place.bank] == place.row; }
  /// Makes the row of `place` the open one of its bank, and says how it was found.
  RowOutcome open(const DramPlace& place) {
    std::uint64_t& open = open_[place.bank];
    if (open == place.row) return RowOutcome::hit;
    const RowOutcome outcome = open == kClosed ? RowOutcome::miss : RowOutcome::conflict;
    open = place.row;
    return outcome;
  }
  [[nodiscard]] bool has_open_row(std::uint32_t bank) const { return open_[bank] != kClosed; }
  void close(std::uint32_t bank) { open_[bank] = kClosed; }
  template <class Archive>
  void archive(Archive& a) {
    a.fixed(open_);
  }
  void close_all() { open_.assign(open_.size(), kClosed); }
  /// Cycles from the decision to open a row until its first column command.
  [[nodiscard]] unsigned row_cycles(RowOutcome outcome) const {
    switch (outcome) {
      case RowOutcome::hit: return 0;
      case RowOutcome::miss: return parameters_.activate;
      case RowOutcome::conflict: return parameters_.precharge + parameters_.activate;
    }
    return 0;
  }
  /// Data-bus cycles of `sectors` sectors.
  [[nodiscard]] unsigned bus_cycles(unsigned sectors) const { return sectors * parameters_.sector_cycles; }
  /// Cycles from the first data of `sectors` sectors of one line to the end of the last on an idle bus.
  [[nodiscard]] unsigned burst_cycles(unsigned sectors) const {
    return (sectors - 1) * step_ + parameters_.sector_cycles;
  }
  /// Cycles that an idle channel takes, from the pop of a read of `sectors` sectors of a closed
  /// bank to its response: activate + column + (sectors - 1) * DramParameters::sector_step() + sector_cycles.
  [[nodiscard]] unsigned idle_read_cycles(unsigned sectors) const {
    return row_cycles(RowOutcome::miss) + parameters_.column + burst_cycles(sectors);
  }
  [[nodiscard]] const DramParameters& parameters() const { return parameters_; }

 private:
  static constexpr std::uint64_t kGolden = 0x9E37'79B9'7F4A'7C15;  ///< 2^64 by the golden ratio
  static constexpr std::uint64_t kClosed = ~std::uint64_t{0};
  DramParameters parameters_;
  Divider channels_;
  Divider abreast_;
  Divider lines_per_row_;
  Divider banks_;
  unsigned step_;
  std::vector<std::uint64_t> open_;  ///< the open row of each bank
};

}  // namespace warpline
