#include "warpline/peer/peer_parameters.h"

namespace warpline {

Problems PeerParameters::problems(const std::string& path) const {
  Rules rules(path);
  rules.need(buffer_bytes >= 4096 && (buffer_bytes & (buffer_bytes - 1)) == 0, "buffer_bytes",
             "must be a power of two, at least 4096");
  rules.need(commands >= 1 && commands <= 256, "commands", "must be between 1 and 256");
  rules.need(access_latency >= 1, "access_latency", "must be at least 1");
  rules.need(write_queue >= 1, "write_queue", "must be at least 1");
  return rules.take();
}

}  // namespace warpline
