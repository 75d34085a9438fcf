#include "rtl_models/dram/dram_core.h"

namespace warpline {

DramPlace DramCore::place_of(PhysicalAddress line) const {
  const std::uint64_t local = channels_.quotient(offset_in_aperture(line) / kLineBytes);
  const std::uint64_t number = lines_per_row_.quotient(local);
  const std::uint64_t row = banks_.quotient(number);
  std::uint64_t fold = row ^ row >> 32U;
  fold ^= fold >> 16U;
  fold ^= fold >> 8U;
  fold ^= fold >> 4U;
  const std::uint64_t in_turn = number - row * parameters_.banks;
  return {static_cast<std::uint32_t>(banks_.remainder(in_turn + (fold & 0xFU))), row};
}

RowOutcome DramCore::open(const DramPlace& place) {
  std::uint64_t& open = open_[place.bank];
  if (open == place.row) return RowOutcome::hit;
  const RowOutcome outcome = open == kClosed ? RowOutcome::miss : RowOutcome::conflict;
  open = place.row;
  return outcome;
}

unsigned DramCore::row_cycles(RowOutcome outcome) const {
  switch (outcome) {
    case RowOutcome::hit: return 0;
    case RowOutcome::miss: return parameters_.activate;
    case RowOutcome::conflict: return parameters_.precharge + parameters_.activate;
  }
  return 0;
}

}  // namespace warpline
