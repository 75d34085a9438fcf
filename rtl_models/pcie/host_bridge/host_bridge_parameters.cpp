#include "rtl_models/pcie/host_bridge/host_bridge_parameters.h"

#include "rtl_models/base/bits.h"
#include "rtl_models/base/types.h"

namespace warpline {

Problems HostBridgeParameters::problems(const std::string& path) const {
  Rules rules(path);
  rules.need(combining_buffers >= 1 && combining_buffers <= 64, "combining_buffers", "must be 1 to 64 lines");
  rules.need(is_power_of_two(combining_bytes) && combining_bytes >= 16 && combining_bytes <= kLineBytes,
             "combining_bytes", "must be 16, 32, 64 or 128 bytes");
  rules.need(combining_cycles >= 1, "combining_cycles", "must be at least 1");
  rules.need(read_ahead == 0 || (is_power_of_two(read_ahead) && read_ahead >= 16 && read_ahead <= 4096),
             "read_ahead", "must be 0, or a power of two from 16 to 4096 bytes");
  rules.need(read_ahead_cycles >= 1, "read_ahead_cycles", "must be at least 1");
  return rules.take();
}

}  // namespace warpline
