#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "rtl_models/base/types.h"

namespace warpline {

/// Calls f(lane) for each lane of `lanes`, lowest first.
template <class F>
void for_each_lane(LaneMask lanes, F&& f) {
  for (; lanes != 0; lanes &= lanes - 1) f(static_cast<unsigned>(__builtin_ctz(lanes)));
}

/// The lowest and the highest lane of `lanes`. Pre: there is one.
constexpr unsigned first_lane(LaneMask lanes) {
  return static_cast<unsigned>(__builtin_ctz(lanes));
}
constexpr unsigned last_lane(LaneMask lanes) {
  return kWarpLanes - 1 - static_cast<unsigned>(__builtin_clz(lanes));
}

/// Where the lanes of a memory instruction find their addresses.
enum class AddressForm : std::uint8_t {
  per_lane,  ///< in MemoryAccess::address
  strided,   ///< lane n accesses base + n * stride (all lanes up to 31, active or not)
};

/// Where an asynchronous copy goes, as MemoryAccess::second holds it for each lane.
struct CopyTarget {
  std::uint32_t offset = 0;  ///< in shared memory
  std::uint32_t bytes = 0;   ///< read of the source, at most the size of the copy; zeros fill the rest
  [[nodiscard]] constexpr std::uint64_t packed() const { return std::uint64_t{bytes} << 32U | offset; }
  [[nodiscard]] static constexpr CopyTarget of(std::uint64_t packed) {
    return {static_cast<std::uint32_t>(packed), static_cast<std::uint32_t>(packed >> 32U)};
  }
};

/// Which element of a texture or surface a lane wants, as MemoryAccess::second (x, y) and ::policy (z, layer)
/// hold it; the address is the image's handle.
struct ImageCoordinates {
  std::int32_t x = 0;  ///< of an unformatted surface access: bytes; of ImageForm::float_coordinates: binary32
  std::int32_t y = 0;
  std::int32_t z = 0;
  std::uint32_t layer = 0;
  [[nodiscard]] constexpr std::uint64_t packed() const {
    return std::uint64_t{static_cast<std::uint32_t>(y)} << 32U | static_cast<std::uint32_t>(x);
  }
  [[nodiscard]] constexpr std::uint64_t packed_rest() const {
    return std::uint64_t{layer} << 32U | static_cast<std::uint32_t>(z);
  }
  [[nodiscard]] static constexpr ImageCoordinates of(std::uint64_t packed, std::uint64_t rest = 0) {
    return {static_cast<std::int32_t>(packed), static_cast<std::int32_t>(packed >> 32U),
            static_cast<std::int32_t>(rest), static_cast<std::uint32_t>(rest >> 32U)};
  }
};

/// What else a texture load takes: until the texels are there, it lies where they will, in
/// MemoryAccess::data. Zeros where the instruction does not say it.
struct SampleOperands {
  std::array<float, 3> dx = {};  ///< gradients; of Sampling::level, the first is the level of detail
  std::array<float, 3> dy = {};
  std::array<std::int8_t, 4> offset = {};  ///< texels, by dimension
  float reference = 0;                     ///< of ImageForm::compares
};

/// What one lane wants of a bulk copy, as MemoryAccess::data holds it. The address is that of global memory,
/// of the tensor map, or of BulkDirection::to_cluster the source in the own shared memory.
struct BulkOperands {
  std::uint32_t shared = 0;    ///< the place in shared memory; of copies to it in `.shared::cluster`
  std::uint32_t mbarrier = 0;  ///< of copies to shared memory: the object that is told, likewise
  std::uint32_t bytes = 0;     ///< of copies of no tensor
  std::array<std::int32_t, 5> coordinates{};
};

/// What a bulk copy has in MemoryAccess::second: the offsets of im2col and the CTAs that it goes to.
struct BulkSecond {
  static constexpr unsigned kOffsets = 3;
  std::array<std::uint16_t, kOffsets> offsets{};
  std::uint16_t ctas = 0;  ///< of `.multicast::cluster`, a bit for each rank
  [[nodiscard]] constexpr std::uint64_t packed() const {
    return std::uint64_t{ctas} << 48U | std::uint64_t{offsets[2]} << 32U | std::uint64_t{offsets[1]} << 16U |
           offsets[0];
  }
  [[nodiscard]] static constexpr BulkSecond of(std::uint64_t packed) {
    return {{static_cast<std::uint16_t>(packed), static_cast<std::uint16_t>(packed >> 16U),
             static_cast<std::uint16_t>(packed >> 32U)},
            static_cast<std::uint16_t>(packed >> 48U)};
  }
};

/// What one lane wants of an mbarrier, as MemoryAccess::data holds it; of waits MemoryAccess::second is the
/// state, or the parity. What it answers, a state or 0 and 1, lies there afterwards.
struct MbarrierOperands {
  std::uint32_t count = 1;  ///< arrivals, or bytes of transactions
  std::uint32_t ticks = 0;  ///< of `try_wait`: SM cycles after which it gives up; 0: what the SM takes for it
};

/// What a memory access has for each lane; 1.75 KB.
struct LaneBuffers {
  static constexpr unsigned kMaxLaneBytes = 32;
  std::array<std::uint64_t, kWarpLanes> address;
  std::array<std::uint64_t, kWarpLanes> second;
  std::array<std::uint64_t, kWarpLanes> policy;
  std::array<std::uint8_t, kWarpLanes * kMaxLaneBytes> data;
};

/// The dynamic part of one warp's memory instruction. The load/store unit owns it; the source fills it when
/// the instruction issues, and reads loaded data back from it. Nobody else changes anything of it but the
/// data, and the form in which the addresses are said. Its lane buffers lie apart, so that accesses without
/// lane addresses and data stay small.
struct MemoryAccess {
  static constexpr unsigned kMaxLaneBytes = LaneBuffers::kMaxLaneBytes;
  /// With buffers of its own.
  MemoryAccess() : owned_(std::make_unique<LaneBuffers>()) { use(*owned_); }
  /// With buffers that outlive it.
  explicit MemoryAccess(LaneBuffers& buffers) { use(buffers); }

  LaneMask active = 0;  ///< lanes that take part: active, and the predicate true
  AddressForm form = AddressForm::per_lane;
  std::uint64_t base = 0;
  std::int64_t stride = 0;
  /// Per lane, as the program wrote it: generic, or an offset in the space.
  std::uint64_t* address = nullptr;
  /// Per lane: `c` of a compare-and-swap (of 16 bytes: in `data`, behind `b`), a CopyTarget,
  /// ImageCoordinates, the state or parity of a wait for a phase, BulkSecond, the address of the mbarrier
  /// that a store is told to, the bytes that `st.bulk` fills.
  std::uint64_t* second = nullptr;
  std::uint64_t* policy =
      nullptr;  ///< per lane: the descriptor of `.L2::cache_hint`, the rest of coordinates
  /// Store data, atomic operand `b`, or loaded data: lane n has its bytes at n * kMaxLaneBytes,
  /// little-endian, vector elements in order. Loads leave sink elements and inactive lanes alone.
  std::uint8_t* data = nullptr;
  /// Of `wgmma.mma_async` alone, while it completes: the shared memory of the CTA. Null in a tags-only run.
  const std::uint8_t* shared = nullptr;

  [[nodiscard]] std::uint64_t address_of(unsigned lane) const {
    return form == AddressForm::per_lane
               ? address[lane]
               : base + static_cast<std::uint64_t>(static_cast<std::int64_t>(lane) * stride);
  }
  /// Says the addresses of a whole warp as strided where each lane goes `bytes` behind the one before, as
  /// most do: who splits, checks and answers the access then looks at one address and not at 32.
  void say_contiguous(unsigned bytes) {
    if (form != AddressForm::per_lane || active != ~LaneMask{0} ||
        address[kWarpLanes - 1] - address[0] != std::uint64_t{kWarpLanes - 1} * bytes)
      return;
    std::uint64_t differs = 0;
    for (unsigned lane = 1; lane < kWarpLanes; ++lane)
      differs |= (address[lane] - address[0]) ^ (std::uint64_t{lane} * bytes);
    if (differs != 0) return;
    form = AddressForm::strided;
    base = address[0];
    stride = bytes;
  }
  /// Of an access to an image. Instructions with Geometry::any leave `policy` alone.
  [[nodiscard]] ImageCoordinates coordinates(unsigned lane, bool all) const {
    return ImageCoordinates::of(second[lane], all ? policy[lane] : 0);
  }
  [[nodiscard]] std::uint8_t* lane_data(unsigned lane) { return data + std::size_t{lane} * kMaxLaneBytes; }
  [[nodiscard]] const std::uint8_t* lane_data(unsigned lane) const {
    return data + std::size_t{lane} * kMaxLaneBytes;
  }

 private:
  void use(LaneBuffers& b) {
    address = b.address.data();
    second = b.second.data();
    policy = b.policy.data();
    data = b.data.data();
  }
  std::unique_ptr<LaneBuffers> owned_;
};

}  // namespace warpline
