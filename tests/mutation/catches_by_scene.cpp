#include <algorithm>
#include <cstring>

#include "rtl_models/l1_lg/l1_lg.h"
#include "rtl_models/l2/l2_slice.h"
#include "tests/mutation/catch.h"
#include "tests/rtl_models/sm/script.h"
#include "tests/support/mock_components.h"

namespace warpline::test {
namespace {

constexpr PhysicalAddress kHostLine = physical(Aperture::sysmem, 0);

/// A slice between what the crossbar sends and a link behind which a flat memory answers after `delay`
/// cycles.
struct SliceScene {
  SliceScene(const std::vector<Item>& items, Cycle delay)
      : vidmem(4096),
        crossbar(engine, "crossbar", ClockDomain{}, items),
        slice(engine, "l2[0]", ClockDomain{}, L2Parameters{}, &vidmem, 1),
        link(engine, "pcie", FlatMemory::fixed(delay)),
        dram(engine, "dram", FlatMemory::fixed(delay)) {
    constexpr ChannelParameters kChannel{128, 1, 8, 1};
    connect(crossbar.out, slice.from_crossbar, kChannel);
    connect(slice.to_crossbar, crossbar.in, kChannel);
    connect(slice.to_pcie, link.in, kChannel);
    connect(link.out, slice.from_pcie, kChannel);
    connect(slice.to_dram[0], dram.in, kChannel);
    connect(dram.out, slice.from_dram[0], kChannel);
  }
  void run() { static_cast<void>(engine.run_until(100000)); }
  Engine engine;
  MemoryImage vidmem;
  Requester crossbar;
  L2Slice slice;
  FlatMemory link, dram;
};

/// L1 between an SM and a crossbar that takes a request every 20 cycles and answers it after `delay`.
struct L1Scene {
  explicit L1Scene(const std::vector<Item>& items, Cycle delay)
      : sm(engine, "sm[0]", ClockDomain{}, items),
        l1(engine, "l1", ClockDomain{}, L1LgParameters{}, true),
        below(engine, "crossbar", FlatMemory::fixed(delay), 20) {
    constexpr ChannelParameters kChannel{128, 1, 1, 1};
    connect(sm.out, l1.from_sm, kChannel);
    connect(l1.to_sm, sm.in, kChannel);
    connect(l1.to_crossbar, below.in, kChannel);
    connect(below.out, l1.from_crossbar, kChannel);
  }
  void run() { static_cast<void>(engine.run_until(100000)); }
  Engine engine;
  Requester sm;
  L1Lg l1;
  FlatMemory below;
};

ByteMask first_word() {
  ByteMask mask;
  mask.set(0, 4);
  return mask;
}

/// Writes of 1, 2, 3 and 4 to one word, and a read behind them.
bool requests_of_a_sector_change_places(std::uint64_t) {
  std::vector<Item> items;
  for (std::uint8_t n = 1; n <= 4; ++n) items.push_back(write_item(n, PhysicalAddress{0}, first_word(), n));
  items.push_back(read_item(5, PhysicalAddress{0}, 1));
  items.back().request.scope = Scope::gpu;
  L1Scene scene(items, 5);
  scene.run();
  return scene.below.lines[0][0] != 4 || scene.sm.answers[4].data[0] != 4;
}

/// All lines are invalidated while a read fetches one, then somebody else writes to it.
bool read_is_older_than_an_invalidation(std::uint64_t) {
  L1Scene scene({read_item(0, PhysicalAddress{0}, 1), maintain_item(20, maintenance::kInvalidate),
                 read_item(200, PhysicalAddress{0}, 1)},
                100);
  static_cast<void>(scene.engine.run_until(50));
  scene.below.lines[0].fill(9);
  scene.run();
  return scene.sm.answers[2].data[0] != 9;
}

/// A read has its line fetched, a write to it waits for that, and a second read comes in any later cycle.
bool read_misses_an_earlier_write(std::uint64_t) {
  for (Cycle at = 10; at < 80; ++at) {
    SliceScene scene(
        {read_item(0, kHostLine, 1), write_item(5, kHostLine, first_word(), 9), read_item(at, kHostLine, 1)},
        40);
    scene.run();
    if (scene.crossbar.answers[2].data[0] != 9) return true;
  }
  return false;
}

/// The copies are discarded while a read fetches a line, then the host writes to it.
bool read_misses_what_the_host_wrote(std::uint64_t) {
  SliceScene scene({read_item(0, kHostLine, 1), maintain_item(20, maintenance::kDiscardSysmem),
                    read_item(200, kHostLine, 1)},
                   100);
  static_cast<void>(scene.engine.run_until(50));
  scene.link.lines[kHostLine.value].fill(9);
  scene.run();
  return scene.crossbar.answers[2].data[0] != 9;
}

bool release_is_done_before_the_write_back(std::uint64_t) {
  SliceScene scene(
      {write_item(0, kHostLine, first_word(), 9), maintain_item(20, maintenance::kWriteBackSysmem)}, 100);
  scene.run();
  return scene.link.seen.empty() || scene.crossbar.answers[1].answered < scene.link.seen[0].answered;
}

/// Two devices are written, then a release is done. Whether it is so without a read of no byte from each.
bool release_is_done_before_a_device_is_written(std::uint64_t) {
  const PhysicalAddress devices[] = {physical(Aperture::peer, 0), physical(Aperture::peer, 1U << 20U)};
  SliceScene scene({write_item(0, devices[0], first_word(), 9), write_item(1, devices[1], first_word(), 9),
                    maintain_item(20, maintenance::kWriteBackSysmem)},
                   100);
  scene.run();
  const auto waits_for = [&](PhysicalAddress device) {
    return std::any_of(scene.link.seen.begin(), scene.link.seen.end(), [&](const FlatMemory::Seen& s) {
      return s.line == device && s.command == Command::read && s.sectors == 0 &&
             s.answered < scene.crossbar.answers[2].answered;
    });
  };
  return !waits_for(devices[0]) || !waits_for(devices[1]);
}

bool shared_flag_does_not_invalidate(std::uint64_t) {
  const Step flag = ordered(memory(MemKind::load, Space::shared, DataType::u32, strided(0, 4), {1}),
                            Semantics::acquire, Scope::gpu);
  SmBench bench({{flag, memory(MemKind::load, Space::global, DataType::u32, strided(0x1000, 4), {2})}});
  static_cast<void>(bench.run());
  return bench.l1.seen.empty() || bench.l1.seen[0].maintenance != maintenance::kInvalidate;
}

/// Four lanes read registers that count, by `.mmio`: two of them the same. What the device saw is not one
/// read of its own bytes for each lane, in their order and one after the other; or the lanes got anything
/// else.
bool registers_are_not_read_once(std::uint64_t) {
  Step load = ordered(memory(MemKind::load, Space::global, DataType::b32,
                             [](MemoryAccess& a) {
                               a.active = 0xF;
                               const std::uint64_t at[] = {0x1000, 0x1000, 0x1004, 0x1010};
                               std::copy(std::begin(at), std::end(at), a.address);
                             },
                             {1}),
                      Semantics::relaxed, Scope::sys);
  load.instruction.mem.is_mmio = true;
  SmBench bench({{load, alu(4, {1})}}, [](const Request& r, std::size_t n) {
    const_cast<Request&>(r).data.fill(static_cast<std::uint8_t>(n + 1));
    return Cycle{5};
  });
  static_cast<void>(bench.run());
  if (bench.l1.seen.size() != 4) return true;
  const std::uint64_t offsets[] = {0, 0, 4, 16};
  for (std::size_t n = 0; n < 4; ++n) {
    const FlatMemory::Seen& seen = bench.l1.seen[n];
    if (!seen.exact || seen.bytes.count() != 4 || seen.bytes.first() != offsets[n]) return true;
    if (n != 0 && seen.at <= bench.l1.seen[n - 1].answered) return true;
    if (bench.log.loaded[{0, 0}].data[n * MemoryAccess::kMaxLaneBytes] != n + 1) return true;
  }
  return false;
}

}  // namespace

std::vector<Catch> catches_by_scene() {
  return {
      {CacheMutation::invalidation_spares_fills, "invalidation_spares_fills/acquire",
       read_is_older_than_an_invalidation},
      {L1LgMutation::read_overtakes, "read_overtakes", requests_of_a_sector_change_places},
      {L1LgMutation::write_overtakes, "write_overtakes", requests_of_a_sector_change_places},
      {L2Mutation::waiting_request_overtaken, "waiting_request_overtaken", read_misses_an_earlier_write},
      {L2Mutation::sys_acquire_spares_fetches, "sys_acquire_spares_fetches", read_misses_what_the_host_wrote},
      {L2Mutation::sys_release_ignores_write_back, "sys_release_ignores_write_back",
       release_is_done_before_the_write_back},
      {L2Mutation::sys_release_flushes_last_only, "sys_release_flushes_last_only",
       release_is_done_before_a_device_is_written},
      {SmMutation::shared_flag_skips_invalidation, "shared_flag_skips_invalidation",
       shared_flag_does_not_invalidate},
      {SmMutation::mmio_lanes_merge, "mmio_lanes_merge", registers_are_not_read_once},
      {SmMutation::mmio_replayed, "mmio_replayed", registers_are_not_read_once},
      {SmMutation::mmio_reads_overlap, "mmio_reads_overlap", registers_are_not_read_once},
      {SmMutation::mmio_reads_sectors, "mmio_reads_sectors", registers_are_not_read_once},
  };
}

}  // namespace warpline::test
