#include "rtl_models/crossbar/crossbar_parameters.h"

namespace warpline {

Problems CrossbarParameters::problems(const std::string& path) const {
  Rules rules(path);
  rules.need(hash_masks.size() <= 16, "hash_masks", "must be at most 16 masks");
  return rules.take();
}

}  // namespace warpline
