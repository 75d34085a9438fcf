#include "platform/config/key_source.h"

#include <algorithm>

#include "rtl_models/base/text.h"

namespace warpline {
namespace {

/// "a, b" as an array of strings.
std::string array_of(const std::string& rows) {
  std::string out = "[";
  for (std::size_t from = 0; from <= rows.size();) {
    const std::size_t end = std::min(rows.find(", ", from), rows.size());
    out += (from == 0 ? "" : ", ") + json_string(rows.substr(from, end - from));
    from = end + 2;
  }
  return out + "]";
}

}  // namespace

std::string KeySource::toml() const {
  if (kind == Kind::none) return {};
  if (!as.empty()) {
    const char* const how = kind == Kind::document ? ", by " : kind == Kind::fit ? ", fit to " : ": ";
    return "assumed = " + json_string("as " + as + how + text);
  }
  switch (kind) {
    case Kind::document: return "source = " + json_string(text);
    case Kind::fit: return "fit = " + array_of(text);
    case Kind::assumed: return "assumed = " + json_string(text);
    case Kind::none: break;
  }
  return {};
}

}  // namespace warpline
