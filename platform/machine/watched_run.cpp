#include "platform/machine/watched_run.h"

#include <algorithm>
#include <vector>

#include "platform/machine/netlist.h"
#include "platform/machine/netlist_backend.h"
#include "platform/machine/system.h"
#include "rtl_models/sim/channel.h"
#include "rtl_models/sim/engine.h"
#include "rtl_models/sim/request.h"
#include "rtl_models/sm/sm.h"

namespace warpline {
namespace {

/// Cycles that pass before the first look. A look costs a program that gets on next to nothing: it ends with
/// the first thing that changes memory, and the next one comes when twice the time has passed.
constexpr Cycle kFirstLook = 32768;
/// Of a look, from when on results are asked for; twice as many cycles each time.
constexpr Cycle kFirstStep = 256;

class Watch {
 public:
  Watch(NetlistBackend& backend, System& system) : backend_(backend) {
    for (unsigned gpu = 0; gpu < system.gpus(); ++gpu)
      for (const Netlist::SmCluster& c : system.gpu(gpu).clusters())
        if (!c.sm->cluster().elsewhere) sms_.push_back(c.sm.get());
    for (Sm* sm : sms_) sm->begin_watch();
    began_ = backend.engine().now();
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() {
    for (Sm* sm : sms_) sm->end_watch();
  }
  /// Whether it is of no use any more: something has changed, or everything has ended and only idle ticks are
  /// left.
  [[nodiscard]] bool failed() const {
    if (all_ranks(std::none_of(sms_.begin(), sms_.end(), [](const Sm* sm) { return sm->busy(); })))
      return true;
    return !all_ranks(std::none_of(sms_.begin(), sms_.end(), [](const Sm* sm) {
      return sm->watch() == nullptr ? sm->busy() : sm->watch()->changed();
    }));
  }
  /// Whether nothing but repetitions will ever come.
  [[nodiscard]] bool stands_still() {
    if (!armed_) {
      arm();
      return false;
    }
    // What a warp that has exited still had under way may have led to others' since.
    const bool still =
        nothing_under_way() && all_ranks(std::all_of(sms_.begin(), sms_.end(), [](const Sm* sm) {
          return sm->watch() == nullptr || sm->only_repeats();
        }));
    for (Sm* sm : sms_)
      if (sm->watch() != nullptr) sm->watch()->renew();
    return still;
  }

 private:
  /// Whether nothing is on its way that may change something.
  [[nodiscard]] bool nothing_under_way() const {
    if (!all_ranks(std::all_of(sms_.begin(), sms_.end(), [](const Sm* sm) { return sm->changes_nothing(); })))
      return false;
    const Standstill now = backend_.standstill();
    for (const InFlight& row : now.in_flight) {
      const Command command = row.request->command;
      const bool older = row.made == kNever || row.made <= began_;
      if (command != Command::read && command != Command::maintain && (command != Command::atomic || older))
        return false;
    }
    return all_ranks(only_requests_under_way());
  }
  /// CTAs on their way to an SM, or an SM's reports, are no requests.
  [[nodiscard]] bool only_requests_under_way() const {
    std::vector<InFlight> requests;
    for (const PortBase* p : backend_.engine().ports()) {
      if (!p->receives() || p->occupancy() == 0) continue;
      const auto taker = std::find(sms_.begin(), sms_.end(), &p->owner());
      const std::size_t before = requests.size();
      p->in_flight(requests);
      if (requests.size() == before && (taker == sms_.end() || !(*taker)->next_kernel_waits())) return false;
    }
    return true;
  }
  /// Once whatever was under way when the watch began has come to its end, repetitions count.
  void arm() {
    if (!nothing_under_way()) return;
    for (Sm* sm : sms_)
      if (sm->watch() != nullptr) sm->watch()->arm();
    armed_ = true;
  }

  /// Of several ranks, each asks of its own SMs.
  [[nodiscard]] bool all_ranks(bool here) const { return backend_.engine().all_ranks(here); }

  NetlistBackend& backend_;
  std::vector<Sm*> sms_;
  Cycle began_ = 0;
  bool armed_ = false;
};

}  // namespace

RunOutcome run_watched(NetlistBackend& backend, System& system, Cycle limit, Standstill& standstill) {
  const Cycle start = backend.engine().now();
  const auto after = [limit](Cycle from, Cycle cycles) { return from + std::min(cycles, limit - from); };
  if (start >= limit) return backend.run_until(limit);
  for (Cycle at = after(start, kFirstLook);; at = after(at, at - start)) {
    if (const RunOutcome o = backend.run_until(at); o != RunOutcome::cycle_limit || at == limit) return o;
    Watch watch(backend, system);
    for (Cycle step = kFirstStep; !watch.failed(); step *= 2) {
      at = after(at, step);
      if (const RunOutcome o = backend.run_until(at); o != RunOutcome::cycle_limit || at == limit) return o;
      if (watch.failed() || !watch.stands_still()) continue;
      standstill = backend.standstill();
      standstill.repeats = true;
      return RunOutcome::deadlock;
    }
  }
}

}  // namespace warpline
