#include "platform/programs/ptx_syntax/special_registers.h"

#include <algorithm>
#include <array>
#include <utility>

namespace warpline::ptx {
namespace {

using Who = const WarpIdentity&;
using Value = std::uint64_t;

unsigned thread(Who w, unsigned lane) {
  return w.warp * kWarpLanes + lane;
}
LaneMask bit(unsigned lane) {
  return LaneMask{1} << lane;
}
constexpr auto kZero = [](Who, unsigned) -> Value { return 0; };
constexpr auto kOne = [](Who, unsigned) -> Value { return 1; };

// Clusters hold one CTA each.
constexpr std::array<SpecialRegister, 47> kRegisters = {{
    {"%tid.x", [](Who w, unsigned lane) -> Value { return thread(w, lane) % w.kernel->block.x; }},
    {"%tid.y",
     [](Who w, unsigned lane) -> Value { return thread(w, lane) / w.kernel->block.x % w.kernel->block.y; }},
    {"%tid.z",
     [](Who w, unsigned lane) -> Value { return thread(w, lane) / (w.kernel->block.x * w.kernel->block.y); }},
    {"%tid.w", kZero},
    {"%ntid.x", [](Who w, unsigned) -> Value { return w.kernel->block.x; }},
    {"%ntid.y", [](Who w, unsigned) -> Value { return w.kernel->block.y; }},
    {"%ntid.z", [](Who w, unsigned) -> Value { return w.kernel->block.z; }},
    {"%ntid.w", kOne},
    {"%ctaid.x", [](Who w, unsigned) -> Value { return w.cta.x; }},
    {"%ctaid.y", [](Who w, unsigned) -> Value { return w.cta.y; }},
    {"%ctaid.z", [](Who w, unsigned) -> Value { return w.cta.z; }},
    {"%ctaid.w", kZero},
    {"%nctaid.x", [](Who w, unsigned) -> Value { return w.kernel->grid.x; }},
    {"%nctaid.y", [](Who w, unsigned) -> Value { return w.kernel->grid.y; }},
    {"%nctaid.z", [](Who w, unsigned) -> Value { return w.kernel->grid.z; }},
    {"%nctaid.w", kOne},
    {"%clusterid.x", [](Who w, unsigned) -> Value { return w.cta.x; }},
    {"%clusterid.y", [](Who w, unsigned) -> Value { return w.cta.y; }},
    {"%clusterid.z", [](Who w, unsigned) -> Value { return w.cta.z; }},
    {"%nclusterid.x", [](Who w, unsigned) -> Value { return w.kernel->grid.x; }},
    {"%nclusterid.y", [](Who w, unsigned) -> Value { return w.kernel->grid.y; }},
    {"%nclusterid.z", [](Who w, unsigned) -> Value { return w.kernel->grid.z; }},
    {"%cluster_ctaid.x", kZero},
    {"%cluster_ctaid.y", kZero},
    {"%cluster_ctaid.z", kZero},
    {"%cluster_nctaid.x", kOne},
    {"%cluster_nctaid.y", kOne},
    {"%cluster_nctaid.z", kOne},
    {"%cluster_ctarank", kZero},
    {"%cluster_nctarank", kOne},
    {"%laneid", [](Who, unsigned lane) -> Value { return lane; }},
    {"%warpid", [](Who w, unsigned) -> Value { return w.warp; }},
    {"%nwarpid", [](Who w, unsigned) -> Value { return w.kernel->warps_per_cta(); }},
    {"%smid", [](Who w, unsigned) -> Value { return w.sm; }},
    {"%nsmid", [](Who w, unsigned) -> Value { return w.sms; }},
    {"%gridid", kOne},
    {"%lanemask_eq", [](Who, unsigned lane) -> Value { return bit(lane); }},
    {"%lanemask_lt", [](Who, unsigned lane) -> Value { return bit(lane) - 1; }},
    {"%lanemask_le", [](Who, unsigned lane) -> Value { return bit(lane) | (bit(lane) - 1); }},
    {"%lanemask_gt", [](Who, unsigned lane) -> Value { return ~(bit(lane) | (bit(lane) - 1)); }},
    {"%lanemask_ge", [](Who, unsigned lane) -> Value { return ~(bit(lane) - 1); }},
    {"%dynamic_smem_size", [](Who w, unsigned) -> Value { return w.dynamic_shared_bytes; }},
    {"%total_smem_size", [](Who w, unsigned) -> Value { return w.kernel->shared_bytes; }},
    {"%aggr_smem_size", [](Who w, unsigned) -> Value { return w.kernel->shared_bytes; }},
    {"%reserved_smem_offset_begin", kZero},
    {"%reserved_smem_offset_end", kZero},
    {"%reserved_smem_offset_cap", kZero},
}};

constexpr SpecialRegister kClockFrequency = {"", [](Who w, unsigned) -> Value { return w.mhz; }};

using Half = ClockRegister::Half;
constexpr std::array<std::pair<std::string_view, ClockRegister>, 6> kClocks = {{
    {"%clock", {Half::low, false}},
    {"%clock_hi", {Half::high, false}},
    {"%clock64", {Half::full, false}},
    {"%globaltimer", {Half::full, true}},
    {"%globaltimer_lo", {Half::low, true}},
    {"%globaltimer_hi", {Half::high, true}},
}};

}  // namespace

const SpecialRegister* special_register(std::string_view name) {
  const auto* const found = std::find_if(kRegisters.begin(), kRegisters.end(),
                                         [&](const SpecialRegister& r) { return r.name == name; });
  return found == kRegisters.end() ? nullptr : found;
}

const SpecialRegister& clock_frequency() {
  return kClockFrequency;
}

std::optional<ClockRegister> clock_register(std::string_view name) {
  for (const auto& [text, id] : kClocks)
    if (text == name) return id;
  return std::nullopt;
}

std::vector<std::string> special_register_names() {
  std::vector<std::string> names;
  for (const SpecialRegister& r : kRegisters) names.emplace_back(r.name);
  for (const auto& [text, id] : kClocks) names.emplace_back(text);
  return names;
}

}  // namespace warpline::ptx
