#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>

#include "platform/programs/ptx/program.h"
#include "rtl_models/base/bits.h"

namespace warpline::ptx {

/// The unsigned type that a value of type T is stored as.
template <class T>
using Storage =
    std::conditional_t<sizeof(T) == 1, std::uint8_t,
                       std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                          std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

inline constexpr std::array<LaneMask, kWarpLanes> kLaneBit = [] {
  std::array<LaneMask, kWarpLanes> bits{};
  for (unsigned i = 0; i < kWarpLanes; ++i) bits[i] = LaneMask{1} << i;
  return bits;
}();

inline constexpr LaneMask kAllLanes = ~LaneMask{0};

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
    return is_constant(ref) ? pool + (bits & ~kPoolBit) : file + bits;
  }
  /// The lanes' values of an operand, as unsigned words of T's size.
  template <class T>
  [[nodiscard]] const Storage<T>* in(Ref ref) const {
    return static_cast<const Storage<T>*>(static_cast<const void*>(at(ref)));
  }
  template <class T>
  [[nodiscard]] Storage<T>* out(Ref ref) const {
    return static_cast<Storage<T>*>(static_cast<void*>(file + ref));
  }
  /// Writes the active lanes of `values`.
  template <class S>
  void write(Ref ref, const S* values) const {
    S* to = out<S>(ref);
    if (active == kAllLanes) {
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
  /// The lanes in which the guard of `op` holds. Pre: it is guarded.
  [[nodiscard]] LaneMask guard(const Op& op) const {
    const LaneMask holds = predicate(op.guard);
    return op.guard_negated ? ~holds : holds;
  }
  /// The lanes in which the predicate that `op` depends on holds.
  [[nodiscard]] LaneMask condition(const Op& op) const {
    const LaneMask holds = predicate(op.condition);
    return op.condition_negated ? ~holds : holds;
  }
  /// Source `n` of an operation of Decoder::predicates(), which may be negated: bit n of its mode.
  [[nodiscard]] LaneMask source_predicate(const Op& op, unsigned n) const {
    const LaneMask holds = predicate(op.r[n]);
    return (op.mode >> n & 1U) != 0 ? ~holds : holds;
  }
  void set_predicate(Ref ref, LaneMask value) const {
    if (ref == kNoRef) return;
    const LaneMask merged = (predicate(ref) & ~active) | (value & active);
    std::memcpy(file + ref, &merged, sizeof merged);
  }
};

/// Copies `bytes` of each of `lanes` from `from` to `to`, where lanes lie so many bytes apart.
inline void copy_lanes(LaneMask lanes, std::size_t bytes, void* to, std::size_t to_step, const void* from,
                       std::size_t from_step) {
  for (unsigned i = 0; i < kWarpLanes; ++i)
    if ((lanes & kLaneBit[i]) != 0)
      std::memmove(static_cast<std::byte*>(to) + i * to_step,
                   static_cast<const std::byte*>(from) + i * from_step, bytes);
}

/// The handler that `handler_of` has for the unsigned type of so many bytes: 1, 2, 4 or 8.
template <class F>
Handler for_storage(unsigned bytes, F&& handler_of) {
  switch (bytes) {
    case 1: return handler_of(std::uint8_t{});
    case 2: return handler_of(std::uint16_t{});
    case 4: return handler_of(std::uint32_t{});
    default: return handler_of(std::uint64_t{});
  }
}

/// Computes register r[0] of each lane by `apply`, of operands r[1], r[2] and so on as values of types A; a
/// result of type bool is a predicate. Every lane is computed, so that the loop has no branch; only active
/// ones are kept. `apply` must therefore be defined for every bit pattern.
template <class... A, class F>
void fill_lanes(const Op& op, Frame& f, F&& apply) {
  using D = std::invoke_result_t<F, A...>;
  [[maybe_unused]] auto next = [n = std::size_t{0}, &op]() mutable { return op.r[++n]; };
  const std::tuple<const Storage<A>*...> sources{f.in<A>(next())...};
  const auto lane = [&](unsigned i) {
    return std::apply([&](const auto*... a) { return apply(bits_as<A>(a[i])...); }, sources);
  };
  if constexpr (std::is_same_v<D, bool>) {
    LaneMask mask = 0;
    for (unsigned i = 0; i < kWarpLanes; ++i) mask |= lane(i) ? kLaneBit[i] : 0U;
    f.set_predicate(op.r[0], mask);
  } else {
    Storage<D> t[kWarpLanes];
    for (unsigned i = 0; i < kWarpLanes; ++i) t[i] = bits_as<Storage<D>>(lane(i));
    f.write(op.r[0], t);
  }
}

template <auto kApply, class D, class... A>
void fill_lanes_by(D (*)(A...), const Op& op, Frame& f) {
  fill_lanes<A...>(op, f, [](A... a) { return kApply(a...); });
}
template <auto kApply, class D, class... A>
void fill_lanes_by(D (*)(const Op&, A...), const Op& op, Frame& f) {
  fill_lanes<A...>(op, f, [&op](A... a) { return kApply(op, a...); });
}

/// The handler that fills lanes by the function kApply, which may take the operation before the operands.
template <auto kApply>
void run_lanes(const Op& op, Frame& f) {
  fill_lanes_by<kApply>(kApply, op, f);
}

}  // namespace warpline::ptx
