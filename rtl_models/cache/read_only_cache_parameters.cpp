#include "rtl_models/cache/read_only_cache_parameters.h"

namespace warpline {

Problems ReadOnlyCacheParameters::problems(const std::string& path) const {
  Rules rules(path);
  rules.add(geometry.problems(path));
  rules.need(miss_registers >= 1 && miss_registers <= 65534, "miss_registers", "must be 1 to 65534");
  return rules.take();
}

}  // namespace warpline
