#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rtl_models/isa/data_type.h"
#include "rtl_models/sm/kernel.h"

namespace warpline::ptx {

/// Who a warp is.
struct WarpIdentity {
  const KernelInfo* kernel = nullptr;
  const LaunchAttributes* launch = nullptr;
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint32_t shared_bytes = 0;  ///< of the CTA, without what is reserved
  Dim3 cta;
  unsigned warp = 0;  ///< in its CTA
  unsigned sm = 0;
  unsigned sms = 1;
  unsigned mhz = 1000;  ///< of the SM's clock
};

/// What PTX says of a special register, whether it is modelled or not.
struct SpecialRegisterRules {
  DataType type = DataType::u32;  ///< u32 or u64: an integer of that size; pred: a predicate
  unsigned sizes = 4;             ///< with how many bytes an integer may be read: a sum of 2, 4 and 8
  unsigned version = 60;          ///< the first that has it, times ten
  unsigned target = 10;           ///< the number of the first sm_NN that has it
  bool whole_vector = false;      ///< all elements of a vector ("%tid") are meant, not one ("%tid.x")
};
/// Nothing where there is none of that name.
[[nodiscard]] std::optional<SpecialRegisterRules> special_register_rules(std::string_view name);

/// A special register whose value a warp keeps from its start to its end (PTX ISA, "Special Registers"); that
/// of a predicate is 0 or the mask of all lanes.
struct SpecialRegister {
  std::string_view name;
  std::uint64_t (*value)(const WarpIdentity&, unsigned lane);
};
/// Null where `name` is none.
[[nodiscard]] const SpecialRegister* special_register(std::string_view name);

/// What a CTA of a kernel that names `%reserved_smem_offset_*` has of shared memory behind its own, for
/// system software such as the groups of several warps of CUDA's cooperative groups.
inline constexpr std::uint32_t kReservedSharedBytes = 1024;
/// Whether a kernel that reads it needs that.
[[nodiscard]] bool reads_reserved_shared(const SpecialRegister& special);
/// It begins at a multiple of this.
inline constexpr std::uint32_t kReservedSharedAlignment = 128;

/// What is no register of PTX: the frequency of the SM's clock, MHz. Operations that turn cycles into
/// nanoseconds or back read it.
[[nodiscard]] const SpecialRegister& clock_frequency();

/// A special register that counts time, which only `mov` reads: SM cycles since reset, or the nanoseconds
/// that these took.
struct ClockRegister {
  enum class Half : std::uint8_t { low, high, full };
  Half half = Half::full;
  bool nanoseconds = false;
};
[[nodiscard]] std::optional<ClockRegister> clock_register(std::string_view name);

/// Names of all that can be read, for suggestions.
[[nodiscard]] std::vector<std::string> special_register_names();

}  // namespace warpline::ptx
