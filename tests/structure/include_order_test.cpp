// Who may include whom (levels()), and that no two folders of any depth include each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "tests/structure/sources.h"

namespace warpline::test {
namespace include_order_test {

/// The first `depth` parts of a path; nothing: it has fewer.
std::string cut(const std::string& path, unsigned depth) {
  std::istringstream in(path);
  std::string out;
  for (std::string part; depth != 0 && std::getline(in, part, '/'); --depth)
    out += (out.empty() ? "" : "/") + part;
  return out;
}

using Graph = std::map<std::string, std::map<std::string, std::string>>;  ///< from, to, an include that does

/// A circle of the graph, as text; nothing if there is none.
std::string circle_in(const Graph& graph) {
  std::set<std::string> done;
  std::vector<std::string> path;
  std::string found;
  const std::function<bool(const std::string&)> visit = [&](const std::string& folder) {
    const auto on_path = std::find(path.begin(), path.end(), folder);
    if (on_path != path.end()) {
      for (auto i = on_path; i != path.end(); ++i) {
        const std::string& next = i + 1 == path.end() ? folder : *(i + 1);
        found += *i + " includes " + next + ": " + graph.at(*i).at(next) + "\n";
      }
      return true;
    }
    if (done.count(folder) != 0) return false;
    path.push_back(folder);
    if (const auto to = graph.find(folder); to != graph.end())
      for (const auto& [next, place] : to->second)
        if (visit(next)) return true;
    path.pop_back();
    done.insert(folder);
    return false;
  };
  for (const auto& [folder, to] : graph)
    if (visit(folder)) return found;
  return {};
}

std::vector<Include> all_includes() {
  std::vector<Include> all;
  for (const std::string top : {"rtl_models", "platform", "sw"})
    for (const Include& i : includes_below(top)) all.push_back(i);
  return all;
}

TEST(IncludeOrder, AnIncludeNamesAPathOfTheCheckout) {
  std::vector<Include> all = all_includes();
  for (const Include& i : includes_below("tests")) all.push_back(i);
  for (const Include& i : all) {
    const bool of_package = i.header.rfind("warpline/", 0) == 0 || i.header.rfind("wl_", 0) == 0;
    const bool of_verilator = i.header == "VWires.h" || i.header == "VSlice.h";
    if (i.from.rfind("sw/examples/", 0) == 0 && (of_package || of_verilator)) continue;
    EXPECT_TRUE(!i.to.empty() || is_made(i.header)) << i.line.place();
  }
  EXPECT_GT(all.size(), 1000U);
}

TEST(IncludeOrder, ExamplesUseThePackage) {
  for (const Include& i : includes_below("sw/examples")) {
    if (i.header.rfind("warpline/", 0) != 0) continue;
    const std::string inside = i.header.substr(9);
    EXPECT_THAT(inside.substr(0, inside.find('/')), testing::AnyOf("rtl_models", "platform", "regs"))
        << i.line.place();
  }
}

TEST(IncludeOrder, SourcesFollowTheLevels) {
  unsigned seen = 0;
  for (const Include& i : all_includes()) {
    if (i.to.empty() || i.from == i.to) continue;
    if (i.from.rfind("sw/examples/", 0) == 0) continue;
    const int from = level_of(i.from), to = level_of(i.to);
    EXPECT_GE(from, 0) << i.from << " has no level";
    EXPECT_GE(to, 0) << i.to << " has no level";
    EXPECT_LT(to, from) << i.line.place();
    ++seen;
  }
  EXPECT_GT(seen, 500U);
}

TEST(IncludeOrder, NoTwoFoldersOfAnyDepthIncludeEachOther) {
  const std::vector<Include> all = all_includes();
  for (unsigned depth = 1; depth <= 4; ++depth) {
    Graph graph;
    for (const Include& i : all) {
      const std::string from = cut(i.from, depth), to = cut(i.to, depth);
      if (!i.to.empty() && from != to) graph[from].emplace(to, i.line.place());
    }
    EXPECT_EQ(circle_in(graph), "") << "at depth " << depth;
  }
}

TEST(IncludeOrder, ACircleIsFound) {
  EXPECT_EQ(circle_in({{"a", {{"b", "1"}}}, {"b", {{"c", "2"}}}}), "");
  EXPECT_EQ(circle_in({{"a", {{"b", "1"}}}, {"b", {{"c", "2"}}}, {"c", {{"b", "3"}}}}),
            "b includes c: 2\nc includes b: 3\n");
}

}  // namespace include_order_test
}  // namespace warpline::test
