#include "platform/launch/fast_forward.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "rtl_models/document/document.h"

namespace warpline {

Result<FastForward> fast_forward_to(const std::string& text, const Workload& plan) {
  Diagnostic fault;
  fault.file = "--fast-forward";
  FastForward out;
  const char* const end = text.data() + text.size();
  std::size_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (stop == end && !text.empty()) {
    if (error == std::errc{} && number < plan.steps.size()) {
      out.launches = number;
      return out;
    }
    fault.message = "there are " + std::to_string(plan.steps.size()) +
                    " grids to run; nothing would be left after " + text;
    return fault;
  }
  std::vector<std::string> names;
  bool traces = false;
  for (const Step& s : plan.steps) {
    traces = traces || !s.trace.empty();
    if (s.trace.empty()) names.push_back(plan.files[s.file].file.launches[s.launch].kernel);
  }
  out.kernel = text;
  if (!text.empty() && (traces || std::find(names.begin(), names.end(), text) != names.end())) return out;
  fault.message = "no kernel \"" + text + "\" is launched";
  fault.hint = did_you_mean(text, names);
  return fault;
}

}  // namespace warpline
