// A run that is watched: it does what it would have done, stops where it is told to, and says what caches
// hold.
#include "platform/live/live_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <thread>

#include "platform/launch/launch_runner.h"
#include "platform/live/platform_answers.h"
#include "tests/platform/machine/two_gpus.h"
#include "tests/support/counters_text.h"

namespace warpline::live {
namespace live_run_test {

using Json = nlohmann::json;
using Kind = Question::Kind;

Question question(Kind kind, Cycle cycles = 0, bool relative = false) {
  Question q;
  q.kind = kind;
  q.cycles = cycles;
  q.relative = relative;
  return q;
}

/// Asks from a thread that is not the run's.
Json ask(LiveRun& live, const Question& q, unsigned status = 200) {
  std::promise<Answer> given;
  live.ask(q, [&given](Answer a) { given.set_value(std::move(a)); });
  const Answer answer = given.get_future().get();
  EXPECT_EQ(answer.status, status) << answer.json;
  return Json::parse(answer.json);
}

/// Waits until the run pauses, or has ended. Returns its state.
Json await_pause(LiveRun& live) {
  for (;;) {
    Json state = ask(live, question(Kind::state));
    if (state["paused"] == true || state["phase"] == "ended") return state;
    std::this_thread::yield();
  }
}

struct Ran {
  std::string all;              ///< cycles, checks and counters
  std::set<Cycle> cycles;       ///< in which anything happened, where that was asked for
  std::vector<Cycle> launched;  ///< when launches began
};

/// Runs a kernel of sw/kernels; `live`: watches it; null: nobody does.
Ran run(const std::string& kernel, LiveRun* live, RunOptions options = {}, bool notes_cycles = false) {
  auto plan = read_workload({std::string(WARPLINE_SOURCE_DIR "/sw/kernels/") + kernel + ".toml"}, false);
  if (!plan.ok()) throw std::runtime_error(plan.faults().front().text());
  GpuPlatform platform(test::preset("mini", {}), options);
  LaunchRunner runner(plan.value(), platform, false);
  if (const Diagnostics faults = runner.prepare(); !faults.empty())
    throw std::runtime_error(faults.front().text());
  platform.build();
  if (live != nullptr) live->watch(platform);
  Ran ran;
  runner.on_launch([&](std::size_t number, const std::string& name) {
    ran.launched.push_back(platform.now());
    if (live == nullptr) return;
    live->launch(number, name);
    EXPECT_TRUE(live->look(0, nullptr));
  });
  if (live != nullptr || notes_cycles)
    platform.on_progress(notes_cycles ? 1 : LiveRun::kCycles, [&](double fraction) {
      if (notes_cycles) ran.cycles.insert(platform.now());
      return live == nullptr || live->look(fraction, nullptr);
    });
  CounterTable table;
  std::vector<LaunchStatistics> launches;
  const RunEnd end = runner.run(table, launches);
  EXPECT_EQ(end.failed_checks, 0U);
  ran.all = std::to_string(platform.now()) + " cycles, " + std::to_string(end.checks) + " checks\n" +
            test::text_of_counters(platform);
  if (live != nullptr) live->end("finished", true);
  return ran;
}

LiveRun::Facts facts() {
  return {"0", "mini", 1, {"k.toml"}, 1};
}

TEST(LiveRuns, DoWhatTheyWouldHaveDone) {
  for (const unsigned threads : {1U, 2U}) {
    RunOptions options;
    options.threads = threads;
    const Ran alone = run("histogram", nullptr, options);
    LiveRun live(facts(), true);
    std::atomic<bool> over{false};
    unsigned asked = 0;
    std::thread client([&] {
      for (unsigned n = 0; !over; ++n, ++asked) {
        for (const Kind kind : {Kind::counters, Kind::queues, Kind::waits})
          static_cast<void>(ask(live, question(kind)));
        const Question wish = n % 5 == 0   ? question(Kind::pause)
                              : n % 5 == 4 ? question(Kind::resume)
                                           : question(Kind::step, 37 * n + 1, true);
        live.ask(wish, [](const Answer&) {});
        over = over || ask(live, question(Kind::state))["phase"] == "ended";
      }
    });
    const Ran watched = run("histogram", &live, options);
    over = true;
    client.join();
    EXPECT_EQ(alone.all, watched.all) << threads << " threads";
    EXPECT_GT(asked, 3U);
  }
}

TEST(LiveRuns, StopWhereAStepEnds) {
  const Ran twin = run("vecadd", nullptr, {}, true);
  ASSERT_GT(twin.cycles.size(), 100U);
  LiveRun live(facts(), true);
  Ran ran;
  std::thread runs([&] { ran = run("vecadd", &live); });
  Json state = await_pause(live);
  const Cycle began = state["cycle"];
  EXPECT_EQ(began, twin.launched.front());
  // The first cycle from the one that was asked for on in which anything happens.
  const auto expected = [&](Cycle to) { return *twin.cycles.lower_bound(to); };
  Cycle now = began;
  for (const Cycle by : {1U, 1U, 2U, 7U, 255U, 256U, 257U, 300U}) {
    const Json answer = ask(live, question(Kind::step, by, true));
    EXPECT_EQ(answer["step_to"], now + by);
    state = await_pause(live);
    EXPECT_EQ(state["cycle"], expected(now + by)) << "from " << now << " by " << by;
    now = state["cycle"];
  }
  EXPECT_EQ(ask(live, question(Kind::step, now), 409)["error"].get<std::string>().rfind("cycle ", 0), 0U);
  static_cast<void>(ask(live, question(Kind::step, 0, true), 400));
  static_cast<void>(ask(live, question(Kind::step, now + 100)));
  EXPECT_EQ(await_pause(live)["cycle"], expected(now + 100));
  static_cast<void>(ask(live, question(Kind::resume)));
  state = await_pause(live);
  EXPECT_EQ(state["end"], "finished");
  EXPECT_EQ(state["done"], 1.0);
  static_cast<void>(ask(live, question(Kind::pause), 409));
  runs.join();
  EXPECT_EQ(ran.all, twin.all);
}

TEST(LiveRuns, EndAPauseWhenTheyAreToStop) {
  test::TwoGpus gpus;
  gpus.platform().build();
  LiveRun live(facts(), true);
  live.watch(gpus.platform());
  EXPECT_FALSE(live.look(0, [] { return false; }));
  EXPECT_GE(live.paused_seconds(), 0.0);
}

/// Who asks again as soon as an answer comes keeps no run from going on, and nobody from ending it.
TEST(LiveRuns, GoOnWhateverIsAsked) {
  LiveRun live(facts(), false);
  std::atomic<unsigned> answers{0};
  std::function<void()> ask = [&] {
    live.ask({}, [&](const Answer& answer) {
      const bool ended = answer.json.find("\"ended\"") != std::string::npos;
      if (!ended && ++answers < 1'000'000) ask();
    });
  };
  ask();
  ask();
  static_cast<void>(run("histogram", &live, {}));
  EXPECT_GT(answers, 1U);
  EXPECT_LT(answers, 1'000'000U);
}

TEST(LiveRuns, DifferencesAreThoseSinceAnEarlierAnswer) {
  test::TwoGpus gpus;
  const std::uint64_t a = gpus.zeros(Aperture::vidmem);
  PlatformAnswers answers(gpus.platform());
  gpus.platform().build();
  const auto changed = [&](std::optional<Cycle> since) {
    Question q = question(Kind::counters);
    q.since = since;
    q.match = "sm.lsu.global_stores";
    return Json::parse(answers.answer(q).json);
  };
  const Json before = changed({});
  EXPECT_EQ(before["counters"][0]["delta"], 0);
  gpus.run({"st.global.u32 [%a0], 1;\n", {a}}, {"", {}});
  const Json between = changed({});
  EXPECT_EQ(between["counters"][0]["delta"], 1);
  gpus.run({"st.global.u32 [%a0], 1;\n", {a}}, {"", {}});
  EXPECT_EQ(changed({})["counters"][0]["delta"], 2);
  EXPECT_EQ(changed(between["cycle"].get<Cycle>() + 1)["since"], 0);
  EXPECT_EQ(changed(before["cycle"].get<Cycle>())["counters"][0]["delta"], 2);
  EXPECT_EQ(changed(between["cycle"].get<Cycle>())["counters"][0]["delta"], 1);
}

TEST(LiveRuns, ALineIsShownAsEachCacheHasIt) {
  test::TwoGpus gpus({"sm.unified_l1=false"});
  const std::uint64_t read = gpus.zeros(Aperture::vidmem), written = gpus.zeros(Aperture::vidmem),
                      textured = gpus.zeros(Aperture::vidmem), system = gpus.zeros(Aperture::sysmem);
  const std::uint32_t number = 0x11223344;
  gpus.platform().write(read + 32, &number, sizeof number);
  gpus.run({"ld.global.u32 %r1, [%a0+32];\nld.global.nc.u32 %r2, [%a2+64];\nadd.u32 %r1, %r1, %r2;\n"
            "st.global.u32 [%a1+96], %r1;\nld.global.u32 %r3, [%a3];\n",
            {read, written, textured, system}},
           {"", {}});
  PlatformAnswers answers(gpus.platform());
  const auto line = [&](std::uint64_t address, unsigned gpu = 0) {
    Question q = question(Kind::line);
    q.address = address;
    q.gpu = gpu;
    const Answer answer = answers.answer(q);
    EXPECT_EQ(answer.status, 200U) << answer.json;
    return Json::parse(answer.json);
  };
  const auto cache = [](const Json& shown, const std::string& part) {
    for (const Json& c : shown["caches"])
      if (c["cache"].get<std::string>().find(part) != std::string::npos) return c;
    return Json::object();
  };
  const Json r = line(read + 40);
  EXPECT_EQ(r["memory"], "video memory");
  EXPECT_EQ(r["bytes"].get<std::string>().substr(64, 8), "44332211");
  EXPECT_EQ(cache(r, "l1_lg")["valid"], Json({1}));
  EXPECT_EQ(cache(r, "l1_lg")["dirty"], Json::array());
  EXPECT_EQ(cache(r, "l1_lg")["differs"], Json::array());
  EXPECT_EQ(cache(r, "l2")["valid"], Json({1}));
  EXPECT_TRUE(cache(r, "texture").empty()) << r;
  EXPECT_TRUE(r["dram"].contains("row"));
  EXPECT_EQ(r["requests"], Json::array());

  const Json t = line(textured);
  EXPECT_EQ(cache(t, "texture")["valid"], Json({2}));
  EXPECT_TRUE(cache(t, "l1_lg").empty()) << t;

  const Json w = line(written);
  EXPECT_FALSE(cache(w, "l2").contains("bytes"));
  EXPECT_EQ(cache(w, "l2")["dirty"], Json({3}));
  EXPECT_EQ(cache(w, "l2")["dirty_bytes"], 4);
  EXPECT_EQ(gpus.word(written + 96), number);
  EXPECT_EQ(w["bytes"].get<std::string>().substr(192, 8), "44332211") << w;

  EXPECT_EQ(line(system)["memory"], "system memory");
  EXPECT_EQ(line(system)["bytes"], std::string(256, '0'));
  EXPECT_FALSE(line(system).contains("dram"));

  // What L1 has is older now than what L2 has.
  const std::uint32_t newer = 5;
  gpus.platform().write(read + 32, &newer, sizeof newer);
  EXPECT_EQ(cache(line(read), "l1_lg")["differs"], Json({1}));

  Question nowhere = question(Kind::line);
  nowhere.address = 8;
  EXPECT_EQ(answers.answer(nowhere).status, 404U);
  nowhere.address = read;
  nowhere.gpu = 9;
  EXPECT_EQ(answers.answer(nowhere).status, 404U);
}

}  // namespace live_run_test
}  // namespace warpline::live
