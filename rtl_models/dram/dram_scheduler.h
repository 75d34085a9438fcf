#pragma once

#include <memory>

#include "rtl_models/dram/dram_bus.h"
#include "rtl_models/dram/dram_queue.h"

namespace warpline {

/// The order in which the requests of one DRAM channel are served. A request is ready when its row is open;
/// the scheduler holds those that are. It never waits: DramController gives the command of the request chosen
/// as soon as the bus allows.
class DramScheduler {
 public:
  virtual ~DramScheduler() = default;

  /// Whether a request for the open row of a bank goes before those that wait there for another, the oldest
  /// of them for `waited` edges.
  [[nodiscard]] virtual bool may_pass(std::uint64_t waited) const = 0;
  /// Whether all requests for a row that opens go along with the oldest, or only those that no request for
  /// another row of the bank came before.
  [[nodiscard]] virtual bool gathers_row() const = 0;
  /// `entry` is ready. Returns whether choose() may say another thing than before.
  virtual bool add(std::uint32_t entry) = 0;
  struct Choice {
    std::uint32_t entry = DramQueue::kNone;
    std::uint64_t from = 0;            ///< its command may be given from this edge on
    std::uint64_t otherwise = kNever;  ///< from this edge on another one may go earlier, as time passes
    std::uint64_t until = kNever;      ///< from this edge on it may not be chosen, if it has not gone
  };
  /// The request to be served next, at edge `t` or later, if it is ready.
  [[nodiscard]] virtual Choice choose(std::uint64_t t, const DramBus& bus) const = 0;
  /// `entry`, which was chosen, is served.
  virtual void serve(std::uint32_t entry) = 0;
  /// All that are ready.
  [[nodiscard]] virtual std::vector<std::uint32_t> ready() const = 0;
  /// None is ready any more: their rows are closed.
  virtual void clear() = 0;
};

/// What DramParameters::scheduler names, for the requests of `queue`, which outlives it.
[[nodiscard]] std::unique_ptr<DramScheduler> make_dram_scheduler(const DramParameters& parameters,
                                                                 DramQueue& queue);

}  // namespace warpline
