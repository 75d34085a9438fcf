#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "platform/live/live_question.h"
#include "platform/live/platform_answers.h"

namespace warpline::live {

/// A run that is watched while it goes on: clients ask and wish from any thread, and the run's own thread
/// answers where it comes by, at safe points. It looks at the platform, and changes nothing in it: cycles and
/// counters are those of a run that nobody watches. Where nobody asks anything, a safe point costs one atomic
/// load.
///
/// Wishes are taken at once and carried out at the next safe point. A step to cycle N stops the run when all
/// of cycle N is over, or, where nothing happens in N, of the first cycle after it in which anything does.
///
///     LiveRun live(facts, false);            // clients may ask from now on
///     live.watch(platform);
///     ... at every safe point: if (!live.look(stop)) end the run ...
///     live.end("finished", true);            // clients get the last state from now on
class LiveRun {
 public:
  struct Facts {
    std::string version, gpu;
    unsigned gpus = 1;
    std::vector<std::string> inputs;
    std::size_t launches = 0;
  };
  /// `paused`: it waits at its first safe point.
  LiveRun(Facts facts, bool paused);
  ~LiveRun();
  LiveRun(const LiveRun&) = delete;
  LiveRun& operator=(const LiveRun&) = delete;

  // By the run's thread alone:

  /// Cycles between safe points within a launch. A safe point is where windows end: more of them cost time.
  static constexpr Cycle kCycles = 256;
  /// The platform outlives it, or its end(). It is built.
  void watch(GpuPlatform& platform);
  /// What the run does from now on, such as "comparing results".
  void enter(const std::string& phase);
  /// Launch number `number` begins.
  void launch(std::size_t number, const std::string& kernel);
  /// A safe point, at which `fraction` of the CTAs under way are done. Answers what was asked, and waits as
  /// long as the run is to pause; `stop` is asked now and then meanwhile, and ends the pause. Returns whether
  /// the run is to go on: what `stop` says, or true if it was not asked.
  bool look(double fraction, const std::function<bool()>& stop) {
    fraction_ = fraction;
    return !wanted_.load(std::memory_order_relaxed) || attend(stop);
  }
  /// Called, while the run pauses, once no client has asked anything for a while.
  void on_forgotten(std::function<void(Cycle)> callback) { on_forgotten_ = std::move(callback); }
  /// The run is over: `how`; `all_done`: with all its launches. The platform is looked at for the last time.
  /// Of several calls the first counts.
  void end(const std::string& how, bool all_done);
  /// After end(): waits until those who look once a second have been told of it, where somebody has asked
  /// something a short while ago.
  void wait_until_told();
  /// Seconds that it has paused so far.
  [[nodiscard]] double paused_seconds() const { return paused_seconds_; }

  // By any thread:

  using Reply = std::function<void(Answer)>;
  /// Calls `reply` once, now or at the next safe point, from this thread or the run's; not at all if it ends
  /// before, without end().
  void ask(const Question& question, Reply reply);
  /// The state as of the last safe point where one was asked for, or since when it is waited for: `busy` is
  /// true in it.
  [[nodiscard]] Answer last_state();

 private:
  using Clock = std::chrono::steady_clock;
  struct Asked {
    Question question;
    Reply reply;
  };
  /// How far the run had got at a time, for rates.
  struct Mark {
    double seconds = 0;
    Cycle cycle = 0;
    std::uint64_t instructions = 0;
  };
  /// Where the mutex is held.
  Answer take_wish(const Question& question);
  void settle_step();
  void answer_some(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] bool wait_in_pause(std::unique_lock<std::mutex>& lock, const std::function<bool()>& stop);
  [[nodiscard]] std::string state(bool busy) const;
  /// By the run's thread, where the mutex is not held.
  bool attend(const std::function<bool()>& stop);
  void note_state();
  [[nodiscard]] double running_seconds() const;

  Facts facts_;
  GpuPlatform* platform_ = nullptr;
  std::unique_ptr<PlatformAnswers> answers_;
  std::shared_ptr<std::vector<unsigned>> gpus_;  ///< on which grids are under way
  std::function<void(Cycle)> on_forgotten_;
  double fraction_ = 0;
  std::size_t launch_ = 0;
  std::string kernel_;
  std::deque<Mark> marks_;
  double first_done_ = 0;  ///< the share of the run that was done at the first mark
  Clock::time_point began_ = Clock::now();
  Clock::time_point pause_began_{};  ///< of the pause under way
  double paused_seconds_ = 0;        ///< of those before

  std::atomic<bool> wanted_{false};  ///< a client wants something of the next safe point
  std::mutex mutex_;                 ///< of all below
  std::condition_variable came_;
  std::deque<Asked> asked_;
  bool pause_ = false;            ///< a wish
  std::optional<Cycle> step_to_;  ///< likewise
  std::optional<Cycle> step_by_;  ///< likewise, until it is known from where
  bool paused_ = false;           ///< it waits now
  bool ended_ = false, was_asked_ = false;
  Cycle cycle_ = 0;  ///< as it was known last
  std::string phase_ = "preparing", end_;
  std::string figures_;  ///< of the state: what the platform said last
  Clock::time_point asked_last_ = Clock::now();
  Clock::time_point answers_again_{};  ///< while it does not pause
  std::vector<Answer> last_;           ///< of an ended run, by Question::Kind
};

}  // namespace warpline::live
