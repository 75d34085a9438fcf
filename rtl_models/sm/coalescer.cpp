#include "warpline/sm/coalescer.h"

#include <algorithm>

namespace warpline {
namespace {

SectorMask sectors_between(std::uint64_t first, std::uint64_t last) {
  const unsigned lo = static_cast<unsigned>(first / kSectorBytes % kSectorsPerLine);
  const unsigned hi = static_cast<unsigned>(last / kSectorBytes % kSectorsPerLine);
  return static_cast<SectorMask>(((2U << hi) - 1) & ~((1U << lo) - 1));
}

}  // namespace

void Coalescer::start(const MemoryAccess& access, LaneMask lanes, unsigned bytes) {
  access_ = &access;
  lanes_ = remaining_ = lanes;
  bytes_ = piece_ = bytes;
  word_ = 0;
  words_ = 1;
  each_ = false;
  local_ = false;
  contiguous_ = access.form == AddressForm::strided && lanes == ~LaneMask{0} &&
                access.stride == static_cast<std::int64_t>(bytes);
}

void Coalescer::start_each(const MemoryAccess& access, LaneMask lanes, unsigned bytes) {
  start(access, lanes, bytes);
  each_ = true;
  contiguous_ = false;
}

void Coalescer::start_local(const MemoryAccess& access, LaneMask lanes, unsigned bytes, unsigned words,
                            std::uint64_t warp_base) {
  access_ = &access;
  lanes_ = remaining_ = lanes;
  bytes_ = bytes;
  piece_ = std::min(bytes, 4U);
  words_ = words & ((1U << bytes / piece_) - 1);
  word_ = static_cast<unsigned>(__builtin_ctz(words_));
  each_ = false;
  local_ = true;
  contiguous_ = false;
  warp_base_ = warp_base;
}

std::uint64_t Coalescer::address(unsigned lane, unsigned word) const {
  const std::uint64_t a = access_->address_of(lane);
  return local_ ? local_address(warp_base_, a + std::uint64_t{word} * 4, lane) : a;
}

LineAccess Coalescer::next() {
  LineAccess out;
  const auto first = static_cast<unsigned>(__builtin_ctz(remaining_));
  const std::uint64_t at = address(first, word_);
  out.line = at & ~std::uint64_t{kLineBytes - 1};
  out.word = word_;
  if (contiguous_) {
    const auto room = static_cast<unsigned>((out.line + kLineBytes - at) / bytes_);
    const unsigned n = std::min(room, kWarpLanes - first);
    out.lanes = (n == kWarpLanes ? ~LaneMask{0} : ((LaneMask{1} << n) - 1)) << first;
    out.sectors = sectors_between(at, at + std::uint64_t{n} * bytes_ - 1);
  } else {
    const LaneMask candidates = each_ ? remaining_ & -remaining_ : remaining_;
    for (LaneMask m = candidates; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(m));
      const std::uint64_t a = address(lane, word_);
      if ((a & ~std::uint64_t{kLineBytes - 1}) != out.line) continue;
      out.lanes |= LaneMask{1} << lane;
      out.sectors |= sectors_between(a, a + piece_ - 1);
    }
  }
  remaining_ &= ~out.lanes;
  if (remaining_ == 0 && words_ >> word_ > 1) {
    do ++word_;
    while ((words_ >> word_ & 1U) == 0);
    remaining_ = lanes_;
  }
  return out;
}

}  // namespace warpline
