#include "rtl_models/sim/atomics.h"

#include "rtl_models/isa/atomic.h"

namespace warpline {
namespace {

constexpr unsigned kLowBytes = 8;

std::uint8_t* bytes_of(std::uint64_t& word) {
  return reinterpret_cast<std::uint8_t*>(&word);
}

/// An operation on 16 bytes at once.
void perform_wide(AtomicBlock& block, unsigned i, std::uint8_t* line) {
  LaneAtomic& low = block.lanes[i];
  LaneAtomicHigh& high = block.high[i];
  const std::array<std::uint64_t, 2> operand = {low.operand, high.operand},
                                     second = {low.second, high.second};
  std::array<std::uint64_t, 2> old_value{};
  perform_atomic(block.operation, block.type, 1, line + low.offset,
                 reinterpret_cast<const std::uint8_t*>(operand.data()),
                 reinterpret_cast<const std::uint8_t*>(second.data()),
                 reinterpret_cast<std::uint8_t*>(old_value.data()));
  low.old_value = old_value[0];
  high.old_value = old_value[1];
}

/// Where a process shares memory with GPUs, its own threads may change the word meanwhile.
template <class Word>
std::uint64_t exchange(const AtomicBlock& block, const LaneAtomic& lane, std::uint8_t* at) {
  using Shared [[gnu::may_alias]] = Word;
  auto* const word = static_cast<Shared*>(static_cast<void*>(at));
  Word before = __atomic_load_n(word, __ATOMIC_RELAXED), after = 0;
  do {
    after = static_cast<Word>(apply_atomic(block.operation, block.type, before, lane.operand, lane.second));
  } while (!__atomic_compare_exchange_n(word, &before, after, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
  return before;
}

}  // namespace

void perform_element(AtomicBlock& block, unsigned i, unsigned element, std::uint8_t* line) {
  const unsigned size = size_of(block.type);
  if (size > kLowBytes) return perform_wide(block, i, line);
  LaneAtomic& lane = block.lanes[i];
  LaneAtomicHigh& high = block.high[i];
  const unsigned place = element * size, at = place % kLowBytes;
  const bool low = place < kLowBytes;
  perform_atomic(block.operation, block.type, 1, line + lane.offset + place,
                 bytes_of(low ? lane.operand : high.operand) + at,
                 bytes_of(low ? lane.second : high.second) + at,
                 bytes_of(low ? lane.old_value : high.old_value) + at);
}

void perform_atomics(AtomicBlock& block, std::uint8_t* line) {
  const unsigned size = size_of(block.type);
  if (block.vector > 1 || size > kLowBytes) {
    for (unsigned i = 0; i < block.count; ++i)
      for (unsigned e = 0; e < block.vector; ++e) perform_element(block, i, e, line);
    return;
  }
  for (unsigned i = 0; i < block.count; ++i) {
    LaneAtomic& lane = block.lanes[i];
    if (size != 2) {
      std::uint8_t* const at = line + lane.offset;
      lane.old_value =
          size == 4 ? exchange<std::uint32_t>(block, lane, at) : exchange<std::uint64_t>(block, lane, at);
      continue;
    }
    std::uint64_t old_value = 0;
    __builtin_memcpy(&old_value, line + lane.offset, size);
    const std::uint64_t fresh =
        apply_atomic(block.operation, block.type, old_value, lane.operand, lane.second);
    __builtin_memcpy(line + lane.offset, &fresh, size);
    lane.old_value = old_value;
  }
}

ByteMask atomic_bytes(const AtomicBlock& block) {
  ByteMask m;
  const unsigned bytes = block.lane_bytes();
  for (unsigned i = 0; i < block.count; ++i) m.set(block.lanes[i].offset, bytes);
  return m;
}

}  // namespace warpline
