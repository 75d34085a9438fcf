#include "rtl_models/l2/l2_parameters.h"

namespace warpline {

Problems L2Parameters::problems(const std::string& path) const {
  Rules rules(path);
  rules.need(slices >= 1 && slices <= 4096, "slices", "must be 1 to 4096");
  rules.add(geometry.problems(path));
  rules.need(miss_registers >= 1 && miss_registers <= 65534, "miss_registers", "must be 1 to 65534");
  return rules.take();
}

}  // namespace warpline
