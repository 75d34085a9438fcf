#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "platform/consistency/execution.h"
#include "platform/consistency/path.h"
#include "platform/consistency/recorded_sharing.h"
#include "platform/consistency/test.h"

namespace warpline::litmus {

/// A group of threads of a recorded grid as a litmus test without branches, and the one way through its
/// threads that was taken.
class RecordedTest {
 public:
  /// `events`: those of the record whose threads are of the group. Both others outlive it.
  RecordedTest(const ExecutionRecord& record, const RecordedSharing& sharing,
               const std::vector<std::size_t>& events);
  RecordedTest(const RecordedTest&) = delete;
  RecordedTest& operator=(const RecordedTest&) = delete;

  [[nodiscard]] const ExecutionRecord& record() const { return record_; }
  [[nodiscard]] const Test& test() const { return test_; }
  [[nodiscard]] std::vector<const Path*> paths() const;
  /// Events of a candidate of the test.
  [[nodiscard]] std::size_t size() const { return test_.memories.size() + events_; }
  /// What event `e` of a candidate was; null: an initial write.
  [[nodiscard]] const RecordedEvent* origin(const Event& e) const {
    return e.thread == Event::kInitial ? nullptr : origins_[e.thread][e.in_path];
  }
  /// What byte `offset` of a memory held before the grid.
  [[nodiscard]] std::uint8_t before(unsigned memory, unsigned offset) const {
    return sharing_.byte(false, of_memory_[memory]->space, of_memory_[memory]->base + offset);
  }

 private:
  using Piece = RecordedSharing::Piece;
  unsigned thread_of(const RecordedEvent& e);
  unsigned memory_of(const Piece& p);
  unsigned location_of(const RecordedEvent& e, unsigned memory);
  void add_event(std::size_t n);
  void add_access(const RecordedEvent& e, const Piece& p, unsigned thread);
  Instruction& add_instruction(InstructionKind kind, const RecordedEvent& e, unsigned thread,
                               const std::string& text);
  [[nodiscard]] static AsyncPart part_of(const RecordedEvent& e);
  [[nodiscard]] static bool is_told(const RecordedEvent& e);
  static void make_part(Instruction& i, const RecordedEvent& e);
  void take_part(PathEvent& event, const RecordedEvent& e, AsyncPart part);
  PathEvent& push(EventKind kind, const Instruction& i, const RecordedEvent& e, unsigned thread);

  const ExecutionRecord& record_;
  const RecordedSharing& sharing_;
  Test test_;
  std::map<std::uint32_t, unsigned> threads_;  ///< by thread of the record
  std::map<const Piece*, unsigned> memories_;
  std::map<std::pair<unsigned, std::uint64_t>, unsigned> locations_;  ///< by memory and virtual address
  std::vector<const Piece*> of_memory_;
  std::vector<Path> paths_;
  std::vector<std::vector<const RecordedEvent*>> origins_;
  std::size_t events_ = 0;
};

}  // namespace warpline::litmus
