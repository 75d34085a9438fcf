// What a shared library exports: all that public headers declare bears WARPLINE_PUBLIC, and nothing else
// does.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "tests/structure/sources.h"

namespace warpline::test {
namespace public_headers_test {

const std::string kMarksItself = "rtl_models/base/visibility.h";

/// Those that docs/embedding.md lists, which are those that are installed (Package.headers).
std::set<std::string> public_headers() {
  static const std::regex kRow("^\\| `((rtl_models|platform)/[^`]*\\.h)` .*");
  std::set<std::string> out;
  std::ifstream page(WARPLINE_SOURCE_DIR "/docs/embedding.md");
  std::smatch match;
  for (std::string line; std::getline(page, line);)
    if (std::regex_match(line, match, kRow)) out.insert(match[1]);
  return out;
}

/// What is declared at the left margin of a public header and lacks its mark. Templates are the user's to
/// instantiate, and what is inline is in the user's objects.
bool lacks_mark(const std::string& text, const std::string& before) {
  static const std::regex kType("^(class|struct) .*[{,].*|^(class|struct) \\w+ (final )?:.*");
  static const std::regex kFunction(
      "^(\\[\\[\\w+\\]\\] )?[A-Za-z_][\\w:<>,&* ]* [*&]?[\\w:]+\\(.*|^\\[\\[\\w+\\]\\] .*");
  static const std::regex kNoFunction(
      "^(\\[\\[\\w+\\]\\] "
      ")?(inline|constexpr|template|using|enum|namespace|friend|typedef|static_assert)\\b.*");
  if (text.find("WARPLINE_PUBLIC") != std::string::npos || before.rfind("template", 0) == 0) return false;
  if (text.rfind("class ", 0) == 0 || text.rfind("struct ", 0) == 0) return std::regex_match(text, kType);
  if (text.rfind("extern ", 0) == 0) return text != "extern \"C\" {";
  return std::regex_match(text, kFunction) && !std::regex_match(text, kNoFunction);
}

TEST(PublicHeaders, MarkAllThatTheyDeclare) {
  const std::set<std::string> headers = public_headers();
  std::map<std::string, std::string> before;
  unsigned marked = 0;
  for (const std::string top : {"rtl_models", "platform"})
    for (const Line& line : lines_below(top)) {
      // C has its own way.
      if (headers.count(line.file) == 0 || line.file == kMarksItself ||
          line.file == "platform/host/wl_machine.h")
        continue;
      EXPECT_FALSE(lacks_mark(line.text, before[line.file]))
          << line.place() << ": WARPLINE_PUBLIC is missing";
      marked += line.text.find("WARPLINE_PUBLIC") != std::string::npos;
      before[line.file] = line.text;
    }
  EXPECT_GT(headers.size(), 80U);
  EXPECT_GT(marked, 200U);
}

TEST(PublicHeaders, AloneMarkAnything) {
  const std::set<std::string> headers = public_headers();
  for (const std::string top : {"rtl_models", "platform"})
    for (const Line& line : lines_below(top)) {
      if (headers.count(line.file) != 0) continue;
      EXPECT_EQ(line.text.find("WARPLINE_PUBLIC"), std::string::npos)
          << line.place() << ": this is not public";
    }
}

TEST(PublicHeaders, AMissingMarkIsFound) {
  EXPECT_TRUE(lacks_mark("class GpuPlatform {", ""));
  EXPECT_TRUE(lacks_mark("class PinWires final : public sc_core::sc_module {", ""));
  EXPECT_TRUE(lacks_mark("struct Own {};", ""));
  EXPECT_TRUE(lacks_mark(
      "[[nodiscard]] std::string summary(const RunStatistics& run, double dram_peak, bool colour);", ""));
  EXPECT_TRUE(lacks_mark("void perform_atomics(AtomicBlock& block, std::uint8_t* line);", ""));
  EXPECT_TRUE(lacks_mark("const char* name_of(AccessKind kind);", ""));
  EXPECT_TRUE(lacks_mark("extern template class CacheModule<L1Lg, L1LgParameters>;", ""));
  EXPECT_FALSE(lacks_mark("class GpuPlatform;", ""));
  EXPECT_FALSE(
      lacks_mark("class CacheModule : public BlockModule {", "template <class Cache, class Parameters>"));
  EXPECT_FALSE(lacks_mark("constexpr bool is_power_of_two(std::uint64_t n) {", ""));
  EXPECT_FALSE(lacks_mark("[[nodiscard]] constexpr Address line_of(Address a) {", ""));
  EXPECT_FALSE(lacks_mark("enum class HopTransport : std::uint8_t {", ""));
}

}  // namespace public_headers_test
}  // namespace warpline::test
