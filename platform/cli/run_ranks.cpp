#include "platform/cli/run_ranks.h"

#include <fmt/format.h>

#include <utility>

#include "platform/cli/console.h"
#include "rtl_models/base/text.h"

namespace warpline {

bool RunRanks::any(const char* what, bool here) const {
  return exchange_ == nullptr ? here : !exchange_->all(what, !here);
}

int RunRanks::agreed(const char* where, int status) const {
  if (exchange_ == nullptr) return status;
  const unsigned own = exchange_->rank();
  const std::vector<std::string> told = exchange_->tell(where, std::to_string(status));
  for (unsigned r = 0; r < exchange_->ranks(); ++r) {
    const int there = r == own ? status : number_from<int>(told[r]).value_or(kBadInput);
    if (there == kDone) continue;
    // What the first one finds it has said.
    if (r == own && r != 0) print_message(fmt::format("of rank {}:\n{}", r, end_silence()));
    return there;
  }
  return kDone;
}

std::string why_not_on_ranks(const RunRequest& request, unsigned ranks) {
  const std::pair<const char*, bool> whole[] = {{"--save", !request.save.empty()},
                                                {"--restore", !request.restore.empty()},
                                                {"--wave", !request.observation.wave.empty()},
                                                {"--timeline", !request.observation.timeline.empty()},
                                                {"--latency", !request.observation.latency.empty()},
                                                {"--reuse", !request.observation.reuse.empty()},
                                                {"--profile", !request.profile.empty()},
                                                {"--series", !request.series.empty()},
                                                {"--live", request.live.has_value()},
                                                {"--check-consistency", request.check_consistency}};
  for (const auto& [option, given] : whole)
    if (given)
      return fmt::format("{} needs the whole platform in one process, and --mpi spreads it over {}", option,
                         ranks);
  const bool loose = request.transport == "lt" || request.transport == "functional";
  if (loose || !request.fast_forward.empty())
    return fmt::format("{} does not time all grids, and --mpi spreads what is timed over {} processes",
                       loose ? "--transport " + request.transport : "--fast-forward", ranks);
  if (request.transport != "fast" || !request.pins.empty())
    return fmt::format("{} is run by SystemC in one process, and --mpi spreads a platform over {}",
                       request.pins.empty() ? "--transport " + request.transport : "--pins", ranks);
  return {};
}

}  // namespace warpline
