#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "rtl_models/base/visibility.h"

namespace warpline {

/// Where the value of a key comes from, as a GPU file says it beside the value or once for a table.
struct WARPLINE_PUBLIC KeySource {
  enum class Kind : std::uint8_t {
    none,      ///< the file does not say
    document,  ///< `source = "..."`: a document says so
    fit,       ///< `fit = ["...", ...]`: found from these published measurements, named by their rows
    assumed,   ///< `assumed = "..."`: chosen for this reason
  };
  Kind kind = Kind::none;
  std::string text;  ///< the document, the rows with commas between them, or the reason
  std::string as;    ///< the preset from which the value was taken over; empty: said by the GPU's own file
  /// As a GPU file writes it: `source = "..."`. What was taken over from another preset is assumed. Empty:
  /// none.
  [[nodiscard]] std::string toml() const;
};

/// By the dotted path of a key.
using KeySources = std::map<std::string, KeySource>;

}  // namespace warpline
