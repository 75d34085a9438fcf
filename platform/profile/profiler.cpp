#include "platform/profile/profiler.h"

#include <algorithm>

#include "platform/machine/gpu_platform.h"
#include "platform/machine/netlist.h"
#include "platform/machine/netlist_backend.h"
#include "platform/machine/system.h"
#include "rtl_models/sim/engine.h"
#include "rtl_models/sm/sm.h"

namespace warpline {
namespace {

template <class F>
void for_each_sm(GpuPlatform& platform, F&& visit) {
  for (unsigned gpu = 0; gpu < platform.system().gpus(); ++gpu)
    for (const Netlist::SmCluster& c : platform.system().gpu(gpu).clusters()) visit(*c.sm);
}

}  // namespace

Profiler::Profiler(GpuPlatform& platform) : platform_(platform), loose_(platform.is_loose()) {
  platform.build();
  const SmParameters& sm_parameters = platform.config().sm;
  for_each_sm(platform, [&](Sm& /*sm*/) {
    profiles_.push_back(std::make_unique<SmProfile>(sm_parameters.warp_slots, sm_parameters.unified_l1));
  });
}

Profiler::~Profiler() {
  for_each_sm(platform_, [](Sm& sm) { sm.profile_by(nullptr); });
}

void Profiler::grids_start(const std::vector<GridLaunch>& /*grids*/) {
  const bool measured = loose_ || !platform_.is_loose();
  auto profile = profiles_.begin();
  for_each_sm(platform_, [&](Sm& sm) {
    sm.profile_by(measured ? profile->get() : nullptr);
    ++profile;
  });
}

std::vector<KernelProfile> Profiler::kernels() {
  const auto now = [this](Sm& sm) {
    return sm.domain().edge_at_or_after(platform_.backend().engine().now());
  };
  auto resident = profiles_.begin();
  for_each_sm(platform_, [&](Sm& sm) { (*resident++)->close(now(sm)); });
  std::vector<KernelProfile> all;
  for (const auto& profile : profiles_)
    for (const KernelProfile& own : profile->kernels()) {
      if (own.warps == 0) continue;  // queued here, and no CTA came
      const auto known = std::find_if(all.begin(), all.end(), [&own](const KernelProfile& k) {
        return k.name == own.name && k.code_name == own.code_name;
      });
      KernelProfile& sum = known != all.end() ? *known : all.emplace_back();
      sum.name = own.name;
      sum.code_name = own.code_name;
      sum.add(own);
    }
  for (KernelProfile& kernel : all)
    std::sort(kernel.rows.begin(), kernel.rows.end(),
              [](const KernelProfile::Row& a, const KernelProfile::Row& b) { return a.pc < b.pc; });
  return all;
}

std::vector<std::string> unreconciled(const KernelProfile& kernel) {
  std::vector<std::string> out;
  std::uint64_t charged = 0;
  for (const KernelProfile::Row& row : kernel.rows) {
    const InstructionProfile& p = row.profile;
    charged += p.stall_cycles() + p.stalls[static_cast<std::size_t>(StallReason::selected)];
    if (p.issued != p.stalls[static_cast<std::size_t>(StallReason::selected)])
      out.push_back("kernel " + kernel.name + ", " + row.where + ": " + std::to_string(p.issued) +
                    " issued in " +
                    std::to_string(p.stalls[static_cast<std::size_t>(StallReason::selected)]) + " cycles");
    if (p.memory == nullptr) continue;
    const InstructionProfile::Memory& m = *p.memory;
    if (m.latency.count() != m.accesses || m.accesses > p.issued)
      out.push_back("kernel " + kernel.name + ", " + row.where + ": " + std::to_string(m.accesses) +
                    " accesses of " + std::to_string(p.issued) + " instructions, " +
                    std::to_string(m.latency.count()) + " latencies");
  }
  if (charged != kernel.warp_cycles)
    out.push_back("kernel " + kernel.name + ": warps were resident for " +
                  std::to_string(kernel.warp_cycles) + " warp-cycles, and " + std::to_string(charged) +
                  " have a reason");
  return out;
}

}  // namespace warpline
