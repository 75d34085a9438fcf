#include "rtl_models/pcie/packets/msix_table.h"

#include <algorithm>

namespace warpline {
namespace {

constexpr std::uint32_t kMasked = 1;

}  // namespace

MsixTable::MsixTable(unsigned vectors) : table_(vectors), pending_((vectors + 63) / 64) {
  WARPLINE_EXPECT(vectors >= 1 && vectors <= 2048, "an MSI-X table has 1 to 2048 vectors");
}

std::uint64_t MsixTable::read(std::uint64_t offset, unsigned bytes) const {
  if ((bytes != 4 && bytes != 8) || offset % bytes != 0 || offset >= this->bytes()) return 0;
  if (bytes == 8) return read(offset, 4) | read(offset + 4, 4) << 32U;
  if (offset >= pending_offset()) {
    const std::uint64_t at = offset - pending_offset();
    return pending_[at / 8] >> (at % 8 * 8) & 0xFFFF'FFFFU;
  }
  const Entry& entry = table_[offset / 16];
  switch (offset % 16) {
    case 0: return entry.address & 0xFFFF'FFFFU;
    case 4: return entry.address >> 32U;
    case 8: return entry.data;
    default: return entry.control;
  }
}

void MsixTable::write(std::uint64_t offset, unsigned bytes, std::uint64_t value) {
  if ((bytes != 4 && bytes != 8) || offset % bytes != 0 || offset >= pending_offset()) return;
  if (bytes == 8) {
    write(offset, 4, value & 0xFFFF'FFFFU);
    write(offset + 4, 4, value >> 32U);
    return;
  }
  const auto word = static_cast<std::uint32_t>(value);
  Entry& entry = table_[offset / 16];
  switch (offset % 16) {
    // A message is a write of aligned 4 bytes: the lowest two bits are not there.
    case 0: entry.address = (entry.address & ~std::uint64_t{0xFFFF'FFFF}) | (word & ~3U); break;
    case 4: entry.address = (entry.address & 0xFFFF'FFFFU) | std::uint64_t{word} << 32U; break;
    case 8: entry.data = word; break;
    default: entry.control = word & kMasked; break;
  }
}

bool MsixTable::take(bool enabled, bool masked, InterruptMessage& message) {
  if (!enabled || masked || !any_pending()) return false;
  for (unsigned vector = 0; vector < vectors(); ++vector) {
    const Entry& entry = table_[vector];
    if (!pending(vector) || (entry.control & kMasked) != 0) continue;
    pending_[vector / 64] &= ~(std::uint64_t{1} << vector % 64);
    message = {entry.address, entry.data, vector};
    return true;
  }
  return false;
}

void MsixTable::reset() {
  std::fill(table_.begin(), table_.end(), Entry{});
  std::fill(pending_.begin(), pending_.end(), 0);
}

bool MsixTable::any_pending() const {
  return std::any_of(pending_.begin(), pending_.end(), [](std::uint64_t bits) { return bits != 0; });
}

}  // namespace warpline
