#include "platform/cli/litmus_machines.h"

#include <algorithm>
#include <utility>

#include "platform/consistency/places.h"
#include "platform/systemc/systemc_backend.h"

namespace warpline {
namespace {

/// More than a platform has are refused by the machine.
unsigned gpus_of(const litmus::Test& test) {
  return std::min(litmus::places_of(test).gpus, kMaxGpus);
}

}  // namespace

LitmusMachines::LitmusMachines(GpuConfig config, std::string transport, std::vector<std::string> pins,
                               const std::vector<LitmusInput>& inputs)
    : config_(std::move(config)), transport_(std::move(transport)), pins_(std::move(pins)) {
  if (!in_systemc()) return;
  for (const LitmusInput& i : inputs)
    if (i.test.ok()) config_.gpus = std::max(config_.gpus, gpus_of(i.test.value()));
}

litmus::Machine& LitmusMachines::of(const litmus::Test& test) {
  GpuConfig config = config_;
  config.gpus = std::max(config.gpus, gpus_of(test));
  std::unique_ptr<litmus::Machine>& machine = made_[config.gpus];
  if (machine == nullptr) {
    std::shared_ptr<NetlistBackend> backend;
    if (in_systemc())
      backend = std::make_shared<SystemCBackend>(
          config.clocks, transport_ == "at" ? HopTransport::socket : HopTransport::direct, TickMode::lazy, 1,
          pins_);
    machine = std::make_unique<litmus::Machine>(config, backend, transport_ == "lt");
  }
  return *machine;
}

}  // namespace warpline
