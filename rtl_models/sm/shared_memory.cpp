#include "rtl_models/sm/shared_memory.h"

#include <algorithm>
#include <array>

#include "rtl_models/isa/atomic.h"
#include "rtl_models/sim/atomics.h"

namespace warpline {
namespace {

constexpr unsigned kMaxBanks = 1024;

/// Whether banks can be told without a division, and kept in one word of bits.
bool are_usual(unsigned banks) {
  return banks <= 64 && (banks & (banks - 1)) == 0;
}

/// How many different ones of `count` words, at most a warp's, fall in the fullest of usual banks.
unsigned most_in_usual_bank(const std::uint32_t* words, unsigned count, unsigned banks) {
  std::array<std::uint32_t, 64> word_of;  // of the banks in `seen`
  std::uint64_t seen = 0;
  unsigned n = 0;
  for (; n < count; ++n) {
    const unsigned bank = words[n] & (banks - 1);
    if ((seen >> bank & 1U) == 0) {
      seen |= std::uint64_t{1} << bank;
      word_of[bank] = words[n];
    } else if (word_of[bank] != words[n]) {
      break;
    }
  }
  if (n == count) return 1;  // no two meet: the usual case
  std::array<std::uint32_t, kWarpLanes> different;
  std::array<std::uint32_t, 64> in_bank{};
  unsigned found = 0, most = 1;
  for (n = 0; n < count; ++n) {
    const auto end = different.begin() + found;
    if (std::find(different.begin(), end, words[n]) != end) continue;
    different[found++] = words[n];
    most = std::max(most, ++in_bank[words[n] & (banks - 1)]);
  }
  return most;
}

/// How many different words fall in the fullest bank; `count_all`: how many words, different or not. Sorts
/// `words`.
unsigned conflict_degree(std::vector<std::uint64_t>& words, unsigned banks, bool count_all) {
  std::sort(words.begin(), words.end());
  if (!count_all) words.erase(std::unique(words.begin(), words.end()), words.end());
  std::uint8_t in_bank[kMaxBanks] = {};
  unsigned most = 1;
  for (const std::uint64_t w : words) most = std::max<unsigned>(most, ++in_bank[w % banks]);
  return most;
}

/// Loads `size` bytes for each lane.
template <unsigned size>
void load_lanes(const std::uint8_t* from, const LaneAddresses<SharedAddress>& addresses,
                const MemoryAccess& access) {
  addresses.for_each([&](unsigned lane, SharedAddress at) {
    __builtin_memcpy(access.data + std::size_t{lane} * MemoryAccess::kMaxLaneBytes,
                     from + AddressWindows::own_offset(at.value), size);
  });
}
template <unsigned size>
void store_lanes(std::uint8_t* to, const LaneAddresses<SharedAddress>& addresses,
                 const MemoryAccess& access) {
  addresses.for_each([&](unsigned lane, SharedAddress at) {
    __builtin_memcpy(to + AddressWindows::own_offset(at.value),
                     access.data + std::size_t{lane} * MemoryAccess::kMaxLaneBytes, size);
  });
}

/// Performs a load or store of whole elements of one word, two or four, without a choice for each lane.
bool perform_plainly(const MemOp& op, const LaneAddresses<SharedAddress>& addresses,
                     const MemoryAccess& access, std::uint8_t* bytes) {
  const unsigned size = op.bytes_per_lane();
  if (op.kind == MemKind::load && op.end_of_access() == size) {
    switch (size) {
      case 4: load_lanes<4>(bytes, addresses, access); return true;
      case 8: load_lanes<8>(bytes, addresses, access); return true;
      case 16: load_lanes<16>(bytes, addresses, access); return true;
      default: return false;
    }
  }
  if (op.kind == MemKind::store && op.sink_lanes == 0) {
    switch (size) {
      case 4: store_lanes<4>(bytes, addresses, access); return true;
      case 8: store_lanes<8>(bytes, addresses, access); return true;
      case 16: store_lanes<16>(bytes, addresses, access); return true;
      default: return false;
    }
  }
  return false;
}

}  // namespace

SharedMemory::Passes SharedMemory::passes(const MemOp& op, const LaneAddresses<SharedAddress>& addresses) {
  const unsigned bytes = op.bytes_per_lane();
  const bool atomic = op.is_atomic() || op.kind == MemKind::mbarrier ||
                      (op.kind == MemKind::async_store && op.atomic != AtomicOperation::none);
  const unsigned words_per_lane = std::max(1U, bytes / 4);
  const unsigned accessed = op.accessed_words();
  const unsigned lanes_per_part = std::max(1U, kWarpLanes / words_per_lane);
  // Whole aligned vectors meet in groups of banks as their words do in banks.
  if (!atomic && are_usual(banks_) && banks_ >= words_per_lane && op.sink_lanes == 0) {
    if (addresses.contiguous(4) && bytes == 4 && banks_ == kWarpLanes) return {1, 0};
    const auto shift = static_cast<unsigned>(__builtin_ctz(4 * words_per_lane));
    std::array<std::uint32_t, kWarpLanes> words;
    const auto passes_of = [&](LaneMask lanes) {
      unsigned count = 0;
      addresses.only(lanes).for_each([&](unsigned, SharedAddress at) {
        words[count++] = static_cast<std::uint32_t>(AddressWindows::own_offset(at.value) >> shift);
      });
      return most_in_usual_bank(words.data(), count, banks_ / words_per_lane) - 1;
    };
    if (words_per_lane == 1) return {1, passes_of(addresses.lanes())};
    Passes total;
    for (unsigned first = 0; first < kWarpLanes; first += lanes_per_part) {
      const LaneMask part = addresses.lanes() & (~LaneMask{0} >> (kWarpLanes - lanes_per_part) << first);
      if (part == 0) continue;
      ++total.parts;
      total.conflicts += passes_of(part);
    }
    total.parts = std::max(total.parts, 1U);
    return total;
  }
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
  if (perform_plainly(op, addresses, access, bytes_.at(base))) return;
  const unsigned bytes = op.bytes_per_lane();
  const unsigned accessed = op.end_of_access();
  for_each_lane(addresses.lanes(), [&](unsigned lane) {
    std::uint8_t* at = bytes_.at(base + AddressWindows::own_offset(addresses[lane].value));
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
  std::uint8_t* const at = bytes_.at(line);
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
  std::uint8_t* const at = bytes_.at(to);
  std::copy_n(from, count, at);
  std::fill_n(at + count, bytes - count, std::uint8_t{0});
}

void SharedMemory::clear(std::uint64_t base, std::uint64_t bytes) {
  if (!bytes_.empty()) std::fill_n(bytes_.at(base), bytes, std::uint8_t{0});
}

}  // namespace warpline
