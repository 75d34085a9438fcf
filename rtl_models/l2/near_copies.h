#pragma once

#include <cstdint>
#include <utility>

#include "rtl_models/cache/miss_table.h"
#include "rtl_models/cache/tag_array.h"
#include "rtl_models/l2/l2_parameters.h"
#include "rtl_models/sim/request.h"

namespace warpline {

/// Where L2 has two partitions: which lines of a slice have a copy in the other one, and which copies are on
/// their way there. Tags alone: an access is performed at the line's home whoever makes it, so that a copy is
/// never older than its line, and costs or saves time only.
///
/// The copies of a slice's lines lie in its partner, a slice of the other partition, and share the room there
/// with the partner's own lines. Of those this slice knows nothing, but lines are spread evenly: an SM that
/// reads a line here reads one with its home in the partner as often. So each line stands for two, itself and
/// a twin whose home is the partner. Here are the tags of the partner: copies of lines, and homes of twins.
/// Likewise the tags of the slice itself hold the homes of lines and the copies of twins (L2Core).
class NearCopies {
 public:
  explicit NearCopies(const L2Parameters& parameters)
      : partner_(parameters.geometry),
        transfers_(parameters.miss_registers),
        twin_distance_(parameters.geometry.sets / 2) {}

  /// The line number of a line's twin.
  static constexpr std::uint64_t twin_of(std::uint64_t number) { return number | kTwin; }
  static constexpr bool is_twin(std::uint64_t number) { return (number & kTwin) != 0; }
  /// What picks the set of a twin: not the set of its line.
  [[nodiscard]] std::uint64_t twin_key(std::uint64_t key) const { return key + twin_distance_; }

  /// The sectors of a line that are in its copy.
  [[nodiscard]] SectorMask copied(std::uint64_t number, std::uint64_t key) const {
    const std::uint32_t at = partner_.find(number, key);
    return at == TagArray::kAbsent ? SectorMask{0} : partner_.state(at).valid_sectors();
  }
  /// A copy is read. Pre: there is one.
  void use(std::uint64_t number, std::uint64_t key, EvictionPriority priority) {
    partner_.use(partner_.find(number, key), priority);
  }
  /// The line's twin is accessed at its home, the partner.
  void access_twin(std::uint64_t number, std::uint64_t key, EvictionPriority priority) {
    static_cast<void>(line_for(twin_of(number), twin_key(key), priority));
  }
  /// The line has other bytes than its copy, which goes, and so do those that are on their way. Returns
  /// whether there was one.
  bool drop(std::uint64_t number, std::uint64_t key);

  /// Of a transfer that is to bring a copy.
  struct Transfer {
    SectorMask sectors = 0;                  ///< to be sent; 0: all that is asked for is on its way already
    std::uint16_t entry = MissTable::kNone;  ///< of those who wait; kNone: for this one alone, no copy stays
  };
  /// `r`, a read of the other partition, wants a copy of its sectors. If it has an entry, it waits there.
  Transfer send(Request& r);
  /// Sectors of a line have arrived in the other partition. Those who have all they waited for go to
  /// `served`.
  void arrive(const Transfer& transfer, std::uint64_t key, RequestList& served);

  /// How many copies have made room since the last call.
  unsigned take_evicted() { return std::exchange(evicted_, 0U); }
  [[nodiscard]] const MissTable& transfers() const { return transfers_; }
  [[nodiscard]] std::uint64_t number_of(std::uint16_t entry) const { return transfers_[entry].number; }
  void clear() { partner_.clear(); }
  template <class Archive>
  void archive(Archive& a) {
    a(partner_, transfers_);
  }

 private:
  static constexpr std::uint64_t kTwin = std::uint64_t{1} << 62U;
  std::uint32_t line_for(std::uint64_t number, std::uint64_t key, EvictionPriority priority);

  TagArray partner_;
  MissTable transfers_;
  std::uint64_t twin_distance_;
  unsigned evicted_ = 0;
};

}  // namespace warpline
