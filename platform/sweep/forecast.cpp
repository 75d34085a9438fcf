#include "platform/sweep/forecast.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>

namespace warpline::sweep {
namespace {

constexpr double kLost = 0.1;    ///< of workers' time: less is no limit
constexpr double kAtWork = 0.5;  ///< of its time: one that is so busy is what others wait for

/// The process that hands out, turn by turn: it gives points to whoever has none, writes the rows of the
/// answers that it took the turn before, commits in time, pauses, and takes what has come.
class Manager {
 public:
  Manager(const std::vector<double>& runs, std::size_t workers, const ManagerCosts& costs)
      : runs_(runs), workers_(workers), costs_(costs), free_since_(std::min(workers, runs.size()), 0.0) {}

  Forecast run() {
    while (written_ < runs_.size()) {
      hand_out();
      write_rows();
      if (written_ == runs_.size()) break;
      wait();
      take_answers();
    }
    if (uncommitted_) spend(costs_.commit);
    return result();
  }

 private:
  void spend(double seconds) {
    now_ += seconds;
    busy_ += seconds;
  }

  void hand_out() {
    for (; !free_since_.empty() && next_ < runs_.size(); ++next_) {
      spend(costs_.hand_out);
      const double begins = now_ + costs_.way();
      waited_ += begins - free_since_.back();
      free_since_.pop_back();
      ends_.push(begins + runs_[next_]);
    }
  }

  void write_rows() {
    spend(static_cast<double>(answers_) * costs_.answer);
    written_ += answers_;
    uncommitted_ = uncommitted_ || answers_ != 0;
    answers_ = 0;
    if (!uncommitted_ || now_ - committed_ < costs_.commit_every) return;
    spend(costs_.commit);
    committed_ = now_;
    uncommitted_ = false;
  }

  /// Until it looks and finds something; turns that find nothing are made in one.
  void wait() {
    const double look = costs_.look * static_cast<double>(workers_), turn = costs_.look_every + look;
    const double comes = ends_.top() + costs_.way();
    const double turns = turn > 0 ? std::max(1.0, std::ceil((comes - now_) / turn)) : 1;
    now_ = std::max(now_ + turns * turn, turn > 0 ? 0.0 : comes);
    busy_ += turns * look;
  }

  void take_answers() {
    for (; !ends_.empty() && ends_.top() + costs_.way() <= now_; ends_.pop()) {
      free_since_.push_back(ends_.top());
      ++answers_;
    }
  }

  [[nodiscard]] Forecast result() const {
    Forecast f;
    f.workers = workers_;
    f.wall_s = now_;
    const double work = std::accumulate(runs_.begin(), runs_.end(), 0.0);
    if (now_ <= 0) return f;
    f.speed_up = work / now_;
    f.efficiency = f.speed_up / static_cast<double>(workers_);
    f.manager_busy = std::min(1.0, busy_ / now_);
    const double idle = now_ * static_cast<double>(workers_) - work;
    if (f.efficiency >= 1 - kLost) {
      f.limit = Forecast::Limit::none;
    } else if (waited_ < idle - waited_) {
      f.limit = runs_.size() <= workers_ ? Forecast::Limit::points : Forecast::Limit::last_runs;
    } else {
      f.limit = f.manager_busy >= kAtWork ? Forecast::Limit::manager : Forecast::Limit::messages;
    }
    return f;
  }

  const std::vector<double>& runs_;
  std::size_t workers_;
  const ManagerCosts& costs_;
  std::vector<double> free_since_;  ///< of workers that have no point, and get one
  std::priority_queue<double, std::vector<double>, std::greater<>> ends_;  ///< of runs under way
  std::size_t next_ = 0, answers_ = 0, written_ = 0;
  bool uncommitted_ = false;
  double now_ = 0, busy_ = 0, committed_ = 0;
  double waited_ = 0;  ///< by workers, for points that there were
};

/// By which an answer and its row take longer with a profile, and with figures over time: processor time of
/// the process that writes, by row, of 32 runs of `attention` on `mini` with and without them, on a Xeon
/// server that others used, too. It was 14.4 ms with profiles, 4.7 ms with figures over time, and 3.8 ms with
/// neither.
constexpr double kProfile = 10.6e-3, kSeries = 0.9e-3;

}  // namespace

ManagerCosts ManagerCosts::of(const Study& study) {
  ManagerCosts costs;
  if (study.profile) costs.answer += kProfile;
  if (study.sample) costs.answer += kSeries;
  return costs;
}

Forecast forecast(const std::vector<double>& runs, std::size_t workers, const ManagerCosts& costs) {
  return Manager(runs, workers, costs).run();
}

}  // namespace warpline::sweep
