#pragma once

#include <string>
#include <vector>

#include "platform/config/gpu_config.h"

namespace warpline {

/// A key or a table of a GPU's configuration, as its parameter struct declares it.
struct ConfigEntry {
  std::string table;  ///< dotted path of the table it lies in; empty at the top
  std::string name;
  std::string meaning;
  std::string value;  ///< as TOML writes it; empty: it is a table
  [[nodiscard]] std::string path() const { return table.empty() ? name : table + "." + name; }
};

/// Every key and table of `config`, a table before its keys and these before its own tables.
[[nodiscard]] std::vector<ConfigEntry> config_entries(GpuConfig config);

/// A page of Markdown: of every key the meaning, the value in each preset, and the rules that it must obey.
[[nodiscard]] std::string config_reference();

}  // namespace warpline
