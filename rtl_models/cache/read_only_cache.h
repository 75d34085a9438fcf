#pragma once

#include <deque>

#include "rtl_models/base/state_archive.h"
#include "rtl_models/cache/fill_patience.h"
#include "rtl_models/cache/first_level.h"
#include "rtl_models/cache/read_only_cache_parameters.h"
#include "rtl_models/cache/read_path.h"
#include "rtl_models/sim/channel.h"

namespace warpline {

/// Counters of a cache that is only read.
struct ReadOnlyCacheCounters {
  std::uint64_t sector_accesses = 0, sector_hits = 0, sector_misses = 0, merged_sectors = 0;
  std::uint64_t fetched_sectors = 0, evictions = 0, invalidations = 0, dead_fills = 0;
  std::uint64_t prefetch_requests = 0, first_level_hits = 0;

  template <class F>
  void visit(F&& f) const {
    f("sector_accesses", sector_accesses, "sectors", "tag look-ups: hits and misses");
    f("sector_hits", sector_hits, "sectors", "found valid");
    f("first_level_hits", first_level_hits, "sectors", "found in the first level, of a cache that has one");
    f("sector_misses", sector_misses, "sectors", "not found; merges included");
    f("merged_sectors", merged_sectors, "sectors", "misses that joined a fetch under way");
    f("fetched_sectors", fetched_sectors, "sectors", "requested from L2 by misses");
    f("prefetch_requests", prefetch_requests, "requests", "to L2 for the other line of a 256-byte block");
    f("evictions", evictions, "lines", "replaced to make room");
    f("invalidations", invalidations, "events", "times all lines were invalidated");
    f("dead_fills", dead_fills, "fills", "fills that an invalidation kept from installing");
  }
};

/// A cache of one SM that is only read: reads and invalidations, one request and one response per cycle,
/// hit under miss. Stores do not reach it, so its lines may be stale until they are invalidated: its
/// reads are of another proxy than the SM's stores (PTX ISA, "Proxies"). An SM has three:
///
/// - texture/non-coherent: serves `ld.global.nc` and textures. Acquires and ordinary fences do not
///   invalidate it; a grid boundary does.
/// - constant: serves `ld.const` and kernel parameters. Its lines are tagged by constant address,
///   (bank << 16) + byte; the banks themselves lie in video memory, behind L2.
/// - instruction: serves instruction fetch. Its lines are tagged by the address of the code in video
///   memory, and are stale once code is written, until SASS `CCTL.I.IVALL`.
///
/// An invalidation (maintenance::kInvalidate, no other part of maintenance) takes effect in order with the
/// requests around it, and is answered at once: reads before it are answered with what they ask for, but
/// their fills install nothing (R1); reads after it find nothing.
class ReadOnlyCache : public Component, public LooseTarget {
 public:
  ReadOnlyCache(Engine& engine, std::string name, ClockDomain domain,
                const ReadOnlyCacheParameters& parameters, bool with_data);

  static constexpr TakenCommands kTaken{false, false, maintenance::kInvalidate, false};
  In<RequestMessage> from_sm{*this, "from_sm"};
  Out<ResponseMessage> to_sm{*this, "to_sm"};
  Out<RequestMessage> to_crossbar{*this, "to_crossbar"};
  In<ResponseMessage> from_crossbar{*this, "from_crossbar"};

  Cycle tick(Cycle now) override;
  void perform(Request& r, Cycle& at) override;
  void restart() override {
    path_.clear();
    first_level_.clear();
  }
  void archive(StateArchive& a) override { a(path_, first_level_, counters_); }
  /// For debuggers, and tests that set up a scene.
  [[nodiscard]] ReadPath& path() { return path_; }
  /// For a debugger, as L1Lg has them. Nothing is ever newer here than in memory.
  void serve_debuggers() {}
  void overlay(PhysicalAddress address, std::uint8_t* bytes, unsigned count) {
    path_.overlay(address, bytes, count);
  }
  void update(PhysicalAddress address, const std::uint8_t* bytes, unsigned count) {
    path_.update(address, bytes, count);
  }
  [[nodiscard]] bool busy() const override {
    return !served_.empty() || !passing_.empty() || prefetch_ != nullptr || path_.misses().in_use() != 0;
  }
  void explain(std::vector<Wait>& waits) const override;
  void visit_gauges(GaugeVisitor& visitor) const override;
  void in_flight(std::vector<InFlight>& rows) const override;
  /// Drops all lines and kills the fills under way (R1).
  void invalidate() {
    path_.invalidate(LineKind::global);
    first_level_.clear();
    ++counters_.invalidations;
  }
  [[nodiscard]] const ReadOnlyCacheCounters& counters() const { return counters_; }

 private:
  bool accept(Request& r, Request*& fetch);
  bool take(Cycle now, Request*& fetch);
  [[nodiscard]] bool is_near(const Request& r);
  Request* fetch_for(const Request& r, const ReadOutcome& out);
  void handle_fill(Request& fetched);

  ReadPath path_;
  FirstLevel first_level_;
  unsigned next_latency_;
  /// Reads that the first level has not, on their way to the cache, in order; and when they are there.
  RequestQueue passing_;
  std::deque<Cycle> arrivals_;
  unsigned passing_invalidations_ = 0;  ///< among them
  ReadOnlyCacheCounters counters_;
  /// Fills wait when this many answers are queued, and requests when this many are. The limit of requests is
  /// higher, or fills could keep requests out for ever where answers leave slowly.
  static constexpr unsigned kFillLimit = 2;
  static constexpr unsigned kHitLimit = 4;
  static constexpr unsigned kPassingLimit = 16;
  FillPatience fill_patience_;
  RequestQueue served_;
  Request* prefetch_ = nullptr;  ///< to be sent after the fetch that it goes with
};

}  // namespace warpline
