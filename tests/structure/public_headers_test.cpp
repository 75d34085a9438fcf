// What a shared library exports: all that public headers declare bears WARPLINE_PUBLIC, and nothing else
// does. And what they include of the standard library, as others include them first or alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

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

/// The headers of the standard library that have what public headers name of it.
const std::map<std::string, std::set<std::string>>& homes() {
  static const std::map<std::string, std::set<std::string>> kHomes = [] {
    const std::map<std::string, std::string> names = {
        {"algorithm", "max min all_of adjacent_find"},
        {"array", "array get"},
        {"cstddef", "size_t"},
        {"cstdint", "uint8_t uint16_t uint32_t uint64_t int32_t int64_t"},
        {"cstring", "memcpy size_t"},
        {"deque", "deque"},
        {"functional", "function"},
        {"iosfwd", "istream ostream"},
        {"limits", "numeric_limits"},
        {"map", "map"},
        {"memory", "unique_ptr shared_ptr make_unique make_shared"},
        {"new", "bad_alloc"},
        {"numeric", "gcd"},
        {"optional", "optional nullopt"},
        {"stdexcept", "invalid_argument runtime_error logic_error out_of_range"},
        {"string", "string to_string"},
        {"string_view", "string_view"},
        {"tuple", "make_tuple get"},
        {"type_traits",
         "is_same_v is_integral_v is_class_v is_arithmetic_v enable_if_t make_unsigned_t decay_t"},
        {"unordered_map", "unordered_map"},
        {"utility", "move pair exchange get"},
        {"variant", "variant get"},
        {"vector", "vector"}};
    std::map<std::string, std::set<std::string>> out;
    for (const auto& [header, all] : names) {
      std::istringstream words(all);
      for (std::string word; words >> word;) out[word].insert(header);
    }
    return out;
  }();
  return kHomes;
}

/// The standard library's names in a header, the first place of each, and what it includes: of that library,
/// and of ours.
struct Uses {
  std::map<std::string, Line> names;
  std::set<std::string> standard, ours;
};

/// All but those of ours, which includes_below() knows.
void read_uses(const Line& line, Uses& uses) {
  static const std::regex kInclude("#include <([^>]+)>.*"), kName("\\bstd::([a-z_0-9]+)");
  std::smatch match;
  if (std::regex_match(line.text, match, kInclude)) {
    uses.standard.insert(match[1]);
    return;
  }
  const std::string code = line.text.substr(0, line.text.find("//"));
  for (std::sregex_iterator name(code.begin(), code.end(), kName), end; name != end; ++name)
    uses.names.emplace((*name)[1], line);
}

/// The names of `header` that neither it nor what it includes of ours has an include for; those that homes()
/// does not know as well.
std::vector<std::string> not_included(const std::map<std::string, Uses>& all, const std::string& header) {
  std::set<std::string> seen = {header}, standard;
  for (std::vector<std::string> open = {header}; !open.empty();) {
    const std::string next = open.back();
    open.pop_back();
    const auto uses = all.find(next);
    if (uses == all.end()) continue;
    standard.insert(uses->second.standard.begin(), uses->second.standard.end());
    for (const std::string& ours : uses->second.ours)
      if (seen.insert(ours).second) open.push_back(ours);
  }
  std::vector<std::string> out;
  for (const auto& [name, line] : all.at(header).names) {
    const auto home = homes().find(name);
    const auto has = [&](const std::string& of) { return standard.count(of) != 0; };
    if (home == homes().end()) {
      out.push_back(line.place() + ": where is std::" + name + " from? Say so in " __FILE__);
    } else if (std::none_of(home->second.begin(), home->second.end(), has)) {
      out.push_back(line.place() + ": std::" + name + " needs <" + *home->second.begin() + ">");
    }
  }
  return out;
}

/// Package.headers compiles each alone, with the standard library's headers before it, which takes two fifths
/// of the time.
TEST(PublicHeaders, IncludeWhatTheyNameOfTheStandardLibrary) {
  const std::set<std::string> headers = public_headers();
  std::map<std::string, Uses> all;
  for (const std::string top : {"rtl_models", "platform", "sw/driver"}) {
    for (const Line& line : lines_below(top))
      if (headers.count(line.file) != 0) read_uses(line, all[line.file]);
    for (const Include& i : includes_below(top)) all[i.line.file].ours.insert(i.header);
  }
  unsigned names = 0;
  for (const std::string& header : headers) {
    if (is_made(header)) continue;
    ASSERT_EQ(all.count(header), 1U) << header;
    names += static_cast<unsigned>(all[header].names.size());
    for (const std::string& complaint : not_included(all, header)) ADD_FAILURE() << complaint;
  }
  EXPECT_GT(names, 300U);
}

TEST(PublicHeaders, AMissingIncludeIsFound) {
  std::map<std::string, Uses> all;
  const auto header = [&all](const std::string& file, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) read_uses({file, 1, line}, all[file]);
    return not_included(all, file);
  };
  EXPECT_EQ(header("a.h", {"#include <vector>", "std::vector<int> v; // of a std::string"}).size(), 0U);
  all["b.h"].ours = {"a.h"};
  EXPECT_EQ(header("b.h", {"std::vector<int> w;"}).size(), 0U);
  all["c.h"].ours = {"b.h"};
  EXPECT_EQ(header("c.h", {"std::vector<std::uint64_t> w;"}).size(), 1U);
  EXPECT_EQ(header("d.h", {"std::something x;"}).size(), 1U);
}

}  // namespace public_headers_test
}  // namespace warpline::test
