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
  each_ = grouped_ = false;
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

void Coalescer::group() {
  constexpr unsigned kPlaces = 2 * kWarpLanes;  // so that one is found soon, and never none
  constexpr std::uint8_t kFree = 0xFF;
  std::array<std::uint8_t, kPlaces> lowest;  // lane on the line that hashes there
  lowest.fill(kFree);
  std::array<std::uint64_t, kWarpLanes> line;
  for_each_lane(remaining_, [&](unsigned lane) {
    const VirtualAddress at = address(lane, word_);
    const std::uint64_t number = line[lane] = at.value / kLineBytes;
    auto place = static_cast<unsigned>(number * 0x9E3779B97F4A7C15ULL >> 32U) % kPlaces;
    while (lowest[place] != kFree && line[lowest[place]] != number) place = (place + 1) % kPlaces;
    if (lowest[place] == kFree) {
      lowest[place] = static_cast<std::uint8_t>(lane);
      together_[lane] = 0;
      sectors_[lane] = 0;
    }
    const unsigned with = lowest[place];
    together_[with] |= LaneMask{1} << lane;
    sectors_[with] |= sectors_between(at.value, at.value + piece_ - 1);
  });
  grouped_ = true;
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
  } else if (each_) {
    out.lanes = LaneMask{1} << first;
    out.sectors = sectors_between(at.value, at.value + piece_ - 1);
  } else {
    if (!grouped_) group();
    out.lanes = together_[first];
    out.sectors = sectors_[first];
  }
  remaining_ &= ~out.lanes;
  if (remaining_ == 0 && words_ >> word_ > 1) {
    do ++word_;
    while ((words_ >> word_ & 1U) == 0);
    remaining_ = addresses_.lanes();
    grouped_ = false;
  }
  return out;
}

}  // namespace warpline
