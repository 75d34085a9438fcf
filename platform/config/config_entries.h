#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "platform/config/gpu_config.h"
#include "platform/config/key_source.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

/// Whether a parameter struct's field of type T is a key; else it is a table of more.
template <class T>
inline constexpr bool kIsKey = std::is_arithmetic_v<T> || std::is_same_v<T, std::string> ||
                               std::is_same_v<T, std::vector<std::uint64_t>>;

/// A key or a table of a GPU's configuration, as its parameter struct declares it.
struct WARPLINE_PUBLIC ConfigEntry {
  std::string table;  ///< dotted path of the table it lies in; empty at the top
  std::string name;
  std::string meaning;
  std::string value;  ///< as TOML writes it; empty: it is a table
  [[nodiscard]] std::string path() const { return table.empty() ? name : table + "." + name; }
};

/// Every key and table of `config`, a table before its keys and these before its own tables.
WARPLINE_PUBLIC [[nodiscard]] std::vector<ConfigEntry> config_entries(GpuConfig config);

/// Every key that a GPU file may set, dotted (`l2.slices`), in the order of the parameter structs.
WARPLINE_PUBLIC [[nodiscard]] std::vector<std::string> config_keys();

/// `config` as TOML, every key with its meaning as a comment, and with where its value comes from if
/// `sources` says so.
WARPLINE_PUBLIC [[nodiscard]] std::string to_toml(GpuConfig config, const KeySources& sources = {});

}  // namespace warpline
