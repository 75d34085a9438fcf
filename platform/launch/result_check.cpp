#include "platform/launch/result_check.h"

#include <algorithm>
#include <cmath>

#include "platform/launch/element.h"
#include "platform/launch/launch_contents.h"

namespace warpline {
namespace {

constexpr std::uint64_t kChunk = 65536;

bool agrees(const Expectation& expect, DataType type, std::uint64_t got, std::uint64_t wanted) {
  if (same_element(type, got, wanted)) return true;
  if (!expect.tolerant) return false;
  const double g = element_as_double(type, got);
  const double w = element_as_double(type, wanted);
  return std::fabs(g - w) <= expect.absolute + expect.relative * std::fabs(w);
}

/// Of each array whether an expression names it.
std::vector<bool> named_arrays(const LoadedFile& loaded) {
  std::vector<bool> named(loaded.file.arrays.size());
  const auto note = [&named](const std::optional<Expectation>& expect) {
    if (expect && expect->kind == Expectation::Kind::expression)
      expect->expression.for_each_array([&named](std::size_t array) { named[array] = true; });
  };
  for (const Buffer& b : loaded.file.buffers) note(b.expect);
  for (const ResolvedSymbol& s : loaded.symbols) note(s.expect);
  return named;
}

}  // namespace

InitialArrays::InitialArrays(const LoadedFile& loaded) {
  const LaunchFile& file = loaded.file;
  const std::vector<bool> named = named_arrays(loaded);
  for (std::size_t a = 0; a < file.arrays.size(); ++a) {
    bytes_.emplace_back();
    if (named[a]) {
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

std::string check_data(const CheckedData& data, const Expectation& expect,
                       const std::vector<ArrayView>& arrays, const Document& document) {
  const unsigned size = size_of(data.type);
  std::vector<std::uint8_t> got(kChunk * size);
  std::vector<std::uint64_t> wanted(kChunk, expect.value);
  std::uint64_t differences = 0, first = 0, first_got = 0, first_wanted = 0;
  for (std::uint64_t begin = 0; begin < data.count; begin += kChunk) {
    const std::uint64_t n = std::min(kChunk, data.count - begin);
    if (data.go_on && !data.go_on()) return data.name + ": interrupted";
    data.read(begin, n, got.data());
    if (expect.kind == Expectation::Kind::expression) {
      const auto fault =
          expect.expression.evaluate(arrays, begin, n, wanted.data(), Expression::kDefaultBudget, data.go_on);
      if (fault)
        return data.name + ": cannot be checked\n" + expression_diagnostic(document, expect, *fault).text();
    }
    for (std::uint64_t e = 0; e < n; ++e) {
      if (expect.kind == Expectation::Kind::file)
        wanted[e] = load_element(data.type, &expect.bytes[(begin + e) * size]);
      const std::uint64_t bits = load_element(data.type, &got[e * size]);
      if (agrees(expect, data.type, bits, wanted[e])) continue;
      if (differences++ != 0) continue;
      first = begin + e;
      first_got = bits;
      first_wanted = wanted[e];
    }
  }
  if (differences == 0) return {};
  return data.name + ": " + std::to_string(differences) + " of " + std::to_string(data.count) +
         " elements differ; first [" + std::to_string(first) + "]: got " +
         element_text(data.type, first_got) + ", wanted " + element_text(data.type, first_wanted);
}

}  // namespace warpline
