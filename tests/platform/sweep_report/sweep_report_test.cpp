#include "platform/sweep_report/sweep_report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>

#include "platform/sweep_report/observed_runs.h"
#include "rtl_models/base/sha256.h"
#include "tests/support/scratch_folder.h"

namespace warpline::sweep {
namespace sweep_report_test {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A study whose runs are made up.
class Reports : public ::testing::Test {
 protected:
  Reports() {
    study_.name = "a study";
    study_.text = "its text";
    study_.workloads.push_back({"kernel", false, {"kernel.toml"}, {}});
    begin();
  }
  void begin() {
    store_.reset();
    std::filesystem::remove(path_);
    store_ = std::make_unique<ResultStore>(path_, ResultStore::Access::write);
    store_->begin(study_, "1.2.3");
    points_ = 0;
  }
  using Settings = std::vector<std::pair<std::string, std::string>>;
  void add(const Settings& settings, const std::string& outcome, std::uint64_t cycles,
           const json& counters = {}, const json& launches = {}, std::size_t workload = 0) {
    Point p;
    p.number = points_++;
    p.gpu = "mini";
    p.workload = workload;
    p.settings = settings;
    PointResult r;
    r.outcome = outcome;
    if (outcome != "finished") r.reason = "why <" + outcome + ">";
    if (cycles != 0) {
      json configuration = {{"gpus", 1},         {"sms", 4},          {"clocks.dram", 1000},
                            {"clocks.l2", 1000}, {"clocks.sm", 1000}, {"crossbar.network.header", 8}};
      for (const auto& [key, value] : settings) configuration[key] = std::stoul(value);
      json counted = json::object();
      for (const auto& [path, value] : counters.items())
        counted[path] = {{"value", value}, {"unit", "things"}, {"description", "d"}};
      json statistics = {{"outcome", outcome},
                         {"cycles", cycles},
                         {"time_ns", cycles},
                         {"configuration", configuration},
                         {"configuration_sha256", configuration.dump()},
                         {"counters", counted}};
      if (!launches.is_null()) statistics["launches"] = launches;
      if (!command_.is_null()) statistics["command"] = command_;
      r.profile = std::exchange(profile_, {});
      r.series = std::exchange(series_, {});
      r.statistics = std::make_shared<const json>(std::move(statistics));
    }
    store_->add(study_, p, r);
    store_->commit();
  }
  /// Slices halve the cycles; channels do nothing; the bus is busy half as much.
  void add_grid() {
    for (const unsigned slices : {2U, 4U, 8U})
      for (const unsigned channels : {1U, 2U})
        add({{"l2.slices", std::to_string(slices)}, {"dram.channels", std::to_string(channels)}}, "finished",
            16000 / slices,
            {{"dram.busy_cycles", 1000 * channels},
             {"l2.sector_accesses", 100},
             {"l2.sector_hits", 10 * slices}});
  }
  std::string page(const ReportOptions& options = {}) {
    store_.reset();
    const ResultStore store(path_, ResultStore::Access::read);
    const Result<std::string> made = study_report(store, path_, options);
    EXPECT_TRUE(made.ok()) << made.faults().front().text();
    return made.ok() ? made.value() : "";
  }
  Diagnostics faults(const ReportOptions& options = {}) {
    store_.reset();
    const ResultStore store(path_, ResultStore::Access::read);
    const Result<std::string> made = study_report(store, path_, options);
    EXPECT_FALSE(made.ok());
    return made.ok() ? Diagnostics{} : made.faults();
  }
  static std::size_t count(const std::string& text, const std::string& what) {
    std::size_t n = 0;
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++n;
    return n;
  }
  static std::string between(const std::string& text, const std::string& from, const std::string& to) {
    const std::size_t a = text.find(from);
    EXPECT_NE(a, std::string::npos) << from;
    return a == std::string::npos
               ? ""
               : text.substr(a + from.size(), text.find(to, a + from.size()) - a - from.size());
  }

  ScratchFolder scratch_;
  std::string path_ = scratch_.path() + "/results.sqlite";
  Study study_;
  std::unique_ptr<ResultStore> store_;
  std::size_t points_ = 0;
  std::string profile_, series_;  ///< of the run that is added next
  json command_;                  ///< of the runs that are added next; null: that of the study
};

TEST_F(Reports, SayWhichKeyHelpsAndWhatGoesWithIt) {
  add_grid();
  const std::string html = page();
  EXPECT_THAT(html, HasSubstr("<b class=\"key\">l2.slices</b> (\u221275% from 2 to 8) changes cycles most"));
  EXPECT_THAT(html, HasSubstr("<b class=\"key\">dram.channels</b> does nothing"));
  EXPECT_THAT(html, HasSubstr("75% fewer cycles (4.0 times as fast)"));
  EXPECT_THAT(html, HasSubstr("L2 hit rate 20% \u2192 80%"));
  EXPECT_THAT(html, HasSubstr("warpline run kernel.toml --gpu mini --set dram.channels=1 --set l2.slices=8"));
}

TEST_F(Reports, HaveAMarkForWhatIsThere) {
  add_grid();
  const std::string html = page();
  const std::string pareto = between(html, "<section id=\"pareto\"", "</section>");
  EXPECT_EQ(count(pareto, "<title>dram.channels = "), 6U + 3) << "all six, and of the front three once more";
  const std::string own = between(html, "<section id=\"s-kernel-\"", "</section>");
  const std::string lines = between(own, "cycles against <span class=\"key\">l2.slices</span>", "</svg>");
  EXPECT_EQ(count(lines, "<path class=\"line"), 2U * 2) << "two lines, and two in the legend";
  EXPECT_EQ(count(lines, "dram.channels = 1, l2.slices = 2: 8,000 cycles"), 1U);
  const std::string map = between(own, "<svg class=\"plot heat\"", "</svg>");
  EXPECT_EQ(count(map, "<g><title>"), 6U);
  EXPECT_EQ(count(map, " least\""), 2U) << "both channels have the least";
  const json data = json::parse(between(html, "id=\"points-data\">", "</script>"));
  ASSERT_EQ(data["rows"].size(), 6U);
  EXPECT_EQ(data["rows"][0], (json{4, 0, 0, 0, 0, 2, 2000})) << "the best first";
  EXPECT_EQ(count(html, "<svg class=\"plot"), count(html, "role=\"img\"><title>"));
}

TEST_F(Reports, AreTheSameWheneverTheyAreMade) {
  add_grid();
  EXPECT_EQ(page(), page());
}

TEST_F(Reports, ShowWhatUsersWriteAndDoNotDoIt) {
  study_.name = "<script>alert(1)</script>\033[2J";
  study_.text = "# </pre><b>";
  study_.workloads[0].name = "\"><img src=x>";
  study_.workloads[0].words = {"it's </script> here.toml"};
  begin();
  add_grid();
  add({{"l2.slices", "</script><!--"}, {"dram.channels", "1"}}, "impossible", 0);
  const std::string html = page();
  EXPECT_EQ(count(html, "<script"), 2U) << "ours";
  EXPECT_EQ(count(html, "</script"), 2U);
  EXPECT_THAT(html, AllOf(Not(HasSubstr("<img")), Not(HasSubstr("</pre><b>")), Not(HasSubstr("\033")),
                          Not(HasSubstr("<!--"))));
  EXPECT_THAT(html, HasSubstr("'it'\\''s &lt;/script&gt; here.toml'"));
  EXPECT_THAT(html, HasSubstr("why &lt;impossible&gt;"));
}

TEST_F(Reports, AllowTheirOwnScriptAndNoOther) {
  add_grid();
  const std::string html = page();
  const std::string policy = between(html, "Content-Security-Policy\" content=\"", "\"");
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  const auto hash = [&](const std::string& start, const std::string& end) {
    const std::string hex = sha256_of(between(html, start, end));
    std::string bytes;
    for (std::size_t n = 0; n < hex.size(); n += 2)
      bytes += static_cast<char>(std::stoi(hex.substr(n, 2), nullptr, 16));
    std::string out;
    std::uint32_t bits = 0;
    unsigned held = 0;
    for (const char c : bytes) {
      bits = bits << 8U | static_cast<unsigned char>(c);
      for (held += 8; held >= 6; held -= 6)
        out += "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[bits >> (held - 6) & 63U];
    }
    if (held != 0)
      out += "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[bits << (6 - held) & 63U];
    return "'sha256-" + out + std::string((4 - out.size() % 4) % 4, '=') + "'";
  };
  EXPECT_THAT(policy, HasSubstr("style-src " + hash("<style>", "</style>")));
  EXPECT_THAT(policy, HasSubstr("script-src " + hash("<script>", "</script>")));
  EXPECT_FALSE(std::regex_search(html, std::regex(" (src|style|on[a-z]+)=\"|url\\(|@import|https?://")))
      << "nothing comes from elsewhere";
}

TEST_F(Reports, OfKernelsHaveAPageEach) {
  const auto launch = [](const char* kernel, unsigned cycles, unsigned hits) {
    return json{{"kernel", kernel},
                {"outcome", "done"},
                {"cycles", cycles},
                {"counters",
                 {{"l2.sector_accesses", {{"value", 100}}},
                  {"l2.sector_hits", {{"value", hits}}},
                  {"l2[0].sector_hits", {{"value", hits}}}}}};
  };
  for (const unsigned slices : {2U, 4U})
    add({{"l2.slices", std::to_string(slices)}}, "finished", 1000 + 800 / slices,
        {{"l2.sector_accesses", 400}, {"l2.sector_hits", 100}},
        json::array({launch("first<int>", 500, 10), launch("_Z6secondPfi", 800 / slices, 20 * slices),
                     launch("first<int>", 500, 10)}));
  const std::string html = page();
  EXPECT_THAT(html, HasSubstr("<section id=\"s-kernel-first_3cint_3e\""));
  const std::string second = between(html, "<section id=\"s-kernel-_5fZ6secondPfi\"", "</section>");
  EXPECT_THAT(second, HasSubstr(">second <small>kernel</small></h2>"));
  EXPECT_THAT(second, HasSubstr("A kernel of kernel: 23% of its cycles"));
  EXPECT_THAT(second, HasSubstr("L2 hit rate 40% \u2192 80%"));
  const std::string first = between(html, "<section id=\"s-kernel-first_3cint_3e\"", "</section>");
  EXPECT_THAT(first, HasSubstr("L2 hit rate stays 10%"));
}

TEST_F(Reports, KnowTheBusiestChannelOfAllGpus) {
  for (const unsigned slices : {2U, 4U})
    add({{"l2.slices", std::to_string(slices)}}, "finished", 1000,
        {{"dram.busy_cycles", 800},
         {"gpu[0].dram[0].busy_cycles", 100},
         {"gpu[1].dram[3].busy_cycles", 700}});
  const std::string own = between(page(), "<section id=\"s-kernel-\"", "</section>");
  EXPECT_THAT(between(own, "busiest DRAM data bus busy</span>", "</tr>"), HasSubstr(">70%<"));
}

TEST_F(Reports, OfOneKernelHaveNoPageOfItBesideThatOfTheRun) {
  add({{"l2.slices", "2"}}, "finished", 1000, {},
      json::array(
          {json{{"kernel", "k"}, {"outcome", "done"}, {"cycles", 1000}, {"counters", json::object()}}}));
  EXPECT_THAT(page(), Not(HasSubstr("s-kernel-k")));
}

TEST_F(Reports, OfProgramsHaveTheirKernelsAndNoMoreThanIsKnown) {
  study_.workloads[0] = {"program", true, {"./a.out", "two words"}, {"--threads", "2"}};
  begin();
  for (unsigned n = 1; n <= 2; ++n) {
    Point p;
    p.number = n;
    p.gpu = "mini";
    p.settings = {{"l2.slices", std::to_string(2 * n)}};
    PointResult r;
    r.outcome = "finished";
    r.statistics = std::make_shared<const json>(
        json{{"kernels",
              {{{"name", "one"},
                {"cycles", 1000 / n},
                {"time_ns", 1000.0 / n},
                {"counters", {{"l2.sector_hits", 10 * n}, {"l2.sector_accesses", 40}}}},
               {{"name", "two"},
                {"cycles", 500},
                {"time_ns", 500.0},
                {"counters", {{"l2.sector_hits", 4}, {"l2.sector_accesses", 40}}}}}}});
    store_->add(study_, p, r);
  }
  store_->commit();
  const std::string html = page();
  EXPECT_THAT(between(html, "<section id=\"s-program-one\"", "</section>"),
              HasSubstr("L2 hit rate 25% \u2192 50%"));
  EXPECT_THAT(html, HasSubstr("<section id=\"s-program-two\""));
  EXPECT_THAT(html,
              HasSubstr("warpline exec --gpu mini --set l2.slices=4 --threads 2 -- ./a.out 'two words'"));
  EXPECT_THAT(html, HasSubstr("what limits is not known")) << "a program's report has no configuration";
}

TEST_F(Reports, TellWhatDidNotFinishAndJudgeByTheRest) {
  add_grid();
  for (unsigned n = 0; n < 5; ++n) add({{"l2.slices", "0"}, {"dram.channels", "1"}}, "impossible", 0);
  add({{"l2.slices", "2"}, {"dram.channels", "4"}}, "failed check", 7);
  const std::string html = page();
  const std::string failures = between(html, "<section id=\"failures\"", "</section>");
  EXPECT_THAT(failures, AllOf(HasSubstr("why &lt;impossible&gt;"), HasSubstr("<td class=\"number\">5</td>"),
                              HasSubstr("failed check")));
  EXPECT_THAT(html, HasSubstr("\u221275% from 2 to 8")) << "7 cycles of a wrong result are no gain";
}

TEST_F(Reports, OfFailuresAloneSaySo) {
  add({{"l2.slices", "0"}}, "impossible", 0);
  const std::string html = page();
  EXPECT_THAT(html, HasSubstr("No point finished"));
  EXPECT_THAT(html, HasSubstr("why &lt;impossible&gt;"));
  EXPECT_THAT(html, Not(HasSubstr("nan")));
}

TEST_F(Reports, OfOnePointCompareNothing) {
  add({{"l2.slices", "2"}}, "finished", 1000);
  EXPECT_THAT(page(), AllOf(HasSubstr("nothing is compared"), Not(HasSubstr("<section id=\"pareto\""))));
}

TEST_F(Reports, OfNoPointsAreRefused) {
  EXPECT_THAT(faults().front().message, HasSubstr("has no points yet"));
}

TEST_F(Reports, TakeOtherMetricsPlotsAndTitles) {
  add_grid();
  ReportOptions o;
  o.title = "another <title>";
  o.metrics = {"dram.busy_cycles", "cycles"};
  o.pareto = {"dram.channels", "cycles"};
  o.heat = {"dram.channels", "l2.slices"};
  const std::string html = page(o);
  EXPECT_THAT(html, HasSubstr("<h1>another &lt;title&gt;</h1>"));
  EXPECT_THAT(html, HasSubstr("changes dram.busy_cycles most"));
  EXPECT_THAT(between(html, "<section id=\"pareto\"", "</section>"), Not(HasSubstr("size")));
  EXPECT_THAT(html, HasSubstr("dram.busy_cycles by <span class=\"key\">dram.channels</span> and <span "
                              "class=\"key\">l2.slices</span>"));
}

/// A profile of kernel k, whose line 7 waits `dram` warp-cycles for DRAM; line 9 computes.
std::string profile_of(std::uint64_t dram, const std::string& kernel = "k") {
  const json load = {{"where", "k.ptx:7"},
                     {"text", "ld.global.f32 <f>;"},
                     {"cuda", "/src/k.cu:3"},
                     {"cuda_text", "sum += in[i];"},
                     {"issued", 10},
                     {"lanes", 320},
                     {"stalls", {{"dram", dram}, {"selected", 10}}},
                     {"memory",
                      {{"accesses", 10},
                       {"bytes", 1280},
                       {"sectors", 40},
                       {"answered", {{"first_level", 10}, {"l2", 15}, {"dram", 15}, {"link", 0}}},
                       {"shared_passes", 0},
                       {"shared_conflicts", 0},
                       {"latency", {{"total", 5000}}}}}};
  const json add = {{"where", "k.ptx:9"},
                    {"text", "add;"},
                    {"cuda", "/src/k.cu:3"},
                    {"cuda_text", "sum += in[i];"},
                    {"issued", 10},
                    {"lanes", 320},
                    {"stalls", {{"arithmetic", 20}, {"selected", 10}}}};
  return json{
      {"kernels", {{{"name", kernel}, {"warps", 2}, {"warp_cycles", dram + 40}, {"lines", {load, add}}}}}}
      .dump();
}

TEST_F(Reports, SayWhatWarpsWaitForAndAtWhichLine) {
  for (const unsigned slices : {2U, 4U, 8U}) {
    profile_ = profile_of(4000 / slices);
    series_ =
        "launch,kernel,first,last,dram_read,l2_hit_rate,made.up\n1,k,1,500,12.5,,3\n1,k,501,700,2,0.5,0\n";
    add({{"l2.slices", std::to_string(slices)}}, "finished", 16000 / slices, {},
        {{{"kernel", "k"}, {"cycles", 9}}});
  }
  add({{"l2.slices", "16"}}, "finished", 100, {}, {{{"kernel", "k"}, {"cycles", 9}}});
  const std::string own = between(page(), "<section id=\"s-kernel-\"", "</section>");
  EXPECT_THAT(own, HasSubstr("waits for <b>data from DRAM</b> shrink most: 2,000 \u2192 500 warp-cycles"));
  EXPECT_THAT(own, HasSubstr("100% of them are charged to <code>k.cu:3</code> <code>sum += in[i];</code>"));
  EXPECT_THAT(own,
              HasSubstr("point 0 (first and worst): l2.slices = 2, DRAM: 2,000 of 2,040 warp-cycles, 98%"));
  EXPECT_THAT(own, HasSubstr("<summary>point 2 (best): l2.slices = 8</summary>"))
      << "of those with a profile";
  EXPECT_THAT(own, HasSubstr("<summary>point 1: l2.slices = 4</summary>"));
  EXPECT_THAT(own, Not(HasSubstr("l2.slices = 16</summary>"))) << "nothing is kept of it";
  const std::string worst = between(own, "<details class=\"point\" open>", "</details>");
  // Of CUDA one line, of PTX two: sectors, what the first cache and L2 had of them, the mean latency.
  EXPECT_THAT(worst, HasSubstr("<code title=\"/src/k.cu:3\">k.cu:3</code>"));
  EXPECT_THAT(
      worst,
      HasSubstr(">2,020</td><td class=\"number\">99%</td><td class=\"nowrap\"><code>dram</code> 99%</td>"
                "<td class=\"number\">20</td><td class=\"number\">40</td><td class=\"number\">25%</td>"
                "<td class=\"number\">50%</td><td class=\"number\"></td><td class=\"number\">500</td>"));
  EXPECT_LT(worst.find("ld.global.f32 &lt;f&gt;;"), worst.find("<code>add;</code>")) << "the hottest first";
  EXPECT_THAT(worst, HasSubstr("dram_read: at most 12.5, up to cycle 500."));
  EXPECT_THAT(worst, HasSubstr("l2_hit_rate: at most 0.5, up to cycle 700."));
  EXPECT_THAT(worst, HasSubstr("<figcaption>made.up</figcaption>"));
}

TEST_F(Reports, ShowThePointsThatAreAskedForAndAFewOthers) {
  for (unsigned n = 0; n < 40; ++n) {
    profile_ = profile_of(1000 + n);
    add({{"l2.slices", std::to_string(n + 1)}}, "finished", 1000 + n);
  }
  ReportOptions o;
  o.points = {7};
  const std::string html = page(o);
  EXPECT_EQ(count(html, "<details class=\"point\""), 12U) << "a page has so many, whatever the study has";
  EXPECT_THAT(html, HasSubstr("<summary>point 7 (asked for): l2.slices = 8</summary>"));
  EXPECT_EQ(count(html, "<svg class=\"plot stalls\""), 1U + 1 + 9)
      << "those with a name share one; the overview";
  o.points = {7, 400};
  EXPECT_THAT(faults(o).front().message, HasSubstr("of point 400 neither a profile"));
}

/// A kernel's page has what is its own.
TEST_F(Reports, TellKernelsApartInProfiles) {
  json both = json::parse(profile_of(100, "slow"));
  both["kernels"].push_back(json::parse(profile_of(10, "mended"))["kernels"][0]);
  profile_ = both.dump();
  series_ = "launch,kernel,first,last,ipc\n1,slow,1,100,1\n2,mended + other,101,120,2\n";
  add({}, "finished", 1000, {},
      {{{"kernel", "slow"}, {"cycles", 900}}, {{"kernel", "mended"}, {"cycles", 100}}});
  const std::string html = page();
  const std::string mended = between(html, "<section id=\"s-kernel-mended\"", "</section>");
  EXPECT_THAT(mended, HasSubstr("50 warp-cycles</text>"));
  EXPECT_THAT(mended, HasSubstr("ipc: at most 2, up to cycle 20."));
  EXPECT_THAT(between(html, "<section id=\"s-kernel-\"", "</section>"), HasSubstr("190 warp-cycles</text>"));
  const std::string overview = between(html, "Where warps wait longest", "</table>");
  EXPECT_LT(overview.find(">slow</a>"), overview.find(">mended</a>"));
  EXPECT_EQ(count(overview, "k.cu:3"), 2U) << "the workload is told by its kernels";
}

/// Where points are missing, lines, maps and figures compare what is alike.
TEST_F(Reports, MatchPointsWhereSomeAreMissing) {
  for (const unsigned slices : {2U, 4U})
    for (const unsigned channels : {1U, 2U})
      if (slices == 2 || channels == 1)
        add({{"l2.slices", std::to_string(slices)}, {"dram.channels", std::to_string(channels)}}, "finished",
            16000 / slices / channels,
            {{"l2.sector_accesses", 100}, {"l2.sector_hits", 10 * slices * channels}});
  const std::string own = between(page(), "<section id=\"s-kernel-\"", "</section>");
  const std::string figures = between(own, "<h3>Figures by key</h3>", "</table>");
  EXPECT_THAT(
      figures,
      HasSubstr("L2 hit rate</span></th><td class=\"number first\">20%</td><td class=\"number\">40%</td>"
                "<td class=\"number first\">20%</td><td class=\"number\">40%</td>"))
      << "not 30%, the mean over channels where there are two";
  EXPECT_THAT(own, Not(HasSubstr("No points differ in")));
}

TEST_F(Reports, RepeatEachPointByItsOwnCommand) {
  command_ = {"w", "run", "kernel.toml", "--gpu=mini", "--set=l2.slices=2", "--stats=a.json", "--quiet"};
  add({{"l2.slices", "2"}}, "finished", 1000);
  command_ = {"w",   "run",    "kernel.toml", "--gpu",   "mini", "--seed", "7", "--stats-counters",
              "all", "--live", "0",           "--paused"};
  add({{"l2.slices", "4"}}, "finished", 500);
  const std::string html = page();
  EXPECT_THAT(html, HasSubstr("<code>warpline run kernel.toml --gpu mini --set l2.slices=4 --seed 7</code>"));
  const json data = json::parse(between(html, "id=\"points-data\">", "</script>"));
  EXPECT_EQ(data["commands"],
            json::parse(R"([["warpline run kernel.toml", ""], ["warpline run kernel.toml", "--seed 7"]])"));
  EXPECT_EQ(data["command_of"], json::array({0}));
  EXPECT_EQ(data["other_commands"], (json{{"1", 1}}));
}

/// Of neighbours that are drawn as one: means over their cycles, counters' sums; the most is that of the
/// rows.
TEST_F(Reports, JoinSpansAsTheyAreWeighed) {
  profile_ = profile_of(1000);
  series_ = "launch,kernel,first,last,ipc,made.up\n";
  for (unsigned n = 0; n < 200; ++n)
    series_ += fmt::format("1,k,{},{},{},3\n", n / 2 * 100 + (n % 2 == 0 ? 1 : 91),
                           n / 2 * 100 + (n % 2 == 0 ? 90 : 100), n % 2 == 0 ? 1 : 11);
  add({}, "finished", 10000, {}, {{{"kernel", "k"}, {"cycles", 10000}}});
  store_.reset();
  const ResultStore store(path_, ResultStore::Access::read);
  const StudyResults results = read_results(store, path_);
  const std::vector<Subject> subjects = subjects_of(store, results, {{"cycles", "cycles"}}, {});
  const ObservedRun run = observed_runs(store, results, subjects, {}).front().front();
  EXPECT_EQ(run.spans_in_one, 2U);
  ASSERT_EQ(run.ends.size(), 100U);
  EXPECT_EQ(run.ends.front(), 100);
  EXPECT_EQ(run.figures[0].values.front(), 2) << "nine parts of 1, one of 11";
  EXPECT_EQ(run.figures[1].sums.front(), 6);
  EXPECT_EQ(run.figures[0].most, 11);
  EXPECT_EQ(run.figures[0].most_at, 100);
  const std::string html = page();
  EXPECT_THAT(html, HasSubstr("Means of 2 spans"));
  EXPECT_THAT(html, HasSubstr("ipc: at most 11 in a span as it was sampled, up to cycle 100."));
}

TEST_F(Reports, KeepZerosAndSaySo) {
  for (const unsigned slices : {2U, 4U})
    for (const unsigned channels : {1U, 2U})
      add({{"l2.slices", std::to_string(slices)}, {"dram.channels", std::to_string(channels)}}, "finished",
          1000, {{"dram.reads", slices == 2 ? 0 : 40 * channels}});
  ReportOptions o;
  o.metrics = {"dram.reads"};
  const std::string html = page(o);
  const std::string map = between(html, "<svg class=\"plot heat\"", "</svg>");
  EXPECT_EQ(count(map, "l2.slices = 2: 0 things") + count(map, "l2.slices = 2, dram.channels = 1: 0 things") +
                count(map, "l2.slices = 2, dram.channels = 2: 0 things"),
            2U)
      << map;
  EXPECT_EQ(count(map, " least\""), 2U);
  EXPECT_THAT(between(html, "The best point of each workload", "</table>"),
              HasSubstr("<td class=\"number\">0</td>"));
  EXPECT_THAT(html, HasSubstr("2 of 4 points have dram.reads of 0, of which there is no logarithm"));
}

/// A profile without stalls, and lines of which CUDA is known of some alone.
TEST_F(Reports, TellLinesWithoutCudaBesideThoseWithIt) {
  json profile = json::parse(profile_of(10));
  json trace = profile["kernels"][0]["lines"][1];
  trace.erase("cuda");
  trace.erase("cuda_text");
  trace["stalls"] = {{"barrier", 5000}};
  profile["kernels"][0]["lines"].push_back(trace);
  profile_ = profile.dump();
  add({}, "finished", 1000, {}, {{{"kernel", "k"}, {"cycles", 1000}}});
  add({}, "impossible", 0);
  EXPECT_THAT(between(page(), "Where warps wait longest", "</table>"), HasSubstr("<code>k.ptx:9</code>"));
  begin();
  profile_ = R"({"kernels": [{"name": "k", "warps": 1, "warp_cycles": 9, "lines": []}]})";
  add({}, "finished", 1000, {}, {{{"kernel", "k"}, {"cycles", 1000}}});
  add({}, "impossible", 0);
  EXPECT_THAT(page(), HasSubstr("Where warps wait longest"));
}

TEST_F(Reports, OfOneRunSayOnceWhatItsWarpsWaitFor) {
  profile_ = profile_of(1000);
  add({}, "finished", 1000, {}, {{{"kernel", "k"}, {"cycles", 1000}}});
  EXPECT_EQ(count(page(), "<svg class=\"plot stalls\""), 1U);
}

TEST_F(Reports, HaveNoMoreThanAPageCanHold) {
  for (unsigned w = 1; w < 30; ++w)
    study_.workloads.push_back({"w" + std::to_string(w), false, {"w.toml"}, {}});
  begin();
  ReportOptions o;
  for (unsigned w = 0; w < 30; ++w)
    for (unsigned n = 0; n < 4; ++n) {
      profile_ = profile_of(1000 + n);
      add({{"l2.slices", std::to_string(n + 1)}}, "finished", 1000 + 100 * w + n, {}, nullptr, w);
    }
  EXPECT_EQ(count(page(), "<details class=\"point\""), 60U);
  for (std::size_t n = 0; n < 50; ++n) o.points.push_back(n);
  const std::string html = page(o);
  EXPECT_EQ(count(html, "<details class=\"point\""), 60U);
  std::size_t asked = 0;
  for (std::size_t at = 0; (at = html.find("<summary>point", at)) != std::string::npos; ++at)
    asked += count(html.substr(at, html.find("</summary>", at) - at), "asked for):");
  EXPECT_EQ(asked, 50U) << "they are among these";
  EXPECT_THAT(between(html, "<section id=\"s-w29-\"", "</section>"), HasSubstr("<details class=\"point\""))
      << "what takes most cycles comes before others";
}

TEST_F(Reports, SayWhereAChangeIsOneOfFewCycles) {
  add({{"l2.slices", "2"}}, "finished", 200);
  add({{"l2.slices", "4"}}, "finished", 188);
  EXPECT_THAT(page(), HasSubstr("6.0% fewer cycles, which are only 12 of 200"));
}

/// A program's report does not name keys: they are those of its point.
TEST_F(Reports, KnowTheGpuOfPrograms) {
  study_.workloads[0].program = true;
  Point p;
  p.gpu = "mini";
  p.settings = {{"dram.channels", "2"}};
  PointResult r;
  r.outcome = "finished";
  r.statistics = std::make_shared<const json>(json{
      {"kernels",
       {{{"name", "k"}, {"cycles", 1000}, {"time_ns", 1000}, {"counters", {{"dram.busy_cycles", 500}}}}}}});
  store_->add(study_, p, r);
  store_->commit();
  EXPECT_THAT(page(), HasSubstr("Busiest: <b>DRAM data buses</b>, 25% of the time"));
}

TEST_F(Reports, RefuseNamesThatAreNone) {
  add_grid();
  ReportOptions o;
  o.metrics = {"cyles"};
  o.pareto = {"sizes", "cycles"};
  o.heat = {"l2.slice", "dram.channels"};
  const Diagnostics f = faults(o);
  ASSERT_EQ(f.size(), 3U);
  EXPECT_THAT(f[0].hint, HasSubstr("cycles"));
  EXPECT_THAT(f[1].hint, HasSubstr("size"));
  EXPECT_THAT(f[2].hint, HasSubstr("l2.slices"));
}

TEST_F(Reports, SayThatASweepWasWriting) {
  add_grid();
  const ResultStore reading(path_, ResultStore::Access::read);
  EXPECT_THAT(study_report(reading, path_, {}).value(), HasSubstr("A sweep was writing"));
  EXPECT_THAT(page(), Not(HasSubstr("A sweep was writing")));
}

TEST_F(Reports, OfManyPointsHaveFewMarksAndASmallPage) {
  // 3000 points of a Latin hypercube's kind: marks on top of each other are one.
  for (unsigned n = 0; n < 3000; ++n)
    add({{"l2.slices", std::to_string(1 + n % 64)}, {"dram.channels", std::to_string(1 + n * 7 % 61)}},
        "finished", 1000 + n * 37 % 5000);
  const std::string html = page();
  EXPECT_LT(html.size(), 1000000U);
  EXPECT_LT(count(between(html, "<section id=\"pareto\"", "</section>"), "<circle"), 2500U);
}

}  // namespace sweep_report_test
}  // namespace warpline::sweep
