#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "rtl_models/dram/dram_queue.h"

namespace warpline {

/// The data bus of a DRAM channel and its column commands. A request has one column command a sector, each
/// DramParameters::column_latency() before its sector moves; so the bus is thought of in times of data.
///
/// - Sectors of one direction lie in slots of DramParameters::sector_slot() edges at least. Those of one
///   request, which are of one bank, lie sector_step() apart. Where that is more than a slot (tCCD_L above
///   tCCD_S), requests of other bank groups use the slots between; which requests fit is a matter of bits:
///   one an edge, from the first sector of the request before on.
/// - Turning the bus leaves it idle for write_to_read or read_to_write after all that was to move, and
///   write_to_read_group after the last write of the read's bank group.
class DramBus {
 public:
  /// Pre: parameters without problems.
  explicit DramBus(const DramParameters& p)
      : latency_{p.column_latency(false), p.column_latency(true)},
        turn_{p.write_to_read, p.read_to_write},
        sector_cycles_(p.sector_cycles),
        slot_(p.sector_slot()),
        step_(p.sector_step()),
        group_interval_(p.column_interval_group),
        group_turn_(p.write_to_read_group > p.write_to_read ? p.write_to_read_group : 0),
        interleaves_(p.interleaves_groups()),
        group_from_(interleaves_ ? p.bank_groups : 0),
        group_written_(group_turn_ != 0 ? p.bank_groups : 0) {
    for (unsigned n = 1; interleaves_ && n <= kSectors; ++n)
      pattern_[n] = pattern_[n - 1] | slots(1) << (n - 1) * step_;
  }

  /// The edge from which on the first column command of `r` may be given, if that is after `t`; else one that
  /// is not after `t`.
  [[nodiscard]] std::uint64_t command_from(std::uint64_t t, const DramQueue::Request& r) const {
    const unsigned latency = latency_[r.is_write];
    std::uint64_t from = used_ && r.is_write != writes_ ? data_until_ + turn_[r.is_write] : slot_from_;
    if (interleaves_ && r.is_write == writes_)
      from = fits_from(std::max(t + latency, group_from_[r.group]), r);
    if (group_turn_ != 0 && !r.is_write && group_written_[r.group] != 0) from = after_write(from, t, r);
    return before(from, latency);
  }
  /// No request's first column command may be given before that edge.
  [[nodiscard]] std::uint64_t idle_from() const {
    if (!used_) return 0;
    const std::uint64_t slot =
        interleaves_ ? base_ + static_cast<unsigned>(__builtin_ctzll(~unfit_[1])) : slot_from_;
    const std::uint64_t turned = data_until_ + turn_[!writes_];
    return std::min(before(slot, latency_[writes_]), before(turned, latency_[!writes_]));
  }
  /// The first column command of `r` is given at `t`. Returns the edge at which its last data has moved.
  /// Pre: command_from(t, r) <= t.
  std::uint64_t take(std::uint64_t t, const DramQueue::Request& r) {
    const std::uint64_t data = t + latency_[r.is_write];
    const std::uint64_t last = data + (r.sectors - 1) * step_;
    const std::uint64_t until = last + sector_cycles_;
    if (interleaves_) fill(data, last, r);
    slot_from_ = std::max(slot_from_, last + slot_);
    data_until_ = std::max(data_until_, until);
    if (group_turn_ != 0 && r.is_write) group_written_[r.group] = std::max(group_written_[r.group], until);
    used_ = true;
    writes_ = r.is_write;
    return until;
  }
  /// The column command of the last sector of a request whose first one is given at `t`.
  [[nodiscard]] std::uint64_t last_command(std::uint64_t t, const DramQueue::Request& r) const {
    return t + (r.sectors - 1) * step_;
  }
  /// Direction of what was taken last.
  [[nodiscard]] bool writes() const { return writes_; }
  [[nodiscard]] bool used() const { return used_; }
  /// Sets the direction without taking time.
  void turn_to(bool write) {
    used_ = true;
    writes_ = write;
  }
  /// All data has moved.
  [[nodiscard]] std::uint64_t data_until() const { return data_until_; }
  void restart() {
    slot_from_ = data_until_ = base_ = 0;
    used_ = writes_ = false;
    unfit_ = {};
    taken_ = 0;
    group_from_.assign(group_from_.size(), 0);
    group_written_.assign(group_written_.size(), 0);
  }
  template <class Archive>
  void archive(Archive& a) {
    a(slot_from_, data_until_, used_, writes_, base_, taken_);
    a.fixed(group_from_).fixed(group_written_);
    if (!a.saves()) mark_unfit();
  }

 private:
  static constexpr unsigned kSectors = 4;  ///< of a line

  [[nodiscard]] static std::uint64_t before(std::uint64_t data, unsigned latency) {
    return data > latency ? data - latency : 0;
  }
  /// So many slots in a row.
  [[nodiscard]] std::uint64_t slots(unsigned n) const { return (std::uint64_t{1} << n * slot_) - 1; }
  /// The first edge from `data` on at which the sectors of `r` find their slots free.
  [[nodiscard]] std::uint64_t fits_from(std::uint64_t data, const DramQueue::Request& r) const {
    const std::uint64_t after = data - base_;
    if (after >= 64) return data;
    const std::uint64_t fit = ~(unfit_[r.sectors] >> after);
    return fit != 0 ? data + static_cast<unsigned>(__builtin_ctzll(fit)) : base_ + 64;
  }
  [[nodiscard]] std::uint64_t after_write(std::uint64_t from, std::uint64_t t,
                                          const DramQueue::Request& r) const {
    const std::uint64_t group = group_written_[r.group] + group_turn_;
    if (group <= from) return from;
    return interleaves_ && !writes_ ? fits_from(std::max(group, t + latency_[0]), r) : group;
  }
  void fill(std::uint64_t data, std::uint64_t last, const DramQueue::Request& r) {
    if (r.is_write != writes_) {  // no slot that was taken reaches beyond the turn
      taken_ = 0;
      group_from_.assign(group_from_.size(), 0);
    }
    const std::uint64_t after = data - base_;
    taken_ = (after >= 64 ? 0 : taken_ >> after) | pattern_[r.sectors];
    base_ = data;
    group_from_[r.group] = last + group_interval_;
    mark_unfit();
  }
  void mark_unfit() {
    if (!interleaves_) return;
    std::uint64_t one = 0;  // where a slot cannot begin, as some of its edges are taken
    for (unsigned i = 0; i < slot_; ++i) one |= taken_ >> i;
    for (unsigned n = 1; n <= kSectors; ++n) unfit_[n] = unfit_[n - 1] | one >> (n - 1) * step_;
  }

  std::array<unsigned, 2> latency_;  ///< of reads, of writes
  std::array<unsigned, 2> turn_;     ///< to reads, to writes
  unsigned sector_cycles_, slot_, step_, group_interval_, group_turn_;
  bool interleaves_;
  std::array<std::uint64_t, kSectors + 1> pattern_{};  ///< the slots of so many sectors
  std::uint64_t slot_from_ = 0;                        ///< behind all slots that are taken
  std::uint64_t data_until_ = 0;
  bool used_ = false;
  bool writes_ = false;
  std::uint64_t base_ = 0;   ///< first data of the last request taken, where groups interleave
  std::uint64_t taken_ = 0;  ///< edges of slots, from base_ on
  std::array<std::uint64_t, kSectors + 1> unfit_{};  ///< from base_ on: so many sectors cannot begin there
  std::vector<std::uint64_t> group_from_;            ///< next data of each bank group, in the same direction
  std::vector<std::uint64_t> group_written_;         ///< the last write data of each has moved
};

}  // namespace warpline
