#include "platform/launch/initial_arrays.h"

#include <algorithm>

namespace warpline {
namespace {

bool names(const std::optional<Expectation>& expect, std::size_t array) {
  return expect && expect->kind == Expectation::Kind::expression && expect->expression.uses(array);
}

bool is_named(const LoadedFile& loaded, std::size_t array) {
  return std::any_of(loaded.file.buffers.begin(), loaded.file.buffers.end(),
                     [&](const Buffer& b) { return names(b.expect, array); }) ||
         std::any_of(loaded.symbols.begin(), loaded.symbols.end(),
                     [&](const ResolvedSymbol& s) { return names(s.expect, array); });
}

}  // namespace

InitialArrays::InitialArrays(const LoadedFile& loaded) {
  const LaunchFile& file = loaded.file;
  for (std::size_t a = 0; a < file.arrays.size(); ++a) {
    bytes_.emplace_back();
    if (is_named(loaded, a)) {
      if (a < file.buffers.size()) {
        const Buffer& b = file.buffers[a];
        bytes_.back() = initial_bytes(b.initial, b.type, b.count);
      } else {
        const ResolvedSymbol& s = loaded.symbols[file.array_symbols[a - file.buffers.size()]];
        bytes_.back() = s.initial ? initial_bytes(*s.initial, s.type, s.count)
                                  : loaded.modules[s.module]->initial_bytes(s.variable->name);
      }
    }
    views_.push_back({bytes_.back().data(), bytes_.back().size() / size_of(file.arrays[a].type)});
  }
}

}  // namespace warpline
