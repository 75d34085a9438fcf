#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "platform/programs/ptx/frame.h"
#include "platform/programs/ptx/program.h"
#include "rtl_models/sm/instruction_source.h"

namespace warpline::ptx {

/// Op::mode of a barrier that waits (bar.sync, bar.red); without it the lanes only arrive.
inline constexpr std::uint8_t kBarrierWaits = 1;
/// That of barrier.cluster.wait.
inline constexpr std::uint8_t kClusterWait = 2;

/// nanosleep: for the longest time that a lane asks for, nanoseconds in r[1]. r[2]: MHz of the SM's clock.
void sleep(const Op& op, Frame& f);

/// Lanes that share a program counter.
struct Group {
  enum class Status : std::uint8_t {
    ready,
    barrier,     ///< at `barrier`
    converging,  ///< at a warp operation whose other members have not come yet
  };
  LaneMask mask = 0;
  std::uint32_t pc = 0;
  Status status = Status::ready;
  std::uint8_t barrier = 0;
  bool spun = false;    ///< since its last backward branch it did what waiting loops do
  bool forced = false;  ///< waits for no more members: no other lane can run
  std::uint32_t barrier_op = 0;
  std::uint32_t depth = 0;     ///< calls that its lanes have not returned from
  std::uint32_t epoch = 0;     ///< how often it gave way
  std::uint32_t patience = 0;  ///< spent since then
};

/// One call that a lane has not returned from.
struct CallRecord {
  std::uint32_t back = 0;  ///< operation after the call
  std::uint32_t site = 0;
  std::uint32_t image = 0;
  std::uint32_t saved = 0;  ///< bytes of Lane::saved before this call
};

/// What a lane keeps of its callers.
struct Lane {
  std::vector<CallRecord> calls;
  std::vector<std::byte> saved;  ///< state of earlier activations of recursive functions
  std::uint32_t local_top = 0;   ///< end of its frames in local memory
};

/// The functional state of one warp.
///
/// Lanes run as groups with a common program counter. The group deepest in calls runs first, and of
/// those the one with the lowest counter, so that lanes meet again where compiled code joins, and behind
/// a call that some of them make. A group that keeps branching
/// backward gives way in the end (`epoch`), so that lanes it waits for go on: at once if its loop
/// looks like a spin loop, late otherwise.
class Warp {
 public:
  explicit Warp(const Program& program);
  void begin(LaneMask threads);
  [[nodiscard]] WarpState state() const;
  [[nodiscard]] bool runnable() const { return alive_ != 0 && current_ != kNobody; }
  [[nodiscard]] LaneMask alive() const { return alive_; }
  [[nodiscard]] std::uint32_t pc() const { return groups_[current_].pc; }
  /// Calls that the lane deepest in them has not returned from.
  [[nodiscard]] std::uint32_t deepest_call() const;
  /// Executes one operation for the current group. `pool`: the kernel's constants.
  void execute(Issue& issue, const std::byte* pool);
  /// Executes up to `most` operations that are private (Op::is_private), as long as no lanes are apart from
  /// those that run, and writes to `steps` which. Returns how many.
  unsigned compute(ComputedAhead::Step* steps, unsigned most, const std::byte* pool);
  /// Lanes waiting at barrier `id` go on; `result` is applied to those of a reduction first.
  template <class Result>
  void release(std::uint32_t id, Result&& result);
  void kill();
  /// Of registers, where its lanes are, and how they came there as far as that decides who runs next.
  [[nodiscard]] std::uint64_t digest() const;
  [[nodiscard]] std::byte* file() { return reinterpret_cast<std::byte*>(file_.get()); }

 private:
  static constexpr std::size_t kNobody = ~std::size_t{0};
  struct alignas(64) Block {
    std::array<std::byte, 64> bytes;
  };
  void settle();
  void merge();
  /// Sends `lanes` of the current group to `target`; the group keeps the others.
  void move(LaneMask lanes, std::uint32_t target);
  /// Sends each of `lanes` of the current group where `target_of(lane)` says; the others go on.
  template <class F>
  void scatter(LaneMask lanes, F&& target_of);
  void branch(LaneMask taken, const Op& op);
  void branch_table(LaneMask lanes, const Op& op, Frame& f, Issue& issue);
  void barrier(LaneMask lanes, const Op& op, Frame& f, Issue& issue);
  void converge(LaneMask lanes, const Op& op, Frame& f, Issue& issue);
  void leave(LaneMask lanes);
  /// Lanes have called or returned.
  void note_depths();
  void trap(Issue& issue, const char* why);
  void call(LaneMask lanes, const Op& op, Frame& f, Issue& issue);
  void enter(LaneMask lanes);
  void back(LaneMask lanes);
  [[nodiscard]] int callee_of(const Op& op, const Frame& f, unsigned lane) const;
  void push_call(unsigned lane, const Op& op, std::uint32_t image);
  void pop_call(unsigned lane);

  void clear(const std::vector<FileRange>& ranges);

  const Program& program_;
  struct Release {
    void operator()(Block* blocks) const { std::free(blocks); }
  };
  /// Not cleared as a whole, so that what is never used takes no memory of the host.
  std::unique_ptr<Block[], Release> file_;
  std::vector<bool> called_;  ///< functions, since the warp began
  std::array<Group, kWarpLanes> groups_{};
  std::size_t count_ = 0;
  std::size_t current_ = kNobody;
  std::uint32_t splits_ = 0;  ///< of groups, so far
  LaneMask alive_ = 0;
  std::vector<Lane> lanes_;  ///< empty where the program calls no function
};

template <class Result>
void Warp::release(std::uint32_t id, Result&& result) {
  for (std::size_t i = 0; i < count_; ++i) {
    Group& g = groups_[i];
    if (g.status != Group::Status::barrier || g.barrier != id) continue;
    const Op& op = program_.ops[g.barrier_op];
    if (op.count != 0) result(op, g.mask);
    g.status = Group::Status::ready;
  }
  settle();
}

}  // namespace warpline::ptx
