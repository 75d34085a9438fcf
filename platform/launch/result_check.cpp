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

}  // namespace

std::string check_data(const CheckedData& data, const Expectation& expect,
                       const std::vector<ArrayView>& arrays, const Document& document) {
  const unsigned size = size_of(data.type);
  std::vector<std::uint8_t> got(kChunk * size);
  std::vector<std::uint64_t> wanted(kChunk, expect.value);
  std::uint64_t differences = 0, first = 0, first_got = 0, first_wanted = 0;
  for (std::uint64_t begin = 0; begin < data.count; begin += kChunk) {
    const std::uint64_t n = std::min(kChunk, data.count - begin);
    data.read(begin, n, got.data());
    if (expect.kind == Expectation::Kind::expression) {
      const auto fault = expect.expression.evaluate(arrays, begin, n, wanted.data());
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
