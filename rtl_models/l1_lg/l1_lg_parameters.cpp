#include "rtl_models/l1_lg/l1_lg_parameters.h"

namespace warpline {

Problems L1LgParameters::problems(const std::string& path) const {
  Rules rules(path);
  rules.add(geometry.problems(path));
  rules.need(miss_registers >= 1 && miss_registers <= 65534, "miss_registers", "must be 1 to 65534");
  rules.need(outgoing >= 2 && outgoing <= 65536, "outgoing", "must be 2 to 65536");
  return rules.take();
}

}  // namespace warpline
