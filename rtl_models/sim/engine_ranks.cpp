// An engine that runs a netlist together with those of other ranks.
#include <algorithm>

#include "rtl_models/sim/engine.h"
#include "rtl_models/sim/port_base.h"
#include "rtl_models/sim/ranks.h"

namespace warpline {
namespace {

/// Cycles for which ranks run apart at most: calls back to the host stay frequent.
constexpr Cycle kLongestRankWindow = 1024;
constexpr const char* kWindow = "a window of cycles";

/// What stands in a message of a window before the state of a port.
enum class Cargo : std::uint8_t { begun, popped };

/// What a rank says of itself at the end of its message of a window.
struct WindowEnd {
  Cycle next = kNever;  ///< no component is to be ticked before this cycle, with what the message brings
  Cycle now = 0;        ///< the cycle that was ticked last
  Cycle last_move = 0;
  std::uint32_t ships = 0;   ///< something is brought to somebody: then `next` may be too early
  std::uint32_t failed = 0;  ///< a component has thrown: nobody goes on
};

WindowEnd end_of(std::string_view& message, unsigned rank) {
  if (message.size() < sizeof(WindowEnd))
    throw ExchangeError("rank " + std::to_string(rank) + " has sent a window without its end");
  std::string_view end = message.substr(message.size() - sizeof(WindowEnd));
  message.remove_suffix(sizeof(WindowEnd));
  return take_value<WindowEnd>(end);
}

}  // namespace

void Engine::share_with(Exchange& exchange) {
  WARPLINE_EXPECT(components_.empty() && ranks_ == nullptr && mode_ == TickMode::lazy,
                  "ranks are known before components are made, and tick when it is due");
  ranks_ = std::make_unique<Ranks>(exchange);
  if (exchange.rank() != 0) begin_cluster(0);
}

unsigned Engine::rank() const {
  return ranks_ == nullptr ? 0 : ranks_->exchange.rank();
}

unsigned Engine::ranks() const {
  return ranks_ == nullptr ? 1 : ranks_->exchange.ranks();
}

bool Engine::all_ranks(bool here) const {
  return ranks_ == nullptr ? here : ranks_->exchange.all("a question to all", here);
}

void Engine::find_rank_window() {
  ranks_->window = kLongestRankWindow;
  ranks_->numbers.clear();
  for (std::size_t n = 0; n < ports_.size(); ++n) {
    WARPLINE_EXPECT(ports_[n]->is_direct(), "ranks share a netlist whose ports are joined directly");
    if (!ports_[n]->crosses_ranks()) continue;
    ranks_->numbers.emplace(ports_[n], static_cast<std::uint32_t>(n));
    ranks_->window = std::min(ranks_->window, ports_[n]->lookahead());
  }
  for (Cluster& c : clusters_) {
    c.begun.resize(threads_ + ranks());
    c.popped.resize(threads_ + ranks());
  }
}

/// All ranks have come to the end of a window: what crosses is handed over. Returns a cycle before which
/// nobody is to be ticked on any rank; `exact`: the first in which somebody is.
Cycle Engine::hand_over_to_ranks(bool& exact) {
  Ranks& r = *ranks_;
  const unsigned own = rank();
  WindowEnd end{next_tick(), now_, last_move()};
  std::vector<std::string> to(ranks());
  for (unsigned other = 0; other < ranks(); ++other) {
    if (other == own) continue;
    const auto ship = [&](Cargo what, std::vector<PortBase*>& ports) {
      for (PortBase* p : ports) {
        put_value(to[other], what);
        put_value(to[other], r.numbers.at(p));
        end.next = std::min(
            end.next, what == Cargo::begun ? p->ship_begun(to[other], r.ferry) : p->ship_popped(to[other]));
        end.ships = 1;
      }
      ports.clear();
    };
    for (Cluster& c : clusters_) {
      ship(Cargo::begun, c.begun[threads_ + other]);
      ship(Cargo::popped, c.popped[threads_ + other]);
    }
  }
  for (std::string& message : to) put_value(message, end);
  const std::vector<std::string> from = r.exchange.trade(kWindow, std::move(to));
  Cycle next = end.next;
  exact = end.ships == 0;
  for (unsigned other = 0; other < ranks(); ++other) {
    if (other == own) continue;
    std::string_view message = from[other];
    const WindowEnd there = end_of(message, other);
    if (there.failed != 0) throw RankFailed(other);
    next = std::min(next, there.next);
    now_ = std::max(now_, there.now);
    last_move_ = std::max(last_move_, there.last_move);
    exact = exact && there.ships == 0;
    while (!message.empty()) {
      const auto what = take_value<Cargo>(message);
      const auto number = take_value<std::uint32_t>(message);
      if (number >= ports_.size() || !ports_[number]->crosses_ranks())
        throw ExchangeError("rank " + std::to_string(other) + " sends to where nothing crosses");
      if (what == Cargo::begun)
        ports_[number]->land_begun(message, r.ferry, other);
      else
        ports_[number]->land_popped(message);
    }
  }
  return next;
}

/// Runs this rank's part of the cycles up to `last`. What a component throws ends the run on all
/// ranks, and leaves this one as it is.
void Engine::run_rank_window(Cycle last) {
  try {
    for (Cycle next = next_tick(); next <= last; next = next_tick())
      run_window(next, std::min(next + window_ - 1, last) + 1);
  } catch (...) {
    WindowEnd end;
    end.failed = 1;
    std::string message;
    put_value(message, end);
    static_cast<void>(ranks_->exchange.tell(kWindow, message));
    throw;
  }
}

RunOutcome Engine::run_with_ranks(Cycle limit) {
  ranks_->ferry.forget_shown();
  bool exact = false;
  Cycle scheduled = hand_over_to_ranks(exact);
  for (;;) {
    // A cycle that is too early and beyond the limit may stand for one that never comes.
    while (scheduled > limit && !exact) scheduled = hand_over_to_ranks(exact);
    if (scheduled == kNever) return run_dry();
    if (scheduled > limit) return RunOutcome::cycle_limit;
    const Cycle last = std::min({scheduled + ranks_->window - 1, limit, std::max(scheduled, progress_at_)});
    run_rank_window(last);
    scheduled = hand_over_to_ranks(exact);
    if (told_to_stop()) return RunOutcome::stopped;
  }
}

}  // namespace warpline
