#pragma once

#include <cstdint>
#include <vector>

#include "rtl_models/base/types.h"
#include "rtl_models/cache/eviction_class.h"
#include "rtl_models/cache/line_kind.h"
#include "rtl_models/sim/in_flight.h"

namespace warpline {

/// Miss-status holding registers. An entry stands for one line with fetches under way and the
/// requests that wait for them. At most one live entry per line takes merges; a dead one (R1)
/// serves those who wait already, installs nothing and is found by nobody.
class MissTable {
 public:
  static constexpr std::uint16_t kNone = 0xFFFF;

  // L2 keeps a stale entry findable, so that later requests queue behind those that wait already.
  struct Entry {
    std::uint64_t number = 0;  ///< line number
    SectorMask pending = 0;    ///< sectors requested and not yet filled
    bool live = false;         ///< takes merges and installs
    bool in_use = false;
    LineKind kind = LineKind::global;
    bool stale = false;  ///< found, but its fill must not install
    /// Joined priorities of the requests that wait. no_allocate, as at first: the fill installs nothing.
    EvictionPriority priority = EvictionPriority::no_allocate;
    RequestList waiters;
    std::uint16_t chain = kNone;  ///< next live entry in the hash bucket, or next free entry
  };

  /// `entries`: 1 to 65534.
  explicit MissTable(unsigned entries);

  [[nodiscard]] bool full() const { return free_ == kNone; }
  [[nodiscard]] unsigned in_use() const { return in_use_; }
  [[nodiscard]] unsigned capacity() const { return static_cast<unsigned>(entries_.size()); }
  /// The live entry of a line, or kNone.
  [[nodiscard]] std::uint16_t find(std::uint64_t number) const {
    std::uint16_t i = buckets_[bucket_of(number)];
    while (i != kNone && entries_[i].number != number) i = entries_[i].chain;
    return i;
  }
  /// A live entry for a line. Pre: not full(), find(number) == kNone.
  std::uint16_t allocate(std::uint64_t number);
  /// Marks an entry dead. Idempotent.
  void kill(std::uint16_t index);
  /// Marks every live entry of lines of this kind dead.
  void kill_all(LineKind kind) {
    if (in_use_ == 0) return;
    for (std::size_t i = 0; i < entries_.size(); ++i)
      if (entries_[i].live && entries_[i].kind == kind) kill(static_cast<std::uint16_t>(i));
  }
  /// Marks stale every live entry whose line number satisfies `which`.
  template <class F>
  void mark_stale(F&& which) {
    if (in_use_ == 0) return;
    for (Entry& e : entries_) e.stale = e.stale || (e.live && which(e.number));
  }
  /// Returns an entry. Pre: nothing pending, nobody waits.
  void release(std::uint16_t index);
  /// Calls visit(index, const Entry&) for every entry in use.
  template <class F>
  void for_each(F&& visit) const {
    for (std::size_t i = 0; i < entries_.size(); ++i)
      if (entries_[i].in_use) visit(static_cast<unsigned>(i), entries_[i]);
  }
  /// Says, as `name`, that lines are being fetched by `maker`, from `below`, if any are.
  void explain(std::vector<Wait>& waits, const void* maker, const std::string& name,
               const std::vector<std::string>& below) const {
    if (in_use_ != 0)
      waits.push_back({name, std::to_string(in_use_) + " lines being fetched", below, {maker}});
  }
  /// Lists those who wait. Their fetches were sent by `maker`, called `name`, to `below`.
  void in_flight(std::vector<InFlight>& rows, const void* maker, const std::string& name,
                 const std::vector<std::string>& below) const;
  template <class Archive>
  void archive(Archive& a) {
    // Pre: none is in use. In which order they are taken shows in lists of what is in flight. What does not
    // fit changes nothing: others look at the state before it is undone.
    std::vector<std::uint16_t> order;
    order.reserve(entries_.size());
    std::uint16_t next = free_;
    for (std::size_t n = 0; n < entries_.size(); ++n) {
      std::uint16_t index = next;
      a.index(index, entries_.size());
      order.push_back(index);
      if (a.saves()) next = entries_[index].chain;
    }
    if (a.saves()) return;
    std::vector<bool> named(entries_.size(), false);
    for (const std::uint16_t index : order) {
      if (named[index]) a.misfit("has a free miss register twice");
      named[index] = true;
    }
    std::uint16_t* link = &free_;
    for (const std::uint16_t index : order) {
      *link = index;
      link = &entries_[index].chain;
    }
    *link = kNone;
  }
  [[nodiscard]] Entry& operator[](std::uint16_t index) { return entries_[index]; }
  [[nodiscard]] const Entry& operator[](std::uint16_t index) const { return entries_[index]; }

 private:
  /// Spreads strided line numbers too: the high bits of a product with an odd constant.
  [[nodiscard]] std::size_t bucket_of(std::uint64_t number) const {
    return (number * 0x9E3779B97F4A7C15ULL >> 40U) & bucket_mask_;
  }
  void unlink(std::uint16_t index) {
    std::uint16_t* link = &buckets_[bucket_of(entries_[index].number)];
    while (*link != index) link = &entries_[*link].chain;
    *link = entries_[index].chain;
  }
  std::vector<Entry> entries_;
  std::vector<std::uint16_t> buckets_;
  std::uint64_t bucket_mask_;
  std::uint16_t free_ = kNone;
  unsigned in_use_ = 0;
};

}  // namespace warpline
