#include "rtl_models/sm/coalescer.h"

#include <algorithm>

namespace warpline {
void Coalescer::begin(const LaneAddresses<VirtualAddress>& addresses, unsigned bytes, Space space) {
  addresses_ = addresses;
  remaining_ = addresses.lanes();
  bytes_ = piece_ = bytes;
  word_ = 0;
  words_ = 1;
  space_ = space;
  each_ = false;
  contiguous_ = addresses.contiguous(bytes);
}

void Coalescer::start_local(const LaneAddresses<LocalAddress>& addresses, unsigned bytes, unsigned words,
                            VirtualAddress warp_base) {
  begin(addresses.as<VirtualAddress>(), bytes, Space::local);
  piece_ = std::min(bytes, 4U);
  words_ = words & ((1U << bytes / piece_) - 1);
  word_ = static_cast<unsigned>(__builtin_ctz(words_));
  contiguous_ = false;
  warp_base_ = warp_base;
}

LineAccess Coalescer::next() {
  LineAccess out;
  const unsigned first = first_lane(remaining_);
  const VirtualAddress at = address(first, word_);
  out.line = line_of(at);
  out.space = space_;
  out.word = word_;
  if (contiguous_) {
    const auto room = static_cast<unsigned>((out.line.value + kLineBytes - at.value) / bytes_);
    const unsigned n = std::min(room, kWarpLanes - first);
    out.lanes = (n == kWarpLanes ? ~LaneMask{0} : ((LaneMask{1} << n) - 1)) << first;
    out.sectors = sectors_between(at.value, at.value + std::uint64_t{n} * bytes_ - 1);
  } else {
    const LaneMask candidates = each_ ? remaining_ & -remaining_ : remaining_;
    for_each_lane(candidates, [&](unsigned lane) {
      const VirtualAddress a = address(lane, word_);
      if (line_of(a) != out.line) return;
      out.lanes |= LaneMask{1} << lane;
      out.sectors |= sectors_between(a.value, a.value + piece_ - 1);
    });
  }
  remaining_ &= ~out.lanes;
  if (remaining_ == 0 && words_ >> word_ > 1) {
    do ++word_;
    while ((words_ >> word_ & 1U) == 0);
    remaining_ = addresses_.lanes();
  }
  return out;
}

}  // namespace warpline
