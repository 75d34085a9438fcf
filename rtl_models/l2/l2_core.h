#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "rtl_models/base/bits.h"
#include "rtl_models/base/divider.h"
#include "rtl_models/cache/line_hash.h"
#include "rtl_models/cache/line_view.h"
#include "rtl_models/cache/miss_table.h"
#include "rtl_models/cache/tag_array.h"
#include "rtl_models/l2/l2_parameters.h"
#include "rtl_models/l2/near_copies.h"
#include "rtl_models/sim/cluster_address.h"
#include "rtl_models/sim/memory_image.h"
#include "rtl_models/sim/request.h"

namespace warpline {

/// Counters of one L2 slice.
struct L2Counters {
  std::uint64_t sector_accesses = 0, sector_hits = 0, sector_misses = 0, merged_sectors = 0;
  std::uint64_t read_sectors = 0, write_sectors = 0, atomic_sectors = 0, direct_sectors = 0;
  std::uint64_t fetched_sectors = 0, prefetched_sectors = 0;
  std::uint64_t evictions = 0, writebacks = 0, writeback_sectors = 0, saved_writebacks = 0;
  std::uint64_t sysmem_fetched_sectors = 0, sysmem_writebacks = 0, sysmem_discards = 0, dead_fills = 0;
  std::uint64_t atomic_operations = 0;
  std::uint64_t dropped_prefetches = 0, discarded_lines = 0, copied_lines = 0;
  std::uint64_t near_copy_sectors = 0, far_read_sectors = 0, far_merged_sectors = 0, far_write_sectors = 0;
  std::uint64_t copies_dropped = 0, copies_evicted = 0;

  template <class F>
  void visit(F&& f) const {
    f("sector_accesses", sector_accesses, "sectors", "tag look-ups: hits and misses");
    f("sector_hits", sector_hits, "sectors", "found valid");
    f("sector_misses", sector_misses, "sectors", "not found; merges included");
    f("merged_sectors", merged_sectors, "sectors", "misses that joined a fetch under way");
    f("read_sectors", read_sectors, "sectors", "look-ups by reads");
    f("write_sectors", write_sectors, "sectors", "look-ups by writes");
    f("atomic_sectors", atomic_sectors, "sectors", "look-ups by atomics and reductions");
    f("direct_sectors", direct_sectors, "sectors",
      "accesses without a look-up: over the link, and of video memory by .mmio");
    f("fetched_sectors", fetched_sectors, "sectors", "read from DRAM");
    f("prefetched_sectors", prefetched_sectors, "sectors", "of those, that nobody waits for: prefetches");
    f("dropped_prefetches", dropped_prefetches, "requests", "prefetch instructions that found no room");
    f("evictions", evictions, "lines", "replaced to make room");
    f("copied_lines", copied_lines, "lines",
      "left here by copies and fills of the host's, without a look-up");
    f("writebacks", writebacks, "lines", "dirty lines written back to DRAM, and writes by .mmio");
    f("writeback_sectors", writeback_sectors, "sectors", "of those lines");
    f("saved_writebacks", saved_writebacks, "lines", "dirty local lines that a last use made clean");
    f("discarded_lines", discarded_lines, "lines", "dirty lines that a discard made clean");
    f("sysmem_fetched_sectors", sysmem_fetched_sectors, "sectors", "read from system memory");
    f("sysmem_writebacks", sysmem_writebacks, "lines", "dirty lines written back to system memory");
    f("sysmem_discards", sysmem_discards, "lines", "system-memory copies discarded");
    f("dead_fills", dead_fills, "fills", "fills that a discard or an error kept from installing");
    f("atomic_operations", atomic_operations, "operations", "scalar operations of the atomics unit");
    f("near_copy_sectors", near_copy_sectors, "sectors",
      "of sector_hits, those that SMs of the other partition found in copies near them");
    f("far_read_sectors", far_read_sectors, "sectors", "sent to the other partition for reads of its SMs");
    f("far_merged_sectors", far_merged_sectors, "sectors",
      "read by its SMs that were on their way there already");
    f("far_write_sectors", far_write_sectors, "sectors",
      "written, or changed by atomics, by SMs of the other partition");
    f("copies_dropped", copies_dropped, "lines", "copies in the other partition that a write took away");
    f("copies_evicted", copies_evicted, "lines", "copies there that made room");
  }
};

/// Look-ups and hits of one declared buffer in this slice.
struct RegionCounters {
  std::uint64_t sector_accesses = 0, sector_hits = 0;
  RegionCounters& operator+=(const RegionCounters& more) {
    sector_accesses += more.sector_accesses;
    sector_hits += more.sector_hits;
    return *this;
  }
};

/// What must happen after the core has looked at a request.
struct L2Outcome {
  enum class Kind : std::uint8_t {
    done,     ///< answer it
    wait,     ///< it waits in a miss register
    pass_on,  ///< send it on over the link as it is; it is answered when it comes back
    stall,    ///< no miss register is free; nothing happened
  };
  Kind kind = Kind::done;
  SectorMask fetch = 0;                    ///< sectors to be fetched from the line's memory
  std::uint16_t entry = MissTable::kNone;  ///< to be the fetch's token

  /// Not trivial, so that it is returned in memory: for a register, compilers assemble it from bytes just
  /// stored, which stalls the host longer than a look-up takes.
  ~L2Outcome() {}  // NOLINT(modernize-use-equals-default): that would be trivial
};

/// A line to be written back.
struct WriteBack {
  PhysicalAddress line;
  ByteMask bytes;
  const std::uint8_t* data =
      nullptr;  ///< null where the bytes are in the backing store already, or tags-only
};

/// Collects the write-backs that one call causes.
class WriteBackSink {
 public:
  virtual void write_back(const WriteBack& w) = 0;

 protected:
  ~WriteBackSink() = default;
};

/// The memory behind a slice, where it keeps bytes of its own.
class MemoryBehind {
 public:
  /// Reads a line of video memory as it is once all write-backs so far have arrived. False: it cannot say.
  virtual bool peek(PhysicalAddress line, std::uint8_t* bytes) = 0;

 protected:
  ~MemoryBehind() = default;
};

/// What one L2 slice does: sectored, write-back, point of coherence of the GPU. The bytes of
/// video memory live in the backing store, which only L2 reaches, so a video-memory access is
/// performed when it is looked up, whether its sectors are here yet or not; the miss costs time. Where the
/// memory keeps bytes of its own, the backing store is what L2 knows of them: a sector that is to be fetched
/// is read from the memory first. Exact accesses of video memory (`.mmio`) go through to the memory behind:
/// neither is looked up, nor leaves anything here. System-memory lines are
/// copies, and accesses to one with a fetch under way wait for it in order (R7). All other addresses are
/// passed on, and never cached. Of two partitions, SMs of the other one read video memory from copies near
/// them (NearCopies). A write to a copy is answered when the copy has it. An address beyond the end of system
/// memory is found out only when the copy is written back: the link counts the error.
class L2Core {
 public:
  /// `vidmem` is the backing store; null in a tags-only run. `key_divisor`: consecutive lines of one slice
  /// are this many line numbers apart.
  L2Core(const L2Parameters& parameters, unsigned key_divisor, MemoryImage* vidmem)
      : tags_(parameters.geometry),
        misses_(parameters.miss_registers),
        vidmem_(vidmem),
        poison_discarded_(parameters.poison_discarded),
        key_divisor_(key_divisor),
        slice_shift_(parameters.slice_shift),
        // Where the number of slices is a power of two, hashed numbers divide as the others do.
        hash_(is_power_of_two(key_divisor) ? LineHash() : LineHash(parameters.hash_masks)) {
    if (parameters.partitions.count == 2) near_ = std::make_unique<NearCopies>(parameters);
  }

  /// Which slice of which GPU it is of; number 0 of GPU 0 unless told. It tells which SMs are near.
  struct Place {
    unsigned gpu = 0, slice = 0;
    GpcShape shape;
  };
  void set_place(const Place& place, const L2Parameters& parameters) {
    place_ = place;
    partition_ = place.slice >= parameters.slices - parameters.slices / 2 ? 1 : 0;
  }
  /// Whether an SM of this GPU is in the other partition. Without partitions, none is.
  [[nodiscard]] bool is_far(unsigned sm) const {
    if (near_ == nullptr) return false;
    const unsigned tpc = sm / place_.shape.sms_per_tpc;
    return (place_.shape.gpcs > 1 ? tpc % place_.shape.gpcs : tpc) % 2 != partition_;
  }

  /// Performs or passes on a read, write, atomic or reduction.
  L2Outcome access(Request& r, WriteBackSink& sink);
  /// Performs a control request, in order with the accesses to its line. Never stalls, passes nothing on.
  L2Outcome control(Request& r);
  /// What a poisoned discard leaves in every byte of the line.
  static constexpr std::uint8_t kDiscarded = 0xDC;
  /// A fetch came back; if with an error, it installs nothing and those who waited for it get its status (an
  /// atomic has been performed all the same). Served requests go to `served`; those that must be looked at
  /// again to `again`, in order, and before any that earlier calls left there.
  void fill(const Request& fetched, RequestList& served, RequestList& again, WriteBackSink& sink);
  /// `r`, which is answered here and goes to the other partition (Request::far): what of it is to be sent
  /// there. What has an entry waits until arrive() serves it; what has none is answered with what is sent.
  NearCopies::Transfer send_far(Request& r);
  void arrive(const NearCopies::Transfer& transfer, RequestList& served);
  /// Writes back all dirty system-memory bytes; with `discard` drops the copies and kills their fills (R7).
  void maintain_sysmem(bool discard, WriteBackSink& sink);

  /// For tests that set up a scene: the sectors of `r` are here, with the bytes in `r.data`, as a fill would
  /// have left them. Pre: quiescent; no line has to make room.
  void put(const Request& r);
  /// A copy engine has written a whole line of video memory, here and behind: it stays, clean, unless it took
  /// the place of something that must be written back first. Pre: quiescent.
  void leave(PhysicalAddress line);
  /// Drops every line, dirty ones too. Pre: no fetch is under way.
  void clear();

  template <class Archive>
  void archive(Archive& a) {
    // Pre: no fetch is under way.
    a(tags_, misses_, sysmem_lines_, regions_, counters_);
    if (near_ != nullptr) a(*near_);
    std::uint64_t count = 0;
    for (const auto& copy : copies_) count += copy != nullptr;
    a(count);
    if (a.saves()) {
      for (std::uint32_t i = 0; i < copies_.size(); ++i)
        if (copies_[i] != nullptr) a(i, copies_[i]->bytes);
      return;
    }
    copies_.clear();
    if (count != 0) copies_.resize(tags_.lines());
    for (std::uint32_t i = 0; count != 0; --count) {
      a.index(i, copies_.size());
      copies_[i] = std::make_unique<Copy>();
      a(copies_[i]->bytes);
    }
  }
  /// For a debugger: a line of this slice. Bytes of video memory are those of the backing store.
  [[nodiscard]] LineView look(PhysicalAddress line) const;
  /// For a debugger: lays the dirty bytes of a copy of system memory over `bytes`, which are that memory's,
  /// at `address` and on, within one line.
  void overlay(PhysicalAddress address, std::uint8_t* bytes, unsigned count);
  /// For a debugger: system memory has been written; so is the copy of it.
  void update(PhysicalAddress address, const std::uint8_t* bytes, unsigned count);

  /// Has the bytes of what is fetched of video memory come from `memory`; null: they are in the backing
  /// store. It outlives its use.
  void fetch_bytes_from(MemoryBehind* memory) { memory_ = memory; }
  /// The backing store of video memory; null in a tags-only run.
  [[nodiscard]] MemoryImage* vidmem() const { return vidmem_; }
  void set_regions(std::size_t count) { regions_.resize(count + 1); }
  [[nodiscard]] const std::vector<RegionCounters>& regions() const { return regions_; }
  [[nodiscard]] const L2Counters& counters() const { return counters_; }
  [[nodiscard]] const MissTable& misses() const { return misses_; }
  /// Null without partitions.
  [[nodiscard]] const NearCopies* near() const { return near_.get(); }

 private:
  struct Copy {
    std::array<std::uint8_t, kLineBytes> bytes;
  };
  /// What picks the set of a line. Of slices whose number is no power of two, consecutive lines have all sets
  /// alike only if their number is divided as it is hashed.
  [[nodiscard]] std::uint64_t key(std::uint64_t number) const {
    const std::uint64_t above = number >> slice_shift_,
                        below = number & ((std::uint64_t{1} << slice_shift_) - 1);
    return key_divisor_.quotient(above ^ hash_.of(number)) << slice_shift_ | below;
  }
  /// Brings the backing store up to date where sectors are to be fetched: not what is dirty here, nor what
  /// was brought when its fetch was sent.
  void refresh(PhysicalAddress line, std::uint32_t index, SectorMask sectors);
  void count_look_up(const Request& r, SectorMask hits);
  void perform_in_vidmem(Request& r);
  void perform_in_copy(Request& r, std::uint32_t index);
  void use(std::uint32_t index, const Request& r);
  L2Outcome prefetch(Request& r);
  void apply_priority(const Request& r);
  void discard(const Request& r);
  /// Whether the line lies within video memory; in a tags-only run its size is not known, and every line
  /// does.
  [[nodiscard]] bool lies_in_vidmem(PhysicalAddress line) const {
    return vidmem_ == nullptr || offset_in_aperture(line) + kLineBytes <= vidmem_->size();
  }
  L2Outcome access_vidmem(Request& r, WriteBackSink& sink);
  L2Outcome access_home(Request& r, WriteBackSink& sink);
  /// Of two partitions: serves a read from a copy near its SM, or has it go to the line's home. What it and
  /// the same access of the line's twin do to the room of both partitions is done.
  L2Outcome access_partitions(Request& r, WriteBackSink& sink);
  /// Has a copy of the line's twin here, which an SM near this slice reads. Returns whether it was here.
  bool copy_twin(std::uint64_t number, EvictionPriority priority, WriteBackSink& sink);
  void drop_copies(PhysicalAddress line);
  /// Performs an exact read of video memory, which must be no cache's: what is dirty of its line goes to the
  /// memory before it, and nothing of what it fetches stays.
  L2Outcome read_dram(Request& r, WriteBackSink& sink);
  /// Performs an exact write of video memory, and sends it on: a line that is here has it, none comes here.
  L2Outcome write_dram(Request& r, WriteBackSink& sink);
  L2Outcome access_sysmem(Request& r, WriteBackSink& sink);
  /// Notes in a miss register that `missing` is awaited, and in `out` what of it is to be fetched.
  void miss(Request& r, SectorMask missing, L2Outcome& out);
  /// The index of the line: a present line is used, an absent one installed.
  std::uint32_t line_for(std::uint64_t number, PhysicalAddress line, EvictionPriority priority,
                         WriteBackSink& sink);
  /// Installs a line that is absent, and returns its index.
  std::uint32_t new_line(std::uint64_t number, PhysicalAddress line, EvictionPriority priority,
                         WriteBackSink& sink);
  /// Empties the place where a further line of the set will lie.
  std::uint32_t make_room(std::uint64_t set_key, WriteBackSink& sink);
  void clean(std::uint32_t index, WriteBackSink& sink);
  void drop_sysmem(std::uint32_t index) {
    --sysmem_lines_;
    if (!copies_.empty()) copies_[index].reset();
    tags_.drop(index);
  }
  void fill_sysmem(MissTable::Entry& entry, const Request& fetched, RequestList& served, RequestList& again,
                   WriteBackSink& sink);
  [[nodiscard]] Copy* copy_of(std::uint32_t index);
  [[nodiscard]] Copy* present_copy(std::uint64_t number, std::uint32_t& index) {
    index = tags_.find(number, key(number));
    return index == TagArray::kAbsent ? nullptr : copy_of(index);
  }

  TagArray tags_;
  MissTable misses_;
  MemoryImage* vidmem_;
  MemoryBehind* memory_ = nullptr;  ///< null: it keeps no bytes but those
  bool poison_discarded_;
  Divider key_divisor_;
  unsigned slice_shift_;
  LineHash hash_;
  std::unique_ptr<NearCopies> near_;  ///< null without partitions
  Place place_;
  unsigned partition_ = 0;                     ///< that this slice is in
  std::vector<std::unique_ptr<Copy>> copies_;  ///< bytes of system-memory lines, by line index
  std::uint64_t sysmem_lines_ = 0;
  std::vector<RegionCounters> regions_ = std::vector<RegionCounters>(1);
  L2Counters counters_;
};

}  // namespace warpline
