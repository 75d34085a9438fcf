#include "platform/launch/fast_forward.h"

#include <algorithm>
#include <vector>

#include "platform/launch/loaded_file.h"
#include "platform/launch/workload.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/document.h"

namespace warpline {

Result<FastForward> fast_forward_to(const std::string& text, const Workload& plan) {
  constexpr const char* kOption = "--fast-forward";
  FastForward out;
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_digit)) {
    const auto number = number_from<std::size_t>(text);
    if (!number || *number >= plan.steps.size())
      return Diagnostic::about(kOption, "there are " + std::to_string(plan.steps.size()) +
                                            " grids to run; nothing would be left after " + text);
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
  return Diagnostic::about(kOption, "no kernel \"" + text + "\" is launched", did_you_mean(text, names));
}

}  // namespace warpline
