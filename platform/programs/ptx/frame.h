#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "platform/programs/ptx/program.h"

namespace warpline::ptx {

/// The unsigned type that a value of type T is stored as.
template <unsigned kBytes>
struct StorageOf;
template <>
struct StorageOf<1> {
  using type = std::uint8_t;
};
template <>
struct StorageOf<2> {
  using type = std::uint16_t;
};
template <>
struct StorageOf<4> {
  using type = std::uint32_t;
};
template <>
struct StorageOf<8> {
  using type = std::uint64_t;
};
template <class T>
using Storage = typename StorageOf<sizeof(T)>::type;

template <class To, class From>
inline To bits_to(From from) {
  static_assert(sizeof(To) == sizeof(From), "a change of type, not of size");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

inline constexpr std::array<LaneMask, kWarpLanes> kLaneBit = [] {
  std::array<LaneMask, kWarpLanes> bits{};
  for (unsigned i = 0; i < kWarpLanes; ++i) bits[i] = LaneMask{1} << i;
  return bits;
}();

/// What a handler sees: the warp's registers, the kernel's constants, and the lanes to act for.
/// Registers are always accessed through the unsigned type of their size.
struct Frame {
  std::byte* file = nullptr;
  const std::byte* pool = nullptr;
  LaneMask active = 0;
  Issue* issue = nullptr;
  const MemoryAccess* loaded = nullptr;  ///< for finishing handlers

  [[nodiscard]] const std::byte* at(Ref ref) const {
    const auto bits = static_cast<std::uint32_t>(ref);
    return (bits & kPoolBit) != 0 ? pool + (bits & ~kPoolBit) : file + bits;
  }
  /// The lanes' values of an operand, as unsigned words of T's size.
  template <class T>
  [[nodiscard]] const Storage<T>* in(Ref ref) const {
    return reinterpret_cast<const Storage<T>*>(at(ref));
  }
  template <class T>
  [[nodiscard]] Storage<T>* out(Ref ref) const {
    return reinterpret_cast<Storage<T>*>(file + ref);
  }
  /// Writes the active lanes of `values`.
  template <class S>
  void write(Ref ref, const S* values) const {
    S* to = out<S>(ref);
    if (active == ~LaneMask{0}) {
      std::memcpy(to, values, sizeof(S) * kWarpLanes);
      return;
    }
    for (unsigned i = 0; i < kWarpLanes; ++i) to[i] = (active & kLaneBit[i]) != 0 ? values[i] : to[i];
  }
  [[nodiscard]] LaneMask predicate(Ref ref) const {
    LaneMask mask;
    std::memcpy(&mask, at(ref), sizeof mask);
    return mask;
  }
  void set_predicate(Ref ref, LaneMask value) const {
    if (ref == kNoRef) return;
    const LaneMask merged = (predicate(ref) & ~active) | (value & active);
    std::memcpy(file + ref, &merged, sizeof merged);
  }
};

/// Handlers made of a functor F with value types D (result), A, B, C and a static `apply`. Every
/// lane is computed, so that the loop has no branch; only active ones are kept. `apply` must
/// therefore be defined for every bit pattern.
template <class F>
void run1(const Op& op, Frame& f) {
  const auto* a = f.in<typename F::A>(op.r[1]);
  Storage<typename F::D> t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i)
    t[i] = bits_to<Storage<typename F::D>>(F::apply(bits_to<typename F::A>(a[i])));
  f.write(op.r[0], t);
}
template <class F>
void run2(const Op& op, Frame& f) {
  const auto* a = f.in<typename F::A>(op.r[1]);
  const auto* b = f.in<typename F::B>(op.r[2]);
  Storage<typename F::D> t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i)
    t[i] =
        bits_to<Storage<typename F::D>>(F::apply(bits_to<typename F::A>(a[i]), bits_to<typename F::B>(b[i])));
  f.write(op.r[0], t);
}
template <class F>
void run3(const Op& op, Frame& f) {
  const auto* a = f.in<typename F::A>(op.r[1]);
  const auto* b = f.in<typename F::B>(op.r[2]);
  const auto* c = f.in<typename F::C>(op.r[3]);
  Storage<typename F::D> t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i)
    t[i] = bits_to<Storage<typename F::D>>(
        F::apply(bits_to<typename F::A>(a[i]), bits_to<typename F::B>(b[i]), bits_to<typename F::C>(c[i])));
  f.write(op.r[0], t);
}

/// The mask of lanes for which F::apply(a, b) holds.
template <class F>
LaneMask compare_lanes(const void* left, const void* right) {
  const auto* a = static_cast<const Storage<typename F::A>*>(left);
  const auto* b = static_cast<const Storage<typename F::A>*>(right);
  LaneMask mask = 0;
  for (unsigned i = 0; i < kWarpLanes; ++i)
    mask |= F::apply(bits_to<typename F::A>(a[i]), bits_to<typename F::A>(b[i])) ? kLaneBit[i] : 0U;
  return mask;
}

}  // namespace warpline::ptx
