#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "platform/programs/sass_trace/packed_bytes.h"
#include "rtl_models/base/types.h"
#include "rtl_models/sm/memory_access.h"

namespace warpline::sass {

/// Of strides, so that no lane's address overflows.
inline constexpr std::int64_t kMaxStride = std::int64_t{1} << 56U;

/// Addresses of one execution as the trace says them: for every active lane.
struct Addresses {
  AddressForm form = AddressForm::per_lane;
  std::uint64_t base = 0;  ///< strided: lane n is at base + n * stride
  std::int64_t stride = 0;
  std::array<std::uint64_t, kWarpLanes> lane;  ///< per_lane: of the active ones; the others stay unset
};

/// Where the packed instructions of a warp lie.
struct WarpPlace {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  ///< 0: it executed nothing
};

/// Packs the instructions of a warp, which then take a few bytes each of what the trace spells out in dozens.
/// They are what the text says, and nothing that is made of it. Numbers are stored as differences to what is
/// expected, seven bits to a byte, the lowest first.
///
/// Per instruction: head = zigzag(entry - expected entry) << 3 | addresses << 2 | immediate << 1 | mask
/// differs; the mask if it differs from the last; the immediate if it is not 0; the addresses. These are a
/// byte, and the first address as a difference to the last one of the instruction before. Byte 0: the stride
/// follows. 1 to 8: for each further active lane its difference to the one before follows, in so many bytes.
class PackedWarp {
 public:
  /// The most bytes of an instruction (head, mask, immediate, form, first and further addresses), and a word
  /// beyond, for differences are read as words.
  static constexpr std::size_t kMostBytes = 10 + 10 + 10 + 1 + 10 + 31 * 8 + 8;

  /// Appends one instruction. `entry`: its number in the Program. `addresses` is null without.
  void append(unsigned entry, LaneMask mask, std::int64_t immediate, const Addresses* addresses) {
    if (bytes_.size() < used_ + kMostBytes) bytes_.resize(used_ + 16 * kMostBytes);
    std::uint8_t* at = bytes_.data() + used_;
    at = put(at, zigzag(std::int64_t{entry} - std::int64_t{next_entry_}) << 3U |
                     (addresses != nullptr ? 4U : 0U) | (immediate != 0 ? 2U : 0U) |
                     (mask != mask_ ? 1U : 0U));
    if (mask != mask_) at = put(at, mask);
    if (immediate != 0) at = put(at, zigzag(immediate));
    if (addresses != nullptr) at = put_addresses(at, *addresses, mask);
    used_ = static_cast<std::size_t>(at - bytes_.data());
    next_entry_ = entry + 1;
    mask_ = mask;
  }
  [[nodiscard]] const std::uint8_t* data() const { return bytes_.data(); }
  [[nodiscard]] std::size_t size() const { return used_; }
  /// What is packed has been stored elsewhere; the warp goes on.
  void drop() { used_ = 0; }
  /// Another warp begins.
  void restart() {
    used_ = 0;
    next_entry_ = 0;
    mask_ = 0;
    address_ = 0;
  }

 private:
  static std::uint64_t zigzag(std::int64_t v) {
    return static_cast<std::uint64_t>(v) << 1U ^ (v < 0 ? ~std::uint64_t{0} : 0);
  }
  static std::uint8_t* put(std::uint8_t* at, std::uint64_t v) {
    for (; v >= 0x80; v >>= 7U) *at++ = static_cast<std::uint8_t>(v | 0x80U);
    *at++ = static_cast<std::uint8_t>(v);
    return at;
  }
  std::uint8_t* put_addresses(std::uint8_t* at, const Addresses& a, LaneMask mask) {
    const bool strided = a.form == AddressForm::strided;
    const LaneMask further = mask & (mask - 1);
    const std::uint64_t first = strided ? a.base : a.lane[first_lane(mask)];
    std::uint8_t* const form = at++;
    *form = 0;
    at = put(at, zigzag(static_cast<std::int64_t>(first - address_)));
    address_ = first;
    if (strided) return put(at, zigzag(a.stride));
    std::uint64_t widest = 0;
    std::uint64_t last = first;
    for_each_lane(further, [&](unsigned lane) {
      widest |= zigzag(static_cast<std::int64_t>(a.lane[lane] - last));
      last = a.lane[lane];
    });
    const unsigned bytes = widest == 0 ? 1 : (71 - static_cast<unsigned>(__builtin_clzll(widest))) / 8;
    *form = static_cast<std::uint8_t>(bytes);
    for_each_lane(further, [&](unsigned lane) {
      const std::uint64_t difference = a.lane[lane] - address_;
      for (unsigned i = 0; i < bytes; ++i) *at++ = static_cast<std::uint8_t>(difference >> (8 * i));
      address_ = a.lane[lane];
    });
    return at;
  }

  std::vector<std::uint8_t> bytes_;
  std::size_t used_ = 0;
  unsigned next_entry_ = 0;
  LaneMask mask_ = 0;
  std::uint64_t address_ = 0;
};

/// Reads a packed warp from the front, a window of it at a time. Bytes that nobody packed are nonsense, but
/// read within the window all the same.
class PackedCursor {
 public:
  /// Goes to the start of a warp.
  void begin(PackedBytes& from, WarpPlace place);
  /// Moves to the next instruction; false at the end, at which `corrupt()` says whether that is one.
  bool advance(PackedBytes& from) {
    if (has_addresses_) skip_addresses();
    if (end_ - at_ < static_cast<std::ptrdiff_t>(PackedWarp::kMostBytes) && left_ != 0) refill(from);
    if (at_ >= end_) return false;
    const std::uint64_t head = get();
    entry_ = next_entry_ + static_cast<unsigned>(signed_of(head >> 3U));
    next_entry_ = entry_ + 1;
    has_addresses_ = (head & 4U) != 0;
    if ((head & 1U) != 0) mask_ = static_cast<LaneMask>(get());
    immediate_ = (head & 2U) != 0 ? signed_of(get()) : 0;
    if (!has_addresses_ || (*at_ <= kWordBytes && mask_ != 0)) return true;
    at_ = end_ + 1;  // nobody packed this
    return false;
  }
  [[nodiscard]] bool corrupt() const { return at_ > end_; }
  [[nodiscard]] unsigned entry() const { return entry_; }
  [[nodiscard]] LaneMask mask() const { return mask_; }
  [[nodiscard]] std::int64_t immediate() const { return immediate_; }
  [[nodiscard]] bool has_addresses() const { return has_addresses_; }
  /// Takes the addresses of the current instruction. Pre: it has them.
  void take_addresses(MemoryAccess& access) {
    has_addresses_ = false;
    access.form = AddressForm::per_lane;
    read_addresses(
        at_, address_,
        [&](std::uint64_t base, std::int64_t stride) {
          access.form = AddressForm::strided;
          access.base = base;
          access.stride = stride;
          return true;
        },
        [lanes = access.address](unsigned lane, std::uint64_t address) {
          lanes[lane] = address;
          return true;
        });
  }
  /// The same without taking them: calls f(address) for each active lane, as long as it answers true. Returns
  /// whether it always did.
  template <class F>
  bool all_addresses(F&& f) const {
    const std::uint8_t* at = at_;
    std::uint64_t address = address_;
    return read_addresses(
        at, address,
        [&](std::uint64_t base, std::int64_t stride) {
          for (LaneMask m = mask_; m != 0; m &= m - 1)
            if (!f(base + first_lane(m) * static_cast<std::uint64_t>(stride))) return false;
          return true;
        },
        [&](unsigned /*lane*/, std::uint64_t lane_address) { return f(lane_address); });
  }

 private:
  static constexpr unsigned kWordBytes = 8;
  static constexpr std::size_t kWindow = 2048;  ///< bytes of a warp that are held: hundreds of instructions
  static std::int64_t signed_of(std::uint64_t v) {
    return static_cast<std::int64_t>(v >> 1U ^ (std::uint64_t{0} - (v & 1U)));
  }
  static std::uint64_t get(const std::uint8_t*& at) {
    const std::uint8_t* from = at;
    std::uint64_t v = *from++;
    if (v >= 0x80) {
      const std::uint64_t second = *from++;
      v = (v & 0x7FU) | (second & 0x7FU) << 7U;
      if (second >= 0x80) return get_further(at, v);
    }
    at = from;
    return v;
  }
  std::uint64_t get() { return get(at_); }
  /// A number of more than two bytes, of which these say `v`.
  [[gnu::noinline]] static std::uint64_t get_further(const std::uint8_t*& at, std::uint64_t v) {
    const std::uint8_t* from = at + 2;
    for (unsigned shift = 14; shift < 70; shift += 7) {
      const std::uint64_t b = *from++;
      v |= (b & 0x7FU) << (shift & 63U);
      if (b < 0x80) break;
    }
    at = from;
    return v;
  }
  /// Those of an instruction that nobody took.
  void skip_addresses();
  /// Reads them from `at` on: strided(base, stride), or each(lane, address) for each active lane; stops where
  /// that is false, and returns whether it never was. Pre: a lane is active.
  template <class Strided, class Each>
  bool read_addresses(const std::uint8_t*& at, std::uint64_t& address, Strided&& strided, Each&& each) const {
    const unsigned bytes = *at++;
    address += static_cast<std::uint64_t>(signed_of(get(at)));
    if (bytes == 0) return strided(address, signed_of(get(at)));
    if (!each(first_lane(mask_), address)) return false;
    const unsigned unused = 64 - 8 * bytes;
    const std::uint8_t* from = at;
    std::uint64_t last = address;
    for (LaneMask m = mask_ & (mask_ - 1); m != 0; m &= m - 1) {
      std::uint64_t word = 0;
      std::memcpy(&word, from, sizeof word);
      from += bytes;
      last += static_cast<std::uint64_t>(static_cast<std::int64_t>(word << unused) >> unused);
      if (!each(first_lane(m), last)) return false;
    }
    at = from;
    address = last;
    return true;
  }
  void refill(PackedBytes& from);

  std::vector<std::uint8_t> window_;  ///< behind its bytes, zeros for an instruction more
  const std::uint8_t* at_ = nullptr;
  const std::uint8_t* end_ = nullptr;
  std::uint64_t offset_ = 0, left_ = 0;  ///< of what the window does not hold yet
  unsigned entry_ = 0, next_entry_ = 0;
  LaneMask mask_ = 0;
  std::int64_t immediate_ = 0;
  bool has_addresses_ = false;
  std::uint64_t address_ = 0;
};

}  // namespace warpline::sass
