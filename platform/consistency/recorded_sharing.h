#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/consistency/record/execution_record.h"

namespace warpline::litmus {

/// Which threads of a recorded grid have to do with each other, and by which memory.
///
/// Memory that one thread has to itself is left out: no other thread's operations can be ordered by it, and
/// that the thread finds there what it left is checked at once. So are threads that access nothing else, meet
/// all of their CTA at every barrier, and have no fence.sc between barriers. What is left falls into groups
/// that no access and no barrier joins; the order of fence.sc between them orders nothing within one that its
/// own fences do not order.
class RecordedSharing {
 public:
  explicit RecordedSharing(const ExecutionRecord& record);

  static constexpr unsigned kNone = ~0U;
  /// Bytes that accesses overlap in, directly or by way of others.
  struct Piece {
    std::uint64_t space = 0, base = 0, end = 0;
    std::vector<std::size_t> accesses;  ///< events of the record, in their order
  };
  /// What is wrong already: a value that was never in that memory, or is not there at the end.
  struct Contradiction {
    const char* axiom;
    std::string reason;
    std::vector<std::size_t>
        accesses;  ///< to that memory, events of the record in their order: the last is wrong
  };
  [[nodiscard]] const std::optional<Contradiction>& contradiction() const { return contradiction_; }
  [[nodiscard]] unsigned groups() const { return groups_; }
  /// Of a thread of the record; kNone: left out.
  [[nodiscard]] unsigned group_of(std::uint32_t thread) const { return group_of_[thread]; }
  /// The piece that an event accesses; null: left out, or it accesses none.
  [[nodiscard]] const Piece* piece_of(std::size_t event) const {
    return piece_of_[event] == kNone ? nullptr : &pieces_[piece_of_[event]];
  }
  /// What a byte held before the grid, or after it.
  [[nodiscard]] std::uint8_t byte(bool after, std::uint64_t space, std::uint64_t at) const;

 private:
  void find_pieces();
  [[nodiscard]] bool is_private(const Piece& p) const;
  void check_private(const Piece& p);
  void check_end(const Piece& p);
  void contradict(const char* axiom, const Piece& p, std::size_t event, std::string reason);
  void find_groups();

  const ExecutionRecord& record_;
  std::optional<Contradiction> contradiction_;
  std::vector<Piece> pieces_;
  std::vector<unsigned> piece_of_;  ///< by event
  std::vector<unsigned> group_of_;  ///< by thread
  unsigned groups_ = 0;
};

/// "ld.global.u32 x = 1", for people.
[[nodiscard]] std::string access_text(const ExecutionRecord& record, const RecordedEvent& e);
/// "x+0x4", for people.
[[nodiscard]] std::string name_of(const ExecutionRecord& record, const RecordedEvent& e);
/// "thread 3 of CTA (0, 0, 0), k.ptx:12,".
[[nodiscard]] std::string place_of(const ExecutionRecord& record, const RecordedEvent& e);
/// A value of `count` bytes: up to eight as a number, more as they lie in memory, last byte first.
[[nodiscard]] std::string value_text(const RecordedEvent::Bytes& bytes, unsigned count);

}  // namespace warpline::litmus
