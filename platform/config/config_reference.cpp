#include "platform/config/config_reference.h"

#include <algorithm>
#include <map>

#include "platform/config/config_entries.h"
#include "platform/config/load_gpu.h"
#include "rtl_models/base/text.h"

namespace warpline {
namespace {

/// By the path of a key, the rules that some value of it or of another key breaks.
using RulesByPath = std::map<std::string, std::vector<std::string>>;

/// Sets `field` of `whole` to a value for a moment, and takes down what is said of that.
template <class T>
void try_value(const GpuConfig& whole, T& field, T value, RulesByPath& rules) {
  std::swap(field, value);
  for (const Problem& p : whole.problems()) {
    std::vector<std::string>& said = rules[p.path];
    if (std::find(said.begin(), said.end(), p.message) == said.end()) said.push_back(p.message);
  }
  std::swap(field, value);
}

/// Tries values at and beyond the bounds of each key among `parameters`, which are part of `whole`.
template <class P>
void probe(const GpuConfig& whole, P& parameters, RulesByPath& rules) {
  parameters.visit([&](const char*, auto& field, const char*) {
    using T = std::decay_t<decltype(field)>;
    if constexpr (!kIsKey<T>) {
      probe(whole, field, rules);
    } else if constexpr (std::is_same_v<T, std::string>) {
      try_value(whole, field, T{}, rules);
    } else if constexpr (!std::is_arithmetic_v<T>) {
      try_value(whole, field, T(1000), rules);
    } else if constexpr (!std::is_same_v<T, bool>) {
      for (const std::uint64_t n : {0ULL, 1ULL, 3ULL, 1ULL << 24U, ~0ULL})
        try_value(whole, field, static_cast<T>(n), rules);
    }
  });
}

}  // namespace

std::map<std::string, std::vector<std::string>> config_rules() {
  RulesByPath rules;
  GpuConfig probed = load_gpu(preset_names().front()).value();
  probe(probed, probed, rules);
  return rules;
}

std::string config_reference() {
  // One of each generation; the others are told apart by `config compare`.
  const std::vector<std::string> presets = {"mini", "v100", "a100", "h100"};
  std::vector<std::vector<ConfigEntry>> of_preset;
  std::string head = "| key | meaning, unit |", line = "|---|---|";
  for (const std::string& name : presets) {
    of_preset.push_back(config_entries(load_gpu(name, {}).value()));
    head += " " + name + " |";
    line += "---|";
  }
  RulesByPath rules = config_rules();

  head = "\n" + head + " rule |\n" + line + "---|\n";
  std::string out =
      "# Configuration keys\n\n"
      "Every key of a GPU file, which is also what `--set` takes, with its value in four of the presets. "
      "This "
      "page is the output of\n"
      "`warpline config keys`; [Presets and configuration](presets.md) says how keys are used.\n" +
      head;
  for (std::size_t n = 0; n < of_preset.front().size(); ++n) {
    const ConfigEntry& e = of_preset.front()[n];
    if (e.value.empty()) {
      out += "\n## " + e.path() + "\n\n" + e.meaning + "\n";
      const bool has_keys = n + 1 < of_preset.front().size() && !of_preset.front()[n + 1].value.empty();
      if (has_keys) out += head;
      continue;
    }
    out += "| `" + e.path() + "` | " + e.meaning + " |";
    for (const std::vector<ConfigEntry>& entries : of_preset) out += " " + entries[n].value + " |";
    out += " " + joined(rules["gpu." + e.path()], "; ") + " |\n";
  }
  return out;
}

}  // namespace warpline
