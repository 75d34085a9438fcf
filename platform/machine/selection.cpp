#include "platform/machine/selection.h"

#include <algorithm>

#include "rtl_models/base/glob.h"
#include "rtl_models/document/document.h"

namespace warpline {
namespace {

/// Everything that can be named.
std::vector<std::string> names_in(const Engine& engine) {
  std::vector<std::string> names;
  for (const Component* c : engine.components()) names.push_back(c->name());
  for (const PortBase* p : engine.ports())
    if (p->channel() != nullptr) names.push_back(p->path());
  return names;
}

/// "sm[0], sm[0].l1_lg, ..., pcie": one of each kind of block is enough.
std::string some_blocks(const Engine& engine) {
  std::string text;
  for (const Component* c : engine.components()) {
    const std::size_t bracket = c->name().find('[');
    if (bracket != std::string::npos && c->name().compare(bracket, 3, "[0]") != 0) continue;
    text += (text.empty() ? "" : ", ") + c->name();
  }
  return text;
}

}  // namespace

bool Selection::matches(const std::string& name) const {
  return patterns_.empty() || std::any_of(patterns_.begin(), patterns_.end(),
                                          [&](const std::string& p) { return glob_matches(p, name); });
}

Diagnostics Selection::faults(const Engine& engine) const {
  Diagnostics faults;
  const std::vector<std::string> names = names_in(engine);
  for (const std::string& p : patterns_) {
    if (std::any_of(names.begin(), names.end(), [&](const std::string& n) { return glob_matches(p, n); }))
      continue;
    std::string hint = did_you_mean(p, names);
    if (hint.empty())
      hint = "blocks are " + some_blocks(engine) + "; a port is \"l2[0].from_crossbar\", * and ? are wild";
    faults.push_back(
        Diagnostic::about("--probe", "\"" + p + "\" matches no block and no receiving port", hint));
  }
  return faults;
}

}  // namespace warpline
