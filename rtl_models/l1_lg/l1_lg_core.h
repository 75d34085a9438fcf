#pragma once

#include <array>
#include <cstdint>

#include "rtl_models/cache/read_path.h"
#include "rtl_models/l1_lg/given_up_bytes.h"
#include "rtl_models/l1_lg/l1_lg_parameters.h"
#include "rtl_models/sim/request.h"

namespace warpline {

/// Counters of an L1 local/global cache.
struct L1LgCounters {
  std::uint64_t sector_accesses = 0, sector_hits = 0, sector_misses = 0, merged_sectors = 0;
  /// Look-ups by reads that are no prefetches, and those that hit, by Reader.
  struct Loads {
    std::uint64_t sectors = 0, hits = 0;
  };
  std::array<Loads, kReaders> loads{};
  std::uint64_t fetched_sectors = 0, forwarded_sectors = 0, stored_sectors = 0, bypassed_sectors = 0;
  std::uint64_t atomics = 0, atomic_sectors = 0, evictions = 0, writebacks = 0, writeback_sectors = 0;
  std::uint64_t saved_writebacks = 0, prefetch_requests = 0;
  std::uint64_t prefetched_sectors = 0, dropped_prefetches = 0, controls = 0;
  std::uint64_t line_operations = 0, reset_lines = 0;
  std::uint64_t invalidations = 0, local_invalidations = 0, dead_fills = 0;

  [[nodiscard]] const Loads& of(Reader reader) const { return loads[static_cast<unsigned>(reader)]; }
  [[nodiscard]] std::uint64_t load_sectors() const {
    return loads[0].sectors + loads[1].sectors + loads[2].sectors;
  }
  [[nodiscard]] std::uint64_t load_sector_hits() const {
    return loads[0].hits + loads[1].hits + loads[2].hits;
  }

  template <class F>
  void visit(F&& f) const {
    f("sector_accesses", sector_accesses, "sectors", "tag look-ups: hits and misses");
    f("sector_hits", sector_hits, "sectors", "found valid");
    f("sector_misses", sector_misses, "sectors", "not found; merges included");
    f("merged_sectors", merged_sectors, "sectors", "misses that joined a fetch under way");
    f("load_sectors", load_sectors(), "sectors", "look-ups by loads");
    f("load_sector_hits", load_sector_hits(), "sectors", "look-ups by loads that hit");
    f("noncoherent_sectors", of(Reader::noncoherent).sectors, "sectors",
      "of those look-ups, by ld.global.nc, where L1 serves it");
    f("noncoherent_sector_hits", of(Reader::noncoherent).hits, "sectors", "of those, hits");
    f("texture_sectors", of(Reader::texture).sectors, "sectors",
      "of the look-ups by loads, by texture loads, where L1 serves them");
    f("texture_sector_hits", of(Reader::texture).hits, "sectors", "of those, hits");
    f("fetched_sectors", fetched_sectors, "sectors", "requested from L2 by misses");
    f("prefetched_sectors", prefetched_sectors, "sectors", "of those, by prefetch instructions");
    f("dropped_prefetches", dropped_prefetches, "requests", "prefetch instructions that found no room");
    f("controls", controls, "requests", "prefetches for L2, priorities and discards passed to L2");
    f("forwarded_sectors", forwarded_sectors, "sectors", "read at L2 without a look-up");
    f("stored_sectors", stored_sectors, "sectors", "written through to L2");
    f("bypassed_sectors", bypassed_sectors, "sectors", "of those, by .cg, .wt and .mmio: without a look-up");
    f("atomics", atomics, "requests", "atomics and reductions passed to L2");
    f("atomic_sectors", atomic_sectors, "sectors", "of those requests");
    f("evictions", evictions, "lines", "replaced to make room");
    f("writebacks", writebacks, "lines", "dirty local lines written back");
    f("writeback_sectors", writeback_sectors, "sectors", "of those lines");
    f("saved_writebacks", saved_writebacks, "lines", "dirty local lines evicted after their last use");
    f("prefetch_requests", prefetch_requests, "requests", "to L2 for the other line of a 256-byte block");
    f("line_operations", line_operations, "requests", "CCTL WB, IV and RS of a line");
    f("reset_lines", reset_lines, "lines", "dirty lines that a CCTL RS dropped without a write-back");
    f("invalidations", invalidations, "events", "times all global lines were invalidated");
    f("local_invalidations", local_invalidations, "events", "times all local lines were invalidated");
    f("dead_fills", dead_fills, "fills", "fills that an ordering rule kept from installing");
  }
};

/// What the L1 local/global cache does: write-through and never allocating for global stores,
/// write-back for local ones, incoherent with other SMs (docs/ordering.md).
class L1LgCore {
 public:
  L1LgCore(const L1LgParameters& parameters, bool with_data)
      : path_(parameters.geometry, parameters.miss_registers, with_data),
        given_up_(parameters.poison_last_use),
        sets_(parameters.geometry.sets),
        set_bytes_(parameters.geometry.ways * kLineBytes),
        update_on_store_(parameters.update_on_store) {}

  /// Whether a read is looked up here at all; if not it goes to L2 as it is, and has dropped the
  /// line on its way if it is strong beyond the CTA (R1) or `.cv`. Reads of `.nc` and of textures are weak,
  /// and of other proxies: they always are.
  [[nodiscard]] bool serves(const Request& r) {
    if (r.local || (!r.no_l1 && !r.beyond_cta() && !rereads(r))) return true;
    if (r.reader != Reader::load) return true;
    forward(r);
    return false;
  }
  /// Pre: serves(r).
  [[gnu::always_inline]] ReadOutcome read(Request& r) {
    ByteMask used;  // before the look-up lays down there what it finds
    if (r.last_use && given_up_.poisons()) used = r.bytes;
    const ReadOutcome out = path_.read(r);
    if (out.kind == ReadOutcome::Kind::hit && !r.local) {
      const unsigned sectors = sector_count(r.sectors);
      counters_.sector_accesses += sectors;
      counters_.sector_hits += sectors;
      L1LgCounters::Loads& loads = counters_.loads[static_cast<unsigned>(r.reader)];
      loads.sectors += sectors;
      loads.hits += sectors;
    } else if (out.kind != ReadOutcome::Kind::stall) {
      finish_read(r, out);
      if (used.any()) given_up_.use_last(tag_of(r), used);
    }
    return out;
  }
  /// A fetch came back; see ReadPath::fill.
  Evicted fill(const Request& fetched, RequestList& served);
  /// A prefetch for L2 has been sent.
  void count_prefetch() { ++counters_.prefetch_requests; }
  /// A store to a global or surface line: updates or drops the present line and kills its fill (R1). The
  /// caller sends it on to L2.
  void store_global(const Request& r);
  /// A store to a local line, kept here until it is evicted.
  Evicted store_local(const Request& r);
  /// An atomic or reduction on its way to L2 (R1).
  void pass_atomic(const Request& r);
  /// A prefetch into this cache; see ReadPath::prefetch.
  ReadOutcome prefetch(const Request& r);
  /// Another control request on its way to L2: a discard drops the line here, as a store might (R1).
  void pass_control(const Request& r) {
    ++counters_.controls;
    if (r.control == LineControl::discard) path_.drop_line(tag_of(r));
  }
  /// CCTL WB, IV or RS of one line: returns what is to be written back of it.
  Evicted control_line(const Request& r);
  /// What is to be written back of the first dirty local line at or after index `from`, which becomes clean;
  /// `from` moves past it. If there is none, the result says that nothing happened.
  Evicted clean_next_local(std::uint32_t& from) {
    const TagArray& tags = path_.tags();
    while (from < tags.lines() && !(is_local(tags.state(from)) && tags.state(from).has_dirty)) ++from;
    return from < tags.lines() ? clean(from++) : Evicted{};
  }
  /// Drops all local lines and kills their fills (R1). Pre: none is dirty.
  void invalidate_local() {
    path_.invalidate(LineKind::local);
    ++counters_.local_invalidations;
  }
  /// Drops all global lines and kills their fills (R1, R6). Those of the surface proxy stay.
  void invalidate_global() {
    path_.invalidate(LineKind::global);
    ++counters_.invalidations;
  }
  /// Drops all lines of the surface proxy and kills their fills (R1, R8).
  void invalidate_surfaces() { path_.invalidate(LineKind::surface); }
  /// Drops all local lines, dirty ones without a write-back: the threads that they belong to have ended.
  /// Pre: no local fetch is under way.
  void forget_local();
  /// See L1Lg::leave_to_shared. Pre: no fetch is under way.
  void leave_to_shared(std::uint64_t bytes);
  /// Drops every line, dirty ones too. Pre: no fill is under way.
  void clear() {
    path_.clear();
    given_up_.clear();
  }

  template <class Archive>
  void archive(Archive& a) {
    a(path_, given_up_, counters_);
  }
  /// For debuggers, and tests that set up a scene.
  [[nodiscard]] ReadPath& path() { return path_; }
  [[nodiscard]] const L1LgCounters& counters() const { return counters_; }
  [[nodiscard]] const MissTable& misses() const { return path_.misses(); }

 private:
  [[nodiscard]] static bool is_local(const LineState& s) {
    return s.kind == static_cast<std::uint64_t>(LineKind::local);
  }
  [[nodiscard]] static bool rereads(const Request& r) { return r.cache_operator == CacheOperator::cv; }
  void forward(const Request& r);
  /// Counts a read that is local or a miss, and honours the last-use hint of a local read.
  void finish_read(Request& r, const ReadOutcome& out);
  void count_look_up(const Request& r, SectorMask hits) {
    counters_.sector_accesses += sector_count(r.sectors);
    counters_.sector_hits += sector_count(hits);
    counters_.sector_misses += sector_count(r.sectors) - sector_count(hits);
  }
  Evicted clean(std::uint32_t index);
  void settle_eviction(Evicted& evicted);
  void finish_local_read(Request& r, const ReadOutcome& out);
  ReadPath path_;
  GivenUpBytes given_up_;
  unsigned sets_;       ///< of all its storage
  unsigned set_bytes_;  ///< of one
  bool update_on_store_;
  L1LgCounters counters_;
};

}  // namespace warpline
