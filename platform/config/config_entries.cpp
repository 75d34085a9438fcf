#include "platform/config/config_entries.h"

#include <fmt/format.h>

#include "rtl_models/base/text.h"

namespace warpline {
namespace {

std::string literal(const std::string& text) {
  return json_string(text);
}
std::string literal(const std::vector<std::uint64_t>& list) {
  return fmt::format("[{}]", fmt::join(list, ", "));
}
template <class T>
std::string literal(T value) {
  return fmt::format("{}", value);
}

template <class T>
void list_fields(T& parameters, const std::string& table, std::vector<ConfigEntry>& out) {
  parameters.visit([&](const char* name, auto& field, const char* meaning) {
    ConfigEntry& entry = out.emplace_back(ConfigEntry{table, name, meaning, {}});
    if constexpr (kIsKey<std::decay_t<decltype(field)>>) {
      entry.value = literal(field);
    } else {
      list_fields(field, entry.path(), out);
    }
  });
}

}  // namespace

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

std::string to_toml(GpuConfig config) {
  std::string out;
  for (const ConfigEntry& e : config_entries(std::move(config)))
    out += (e.value.empty() ? "\n[" + e.path() + "]" : e.name + " = " + e.value) + "  # " + e.meaning + "\n";
  return out;
}

}  // namespace warpline
