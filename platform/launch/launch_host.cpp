#include "platform/launch/launch_host.h"

#include "platform/launch/hosted_run.h"

namespace warpline {

LaunchHost::LaunchHost(GpuPlatform& platform, Cycle max_cycles)
    : run_(std::make_unique<HostedRun>(platform, max_cycles)) {}

LaunchHost::~LaunchHost() = default;

std::string LaunchHost::access_log(bool json) {
  return run_->access_log(json);
}

}  // namespace warpline
