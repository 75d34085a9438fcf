#include "platform/serve/guest_bars.h"

namespace warpline {

std::uint32_t GuestBars::writable(unsigned index) const {
  const BarDescription& bar = description_.bars[index];
  if (bar.bytes != 0) return static_cast<std::uint32_t>(~(bar.bytes - 1));
  if (index == 0 || !description_.bars[index - 1].wide) return 0;
  return static_cast<std::uint32_t>(~(description_.bars[index - 1].bytes - 1) >> 32U);
}

std::uint32_t GuestBars::read(unsigned offset) const {
  const unsigned index = (offset - config::kBar0) / 4;
  const BarDescription& bar = description_.bars[index];
  std::uint32_t flags = 0;
  if (bar.bytes != 0)
    flags = (bar.wide ? config::kBarWide : 0) | (bar.prefetchable ? config::kBarPrefetchable : 0);
  return values_[index] | flags;
}

void GuestBars::write(unsigned offset, std::uint32_t value, unsigned enables) {
  const unsigned index = (offset - config::kBar0) / 4;
  std::uint32_t bits = 0;
  for (unsigned b = 0; b < 4; ++b) bits |= (enables >> b & 1U) != 0 ? 0xFFU << 8U * b : 0;
  bits &= writable(index);
  values_[index] = (values_[index] & ~bits) | (value & bits);
}

std::uint64_t GuestBars::address_of(unsigned bar) const {
  const std::uint64_t high = description_.bars[bar].wide ? values_[bar + 1] : 0;
  return high << 32U | values_[bar];
}

std::optional<BarHit> GuestBars::find(std::uint64_t address, std::uint64_t bytes) const {
  for (unsigned b = 0; b < kBars; ++b) {
    const std::uint64_t size = description_.bars[b].bytes, base = address_of(b);
    if (size == 0 || base == 0 || address < base) continue;
    const std::uint64_t offset = address - base;
    if (offset < size && bytes <= size - offset) return BarHit{b, offset};
  }
  return std::nullopt;
}

}  // namespace warpline
