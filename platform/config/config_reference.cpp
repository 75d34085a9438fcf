#include "platform/config/config_reference.h"

#include <algorithm>
#include <map>
#include <type_traits>

#include "platform/config/load_gpu.h"

namespace warpline {
namespace {

std::string literal(bool b) {
  return b ? "true" : "false";
}
std::string literal(unsigned n) {
  return std::to_string(n);
}
std::string literal(std::uint64_t n) {
  return std::to_string(n);
}
std::string literal(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      constexpr const char* kDigits = "0123456789ABCDEF";
      out += "\\u00";
      out += kDigits[byte >> 4U];
      out += kDigits[byte & 15U];
    } else {
      out += c;
    }
  }
  return out + "\"";
}
std::string literal(const std::vector<std::uint64_t>& list) {
  std::string out = "[";
  for (const std::uint64_t n : list) out += (out.size() > 1 ? ", " : "") + std::to_string(n);
  return out + "]";
}

template <class T>
constexpr bool kIsLeaf = std::is_arithmetic_v<T> || std::is_same_v<T, std::string> ||
                         std::is_same_v<T, std::vector<std::uint64_t>>;

/// Lists the fields of one table.
class Lister {
 public:
  Lister(std::string table, std::vector<ConfigEntry>& out) : table_(std::move(table)), out_(out) {}
  template <class T>
  void operator()(const char* name, T& field, const char* meaning) {
    ConfigEntry entry{table_, name, meaning, {}};
    if constexpr (kIsLeaf<T>) {
      entry.value = literal(field);
      out_.push_back(std::move(entry));
    } else {
      const std::string path = entry.path();
      out_.push_back(std::move(entry));
      field.visit(Lister(path, out_));
    }
  }

 private:
  std::string table_;
  std::vector<ConfigEntry>& out_;
};

/// By the path of a key, the rules that some value of it or of another key breaks.
using RulesByPath = std::map<std::string, std::vector<std::string>>;

/// Sets each key to values at and beyond its bounds, one after the other, and takes down what is said of
/// them.
class Prober {
 public:
  Prober(const GpuConfig& whole, RulesByPath& rules) : whole_(whole), rules_(rules) {}
  template <class T>
  void operator()(const char*, T& field, const char*) {
    if constexpr (!kIsLeaf<T>) {
      field.visit(Prober(whole_, rules_));
    } else if constexpr (std::is_same_v<T, std::string>) {
      try_value(field, T{});
    } else if constexpr (std::is_same_v<T, std::vector<std::uint64_t>>) {
      try_value(field, T(1000));
    } else if constexpr (!std::is_same_v<T, bool>) {
      for (const std::uint64_t n : {0ULL, 1ULL, 3ULL, 1ULL << 24U, ~0ULL})
        try_value(field, static_cast<T>(n));
    }
  }

 private:
  template <class T>
  void try_value(T& field, T value) {
    std::swap(field, value);
    for (const Problem& p : whole_.problems()) {
      std::vector<std::string>& said = rules_[p.path];
      if (std::find(said.begin(), said.end(), p.message) == said.end()) said.push_back(p.message);
    }
    std::swap(field, value);
  }

  const GpuConfig& whole_;
  RulesByPath& rules_;
};

/// In a cell of a table, with breaks between several.
std::string rules_text(const std::vector<std::string>& rules) {
  std::string out;
  for (const std::string& r : rules) out += (out.empty() ? "" : "; ") + r;
  return out;
}

}  // namespace

std::vector<ConfigEntry> config_entries(GpuConfig config) {
  std::vector<ConfigEntry> out;
  config.visit(Lister("", out));
  return out;
}

std::string to_toml(GpuConfig config) {
  std::string out;
  for (const ConfigEntry& e : config_entries(std::move(config)))
    out += (e.value.empty() ? "\n[" + e.path() + "]" : e.name + " = " + e.value) + "  # " + e.meaning + "\n";
  return out;
}

std::string config_reference() {
  const std::vector<std::string> presets = preset_names();
  std::vector<std::vector<ConfigEntry>> of_preset;
  std::string head = "| key | meaning, unit |", line = "|---|---|";
  for (const std::string& name : presets) {
    of_preset.push_back(config_entries(load_gpu(name, {}).value()));
    head += " " + name + " |";
    line += "---|";
  }
  RulesByPath rules;
  GpuConfig probed = load_gpu(presets.front(), {}).value();
  probed.visit(Prober(probed, rules));

  head = "\n" + head + " rule |\n" + line + "---|\n";
  std::string out =
      "# Configuration keys\n\n"
      "Every key of a GPU file, which is also what `--set` takes, with its value in each preset. This page "
      "is the output of\n"
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
    out += " " + rules_text(rules["gpu." + e.path()]) + " |\n";
  }
  return out;
}

}  // namespace warpline
