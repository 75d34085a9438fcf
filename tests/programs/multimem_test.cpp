// multimem: instructions that access the memory of several GPUs at once, on multicast objects.
//
// WARPLINE_MULTIMEM_PROGRAMS sets how many programs are drawn, WARPLINE_RANDOM_SEED the first one's seed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "platform/machine/checkpoint.h"
#include "tests/platform/machine/ptx_run.h"
#include "tests/programs/machine.h"
#include "tests/programs/multimem_program.h"

namespace warpline::test {
namespace multimem_test {

std::unique_ptr<GpuPlatform> platform_of(const GpuConfig& config, TickMode mode = TickMode::lazy,
                                         std::optional<std::uint64_t> jitter = {}) {
  RunOptions o;
  o.tick_mode = mode;
  o.seed = 3;
  o.max_cycles = 20'000'000;
  o.jitter = jitter;
  return std::make_unique<GpuPlatform>(config, o);
}

struct Seen {
  std::vector<std::vector<std::uint8_t>> memory;
  Cycle cycles = 0;
  std::map<std::string, std::uint64_t> counters;
};

Seen seen_of(const MultimemProgram& p, GpuPlatform& platform) {
  MultimemProgram::Left left = p.run(platform);
  EXPECT_THAT(platform.unreconciled(), testing::IsEmpty());
  Observation counters;
  platform.visit(counters);
  return {std::move(left.memory), left.cycles, counters.values};
}

TEST(Multimem, RandomProgramsLeaveWhatTheTwinSays) {
  const std::uint64_t first = from_environment("WARPLINE_RANDOM_SEED", 1);
  const std::uint64_t count = from_environment("WARPLINE_MULTIMEM_PROGRAMS", 20);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("WARPLINE_MULTIMEM_PROGRAMS=1 WARPLINE_RANDOM_SEED=" + std::to_string(seed));
    Random random(splitmix64(seed));
    const GpuConfig config = machine_of_gpus(random);
    const MultimemProgram program(random, config.gpus);
    const Seen lazy = seen_of(program, *platform_of(config));
    ASSERT_EQ(lazy.memory, program.wanted());
    if (seed % 4 == 3) {
      const auto backend = std::make_shared<DirectBackend>();
      RunOptions o;
      o.backend = backend;
      GpuPlatform watched(config, o);
      watched.on_progress(20 + seed % 50, [&](double) {
        std::set<const Request*> different;
        for (const InFlight& row : watched.in_flight())
          EXPECT_TRUE(different.insert(row.request).second) << row.what;
        EXPECT_EQ(different.size(), backend->engine().pool().in_use());
        return !testing::Test::HasFailure();
      });
      ASSERT_EQ(seen_of(program, watched).counters, lazy.counters);
    }
    if (seed % 4 == 0) {
      for (const TickMode mode : {TickMode::every_cycle, TickMode::spurious_and_shuffled}) {
        const Seen other = seen_of(program, *platform_of(config, mode));
        ASSERT_EQ(other.memory, program.wanted());
        ASSERT_EQ(other.cycles, lazy.cycles);
        ASSERT_EQ(other.counters, lazy.counters);
      }
    } else if (seed % 4 == 1) {
      ASSERT_EQ(seen_of(program, *platform_of(config, TickMode::lazy, seed)).memory, program.wanted());
    } else if (seed % 4 == 2) {
      const auto loose = platform_of(config);
      loose->set_loose(true);
      ASSERT_EQ(seen_of(program, *loose).memory, program.wanted());
    }
  }
}

/// One multicast object over all GPUs of a platform, 256 bytes of each.
class Group {
 public:
  explicit Group(unsigned gpus, const std::vector<std::string>& more = {}) {
    std::vector<std::string> settings = {"gpus=" + std::to_string(gpus), "gpu_switch.count=2"};
    settings.insert(settings.end(), more.begin(), more.end());
    Result<GpuConfig> config = load_gpu("mini", settings);
    if (!config.ok()) throw std::runtime_error(config.faults().front().text());
    platform = platform_of(config.value());
    for (unsigned gpu = 0; gpu < gpus; ++gpu) {
      own.push_back(platform->allocate("x" + std::to_string(gpu), 256, Aperture::vidmem, gpu));
      out.push_back(platform->allocate("out" + std::to_string(gpu), 256, Aperture::vidmem, gpu));
    }
  }
  void bind(const std::vector<unsigned>& gpus) {
    std::vector<std::uint64_t> replicas;
    for (const unsigned gpu : gpus) replicas.push_back(own[gpu]);
    object = platform->bind_multicast("x", 256, replicas);
  }
  /// A kernel of %q0: the object, %q1: the GPU's own replica, %q2: its place for results; of one thread.
  std::unique_ptr<Kernel> kernel(const std::string& body, unsigned gpu) {
    auto module = ptx::parse(
        ".version 8.6\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2)\n{\n.reg .b16 %h<9>;\n"
        ".reg .b32 %r<9>;\n.reg .b64 %d<9>, %q<3>;\n.reg .f32 %f<9>;\n.reg .pred %p;\n"
        ".shared .align 128 .b8 m[256];\n.shared .align 8 .b64 object;\n"
        "ld.param.u64 %q0, [p0];\nld.param.u64 %q1, [p1];\nld.param.u64 %q2, [p2];\n" +
            body + "\nret;\n}\n",
        "k.ptx");
    if (!module.ok()) throw std::runtime_error(module.faults().front().text());
    modules_.push_back(std::move(module.value()));
    const std::vector<std::uint64_t> words = {object, own[gpu], out[gpu]};
    std::vector<std::uint8_t> block(24);
    __builtin_memcpy(block.data(), words.data(), block.size());
    return modules_.back()->make_kernel("k", {1, 1, 1}, {1, 1, 1}, 0, block);
  }
  RunOutcome run(const std::string& body, unsigned gpu = 0) {
    return platform->launch({GridLaunch{kernel(body, gpu).get(), gpu, true}}).outcome;
  }
  [[nodiscard]] std::uint32_t word(std::uint64_t address) const {
    std::uint32_t value = 0;
    platform->read(address, &value, sizeof value);
    return value;
  }
  std::unique_ptr<GpuPlatform> platform;
  std::vector<std::uint64_t> own, out;
  std::uint64_t object = 0;

 private:
  std::vector<std::unique_ptr<programs::Module>> modules_;
};

TEST(Multimem, AnObjectOfOneGpuIsThatGpusMemory) {
  Group g(1);
  g.bind({0});
  ASSERT_EQ(g.run("mov.u32 %r0, 5;\nmultimem.st.weak.global.u32 [%q0+8], %r0;\n"
                  "multimem.red.relaxed.gpu.global.add.u32 [%q0+8], %r0;\n"
                  "multimem.ld_reduce.relaxed.sys.global.add.u32 %r1, [%q0+8];\nst.global.u32 [%q2], %r1;"),
            RunOutcome::quiescent);
  EXPECT_EQ(g.word(g.own[0] + 8), 10U);
  EXPECT_EQ(g.word(g.out[0]), 10U);
  EXPECT_THAT(g.platform->faults(), testing::IsEmpty());
}

/// Sums go from GPU to GPU in the order of their numbers: 2^24 + 1 + 1 is 2^24 + 2 with a wide sum only.
TEST(Multimem, SumsAreOfTheOrderOfTheGpusAndWideOnesAreRoundedOnce) {
  Group g(3);
  g.bind({2, 0, 1});
  const auto put = [&](unsigned gpu, float f, std::uint32_t halves) {
    g.platform->write(g.own[gpu], &f, 4);
    g.platform->write(g.own[gpu] + 4, &halves, 4);
  };
  put(0, 16777216, 0x68006800);  // 2048 in binary16
  put(1, 1, 0x3C003C00);
  put(2, 1, 0x3C003C00);
  ASSERT_EQ(g.run("multimem.ld_reduce.global.add.f32 %f0, [%q0];\nst.global.f32 [%q2], %f0;\n"
                  "multimem.ld_reduce.global.add.f16x2 %r0, [%q0+4];\nst.global.u32 [%q2+4], %r0;\n"
                  "multimem.ld_reduce.global.add.acc::f32.f16x2 %r0, [%q0+4];\nst.global.u32 [%q2+8], %r0;"),
            RunOutcome::quiescent);
  EXPECT_EQ(g.word(g.out[0]), 0x4B800000U);  // 2^24
  EXPECT_EQ(g.word(g.out[0] + 4), 0x68006800U);
  EXPECT_EQ(g.word(g.out[0] + 8), 0x68016801U);
}

TEST(Multimem, WhatTheHardwareRefusesIsAFaultOfItsLane) {
  struct Case {
    std::string body, kind;
    std::uint64_t offset = 0;  ///< of the address from the object's
  };
  const std::string multicast = "multicast address without multimem", none = "address of no multicast object";
  const std::vector<Case> cases = {
      {"ld.global.u32 %r0, [%q0+16];", multicast, 16},
      {"ld.u32 %r0, [%q0];", multicast, 0},
      {"ld.global.nc.u32 %r0, [%q0];", multicast, 0},
      {"st.global.u32 [%q0+4], %r0;", multicast, 4},
      {"atom.global.add.u32 %r0, [%q0], 1;", multicast, 0},
      {"red.global.add.u32 [%q0], 1;", multicast, 0},
      {"discard.global.L2 [%q0], 128;", multicast, 0},
      {"mov.u32 %r1, m;\ncp.async.ca.shared.global [%r1], [%q0], 16;\ncp.async.wait_all;", multicast, 0},
      {"mov.u32 %r1, m;\ncp.async.bulk.global.shared::cta.bulk_group [%q0], [%r1], 16;\n"
       "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;",
       multicast, 0},
      {"multimem.ld_reduce.global.add.u32 %r0, [%q1];", none},
      {"multimem.st.global.u32 [%q1], %r0;", none},
      {"multimem.red.global.add.u32 [%q1], %r0;", none},
      {"multimem.ld_reduce.global.add.u32 %r0, [%q0+2];", "misaligned address", 2},
      {"multimem.st.global.v4.f32 [%q0+8], {%f0, %f1, %f2, %f3};", "misaligned address", 8},
      {"multimem.ld_reduce.global.add.u32 %r0, [%q0+256];", "unmapped address", 256},
      {"mov.u64 %d1, m;\ncvta.shared.u64 %d0, %d1;\nmultimem.st.u32 [%d0], %r0;",
       "address outside global memory"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.body);
    Group g(2);
    g.bind({0, 1});
    ASSERT_EQ(g.run("mov.u32 %r0, 1;\nmov.f32 %f0, 0f3F800000;\nmov.f32 %f1, %f0;\nmov.f32 %f2, %f0;\n"
                    "mov.f32 %f3, %f0;\n" +
                    c.body),
              RunOutcome::quiescent);
    const std::vector<FaultRecord> faults = g.platform->faults();
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_EQ(faults[0].kind, c.kind);
    if (c.kind == multicast || c.kind == "misaligned address") {
      EXPECT_EQ(faults[0].address, g.object + c.offset);
      EXPECT_EQ(faults[0].memory, "multicast object x");
    }
    EXPECT_THAT(g.platform->unreconciled(), testing::IsEmpty());
  }
}

TEST(Multimem, PrefetchesOfAMulticastAddressAreDropped) {
  Group g(2);
  g.bind({0, 1});
  ASSERT_EQ(g.run("prefetch.global.L2 [%q0];\nprefetch.global.L1 "
                  "[%q0];\napplypriority.global.L2::evict_normal [%q0], 128;"),
            RunOutcome::quiescent);
  EXPECT_THAT(g.platform->faults(), testing::IsEmpty());
}

TEST(Multimem, AGpuWithoutAReplicaDoesNotReachTheObject) {
  Group g(3);
  g.bind({0, 2});
  ASSERT_EQ(g.run("mov.u32 %r0, 7;\nmultimem.st.global.u32 [%q0], %r0;", 1), RunOutcome::quiescent);
  ASSERT_EQ(g.platform->faults().size(), 1U);
  EXPECT_EQ(g.platform->faults()[0].kind, "unmapped address");
  EXPECT_EQ(g.platform->faults()[0].gpu, 1U);
  g.platform->begin_run();
  ASSERT_EQ(g.run("mov.u32 %r0, 7;\nmultimem.st.global.u32 [%q0], %r0;", 2), RunOutcome::quiescent);
  EXPECT_EQ(g.word(g.own[0]), 7U);
  EXPECT_EQ(g.word(g.own[1]), 0U);
  EXPECT_EQ(g.word(g.own[2]), 7U);
}

/// Release and acquire at the scope of the system order what passes through multicast objects; and a warp
/// that waits long for another GPU does not count as stuck.
TEST(Multimem, AFlagThatIsSetOnAllGpusTellsOfWhatWasStoredBefore) {
  Group g(2);
  g.bind({0, 1});
  const std::string writes =
      "mov.u32 %r2, 0;\nLOOP:\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p, %r2, 20000;\n@%p bra LOOP;\n"
      "mov.u32 %r0, 41;\nmov.u32 %r1, 1;\nmultimem.st.relaxed.sys.global.u32 [%q0], %r0;\n"
      "multimem.red.release.sys.global.add.u32 [%q0+128], %r1;";
  const std::string waits =
      "SPIN:\nld.acquire.sys.global.u32 %r0, [%q1+128];\nsetp.eq.u32 %p, %r0, 0;\n@%p bra SPIN;\n"
      "fence.proxy.alias;\nld.global.u32 %r1, [%q1];\nst.global.u32 [%q2], %r1;";
  const auto a = g.kernel(waits, 0), b = g.kernel(writes, 1);
  ASSERT_EQ(g.platform->launch({GridLaunch{a.get(), 0, true}, GridLaunch{b.get(), 1, true}}).outcome,
            RunOutcome::quiescent);
  EXPECT_EQ(g.word(g.out[0]), 41U);
}

TEST(Multimem, CountersTellWhatPassed) {
  Group g(2, {"gpu_switch.count=1"});
  g.bind({0, 1});
  ASSERT_EQ(g.run("mov.u32 %r0, 5;\nmultimem.st.global.u32 [%q0], %r0;\n"
                  "multimem.red.global.add.u32 [%q0+32], %r0;\n"
                  "multimem.ld_reduce.global.add.u32 %r1, [%q0+64];\nst.global.u32 [%q2], %r1;"),
            RunOutcome::quiescent);
  Observation seen;
  g.platform->visit(seen);
  const auto value = [&](const std::string& name) { return seen.values.at("gpu_switch[0]." + name); };
  EXPECT_EQ(value("gpu[0].requests"), 3U);
  EXPECT_EQ(value("gpu[0].stores"), 1U);
  EXPECT_EQ(value("gpu[0].reductions"), 1U);
  EXPECT_EQ(value("gpu[0].loads"), 1U);
  EXPECT_EQ(value("gpu[0].responses"), 3U);
  EXPECT_EQ(value("gpu[1].requests"), 0U);
  for (const char* gpu : {"gpu[0]", "gpu[1]"}) {
    EXPECT_EQ(value(std::string(gpu) + ".replica_requests"), 3U);
    EXPECT_EQ(value(std::string(gpu) + ".replica_read_sectors"), 1U);
    EXPECT_EQ(value(std::string(gpu) + ".replica_written_sectors"), 1U);
    EXPECT_EQ(value(std::string(gpu) + ".replica_reduced_sectors"), 1U);
  }
  // The other GPU's L2 has looked up each of the three sectors.
  std::uint64_t looked_up = 0;
  for (const auto& [path, n] : seen.values)
    if (path.rfind("gpu[1].l2[", 0) == 0 && path.find("].sector_accesses") != std::string::npos)
      looked_up += n;
  EXPECT_EQ(looked_up, 3U);
}

TEST(Multimem, ObjectsAreKeptInCheckpoints) {
  const std::string body =
      "multimem.ld_reduce.global.add.u32 %r0, [%q0];\nmultimem.st.global.u32 [%q0], %r0;\n"
      "multimem.red.global.add.u32 [%q0+128], %r0;";
  Group g(2);
  g.bind({0, 1});
  const std::uint32_t start[] = {1, 2};
  g.platform->write(g.own[0], &start[0], 4);
  g.platform->write(g.own[1], &start[1], 4);
  ASSERT_EQ(g.run(body), RunOutcome::quiescent);
  std::stringstream saved;
  ASSERT_THAT(g.platform->save(saved), testing::IsEmpty());
  Group other(2);
  other.object = g.object;
  auto checkpoint = Checkpoint::read(saved);
  ASSERT_TRUE(checkpoint.ok());
  ASSERT_THAT(other.platform->restore(checkpoint.value()), testing::IsEmpty());
  for (Group* group : {&g, &other}) {
    ASSERT_EQ(group->run(body, 1), RunOutcome::quiescent);
    EXPECT_EQ(group->word(group->own[0]), 6U);
    EXPECT_EQ(group->word(group->own[1]), 6U);
    EXPECT_EQ(group->word(group->own[0] + 128), 9U);
    EXPECT_THAT(group->platform->faults(), testing::IsEmpty());
  }
  Observation a, b;
  g.platform->visit(a);
  other.platform->visit(b);
  EXPECT_EQ(a.values, b.values);
  EXPECT_EQ(g.platform->now(), other.platform->now());
  // Reset, they are still there.
  ASSERT_THAT(g.platform->reset(), testing::IsEmpty());
  ASSERT_EQ(g.run(body, 0), RunOutcome::quiescent);
  EXPECT_EQ(g.word(g.own[1]), 12U);
}

/// What nvcc makes of sw/kernels/all_reduce.cu.
std::string all_reduce() {
  std::ifstream in(WARPLINE_SOURCE_DIR "/sw/kernels/all_reduce.sm_90.ptx");
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// A launch file that runs it on `gpus` GPUs at once, over 256 numbers. GPU n starts with (n + 1) * i.
std::string launches(unsigned gpus) {
  const auto number = [](unsigned n) { return std::to_string(n); };
  std::string sum = "0";
  for (unsigned gpu = 0; gpu < gpus; ++gpu) sum += " + x" + number(gpu) + "[i]";
  std::string text;
  for (unsigned gpu = 0; gpu < gpus; ++gpu) {
    text += "[[launch]]\nmodule = \"k.ptx\"\nkernel = \"all_reduce\"\ngrid = [2]\nblock = [32]\ngpu = " +
            number(gpu) + (gpu == 0 ? "\n" : "\nconcurrent = true\n");
    for (const bool data : {true, false}) {
      const std::string name = data ? "x" : "arrived";
      std::string parts;
      for (unsigned n = 0; n < gpus; ++n) {
        std::string part = "\"" + name + number(n) + "\"";
        if (gpu == 0)
          part =
              "{ buffer = " + part + ", gpu = " + number(n) +
              (data ? ", type = \"f32\", count = 256, init = { iota = { start = 0, step = " + number(n + 1) +
                          " } }, expect = { expression = \"(" + sum + ") * " + (gpus == 2 ? "0.5" : "0.25") +
                          "\" }"
                    : ", type = \"u32\", count = 1, expect = { value = " + number(2 * gpus) + " }") +
              " }";
        parts += (n == 0 ? "" : ", ") + part;
      }
      text += "[[launch.argument]]\nmultimem = [" + parts + "]\n[[launch.argument]]\nbuffer = \"" + name +
              number(gpu) + "\"\n";
    }
    for (const unsigned value : {64U, gpu, gpus})
      text += "[[launch.argument]]\nscalar = " + number(value) + "\ntype = \"u32\"\n";
  }
  return text;
}

TEST(MultimemLaunches, AllReduceLeavesTheMeanOnEveryGpu) {
  for (const unsigned gpus : {2U, 4U}) {
    PtxRun run(all_reduce(), launches(gpus), {"gpus=" + std::to_string(gpus), "gpu_switch.count=3"});
    EXPECT_EQ(run.end().checks, 2 * gpus);
    EXPECT_THAT(run.end().failures, testing::IsEmpty());
    EXPECT_THAT(run.gpu().unreconciled(), testing::IsEmpty());
    // Each of 8 lines is loaded once, by the GPU whose it is, and read on all.
    EXPECT_EQ(AllCounters(run.gpu()).total("gpu_switch.gpu.loads"), 8U);
    EXPECT_EQ(AllCounters(run.gpu()).total("gpu_switch.gpu.replica_read_sectors"), 8U * 4 * gpus);
  }
}

/// What is wrong with running it with these arguments in the place of the first.
std::string refusal(const std::string& first, const std::vector<std::string>& overrides, unsigned gpu = 0) {
  std::string text =
      "module = \"k.ptx\"\nkernel = \"all_reduce\"\ngrid = [1]\nblock = [32]\ngpu = " + std::to_string(gpu) +
      "\n[[argument]]\n" + first + "\n";
  for (const char* name : {"a", "b", "c"})
    text += std::string("[[argument]]\nbuffer = \"") + name + "\"\ntype = \"u64\"\ncount = 8\n";
  for (unsigned n = 0; n < 3; ++n) text += "[[argument]]\nscalar = 1\ntype = \"u32\"\n";
  try {
    const PtxRun run(all_reduce(), text, overrides);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(MultimemLaunches, WhatIsNoObjectIsRefusedWhereItStands) {
  const std::vector<std::string> two = {"gpus=2", "gpu_switch.count=1"};
  const auto other = [](const std::string& more) {
    return "{ buffer = \"o\", type = \"u64\", " + more + " }";
  };
  const auto expect = [](const std::string& said, const std::string& part) {
    EXPECT_NE(said.find(part), std::string::npos) << said;
  };
  expect(refusal("multimem = []", two), "must be an array of buffers");
  expect(refusal("multimem = [3]", two), "must be an array of buffers");
  expect(refusal("multimem = [\"z\"]", two), "buffer \"z\" is not declared");
  expect(refusal("multimem = [\"a\", \"b\"]", two), "each is on a GPU of its own");
  expect(refusal("multimem = [\"a\", " + other("gpu = 1, count = 9") + "]", two), "all have one size");
  expect(refusal("multimem = [" + other("gpu = 1, count = 8, aperture = \"sysmem\"") + "]", two),
         "does not lie in video memory");
  expect(refusal("multimem = [" + other("gpu = 1, count = 8") + "]", two), "GPU 0 has no part of it");
  expect(refusal("multimem = [\"a\", " + other("gpu = 2, count = 8") + "]", two),
         "buffer \"o\": the platform has no GPU 2");
  expect(refusal("multimem = [\"a\", " + other("gpu = 1, count = 8") + "]", {"gpus=2"}),
         "needs a switch between GPUs, which mini has not (gpu_switch.count)");
  expect(refusal("multimem = [\"a\"]\ntype = \"u32\"", two), "type");
}

}  // namespace multimem_test
}  // namespace warpline::test
