#include "rtl_models/sim/channel_parameters.h"

#include <utility>

#include "rtl_models/base/types.h"

namespace warpline {

Problems ChannelParameters::problems(const std::string& path) const {
  Rules rules(path);
  rules.need(width >= 1 && width <= kLineBytes, "width", "must be 1 to 128 bytes");
  rules.need(latency >= 1 && latency <= 100000, "latency", "must be 1 to 100000 cycles");
  rules.need(depth >= 1 && depth <= 65536, "depth", "must be 1 to 65536 messages");
  rules.need(credit_latency >= 1 && credit_latency <= 100000, "credit_latency", "must be 1 to 100000 cycles");
  return rules.take();
}

Problems HopParameters::problems(const std::string& path) const {
  Problems all = request.problems(path + ".request");
  for (Problem& p : response.problems(path + ".response")) all.push_back(std::move(p));
  return all;
}

}  // namespace warpline
