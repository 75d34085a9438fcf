#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "platform/programs/sass_trace/opcode.h"

namespace warpline::sass {

/// A static instruction of a trace, as replay needs it.
struct StaticOp {
  Instruction instruction;
  Action action = Action::none;
  LaneMask address_lanes = 0xFFFFFFFFU;
};

/// The operands of one instruction line, before they are a static instruction.
struct Operands {
  static constexpr unsigned kMaxListed = 12;  ///< registers that a line may list on either side
  std::uint32_t pc = 0;
  std::string_view opcode;
  std::array<std::uint8_t, kMaxListed> destinations{}, sources{};
  unsigned destination_count = 0, source_count = 0;
  unsigned width = 0;  ///< bytes, as the line says; 0: no address part
};

/// The static instructions of a kernel, each decoded once. Instructions stay where they are, and
/// keep their number, as long as the kernel. One thread makes entries; others may meanwhile use those whose
/// number they have been told.
class Program {
 public:
  /// Copies under way are told apart by pseudo-registers above the real ones, by group and by
  /// place in the group, so that a DEPBAR waits for the groups it must and no other.
  static constexpr unsigned kCopyGroups = 8;
  static constexpr unsigned kCopiesPerGroup = 8;
  static constexpr unsigned kFirstCopyRegister = 256;
  static constexpr unsigned kRegisters = kFirstCopyRegister + kCopyGroups * kCopiesPerGroup;
  /// No compiler emits as many for one kernel; a file that goes beyond is garbled.
  static constexpr std::size_t kMaxEntries = std::size_t{1} << 21U;

  /// What few entries have.
  struct Special {
    std::vector<unsigned> unknown;       ///< indices into the list of unknown things
    std::string illegal, hint;           ///< why no machine executes it; empty: it is legal
    std::vector<const StaticOp*> twins;  ///< of LDGSTS and DEPBAR, by pseudo-register; null: not made yet
  };
  /// What one line of the trace refers to. There may be hundreds of thousands: it is kept small.
  struct Entry {
    unsigned number = 0;  ///< entries are numbered as they came
    std::uint32_t pc = 0;
    std::uint8_t width = 0;  ///< bytes, as the line says; 0: no address part
    Action action = Action::none;
    bool acts_on_all = false;             ///< cache control that names no address
    bool addressed = false;               ///< active lanes say where they go
    bool usual = false;                   ///< `op` stands for each execution, and nothing is counted of it
    const StaticOp* op = nullptr;         ///< the static instruction
    const StaticOp* idle = nullptr;       ///< what stands for a barrier, fence or sleep that no lane executes
    const StaticOp* as_global = nullptr;  ///< of a generic access: the same, all lanes known to be global
    std::unique_ptr<Special> special;
    std::string text;  ///< its static part
    [[nodiscard]] bool is_illegal() const { return special != nullptr && !special->illegal.empty(); }
  };

  Program() = default;
  Program(const Program&) = delete;  // `known_` points into `entries_`
  Program& operator=(const Program&) = delete;
  /// The entry for a line whose static part (from the destinations to the width) is `text`, decoding it
  /// from `operands` if it is new.
  Entry& entry(std::string_view text, const Operands& operands) {
    const auto known = known_.find({operands.pc, text});
    return known != known_.end() ? *known->second : add(text, operands);
  }
  [[nodiscard]] bool full() const { return entries_.size() >= kMaxEntries; }
  [[nodiscard]] std::size_t size() const { return size_.load(std::memory_order_acquire); }
  /// Pre: number < size().
  [[nodiscard]] Entry& at(unsigned number) {
    const auto [chunk, place] = place_of(number);
    return *by_number_[chunk][place];
  }
  /// The LDGSTS of `entry`, as copy number `copy` of group `group` of its warp.
  [[nodiscard]] const StaticOp* copy_of(Entry& entry, unsigned group, unsigned copy);
  /// The DEPBAR of `entry`, waiting for copies of groups up to and including `group`.
  [[nodiscard]] const StaticOp* wait_for(Entry& entry, unsigned group);

  /// Counts one execution of `entry`.
  void count(const Entry& entry) {
    if (entry.special == nullptr || entry.special->unknown.empty()) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const unsigned u : entry.special->unknown) ++unknown_counts_[u];
  }
  /// Counts something that is not understood and is no instruction.
  void count_unknown(const std::string& name);
  /// "TEX.LL: 12", in the order of first appearance.
  [[nodiscard]] std::vector<std::string> unknown() const;

 private:
  using Line = std::pair<std::uint32_t, std::string_view>;  ///< program counter and text
  struct HashOfLine {
    std::size_t operator()(const Line& line) const {
      return std::hash<std::string_view>{}(line.second) ^ line.first;
    }
  };
  Entry& add(std::string_view text, const Operands& operands);
  const StaticOp* add_op(const StaticOp& op);
  /// Pre: mutex_ is locked; `entry` is an LDGSTS or a DEPBAR.
  static const StaticOp*& twin_of(Entry& entry, unsigned twin);
  /// Where by_number_ has an entry: in which chunk, and in which place there.
  [[nodiscard]] static std::pair<unsigned, std::size_t> place_of(std::size_t number) {
    const std::size_t n = number + kFirstChunk;
    const auto chunk = static_cast<unsigned>(63 - __builtin_clzll(n / kFirstChunk));
    return {chunk, n - (kFirstChunk << chunk)};
  }
  [[nodiscard]] unsigned unknown_index(const std::string& name);

  static constexpr std::size_t kFirstChunk = 64;
  std::mutex mutex_;  ///< of ops_, of what entries have made of them since, and of the counts
  std::deque<StaticOp> ops_;
  std::deque<Entry> entries_;
  /// Chunk k has kFirstChunk * 2^k, and stays where it is while others are made.
  std::array<std::unique_ptr<Entry*[]>, 16> by_number_;
  static_assert((kFirstChunk << 16U) - kFirstChunk >= kMaxEntries, "there are chunks for all");
  std::atomic<std::size_t> size_{0};
  std::unordered_map<Line, Entry*, HashOfLine> known_;
  std::vector<std::string> unknown_names_;
  std::vector<std::uint64_t> unknown_counts_;
};

}  // namespace warpline::sass
