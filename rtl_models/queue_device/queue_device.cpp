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

void QueueDevice::set_loose(bool loose) {
  EndpointDevice::set_loose(loose);
  core_.observe_by(loose ? nullptr : observer_);
}

void QueueDevice::observe_by(QueueDeviceObserver* observer) {
  observer_ = observer;
  core_.observe_by(is_loose() ? nullptr : observer);
}

}  // namespace warpline
