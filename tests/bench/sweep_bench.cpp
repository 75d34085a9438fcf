// What the process that hands out the points of a study takes for each: the figures of ManagerCosts.
//
//   warpline run kernels/vecadd.toml --quiet --stats-counters counted --stats run.json
//   sweep_bench run.json [points]
//   sweep_bench run.json workers
//
// Workers are played: they answer at once, with the statistics of that run, so that all CPU time is the
// manager's. With `workers`, threads work as processes of an MPI job do, on runs that sleep, so that there
// may be more of them than cores; their time stands beside the one that forecast() tells.

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "platform/sweep/forecast.h"
#include "platform/sweep/sweep.h"
#include "tests/bench/cpu_time.h"
#include "tests/support/local_mail.h"

namespace warpline::sweep {
namespace {

using bench::cpu_seconds;

/// Workers that answer at once, or after they have been asked `slow` times in vain.
class PlayedWorkers final : public Mail {
 public:
  PlayedWorkers(unsigned workers, std::string answer, unsigned slow)
      : workers_(workers), answer_(std::move(answer)), slow_(slow) {
    for (unsigned w = 1; w <= workers; ++w) box_.emplace_back(w, R"({"version": "1", "jobs": 1})");
  }
  [[nodiscard]] unsigned processes() const override { return workers_ + 1; }
  void post(unsigned to, std::string message) override {
    const double begin = cpu_seconds();
    const auto m = nlohmann::json::parse(message);
    if (m.contains("begin")) {
      PointRun::End end;
      end.statistics = answer_;
      box_.emplace_back(to, packed_end(m.at("begin"), end));
      asked_ = 0;
    }
    played_ += cpu_seconds() - begin;
  }
  [[nodiscard]] std::optional<std::pair<unsigned, std::string>> next() override {
    if (box_.empty()) return std::nullopt;
    if (introduced_ >= workers_ && asked_++ < slow_) return std::nullopt;
    introduced_ = std::min(introduced_ + 1, workers_);
    auto out = std::move(box_.front());
    box_.pop_front();
    return out;
  }
  /// CPU time that was theirs.
  [[nodiscard]] double played() const { return played_; }

 private:
  unsigned workers_, introduced_ = 0;
  std::string answer_;
  unsigned slow_, asked_ = 0;
  double played_ = 0;
  std::deque<std::pair<unsigned, std::string>> box_;
};

std::string file_of_bench() {
  return (std::filesystem::temp_directory_path() / "sweep_bench.sqlite").string();
}

void remove_file() {
  for (const char* part : {"", "-wal", "-shm"}) std::filesystem::remove(file_of_bench() + part);
}

Study study_of_bench() {
  Study study;
  study.text = "a study";
  study.workloads.push_back({"w", false, {"w.toml"}, {}});
  return study;
}

/// Seconds on the clock of a transaction of half a second's rows, as one worker after the other sends them.
double seconds_of_commit(const std::string& answer) {
  constexpr unsigned kTimes = 10, kRows = 500;
  remove_file();
  const Study study = study_of_bench();
  PointResult result;
  result.outcome = "finished";
  result.statistics = std::make_shared<const nlohmann::json>(nlohmann::json::parse(answer));
  double spent = 0;
  {
    ResultStore store(file_of_bench(), ResultStore::Access::write);
    store.begin(study, "1");
    for (unsigned n = 0; n < kTimes * kRows; ++n) {
      Point p;
      p.number = n;
      store.add(study, p, result);
      if (n % kRows != kRows - 1) continue;
      const auto begin = std::chrono::steady_clock::now();
      store.commit();
      spent += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
  }
  remove_file();
  return spent / kTimes;
}

/// CPU seconds of a study of so many points with so many workers.
double seconds_of(std::size_t points, unsigned workers, const std::string& answer, unsigned slow) {
  remove_file();
  const Study study = study_of_bench();
  Plan plan;
  for (std::size_t n = 0; n < points; ++n) {
    Point p;
    p.number = n;
    p.gpu = "mini";
    p.settings = {{"l2.slices", std::to_string(n)}, {"dram.channels", "4"}};
    plan.points.push_back(std::move(p));
  }
  PlayedWorkers mail(workers, answer, slow);
  RemoteRuns others(mail, "1");
  double spent = 0;
  {
    ResultStore store(file_of_bench(), ResultStore::Access::write);
    store.begin(study, "1");
    Sweep::Options options;
    options.jobs = 0;
    options.others = &others;
    const double begin = cpu_seconds(), played = mail.played();
    Sweep(study, plan, store, options).run();
    spent = cpu_seconds() - begin - (mail.played() - played);
  }
  remove_file();
  return spent;
}

/// As many points for each of so many workers, on the clock and by simulation.
void compare(unsigned workers, const std::string& answer) {
  constexpr std::size_t kEach = 10;
  constexpr auto kSleep = std::chrono::milliseconds(500);
  remove_file();
  const Study study = study_of_bench();
  Plan plan;
  for (std::size_t n = 0; n < kEach * workers; ++n) {
    plan.points.emplace_back();
    plan.points.back().number = n;
  }
  PostOffice office;
  office.boxes.resize(workers + 1);
  const Command command = [&](const std::vector<std::string>&) {
    std::this_thread::sleep_for(kSleep);
    std::ofstream(ChildRun::statistics_path()) << answer;
    return 0;
  };
  std::vector<std::thread> threads;
  for (unsigned n = 1; n <= workers; ++n)
    threads.emplace_back([&, n] {
      LocalMail mail(office, n);
      work_for_others(mail, "1", 1, command, [] { return false; });
    });
  double spent = 0;
  std::vector<double> runs;
  {
    LocalMail mail(office, 0);
    RemoteRuns others(mail, "1");
    ResultStore store(file_of_bench(), ResultStore::Access::write);
    store.begin(study, "1");
    Sweep::Options options;
    options.jobs = 0;
    options.others = &others;
    const auto begin = std::chrono::steady_clock::now();
    Sweep(study, plan, store, options).run();
    spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    store.ask("SELECT wall_s FROM runs ORDER BY point",
              [&](const ResultStore::Row& row) { runs.push_back(row.real(0)); });
  }
  for (std::thread& t : threads) t.join();
  remove_file();
  const Forecast told = forecast(runs, workers);
  double work = 0;
  for (const double seconds : runs) work += seconds;
  fmt::print("{:>7}  {:>10.3f}  {:>10.3f}  {:>16.1f}  {:>16.1f}\n", workers, spent, told.wall_s, work / spent,
             told.speed_up);
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

int compare_all(const std::string& path) {
  fmt::print("{:>7}  {:>10}  {:>10}  {:>16}  {:>16}\n", "workers", "measured s", "simulated s",
             "measured speed-up", "simulated");
  for (const unsigned workers : {1U, 2U, 4U, 8U, 16U, 32U, 64U}) compare(workers, text_of(path));
  return 0;
}

int measure(const std::string& path, std::size_t points) {
  const std::string answer = text_of(path);
  if (answer.empty()) {
    fmt::print(stderr, "{}: cannot be read\n", path);
    return 2;
  }
  constexpr unsigned kPlaces = 100, kMany = 10'000, kLooks = 200;
  seconds_of(points, kPlaces, answer, 0);  // what is done once is done
  const double whole = seconds_of(points, kPlaces, answer, 0), none = seconds_of(points, kPlaces, "", 0);
  const double few = seconds_of(1, kMany, answer, 0), looks = seconds_of(1, kMany, answer, kLooks);
  const auto each = [points](double seconds) { return 1e6 * seconds / static_cast<double>(points); };
  fmt::print("{:<44} {:>8} bytes\n", "answer", answer.size());
  fmt::print("{:<44} {:>8.1f} us\n", "hand out, answer and row, per point", each(whole));
  fmt::print("{:<44} {:>8.1f} us\n", "the same of a run without statistics", each(none));
  fmt::print("{:<44} {:>8.1f} us\n", "commit of 500 rows", 1e6 * seconds_of_commit(answer));
  fmt::print("{:<44} {:>8.3f} us\n", "look, per place", 1e6 * (looks - few) / kLooks / kMany);
  return 0;
}

}  // namespace warpline::sweep

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "sweep_bench STATISTICS [POINTS]\n");
    return 2;
  }
  try {
    if (argc > 2 && std::string_view(argv[2]) == "workers") return warpline::sweep::compare_all(argv[1]);
    return warpline::sweep::measure(argv[1], argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 2000);
  } catch (const warpline::sweep::StoreError& e) {
    fmt::print(stderr, "{}\n", e.what);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
  }
  return 2;
}
