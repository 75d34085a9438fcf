#include "platform/programs/ptx_syntax/special_registers.h"

#include <algorithm>
#include <array>
#include <utility>

#include "rtl_models/base/bits.h"
#include "rtl_models/base/text.h"

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
const Dim3& cluster(Who w) {
  return w.kernel->cluster.size;
}
/// Where the CTA is in its cluster.
Dim3 in_cluster(Who w) {
  const Dim3& size = cluster(w);
  return {w.cta.x % size.x, w.cta.y % size.y, w.cta.z % size.z};
}
constexpr auto kZero = [](Who, unsigned) -> Value { return 0; };
constexpr auto kOne = [](Who, unsigned) -> Value { return 1; };

/// The kernel's own shared memory, without what is reserved; both are handed out in such units.
Value own_shared(Who w) {
  return align_up(w.shared_bytes, kReservedSharedAlignment);
}
/// 1 and 2: the workspace of a cooperative grid (cooperative groups of CUDA 9 and later), upper half first.
template <unsigned kNumber>
Value environment(Who w, unsigned /*lane*/) {
  if (kNumber == 1) return w.launch->grid_workspace >> 32U;
  if (kNumber == 2) return w.launch->grid_workspace & 0xFFFFFFFFU;
  return 0;
}

constexpr std::array<SpecialRegister, 103> kRegisters = {{
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
    {"%clusterid.x", [](Who w, unsigned) -> Value { return w.cta.x / cluster(w).x; }},
    {"%clusterid.y", [](Who w, unsigned) -> Value { return w.cta.y / cluster(w).y; }},
    {"%clusterid.z", [](Who w, unsigned) -> Value { return w.cta.z / cluster(w).z; }},
    {"%nclusterid.x", [](Who w, unsigned) -> Value { return w.kernel->grid.x / cluster(w).x; }},
    {"%nclusterid.y", [](Who w, unsigned) -> Value { return w.kernel->grid.y / cluster(w).y; }},
    {"%nclusterid.z", [](Who w, unsigned) -> Value { return w.kernel->grid.z / cluster(w).z; }},
    {"%clusterid.w", kZero},
    {"%nclusterid.w", kOne},
    {"%cluster_ctaid.w", kZero},
    {"%cluster_nctaid.w", kOne},
    {"%is_explicit_cluster",
     [](Who w, unsigned) -> Value { return w.kernel->cluster.given ? ~LaneMask{0} : 0; }},
    {"%cluster_ctaid.x", [](Who w, unsigned) -> Value { return in_cluster(w).x; }},
    {"%cluster_ctaid.y", [](Who w, unsigned) -> Value { return in_cluster(w).y; }},
    {"%cluster_ctaid.z", [](Who w, unsigned) -> Value { return in_cluster(w).z; }},
    {"%cluster_nctaid.x", [](Who w, unsigned) -> Value { return cluster(w).x; }},
    {"%cluster_nctaid.y", [](Who w, unsigned) -> Value { return cluster(w).y; }},
    {"%cluster_nctaid.z", [](Who w, unsigned) -> Value { return cluster(w).z; }},
    {"%cluster_ctarank", [](Who w, unsigned) -> Value { return in_cluster(w).number_in(cluster(w)); }},
    {"%cluster_nctarank", [](Who w, unsigned) -> Value { return cluster(w).count(); }},
    {"%laneid", [](Who, unsigned lane) -> Value { return lane; }},
    {"%warpid", [](Who w, unsigned) -> Value { return w.warp; }},
    {"%nwarpid", [](Who w, unsigned) -> Value { return w.kernel->warps_per_cta(); }},
    {"%smid", [](Who w, unsigned) -> Value { return w.sm; }},
    {"%nsmid", [](Who w, unsigned) -> Value { return w.sms; }},
    {"%gridid", [](Who w, unsigned) -> Value { return w.launch->grid_number; }},
    {"%lanemask_eq", [](Who, unsigned lane) -> Value { return bit(lane); }},
    {"%lanemask_lt", [](Who, unsigned lane) -> Value { return bit(lane) - 1; }},
    {"%lanemask_le", [](Who, unsigned lane) -> Value { return bit(lane) | (bit(lane) - 1); }},
    {"%lanemask_gt", [](Who, unsigned lane) -> Value { return ~(bit(lane) | (bit(lane) - 1)); }},
    {"%lanemask_ge", [](Who, unsigned lane) -> Value { return ~(bit(lane) - 1); }},
    {"%dynamic_smem_size", [](Who w, unsigned) -> Value { return w.dynamic_shared_bytes; }},
    {"%total_smem_size", [](Who w, unsigned) -> Value { return own_shared(w); }},
    {"%aggr_smem_size", [](Who w, unsigned) -> Value { return own_shared(w) + kReservedSharedBytes; }},
    {"%reserved_smem_offset_begin", [](Who w, unsigned) -> Value { return own_shared(w); }},
    {"%reserved_smem_offset_end",
     [](Who w, unsigned) -> Value { return own_shared(w) + kReservedSharedBytes; }},
    {"%reserved_smem_offset_cap",
     [](Who w, unsigned) -> Value { return own_shared(w) + kReservedSharedBytes; }},
    {"%reserved_smem_offset_0", [](Who w, unsigned) -> Value { return own_shared(w); }},
    {"%reserved_smem_offset_1",
     [](Who w, unsigned) -> Value { return own_shared(w) + kReservedSharedBytes / 2; }},
    {"%current_graph_exec", kZero},
    // No performance monitor is set up.
    {"%pm0", kZero},
    {"%pm1", kZero},
    {"%pm2", kZero},
    {"%pm3", kZero},
    {"%pm4", kZero},
    {"%pm5", kZero},
    {"%pm6", kZero},
    {"%pm7", kZero},
    {"%pm0_64", kZero},
    {"%pm1_64", kZero},
    {"%pm2_64", kZero},
    {"%pm3_64", kZero},
    {"%pm4_64", kZero},
    {"%pm5_64", kZero},
    {"%pm6_64", kZero},
    {"%pm7_64", kZero},
    // What the driver tells a program of its environment.
    {"%envreg0", &environment<0>},
    {"%envreg1", &environment<1>},
    {"%envreg2", &environment<2>},
    {"%envreg3", &environment<3>},
    {"%envreg4", &environment<4>},
    {"%envreg5", &environment<5>},
    {"%envreg6", &environment<6>},
    {"%envreg7", &environment<7>},
    {"%envreg8", &environment<8>},
    {"%envreg9", &environment<9>},
    {"%envreg10", &environment<10>},
    {"%envreg11", &environment<11>},
    {"%envreg12", &environment<12>},
    {"%envreg13", &environment<13>},
    {"%envreg14", &environment<14>},
    {"%envreg15", &environment<15>},
    {"%envreg16", &environment<16>},
    {"%envreg17", &environment<17>},
    {"%envreg18", &environment<18>},
    {"%envreg19", &environment<19>},
    {"%envreg20", &environment<20>},
    {"%envreg21", &environment<21>},
    {"%envreg22", &environment<22>},
    {"%envreg23", &environment<23>},
    {"%envreg24", &environment<24>},
    {"%envreg25", &environment<25>},
    {"%envreg26", &environment<26>},
    {"%envreg27", &environment<27>},
    {"%envreg28", &environment<28>},
    {"%envreg29", &environment<29>},
    {"%envreg30", &environment<30>},
    {"%envreg31", &environment<31>},
}};

/// A name, or the start of several.
struct NamedRules {
  std::string_view name;
  enum class Rest : std::uint8_t { nothing, element, number } rest;
  unsigned numbers;  ///< how many numbers may follow, from 0 on
  SpecialRegisterRules rules;
};
using Rest = NamedRules::Rest;
constexpr DataType k32 = DataType::u32, k64 = DataType::u64;

/// PTX ISA, "Special Registers"; versions and targets are those that ptxas 13.0 asks for.
constexpr NamedRules kRules[] = {
    {"%tid", Rest::element, 0, {k32, 2 + 4, 60, 10, false}},
    {"%ntid", Rest::element, 0, {k32, 2 + 4, 60, 10, false}},
    {"%laneid", Rest::nothing, 0, {k32, 4, 60, 10, false}},
    {"%warpid", Rest::nothing, 0, {k32, 4, 60, 10, false}},
    {"%nwarpid", Rest::nothing, 0, {k32, 4, 60, 20, false}},
    {"%ctaid", Rest::element, 0, {k32, 2 + 4, 60, 10, false}},
    {"%nctaid", Rest::element, 0, {k32, 2 + 4, 60, 10, false}},
    {"%smid", Rest::nothing, 0, {k32, 4, 60, 10, false}},
    {"%nsmid", Rest::nothing, 0, {k32, 4, 60, 20, false}},
    {"%gridid", Rest::nothing, 0, {k32, 2 + 4 + 8, 60, 10, false}},
    {"%is_explicit_cluster", Rest::nothing, 0, {DataType::pred, 0, 78, 90, false}},
    {"%clusterid", Rest::element, 0, {k32, 4, 78, 90, false}},
    {"%nclusterid", Rest::element, 0, {k32, 4, 78, 90, false}},
    {"%cluster_ctaid", Rest::element, 0, {k32, 4, 78, 90, false}},
    {"%cluster_nctaid", Rest::element, 0, {k32, 4, 78, 90, false}},
    {"%cluster_ctarank", Rest::nothing, 0, {k32, 4, 78, 90, false}},
    {"%cluster_nctarank", Rest::nothing, 0, {k32, 4, 78, 90, false}},
    {"%lanemask_eq", Rest::nothing, 0, {k32, 4, 60, 20, false}},
    {"%lanemask_lt", Rest::nothing, 0, {k32, 4, 60, 20, false}},
    {"%lanemask_le", Rest::nothing, 0, {k32, 4, 60, 20, false}},
    {"%lanemask_gt", Rest::nothing, 0, {k32, 4, 60, 20, false}},
    {"%lanemask_ge", Rest::nothing, 0, {k32, 4, 60, 20, false}},
    {"%clock", Rest::nothing, 0, {k32, 4, 60, 10, false}},
    {"%clock_hi", Rest::nothing, 0, {k32, 4, 60, 20, false}},
    {"%clock64", Rest::nothing, 0, {k64, 8, 60, 20, false}},
    {"%pm", Rest::number, 4, {k32, 4, 60, 10, false}},
    {"%pm", Rest::number, 8, {k32, 4, 60, 20, false}},
    {"%pm0_64", Rest::nothing, 0, {k64, 8, 60, 50, false}},
    {"%pm1_64", Rest::nothing, 0, {k64, 8, 60, 50, false}},
    {"%pm2_64", Rest::nothing, 0, {k64, 8, 60, 50, false}},
    {"%pm3_64", Rest::nothing, 0, {k64, 8, 60, 50, false}},
    {"%pm4_64", Rest::nothing, 0, {k64, 8, 60, 50, false}},
    {"%pm5_64", Rest::nothing, 0, {k64, 8, 60, 50, false}},
    {"%pm6_64", Rest::nothing, 0, {k64, 8, 60, 50, false}},
    {"%pm7_64", Rest::nothing, 0, {k64, 8, 60, 50, false}},
    {"%envreg", Rest::number, 32, {k32, 4, 60, 10, false}},
    {"%globaltimer", Rest::nothing, 0, {k64, 8, 60, 30, false}},
    {"%globaltimer_lo", Rest::nothing, 0, {k32, 4, 60, 30, false}},
    {"%globaltimer_hi", Rest::nothing, 0, {k32, 4, 60, 30, false}},
    {"%reserved_smem_offset_begin", Rest::nothing, 0, {k32, 4, 76, 80, false}},
    {"%reserved_smem_offset_end", Rest::nothing, 0, {k32, 4, 76, 80, false}},
    {"%reserved_smem_offset_cap", Rest::nothing, 0, {k32, 4, 76, 80, false}},
    {"%reserved_smem_offset_", Rest::number, 2, {k32, 4, 76, 80, false}},
    {"%total_smem_size", Rest::nothing, 0, {k32, 4, 60, 20, false}},
    {"%aggr_smem_size", Rest::nothing, 0, {k32, 4, 81, 90, false}},
    {"%dynamic_smem_size", Rest::nothing, 0, {k32, 4, 60, 20, false}},
    {"%current_graph_exec", Rest::nothing, 0, {k64, 8, 80, 50, false}},
};

/// Whether `rest` is what may follow the name of `r`.
bool follows(const NamedRules& r, std::string_view rest) {
  switch (r.rest) {
    case Rest::nothing: return rest.empty();
    case Rest::element:
      if (rest.empty()) return true;
      return rest.size() == 2 && rest[0] == '.' && std::string_view("xyzw").find(rest[1]) != rest.npos;
    case Rest::number: break;
  }
  if (rest.empty() || rest.size() > 2 || (rest.size() == 2 && rest[0] == '0')) return false;
  const auto n = number_from<unsigned>(rest);
  return n && *n < r.numbers;
}

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

std::optional<SpecialRegisterRules> special_register_rules(std::string_view name) {
  if (name.substr(0, 1) != "%") return std::nullopt;
  for (const NamedRules& r : kRules)
    if (name.substr(0, r.name.size()) == r.name && follows(r, name.substr(r.name.size()))) {
      SpecialRegisterRules rules = r.rules;
      rules.whole_vector = r.rest == Rest::element && name.size() == r.name.size();
      return rules;
    }
  return std::nullopt;
}

const SpecialRegister* special_register(std::string_view name) {
  const auto* const found = std::find_if(kRegisters.begin(), kRegisters.end(),
                                         [&](const SpecialRegister& r) { return r.name == name; });
  return found == kRegisters.end() ? nullptr : found;
}

bool reads_reserved_shared(const SpecialRegister& special) {
  constexpr std::string_view kStart = "%reserved_smem_offset_";
  return special.name.substr(0, kStart.size()) == kStart;
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
