// What can be said of the documentation's pages without typing their commands.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include "tests/integration/workspace.h"

namespace warpline::test {
namespace pages_test {

namespace fs = std::filesystem;

/// The files below a folder of the checkout whose names end so, sorted.
std::vector<fs::path> files_of(const std::string& folder, const std::string& ending) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::recursive_directory_iterator(in_source(folder))) {
    const std::string name = entry.path().string();
    if (name.size() > ending.size() && name.compare(name.size() - ending.size(), ending.size(), ending) == 0)
      out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<fs::path> pages() {
  std::vector<fs::path> out = {in_source("README.md"), in_source("CONTRIBUTING.md"),
                               in_source("CHANGELOG.md")};
  for (const char* folder : {"docs", "sw/examples", "tests/litmus", "waveforms"})
    for (fs::path& page : files_of(folder, ".md")) out.push_back(std::move(page));
  return out;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

std::vector<std::smatch> matches(const std::string& text, const std::regex& pattern) {
  return std::vector<std::smatch>(std::sregex_iterator(text.begin(), text.end(), pattern),
                                  std::sregex_iterator());
}

/// What a forge makes of a heading: lower case, blanks as hyphens, and nothing but letters, digits, - and _.
std::string anchor_of(const std::string& heading) {
  std::string out;
  for (const char c : heading.substr(heading.find_first_not_of("# "))) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter) != 0 || c == '-' || c == '_') out += static_cast<char>(std::tolower(letter));
    if (c == ' ') out += '-';
  }
  return out;
}

std::set<std::string> anchors_of(const fs::path& page) {
  std::set<std::string> out;
  bool code = false;
  for (const std::string& line : lines_of(read_file(page.string()))) {
    if (line.rfind("```", 0) == 0) code = !code;
    if (!code && line.rfind('#', 0) == 0) out.insert(anchor_of(line));
  }
  return out;
}

/// The fenced blocks of a language.
std::vector<std::string> blocks_of(const std::string& text, const std::string& language) {
  std::vector<std::string> out;
  bool inside = false;
  for (const std::string& line : lines_of(text)) {
    if (line.rfind("```", 0) == 0) {
      inside = line == "```" + language;
      if (inside) out.emplace_back();
    } else if (inside) {
      out.back() += line + "\n";
    }
  }
  return out;
}

/// Lines without indentation and without what only lays out: blanks at the end and before comments.
std::string squeezed(const std::string& text) {
  static const std::regex blanks(" +");
  std::string out;
  for (const std::string& line : lines_of(text)) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin != std::string::npos) out += std::regex_replace(line.substr(begin), blanks, " ") + "\n";
  }
  return out;
}

TEST(Pages, TheFrontPageIsReadInFiveMinutes) {
  EXPECT_LE(lines_of(read_file(in_source("README.md"))).size(), 150U);
}

TEST(Pages, EveryLinkLeadsSomewhere) {
  const std::regex link(R"(\]\(([^)\s]+)\))");
  for (const fs::path& page : pages()) {
    const std::string text = read_file(page.string());
    for (const std::smatch& m : matches(text, link)) {
      const std::string target = m[1];
      if (target.find("://") != std::string::npos) continue;
      const std::size_t hash = target.find('#');
      const fs::path file = hash == 0 ? page : page.parent_path() / target.substr(0, hash);
      EXPECT_TRUE(fs::exists(file)) << page << " leads to " << target;
      if (hash == std::string::npos || !fs::exists(file)) continue;
      EXPECT_EQ(anchors_of(file).count(target.substr(hash + 1)), 1U) << page << " leads to " << target;
    }
  }
}

TEST(Pages, TheIndexListsAllOfThem) {
  const std::string index = read_file(in_source("docs/README.md"));
  for (const fs::path& page : files_of("docs", ".md")) {
    const std::string name = page.filename().string();
    EXPECT_TRUE(name == "README.md" || index.find("(" + name + ")") != std::string::npos) << page;
  }
}

/// Every page with commands has a test that types them.
TEST(Pages, AllCommandsAreTyped) {
  const std::string tests = read_file(in_source("tests/integration/CMakeLists.txt")) +
                            read_file(in_source("tests/integration/package_test.sh"));
  std::vector<fs::path> typed = files_of("docs", ".md");
  for (const char* page :
       {"README.md", "waveforms/README.md", "tests/litmus/README.md", "sw/examples/wls/README.md"})
    typed.emplace_back(in_source(page));
  for (const fs::path& page : typed) {
    if (blocks_of(read_file(page.string()), "sh").empty()) continue;
    const std::string name = fs::relative(page, in_source(".")).replace_extension().string();
    const bool by_package = tests.find("follow " + page.filename().string()) != std::string::npos;
    const std::regex listed("[ \n]" + name + "[ )\n]");
    EXPECT_TRUE(by_package || std::regex_search(tests, listed)) << page;
  }
}

/// Sources name headers from the top of the checkout, users from that of the installed headers.
std::string as_installed(const std::string& source) {
  return std::regex_replace(source, std::regex("#include \"(rtl_models|platform)/"),
                            "#include \"warpline/$1/");
}

TEST(Pages, TheirCppIsCompiledByTests) {
  std::string compiled;
  for (const fs::path& source : files_of("tests/integration", ".cpp"))
    compiled += squeezed(as_installed(read_file(source.string())));
  for (const fs::path& page : files_of("docs", ".md"))
    for (const std::string& block : blocks_of(read_file(page.string()), "cpp"))
      EXPECT_NE(compiled.find(squeezed(block)), std::string::npos) << page << " shows\n" << block;
}

/// Whatever the readers of launch files look for stands on their page.
TEST(Pages, EveryKeyOfLaunchFilesIsListed) {
  const std::regex look_up(R"re((?:find|text|number|boolean|magnitude|element_at)\((?:reader, )?"(\w+)")re");
  const std::regex one_of(R"re(only_(?:one|key)\(reader, "[^"]*",\s*\{([^}]*)\}\))re");
  std::set<std::string> keys;
  for (const fs::path& source : files_of("platform", ".cpp")) {
    const std::string name = source.filename().string();
    if (name.rfind("launch_", 0) != 0 && name.rfind("host_reader", 0) != 0) continue;
    const std::string text = read_file(source.string());
    for (const std::smatch& m : matches(text, look_up)) keys.insert(m[1]);
    for (const std::smatch& m : matches(text, one_of)) {
      const std::string list = m[1];
      for (const std::smatch& key : matches(list, std::regex("\"(\\w+)\""))) keys.insert(key[1]);
    }
  }
  EXPECT_GT(keys.size(), 40U);
  const std::string page = read_file(in_source("docs/launch_files.md"));
  for (const std::string& key : keys)
    EXPECT_TRUE(std::regex_search(page, std::regex("[`\\[{ ]" + key + "[`\\] ]"))) << key;
}

/// The deliberate bugs that blocks declare.
std::vector<std::string> mutations() {
  const std::regex enumerator("\n  ([a-z0-9_]+),");
  std::vector<std::string> out;
  for (const fs::path& header : files_of("rtl_models", "_mutations.h")) {
    const std::string text = read_file(header.string());
    for (const std::smatch& m : matches(text, enumerator)) out.push_back(m[1]);
  }
  std::sort(out.begin(), out.end());
  return out;
}

TEST(OrderingRules, EachMutationIsListedOnce) {
  const std::string page = read_file(in_source("docs/ordering.md"));
  std::vector<std::string> listed;
  for (const std::smatch& m : matches(page, std::regex(R"(\n\| `([a-z0-9_]+)` \|)"))) listed.push_back(m[1]);
  std::sort(listed.begin(), listed.end());
  EXPECT_EQ(listed, mutations());
  EXPECT_GT(listed.size(), 40U);
}

TEST(OrderingRules, EachHasAReasonMutationsAndTests) {
  const std::string page = read_file(in_source("docs/ordering.md"));
  for (int rule = 1; rule <= 12; ++rule) {
    const std::size_t begin = page.find("\n## R" + std::to_string(rule) + ": ");
    ASSERT_NE(begin, std::string::npos) << "R" << rule;
    const std::string section = page.substr(begin, page.find("\n## ", begin + 1) - begin);
    for (const char* part : {"\n*Why.* ", "\n| mutation | the bug |\n", "\nTests: `"})
      EXPECT_NE(section.find(part), std::string::npos) << "R" << rule << " has no" << part;
  }
}

TEST(OrderingRules, TheTestsAreThere) {
  std::set<std::string> there;
  const std::regex test(R"(TEST(?:_P|_F)?\((\w+),\s*(\w+)\).*)");
  for (const fs::path& source : files_of("tests", ".cpp")) {
    const std::vector<std::string> lines = lines_of(read_file(source.string()));
    for (std::size_t n = 0; n < lines.size(); ++n) {
      if (lines[n].rfind("TEST", 0) != 0) continue;
      const bool goes_on = lines[n].find(')') == std::string::npos && n + 1 < lines.size();
      const std::string whole = lines[n] + (goes_on ? lines[n + 1] : "");
      std::smatch m;
      if (std::regex_match(whole, m, test)) there.insert(m.str(1) + "." + m.str(2));
    }
  }
  const std::string page = read_file(in_source("docs/ordering.md"));
  for (const std::smatch& m : matches(page, std::regex("`([A-Z][A-Za-z0-9]+\\.[A-Z][A-Za-z0-9]+)[`/]")))
    EXPECT_EQ(there.count(m[1]), 1U) << m[1];
}

/// Whether a line has, between quotes, the number of a rule behind a parenthesis.
bool cites_a_rule(const std::string& line) {
  bool quoted = false;
  for (std::size_t n = 0; n < line.size(); ++n) {
    if (line[n] == '"' && (n == 0 || line[n - 1] != '\\')) quoted = !quoted;
    if (!quoted || line[n] != 'R' || line[n - 1] != '(') continue;
    if (n + 1 < line.size() && line[n + 1] >= '1' && line[n + 1] <= '9') return true;
  }
  return false;
}

/// Rules are cited by their numbers in comments, not in what users read.
TEST(OrderingRules, NoTextForUsersCitesANumber) {
  for (const char* folder : {"rtl_models", "platform", "sw"})
    for (const char* ending : {".h", ".cpp"})
      for (const fs::path& source : files_of(folder, ending))
        for (const std::string& line : lines_of(read_file(source.string())))
          EXPECT_FALSE(cites_a_rule(line)) << source << ": " << line;
  for (const char* page : {"docs/configuration.md", "docs/counters.md", "docs/metrics.md"})
    EXPECT_FALSE(std::regex_search(read_file(in_source(page)), std::regex("[( ]R[1-9]"))) << page;
}

}  // namespace pages_test
}  // namespace warpline::test
