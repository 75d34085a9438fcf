#include "platform/launch/fast_forward.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "platform/launch/loaded_file.h"
#include "platform/launch/workload.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/document.h"

namespace warpline {

namespace {

/// KERNEL of a plan, or a number of grids that is not refused.
Result<FastForward> read(const char* option, const std::string& text, const Workload& plan,
                         const std::function<std::string(std::optional<std::size_t>)>& refusal) {
  FastForward out;
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_digit)) {
    const auto number = number_from<std::size_t>(text);
    if (std::string why = refusal(number); !why.empty()) return Diagnostic::about(option, std::move(why));
    out.launches = *number;
    return out;
  }
  std::vector<std::string> names;
  bool traces = false;
  for (const Step& s : plan.steps) {
    traces = traces || !s.trace.empty();
    if (s.trace.empty()) names.push_back(plan.files[s.file].file.launches[s.launch].kernel);
  }
  out.kernel = text;
  if (!text.empty() && (traces || std::find(names.begin(), names.end(), text) != names.end())) return out;
  return Diagnostic::about(option, "no kernel \"" + text + "\" is launched", did_you_mean(text, names));
}

}  // namespace

Result<FastForward> fast_forward_to(const std::string& text, const Workload& plan) {
  const std::size_t grids = plan.steps.size();
  return read("--fast-forward", text, plan, [&](std::optional<std::size_t> number) {
    return number && *number < grids
               ? std::string{}
               : "there are " + std::to_string(grids) + " grids to run; nothing would be left after " + text;
  });
}

Result<FastForward> stop_after(const char* option, const std::string& text, const Workload& plan) {
  const std::size_t grids = plan.steps.size();
  return read(option, text, plan, [&](std::optional<std::size_t> number) {
    return number && *number >= 1 && *number <= grids
               ? std::string{}
               : "there are " + std::to_string(grids) + " grids to run; a run does not stop after " + text;
  });
}

}  // namespace warpline
