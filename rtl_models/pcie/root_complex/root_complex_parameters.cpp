#include "rtl_models/pcie/root_complex/root_complex_parameters.h"

namespace warpline {

Problems RootComplexParameters::problems(const std::string& path) const {
  Rules rules(path);
  rules.need(memory_latency >= 1, "memory_latency", "must be at least 1");
  rules.need(memory_channels >= 1 && memory_channels <= 64, "memory_channels", "must be between 1 and 64");
  rules.need(forward_latency >= 1, "forward_latency", "must be at least 1");
  rules.need(forward_queue >= 1, "forward_queue", "must be at least 1");
  return rules.take();
}

}  // namespace warpline
