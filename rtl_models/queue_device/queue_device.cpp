#include "rtl_models/queue_device/queue_device.h"

namespace warpline {

QueueDevice::QueueDevice(Engine& engine, std::string name, ClockDomain domain, TlpPool& pool, FunctionId id,
                         const QueueDeviceParameters& parameters, const LinkParameters& link, unsigned mhz)
    : EndpointDevice(engine, std::move(name), domain, pool, id, QueueDeviceCore::description(parameters),
                     link, {parameters.access_latency, parameters.write_queue}),
      core_(endpoint(), parameters, mhz) {
  serve(core_);
  endpoint().request_no_snoop(parameters.no_snoop);
}

}  // namespace warpline
