#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "platform/config/config_entries.h"
#include "rtl_models/base/text.h"

namespace warpline {

/// A value as TOML and JSON write it.
template <class T>
[[nodiscard]] std::string literal(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return json_string(value);
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_arithmetic_v<T>) {
    static_assert(std::is_integral_v<T>, "parameters are whole numbers");
    return std::to_string(value);
  } else {
    std::vector<std::string> items;
    for (const auto& item : value) items.push_back(literal(item));
    return "[" + joined(items) + "]";
  }
}

/// Adds the keys and tables of a parameter struct, which lie in `table`.
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

}  // namespace warpline
