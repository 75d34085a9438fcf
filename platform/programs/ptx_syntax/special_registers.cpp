#include "platform/programs/ptx_syntax/special_registers.h"

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

}  // namespace warpline::ptx
