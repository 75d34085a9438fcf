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

/// Where the standard library has what public headers name of it.
const std::map<std::string, std::set<std::string>>& homes() {
  static const std::map<std::string, std::set<std::string>> kHomes = [] {
    std::map<std::string, std::set<std::string>> out = {
        {"size_t", {"cstddef", "cstring", "cstdio", "cstdlib"}},
        {"ptrdiff_t", {"cstddef"}},
        {"nullptr_t", {"cstddef"}},
        {"byte", {"cstddef"}},
        {"get", {"tuple", "variant", "utility", "array"}},
        {"array", {"array"}}};
    const std::map<std::string, std::string> names = {
        {"algorithm",
         "max min clamp sort stable_sort all_of any_of none_of find find_if count count_if copy fill reverse "
         "adjacent_find lower_bound upper_bound equal is_sorted remove_if transform"},
        {"cstdint", "uint8_t uint16_t uint32_t uint64_t int8_t int16_t int32_t int64_t uintptr_t intptr_t"},
        {"cstring", "memcpy memset memcmp memmove strcmp strlen"},
        {"deque", "deque"},
        {"functional", "function hash less greater reference_wrapper ref cref"},
        {"limits", "numeric_limits"},
        {"map", "map multimap"},
        {"memory", "unique_ptr shared_ptr weak_ptr make_unique make_shared addressof"},
        {"numeric", "gcd lcm accumulate iota"},
        {"optional", "optional nullopt"},
        {"set", "set multiset"},
        {"stdexcept", "invalid_argument runtime_error logic_error out_of_range domain_error length_error"},
        {"string", "string to_string stoul stoull stoi"},
        {"string_view", "string_view"},
        {"tuple", "tuple make_tuple tie apply"},
        {"unordered_map", "unordered_map"},
        {"utility", "move pair make_pair exchange forward swap declval index_sequence"},
        {"variant", "variant visit holds_alternative monostate get_if"},
        {"vector", "vector"},
        {"new", "bad_alloc launder"},
        {"atomic", "atomic memory_order_relaxed"},
        {"mutex", "mutex lock_guard unique_lock"},
        {"type_traits",
         "is_same_v enable_if_t is_integral_v is_class_v is_arithmetic_v make_unsigned_t decay_t "
         "conditional_t "
         "is_base_of_v is_enum_v underlying_type_t is_trivially_copyable_v remove_reference_t true_type "
         "false_type"}};
    for (const auto& [header, all] : names) {
      std::istringstream words(all);
      for (std::string word; words >> word;) out[word].insert(header);
    }
    out["move"].insert("algorithm");
    for (const char* const stream : {"ostream", "istream"})
      out[stream] = {"iosfwd", "ostream", "istream", "iostream", "sstream"};
    return out;
  }();
  return kHomes;
}

/// What the standard library's names in a header are, and what it includes: `<...>`, and headers of ours.
struct Uses {
  std::map<std::string, Line> names;
  std::set<std::string> standard, ours;
};

void read_uses(const Line& line, Uses& uses) {
  static const std::regex kInclude("^\\s*#\\s*include\\s*([<\"])([^>\"]+)[>\"].*"),
      kName("\\bstd::([a-z_0-9]+)");
  std::smatch match;
  if (std::regex_match(line.text, match, kInclude)) {
    (match[1] == "<" ? uses.standard : uses.ours).insert(match[2]);
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

/// Package.headers compiles each alone, with the standard library's headers before it, which takes a tenth of
/// the time.
TEST(PublicHeaders, IncludeWhatTheyNameOfTheStandardLibrary) {
  std::map<std::string, Uses> all;
  for (const std::string top : {"rtl_models", "platform", "sw/driver"})
    for (const Line& line : lines_below(top)) read_uses(line, all[line.file]);
  unsigned names = 0;
  for (const std::string& header : public_headers()) {
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
  EXPECT_EQ(header("b.h", {"#include \"a.h\"", "std::vector<int> w;"}).size(), 0U);
  EXPECT_EQ(header("c.h", {"#include \"b.h\"", "std::vector<std::uint64_t> w;"}).size(), 1U);
  EXPECT_EQ(header("d.h", {"std::something x;"}).size(), 1U);
}

}  // namespace public_headers_test
}  // namespace warpline::test
