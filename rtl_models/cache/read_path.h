#pragma once

#include <cstdint>
#include <vector>

#include "rtl_models/base/contract.h"
#include "rtl_models/cache/line_store.h"
#include "rtl_models/cache/line_view.h"
#include "rtl_models/cache/miss_table.h"
#include "rtl_models/cache/tag_array.h"
#include "rtl_models/sim/request.h"

namespace warpline {

/// What becomes of a read that a cache looked up.
struct ReadOutcome {
  enum class Kind : std::uint8_t {
    hit,    ///< all data is in the request
    wait,   ///< the request waits in the miss register; `fetch` sectors are to be fetched
    stall,  ///< no miss register is free; nothing happened, ask again
  };
  Kind kind = Kind::hit;
  SectorMask hits = 0;   ///< sectors found valid
  SectorMask fetch = 0;  ///< sectors to be requested from the level below; may be 0 (merged)
  std::uint16_t entry = MissTable::kNone;  ///< to be the `token` of the fetch
};

/// A line that had to make room, with what is to be written back of it.
struct Evicted {
  bool happened = false;
  ByteMask dirty;
  PhysicalAddress home;
  std::uint64_t number = 0;            ///< of the line, if dirty
  bool last_use = false;               ///< dirty, but its write-back is not owed
  const std::uint8_t* data = nullptr;  ///< its 128 bytes, valid until the next call; null: clean or tags-only
};

/// The part that every cache of this family shares: look up, miss registers, fills. Tags are
/// virtual line numbers, and whether the line is the surface proxy's; lines are allocated when their fill
/// arrives, so a pending line occupies no way. A fill always serves the requests that waited for it. It is
/// installed only if it is live (R1), and if at least one of these requests did not ask for no_allocate.
class ReadPath {
 public:
  ReadPath(const CacheGeometry& geometry, unsigned miss_registers, bool with_data)
      : tags_(geometry),
        lines_(tags_.lines(), with_data),
        misses_(miss_registers),
        homes_(with_data ? tags_.lines() : 0) {}

  /// From now on fetches are of whole blocks of so many sectors of a line, a power of two.
  void fetch_blocks(unsigned sectors) { block_sectors_ = sectors; }

  /// Looks up `r.sectors` of `r.virtual_line`. On a hit the data is copied. Bytes that are dirty in
  /// a sector that misses are copied too and kept from the fill: they are newer than it.
  [[gnu::always_inline]] ReadOutcome read(Request& r) {
    const std::uint64_t number = tag_of(r);
    const std::uint32_t index = tags_.find(number, number);
    if (index == TagArray::kAbsent) return r.sectors == 0 ? ReadOutcome{} : miss(r, index, 0);
    const auto hits = static_cast<SectorMask>(tags_.state(index).valid_sectors() & r.sectors);
    if (hits != r.sectors) return miss(r, index, hits);
    tags_.use(index, r.l1_priority);
    if (const std::uint8_t* line = lines_.at(index); line != nullptr)
      copy_sectors(r.data.data(), line, r.sectors);
    return {ReadOutcome::Kind::hit, hits, 0, MissTable::kNone};
  }
  /// Whether all sectors of the request are here.
  [[nodiscard]] bool has(const Request& r) {
    const std::uint64_t number = tag_of(r);
    const std::uint32_t index = tags_.find(number, number);
    return index != TagArray::kAbsent && (r.sectors & ~tags_.state(index).valid_sectors()) == 0;
  }
  /// Looks up the same sectors to have what is missing fetched, which nobody waits for: `r` is answered, and
  /// a stall means only that nothing is to be fetched for it.
  ReadOutcome prefetch(const Request& r);
  /// The fetch with `fetched.token` has come back. Requests that need nothing more go to `served`,
  /// in arrival order. Returns the line that was replaced, if any.
  Evicted fill(const Request& fetched, RequestList& served);
  /// A line for `r`, evicting another; the state is fresh but for its kind and class.
  std::uint32_t allocate(const Request& r, EvictionPriority priority, Evicted& evicted);

  /// R1: forgets the present line, if any, and marks its fill under way dead.
  void drop_line(std::uint64_t number);
  /// R1: marks the fill under way for the line dead.
  void kill_fill(std::uint64_t number) {
    if (misses_.in_use() == 0) return;
    if (const std::uint16_t e = misses_.find(number); e != MissTable::kNone) misses_.kill(e);
  }
  /// Drops all lines of this kind and marks their fills dead. Returns the number dropped.
  /// Pre: none of them is dirty.
  std::uint64_t invalidate(LineKind kind);

  /// Drops all lines, dirty ones too. Pre: no fill is under way.
  void clear() {
    WARPLINE_EXPECT(misses_.in_use() == 0, "a cache is cleared at rest");
    tags_.clear();
    present_ = {};
  }

  /// For tests that set up a scene: the sectors of `r` are here, with the bytes in `r.data`, as a fill would
  /// have left them. Pre: quiescent; no dirty line has to make room.
  void put(const Request& r);

  /// For a debugger: the line of this tag (see tag_of).
  [[nodiscard]] LineView look(std::uint64_t tag) {
    LineView view = view_of(tags_, misses_, tag, tag);
    if (view.present) view.bytes = lines_.at(tags_.find(tag, tag));
    return view;
  }
  /// For a debugger: lays the dirty bytes of present lines over `bytes`, which are memory's, at `address`
  /// and on, within one line.
  void overlay(PhysicalAddress address, std::uint8_t* bytes, unsigned count);
  /// For a debugger: memory has been written; so is what is here of it, by whatever virtual address.
  void update(PhysicalAddress address, const std::uint8_t* bytes, unsigned count);

  template <class Archive>
  void archive(Archive& a) {
    // Pre: no fill is under way.
    a(tags_, lines_, misses_, present_, dead_fills_).fixed(homes_);
  }
  [[nodiscard]] TagArray& tags() { return tags_; }
  [[nodiscard]] LineStore& lines() { return lines_; }
  [[nodiscard]] const MissTable& misses() const { return misses_; }
  /// Fills that came back dead so far.
  [[nodiscard]] std::uint64_t dead_fills() const { return dead_fills_; }

 private:
  /// The rest of read(): `r` finds `hits` of its sectors, and not all, in its line at `index`, if that is not
  /// kAbsent.
  [[nodiscard, gnu::noinline]] ReadOutcome miss(Request& r, std::uint32_t index, SectorMask hits);
  /// Has `missing` sectors of the line of `r` fetched, but for those that are on their way. False: no miss
  /// register is free.
  [[gnu::always_inline]] inline bool want(const Request& r, SectorMask missing, ReadOutcome& out);
  /// The blocks of these sectors, but for what is here.
  [[nodiscard]] SectorMask whole_blocks(std::uint64_t number, SectorMask missing);
  [[gnu::always_inline]] inline void serve_waiters(MissTable::Entry& entry, const Request& fetched,
                                                   RequestList& served);
  [[gnu::always_inline]] inline void install(const MissTable::Entry& entry, const Request& fetched,
                                             Evicted& evicted);

  unsigned block_sectors_ = 1;
  TagArray tags_;
  LineStore lines_;
  MissTable misses_;
  std::array<std::uint64_t, kLineKinds> present_{};  ///< lines present, by kind
  std::uint64_t dead_fills_ = 0;
  std::vector<PhysicalAddress>
      homes_;  ///< of lines present, by index, for a debugger; empty in a tags-only run
  std::array<std::uint8_t, kLineBytes> victim_{};  ///< bytes of the line evicted last, if dirty
};

}  // namespace warpline
