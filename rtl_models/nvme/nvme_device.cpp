#include "rtl_models/nvme/nvme_device.h"

namespace warpline {

NvmeDevice::NvmeDevice(Engine& engine, std::string name, ClockDomain domain, TlpPool& pool, FunctionId id,
                       const NvmeParameters& parameters, unsigned controller,
                       std::vector<std::unique_ptr<BlockStore>> stores, const LinkParameters& link,
                       unsigned mhz)
    : EndpointDevice(engine, std::move(name), domain, pool, id, NvmeCore::description(parameters), link,
                     {parameters.access_latency, parameters.write_queue}),
      core_(endpoint(), parameters, controller, std::move(stores), mhz) {
  serve(core_);
}

}  // namespace warpline
