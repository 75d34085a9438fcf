#include "rtl_models/sm/shared_memory.h"

#include <algorithm>
#include <array>

#include "rtl_models/isa/atomic.h"
#include "rtl_models/sim/atomics.h"

namespace warpline {
namespace {

constexpr unsigned kMaxBanks = 1024;

/// Whether no two different words share a bank: the usual case, found without sorting.
bool conflict_free(const std::vector<std::uint64_t>& words, unsigned banks) {
  std::array<std::uint64_t, kMaxBanks / 64> seen{};
  std::array<std::uint64_t, kMaxBanks> word_of;
  for (const std::uint64_t w : words) {
    const auto bank = static_cast<unsigned>(w % banks);
    const std::uint64_t bit = std::uint64_t{1} << (bank % 64);
    if ((seen[bank / 64] & bit) == 0) {
      seen[bank / 64] |= bit;
      word_of[bank] = w;
    } else if (word_of[bank] != w) {
      return false;
    }
  }
  return true;
}

/// How many different words fall in the fullest bank. `words` is left sorted.
unsigned conflict_degree(std::vector<std::uint64_t>& words, unsigned banks, bool count_all) {
  if (!count_all && conflict_free(words, banks)) return 1;
  std::sort(words.begin(), words.end());
  if (!count_all) words.erase(std::unique(words.begin(), words.end()), words.end());
  std::uint8_t in_bank[kMaxBanks] = {};
  unsigned most = 1;
  for (const std::uint64_t w : words) most = std::max<unsigned>(most, ++in_bank[w % banks]);
  return most;
}

}  // namespace

SharedMemory::Passes SharedMemory::passes(const MemOp& op, const LaneAddresses<SharedAddress>& addresses) {
  const unsigned bytes = op.bytes_per_lane();
  const bool atomic = op.is_atomic() || op.kind == MemKind::mbarrier ||
                      (op.kind == MemKind::async_store && op.atomic != AtomicOperation::none);
  const unsigned words_per_lane = std::max(1U, bytes / 4);
  const unsigned accessed = op.accessed_words();
  const unsigned lanes_per_part = std::max(1U, kWarpLanes / words_per_lane);
  Passes total;
  for (unsigned first = 0; first < kWarpLanes; first += lanes_per_part) {
    words_.clear();
    for (unsigned lane = first; lane < first + lanes_per_part; ++lane) {
      if (((addresses.lanes() >> lane) & 1U) == 0) continue;
      const std::uint64_t word = AddressWindows::own_offset(addresses[lane].value) / 4;
      for (unsigned w = 0; w < words_per_lane; ++w)
        if ((accessed >> w & 1U) != 0) words_.push_back(word + w);
    }
    if (words_.empty()) continue;
    ++total.parts;
    total.conflicts += conflict_degree(words_, banks_, atomic) - 1;
  }
  total.parts = std::max(total.parts, 1U);
  return total;
}

void SharedMemory::perform(const MemOp& op, const LaneAddresses<SharedAddress>& addresses,
                           MemoryAccess& access, std::uint64_t base) {
  if (bytes_.empty()) return;
  const unsigned bytes = op.bytes_per_lane();
  const unsigned accessed = op.end_of_access();
  for_each_lane(addresses.lanes(), [&](unsigned lane) {
    std::uint8_t* at = &bytes_[base + AddressWindows::own_offset(addresses[lane].value)];
    std::uint8_t* data = access.lane_data(lane);
    if (op.kind == MemKind::load) {
      __builtin_memcpy(data, at, accessed);
    } else if (op.kind == MemKind::store && op.sink_lanes != 0) {
      const unsigned size = size_of(op.type);
      for (unsigned n = 0; n < op.vector; ++n)
        if (op.has_element(n)) __builtin_memcpy(at + n * size, data + n * size, size);
    } else if (op.kind == MemKind::store) {
      __builtin_memcpy(at, data, bytes);
    } else {
      std::array<std::uint8_t, 16> old_value;
      const bool wide = bytes > sizeof access.second[lane];
      const std::uint8_t* second =
          wide ? data + bytes : reinterpret_cast<std::uint8_t*>(&access.second[lane]);
      perform_atomic(op.atomic, op.type, op.vector, at, data, second, old_value.data(), Subnormals::kept);
      __builtin_memcpy(data, old_value.data(), bytes);
    }
  });
}

unsigned SharedMemory::passes(const Request& r) const {
  if (r.command != Command::atomic && r.command != Command::reduce) {
    const unsigned words = kSectorBytes / 4 * sector_count(r.sectors);
    return (words + banks_ - 1) / banks_;
  }
  std::array<std::uint8_t, kMaxBanks> in_bank{};
  const unsigned words = std::max(1U, r.atomics->lane_bytes() / 4);
  unsigned most = 1;
  for (unsigned i = 0; i < r.atomics->count; ++i) {
    const LaneAtomic& lane = r.atomics->lanes[i];
    const auto times = static_cast<std::uint8_t>(r.atomics->of_mbarriers ? lane.second : 1);
    for (unsigned w = 0; w < words; ++w)
      most = std::max<unsigned>(most, in_bank.at((lane.offset / 4U + w) % banks_) += times);
  }
  return most;
}

void SharedMemory::perform(Request& r, std::uint64_t line) {
  if (bytes_.empty()) return;
  // The last line of a CTA's part may end beyond all of shared memory.
  const auto room = static_cast<unsigned>(std::min<std::uint64_t>(kLineBytes, bytes_.size() - line));
  std::uint8_t* const at = &bytes_[line];
  switch (r.command) {
    case Command::read: __builtin_memcpy(r.data.data(), at, room); break;
    case Command::write:
      for (unsigned n = 0; n < room; ++n)
        if (r.bytes.test(n)) at[n] = r.data[n];
      break;
    case Command::atomic:
    case Command::reduce: {
      AtomicBlock& block = *r.atomics;
      const unsigned bytes = block.lane_bytes();
      for (unsigned i = 0; i < block.count; ++i) {
        std::array<std::uint8_t, 16> operand{}, second{}, old_value{};
        gather_value(operand.data(), block.lanes[i].operand, block.high[i].operand, bytes);
        gather_value(second.data(), block.lanes[i].second, block.high[i].second, bytes);
        perform_atomic(block.operation, block.type, block.vector, at + block.lanes[i].offset, operand.data(),
                       second.data(), old_value.data(), Subnormals::kept);
        spread_value(old_value.data(), block.lanes[i].old_value, block.high[i].old_value, bytes);
      }
      break;
    }
    case Command::maintain:
    case Command::control: break;
  }
}

void SharedMemory::fill(std::uint64_t to, const std::uint8_t* from, unsigned count, unsigned bytes) {
  if (bytes_.empty()) return;
  const auto at = bytes_.begin() + static_cast<std::ptrdiff_t>(to);
  std::copy_n(from, count, at);
  std::fill_n(at + count, bytes - count, std::uint8_t{0});
}

void SharedMemory::clear(std::uint64_t base, std::uint64_t bytes) {
  if (!bytes_.empty())
    std::fill_n(bytes_.begin() + static_cast<std::ptrdiff_t>(base), bytes, std::uint8_t{0});
}

}  // namespace warpline
