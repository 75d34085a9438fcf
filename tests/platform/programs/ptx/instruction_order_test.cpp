// What the assembler-like order moves and what it leaves, a rule at a time; and random kernels against what
// they compute by themselves, in both orders.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "platform/programs/ptx/module.h"
#include "rtl_models/base/random.h"
#include "rtl_models/sm/memory_access.h"
#include "tests/platform/programs/ptx/harness.h"
#include "tests/support/environment.h"

namespace warpline::ptx::test {
namespace instruction_order_test {

constexpr const char* kHead =
    ".version 8.5\n.target sm_90a\n.address_size 64\n"
    ".visible .entry k(.param .u64 pa, .param .u64 pb, .param .u32 n)";
constexpr const char* kRegisters =
    "{\n.reg .b64 %d<40>;\n.reg .b32 %r<80>;\n.reg .f32 %f<200>;\n.reg .pred %p<4>;\n"
    ".shared .align 16 .b8 s[4096];\n.local .align 16 .b8 l[64];\n"
    "ld.param.u64 %d1, [pa];\nld.param.u64 %d2, [pb];\nld.param.u32 %r1, [n];\n"
    "mov.u32 %r2, s;\nmov.u32 %r3, %tid.x;\n"
    "barrier.sync 3;\n";

/// The lines of a kernel's body in the order in which its only warp issues them.
std::vector<std::string> issued(const std::string& body, Schedule schedule, const std::string& bounds = "") {
  const std::string text = std::string(kHead) + bounds + kRegisters + body + "ret;\n}\n";
  auto module = parse(text, "k.ptx", schedule);
  EXPECT_TRUE(module.ok()) << (module.ok() ? "" : module.faults().front().text());
  if (!module.ok()) return {};
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  const auto kernel =
      module.value()->make_kernel("k", {1, 1, 1}, {32, 1, 1}, 0, std::vector<std::uint8_t>(20));
  const auto source = kernel->make_source({0, 1});
  source->begin_warp(0, {0, 0, 0}, 0, ~LaneMask{0});
  std::vector<std::string> out;
  std::uint32_t pc = 0;
  while (source->state(0) != WarpState::exited && out.size() < 1000) {
    for (std::uint32_t id = 0; source->state(0) == WarpState::at_barrier; ++id)
      source->release_barrier(0, id);
    const Instruction& i = source->next(0);
    EXPECT_EQ(i.pc, pc) << "counters are places, whatever the order";
    pc = i.pc + 16;
    const std::string where = source->where(i);
    out.push_back(lines.at(std::stoul(where.substr(where.find(':') + 1)) - 1));
    MemoryAccess access;
    Issue issue;
    issue.access = &access;
    source->execute(0, issue);
    if (i.kind == InstructionKind::memory) source->complete(0, i, access, false);
    if (i.kind == InstructionKind::ret || out.back() == "ret;") break;
  }
  return out;
}

std::size_t place_of(const std::vector<std::string>& order, const std::string& line) {
  const auto found = std::find(order.begin(), order.end(), line);
  EXPECT_NE(found, order.end()) << line;
  EXPECT_EQ(std::find(found + 1, order.end(), line), order.end()) << line;
  return static_cast<std::size_t>(found - order.begin());
}

/// Whether `second` issues before `first`, which stands before it in the text.
bool passes(const std::string& body, const std::string& second, const std::string& first) {
  const auto text = issued(body, Schedule::ptx), order = issued(body, Schedule::assembler);
  EXPECT_LT(place_of(text, first), place_of(text, second));
  EXPECT_EQ(text.size(), order.size());
  return place_of(order, second) < place_of(order, first);
}

/// A load whose result is waited for and stored, and a second one, with what stands between.
std::string pair(const std::string& store, const std::string& between, const std::string& load) {
  return "ld.global.f32 %f1, [%d1];\nadd.f32 %f2, %f1, %f1;\n" + store + "\n" + between + load +
         "\nadd.f32 %f4, %f3, %f3;\nst.global.f32 [%d2+512], %f4;\n";
}

TEST(InstructionOrder, LoadsPassStoresThatCannotOverlap) {
  const auto moves = [](const std::string& store, const std::string& load, const std::string& between = "") {
    return passes(pair(store, between, load), load, store);
  };
  const std::string store = "st.global.f32 [%d2], %f2;";
  EXPECT_FALSE(moves(store, "ld.global.f32 %f3, [%d1+4];")) << "another pointer may lead anywhere";
  EXPECT_TRUE(moves(store, "ld.global.nc.f32 %f3, [%d1+4];")) << "what is read-only overlaps with no store";
  EXPECT_TRUE(moves(store, "ld.param.f32 %f3, [n];"));
  EXPECT_TRUE(moves(store, "ld.global.f32 %f3, [%d2+4];"));
  EXPECT_FALSE(moves(store, "ld.global.f32 %f3, [%d2+3];"));
  EXPECT_FALSE(moves("st.global.v2.f32 [%d2], {%f2, %f2};", "ld.global.f32 %f3, [%d2+4];"));
  EXPECT_TRUE(moves("st.global.v2.f32 [%d2], {%f2, %f2};", "ld.global.f32 %f3, [%d2+8];"));
  EXPECT_FALSE(moves("st.global.f32 [%d2+4], %f2;", "ld.global.v2.f32 {%f3, %f5}, [%d2];"));
  EXPECT_TRUE(moves("st.global.f32 [%d2+8], %f2;", "ld.global.v2.f32 {%f3, %f5}, [%d2];"));
  // What a register was made of.
  EXPECT_FALSE(moves(store, "ld.global.f32 %f3, [%d6+-4];", "add.s64 %d6, %d2, 4;\n"));
  EXPECT_TRUE(moves(store, "ld.global.f32 %f3, [%d6+4];", "add.s64 %d6, %d2, 4;\n"));
  EXPECT_FALSE(moves(store, "ld.global.f32 %f3, [%d6+4];", "mul.lo.s64 %d6, %d2, 3;\n"));
  EXPECT_FALSE(moves(store, "ld.global.f32 %f3, [%d6];",
                     "mov.u64 %d6, %d2;\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 add.s64 %d6, %d6, -4;\n"));
  // Sums of the same registers.
  const std::string sums = "add.s64 %d3, %d2, %d1;\nsub.s64 %d4, %d3, 8;\nadd.s64 %d5, %d1, %d2;\n";
  EXPECT_TRUE(passes(sums + pair("st.global.f32 [%d4], %f2;", "", "ld.global.f32 %f3, [%d5];"),
                     "ld.global.f32 %f3, [%d5];", "st.global.f32 [%d4], %f2;"));
  EXPECT_FALSE(passes(sums + pair("st.global.f32 [%d4+8], %f2;", "", "ld.global.f32 %f3, [%d5];"),
                      "ld.global.f32 %f3, [%d5];", "st.global.f32 [%d4+8], %f2;"));
  // Addresses of 32 bits wrap around.
  const std::string before = "add.s32 %r4, %r2, -4;\n";
  EXPECT_FALSE(passes(before + pair("st.shared.f32 [%r2], %f2;", "", "ld.shared.f32 %f3, [%r4+4];"),
                      "ld.shared.f32 %f3, [%r4+4];", "st.shared.f32 [%r2], %f2;"));
  EXPECT_TRUE(passes(before + pair("st.shared.f32 [%r2], %f2;", "", "ld.shared.f32 %f3, [%r4];"),
                     "ld.shared.f32 %f3, [%r4];", "st.shared.f32 [%r2], %f2;"));
  // State spaces.
  EXPECT_TRUE(moves("st.shared.f32 [s], %f2;", "ld.global.f32 %f3, [%d1+4];"));
  EXPECT_TRUE(moves("st.local.f32 [l], %f2;", "ld.global.f32 %f3, [%d1+4];"));
  EXPECT_FALSE(moves("st.shared.f32 [s], %f2;", "ld.f32 %f3, [%d1+4];"))
      << "generic: it may be shared memory";
  EXPECT_FALSE(moves("st.f32 [%d2], %f2;", "ld.global.f32 %f3, [%d1+4];"));
  EXPECT_TRUE(moves("st.f32 [%d2], %f2;", "ld.global.f32 %f3, [%d2+4];")) << "of one base, in one window";
  EXPECT_TRUE(moves("st.shared.f32 [s], %f2;", "ld.shared.f32 %f3, [s+4];"));
  EXPECT_FALSE(moves("st.shared.f32 [s+4], %f2;", "ld.shared.v2.f32 {%f3, %f5}, [s];"));
}

TEST(InstructionOrder, NothingPassesWhatOrdersMemory) {
  const std::string load = "ld.global.nc.f32 %f3, [%d1+4];", store = "st.global.f32 [%d2], %f2;";
  EXPECT_TRUE(passes(pair(store, "", load), load, store));
  for (const std::string line : {"bar.sync 0;",
                                 "barrier.sync 1;",
                                 "fence.acq_rel.gpu;",
                                 "membar.cta;",
                                 "bar.warp.sync 0xffffffff;",
                                 "ld.volatile.global.f32 %f9, [%d2+64];",
                                 "st.volatile.global.f32 [%d2+64], %f0;",
                                 "ld.relaxed.gpu.global.f32 %f9, [%d2+64];",
                                 "st.relaxed.gpu.global.f32 [%d2+64], %f0;",
                                 "ld.acquire.gpu.global.f32 %f9, [%d2+64];",
                                 "st.release.gpu.global.f32 [%d2+64], %f0;",
                                 "ld.mmio.relaxed.sys.global.f32 %f9, [%d2+64];",
                                 "ld.global.cv.f32 %f9, [%d2+64];",
                                 "atom.global.add.u32 %r9, [%d2+64], 1;",
                                 "red.global.add.u32 [%d2+64], 1;",
                                 "cp.async.ca.shared.global [s], [%d1], 4;",
                                 "cp.async.commit_group;",
                                 "cp.async.wait_all;",
                                 "cp.async.bulk.commit_group;",
                                 "cp.async.bulk.wait_group 0;",
                                 "mbarrier.init.shared.b64 [s+8], 1;",
                                 "mbarrier.arrive.shared.b64 %d9, [s+8];",
                                 "prefetch.global.L2 [%d1];",
                                 "shfl.sync.idx.b32 %r9, %r3, 0, 31, -1;",
                                 "vote.sync.ballot.b32 %r9, %p1, -1;",
                                 "mov.u32 %r9, %clock;",
                                 "mov.u64 %d9, %globaltimer;",
                                 "nanosleep.u32 1;",
                                 "griddepcontrol.launch_dependents;",
                                 "griddepcontrol.wait;",
                                 "setmaxnreg.dec.sync.aligned.u32 24;",
                                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f20, %f21, %f22, "
                                 "%f23}, %d11, %d12, %p2, 1, 1, 0, 0;",
                                 "wgmma.fence.sync.aligned;",
                                 "wgmma.commit_group.sync.aligned;",
                                 "@%p1 trap;",
                                 "@%p1 exit;",
                                 "@%p1 bra NEXT;\nNEXT:"}) {
    const std::string first = line.substr(0, line.find('\n'));
    const std::string body = "setp.eq.u32 %p1, %r1, 77;\n" + pair(store, line + "\n", load);
    EXPECT_FALSE(passes(body, load, first)) << line;
    EXPECT_FALSE(passes(body, first, store)) << line;
  }
}

TEST(InstructionOrder, NothingAtAllPassesClocks) {
  const std::string body =
      "ld.global.f32 %f1, [%d1];\nadd.f32 %f2, %f1, %f1;\nmov.u32 %r5, %clock;\nmul.lo.u32 %r6, %r3, %r3;\n"
      "mov.u32 %r7, %clock;\nmad.lo.u32 %r8, %r3, %r3, 5;\nst.global.u32 [%d2], %r8;\n";
  EXPECT_EQ(issued(body, Schedule::assembler), issued(body, Schedule::ptx));
  // Without clocks they are moved.
  EXPECT_TRUE(
      passes("ld.global.f32 %f1, [%d1];\nadd.f32 %f2, %f1, %f1;\nmul.lo.u32 %r6, %r3, %r3;\n"
             "st.global.u32 [%d2], %r6;\nst.global.f32 [%d2+4], %f2;\n",
             "mul.lo.u32 %r6, %r3, %r3;", "add.f32 %f2, %f1, %f1;"));
}

TEST(InstructionOrder, LoadsOfPerhapsOneAddressKeepTheirOrder) {
  const auto body = [](const std::string& second) {
    return "rem.s64 %d3, %d1, 4096;\nld.global.f32 %f1, [%d3];\n" + second +
           "\nadd.f32 %f3, %f3, %f3;\nadd.f32 %f3, %f3, %f3;\nadd.f32 %f3, %f3, %f1;\n"
           "st.global.f32 [%d2], %f3;\n";
  };
  const std::string first = "ld.global.f32 %f1, [%d3];";
  EXPECT_FALSE(passes(body("ld.global.f32 %f3, [%d1+4];"), "ld.global.f32 %f3, [%d1+4];", first));
  EXPECT_TRUE(passes(body("ld.global.nc.f32 %f3, [%d1+4];"), "ld.global.nc.f32 %f3, [%d1+4];", first));
  EXPECT_TRUE(passes(body("ld.local.f32 %f3, [l];"), "ld.local.f32 %f3, [l];", first));
  EXPECT_FALSE(passes(body("ld.f32 %f3, [%d1+4];"), "ld.f32 %f3, [%d1+4];", first));
}

TEST(InstructionOrder, StoresPassNoAccess) {
  // Each could go first: the other access waits for its address, and so does what is computed meanwhile.
  for (const std::string first :
       {"ld.global.nc.f32 %f1, [%d3];", "ld.shared.f32 %f1, [%d3];", "st.shared.f32 [%d3], %f0;"}) {
    const std::string body = "rem.s64 %d3, %d1, 4096;\n" + first +
                             "\nst.global.f32 [%d2], %f7;\nrem.s64 %d4, %d1, 99;\nrem.s64 %d5, %d4, "
                             "98;\nrem.s64 %d6, %d5, 97;\nadd.f32 %f9, %f1, %f1;\n"
                             "st.global.f32 [%d2+4], %f9;\nst.global.u64 [%d2+8], %d6;\n";
    EXPECT_TRUE(passes(body, "rem.s64 %d4, %d1, 99;", first)) << first;
    EXPECT_FALSE(passes(body, "st.global.f32 [%d2], %f7;", first)) << first;
  }
}

TEST(InstructionOrder, ParametersOfCallsAreReadAsTheyWereWritten) {
  const std::string store = "st.param.f32 [t], %f2;", load = "ld.param.f32 %f3, [t];";
  EXPECT_FALSE(passes("{\n.param .b32 t;\nld.global.f32 %f1, [%d1];\nadd.f32 %f2, %f1, %f1;\n" + store +
                          "\n" + load + "\nadd.f32 %f4, %f3, %f3;\nst.global.f32 [%d2], %f4;\n}\n",
                      load, store));
}

TEST(InstructionOrder, WhichLanesRunTogetherIsAskedInTheTextsOrder) {
  const std::string body =
      "ld.global.u32 %r4, [%d1];\nshfl.sync.idx.b32 %r5, %r4, 0, 31, -1;\nactivemask.b32 %r6;\n"
      "shfl.sync.idx.b32 %r7, %r3, 0, 31, -1;\nadd.u32 %r8, %r7, %r6;\nadd.u32 %r8, %r8, %r5;\n"
      "st.global.u32 [%d2], %r8;\n";
  EXPECT_FALSE(passes(body, "activemask.b32 %r6;", "shfl.sync.idx.b32 %r5, %r4, 0, 31, -1;"));
  EXPECT_FALSE(passes(body, "shfl.sync.idx.b32 %r7, %r3, 0, 31, -1;", "activemask.b32 %r6;"));
}

TEST(InstructionOrder, FragmentsAreLoadedBeforeProductsOfOthers) {
  const auto load = [](int r, int at) {
    const auto reg = [r](int n) { return "%r" + std::to_string(r + n); };
    return "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {" + reg(0) + ", " + reg(1) + ", " + reg(2) + ", " +
           reg(3) + "}, [%r2+" + std::to_string(at) + "];";
  };
  const auto product = [](int f, int r) {
    const auto list = [](const char* name, int first, int count) {
      std::string out;
      for (int n = 0; n < count; ++n)
        out += (n == 0 ? "{%" : ", %") + std::string(name) + std::to_string(first + n);
      return out + "}";
    };
    return "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " + list("f", f, 4) + ", " + list("r", r, 4) +
           ", " + list("r", r, 2) + ", " + list("f", f, 4) + ";";
  };
  const std::string exchange = "shfl.sync.idx.b32 %r40, %r3, 0, 31, -1;",
                    store = "st.shared.u32 [%r2+4], %r3;";
  const auto body = [&](const std::string& between) {
    return load(10, 0) + "\n" + product(0, 10) + "\n" + between + "\n" + load(20, 512) + "\n" +
           product(4, 20) + "\nst.global.f32 [%d1], %f0;\nst.global.f32 [%d1+4], %f4;\n";
  };
  EXPECT_TRUE(passes(body(""), load(20, 512), product(0, 10)));
  EXPECT_FALSE(passes(body(exchange), load(20, 512), exchange));
  EXPECT_FALSE(passes(body(exchange), exchange, product(0, 10)));
  EXPECT_FALSE(passes(body(store), load(20, 512), store)) << "a lane's row may be anywhere";
}

TEST(InstructionOrder, AnUnrolledCopyIsLoadsThenStores) {
  std::string body;
  for (int i = 0; i < 4; ++i) {
    const std::string f = "%f" + std::to_string(i + 1), at = std::to_string(4 * i);
    body += "ld.global.nc.f32 " + f + ", [%d1+" + at + "];\nst.global.f32 [%d2+" + at + "], " + f + ";\n";
  }
  std::string kinds;
  for (const std::string& line : issued(body, Schedule::assembler))
    kinds += line.rfind("ld.global", 0) == 0 ? "L" : line.rfind("st.", 0) == 0 ? "S" : "";
  EXPECT_EQ(kinds, "LLLLSSSS");
}

/// Loads of which all could be under way at once, summed up in the end, one after the other.
std::string many_loads(int count) {
  std::string body = "mov.f32 %f199, 0f00000000;\n";
  for (int i = 0; i < count; ++i) {
    const std::string f = "%f" + std::to_string(i + 1);
    body += "ld.global.nc.f32 " + f + ", [%d1+" + std::to_string(4 * i) + "];\nadd.f32 %f199, %f199, " + f +
            ";\n";
  }
  return body + "st.global.f32 [%d2], %f199;\n";
}

TEST(InstructionOrder, RegistersAreKeptWithinTheirBudget) {
  const auto registers = [](const std::string& bounds, Schedule schedule) {
    const std::string text = std::string(kHead) + bounds + kRegisters + many_loads(150) + "ret;\n}\n";
    auto module = parse(text, "k.ptx", schedule);
    EXPECT_TRUE(module.ok());
    return module.value()->registers("k");
  };
  const auto loads_first = [](const std::string& bounds) {
    std::size_t n = 0, most = 0;
    for (const std::string& line : issued(many_loads(150), Schedule::assembler, bounds)) {
      if (line.rfind("ld.global", 0) == 0) most = std::max(most, ++n);
      if (line.rfind("add.f32", 0) == 0) --n;
    }
    return most;
  };
  EXPECT_EQ(registers("", Schedule::ptx), 16U);
  EXPECT_EQ(registers("", Schedule::assembler), 32U) << "as many as keep every thread resident";
  EXPECT_GT(loads_first(""), 16U);
  EXPECT_LE(loads_first(""), 26U);
  EXPECT_LE(loads_first(" .maxnreg 24 "), 18U);
  EXPECT_GT(loads_first(" .maxnreg 24 "), 8U);
  EXPECT_EQ(registers(" .maxntid 1024 .minnctapersm 2 ", Schedule::assembler), 32U);
  EXPECT_LE(registers(" .maxntid 1024 .minnctapersm 4 ", Schedule::assembler), 16U);
}

/// What a warp of `body` stores to [out]: a word per lane.
std::vector<std::uint32_t> stored(const std::string& body, std::uint64_t seed,
                                  unsigned* registers = nullptr) {
  Machine machine(seed);
  machine.load(
      ".version 8.5\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)"
      "{\n.reg .b64 %d<9>;\n.reg .b32 %r<300>;\n.reg .pred %p<9>;\nld.param.u64 %d1, [in];\n"
      "ld.param.u64 %d2, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %d3, %r1, 4;\n"
      "add.s64 %d1, %d1, %d3;\nadd.s64 %d2, %d2, %d3;\n" +
      body + "ret;\n}\n");
  std::vector<std::uint32_t> numbers(kWarpLanes);
  for (unsigned i = 0; i < kWarpLanes; ++i) numbers[i] = 1000 + i;
  const std::uint64_t in = machine.buffer(numbers),
                      out = machine.buffer(std::vector<std::uint32_t>(kWarpLanes));
  if (registers != nullptr)
    *registers = machine.module()
                     .make_kernel("k", {1, 1, 1}, {kWarpLanes, 1, 1}, 0, std::vector<std::uint8_t>(16))
                     ->info()
                     .registers;
  machine.launch("k", {1, 1, 1}, {kWarpLanes, 1, 1}, 0, in, out);
  return machine.read<std::uint32_t>(out, kWarpLanes);
}

TEST(RegisterPlaces, AreSharedByValuesThatAreNeverNeededTogether) {
  // A long chain through 200 registers, of which two are needed at a time.
  std::string body = "mov.u32 %r10, %r1;\n";
  for (int i = 11; i < 210; ++i)
    body += "add.u32 %r" + std::to_string(i) + ", %r" + std::to_string(i - 1) + ", %r1;\n";
  unsigned registers = 0;
  const auto got = stored(body + "st.global.u32 [%d2], %r209;\n", 1, &registers);
  for (unsigned i = 0; i < kWarpLanes; ++i) ASSERT_EQ(got[i], 200 * i);
  EXPECT_LT(registers, 12U);
}

TEST(RegisterPlaces, WhatMayNotHaveBeenWrittenIsZero) {
  std::string body;
  for (int i = 20; i < 60; ++i)
    body += "ld.global.u32 %r" + std::to_string(i) + ", [%d1];\nst.global.u32 [%d2], %r" + std::to_string(i) +
            ";\n";
  body +=
      "setp.lt.u32 %p1, %r1, 7;\n@%p1 mov.u32 %r100, 5;\nmov.u32 %r103, 3;\nadd.u32 %r102, %r100, %r101;\n"
      "add.u32 %r102, %r102, %r103;\nst.global.u32 [%d2], %r102;\n";
  const auto got = stored(body, 1);
  for (unsigned i = 0; i < kWarpLanes; ++i) ASSERT_EQ(got[i], i < 7 ? 8U : 3U);
}

TEST(RegisterPlaces, ALoadThatNobodyWaitsForLeavesTheNextValueAlone) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::string body;
    for (int i = 0; i < 6; ++i) {
      const std::string n = std::to_string(20 + 2 * i), m = std::to_string(21 + 2 * i);
      body += "ld.global.u32 %r" + n + ", [%d1];\nadd.u32 %r" + m + ", %r1, " + n + ";\n";
    }
    body += "bar.sync 0;\nmov.u32 %r100, 0;\n";
    for (int i = 0; i < 6; ++i) body += "add.u32 %r100, %r100, %r" + std::to_string(21 + 2 * i) + ";\n";
    const auto got = stored(body + "st.global.u32 [%d2], %r100;\n", seed);
    for (unsigned i = 0; i < kWarpLanes; ++i) ASSERT_EQ(got[i], 6 * i + 150) << "seed " << seed;
  }
}

TEST(RegisterPlaces, NobodyElseHasThoseOfAnAsynchronousProduct) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    std::string body =
        ".reg .f32 %f<4>;\n.shared .align 128 .b8 s[8192];\nmov.u32 %r2, s;\nmov.f32 %f0, "
        "0f00000000;\nmov.f32 %f1, %f0;\n"
        "mov.f32 %f2, %f0;\nmov.f32 %f3, %f0;\nmov.u64 %d4, 0;\nmov.u64 %d5, 0;\n"
        "wgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
        "{%f0, %f1, %f2, %f3}, %d4, %d5, %p1, 1, 1, 0, 0;\nwgmma.commit_group.sync.aligned;\n";
    std::string sum = "mov.u32 %r100, 0;\n";
    for (int i = 20; i < 32; ++i) {
      body += "add.u32 %r" + std::to_string(i) + ", %r1, " + std::to_string(i) + ";\n";
      sum += "add.u32 %r100, %r100, %r" + std::to_string(i) + ";\n";
    }
    const auto got =
        stored(body + "wgmma.wait_group.sync.aligned 0;\n" + sum + "st.global.u32 [%d2], %r100;\n", seed);
    for (unsigned i = 0; i < kWarpLanes; ++i) ASSERT_EQ(got[i], 12 * i + 306) << "seed " << seed;
  }
}

TEST(RegisterPlaces, AreALanesOwnWhereLanesPart) {
  // Each side has registers of its own, in the same places; they meet with one of each.
  const auto got = stored(
      "and.b32 %r10, %r1, 1;\nsetp.eq.u32 %p1, %r10, 0;\nmov.u32 %r50, 9;\n@%p1 bra EVEN;\n"
      "add.u32 %r20, %r1, 1;\nmul.lo.u32 %r21, %r20, 3;\nadd.u32 %r22, %r21, %r50;\nmov.u32 %r40, %r22;\nbra "
      "MEET;\n"
      "EVEN:\nadd.u32 %r30, %r1, 2;\nmul.lo.u32 %r31, %r30, 5;\nadd.u32 %r32, %r31, %r50;\nmov.u32 %r40, "
      "%r32;\n"
      "MEET:\nst.global.u32 [%d2], %r40;\n",
      1);
  for (unsigned i = 0; i < kWarpLanes; ++i) ASSERT_EQ(got[i], i % 2 == 0 ? (i + 2) * 5 + 9 : (i + 1) * 3 + 9);
}

TEST(RegisterPlaces, ValuesOfALoopLastThroughIt) {
  const auto got = stored(
      "mov.u32 %r10, 0;\nmov.u32 %r11, 0;\nmov.u32 %r12, 17;\n"
      "LOOP:\nmad.lo.u32 %r20, %r11, %r1, %r12;\nadd.u32 %r21, %r20, 1;\nadd.u32 %r10, %r10, %r21;\n"
      "add.u32 %r11, %r11, 1;\nsetp.lt.u32 %p1, %r11, 5;\n@%p1 bra LOOP;\n"
      "st.global.u32 [%d2], %r10;\n",
      1);
  for (unsigned i = 0; i < kWarpLanes; ++i) ASSERT_EQ(got[i], 10 * i + 5 * 18);
}

TEST(InstructionOrder, Names) {
  EXPECT_EQ(schedule_named("ptx"), Schedule::ptx);
  EXPECT_EQ(schedule_named("assembler"), Schedule::assembler);
  EXPECT_EQ(schedule_named(""), std::nullopt);
}

// --- random kernels ---------------------------------------------------------------------------------------

constexpr unsigned kValues = 8, kWords = 8;

/// A warp's state as the text says, worked out here as it is written: registers %r10 and up of each lane, and
/// a lane's words in global, shared and local memory. Two pointers, %d10 and %d11, lead to the global ones,
/// the second a word further: the reader of the text cannot know.
class RandomKernel {
 public:
  explicit RandomKernel(std::uint64_t seed) : random_(seed) {
    for (auto& lane : lanes_)
      for (unsigned v = 0; v < kValues; ++v)
        lane.r[v] = static_cast<std::uint32_t>(&lane - lanes_.data()) * 77 + v;
    const unsigned count = 10 + static_cast<unsigned>(random_.below(60));
    for (unsigned n = 0; n < count; ++n) add();
  }
  [[nodiscard]] std::string text() const {
    std::string out =
        ".version 8.5\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 out)\n{\n"
        ".reg .b64 %d<40>;\n.reg .b32 %r<40>;\n.reg .pred %p<4>;\n.shared .align 16 .b8 s[1024];\n"
        ".local .align 16 .b8 l[32];\nld.param.u64 %d1, [pa];\nld.param.u64 %d2, [pb];\n"
        "ld.param.u64 %d3, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %d4, %r1, 32;\n"
        "add.s64 %d10, %d1, %d4;\nadd.s64 %d11, %d2, %d4;\nshl.b32 %r2, %r1, 5;\nmov.u32 %r3, s;\n"
        "add.s32 %r4, %r3, %r2;\ncvt.u64.u32 %d12, %r4;\ncvta.shared.u64 %d13, %d12;\nmov.u64 %d14, l;\n";
    for (unsigned v = 0; v < kValues; ++v)
      out += "mad.lo.u32 " + r(v) + ", %r1, 77, " + std::to_string(v) + ";\n";
    out += body_;
    out += "mul.wide.u32 %d20, %r1, " + std::to_string((kValues + 2 * kWords) * 4) +
           ";\nadd.s64 %d20, %d20, %d3;\n";
    for (unsigned v = 0; v < kValues; ++v)
      out += "st.global.u32 [%d20+" + std::to_string(4 * v) + "], " + r(v) + ";\n";
    for (unsigned w = 0; w < kWords; ++w) {
      out += "ld.shared.u32 %r30, [%r4+" + std::to_string(4 * w) + "];\nst.global.u32 [%d20+" +
             std::to_string(4 * (kValues + w)) + "], %r30;\n";
      out += "ld.local.u32 %r31, [l+" + std::to_string(4 * w) + "];\nst.global.u32 [%d20+" +
             std::to_string(4 * (kValues + kWords + w)) + "], %r31;\n";
    }
    return out + "ret;\n}\n";
  }
  struct Lane {
    std::array<std::uint32_t, kValues> r{};
    std::array<std::array<std::uint32_t, kWords>, 3> memory{};  ///< global, shared, local
  };
  [[nodiscard]] const std::array<Lane, kWarpLanes>& lanes() const { return lanes_; }

 private:
  static std::string r(unsigned v) { return "%r" + std::to_string(10 + v); }
  unsigned value() { return static_cast<unsigned>(random_.below(kValues)); }
  void add() {
    const bool guarded = random_.below(5) == 0;
    const unsigned guard = value();
    if (guarded) body_ += "and.b32 %r32, " + r(guard) + ", 1;\nsetp.eq.u32 %p1, %r32, 0;\n";
    // What the guard reads may be what the instruction writes.
    std::array<bool, kWarpLanes> runs{};
    for (unsigned i = 0; i < kWarpLanes; ++i) runs.at(i) = !guarded || lanes_.at(i).r[guard] % 2 == 0;
    const std::string at = guarded ? "@%p1 " : "";
    const unsigned d = value(), a = value(), b = value();
    const auto lanes = [&](auto&& f) {
      for (unsigned i = 0; i < kWarpLanes; ++i)
        if (runs.at(i)) f(lanes_.at(i));
    };
    switch (random_.below(12)) {
      case 0:
        body_ += at + "add.u32 " + r(d) + ", " + r(a) + ", " + r(b) + ";\n";
        return lanes([&](Lane& l) { l.r[d] = l.r[a] + l.r[b]; });
      case 1:
        body_ += at + "mad.lo.u32 " + r(d) + ", " + r(a) + ", " + r(b) + ", " + r(d) + ";\n";
        return lanes([&](Lane& l) { l.r[d] = l.r[a] * l.r[b] + l.r[d]; });
      case 2: {
        body_ += "shfl.sync.bfly.b32 " + r(d) + ", " + r(a) + ", 3, 31, -1;\n";
        std::array<std::uint32_t, kWarpLanes> old{};
        for (unsigned i = 0; i < kWarpLanes; ++i) old.at(i) = lanes_.at(i).r[a];
        for (unsigned i = 0; i < kWarpLanes; ++i) lanes_.at(i).r[d] = old.at(i ^ 3U);
        return;
      }
      case 3: body_ += random_.below(2) == 0 ? "bar.sync 0;\n" : "fence.acq_rel.cta;\n"; return;
      case 4: {
        const unsigned w = static_cast<unsigned>(random_.below(kWords));
        body_ += at + "atom.global.add.u32 " + r(d) + ", [%d10+" +
                 std::to_string(static_cast<int>(4 * w) - moved_["%d10"]) + "], " + r(a) + ";\n";
        return lanes([&](Lane& l) {
          const std::uint32_t old = l.memory[0][w];
          l.memory[0][w] += l.r[a];
          l.r[d] = old;
        });
      }
      case 5: {  // a pointer moves on, and what it is used with moves back
        const int by = static_cast<int>(random_.below(2)) == 0 ? 4 : -4;
        const std::string which = random_.below(2) == 0 ? "%d10" : "%d11";
        if (std::abs(moved_[which] + by) > 8) return;
        moved_[which] += by;
        body_ += "add.s64 " + which + ", " + which + ", " + std::to_string(by) + ";\n";
        return;
      }
      default: return access(at, d, a, lanes);
    }
  }
  template <class Lanes>
  void access(const std::string& at, unsigned d, unsigned a, Lanes&& lanes) {
    // Where, by which pointer, and how far it lies behind the lane's first word.
    struct Way {
      const char* space;
      const char* base;
      unsigned memory;
      int behind;
    };
    static const std::vector<Way> kWays = {
        {".global", "%d10", 0, 0}, {".global", "%d11", 0, 4}, {"", "%d10", 0, 0},      {"", "%d11", 0, 4},
        {".shared", "%r4", 1, 0},  {"", "%d13", 1, 0},        {".local", "%d14", 2, 0}};
    const Way& way = kWays[random_.below(kWays.size())];
    const bool wide = random_.below(4) == 0, load = random_.below(2) == 0;
    const bool is_volatile = random_.below(8) == 0 && way.memory != 2;
    const unsigned w = static_cast<unsigned>(random_.below(kWords)) & (wide ? ~1U : ~0U);
    const int offset = static_cast<int>(4 * w) - way.behind - moved_[way.base];
    const std::string address = std::string("[") + way.base + "+" + std::to_string(offset) + "]";
    const unsigned d2 = (d + 1) % kValues, a2 = (a + 1) % kValues;
    const std::string words =
        std::string(is_volatile ? ".volatile" : "") + way.space + (wide ? ".v2" : "") + ".u32 ";
    const auto list = [&](unsigned x, unsigned y) { return wide ? "{" + r(x) + ", " + r(y) + "}" : r(x); };
    if (load) {
      body_ += at + "ld" + words + list(d, d2) + ", " + address + ";\n";
      lanes([&](Lane& l) {
        l.r[d] = l.memory.at(way.memory)[w];
        if (wide) l.r[d2] = l.memory.at(way.memory)[w + 1];
      });
    } else {
      body_ += at + "st" + words + address + ", " + list(a, a2) + ";\n";
      lanes([&](Lane& l) {
        l.memory.at(way.memory)[w] = l.r[a];
        if (wide) l.memory.at(way.memory)[w + 1] = l.r[a2];
      });
    }
  }

  Random random_;
  std::string body_;
  std::array<Lane, kWarpLanes> lanes_;
  std::map<std::string, int> moved_;
};

std::size_t kernel_count() {
  return from_environment("WARPLINE_ORDERED_KERNELS", 75);
}

TEST(InstructionOrder, RandomKernelsComputeTheSame) {
  std::size_t moved = 0;
  for (std::uint64_t seed = 1; seed <= kernel_count(); ++seed) {
    const RandomKernel kernel(splitmix64(seed));
    std::array<std::vector<std::string>, 3> orders;
    std::array<std::vector<LaneMask>, 3> active;
    const std::array<std::pair<Schedule, bool>, 3> ways{
        {{Schedule::ptx, false}, {Schedule::assembler, false}, {Schedule::assembler, true}}};
    for (std::size_t way = 0; way < ways.size(); ++way) {
      Machine machine(seed);
      machine.schedule = ways[way].first;
      machine.in_step = ways[way].second;
      machine.keeps_order = true;
      machine.load(kernel.text());
      // A word before and behind for the second pointer.
      const std::uint64_t at = machine.buffer(std::vector<std::uint32_t>(kWarpLanes * kWords));
      constexpr unsigned kOut = kValues + 2 * kWords;
      const std::uint64_t out = machine.buffer(std::vector<std::uint32_t>(kWarpLanes * kOut));
      machine.launch("k", {1, 1, 1}, {kWarpLanes, 1, 1}, 0, at, at + 4, out);
      const auto memory = machine.read<std::uint32_t>(at, kWarpLanes * kWords);
      const auto results = machine.read<std::uint32_t>(out, kWarpLanes * kOut);
      for (unsigned i = 0; i < kWarpLanes; ++i) {
        const RandomKernel::Lane& lane = kernel.lanes().at(i);
        for (unsigned v = 0; v < kValues; ++v) ASSERT_EQ(results[i * kOut + v], lane.r[v]) << "seed " << seed;
        for (unsigned w = 0; w < kWords; ++w) {
          ASSERT_EQ(memory[i * kWords + w], lane.memory[0][w]) << "seed " << seed << "\n" << kernel.text();
          ASSERT_EQ(results[i * kOut + kValues + w], lane.memory[1][w]) << "seed " << seed;
          ASSERT_EQ(results[i * kOut + kValues + kWords + w], lane.memory[2][w]) << "seed " << seed;
        }
      }
      orders.at(way) = machine.order;
      active.at(way) = machine.active;
    }
    ASSERT_EQ(orders[1], orders[2]) << "what is computed ahead is issued in its order, seed " << seed;
    ASSERT_EQ(active[1], active[2]) << "seed " << seed;
    moved += orders[0] != orders[1] ? 1 : 0;
  }
  EXPECT_GT(moved, kernel_count() / 2) << "the orders hardly differ";
}

}  // namespace instruction_order_test
}  // namespace warpline::ptx::test
