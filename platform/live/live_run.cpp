#include "platform/live/live_run.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "platform/machine/attachment.h"
#include "platform/machine/gpu_platform.h"
#include "rtl_models/base/contract.h"

namespace warpline::live {
namespace {

using Json = nlohmann::ordered_json;
using namespace std::chrono_literals;

constexpr std::size_t kMostAsked = 64;  ///< questions that wait at once
constexpr auto kPoll = 100ms;           ///< between two looks of a paused run at what may stop it
constexpr auto kForgotten = 10s;        ///< without a question, after which a paused run is forgotten
constexpr auto kRecent = 3s;            ///< so lately has asked who still watches
constexpr auto kLinger = 1100ms;        ///< after the end: who looks once a second sees it
constexpr auto kMostAnswering = 100ms;  ///< in one go, so that what stops the run is heard
constexpr double kRateSeconds = 5;      ///< that rates are of

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Hears on which GPUs grids are under way.
class GridsUnderWay final : public Attachment {
 public:
  explicit GridsUnderWay(std::shared_ptr<std::vector<unsigned>> gpus) : gpus_(std::move(gpus)) {}
  [[nodiscard]] bool needs_order() const override { return false; }
  void grids_start(const std::vector<GridLaunch>& grids) override {
    gpus_->clear();
    for (const GridLaunch& g : grids)
      if (std::find(gpus_->begin(), gpus_->end(), g.gpu) == gpus_->end()) gpus_->push_back(g.gpu);
  }

 private:
  std::shared_ptr<std::vector<unsigned>> gpus_;
};

}  // namespace

LiveRun::LiveRun(Facts facts, bool paused)
    : facts_(std::move(facts)),
      gpus_(std::make_shared<std::vector<unsigned>>()),
      wanted_(paused),
      pause_(paused) {}

LiveRun::~LiveRun() = default;

void LiveRun::watch(GpuPlatform& platform) {
  platform.attach(std::make_unique<GridsUnderWay>(gpus_));
  answers_ = std::make_unique<PlatformAnswers>(platform);
  platform_ = &platform;
}

void LiveRun::enter(const std::string& phase) {
  const std::lock_guard<std::mutex> lock(mutex_);
  phase_ = phase;
}

void LiveRun::launch(std::size_t number, const std::string& kernel) {
  launch_ = number;
  kernel_ = kernel;
  gpus_->clear();
  enter("running");
}

double LiveRun::running_seconds() const {
  const Clock::time_point now = paused_ ? pause_began_ : Clock::now();
  return std::chrono::duration<double>(now - began_).count() - paused_seconds_;
}

/// What the platform says of how far it has got.
void LiveRun::note_state() {
  if (marks_.empty()) {
    began_ = Clock::now();
    paused_seconds_ = 0;
  }
  const PlatformAnswers::Ctas ctas = answers_->ctas(*gpus_);
  const Mark now{running_seconds(), platform_->now(), answers_->instructions()};
  const double in_launch = fraction_ > 0 ? std::min(fraction_, 1.0) : 0;
  const auto launches = static_cast<double>(std::max<std::size_t>(facts_.launches, 1));
  const double done = std::min((static_cast<double>(launch_) + in_launch) / launches, 1.0);
  if (marks_.empty()) {
    marks_.push_back(now);
    first_done_ = done;
  }
  while (marks_.size() > 1 && now.seconds - marks_[1].seconds >= kRateSeconds) marks_.pop_front();
  const Mark& before = marks_.front();
  const double seconds = now.seconds - before.seconds;
  const auto rate = [seconds](std::uint64_t amount) {
    return seconds > 0 ? Json(static_cast<double>(amount) / seconds) : Json();
  };
  Json json = {{"cycle", now.cycle},
               {"kernel", kernel_},
               {"launch", launch_ + 1},
               {"launches", facts_.launches},
               {"ctas_done", ctas.done},
               {"ctas", ctas.total},
               {"done", done},
               {"instructions", now.instructions},
               {"cycles_per_s", rate(now.cycle - before.cycle)},
               {"instructions_per_s", rate(now.instructions - before.instructions)},
               {"running_s", now.seconds}};
  json["left_s"] =
      done - first_done_ > 0.001 ? Json(now.seconds * (1 - done) / (done - first_done_)) : Json();
  if (marks_.back().seconds != now.seconds) marks_.push_back(now);
  const std::lock_guard<std::mutex> lock(mutex_);
  cycle_ = now.cycle;
  figures_ = text_of(json);
}

std::string LiveRun::state(bool busy) const {
  Json json = {{"warpline", facts_.version}, {"phase", phase_}};
  if (ended_) json["end"] = end_;
  json["paused"] = paused_ && pause_;
  json["step_to"] = step_to_ ? Json(*step_to_) : Json();
  json["busy"] = busy;
  json["gpu"] = facts_.gpu;
  json["gpus"] = facts_.gpus;
  json["inputs"] = facts_.inputs;
  if (figures_.empty()) json["cycle"] = cycle_;
  std::string out = text_of(json);
  if (!figures_.empty()) out.replace(out.size() - 1, 1, "," + figures_.substr(1));
  return out;
}

Answer LiveRun::last_state() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {200, state(true)};
}

/// A step by so many cycles has an end once it is known from where.
void LiveRun::settle_step() {
  if (!step_by_) return;
  step_to_ = *step_by_ < kNever - cycle_ ? cycle_ + *step_by_ : kNever;
  step_by_.reset();
}

Answer LiveRun::take_wish(const Question& question) {
  if (ended_) return refusal(409, "the run has ended");
  if (question.kind == Question::Kind::step) {
    if (question.relative && question.cycles == 0) return refusal(400, "a step is at least one cycle");
    if (!question.relative && question.cycles <= cycle_)
      return refusal(409, "cycle " + std::to_string(question.cycles) +
                              " is over: the run has come to cycle " + std::to_string(cycle_));
  }
  pause_ = question.kind == Question::Kind::pause;
  step_to_.reset();
  step_by_.reset();
  if (question.kind == Question::Kind::step) (question.relative ? step_by_ : step_to_) = question.cycles;
  if (paused_) settle_step();
  wanted_ = true;
  came_.notify_all();
  return {200, text_of({{"cycle", cycle_}, {"step_to", step_to_ ? Json(*step_to_) : Json()}})};
}

void LiveRun::ask(const Question& question, Reply reply) {
  Answer answer;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    asked_last_ = Clock::now();
    was_asked_ = true;
    if (question.is_wish()) {
      answer = take_wish(question);
    } else if (ended_) {
      if (question.kind == Question::Kind::state) {
        answer = {200, state(false)};
      } else {
        answer = last_.empty() ? refusal(409, "the run has ended")
                               : last_[static_cast<std::size_t>(question.kind)];
      }
    } else if (asked_.size() >= kMostAsked) {
      answer = refusal(503, "too much is asked at once");
    } else {
      asked_.push_back({question, std::move(reply)});
      wanted_ = true;
      came_.notify_all();
      return;
    }
  }
  reply(std::move(answer));
}

/// Answers what was asked so far, for a short while: the rest waits for the next safe point.
void LiveRun::answer_some(std::unique_lock<std::mutex>& lock) {
  const Clock::time_point began = Clock::now();
  for (std::size_t left = asked_.size(); left > 0 && Clock::now() - began < kMostAnswering; --left) {
    const Asked asked = std::move(asked_.front());
    asked_.pop_front();
    lock.unlock();
    Answer answer;
    if (asked.question.kind == Question::Kind::state) {
      note_state();
      lock.lock();
      answer = {200, state(false)};
      lock.unlock();
    } else {
      answer = answers_->answer(asked.question);
    }
    asked.reply(std::move(answer));
    lock.lock();
  }
  // The run gets as much time as its clients.
  const Clock::time_point now = Clock::now();
  answers_again_ = now + (now - began);
}

/// Returns whether the run is to go on.
bool LiveRun::wait_in_pause(std::unique_lock<std::mutex>& lock, const std::function<bool()>& stop) {
  pause_began_ = Clock::now();
  bool goes_on = true, told = false;
  paused_ = true;
  while (pause_ && goes_on) {
    came_.wait_for(lock, kPoll, [this] { return !asked_.empty() || !pause_; });
    answer_some(lock);
    const bool forgotten = !told && Clock::now() - std::max(asked_last_, pause_began_) >= kForgotten;
    lock.unlock();
    if (forgotten && on_forgotten_) on_forgotten_(platform_->now());
    told = told || forgotten;
    goes_on = stop == nullptr || stop();
    lock.lock();
  }
  paused_ = false;
  paused_seconds_ += std::chrono::duration<double>(Clock::now() - pause_began_).count();
  return goes_on;
}

bool LiveRun::attend(const std::function<bool()>& stop) {
  WARPLINE_EXPECT(platform_ != nullptr, "a platform is watched before it is looked at");
  if (marks_.empty()) note_state();
  std::unique_lock<std::mutex> lock(mutex_);
  cycle_ = platform_->now();
  settle_step();
  if (step_to_ && cycle_ >= *step_to_) {
    step_to_.reset();
    pause_ = true;
  }
  if (pause_ || Clock::now() >= answers_again_) answer_some(lock);
  const bool goes_on = !pause_ || wait_in_pause(lock, stop);
  if (step_to_) platform_->report_progress_at(*step_to_);
  wanted_ = !asked_.empty() || pause_ || step_to_.has_value() || step_by_.has_value();
  return goes_on;
}

void LiveRun::end(const std::string& how, bool all_done) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (ended_) return;
  if (platform_ != nullptr && was_asked_) {
    lock.unlock();
    if (all_done) {
      launch_ = facts_.launches;
      fraction_ = 0;
    }
    note_state();
    const std::size_t kinds = static_cast<std::size_t>(Question::Kind::memory) + 1;
    std::vector<Answer> last(kinds, refusal(409, "the run has ended"));
    for (const Question::Kind kind :
         {Question::Kind::counters, Question::Kind::queues, Question::Kind::waits}) {
      Question question;
      question.kind = kind;
      last[static_cast<std::size_t>(kind)] = answers_->answer(question);
    }
    lock.lock();
    last_ = std::move(last);
  }
  phase_ = "ended";
  end_ = how;
  pause_ = false;
  step_to_.reset();
  step_by_.reset();
  ended_ = true;
  platform_ = nullptr;
  while (!asked_.empty()) {
    const Asked asked = std::move(asked_.front());
    asked_.pop_front();
    lock.unlock();
    ask(asked.question, asked.reply);
    lock.lock();
  }
}

void LiveRun::wait_until_told() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!was_asked_ || Clock::now() - asked_last_ > kRecent) return;
  }
  std::this_thread::sleep_for(kLinger);
}

}  // namespace warpline::live
