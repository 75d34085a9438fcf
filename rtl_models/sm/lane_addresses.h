#pragma once

#include <cstdint>
#include <type_traits>

#include "rtl_models/sm/memory_access.h"

namespace warpline {

/// Calls f(bytes), of sizes that lanes mostly have with a number that the compiler knows: what it copies for
/// each lane is then a move, and no call.
template <class F>
void with_size(unsigned bytes, F&& f) {
  switch (bytes) {
    case 4: return f(std::integral_constant<unsigned, 4>{});
    case 8: return f(std::integral_constant<unsigned, 8>{});
    case 16: return f(std::integral_constant<unsigned, 16>{});
    default: return f(bytes);
  }
}

/// The lanes of one warp's access that go to one space, and where in it each goes. A view: the addresses lie
/// with whoever wrote them.
template <class Address>
class LaneAddresses {
 public:
  LaneAddresses() = default;
  /// What the program wrote for `lanes`, less `window`, the address at which the space begins for it.
  LaneAddresses(const MemoryAccess& written, LaneMask lanes, std::uint64_t window = 0)
      : each_(written.form == AddressForm::per_lane ? written.address : nullptr),
        origin_((each_ == nullptr ? written.base : 0) - window),
        stride_(written.stride),
        lanes_(lanes) {}
  /// `each`: one for every lane of a warp, of which `lanes` have a meaning.
  LaneAddresses(const std::uint64_t* each, LaneMask lanes) : each_(each), lanes_(lanes) {}

  [[nodiscard]] LaneMask lanes() const { return lanes_; }
  [[nodiscard]] bool strided() const { return each_ == nullptr; }
  /// Where `lane` goes. Pre: it is one of lanes(), or the addresses are strided.
  [[nodiscard]] Address operator[](unsigned lane) const {
    return Address{origin_ + (each_ != nullptr
                                  ? each_[lane]
                                  : static_cast<std::uint64_t>(static_cast<std::int64_t>(lane) * stride_))};
  }
  /// Calls f(lane, address) for each of lanes(), lowest first.
  template <class F>
  void for_each(F&& f) const {
    if (each_ != nullptr && lanes_ == ~LaneMask{0}) {
      for (unsigned lane = 0; lane < kWarpLanes; ++lane) f(lane, Address{origin_ + each_[lane]});
    } else if (each_ != nullptr) {
      for_each_lane(lanes_, [&](unsigned lane) { f(lane, Address{origin_ + each_[lane]}); });
    } else {
      for_each_lane(lanes_, [&](unsigned lane) { f(lane, (*this)[lane]); });
    }
  }
  /// The addresses of `lanes` alone. Pre: they are among lanes().
  [[nodiscard]] LaneAddresses only(LaneMask lanes) const {
    LaneAddresses some = *this;
    some.lanes_ = lanes;
    return some;
  }
  /// Whether the first lane's address and the steps between lanes are known to be multiples of `bytes`.
  [[nodiscard]] bool strided_in_units_of(unsigned bytes) const {
    return strided() && origin_ % bytes == 0 && stride_ % bytes == 0;
  }
  /// Whether the whole warp goes there, each lane `bytes` behind the one before.
  [[nodiscard]] bool contiguous(unsigned bytes) const {
    return strided() && lanes_ == ~LaneMask{0} && stride_ == static_cast<std::int64_t>(bytes);
  }
  /// The addresses taken as those of another space, for who handles several spaces alike.
  template <class Other>
  [[nodiscard]] LaneAddresses<Other> as() const {
    LaneAddresses<Other> out;
    out.each_ = each_;
    out.origin_ = origin_;
    out.stride_ = stride_;
    out.lanes_ = lanes_;
    return out;
  }

 private:
  template <class>
  friend class LaneAddresses;
  const std::uint64_t* each_ = nullptr;  ///< null: lane n goes to origin_ + n * stride_
  std::uint64_t origin_ = 0;
  std::int64_t stride_ = 0;
  LaneMask lanes_ = 0;
};

}  // namespace warpline
