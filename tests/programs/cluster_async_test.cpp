// What crosses from one CTA of a cluster to another without anybody waiting for it: asynchronous stores and
// reductions, arrivals at other CTAs' mbarriers, bulk copies between shared memories and to several of them,
// CTAs that are cancelled. Random programs of these are among those of ClusterProgram.
#include <gtest/gtest.h>

#include <cstring>

#include "rtl_models/bulk_copy/tensor_map.h"
#include "rtl_models/isa/atomic.h"
#include "tests/programs/machine.h"

namespace warpline::test {
namespace cluster_async_test {

GpuConfig gpu(const std::string& name = "mini", const std::vector<std::string>& more = {}) {
  std::vector<std::string> settings = {"sm_network.present=true"};
  settings.insert(settings.end(), more.begin(), more.end());
  auto loaded = load_gpu(name, settings);
  if (!loaded.ok()) throw std::runtime_error(loaded.faults().front().text());
  return loaded.value();
}

/// A kernel of addresses `out` and `in`, in %d1 and %d0, whose clusters have `ctas` CTAs. %r1: the thread's
/// number, %r2: the CTA's rank, %r3: 1024 bytes of shared memory, %r4: an mbarrier of `count` arrivals, both
/// of the own CTA; %p0: it is the CTA's first thread.
std::string kernel(const std::string& body, unsigned ctas = 2, unsigned count = 1,
                   const std::string& target = "sm_90") {
  return ".version 8.8\n.target " + target +
         "\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in)\n.reqnctapercluster " +
         std::to_string(ctas) +
         ", 1, 1\n{\n.reg .b16 %h<4>;\n.reg .b32 %r<48>;\n.reg .b64 %d<24>;\n.reg .f32 %f<8>;\n"
         ".reg .f64 %g<4>;\n.reg .pred %p<8>;\n.reg .b128 %q<4>;\n.shared .align 128 .b8 m[1024];\n"
         ".shared .align 8 .b64 object[2];\nld.param.u64 %d1, [out];\nld.param.u64 %d0, [in];\n"
         "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %cluster_ctarank;\nmov.u32 %r3, m;\nmov.u32 %r4, object;\n"
         "setp.eq.u32 %p0, %r1, 0;\n@%p0 mbarrier.init.shared.b64 [%r4], " +
         std::to_string(count) +
         ";\nfence.mbarrier_init.release.cluster;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n" + body +
         "\nret;\n}\n";
}
/// %r5 and %r6: the other CTA's memory and mbarrier, of clusters of two.
const std::string kPeer =
    "xor.b32 %r7, %r2, 1;\nmapa.shared::cluster.u32 %r5, %r3, %r7;\nmapa.shared::cluster.u32 %r6, %r4, "
    "%r7;\n";

std::string expect(unsigned bytes) {
  return "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r4], " + std::to_string(bytes) + ";\n";
}
/// Waits for the end of a phase of that parity.
std::string wait(unsigned parity = 0) {
  const std::string label = "WAIT" + std::to_string(parity);
  return label + ":\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p7, [%r4], " +
         std::to_string(parity) + ";\n@!%p7 bra " + label + ";\n";
}
/// The first `words` words of shared memory of each CTA go to `out`, CTA after CTA, by one warp.
std::string leave(unsigned words = 32) {
  const std::string n = std::to_string(words);
  return "mov.u32 %r40, %ctaid.x;\nmov.u32 %r41, %r1;\nLEAVE:\nsetp.lt.u32 %p6, %r41, " + n +
         ";\n@!%p6 bra LEFT;\nmad.lo.u32 %r42, %r41, 4, %r3;\n"
         "ld.shared.u32 %r43, [%r42];\nmad.lo.u32 %r44, %r40, " +
         n +
         ", %r41;\nmad.wide.u32 %d20, %r44, 4, %d1;\nst.global.u32 [%d20], %r43;\nadd.u32 %r41, %r41, 32;\n"
         "bra LEAVE;\nLEFT:\n";
}

struct Outcome {
  LaunchResult result;
  std::vector<std::uint32_t> words;
  std::vector<FaultRecord> faults;
  std::map<std::string, std::uint64_t> counters;
  /// Of all SMs.
  [[nodiscard]] std::uint64_t sum(const std::string& name) const {
    const std::string end = "]." + name;
    std::uint64_t all = 0;
    for (const auto& [path, value] : counters)
      if (path.size() > end.size() && path.compare(path.size() - end.size(), end.size(), end) == 0)
        all += value;
    return all;
  }
};

Outcome run_kernel(const std::string& text, unsigned ctas, std::size_t words, const GpuConfig& config = gpu(),
                   unsigned threads = 32,
                   const std::vector<std::uint32_t>& given = std::vector<std::uint32_t>(1024),
                   TickMode ticks = TickMode::lazy) {
  Bench bench(config, text, ticks, 1, 2'000'000);
  const std::uint64_t out = bench.put(std::vector<std::uint32_t>(std::max<std::size_t>(words, 1)));
  const std::uint64_t in = bench.put(given);
  Outcome r;
  r.result = bench.launch("k", ctas, threads, {out, in});
  r.words = bench.get<std::uint32_t>(out, words);
  r.faults = bench.platform().faults();
  EXPECT_EQ(bench.platform().unreconciled(), std::vector<std::string>{});
  Observation seen;
  bench.platform().visit(seen);
  r.counters = seen.values;
  return r;
}

std::vector<std::uint32_t> numbers(std::size_t count, std::uint32_t step = 0x01010101U) {
  std::vector<std::uint32_t> all(count);
  for (std::size_t n = 0; n < count; ++n) all[n] = static_cast<std::uint32_t>(n + 1) * step;
  return all;
}

// Each thread sends its element, or vector, to the same place of the other CTA. The phase is complete when
// exactly all bytes have come: one more or less, and the wait would not end, or end early.
TEST(AsynchronousStores, OfEveryShapeArriveAndAreCounted) {
  struct Row {
    const char* type;
    unsigned vector;
  };
  for (const Row row : {Row{"b32", 1},
                        {"u32", 2},
                        {"s32", 4},
                        {"f32", 1},
                        {"f32", 4},
                        {"b64", 1},
                        {"u64", 2},
                        {"s64", 1},
                        {"f64", 2},
                        {"b32", 4}}) {
    const bool wide = std::string(row.type).substr(1) == "64", real = row.type[0] == 'f';
    const unsigned bytes = (wide ? 8 : 4) * row.vector;
    SCOPED_TRACE(std::string(row.type) + " x " + std::to_string(row.vector));
    std::string body = kPeer, list;
    body += "mad.lo.u32 %r8, %r1, " + std::to_string(bytes) +
            ", %r5;\nmov.u32 %r9, %ctaid.x;\n"
            "mad.lo.u32 %r9, %r9, 1000, %r1;\n";
    for (unsigned e = 0; e < row.vector; ++e) {
      const std::string n = std::to_string(e);
      body += "add.u32 %r1" + n + ", %r9, " + std::to_string(100000 * (e + 1)) + ";\n";
      body += "mov.b64 %d1" + n + ", {%r1" + n + ", %r9};\n";
      body += real && wide ? "mov.b64 %g" + n + ", %d1" + n + ";\n"
              : real       ? "mov.b32 %f" + n + ", %r1" + n + ";\n"
                           : "";
      list += (e == 0 ? "" : ", ") + (real ? (wide ? "%g" : "%f") + n : (wide ? "%d1" : "%r1") + n);
    }
    if (row.vector > 1) list = "{" + list + "}";
    body += expect(32 * bytes) + "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes" +
            (row.vector > 1 ? ".v" + std::to_string(row.vector) : "") + "." + row.type + " [%r8], " + list +
            ", [%r6];\n" + wait() + leave(32 * bytes / 4);
    const Outcome r = run_kernel(kernel(body), 2, 64 * bytes / 4);
    ASSERT_EQ(r.result.outcome, RunOutcome::quiescent);
    ASSERT_TRUE(r.faults.empty()) << r.faults.front().kind;
    std::vector<std::uint32_t> want;
    for (unsigned cta = 0; cta < 2; ++cta)
      for (unsigned t = 0; t < 32; ++t)
        for (unsigned e = 0; e < row.vector; ++e) {
          const std::uint32_t value = (1 - cta) * 1000 + t;
          want.push_back(value + 100000 * (e + 1));
          if (wide) want.push_back(value);
        }
    EXPECT_EQ(r.words, want);
    EXPECT_EQ(r.sum("cluster.mbarrier_requests"), 2U);
  }
}

// All lanes combine with one word of the other CTA, in whatever order.
TEST(AsynchronousStores, ReductionsOfEveryOperationCombine) {
  struct Row {
    const char* operation;
    const char* type;
    AtomicOperation what;
    DataType as;
  };
  for (const Row row : {Row{"add", "u32", AtomicOperation::add, DataType::u32},
                        {"add", "s32", AtomicOperation::add, DataType::s32},
                        {"add", "u64", AtomicOperation::add, DataType::u64},
                        {"min", "u32", AtomicOperation::min, DataType::u32},
                        {"min", "s32", AtomicOperation::min, DataType::s32},
                        {"max", "u32", AtomicOperation::max, DataType::u32},
                        {"max", "s32", AtomicOperation::max, DataType::s32},
                        {"and", "b32", AtomicOperation::bit_and, DataType::b32},
                        {"or", "b32", AtomicOperation::bit_or, DataType::b32},
                        {"xor", "b32", AtomicOperation::bit_xor, DataType::b32},
                        {"inc", "u32", AtomicOperation::increment, DataType::u32},
                        {"dec", "u32", AtomicOperation::decrement, DataType::u32}}) {
    SCOPED_TRACE(std::string(row.operation) + "." + row.type);
    const bool wide = std::string(row.type) == "u64";
    // inc and dec take one bound, so that the order of lanes does not matter.
    const bool bound = row.what == AtomicOperation::increment || row.what == AtomicOperation::decrement;
    const auto operand_of = [&](unsigned cta, unsigned t) {
      return bound ? 9U : (cta * 32 + t + 1) * 0x9E3779B1U;
    };
    const std::string body =
        kPeer +
        "mov.u64 %d5, 0x123456789ABCDEF0;\n@%p0 st.shared.u64 [%r3], %d5;\nbarrier.cluster.arrive;\n"
        "barrier.cluster.wait;\nmad.lo.u32 %r9, %r2, 32, %r1;\nadd.u32 %r9, %r9, 1;\n" +
        (bound ? "mov.u32 %r9, 9;\n" : "mul.lo.u32 %r9, %r9, 0x9E3779B1;\n") + "mov.b64 %d6, {%r9, %r9};\n" +
        expect(wide ? 256 : 128) + "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes." +
        row.operation + "." + row.type + " [%r5], " + (wide ? "%d6" : "%r9") + ", [%r6];\n" + wait() +
        leave(2);
    const Outcome r = run_kernel(kernel(body), 2, 4);
    ASSERT_EQ(r.result.outcome, RunOutcome::quiescent);
    for (unsigned cta = 0; cta < 2; ++cta) {
      std::uint64_t value = 0x123456789ABCDEF0ULL;
      for (unsigned t = 0; t < 32; ++t) {
        const std::uint64_t low = operand_of(1 - cta, t), operand = low << 32U | low;
        std::uint64_t second = 0, old = 0;
        perform_atomic(row.what, row.as, 1, reinterpret_cast<std::uint8_t*>(&value),
                       reinterpret_cast<const std::uint8_t*>(&operand),
                       reinterpret_cast<const std::uint8_t*>(&second), reinterpret_cast<std::uint8_t*>(&old),
                       Subnormals::kept);
      }
      EXPECT_EQ(r.words[2 * cta] | std::uint64_t{r.words[2 * cta + 1]} << 32U, value);
    }
  }
}

// Both CTAs arrive at both mbarriers at the same time, in every form.
TEST(RemoteArrivals, CountAsTheCtasOwnDo) {
  // Arrivals of a CTA at each object: 32 + 3 * 2 (with a count) + 1 (expecting bytes) + 1 (dropping): 40.
  const std::string both = "mapa.shared::cluster.u32 %r10, %r4, 0;\nmapa.shared::cluster.u32 %r11, %r4, 1;\n";
  std::string body = both + "setp.lt.u32 %p1, %r1, 3;\nsetp.eq.u32 %p2, %r1, 5;\nsetp.eq.u32 %p3, %r1, 9;\n";
  for (const char* at : {"%r10", "%r11"}) {
    const std::string object = std::string("[") + at + "]";
    body += "mbarrier.arrive.release.cluster.shared::cluster.b64 _, " + object + ";\n";
    body += "@%p1 mbarrier.arrive.shared::cluster.b64 _, " + object + ", 2;\n";
    body += "@%p2 mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.b64 _, " + object + ", 64;\n";
    body += "@%p3 mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, " + object + ";\n";
    body += "@%p3 mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 " + object + ", 36;\n";
    body += "@%p0 mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 " + object + ", 100;\n";
  }
  // The next phase lacks two, which were dropped.
  body += wait() +
          "ld.shared.u64 %d5, [%r4];\nmbarrier.pending_count.b64 %r12, %d5;\n"
          "mov.u32 %r40, %ctaid.x;\nmad.wide.u32 %d20, %r40, 4, %d1;\nst.global.u32 [%d20], %r12;\n"
          "barrier.cluster.arrive;\nbarrier.cluster.wait;";
  for (const char* name : {"mini", "h100"}) {
    const Outcome r = run_kernel(kernel(body, 2, 80), 2, 2, gpu(name));
    ASSERT_EQ(r.result.outcome, RunOutcome::quiescent);
    ASSERT_TRUE(r.faults.empty()) << r.faults.front().kind;
    EXPECT_EQ(r.words, (std::vector<std::uint32_t>{78, 78}));
    EXPECT_EQ(r.sum("lsu.mbarrier_phases"), 2U);
  }
}

TEST(RemoteArrivals, WhatReachesNobodyIsAFault) {
  struct Row {
    const char* body;
    const char* kind;
    const char* access;
  };
  const std::string stores = "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 ";
  const std::vector<std::tuple<std::string, std::string, std::string>> rows = {
      {"mapa.shared::cluster.u32 %r5, %r3, 5;\n" + stores + "[%r5], 1, [%r6];",
       "address in no CTA of the cluster", "asynchronous store"},
      {"mapa.shared::cluster.u32 %r6, %r4, 5;\n" + stores + "[%r5], 1, [%r6];",
       "address in no CTA of the cluster", "asynchronous store"},
      {stores + "[%r5], 1, [%r4];", "mbarrier in another CTA than the data", "asynchronous store"},
      {stores + "[%r3], 1, [%r6];", "mbarrier in another CTA than the data", "asynchronous store"},
      {stores + "[%r5+2], 1, [%r6];", "misaligned address", "asynchronous store"},
      {stores + "[%r5], 1, [%r6+4];", "misaligned address", "asynchronous store"},
      {stores + "[%r5+1040], 1, [%r6];", "address beyond shared memory", "asynchronous store"},
      {stores + "[%r5], 1, [%r6+4096];", "address beyond shared memory", "asynchronous store"},
      {stores + "[%r5], 1, [%r6+8];", "no mbarrier at this address", "asynchronous store"},
      {"st.async.mbarrier::complete_tx::bytes.u32 [%d1], 1, [%d1];",
       "address outside the cluster's shared memory", "asynchronous store"},
      {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r5], 1, [%r6+8];",
       "no mbarrier at this address", "asynchronous reduction"},
      {"mbarrier.arrive.shared::cluster.b64 _, [%r6+8];", "no mbarrier at this address",
       "mbarrier operation"},
      {"mbarrier.arrive.shared::cluster.b64 _, [%r6], 2;", "count of an mbarrier out of range",
       "mbarrier operation"},
      {"mbarrier.arrive.shared::cluster.b64 _, [%r6+4];", "misaligned address", "mbarrier operation"},
      {"cvt.u64.u32 %d5, %r6;\ncvta.shared::cluster.u64 %d5, %d5;\nmbarrier.arrive.b64 %d6, [%d5];",
       "address outside the CTA's own shared memory", "mbarrier operation"},
      {"cvt.u64.u32 %d5, %r6;\ncvta.shared::cluster.u64 %d5, %d5;\nmbarrier.init.b64 [%d5], 1;",
       "address outside the CTA's own shared memory", "mbarrier operation"},
      {"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r5], [%r3], 64, [%r4];",
       "mbarrier in another CTA than the data", "bulk copy"},
      {"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r5], [%r5], 64, [%r6];",
       "address outside the CTA's own shared memory", "bulk copy"},
      {"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r5], [%r3+1024], 64, [%r6];",
       "address beyond shared memory", "bulk copy"},
      {"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r5+1024], [%r3], 64, [%r6];",
       "address beyond shared memory", "bulk copy"},
      {"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r5], [%r3], 64, [%r6+8];",
       "no mbarrier at this address", "bulk copy"},
      {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r3], [%d0], "
       "64, [%r4], 7;",
       "address in no CTA of the cluster", "bulk copy"},
  };
  for (const auto& [body, kind, access] : rows) {
    SCOPED_TRACE(body);
    // The other CTA waits until this one has met its fate.
    const Outcome r =
        run_kernel(kernel(kPeer + "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra END;\n@!%p0 exit;\n" + body +
                          "\nEND:\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n@%p1 nanosleep.u32 9000;"),
                   2, 1);
    EXPECT_EQ(r.result.outcome, RunOutcome::quiescent);
    ASSERT_EQ(r.faults.size(), 1U);
    EXPECT_EQ(r.faults[0].kind, kind);
    EXPECT_EQ(r.faults[0].access, access);
    EXPECT_EQ(r.faults[0].lane, 0U);
    EXPECT_EQ(r.faults[0].cta.x, 0U);
  }
}

// Offsets alone would not say in whose memory they lie.
TEST(RemoteArrivals, FaultsOfCopiesNameTheCtaThatTheyAreMeantFor) {
  const std::string copy =
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r5+AT], [%r3], 64, "
      "[%r6+TOLD];";
  const std::vector<std::tuple<std::string, std::string, std::string>> rows = {
      {"1024", "0", "address beyond shared memory"},
      {"8", "0", "misaligned address"},
      {"0", "4", "misaligned address"},
      {"0", "4096", "address beyond shared memory"}};
  for (const auto& [at, told, kind] : rows) {
    SCOPED_TRACE(at + " " + told);
    std::string body = copy;
    body.replace(body.find("AT"), 2, at);
    body.replace(body.find("TOLD"), 4, told);
    const Outcome r =
        run_kernel(kernel(kPeer + "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra END;\n@!%p0 exit;\n" + body +
                          "\nEND:\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n@%p1 nanosleep.u32 9000;"),
                   2, 1);
    ASSERT_EQ(r.faults.size(), 1U);
    EXPECT_EQ(r.faults[0].kind, kind);
    EXPECT_EQ(r.faults[0].address.value_or(0) >> 24U & 0xFFU, 2U) << "CTA 1";
  }
}

// A CTA that has ended takes nothing any more; one that ends right behind its own stores has them awaited.
TEST(RemoteArrivals, AreAwaitedByWhoSendsThemAndRefusedByWhoHasEnded) {
  for (const char* body :
       {"st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r5], 1, [%r6];",
        "mbarrier.arrive.shared::cluster.b64 _, [%r6];",
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r5], [%r3], 64, [%r6];"}) {
    SCOPED_TRACE(body);
    const Outcome r = run_kernel(
        kernel(kPeer + "setp.ne.u32 %p1, %r2, 0;\n@%p1 exit;\n@!%p0 exit;\nnanosleep.u32 9000;\n" + body), 2,
        1);
    EXPECT_EQ(r.result.outcome, RunOutcome::quiescent);
    ASSERT_EQ(r.faults.size(), 1U);
    EXPECT_EQ(r.faults[0].kind, "address in the shared memory of a CTA that has ended");
  }
  const Outcome r = run_kernel(
      kernel(kPeer + "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra SEND;\n" + expect(32 * 4 + 64) + wait() + leave() +
             "exit;\nSEND:\nmad.lo.u32 %r8, %r1, 4, %r5;\nst.async.shared::cluster.mbarrier::"
             "complete_tx::bytes.u32 [%r8], 7, [%r6];\n@!%p0 exit;\n"
             "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r5+256], "
             "[%r3], 64, [%r6];"),
      2, 64);
  EXPECT_EQ(r.result.outcome, RunOutcome::quiescent);
  EXPECT_TRUE(r.faults.empty());
  EXPECT_EQ(std::vector<std::uint32_t>(r.words.begin() + 32, r.words.end()),
            std::vector<std::uint32_t>(32, 7));
}

// A warp that ends while what it sends is on its way leaves nothing behind that a next grid could see.
TEST(RemoteArrivals, OfAWarpThatFaultsDisturbNobodyLater) {
  const std::string body =
      kPeer +
      "ld.global.u32 %r30, [%d0];\nsetp.ne.u32 %p2, %r30, 0;\nmad.lo.u32 %r8, %r1, 4, %r5;\n"
      "add.u32 %r9, %r1, %r2;\nadd.u32 %r10, %r3, 512;\nadd.u32 %r11, %r5, 512;\n"
      "mad.lo.u32 %r12, %r1, 4, %r10;\nst.shared.u32 [%r12], %r9;\nfence.proxy.async.shared::cta;\n"
      "bar.sync 0;\n" +
      expect(128 + 128 + 64) +
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r8], %r9, [%r6];\n"
      "@%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r11], [%r10], 128, "
      "[%r6];\n"
      "setp.eq.and.u32 %p3, %r2, 0, %p0;\n@%p3 "
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%r3+256], [%d0+1024], 64, [%r4], 3;\n"
      "and.b32 %r31, %r30, 255;\n@%p2 nanosleep.u32 %r31;\nsetp.eq.and.u32 %p4, %r2, 0, %p2;\n@%p4 trap;\n"
      "@%p2 exit;\n" +
      wait() +
      "ld.shared.u32 %r13, [%r12];\nld.shared.u32 %r14, [%r3+256];\nmad.lo.u32 %r15, %r1, 4, %r3;\n"
      "ld.shared.u32 %r16, [%r15];\nadd.u32 %r16, %r16, %r13;\nadd.u32 %r16, %r16, %r14;\n"
      "st.shared.u32 [%r15], %r16;\n" +
      leave() + "barrier.cluster.arrive;\nbarrier.cluster.wait;";
  Bench bench(gpu(), kernel(body), TickMode::lazy, 1, 2'000'000);
  const std::uint64_t out = bench.put(std::vector<std::uint32_t>(64));
  std::vector<std::uint32_t> given = numbers(512, 1000);
  for (const std::uint32_t sleep : {1U, 40U, 120U, 255U, 0U, 200U, 0U}) {
    given[0] = sleep;
    const std::uint64_t in = bench.put(given);
    ASSERT_EQ(bench.launch("k", 2, 32, {out, in}).outcome, RunOutcome::quiescent) << sleep;
    if (sleep != 0) continue;
    const auto words = bench.get<std::uint32_t>(out, 64);
    for (unsigned cta = 0; cta < 2; ++cta)
      for (unsigned t = 0; t < 32; ++t)
        ASSERT_EQ(words[32 * cta + t], 2 * (t + 1 - cta) + given[256]) << cta << " " << t;
  }
  // Whether CTA 1 has ended before what CTA 0 sent came, or CTA 0 was stopped by its trap.
  for (const FaultRecord& f : bench.platform().faults())
    EXPECT_TRUE(f.kind == "trap" || f.kind == "address in the shared memory of a CTA that has ended")
        << f.kind;
}

// Lines of global memory that four CTAs want are read from L2 once, of which each is told its bytes.
TEST(Multicast, ReadsOnceWhatAllGet) {
  const auto given = numbers(1024);
  const std::string body =
      expect(1024) +
      "setp.eq.and.u32 %p1, %r2, 2, %p0;\n@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
      "bytes.multicast::cluster [%r3], [%d0+16], 1024, [%r4], 15;\n" +
      wait() + leave(256) + "barrier.cluster.arrive;\nbarrier.cluster.wait;";
  for (const char* name : {"mini", "h100"}) {
    const Outcome r = run_kernel(kernel(body, 4), 4, 1024, gpu(name), 32, given);
    ASSERT_EQ(r.result.outcome, RunOutcome::quiescent);
    ASSERT_TRUE(r.faults.empty()) << r.faults.front().kind;
    for (unsigned n = 0; n < 1024; ++n) ASSERT_EQ(r.words[n], given[n % 256 + 4]) << n;
    EXPECT_EQ(r.sum("bulk_copy.read_sectors"), 33U);
    EXPECT_EQ(r.sum("bulk_copy.bytes_to_shared"), 1024U);
    EXPECT_EQ(r.sum("bulk_copy.bytes_to_cluster"), 3U * 1024U);
    // Of 9 pieces, whose 16 bytes more at the begin of a line put 7 of them in two lines each; and three
    // messages to mbarriers.
    EXPECT_EQ(r.sum("cluster.bulk_requests"), 3U * (2 + 7 * 2) + 3U);
  }
}

// A unit that has room for one copy and one line goes on when other SMs have answered, though nothing else
// wakes it; all ticks alike.
TEST(Multicast, GoesOnWhenOthersHaveAnswered) {
  const auto given = numbers(1024);
  const std::string body =
      expect(1024) +
      "setp.eq.and.u32 %p1, %r2, 2, %p0;\nmov.u32 %r10, 0;\nNEXT:\nadd.u32 %r11, %r3, %r10;\n"
      "cvt.u64.u32 %d5, %r10;\nadd.u64 %d5, %d5, %d0;\n@%p1 cp.async.bulk.shared::cluster.global."
      "mbarrier::complete_tx::bytes.multicast::cluster [%r11], [%d5], 256, [%r4], 15;\n"
      "add.u32 %r10, %r10, 256;\nsetp.lt.u32 %p2, %r10, 1024;\n@%p2 bra NEXT;\n" +
      wait() + leave(256) + "barrier.cluster.arrive;\nbarrier.cluster.wait;";
  const GpuConfig small = gpu("mini", {"sm.bulk_copy.requests=1", "sm.bulk_copy.copies=1"});
  const Outcome r = run_kernel(kernel(body, 4), 4, 1024, small, 32, given);
  ASSERT_EQ(r.result.outcome, RunOutcome::quiescent);
  for (unsigned n = 0; n < 1024; ++n) ASSERT_EQ(r.words[n], given[n % 256]) << n;
  const Outcome every = run_kernel(kernel(body, 4), 4, 1024, small, 32, given, TickMode::every_cycle);
  EXPECT_EQ(every.result.cycles, r.result.cycles);
}

// The mbarriers of all CTAs are told of the rows that come, which are four of a box with one.
TEST(Multicast, OfFourRowsTellsEveryCtaOfAll) {
  constexpr unsigned kColumns = 32, kFirst = 64;  // words of a row, and before row 0
  TensorMap map;
  map.rank = 2;
  map.shape = {kColumns, 24, 1, 1, 1};
  map.strides = {4, kColumns * 4, 0, 0, 0};
  map.box = {kColumns, 1, 1, 1, 1};
  std::vector<std::uint32_t> given = numbers(1024);
  const auto descriptor = map.encode();
  std::memcpy(given.data(), descriptor.data(), descriptor.size());
  const std::string body =
      expect(4 * kColumns * 4) +
      "setp.eq.and.u32 %p1, %r2, 1, %p0;\n@!%p1 bra ASKED;\nadd.u64 %d5, %d0, 256;\n"
      "tensormap.replace.tile.global_address.global.b1024.b64 [%d0], %d5;\n"
      "fence.proxy.tensormap::generic.release.gpu;\n"
      "fence.proxy.tensormap::generic.acquire.gpu [%d0], 128;\n"
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%r3], [%d0, {0, 7, 1, 20, 2}], [%r4], %h1;\nASKED:\n" +
      wait() + leave(4 * kColumns) + "barrier.cluster.arrive;\nbarrier.cluster.wait;";
  const Outcome r = run_kernel(kernel("mov.u16 %h1, 15;\n" + body, 4, 1, "sm_100a"), 4, 4 * 4 * kColumns,
                               gpu("h100"), 32, given);
  ASSERT_EQ(r.result.outcome, RunOutcome::quiescent);
  ASSERT_TRUE(r.faults.empty()) << r.faults.front().kind;
  constexpr unsigned kRows[] = {7, 1, 20, 2};
  for (unsigned n = 0; n < r.words.size(); ++n) {
    const unsigned in_cta = n % (4 * kColumns);
    ASSERT_EQ(r.words[n], given[kFirst + kRows[in_cta / kColumns] * kColumns + in_cta % kColumns]) << n;
  }
}

// The answers of the work distributor name every CTA, or cluster, once.
TEST(LaunchControl, CancelledWorkIsDoneOnceByWhoCancelledIt) {
  const auto body = [](bool cluster) {
    // Thread 0 of rank 0 asks for all; %r20: the first CTA of what is done now.
    return std::string("mov.u32 %r20, %ctaid.x;\nsub.u32 %r20, %r20, %r2;\nmov.u32 %r21, 0;\n") +
           "AGAIN:\nadd.u32 %r22, %r20, %r2;\nmul.wide.u32 %d5, %r22, 4;\nadd.u64 %d5, %d5, %d1;\n"
           "@%p0 red.global.add.u32 [%d5], 1;\n"
           // Nobody reads the last answer any more.
           "bar.sync 0;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n" +
           expect(16) +
           (cluster
                ? "setp.eq.and.u32 %p1, %r2, 0, %p0;\n@%p1 clusterlaunchcontrol.try_cancel.async.shared::"
                  "cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [%r3], [%r4];\n"
                : "@%p0 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128"
                  " [%r3], [%r4];\n") +
           "WAIT:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p7, [%r4], %r21;\n"
           "@!%p7 bra WAIT;\nxor.b32 %r21, %r21, 1;\nld.shared.b128 %q0, [%r3];\n"
           "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q0;\n"
           "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r20, %r24, %r25, _}, %q0;\n"
           "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r26, %q0;\n"
           "setp.ne.and.u32 %p3, %r26, %r20, %p2;\n@%p3 trap;\n@%p2 bra AGAIN;\n"
           "barrier.cluster.arrive;\nbarrier.cluster.wait;";
  };
  const GpuConfig config = gpu("mini", {"sm.cta_slots=1"});
  for (const unsigned ctas : {1U, 2U}) {
    const Outcome r = run_kernel(kernel(body(ctas > 1), ctas, 1, "sm_100a"), 36, 36, config);
    ASSERT_EQ(r.result.outcome, RunOutcome::quiescent);
    ASSERT_TRUE(r.faults.empty()) << r.faults.front().kind;
    EXPECT_EQ(r.words, std::vector<std::uint32_t>(36, 1)) << ctas;
    // As many as the SMs hold begin, few more: the others have been cancelled before.
    EXPECT_LT(r.sum("ctas"), 30U);
    EXPECT_GE(r.sum("ctas"), 4U);
  }
}

TEST(LaunchControl, AnswersGoToSharedMemoryAlone) {
  std::uint64_t shown = 1;  // of the record
  const auto kind_of = [&shown](const std::string& address) {
    const std::string body =
        expect(16) +
        "cvt.u64.u32 %d5, %r3;\ncvta.shared.u64 %d6, %d5;\ncvt.u64.u32 %d7, %r4;\n"
        "cvta.shared.u64 %d7, %d7;\nmov.u64 %d8, 0x123456780;\nmov.u64 %d9, 0;\n"
        "@%p0 clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.b128 [" +
        address + "], [%d7];\n" + (address == "%d6" ? wait() : "");
    const Outcome r = run_kernel(kernel(body, 1, 1, "sm_100a"), 1, 1);
    if (!r.faults.empty()) shown = r.faults[0].address.value_or(1);
    return r.faults.empty() ? std::string() : r.faults[0].kind;
  };
  EXPECT_EQ(kind_of("%d6"), "");
  EXPECT_EQ(kind_of("%d5"), "address outside the CTA's own shared memory")
      << "an offset is no generic address";
  EXPECT_EQ(kind_of("%d1"), "address outside the CTA's own shared memory");
  EXPECT_EQ(kind_of("%d8"), "address outside the CTA's own shared memory");
  EXPECT_EQ(shown, 0x123456780U) << "as the program has it";
  EXPECT_EQ(kind_of("%d9"), "address outside the CTA's own shared memory");
  EXPECT_EQ(shown, 0U);
}

TEST(Fills, ClearWhatTheySay) {
  const std::string body =
      "mad.lo.u32 %r8, %r1, 4, %r3;\nst.shared.u32 [%r8], -1;\nst.shared.u32 [%r8+128], -1;\nbar.sync 0;\n"
      "mov.u64 %d5, 40;\n@%p0 st.bulk.weak.shared::cta [%r3+8], %d5, 0;\nld.shared.u32 %r9, [%r3+8];\n"
      "bar.sync 0;\n" +
      leave(64);
  const Outcome r = run_kernel(kernel(body, 1, 1, "sm_100"), 1, 64);
  ASSERT_EQ(r.result.outcome, RunOutcome::quiescent);
  for (unsigned n = 0; n < 64; ++n) EXPECT_EQ(r.words[n], n >= 2 && n < 12 ? 0U : ~0U) << n;
  const auto kind_of = [](const std::string& address, const std::string& bytes) {
    const Outcome faulty = run_kernel(
        kernel("mov.u64 %d5, " + bytes + ";\n@%p0 st.bulk" + address + ", %d5, 0;", 1, 1, "sm_100"), 1, 1);
    return faulty.faults.empty() ? std::string() : faulty.faults[0].kind;
  };
  EXPECT_EQ(kind_of(".shared::cta [%r3+8]", "1016"), "");
  EXPECT_EQ(kind_of(".shared::cta [%r3+8]", "12"), "size of a fill that is no multiple of 8");
  EXPECT_EQ(kind_of(".shared::cta [%r3+4]", "8"), "misaligned address");
  EXPECT_EQ(kind_of(".shared::cta [%r3+8]", "4096"), "address beyond shared memory");
  EXPECT_EQ(kind_of(" [%d1]", "8"), "address outside the CTA's own shared memory");
}

}  // namespace cluster_async_test
}  // namespace warpline::test
