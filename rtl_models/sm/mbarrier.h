#pragma once

#include <cstdint>
#include <string>

#include "rtl_models/isa/mem_op.h"

namespace warpline {

/// What came of an operation on an mbarrier object.
enum class MbarrierStatus : std::uint8_t {
  done,
  completed,  ///< and it was the last that the phase lacked: the next phase has begun
  no_object,  ///< there is no mbarrier object at that place
  count,      ///< a count would leave its range, or a `.noComplete` arrival would complete the phase
};

/// An mbarrier object (PTX ISA, "mbarrier"): the eight bytes that it has in shared memory, opaque to
/// programs, taken apart. A phase is complete when no arrival and no byte of a transaction is pending; the
/// next one begins at once. An operation that is not allowed changes nothing.
class Mbarrier {
 public:
  static constexpr std::uint32_t kMaxCount = (1U << 20U) - 1;  ///< of arrivals
  static constexpr std::int32_t kMaxBytes = (1 << 20) - 1;     ///< of transactions, either way
  static constexpr unsigned kBytes = 8;

  /// No object.
  Mbarrier() = default;
  /// One that lies in memory. Whatever else lies there is taken for no object if a bit says so.
  explicit Mbarrier(std::uint64_t word)
      : valid_((word >> kValidBit & 1U) != 0),
        phase_(static_cast<std::uint8_t>(word >> kPhaseShift & 3U)),
        expected_(static_cast<std::uint32_t>(word >> kCountBits & kMaxCount)),
        pending_(static_cast<std::uint32_t>(word & kMaxCount)),
        bytes_(static_cast<std::int32_t>(word >> kBytesShift & kBytesMask) - kMaxBytes) {}
  [[nodiscard]] std::uint64_t word() const {
    if (!valid_) return 0;
    return std::uint64_t{1} << kValidBit | std::uint64_t{phase_} << kPhaseShift |
           static_cast<std::uint64_t>(bytes_ + kMaxBytes) << kBytesShift |
           std::uint64_t{expected_} << kCountBits | pending_;
  }

  /// Becomes an object that expects `count` arrivals a phase; whatever there was is gone.
  MbarrierStatus init(std::uint32_t count) {
    if (count == 0 || count > kMaxCount) return MbarrierStatus::count;
    *this = Mbarrier{};
    valid_ = true;
    expected_ = pending_ = count;
    return MbarrierStatus::done;
  }
  MbarrierStatus inval() {
    if (!valid_) return MbarrierStatus::no_object;
    *this = Mbarrier{};
    return MbarrierStatus::done;
  }
  /// `count` arrivals. `may_complete`: without `.noComplete`.
  MbarrierStatus arrive(std::uint32_t count, bool may_complete = true) {
    if (!valid_) return MbarrierStatus::no_object;
    if (count == 0 || count > pending_) return MbarrierStatus::count;
    if (!may_complete && count == pending_ && bytes_ == 0) return MbarrierStatus::count;
    pending_ -= count;
    return settled();
  }
  /// The same; later phases expect so many fewer.
  MbarrierStatus arrive_and_drop(std::uint32_t count, bool may_complete = true) {
    if (valid_ && count > expected_) return MbarrierStatus::count;
    const std::uint32_t left = expected_ - count;
    const Mbarrier before = *this;
    expected_ = left;
    const MbarrierStatus status = arrive(count, may_complete);
    if (status >= MbarrierStatus::no_object) *this = before;
    return status;
  }
  /// The present phase waits for so many more arrivals.
  MbarrierStatus add_pending(std::uint32_t count) {
    if (!valid_) return MbarrierStatus::no_object;
    if (count > kMaxCount - pending_) return MbarrierStatus::count;
    pending_ += count;
    return MbarrierStatus::done;
  }
  /// The present phase waits for `bytes` more of transactions.
  MbarrierStatus expect_bytes(std::uint32_t bytes) { return add_bytes(std::int64_t{bytes}); }
  /// `bytes` of transactions have come.
  MbarrierStatus complete_bytes(std::uint32_t bytes) { return add_bytes(-std::int64_t{bytes}); }
  /// An arrival that first raises the bytes expected.
  MbarrierStatus expect_bytes_and_arrive(std::uint32_t bytes, bool drops) {
    const Mbarrier before = *this;
    // What is expected counts before the phase can be complete.
    if (!valid_) return MbarrierStatus::no_object;
    if (bytes > static_cast<std::uint32_t>(kMaxBytes) ||
        bytes_ > kMaxBytes - static_cast<std::int32_t>(bytes))
      return MbarrierStatus::count;
    bytes_ += static_cast<std::int32_t>(bytes);
    const MbarrierStatus status = drops ? arrive_and_drop(1) : arrive(1);
    if (status >= MbarrierStatus::no_object) *this = before;
    return status;
  }

  [[nodiscard]] bool valid() const { return valid_; }
  /// Whether the phase in which `state`, the word of an earlier moment, was taken is complete: the present
  /// one or the one before (PTX ISA, "mbarrier.test_wait"). Of an earlier one the parity decides, as on an
  /// H200.
  [[nodiscard]] bool has_completed(std::uint64_t state) const {
    return has_completed_parity(Mbarrier(state).phase_parity());
  }
  /// Whether the phase of that parity that is the present one or the one before is complete.
  [[nodiscard]] bool has_completed_parity(unsigned parity) const { return (phase_ & 1U) != (parity & 1U); }
  /// Which of four phases, in turn, is under way; and the state that an arrival in one of them is answered,
  /// as far as a wait looks at it.
  [[nodiscard]] unsigned phase() const { return phase_; }
  [[nodiscard]] static std::uint64_t state_of_phase(unsigned phase) {
    return std::uint64_t{phase & 3U} << kPhaseShift;
  }
  [[nodiscard]] unsigned phase_parity() const { return phase_ & 1U; }
  [[nodiscard]] std::uint32_t pending() const { return pending_; }
  [[nodiscard]] std::uint32_t expected() const { return expected_; }
  [[nodiscard]] std::int32_t pending_bytes() const { return bytes_; }
  /// "its phase lacks 3 of 128 arrivals and 1024 bytes of transactions".
  [[nodiscard]] std::string describe() const {
    if (!valid_) return "no mbarrier is there any more";
    std::string out =
        "its phase lacks " + std::to_string(pending_) + " of " + std::to_string(expected_) + " arrivals";
    if (bytes_ != 0) out += " and " + std::to_string(bytes_) + " bytes of transactions";
    return out;
  }

 private:
  static constexpr unsigned kCountBits = 20, kBytesShift = 40, kPhaseShift = 61, kValidBit = 63;
  static constexpr std::uint64_t kBytesMask = (1U << 21U) - 1;

  MbarrierStatus settled() {
    if (pending_ != 0 || bytes_ != 0) return MbarrierStatus::done;
    phase_ = static_cast<std::uint8_t>((phase_ + 1U) & 3U);
    pending_ = expected_;
    return MbarrierStatus::completed;
  }
  MbarrierStatus add_bytes(std::int64_t bytes) {
    if (!valid_) return MbarrierStatus::no_object;
    const std::int64_t sum = bytes_ + bytes;
    if (bytes < -kMaxBytes || bytes > kMaxBytes || sum < -kMaxBytes || sum > kMaxBytes)
      return MbarrierStatus::count;
    bytes_ = static_cast<std::int32_t>(sum);
    return bytes == 0 ? MbarrierStatus::done : settled();
  }

  bool valid_ = false;
  std::uint8_t phase_ = 0;  ///< modulo 4
  std::uint32_t expected_ = 0, pending_ = 0;
  std::int32_t bytes_ = 0;  ///< negative: more have come than were expected so far
};

/// What one lane wants of an mbarrier: of `init`, `arrive`, `arrive_drop` a number of arrivals, of what
/// counts transactions their bytes.
[[nodiscard]] MbarrierStatus operate(const MemOp& op, std::uint32_t count, Mbarrier& on);

}  // namespace warpline
