#include "rtl_models/queue_device/queue_device_parameters.h"

#include "rtl_models/base/bits.h"

namespace warpline {

Problems QueueDeviceParameters::problems(const std::string& path) const {
  Rules rules(path);
  rules.need(buffer_bytes >= 4096 && buffer_bytes <= std::uint64_t{1} << 32U && is_power_of_two(buffer_bytes),
             "buffer_bytes", "must be a power of two from 4096 to 2^32");
  rules.need(commands >= 1 && commands <= 256, "commands", "must be between 1 and 256");
  rules.need(access_latency >= 1, "access_latency", "must be at least 1");
  rules.need(write_queue >= 1, "write_queue", "must be at least 1");
  rules.need(completion_spread <= 1U << 24U, "completion_spread", "must be at most 2^24");
  return rules.take();
}

}  // namespace warpline
