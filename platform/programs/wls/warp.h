#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "platform/programs/wls/program.h"
#include "rtl_models/sm/instruction_source.h"

namespace warpline::wls {

/// Who a warp is.
struct WarpIdentity {
  Dim3 cta, grid, block;
  unsigned warp = 0;  ///< in its CTA
  unsigned sm = 0;
};

/// The functional state of one warp.
///
/// Lanes run as groups with a common program counter: those deepest in calls first, among them those with the
/// lowest counter, so that lanes meet again where code joins. A call takes the lanes that make it, and the
/// warp's other lanes go on when it has returned; it returns when all of its lanes have. A group gives way to
/// others at barriers only: lanes that spin for others of their warp spin for ever.
class Warp {
 public:
  /// Pre: `program` and `ops` outlive it. `ops` are the program's, with addresses filled in.
  Warp(const Program& program, const std::vector<Op>& ops);
  void begin(const WarpIdentity& who, LaneMask threads);
  [[nodiscard]] WarpState state() const;
  [[nodiscard]] LaneMask alive() const { return alive_; }
  [[nodiscard]] std::uint32_t pc() const { return groups_[current_].pc; }
  /// Executes the next instruction of the current group.
  void execute(Issue& issue);
  /// A load's data has come.
  void finish_load(const Op& op, const MemOp& mem, const MemoryAccess& access);
  void release(std::uint32_t barrier);
  void kill();
  [[nodiscard]] std::uint32_t value(unsigned reg, unsigned lane) const {
    return reg < program_.registers ? registers_[std::size_t{reg} * kWarpLanes + lane] : 0;
  }
  [[nodiscard]] const WarpIdentity& who() const { return who_; }

 private:
  struct Group {
    enum class Status : std::uint8_t { ready, barrier, returning };
    LaneMask mask = 0;
    std::uint32_t pc = 0;
    std::uint32_t level = 0;  ///< tokens on the stack up to that of the call that these lanes are in
    Status status = Status::ready;
    std::uint8_t barrier = 0;
  };
  static constexpr std::size_t kNobody = ~std::size_t{0};

  void settle();
  void merge();
  /// Sends `lanes` of the current group to `target`; the others go on behind the instruction.
  void jump(LaneMask lanes, std::uint32_t target, std::uint32_t level);
  void leave(LaneMask lanes);
  void fault(Issue& issue, const char* why);
  void compute(const Op& op, LaneMask lanes, const Issue& issue);
  void access(const Op& op, const MemOp& mem, LaneMask lanes, Issue& issue);
  void barrier(const Op& op, LaneMask lanes, Issue& issue);
  void call(const Op& op, LaneMask lanes, Issue& issue);
  void ret(LaneMask lanes, Issue& issue);
  void set_stack(const Op& op, LaneMask lanes, Issue& issue);
  std::uint32_t level_below(std::uint32_t token);
  [[nodiscard]] std::uint32_t second(const Op& op, unsigned lane) const {
    return op.b.is_register ? value(op.b.reg, lane) : op.b.constant;
  }
  [[nodiscard]] std::uint32_t special(Special which, unsigned lane, const Issue& issue) const;
  [[nodiscard]] std::uint64_t address(const Op& op, bool constant, unsigned lane) const;
  void set(unsigned reg, unsigned lane, std::uint32_t v) {
    if (reg < program_.registers) registers_[std::size_t{reg} * kWarpLanes + lane] = v;
  }

  const Program& program_;
  const std::vector<Op>& ops_;
  std::vector<std::uint32_t> registers_;  ///< register r of lane n at r * kWarpLanes + n
  std::array<LaneMask, kPredicates + 1> predicates_{};
  std::vector<Group> groups_;
  /// Calls by lanes that were not in the call of the token below theirs: the token, and the level that they
  /// return to. Tokens ascend.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> aside_;
  std::size_t current_ = kNobody;
  LaneMask alive_ = 0;
  WarpIdentity who_;
};

}  // namespace warpline::wls
