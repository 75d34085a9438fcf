#include "rtl_models/pcie/packets/far_device.h"
#include "tests/mutation/catch.h"
#include "tests/platform/machine/two_gpus.h"

namespace warpline::test {
namespace {

using test::spin;
using test::TwoGpus;

/// The options of a run in which messages lie in queues as `seed` draws it.
RunOptions jittered(std::uint64_t seed) {
  RunOptions options;
  options.jitter = seed;
  return options;
}

/// GPU 1 reads the datum, so that its caches have it; GPU 0 then writes it and releases the flag. Whether GPU
/// 1, having acquired the flag, reads the datum as it was.
bool reads_stale(std::uint64_t) {
  TwoGpus gpus;
  const std::uint64_t datum = gpus.zeros(Aperture::sysmem), flag = gpus.zeros(Aperture::sysmem);
  const std::uint64_t ready = gpus.zeros(Aperture::sysmem), out = gpus.zeros(Aperture::vidmem, 1);
  gpus.run({spin("ld.acquire.sys.global.u32", "%a2") +
                "st.global.u32 [%a0], 1;\nst.release.sys.global.u32 [%a1], 1;\n",
            {datum, flag, ready}},
           {"ld.global.u32 %r0, [%a0];\nst.release.sys.global.u32 [%a2], 1;\n" +
                spin("ld.acquire.sys.global.u32", "%a1") +
                "ld.global.u32 %r1, [%a0];\nst.global.u32 [%a3], %r1;\n",
            {datum, flag, ready, out}});
  return gpus.word(out) == 0;
}

/// Both write words of one line, of which both have a copy. Whether one of them is lost.
bool loses_the_others_word(std::uint64_t) {
  TwoGpus gpus;
  const std::uint64_t line = gpus.zeros(Aperture::sysmem);
  const std::string body =
      "ld.global.u32 %r2, [%a0];\nadd.u64 %d0, %a0, %a1;\nadd.u32 %r1, %r2, 7;\nst.global.u32 [%d0], %r1;\n"
      "fence.acq_rel.sys;\n";
  gpus.run({body, {line, 0}}, {body, {line, 4}});
  return gpus.word(line) != 7 || gpus.word(line + 4) != 7;
}

/// Both increment a word by compare-and-swap over the link. Whether an increment is lost.
bool loses_increments(std::uint64_t) {
  TwoGpus gpus({"pcie.latency=40"});
  const std::uint64_t word = gpus.zeros(Aperture::sysmem);
  const TwoGpus::Grid grid{"red.inc.sys.global.u32 [%a0], 0xFFFFFF;\n", {word}, 2, 64};
  gpus.run(grid, grid);
  return gpus.word(word) != 4 * 64;
}

/// Writes to the peer, which is far, then releases a flag in system memory. Whether somebody who looks at
/// both in every cycle finds the flag set and the datum not there.
bool flag_overtakes_posted_write(std::uint64_t) {
  TwoGpus gpus;
  const std::uint64_t datum = gpus.zeros(Aperture::peer), flag = gpus.zeros(Aperture::sysmem);
  bool overtakes = false;
  gpus.platform().on_progress(1, [&](double) {
    overtakes = overtakes || (gpus.word(flag) == 1 && gpus.word(datum) == 0);
    return true;
  });
  gpus.run({"st.global.u32 [%a0], 1;\nst.release.sys.global.u32 [%a1], 1;\n", {datum, flag}}, {"", {}});
  return overtakes;
}

/// Four threads read a register each by `.mmio`, the first two the same, and write it. Whether the device
/// sees anything else than these eight accesses of four bytes, in the order of the lanes.
bool device_sees_other_accesses(std::uint64_t) {
  TwoGpus gpus;
  const std::uint64_t registers = gpus.zeros(Aperture::peer);
  std::vector<std::pair<std::uint64_t, unsigned>> reads, writes;
  gpus.platform().peer()->watch([&](const BusAccess& access) {
    if (access.kind == AccessKind::read) reads.emplace_back(access.offset, access.bytes);
    if (access.kind == AccessKind::write) writes.emplace_back(access.offset, access.bytes);
  });
  gpus.run({"mov.u32 %r0, %tid.x;\nshr.u32 %r0, %r0, 1;\nmul.wide.u32 %d0, %r0, 16;\nadd.u64 %d0, %d0, %a0;\n"
            "ld.mmio.relaxed.sys.global.u32 %r1, [%d0];\nst.mmio.relaxed.sys.global.u32 [%d0], %r1;\n",
            {registers},
            1,
            4},
           {"", {}});
  const std::vector<std::pair<std::uint64_t, unsigned>> wanted = {{0, 4}, {0, 4}, {16, 4}, {16, 4}};
  return reads != wanted || writes != wanted;
}

/// A warp writes a register in each of 32 lines by `.mmio`, while messages lie in queues as `seed` draws it.
/// Whether the device sees that in another order than that of the lanes.
bool device_sees_another_order(std::uint64_t seed) {
  TwoGpus gpus({}, jittered(seed));
  const std::uint64_t registers = gpus.zeros(Aperture::peer, 0, std::uint64_t{kWarpLanes} * kLineBytes);
  std::uint64_t next = 0;
  bool ordered = true;
  gpus.platform().peer()->watch([&](const BusAccess& access) {
    if (access.kind != AccessKind::write) return;
    ordered = ordered && access.offset == next;
    next += kLineBytes;
  });
  gpus.run({"mov.u32 %r0, %tid.x;\nmul.wide.u32 %d0, %r0, 128;\nadd.u64 %d0, %d0, %a0;\n"
            "st.mmio.relaxed.sys.global.u32 [%d0], %r0;\n",
            {registers},
            1,
            kWarpLanes},
           {"", {}});
  return !ordered || next != std::uint64_t{kWarpLanes} * kLineBytes;
}

/// GPU 0 stores to many lines of both GPUs' memory at once, which all pass one switch, then sets a flag
/// there, which passes the other, by a release. Whether GPU 1 sees its flag, and not what was stored before.
bool flag_overtakes_replicas(std::uint64_t seed) {
  constexpr unsigned kLines = 32;
  TwoGpus gpus({"gpu_switch.count=2"}, jittered(seed));
  std::vector<std::uint64_t> replicas;
  for (unsigned gpu = 0; gpu < 2; ++gpu)
    replicas.push_back(gpus.zeros(Aperture::vidmem, gpu, 2 * kLines * kLineBytes));
  const std::uint64_t object = gpus.platform().bind_multicast("x", 2 * kLines * kLineBytes, replicas);
  const std::uint64_t out = gpus.zeros(Aperture::vidmem, 1), last = (kLines - 1) * 2 * kLineBytes;
  gpus.run(
      {"mov.u32 %r0, %tid.x;\nmul.wide.u32 %d0, %r0, 256;\nadd.u64 %d0, %d0, %a0;\nmov.u32 %r1, 1;\n"
       "multimem.st.relaxed.sys.global.u32 [%d0], %r1;\nbar.warp.sync 0xffffffff;\nsetp.eq.u32 %p, %r0, 31;\n"
       "@%p multimem.st.release.sys.global.u32 [%a0+128], %r1;\n",
       {object},
       1,
       kLines},
      {spin("ld.acquire.sys.global.u32", "%a1") + "ld.relaxed.sys.global.u32 %r1, [%a0];\n" +
           "st.global.u32 [%a2], %r1;\n",
       {replicas[1] + last, replicas[1] + kLineBytes, out}});
  return gpus.word(out) == 0;
}

/// One thread stores forty values to a word of both GPUs. Whether another than the last is left in one of
/// them.
bool replicas_keep_an_older_value(std::uint64_t seed) {
  TwoGpus gpus({"gpu_switch.count=1"}, jittered(seed));
  std::vector<std::uint64_t> replicas;
  for (unsigned gpu = 0; gpu < 2; ++gpu) replicas.push_back(gpus.zeros(Aperture::vidmem, gpu, 256));
  const std::uint64_t object = gpus.platform().bind_multicast("x", 256, replicas);
  std::string body;
  for (unsigned value = 1; value <= 40; ++value)
    body += "mov.u32 %r0, " + std::to_string(value) + ";\nmultimem.st.relaxed.sys.global.u32 [%a0], %r0;\n";
  gpus.run({body, {object}}, {"", {}});
  return gpus.word(replicas[0]) != 40 || gpus.word(replicas[1]) != 40;
}

}  // namespace

std::vector<Catch> catches_by_two_gpus() {
  return {
      {L2Mutation::sys_acquire_keeps_copies, "sys_acquire_keeps_copies", reads_stale},
      {L2Mutation::sys_release_skips_write_back, "sys_release_skips_write_back", reads_stale},
      {L2Mutation::sys_release_skips_flush, "sys_release_skips_flush", flag_overtakes_posted_write},
      {L2Mutation::clean_bytes_written_back, "clean_bytes_written_back", loses_the_others_word},
      {SmMutation::mmio_lanes_merge, "mmio_lanes_merge/device", device_sees_other_accesses},
      {SmMutation::mmio_replayed, "mmio_replayed/device", device_sees_other_accesses},
      {SmMutation::mmio_reads_sectors, "mmio_reads_sectors/device", device_sees_other_accesses},
      {CrossbarMutation::peer_lines_spread, "peer_lines_spread", device_sees_another_order},
      {GpuSwitchMutation::acknowledged_by_first_replica, "acknowledged_by_first_replica",
       flag_overtakes_replicas},
      {GpuSwitchMutation::replica_requests_overtake, "replica_requests_overtake",
       replicas_keep_an_older_value},
      {PcieMutation::link_swap_loses_update, "link_swap_loses_update", loses_increments},
  };
}

}  // namespace warpline::test
