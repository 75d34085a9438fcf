#include "warpline/programs/ptx/special_registers.h"

#include <array>
#include <utility>

namespace warpline::ptx {
namespace {

using R = SpecialRegister;

constexpr std::array<std::pair<std::string_view, R>, 47> kNames = {{
    {"%tid.x", R::tid_x},
    {"%tid.y", R::tid_y},
    {"%tid.z", R::tid_z},
    {"%tid.w", R::zero},
    {"%ntid.x", R::ntid_x},
    {"%ntid.y", R::ntid_y},
    {"%ntid.z", R::ntid_z},
    {"%ntid.w", R::one},
    {"%ctaid.x", R::ctaid_x},
    {"%ctaid.y", R::ctaid_y},
    {"%ctaid.z", R::ctaid_z},
    {"%ctaid.w", R::zero},
    {"%nctaid.x", R::nctaid_x},
    {"%nctaid.y", R::nctaid_y},
    {"%nctaid.z", R::nctaid_z},
    {"%nctaid.w", R::one},
    {"%clusterid.x", R::clusterid_x},
    {"%clusterid.y", R::clusterid_y},
    {"%clusterid.z", R::clusterid_z},
    {"%nclusterid.x", R::nclusterid_x},
    {"%nclusterid.y", R::nclusterid_y},
    {"%nclusterid.z", R::nclusterid_z},
    {"%cluster_ctaid.x", R::zero},
    {"%cluster_ctaid.y", R::zero},
    {"%cluster_ctaid.z", R::zero},
    {"%cluster_nctaid.x", R::one},
    {"%cluster_nctaid.y", R::one},
    {"%cluster_nctaid.z", R::one},
    {"%cluster_ctarank", R::zero},
    {"%cluster_nctarank", R::one},
    {"%laneid", R::laneid},
    {"%warpid", R::warpid},
    {"%nwarpid", R::nwarpid},
    {"%smid", R::smid},
    {"%nsmid", R::nsmid},
    {"%gridid", R::gridid},
    {"%lanemask_eq", R::lanemask_eq},
    {"%lanemask_lt", R::lanemask_lt},
    {"%lanemask_le", R::lanemask_le},
    {"%lanemask_gt", R::lanemask_gt},
    {"%lanemask_ge", R::lanemask_ge},
    {"%dynamic_smem_size", R::dynamic_smem_size},
    {"%total_smem_size", R::total_smem_size},
    {"%aggr_smem_size", R::total_smem_size},
    {"%reserved_smem_offset_begin", R::zero},
    {"%reserved_smem_offset_end", R::zero},
    {"%reserved_smem_offset_cap", R::zero},
}};

constexpr std::array<std::pair<std::string_view, ClockRegister>, 6> kClocks = {{
    {"%clock", ClockRegister::low},
    {"%clock_hi", ClockRegister::high},
    {"%clock64", ClockRegister::full},
    {"%globaltimer", ClockRegister::full},
    {"%globaltimer_lo", ClockRegister::low},
    {"%globaltimer_hi", ClockRegister::high},
}};

std::uint32_t thread_coordinate(const WarpIdentity& who, unsigned lane, unsigned axis) {
  const Dim3& block = who.kernel->block;
  const unsigned thread = who.warp * kWarpLanes + lane;
  if (axis == 0) return thread % block.x;
  return axis == 1 ? thread / block.x % block.y : thread / (block.x * block.y);
}

}  // namespace

std::optional<SpecialRegister> special_register(std::string_view name) {
  for (const auto& [text, id] : kNames)
    if (text == name) return id;
  return std::nullopt;
}

std::optional<ClockRegister> clock_register(std::string_view name) {
  for (const auto& [text, id] : kClocks)
    if (text == name) return id;
  return std::nullopt;
}

std::vector<std::string> special_register_names() {
  std::vector<std::string> names;
  names.reserve(kNames.size() + kClocks.size());
  for (const auto& [text, id] : kNames) names.emplace_back(text);
  for (const auto& [text, id] : kClocks) names.emplace_back(text);
  return names;
}

std::uint64_t special_value(SpecialRegister id, const WarpIdentity& who, unsigned lane) {
  const KernelInfo& k = *who.kernel;
  const LaneMask bit = LaneMask{1} << lane;
  switch (id) {
    case R::tid_x: return thread_coordinate(who, lane, 0);
    case R::tid_y: return thread_coordinate(who, lane, 1);
    case R::tid_z: return thread_coordinate(who, lane, 2);
    case R::ntid_x: return k.block.x;
    case R::ntid_y: return k.block.y;
    case R::ntid_z: return k.block.z;
    case R::clusterid_x:
    case R::ctaid_x: return who.cta.x;
    case R::clusterid_y:
    case R::ctaid_y: return who.cta.y;
    case R::clusterid_z:
    case R::ctaid_z: return who.cta.z;
    case R::nclusterid_x:
    case R::nctaid_x: return k.grid.x;
    case R::nclusterid_y:
    case R::nctaid_y: return k.grid.y;
    case R::nclusterid_z:
    case R::nctaid_z: return k.grid.z;
    case R::zero: return 0;
    case R::one: return 1;
    case R::laneid: return lane;
    case R::warpid: return who.warp;
    case R::nwarpid: return k.warps_per_cta();
    case R::smid: return who.sm;
    case R::nsmid: return who.sms;
    case R::gridid: return 1;
    case R::lanemask_eq: return bit;
    case R::lanemask_lt: return bit - 1;
    case R::lanemask_le: return bit | (bit - 1);
    case R::lanemask_gt: return ~(bit | (bit - 1));
    case R::lanemask_ge: return ~(bit - 1);
    case R::dynamic_smem_size: return who.dynamic_shared_bytes;
    case R::total_smem_size: return k.shared_bytes;
  }
  return 0;
}

}  // namespace warpline::ptx
