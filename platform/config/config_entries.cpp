#include "platform/config/config_entries.h"

#include "platform/config/config_fields.h"

namespace warpline {
std::vector<ConfigEntry> config_entries(GpuConfig config) {
  std::vector<ConfigEntry> out;
  list_fields(config, "", out);
  return out;
}

std::vector<std::string> config_keys() {
  std::vector<std::string> keys;
  for (const ConfigEntry& e : config_entries({}))
    if (!e.value.empty()) keys.push_back(e.path());
  return keys;
}

std::string to_toml(GpuConfig config, const KeySources& sources) {
  std::string out;
  for (const ConfigEntry& e : config_entries(std::move(config))) {
    const auto told = sources.find(e.path());
    if (e.value.empty()) {
      out += "\n[" + e.path() + "]";
    } else if (told == sources.end()) {
      out += e.name + " = " + e.value;
    } else {
      out += e.name + " = { value = " + e.value + ", " + told->second.toml() + " }";
    }
    out += "  # " + e.meaning + "\n";
  }
  return out;
}

}  // namespace warpline
