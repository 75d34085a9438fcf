#include "rtl_models/gpu_switch/gpu_switch.h"

#include <gtest/gtest.h>

#include <memory>

#include "rtl_models/base/random.h"
#include "tests/support/mock_components.h"

namespace warpline::test {
namespace gpu_switch_test {

PhysicalAddress vidmem(std::uint64_t offset) {
  return physical(Aperture::vidmem, offset);
}

TEST(MulticastTable, FindsTheObjectOfALine) {
  MulticastTable table;
  EXPECT_EQ(table.find(physical(Aperture::multicast, 0)), nullptr);
  const PhysicalAddress a = table.add(300, {{0, vidmem(0x1000), 0}, {2, vidmem(0x4000), 0}});
  const PhysicalAddress b = table.add(128, {{1, vidmem(0), 0}});
  EXPECT_EQ(a.value, physical(Aperture::multicast, 0).value);
  EXPECT_EQ(b.value, physical(Aperture::multicast, 512).value);
  const auto at = [&table](std::uint64_t offset) {
    return table.find(physical(Aperture::multicast, offset));
  };
  ASSERT_NE(at(256), nullptr);
  EXPECT_EQ(at(256)->replicas.size(), 2U);
  EXPECT_EQ(at(384), nullptr);
  ASSERT_NE(at(512), nullptr);
  EXPECT_EQ(at(512)->replicas.size(), 1U);
  EXPECT_EQ(at(640), nullptr);
  EXPECT_EQ(table.find(vidmem(0)), nullptr);
}

Item multimem(Cycle at, PhysicalAddress line, Command command, AtomicOperation operation,
              unsigned lanes = 1) {
  AtomicBlock block;
  block.operation = operation;
  block.type = DataType::u32;
  for (unsigned n = 0; n < lanes; ++n) {
    block.lanes[n].lane = block.lanes[n].offset = static_cast<std::uint8_t>(n * 4);
    block.lanes[n].operand = n;
  }
  block.count = lanes;
  Item item = atomic_item(at, line, block);
  item.request.command = command;
  item.request.sectors = sectors_of(0, lanes * 4);
  return item;
}

/// GPUs around a switch: each asks, and has the memory of a replica.
struct SwitchBench {
  struct Shape {
    std::vector<std::vector<Item>> items;  ///< of each GPU
    ChannelParameters channel{32, 1, 4, 1};
    Cycle delay = 1;  ///< of a memory's answer
    Cycle gap = 1;    ///< between requests that one takes
    unsigned requests = 64;
    TickMode mode = TickMode::lazy;
  };
  explicit SwitchBench(const Shape& shape, const MulticastTable& table)
      : engine(shape.mode, 7),
        middle(engine, "gpu_switch[0]", {}, static_cast<unsigned>(shape.items.size()), {1, shape.requests},
               {shape.channel.width, shape.channel.width}, table, false) {
    for (unsigned i = 0; i < shape.items.size(); ++i) {
      const std::string gpu = "gpu[" + std::to_string(i) + "]";
      askers.push_back(std::make_unique<Requester>(engine, gpu, ClockDomain{}, shape.items[i], 1,
                                                   std::uint64_t{i} << 32U));
      connect(askers[i]->out, middle.from_gpu(i), shape.channel);
      connect(middle.to_gpu(i), askers[i]->in, shape.channel);
      memories.push_back(
          std::make_unique<Target>(engine, gpu + ".memory", ClockDomain{}, shape.delay, shape.gap));
      connect(middle.to_replica(i), memories[i]->in, shape.channel);
      connect(memories[i]->out, middle.from_replica(i), shape.channel);
    }
  }
  Engine engine;
  GpuSwitch middle;
  std::vector<std::unique_ptr<Requester>> askers;
  std::vector<std::unique_ptr<Target>> memories;
};

TEST(GpuSwitch, ALoadTakesTheFourChannelsAndTheSlowestMemory) {
  MulticastTable table;
  const PhysicalAddress object = table.add(256, {{0, vidmem(0x100), 0}, {1, vidmem(0x200), 0}});
  const auto answered = [&](const ChannelParameters& channel, Cycle delay, Command command, unsigned lanes) {
    SwitchBench bench({{{multimem(0, object, command, AtomicOperation::add, lanes)}, {}}, channel, delay},
                      table);
    EXPECT_EQ(bench.engine.run_until(1000), RunOutcome::quiescent);
    for (unsigned gpu = 0; gpu < 2; ++gpu) {
      EXPECT_EQ(bench.memories[gpu]->seen.size(), 1U);
      EXPECT_EQ(bench.memories[gpu]->seen.at(0).line.value, vidmem(gpu == 0 ? 0x100 : 0x200).value);
    }
    return bench.askers[0]->answers[0].answered - bench.askers[0]->answers[0].sent;
  };
  EXPECT_EQ(answered({32, 3, 8, 1}, 5, Command::atomic, 1), 3 + 3 + 5 + 3 + 3);
  // 24 words are three beats there, and of the sectors of each replica, and of the sums.
  EXPECT_EQ(answered({32, 3, 8, 1}, 5, Command::atomic, 24), 5 + 3 + 5 + 5 + 5);
  EXPECT_EQ(answered({32, 3, 8, 1}, 5, Command::reduce, 24), 5 + 5 + 5 + 3 + 3);
}

TEST(GpuSwitch, WhatHasNoMeaningThereIsAnsweredWithAnError) {
  MulticastTable table;
  const PhysicalAddress object = table.add(128, {{0, vidmem(0), 0}, {1, vidmem(0), 0}});
  const PhysicalAddress absent = table.add(128, {{1, vidmem(0), 0}, {2, vidmem(0), 0}});  // there is no GPU 2
  std::vector<Item> items;
  items.push_back(multimem(0, object, Command::atomic, AtomicOperation::exchange));
  items.push_back(read_item(0, object, 1));
  items.push_back(multimem(0, PhysicalAddress{object.value + 128}, Command::reduce, AtomicOperation::add));
  items.push_back(write_item(0, vidmem(0), ByteMask::of_sectors(1)));
  items.push_back(write_item(0, absent, ByteMask::of_sectors(1)));
  items.push_back(write_item(0, object, ByteMask::of_sectors(1)));
  SwitchBench bench({{items, {}}}, table);
  ASSERT_EQ(bench.engine.run_until(1000), RunOutcome::quiescent);
  for (std::size_t n = 0; n < items.size(); ++n)
    EXPECT_EQ(bench.askers[0]->answers[n].status, n == 5 ? Status::ok : Status::address_error) << n;
  EXPECT_EQ(bench.middle.counters(0).refused, 5U);
  EXPECT_EQ(bench.middle.counters(0).requests, 6U);
  EXPECT_EQ(bench.middle.counters(0).responses, 6U);
  EXPECT_EQ(bench.memories[1]->seen.size(), 1U);
}

TEST(GpuSwitch, AGpuWithoutRoomWaitsAndTheOthersDoNot) {
  MulticastTable table;
  const PhysicalAddress object = table.add(256, {{0, vidmem(0), 0}, {1, vidmem(0), 0}});
  std::vector<Item> many(4, write_item(0, object, ByteMask::of_sectors(1)));
  const std::vector<Item> late = {write_item(10, object, ByteMask::of_sectors(1))};
  SwitchBench::Shape shape{{many, late}, {32, 1, 8, 1}, 50, 1, 2};
  SwitchBench bench(shape, table);
  ASSERT_EQ(bench.engine.run_until(1000), RunOutcome::quiescent);
  const std::vector<Answer>& answers = bench.askers[0]->answers;
  EXPECT_EQ(answers[0].answered, 1U + 1 + 50 + 1 + 1);
  EXPECT_EQ(answers[1].answered, answers[0].answered + 1);
  // The third goes on when the first has come back.
  EXPECT_EQ(answers[2].answered, answers[0].answered - 1 + 1 + 50 + 1 + 1);
  // The fourth comes when there is room again.
  EXPECT_EQ(bench.middle.counters(0).room_waits, 1U);
  EXPECT_EQ(bench.middle.counters(1).room_waits, 0U);
  EXPECT_EQ(bench.askers[1]->answers[0].answered, 10U + 1 + 1 + 50 + 1 + 1);
}

SwitchBench::Shape random_shape(Random& random, MulticastTable& table) {
  const auto pick = [&](std::uint64_t low, std::uint64_t high) {
    return static_cast<unsigned>(low + random.below(high - low + 1));
  };
  SwitchBench::Shape shape;
  shape.items.resize(pick(1, 8));
  const auto gpus = static_cast<unsigned>(shape.items.size());
  std::vector<PhysicalAddress> objects;
  for (unsigned n = pick(1, 3); n != 0; --n) {
    std::vector<MulticastReplica> replicas;
    for (unsigned gpu = 0; gpu < gpus; ++gpu)
      if (pick(0, 2) != 0 || (gpu == gpus - 1 && replicas.empty()))
        replicas.push_back({gpu, vidmem(std::uint64_t{pick(0, 99)} * 256), 0});
    objects.push_back(table.add(pick(1, 1000), replicas));
  }
  const unsigned spread = pick(0, 20);
  for (auto& list : shape.items) {
    Cycle at = 0;
    for (unsigned n = pick(0, 40); n != 0; --n) {
      at += pick(0, spread);
      const PhysicalAddress line{objects[random.below(objects.size())].value +
                                 std::uint64_t{pick(0, 8)} * 128};
      const unsigned lanes = pick(1, 32);
      const auto command = pick(0, 1) == 0 ? Command::atomic : Command::reduce;
      list.push_back(pick(0, 2) == 0
                         ? write_item(at, line, ByteMask::of_sectors(static_cast<SectorMask>(pick(1, 15))))
                         : multimem(at, line, command, AtomicOperation::add, lanes));
    }
  }
  shape.channel = {1U << pick(3, 7), pick(1, 40), pick(1, 12), pick(1, 4)};
  shape.delay = pick(1, 30);
  shape.gap = pick(1, 4);
  shape.requests = pick(1, 20);
  return shape;
}

class GpuSwitchTraffic : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(GpuSwitchTraffic, ReachesEveryReplicaInOrderAndAllTickModesAgree) {
  Random random(GetParam() * 977);
  MulticastTable table;
  SwitchBench::Shape shape = random_shape(random, table);
  SwitchBench bench(shape, table);
  ASSERT_EQ(bench.engine.run_until(1'000'000), RunOutcome::quiescent);
  EXPECT_EQ(bench.engine.pool().in_use(), 0U);
  // What each replica must see of each GPU, in order; and which answers are errors.
  const auto gpus = static_cast<unsigned>(shape.items.size());
  for (unsigned to = 0; to < gpus; ++to)
    for (unsigned from = 0; from < gpus; ++from) {
      std::vector<std::pair<std::uint64_t, std::uint64_t>> wanted, seen;
      for (std::size_t n = 0; n < shape.items[from].size(); ++n) {
        const PhysicalAddress line = shape.items[from][n].request.line;
        for (const MulticastObject& o : table.objects()) {
          const std::uint64_t offset = offset_in_aperture(line) - o.offset;
          if (offset >= o.bytes) continue;
          for (const MulticastReplica& r : o.replicas)
            if (r.gpu == to) wanted.emplace_back((std::uint64_t{from} << 32U) + n, r.physical.value + offset);
        }
      }
      for (const Target::Seen& s : bench.memories[to]->seen)
        if (s.id >> 32U == from) seen.emplace_back(s.id, s.line.value);
      EXPECT_EQ(seen, wanted) << from << " to " << to;
    }
  for (unsigned gpu = 0; gpu < gpus; ++gpu)
    for (std::size_t n = 0; n < shape.items[gpu].size(); ++n)
      EXPECT_EQ(bench.askers[gpu]->answers[n].status == Status::ok,
                table.find(shape.items[gpu][n].request.line) != nullptr);
  for (const TickMode mode : {TickMode::every_cycle, TickMode::spurious_and_shuffled}) {
    shape.mode = mode;
    SwitchBench other(shape, table);
    ASSERT_EQ(other.engine.run_until(1'000'000), RunOutcome::quiescent);
    for (unsigned gpu = 0; gpu < gpus; ++gpu) {
      EXPECT_EQ(other.memories[gpu]->seen, bench.memories[gpu]->seen);
      for (std::size_t n = 0; n < shape.items[gpu].size(); ++n)
        EXPECT_EQ(other.askers[gpu]->answers[n].answered, bench.askers[gpu]->answers[n].answered);
      EXPECT_EQ(other.middle.counters(gpu).room_waits, bench.middle.counters(gpu).room_waits);
      EXPECT_EQ(other.middle.counters(gpu).beats, bench.middle.counters(gpu).beats);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, GpuSwitchTraffic, ::testing::Range<std::uint64_t>(1, 41));

}  // namespace gpu_switch_test
}  // namespace warpline::test
