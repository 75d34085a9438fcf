#include "platform/programs/sass_trace/address_translation.h"

#include "rtl_models/sm/address_windows.h"

namespace warpline::sass {
bool AddressTranslation::in_shared(std::uint64_t address) const {
  return shared_ != 0 && address - shared_ < AddressWindows::kSize;
}

bool AddressTranslation::in_local(std::uint64_t address) const {
  return local_ != 0 && address - local_ < AddressWindows::kSize;
}

std::uint64_t AddressTranslation::translate(Space space, std::uint64_t address) const {
  switch (space) {
    case Space::shared: return in_shared(address) ? address - shared_ : address;
    case Space::local: return (in_local(address) ? address - local_ : address) % kLocalBytes;
    case Space::generic:
      if (in_shared(address)) return AddressWindows::to_generic(Space::shared, address - shared_);
      if (in_local(address))
        return AddressWindows::to_generic(Space::local, (address - local_) % kLocalBytes);
      return address;
    case Space::constant: return address % (ConstantBanks::kBanks * ConstantBanks::kBankBytes);
    default: return address;
  }
}

void AddressTranslation::apply(Space space, LaneMask mask, MemoryAccess& a) const {
  if (space == Space::global) return;
  if (a.form == AddressForm::strided) {
    // The whole run moves by one amount if both ends do, and it is shorter than any window.
    constexpr std::int64_t kShort = 4096;
    const std::uint64_t first = a.address_of(first_lane(mask));
    const std::uint64_t last = a.address_of(last_lane(mask));
    const std::uint64_t shift = translate(space, first) - first;
    if (a.stride >= -kShort && a.stride <= kShort && shift == translate(space, last) - last) {
      a.base += shift;
      return;
    }
  }
  for_each_lane(mask, [&](unsigned lane) { a.address[lane] = translate(space, a.address_of(lane)); });
  a.form = AddressForm::per_lane;
}

}  // namespace warpline::sass
