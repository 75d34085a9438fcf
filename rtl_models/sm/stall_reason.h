#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace warpline {

/// What a resident warp does in an SM cycle: it issues, or does not for one reason. The cycles of all reasons
/// add up to warp-cycles, those in which warps were resident.
///
/// What a warp waits for from an instruction before (its result) is charged to that one; every other reason
/// to the instruction that waits.
enum class StallReason : std::uint8_t {
  selected,
  not_selected,
  l1,
  texture,
  constant,
  shared,
  cluster_shared,
  l2,
  dram,
  link,
  mbarrier,
  copies,
  arithmetic,
  pipe,
  tensor_pipe,
  memory_queue,
  barrier,
  ordering,
  no_instruction,
  dispatch,
  sleep,
  call_stack,
  registers,
  grid,
  exit,
  cut_off,
};
inline constexpr std::size_t kStallReasons = static_cast<std::size_t>(StallReason::cut_off) + 1;

struct StallReasonText {
  const char* name;
  const char* description;
};
/// By StallReason.
inline constexpr std::array<StallReasonText, kStallReasons> kStallReasonTexts{{
    {"selected", "issued an instruction"},
    {"not_selected", "could issue, but another warp of its partition did"},
    {"l1", "data that L1 had"},
    {"texture", "data that the texture cache had"},
    {"constant", "data that the constant cache had"},
    {"shared", "data of shared memory"},
    {"cluster_shared", "data of another CTA's shared memory"},
    {"l2", "data that L2 had"},
    {"dram", "data from DRAM"},
    {"link", "data from system memory, a peer or a device"},
    {"mbarrier", "the phase of an mbarrier"},
    {"copies", "asynchronous copies or products"},
    {"arithmetic", "the result of a computation"},
    {"pipe", "its arithmetic pipe, which still takes in an instruction"},
    {"tensor_pipe", "its tensor pipe"},
    {"memory_queue", "room in the load/store unit"},
    {"barrier", "other warps at a barrier"},
    {"ordering",
     "its own loads and stores, or the caches, for the sake of a fence, release, acquire or barrier"},
    {"no_instruction", "code being fetched"},
    {"dispatch", "the cycles that its last instruction, or the launch, takes before the next"},
    {"sleep", "nanosleep"},
    {"call_stack", "its call-return stack, written or read"},
    {"registers", "registers that other warps are to give up"},
    {"grid", "the grid that its own depends on"},
    {"exit", "what it had in flight as it exited"},
    {"cut_off", "data that it had not got when it, or the run, was ended"},
}};
/// The name as files have it.
[[nodiscard]] constexpr const char* name_of(StallReason reason) {
  return kStallReasonTexts[static_cast<std::size_t>(reason)].name;
}

}  // namespace warpline
