#include "platform/sweep/sweep.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "rtl_models/base/text.h"

namespace warpline::sweep {
namespace {

constexpr double kCommitEvery = 0.5;   ///< seconds: what a kill loses at most, beside what runs
constexpr int kLookEvery = 100;        ///< milliseconds
constexpr int kLookAtOthersEvery = 2;  ///< milliseconds: they have no file to wait for
constexpr unsigned kTries = 2;         ///< of a run whose process is lost

/// The last line that a run has said, without what it begins with.
std::string last_error(const std::string& said) {
  std::string error, last;
  for (const std::string_view line : split(said, '\n')) {
    if (const std::size_t at = line.find("error: "); at != std::string_view::npos)
      error = line.substr(at + 7);
    if (!trimmed(line).empty()) last = trimmed(line);
  }
  return error.empty() ? last : error;
}

}  // namespace

/// A process at work, or a place for one.
struct Sweep::Slot {
  const Point* point = nullptr;
  unsigned tries = 0;
  bool too_long = false;
  std::unique_ptr<PointRun> run;
};

std::vector<std::string> Sweep::words_of(const Study& study, const Point& point,
                                         const std::string& statistics) {
  const Workload& w = study.workloads[point.workload];
  std::vector<std::string> words = {"warpline", w.program ? "exec" : "run"};
  if (!w.program) words.insert(words.end(), w.words.begin(), w.words.end());
  words.insert(words.end(), {"--gpu", point.gpu});
  for (const auto& [key, value] : point.settings) words.insert(words.end(), {"--set", key + "=" + value});
  words.insert(words.end(), w.options.begin(), w.options.end());
  if (!statistics.empty()) {
    words.insert(words.end(), {w.program ? "--report" : "--stats", statistics});
    if (study.profile) words.insert(words.end(), {"--profile", ChildRun::profile_path()});
    if (study.sample)
      words.insert(words.end(),
                   {"--series", ChildRun::series_path(), "--sample", std::to_string(*study.sample)});
    if (!study.figures.empty()) words.insert(words.end(), {"--figures", joined(study.figures, ",")});
    // What rows do not have need not be written and read.
    if (!w.program)
      words.insert(words.end(), {"--quiet", "--stats-counters", study.instances ? "counted" : "totals"});
  }
  if (w.program) {
    words.emplace_back("--");
    words.insert(words.end(), w.words.begin(), w.words.end());
  }
  return words;
}

Sweep::Sweep(const Study& study, const Plan& plan, ResultStore& store, const Options& options)
    : study_(study), plan_(plan), store_(store), options_(options) {
  const std::vector<std::size_t> done = store.done();
  for (auto p = plan.points.rbegin(); p != plan.points.rend(); ++p)
    if (std::binary_search(done.begin(), done.end(), p->number)) {
      ++before_;
    } else {
      waiting_.push_back(&*p);
    }
  if (options.first_ones) keep_first_ones();
  slots_.resize(options.jobs + (options.others == nullptr ? 0 : options.others->places()));
}

Sweep::~Sweep() = default;

/// Of each workload of which no run is known, the first point that can be run.
void Sweep::keep_first_ones() {
  std::vector<bool> has;
  for (const Workload& w : study_.workloads) has.push_back(store_.cost_of(w.name).has_value());
  std::vector<const Point*> first;
  for (auto p = waiting_.rbegin(); p != waiting_.rend(); ++p)
    if ((*p)->impossible.empty() && !has[(*p)->workload]) {
      has[(*p)->workload] = true;
      first.push_back(*p);
    }
  waiting_.assign(first.rbegin(), first.rend());
}

void Sweep::write(const Point& point, const PointResult& result) {
  store_.add(study_, point, result);
  ++outcome_.ran;
  if (options_.on_progress) options_.on_progress(before_ + outcome_.ran, plan_.points.size());
}

void Sweep::commit_in_time(bool now) {
  const auto time = std::chrono::steady_clock::now();
  if (!now && std::chrono::duration<double>(time - committed_).count() < kCommitEvery) return;
  store_.commit();
  committed_ = time;
}

void Sweep::begin(Slot& free, const Point& point, unsigned tries) {
  const std::vector<std::string> words = words_of(study_, point, ChildRun::statistics_path());
  const auto number = static_cast<std::size_t>(&free - slots_.data());
  // The first are of this process.
  if (number < options_.jobs) {
    free.run = std::make_unique<ChildRun>(options_.command, words);
  } else {
    free.run = options_.others->begin(number - options_.jobs, words);
  }
  free.point = &point;
  free.tries = tries;
  free.too_long = false;
}

/// Takes the end of its run, if it has come, out of the slot.
void Sweep::look_after(Slot& slot) {
  if (study_.limit_s && !slot.too_long && slot.run->seconds() > *study_.limit_s) {
    slot.too_long = true;
    slot.run->kill();
  }
  Ended ended{slot.point, slot.tries, slot.too_long, {}};
  if (!slot.run->ended(ended.end)) return;
  slot.point = nullptr;
  slot.run.reset();
  ended_.push_back(std::move(ended));
}

/// Writes the row of a run that has ended, or has it done anew.
void Sweep::settle(Ended& ended) {
  PointRun::End& end = ended.end;
  const Point& point = *ended.point;
  const bool too_long = ended.too_long;
  if (end.killed_by != 0 && !too_long && ended.tries + 1 < kTries) {
    again_.emplace_back(&point, ended.tries + 1);
    return;
  }
  PointResult result;
  result.exit_status = end.exit_status;
  result.wall_s = end.wall_s;
  result.cpu_s = end.cpu_s;
  result.peak_bytes = end.peak_bytes;
  const auto statistics =
      std::make_shared<const nlohmann::json>(nlohmann::json::parse(end.statistics, nullptr, false));
  const nlohmann::json& written = *statistics;
  if (too_long && end.killed_by != 0) {
    result.outcome = "too long";
    result.reason = fmt::format("it was not done after {} s", *study_.limit_s);
  } else if (end.killed_by != 0) {
    result.outcome = "lost";
    result.reason = fmt::format("its process was killed by signal {} ({}), {} times", end.killed_by,
                                strsignal(end.killed_by), kTries);
  } else if (!written.is_object()) {
    result.outcome = "refused";
    result.reason = last_error(end.said);
    if (result.reason.empty())
      result.reason = fmt::format("it ended with status {}, and wrote nothing", end.exit_status);
  } else {
    result.statistics = statistics;
    result.profile = std::move(end.profile);
    result.series = std::move(end.series);
    const auto outcome = written.find("outcome");
    const bool says_outcome = outcome != written.end() && outcome->is_string();
    result.outcome = says_outcome           ? outcome->get<std::string>()
                     : end.exit_status == 0 ? "finished"
                                            : "failed check";
    if (result.outcome == "finished") {
      // It may have gone on in a process of another name, or timed nothing.
      if (study_.profile && result.profile.empty())
        result.reason = "it wrote no profile";
      else if (study_.sample && result.series.empty())
        result.reason = "it wrote no figures over time";
    } else {
      const auto failures = written.find("failures");
      const bool says_why = failures != written.end() && failures->is_array() && !failures->empty() &&
                            failures->front().is_string();
      result.reason = says_why ? failures->front().get<std::string>() : last_error(end.said);
    }
  }
  write(point, result);
}

/// Has every slot at work for which there is some. Returns whether any is.
bool Sweep::fill_slots() {
  bool works = false;
  for (Slot& s : slots_) {
    if (s.point == nullptr && !again_.empty()) {
      const auto [point, tries] = again_.back();
      again_.pop_back();
      begin(s, *point, tries);
    }
    while (s.point == nullptr && !waiting_.empty()) {
      const Point& next = *waiting_.back();
      waiting_.pop_back();
      if (next.impossible.empty()) {
        begin(s, next, 0);
      } else {
        PointResult none;
        none.outcome = "impossible";
        none.reason = next.impossible;
        write(next, none);
      }
    }
    works = works || s.point != nullptr;
  }
  return works;
}

Sweep::Outcome Sweep::run() {
  for (;;) {
    if ((options_.stop_wanted && options_.stop_wanted()) ||
        (options_.others != nullptr && options_.others->stop_wanted())) {
      outcome_.stopped = true;
      break;
    }
    // Others run while the rows of those that have ended are written.
    const bool works = fill_slots();
    for (Ended& e : ended_) settle(e);
    ended_.clear();
    commit_in_time(false);
    const bool has_room =
        std::any_of(slots_.begin(), slots_.end(), [](const Slot& one) { return one.point == nullptr; });
    if (!again_.empty() && has_room) continue;
    if (!works) break;
    std::vector<pollfd> files;
    for (const Slot& s : slots_) files.push_back({s.run == nullptr ? -1 : s.run->file(), POLLIN, 0});
    poll(files.data(), files.size(), options_.others == nullptr ? kLookEvery : kLookAtOthersEvery);
    if (options_.others != nullptr) options_.others->look();
    for (Slot& s : slots_)
      if (s.point != nullptr) look_after(s);
  }
  for (Ended& e : ended_) settle(e);
  slots_.clear();
  commit_in_time(true);
  return outcome_;
}

}  // namespace warpline::sweep
