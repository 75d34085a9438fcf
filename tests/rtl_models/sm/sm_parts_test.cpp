#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "rtl_models/base/random.h"
#include "rtl_models/sm/address_space.h"
#include "rtl_models/sm/barrier_unit.h"
#include "rtl_models/sm/edge_wheel.h"
#include "rtl_models/sm/lsu_entries.h"
#include "rtl_models/sm/ready_warps.h"
#include "rtl_models/sm/shared_memory.h"
#include "tests/support/naive_atomic.h"

namespace warpline {
namespace sm_parts_test {

using namespace test;

MemOp shared_op(MemKind kind, DataType type, unsigned vector = 1) {
  MemOp op;
  op.kind = kind;
  op.space = Space::shared;
  op.type = type;
  op.vector = static_cast<std::uint8_t>(vector);
  return op;
}

/// Words per bank of the lanes that go together, counted one by one.
unsigned naive_passes(const MemOp& op, const MemoryAccess& a, LaneMask lanes, unsigned banks) {
  const unsigned bytes = op.bytes_per_lane();
  const bool atomic = op.kind == MemKind::atomic;
  const unsigned together = bytes <= 4 ? 32 : std::max(1U, 128 / bytes);
  unsigned total = 0;
  for (unsigned first = 0; first < kWarpLanes; first += together) {
    std::map<std::uint64_t, std::multiset<std::uint64_t>> in_bank;
    for (unsigned lane = first; lane < first + together; ++lane) {
      if (((lanes >> lane) & 1U) == 0) continue;
      for (unsigned b = 0; b < bytes; b += 4) {
        const std::uint64_t word = (a.address_of(lane) + b) / 4;
        auto& bank = in_bank[word % banks];
        if (atomic || bank.count(word) == 0) bank.insert(word);
      }
    }
    std::size_t most = 0;
    for (const auto& [bank, words] : in_bank) most = std::max(most, words.size());
    total += static_cast<unsigned>(most);
  }
  return total;
}

TEST(SharedMemory, BankConflictsAreThoseCountedOneByOne) {
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    Random random(seed);
    constexpr std::array<unsigned, 6> kBanks = {32, 16, 1, 31, 64, 1024};
    const unsigned banks = kBanks[random.below(kBanks.size())];
    constexpr std::array<DataType, 4> kTypes = {DataType::u8, DataType::u16, DataType::u32, DataType::u64};
    const bool atomic = random.below(4) == 0;
    const MemOp op = shared_op(atomic ? MemKind::atomic : MemKind::load,
                               kTypes[atomic ? 2 + random.below(2) : random.below(4)],
                               atomic ? 1U : 1U << random.below(3));
    SharedMemory shared(4096, banks, false);
    MemoryAccess a;
    a.active = random.below(3) == 0 ? ~LaneMask{0} : static_cast<LaneMask>(random.next()) | 1U;
    const std::uint64_t span = 1 + random.below(64);
    for (unsigned lane = 0; lane < kWarpLanes; ++lane)
      a.address[lane] = random.below(span) * op.bytes_per_lane();
    if (random.below(4) == 0) {
      a.form = AddressForm::strided;
      a.base = a.address[0];
      a.stride = static_cast<std::int64_t>(random.below(40) * op.bytes_per_lane());
    }
    ASSERT_EQ(shared.passes(op, {a, a.active}).all(), naive_passes(op, a, a.active, banks))
        << "seed " << seed << " banks " << banks << " bytes " << op.bytes_per_lane();
  }
}

TEST(SharedMemory, KnownConflicts) {
  SharedMemory shared(65536, 32, false);
  const MemOp op = shared_op(MemKind::load, DataType::u32);
  MemoryAccess a;
  a.active = ~LaneMask{0};
  a.form = AddressForm::strided;
  for (const auto& [stride, passes] :
       std::vector<std::pair<int, unsigned>>{{0, 1}, {4, 1}, {8, 2}, {12, 1}, {128, 32}, {132, 1}}) {
    a.stride = stride;
    EXPECT_EQ(shared.passes(op, {a, a.active}).conflicts, passes - 1) << "stride " << stride;
  }
}

TEST(SharedMemory, LoadsStoresAndAtomicsAreThoseOfAnArray) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    SharedMemory shared(4096, 32, true);
    std::vector<std::uint8_t> naive(4096, 0);
    const std::uint64_t base = 1024, window = 0x7294'0000'0000ULL;
    for (unsigned step = 0; step < 200; ++step) {
      const auto what = random.below(3);
      MemOp op = shared_op(what == 0   ? MemKind::load
                           : what == 1 ? MemKind::store
                                       : MemKind::atomic,
                           random.below(2) != 0 ? DataType::u32 : DataType::u64);
      op.atomic = random.below(2) != 0 ? AtomicOperation::add : AtomicOperation::max;
      const unsigned bytes = op.bytes_per_lane();
      MemoryAccess a;
      a.active = static_cast<LaneMask>(random.next());
      for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
        a.address[lane] = window + random.below(16) * bytes;
        const std::uint64_t value = random.next();
        std::memcpy(a.lane_data(lane), &value, 8);
      }
      LaneBuffers before;
      std::memcpy(before.data.data(), a.data, before.data.size());
      shared.perform(op, {a, a.active, window}, a, base);
      for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
        std::uint64_t old_value = 0, operand = 0, got = 0;
        std::memcpy(&operand, &before.data[lane * MemoryAccess::kMaxLaneBytes], bytes);
        std::memcpy(&got, a.lane_data(lane), bytes);
        std::uint8_t* at = &naive[base + a.address[lane] - window];
        std::memcpy(&old_value, at, bytes);
        const bool active = ((a.active >> lane) & 1U) != 0;
        const std::uint64_t fresh = op.kind == MemKind::store ? operand
                                    : op.kind == MemKind::load
                                        ? old_value
                                        : apply_atomic(op.atomic, op.type, old_value, operand, 0);
        if (active) std::memcpy(at, &fresh, bytes);
        ASSERT_EQ(got, active && op.kind != MemKind::store ? old_value : operand)
            << "seed " << seed << " lane " << lane;
      }
    }
    shared.clear(base, 64);
    MemoryAccess a;
    a.active = 3;
    a.address[0] = 0;
    a.address[1] = 64;
    shared.perform(shared_op(MemKind::load, DataType::u32), {a, 3}, a, base);
    std::uint32_t first = 1, second = 0, want = 0;
    std::memcpy(&first, a.lane_data(0), 4);
    std::memcpy(&second, a.lane_data(1), 4);
    std::memcpy(&want, &naive[base + 64], 4);
    EXPECT_EQ(first, 0U);
    EXPECT_EQ(second, want) << "clearing stops at its end";
  }
}

/// The first `threads` lanes of a warp, and of the warps behind it where they are more.
bool arrive(BarrierUnit& unit, const BarrierOp& op, unsigned slot, unsigned threads, unsigned live) {
  for (; threads > kWarpLanes; threads -= kWarpLanes)
    if (unit.arrive(op, slot++ % 64, ~LaneMask{0}, live)) return true;
  return unit.arrive(op, slot % 64, ~LaneMask{0} >> (kWarpLanes - threads), live);
}

TEST(BarrierUnit, CompletesWhenAllThreadsOrThoseAskedForHaveArrived) {
  BarrierUnit unit;
  EXPECT_FALSE(arrive(unit, {2, 0, true}, 0, 32, 96));
  EXPECT_FALSE(arrive(unit, {5, 64, true}, 0, 32, 96));
  EXPECT_FALSE(arrive(unit, {2, 0, true}, 0, 20, 96));
  EXPECT_EQ(unit.describe(2, 96), "barrier 2, which 44 of 96 threads have not reached");
  EXPECT_EQ(unit.describe(5, 96), "barrier 5, which 32 of 64 threads have not reached");
  EXPECT_TRUE(arrive(unit, {5, 64, false}, 0, 32, 96));
  EXPECT_TRUE(arrive(unit, {2, 0, true}, 0, 44, 96));
  EXPECT_FALSE(arrive(unit, {2, 0, true}, 0, 95, 96)) << "ready for its next use";
  EXPECT_TRUE(arrive(unit, {2, 0, true}, 0, 1, 96));
}

TEST(BarrierUnit, KnowsWhichWarpsWaitAtWhichBarrier) {
  BarrierUnit unit;
  EXPECT_FALSE(arrive(unit, {2, 0, true}, 0, 16, 96));
  EXPECT_FALSE(arrive(unit, {2, 0, true}, 63, 32, 96));
  EXPECT_FALSE(arrive(unit, {3, 0, true}, 0, 16, 96));
  EXPECT_FALSE(arrive(unit, {3, 0, false}, 1, 32, 96)) << "bar.arrive";
  EXPECT_TRUE(unit.waits_at(2, 0));
  EXPECT_TRUE(unit.waits_at(2, 63));
  EXPECT_TRUE(unit.waits_at(3, 0));
  EXPECT_FALSE(unit.waits_at(3, 1));
  EXPECT_TRUE(arrive(unit, {2, 0, true}, 1, 48, 96));
  EXPECT_FALSE(unit.waits_at(2, 0));
  EXPECT_TRUE(unit.waits_at(3, 0));
}

TEST(BarrierUnit, ExitsCompleteBarriersOfAllThreadsAndNoCountedOnes) {
  BarrierUnit unit;
  EXPECT_FALSE(arrive(unit, {0, 0, true}, 0, 32, 96));
  EXPECT_FALSE(arrive(unit, {1, 64, true}, 0, 32, 96));
  EXPECT_EQ(unit.first_complete(64), BarrierUnit::kBarriers);
  EXPECT_EQ(unit.first_complete(33), BarrierUnit::kBarriers);
  EXPECT_EQ(unit.first_complete(32), 0U);
  EXPECT_EQ(unit.first_complete(32), BarrierUnit::kBarriers);
  EXPECT_EQ(unit.first_complete(0), BarrierUnit::kBarriers)
      << "nobody waits at a barrier that nobody reached";
}

TEST(BarrierUnit, AThreadThatArrivesAndExitsIsCountedOnce) {
  BarrierUnit unit;
  EXPECT_FALSE(unit.arrive({0, 0, false}, 1, 1, 3));
  unit.exit(1, 1);
  EXPECT_EQ(unit.first_complete(2), BarrierUnit::kBarriers);
  EXPECT_FALSE(unit.arrive({0, 0, true}, 0, 1, 2)) << "the third has not arrived";
  EXPECT_EQ(unit.describe(0, 2), "barrier 0, which 1 of 3 threads have not reached");
  EXPECT_TRUE(unit.arrive({0, 0, true}, 2, 1, 2));
  EXPECT_FALSE(unit.arrive({0, 0, true}, 0, 1, 2)) << "its next use is for those who are left";
  EXPECT_TRUE(unit.arrive({0, 0, true}, 2, 1, 2));
}

/// Threads of four warps arrive, wait and exit in any order, against sets of threads.
TEST(BarrierUnit, KeepsCountAsSetsOfThreadsDo) {
  constexpr unsigned kWarps = 4, kOfEach = 5;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    BarrierUnit unit;
    std::set<unsigned> live, arrived, waiting;
    for (unsigned t = 0; t < kWarps * kOfEach; ++t) live.insert(t);
    const auto completes = [&] {
      return !arrived.empty() && std::includes(arrived.begin(), arrived.end(), live.begin(), live.end());
    };
    const auto completed = [&] {
      arrived.clear();
      waiting.clear();
    };
    for (unsigned step = 0; step < 200 && !live.empty(); ++step) {
      const auto warp = static_cast<unsigned>(random.below(kWarps));
      const bool waits = random.below(2) == 0, exits = random.below(8) == 0;
      LaneMask lanes = 0;
      for (unsigned lane = 0; lane < kOfEach; ++lane) {
        const unsigned thread = warp * kOfEach + lane;
        const bool can =
            live.count(thread) != 0 && waiting.count(thread) == 0 && (exits || arrived.count(thread) == 0);
        if (!can || random.below(2) == 0) continue;
        lanes |= LaneMask{1} << lane;
        if (exits) live.erase(thread);
        if (!exits) arrived.insert(thread);
        if (!exits && waits) waiting.insert(thread);
      }
      if (lanes == 0) continue;
      bool complete = false;
      if (exits) {
        unit.exit(warp, lanes);
        complete = unit.first_complete(static_cast<unsigned>(live.size())) == 3;
      } else {
        complete = unit.arrive({3, 0, waits}, warp, lanes, static_cast<unsigned>(live.size()));
      }
      ASSERT_EQ(complete, completes()) << "seed " << seed << " step " << step;
      if (complete) completed();
    }
  }
}

TEST(AddressSpace, FindsWhatALoopOverTheMappingsFinds) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    AddressSpace space;
    std::vector<Mapping> all;
    std::uint64_t base = random.below(2) * 256;
    for (unsigned i = 0; i < 1 + random.below(10); ++i) {
      const Mapping m{base, 1 + random.below(1000), PhysicalAddress{i * 4096}, static_cast<std::uint16_t>(i)};
      all.push_back(m);
      base = (base + m.bytes + 255) / 256 * 256 + random.below(3) * 256;
    }
    for (std::size_t i = all.size(); i-- > 0;) std::swap(all[i], all[random.below(i + 1)]);
    for (const Mapping& m : all) space.map(m);
    const Mapping* hint = nullptr;
    for (unsigned k = 0; k < 2000; ++k) {
      const std::uint64_t address =
          random.below(50) == 0 ? ~std::uint64_t{0} - random.below(8) : random.below(base + 300);
      const auto bytes = static_cast<unsigned>(1 + random.below(16));
      const Mapping* got = space.find(VirtualAddress{address}, bytes, hint);
      const auto want = std::find_if(all.begin(), all.end(), [&](const Mapping& m) {
        return address >= m.base && address - m.base < m.bytes && m.bytes - (address - m.base) >= bytes;
      });
      ASSERT_EQ(got != nullptr, want != all.end()) << "seed " << seed << " address " << address;
      if (got != nullptr) {
        ASSERT_EQ(got->base, want->base);
      }
    }
  }
}

TEST(EdgeWheel, AgreesWithAListOfEdges) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    EdgeWheel<2> wheel;
    std::uint64_t edge = random.below(1000);
    wheel.reset(edge);
    std::map<unsigned, std::uint64_t> naive;
    for (unsigned step = 0; step < 2000; ++step) {
      const auto n = static_cast<unsigned>(random.below(128));
      const auto found = naive.find(n);
      std::set<unsigned> due, want;
      if (random.below(4) == 0) {
        edge += random.below(random.below(4) == 0 ? 200 : 3);
        wheel.advance(edge, [&due](unsigned word, std::uint64_t bits) {
          for (; bits != 0; bits &= bits - 1)
            due.insert(64 * word + static_cast<unsigned>(__builtin_ctzll(bits)));
        });
        for (const auto& [thing, at] : naive)
          if (at <= edge) want.insert(thing);
        for (const unsigned thing : want) naive.erase(thing);
      } else if (found == naive.end()) {
        naive[n] = edge + 1 + random.below(random.below(2) != 0 ? 10 : 300);
        wheel.put(n, naive[n]);
      } else if (random.below(8) == 0) {
        wheel.remove(n);
        naive.erase(found);
      }
      std::uint64_t next = ~std::uint64_t{0};
      for (const auto& thing : naive) next = std::min(next, thing.second);
      ASSERT_EQ(due, want) << "seed " << seed;
      ASSERT_EQ(wheel.next(), next) << "seed " << seed;
      ASSERT_EQ(wheel.now(), edge);
    }
  }
}

TEST(ReadyWarps, AgreesWithAListOfEdges) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    ReadyWarps wheel;
    std::uint64_t edge = random.below(1000);
    wheel.reset(edge);
    std::map<unsigned, std::uint64_t> naive;
    for (unsigned step = 0; step < 2000; ++step) {
      const auto slot = static_cast<unsigned>(random.below(64));
      switch (random.below(4)) {
        case 0:
        case 1:
          if (naive.count(slot) == 0) {
            const std::uint64_t at = edge + random.below(random.below(2) != 0 ? 10 : 300);
            wheel.at(slot, at);
            naive[slot] = at;
          }
          break;
        case 2:
          if (naive.count(slot) != 0 && random.below(2) != 0) {
            if (naive[slot] <= edge) {
              wheel.issued(std::uint64_t{1} << slot);
            } else {
              wheel.remove(slot);
            }
            naive.erase(slot);
          }
          break;
        default: edge += random.below(random.below(4) == 0 ? 200 : 3); wheel.advance(edge);
      }
      std::uint64_t ready = 0, next = kNever;
      for (const auto& [s, at] : naive) {
        if (at <= edge) {
          ready |= std::uint64_t{1} << s;
        } else {
          next = std::min(next, at);
        }
      }
      ASSERT_EQ(wheel.ready(), ready) << "seed " << seed << " step " << step;
      ASSERT_EQ(wheel.next_edge(), next) << "seed " << seed << " step " << step;
    }
  }
}

TEST(LsuEntries, AreQueuedInOrderAsFarAsThereIsRoom) {
  SmParameters parameters;
  parameters.lsu_entries = 3;
  parameters.lsu_queue = 2;
  LsuEntries entries(parameters);
  std::vector<unsigned> order;
  for (unsigned n = 0; n < 10; ++n) {
    while (entries.has_room()) {
      unsigned index = 0;
      entries.take(index).slot = n;
      entries.queue(index);
      order.push_back(index);
    }
    ASSERT_EQ(entries.queued(), 2U);
    ASSERT_EQ(entries.front(), order.front());
    EXPECT_TRUE(entries.has_queued(entries[order.back()].slot));
    entries.pop_front();
    if (n == 0) {
      EXPECT_EQ(entries.in_use(), 2U);
      EXPECT_TRUE(entries.has_room());
    }
    entries.free(order.front());
    order.erase(order.begin());
  }
  entries.kill(entries[order.front()].slot);
  EXPECT_TRUE(entries[order.front()].killed);
}

TEST(SharedMemory, PerformsEveryAtomicThatPtxHas) {
  Random random(5);
  for (const AtomicForm& form : atomic_forms()) {
    SharedMemory shared(1024, 32, true);
    std::array<std::uint8_t, kLineBytes> naive{};
    MemOp op = shared_op(MemKind::atomic, form.type);
    op.atomic = form.operation;
    op.vector = static_cast<std::uint8_t>(form.vector);
    const unsigned bytes = op.bytes_per_lane();
    for (unsigned step = 0; step < 20; ++step) {
      AtomicBlock block;
      block.operation = form.operation;
      block.type = form.type;
      block.vector = op.vector;
      block.count = kWarpLanes;
      MemoryAccess a;
      a.active = ~LaneMask{0};
      for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
        block.lanes[lane].offset = static_cast<std::uint8_t>(random.below(kLineBytes / bytes) * bytes);
        a.address[lane] = block.lanes[lane].offset;
        const LaneBytes operand = joined_bytes(random.below(3) == 0 ? 0 : random.next(), 0);
        const LaneBytes second = joined_bytes(random.next(), random.next());
        std::memcpy(a.lane_data(lane), operand.data(), 16);
        std::memcpy(&block.lanes[lane].operand, operand.data(), std::min(bytes, 8U));
        std::memcpy(&block.lanes[lane].second, second.data(), std::min(bytes, 8U));
        std::memcpy(&block.high[lane].second, &second[8], 8);
        a.second[lane] = block.lanes[lane].second;
        if (bytes == 16) std::memcpy(a.lane_data(lane) + 16, second.data(), 16);
      }
      shared.perform(op, {a, a.active}, a, 256);
      for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
        const LaneBytes old = naive_lane(block, lane, naive.data(), Subnormals::kept);
        ASSERT_EQ(std::memcmp(a.lane_data(lane), old.data(), bytes), 0)
            << name_of(form.type) << " lane " << lane;
      }
    }
  }
}

TEST(SharedMemory, SumsKeepSubnormals) {
  SharedMemory shared(64, 32, true);
  MemOp op = shared_op(MemKind::atomic, DataType::f32);
  op.atomic = AtomicOperation::add;
  MemoryAccess a;
  a.active = 3;
  a.address[0] = a.address[1] = 4;
  const std::uint32_t smallest = 1;
  for (const unsigned lane : {0U, 1U}) std::memcpy(a.lane_data(lane), &smallest, 4);
  shared.perform(op, {a, 3}, a, 0);
  std::uint32_t second = 0;
  std::memcpy(&second, a.lane_data(1), 4);
  EXPECT_EQ(second, 1U);
}

}  // namespace sm_parts_test
}  // namespace warpline
