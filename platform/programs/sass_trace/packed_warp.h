#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "rtl_models/base/types.h"
#include "rtl_models/sm/instruction_source.h"

namespace warpline::sass {

/// Addresses of one execution: for every active lane, translated to the spaces of this platform.
struct Addresses {
  AddressForm form = AddressForm::per_lane;
  std::uint64_t base = 0;  ///< strided: lane n is at base + n * stride
  std::int64_t stride = 0;
  std::array<std::uint64_t, kWarpLanes> lane{};
};

/// A warp's instructions, packed: a warp of a long-running kernel takes a few bytes per instruction
/// of what the trace spells out in dozens. Numbers are stored as differences to what is expected, seven
/// bits to a byte.
///
/// Per instruction: head = zigzag(op - expected op) << 3 | addresses << 2 | operand << 1 | mask differs;
/// the mask if it differs from the last; the operand if it is not 0; the addresses.
class PackedWarp {
 public:
  /// Appends one instruction. `addresses` is null without.
  void append(unsigned op, LaneMask mask, std::int64_t operand, const Addresses* addresses) {
    const std::int64_t jump = std::int64_t{op} - std::int64_t{next_op_};
    put(zigzag(jump) << 3U | (addresses != nullptr ? 4U : 0U) | (operand != 0 ? 2U : 0U) |
        (mask != mask_ ? 1U : 0U));
    if (mask != mask_) put(mask);
    if (operand != 0) put(zigzag(operand));
    if (addresses != nullptr) append_addresses(*addresses, mask);
    next_op_ = op + 1;
    mask_ = mask;
  }
  [[nodiscard]] const std::vector<std::uint8_t>& bytes() const { return bytes_; }
  void shrink() { bytes_.shrink_to_fit(); }

 private:
  static std::uint64_t zigzag(std::int64_t v) {
    return static_cast<std::uint64_t>(v) << 1U ^ (v < 0 ? ~std::uint64_t{0} : 0);
  }
  void put(std::uint64_t v) {
    while (v >= 0x80) {
      bytes_.push_back(static_cast<std::uint8_t>(v | 0x80U));
      v >>= 7U;
    }
    bytes_.push_back(static_cast<std::uint8_t>(v));
  }
  void put_difference(std::uint64_t address) {
    put(zigzag(static_cast<std::int64_t>(address - address_)));
    address_ = address;
  }
  void append_addresses(const Addresses& a, LaneMask mask) {
    put(a.form == AddressForm::strided ? 1 : 0);
    if (a.form == AddressForm::strided) {
      put_difference(a.base);
      put(zigzag(a.stride));
      return;
    }
    for_each_lane(mask, [&](unsigned lane) { put_difference(a.lane[lane]); });
  }

  std::vector<std::uint8_t> bytes_;
  unsigned next_op_ = 0;
  LaneMask mask_ = 0;
  std::uint64_t address_ = 0;
};

/// Reads a packed warp from the front.
class PackedCursor {
 public:
  PackedCursor() = default;
  explicit PackedCursor(const PackedWarp& warp)
      : at_(warp.bytes().data()), end_(warp.bytes().data() + warp.bytes().size()) {}

  /// Moves to the next instruction; false at the end. Pre: the addresses of the last were taken, if it has
  /// any.
  bool advance() {
    if (at_ == end_) return false;
    const std::uint64_t head = get();
    op_ = static_cast<unsigned>(std::int64_t{next_op_} + signed_of(head >> 3U));
    next_op_ = op_ + 1;
    has_addresses_ = (head & 4U) != 0;
    if ((head & 1U) != 0) mask_ = static_cast<LaneMask>(get());
    operand_ = (head & 2U) != 0 ? signed_of(get()) : 0;
    return true;
  }
  [[nodiscard]] unsigned op() const { return op_; }
  [[nodiscard]] LaneMask mask() const { return mask_; }
  [[nodiscard]] std::int64_t operand() const { return operand_; }
  [[nodiscard]] bool has_addresses() const { return has_addresses_; }
  /// Takes the addresses of the current instruction into `access`.
  void take_addresses(MemoryAccess& access) {
    has_addresses_ = false;
    if (get() == 1) {
      access.form = AddressForm::strided;
      access.base = get_address();
      access.stride = signed_of(get());
      return;
    }
    access.form = AddressForm::per_lane;
    for_each_lane(mask_, [&](unsigned lane) { access.address[lane] = get_address(); });
  }

 private:
  static std::int64_t signed_of(std::uint64_t v) {
    return static_cast<std::int64_t>(v >> 1U ^ (std::uint64_t{0} - (v & 1U)));
  }
  std::uint64_t get() {
    std::uint64_t v = *at_++;
    if (v < 0x80) return v;
    v &= 0x7FU;
    for (unsigned shift = 7;; shift += 7) {
      const std::uint64_t b = *at_++;
      v |= (b & 0x7FU) << shift;
      if (b < 0x80) return v;
    }
  }
  std::uint64_t get_address() { return address_ += static_cast<std::uint64_t>(signed_of(get())); }

  const std::uint8_t* at_ = nullptr;
  const std::uint8_t* end_ = nullptr;
  unsigned op_ = 0, next_op_ = 0;
  LaneMask mask_ = 0;
  std::int64_t operand_ = 0;
  bool has_addresses_ = false;
  std::uint64_t address_ = 0;
};

}  // namespace warpline::sass
