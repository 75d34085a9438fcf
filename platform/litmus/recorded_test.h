#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "warpline/gpu/record/execution_record.h"
#include "warpline/litmus/execution.h"
#include "warpline/litmus/path.h"
#include "warpline/litmus/test.h"

namespace warpline::litmus {

/// A recorded grid as a litmus test without branches, and the one way through its threads that was taken.
///
/// Memory that one thread has to itself is left out: no other thread's operations can be ordered by it, and
/// that the thread finds there what it left is checked at once. So are threads that access nothing else and
/// meet all of their CTA at every barrier; a fence.sc of theirs could at most order two others that are
/// ordered without it.
class RecordedTest {
 public:
  explicit RecordedTest(const ExecutionRecord& record);

  /// What is wrong already: a value that was never in that memory, or is not there at the end.
  struct Contradiction {
    const char* axiom;
    std::string reason;
  };
  [[nodiscard]] const std::optional<Contradiction>& contradiction() const { return contradiction_; }
  [[nodiscard]] const Test& test() const { return test_; }
  [[nodiscard]] std::vector<const Path*> paths() const;
  /// Events of a candidate of the test.
  [[nodiscard]] std::size_t size() const { return test_.memories.size() + events_; }
  /// What event `e` of thread `e.thread` was; null: an initial write.
  [[nodiscard]] const RecordedEvent* origin(const Event& e) const {
    return e.thread == Event::kInitial ? nullptr : origins_[e.thread][e.in_path];
  }
  /// What byte `offset` of a memory held before the grid.
  [[nodiscard]] std::uint8_t before(unsigned memory, unsigned offset) const;
  [[nodiscard]] std::string name_of(const RecordedEvent& e) const;
  /// "thread 3 of CTA (0, 0, 0), k.ptx:12".
  [[nodiscard]] std::string place_of(const RecordedEvent& e) const;

 private:
  /// Bytes that accesses overlap in.
  struct Piece {
    std::uint64_t space = 0, base = 0, end = 0;
    std::vector<std::size_t> accesses;  ///< events of the record
    unsigned memory = 0;                ///< of the test
  };
  void find_pieces();
  [[nodiscard]] bool is_private(const Piece& p) const;
  void check_private(const Piece& p);
  void check_end(const Piece& p);
  void contradict(const char* axiom, std::string reason);
  void add_memory(Piece& p);
  void choose_threads();
  void add_event(std::size_t n);
  Instruction& add_instruction(const RecordedEvent& e, std::string text);
  [[nodiscard]] std::uint8_t byte(bool after, std::uint64_t space, std::uint64_t at) const;

  const ExecutionRecord& record_;
  std::optional<Contradiction> contradiction_;
  std::vector<Piece> pieces_;
  std::vector<const Piece*> piece_of_;  ///< by event of the record; null: left out
  std::vector<unsigned> threads_;       ///< by thread of the record: of the test; kLeftOut
  static constexpr unsigned kLeftOut = ~0U;
  Test test_;
  std::map<std::pair<unsigned, std::uint64_t>, unsigned> locations_;  ///< by memory and virtual address
  std::vector<const Piece*> of_memory_;
  std::vector<Path> paths_;
  std::vector<std::vector<const RecordedEvent*>> origins_;
  std::size_t events_ = 0;
};

}  // namespace warpline::litmus
