// Message passing and its relatives in loops, on random machines: outcomes that the PTX memory model forbids
// are never seen, whatever the shape of the machine (docs/ordering.md).
//
// Every kernel takes (data, flag, out); words of different rounds lie a line apart or side by side.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/programs/machine.h"

namespace warpline::test {
namespace litmus_loops_test {

constexpr unsigned kRounds = 24;

/// Replaces every `KEY` by its text.
std::string filled(std::string text, const std::vector<std::pair<std::string, std::string>>& keys) {
  for (const auto& [key, value] : keys)
    for (std::size_t at = 0; (at = text.find(key, at)) != std::string::npos; at += value.size())
      text.replace(at, key.size(), value);
  return text;
}

/// Thread 0 of CTA 0 and thread 0 of CTA 1 run their part once per round; r is the round, d, f and o its
/// words. With `%w` every thread of either CTA knows which warp it is.
std::string two_ctas(const std::string& first, const std::string& second) {
  return filled(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 data, .param .u64 flag, .param .u64 out, .param .u64 step)
{
	.reg .pred %p, %q;
	.reg .b32 %r<9>, %me, %round;
	.reg .b64 %d, %f, %o, %s, %e, %g;
	ld.param.u64 %d, [data];
	ld.param.u64 %f, [flag];
	ld.param.u64 %o, [out];
	ld.param.u64 %s, [step];
	mov.u32 %me, %tid.x;
	mov.u32 %round, 1;
NEXT:
	mov.u32 %r8, %ctaid.x;
	setp.ne.u32 %p, %r8, 0;
	@%p bra OTHER;
FIRST
	bra JOIN;
OTHER:
SECOND
JOIN:
	add.u64 %d, %d, %s;
	add.u64 %f, %f, %s;
	add.u64 %o, %o, 16;
	add.u32 %round, %round, 1;
	setp.le.u32 %p, %round, ROUNDS;
	@%p bra NEXT;
	ret;
}
)",
                {{"FIRST", first}, {"SECOND", second}, {"ROUNDS", std::to_string(kRounds)}});
}

/// Results of all rounds: four words each.
struct Rounds {
  std::vector<std::uint32_t> out;
  RunOutcome outcome = RunOutcome::quiescent;
};

Rounds play(const std::string& ptx, std::uint64_t seed, unsigned threads, Aperture data_in,
            Aperture flag_in) {
  Random random(splitmix64(seed));
  GpuConfig config = random_machine(random);
  config.sms = std::max(config.sms, 2U);
  Bench bench(config, ptx, TickMode::lazy, seed, 20'000'000);
  const std::uint64_t step = random.below(2) == 0 ? 4 : 132;
  const std::uint64_t data = bench.put(std::vector<std::uint32_t>(32 * 1056 + kRounds * 33), data_in);
  const std::uint64_t flag = bench.put(std::vector<std::uint32_t>(kRounds * 132), flag_in);
  const std::uint64_t out = bench.put(std::vector<std::uint32_t>(kRounds * 4));
  Rounds rounds;
  rounds.outcome = bench.launch("k", 2, threads, {data, flag, out, step}).outcome;
  const std::vector<std::string> faults = bench.platform().unreconciled();
  EXPECT_TRUE(faults.empty()) << faults.front();
  EXPECT_TRUE(bench.platform().faults().empty()) << bench.platform().faults().front().where;
  rounds.out = bench.get<std::uint32_t>(out, kRounds * 4);
  return rounds;
}

struct Variant {
  std::string name, send, receive;
  bool system = false;  ///< also with the flag or the data in system memory of other agents' scope
};

/// Fills L1 with the old value first, so that an acquire that does not invalidate is found out.
constexpr const char* kWarm = "\tld.global.ca.u32 %r7, [%d];\n";

std::vector<Variant> message_passing() {
  std::vector<Variant> v;
  for (const std::string s : {"gpu", "sys"}) {
    const bool system = s == "sys";
    v.push_back({"ReleaseAcquire" + s, "st.release.S.global.u32 [%f], 1;",
                 "ld.acquire.S.global.u32 %r1, [%f];", system});
    v.push_back({"FenceAcqRel" + s, "fence.acq_rel.S; st.relaxed.S.global.u32 [%f], 1;",
                 "ld.relaxed.S.global.u32 %r1, [%f]; fence.acq_rel.S;", system});
    v.push_back({"FenceSc" + s, "fence.sc.S; st.relaxed.S.global.u32 [%f], 1;",
                 "ld.relaxed.S.global.u32 %r1, [%f]; fence.sc.S;", system});
    v.push_back({"AtomReleaseAcquire" + s, "atom.release.S.global.exch.b32 %r2, [%f], 1;",
                 "atom.acquire.S.global.or.b32 %r1, [%f], 0;", system});
    v.push_back({"RedRelease" + s, "red.release.S.global.add.u32 [%f], 1;",
                 "ld.acquire.S.global.u32 %r1, [%f];", system});
    v.push_back(
        {"GenericAcqRel" + s, "atom.acq_rel.S.add.u32 %r2, [%f], 1;", "ld.acquire.S.u32 %r1, [%f];", system});
  }
  v.push_back({"MembarGlVolatile", "membar.gl; st.volatile.global.u32 [%f], 1;",
               "ld.volatile.global.u32 %r1, [%f]; membar.gl;"});
  v.push_back({"MembarSysVolatile", "membar.sys; st.volatile.global.u32 [%f], 1;",
               "ld.volatile.global.u32 %r1, [%f]; membar.sys;", true});
  for (Variant& one : v) {
    const std::string s = one.name.find("sys") != std::string::npos ? "sys" : "gpu";
    one.send = filled(one.send, {{".S.", "." + s + "."}, {".S;", "." + s + ";"}});
    one.receive = filled(one.receive, {{".S.", "." + s + "."}, {".S;", "." + s + ";"}});
  }
  return v;
}

void expect_payload(const Rounds& rounds, const std::string& what) {
  ASSERT_EQ(rounds.outcome, RunOutcome::quiescent) << what;
  for (unsigned r = 0; r < kRounds; ++r) ASSERT_EQ(rounds.out[4 * r], 7 * (r + 1)) << what << " round " << r;
}

class MessagePassing : public testing::TestWithParam<Variant> {};

/// A weak payload, written before the flag is sent, is seen by who has seen the flag.
TEST_P(MessagePassing, TheReceiverSeesTheWeakPayload) {
  const Variant& v = GetParam();
  // 32 lanes write a line each, so that the last ones are still on their way when the flag is sent.
  const std::string lanes = "\tmul.wide.u32 %e, %me, 4224;\n\tadd.u64 %e, %d, %e;\n";
  const std::string last = "\tadd.u64 %e, %d, 130944;\n\tld.global.ca.u32 %r7, [%e];\n";
  const std::string only_first = "\tsetp.ne.u32 %q, %me, 0;\n\t@%q bra ";
  std::uint64_t seeds = 1000 * v.name.size();
  for (const std::string store : {"", ".wb", ".cg", ".cs", ".wt"})
    for (const std::string load : {"", ".ca", ".cs"})
      for (unsigned place = 0; place < 4; ++place) {
        const std::string ptx =
            two_ctas(lanes + "\tmul.lo.u32 %r3, %round, 7;\n\tst.global" + store +
                         ".u32 [%e], %r3;\n\tbar.sync 0;\n" + only_first + "JOIN;\n\t" + v.send + "\n",
                     only_first + "JOIN;\n" + last + "SPIN:\n\t" + v.receive +
                         "\n\tsetp.eq.u32 %q, %r1, 0;\n\t@%q bra SPIN;\n\tld.global" + load +
                         ".u32 %r4, [%e];\n\tst.global.u32 [%o], %r4;\n");
        const std::uint64_t seed = ++seeds;
        const Rounds rounds = play(ptx, seed, 32, place % 2 == 0 ? Aperture::vidmem : Aperture::sysmem,
                                   place / 2 == 0 ? Aperture::vidmem : Aperture::sysmem);
        expect_payload(rounds, v.name + " st" + store + " ld" + load + " place " + std::to_string(place));
        if (HasFatalFailure()) return;
      }
}

INSTANTIATE_TEST_SUITE_P(Litmus, MessagePassing, testing::ValuesIn(message_passing()),
                         [](const auto& p) { return p.param.name; });

/// A release is cumulative over what its thread learnt at a barrier; an acquire before a barrier serves
/// siblings.
TEST(Litmus, PayloadsOfAndForSiblingsPassABarrier) {
  const std::string sender =
      "\tmul.lo.u32 %r3, %round, 7;\n\tsetp.eq.u32 %q, %me, 40;\n\t@%q st.global.u32 [%d], %r3;\n\tbar.sync "
      "0;\n"
      "\tsetp.eq.u32 %q, %me, 0;\n\t@%q st.release.gpu.global.u32 [%f], 1;\n";
  const std::string receiver =
      std::string(kWarm) +
      "\tsetp.ne.u32 %q, %me, 0;\n\t@%q bra WAIT;\nSPIN:\n\tld.acquire.gpu.global.u32 %r1, [%f];\n"
      "\tsetp.eq.u32 %q, %r1, 0;\n\t@%q bra SPIN;\nWAIT:\n\tbar.sync 0;\n\tld.global.u32 %r4, [%d];\n"
      "\tsetp.eq.u32 %q, %me, 50;\n\t@%q st.global.u32 [%o], %r4;\n\tbar.sync 0;\n";
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Aperture place = seed % 3 == 0 ? Aperture::sysmem : Aperture::vidmem;
    expect_payload(play(two_ctas(sender, receiver), seed, 64, place, Aperture::vidmem),
                   "seed " + std::to_string(seed));
    if (HasFatalFailure()) return;
  }
}

/// Who has seen a strong write with a strong load does not see an older value with a weak one.
TEST(Litmus, AWeakLoadDoesNotGoBackBehindAStrongOne) {
  for (const std::string strong : {"ld.relaxed.gpu.global.u32 %r1, [%d];",
                                   "ld.volatile.global.u32 %r1, [%d];", "atom.global.or.b32 %r1, [%d], 0;"}) {
    const std::string ptx =
        two_ctas("\tst.relaxed.gpu.global.u32 [%d], 1;\n",
                 std::string(kWarm) + "SPIN:\n\t" + strong +
                     "\n\tld.global.u32 %r2, [%d];\n\tsetp.ne.u32 %q, %r1, 0;\n\tsetp.eq.and.u32 "
                     "%q, %r2, 0, %q;\n\t@%q st.global.u32 [%o], 1;\n\tsetp.eq.u32 %q, %r1, 0;\n\t@%q "
                     "bra SPIN;\n");
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
      const Rounds rounds = play(ptx, seed, seed % 2 == 0 ? 1 : 64,
                                 seed % 3 == 0 ? Aperture::sysmem : Aperture::vidmem, Aperture::vidmem);
      ASSERT_EQ(rounds.outcome, RunOutcome::quiescent);
      for (unsigned r = 0; r < kRounds; ++r)
        ASSERT_EQ(rounds.out[4 * r], 0U) << strong << " seed " << seed << " round " << r;
    }
  }
}

/// Store buffering with fence.sc: one of the two sees the other's store, weak or not.
TEST(Litmus, StoreBufferingIsForbiddenAcrossFencesOfSequentialConsistency) {
  unsigned seen_without = 0;
  for (const std::string fence : {"fence.sc.gpu;", "membar.gl;", "fence.sc.sys;", "membar.sys;", ""})
    for (const std::string access : {"", ".relaxed.gpu"}) {
      // Both meet in `%f + 8` first, so that they run side by side.
      const auto side = [&](const std::string& mine, const std::string& other, unsigned place) {
        return "\tld" + access + ".global.u32 %r7, [" + other +
               "];\n\tadd.u64 %e, %f, 6400;\n\tatom.global.add.u32 %r5, [%e], 1;\n" +
               "\tmul.lo.u32 %r5, %round, 2;\nMEET" + std::to_string(place) +
               ":\n\tld.relaxed.gpu.global.u32 %r6, [%e];\n\tsetp.lt.u32 %q, %r6, 2;\n\t@%q bra MEET" +
               std::to_string(place) + ";\n\tst" + access + ".global.u32 [" + mine + "], 1;\n\t" + fence +
               "\n\tld" + access + ".global.u32 %r1, [" + other + "];\n\tst.global.u32 [%o+" +
               std::to_string(4 * place) + "], %r1;\n";
      };
      const std::string ptx = two_ctas(side("%d", "%f", 0), side("%f", "%d", 1));
      for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        const Rounds rounds = play(ptx, seed, 1, Aperture::vidmem, Aperture::vidmem);
        ASSERT_EQ(rounds.outcome, RunOutcome::quiescent);
        for (unsigned r = 0; r < kRounds; ++r) {
          const bool both_old = rounds.out[4 * r] == 0 && rounds.out[4 * r + 1] == 0;
          if (fence.empty()) {
            seen_without += both_old;
          } else {
            ASSERT_FALSE(both_old) << fence << access << " seed " << seed << " round " << r;
          }
        }
      }
    }
  EXPECT_GT(seen_without, 0U) << "without fences the loop must be able to show it";
}

/// A thread sees its own weak store, whatever the operators, with the old line present or its fill under way.
TEST(Litmus, AThreadSeesItsOwnStore) {
  for (const std::string store :
       {"st.global", "st.global.wb", "st.global.cg", "st.global.cs", "st.global.wt", "st.volatile.global",
        "st.relaxed.gpu.global", "red.global.max", "red.relaxed.sys.global.max"})
    for (const std::string load :
         {"ld.global", "ld.global.ca", "ld.global.cg", "ld.global.cs", "ld.global.lu", "ld.global.cv",
          "ld.volatile.global", "ld.relaxed.cta.global", "ld.relaxed.sys.global"})
      for (const std::string before : {"ld.global.u32 %r7, [%d];", ""}) {
        const std::string step = "\t" + before + "\n\t" + store + ".u32 [%d], %round;\n\t" + load +
                                 ".u32 %r1, [%d];\n\tst.global.u32 [OUT], %r1;\n";
        const std::string ptx = two_ctas(filled(step, {{"OUT", "%o"}}), "");
        for (std::uint64_t seed = 1; seed <= 2; ++seed) {
          const Rounds rounds =
              play(ptx, seed + 100, 1, seed == 2 ? Aperture::sysmem : Aperture::vidmem, Aperture::vidmem);
          for (unsigned r = 0; r < kRounds; ++r)
            ASSERT_EQ(rounds.out[4 * r], r + 1) << store << " " << load << " seed " << seed << " " << before;
        }
      }
}

/// The last CTA to arrive adds up what all have written weakly.
TEST(Litmus, TheLastBlockSeesWhatAllHaveWritten) {
  const std::string ptx = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 parts, .param .u64 count, .param .u64 out)
{
	.reg .pred %p;
	.reg .b32 %r<9>;
	.reg .b64 %d, %f, %o, %a, %t;
	.shared .u32 last;
	ld.param.u64 %d, [parts];
	ld.param.u64 %f, [count];
	ld.param.u64 %o, [out];
	mov.u32 %r0, %tid.x;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %nctaid.x;
	mov.u32 %r3, %ntid.x;
	mad.lo.u32 %r4, %r1, %r3, %r0;
	mul.wide.u32 %t, %r4, 4;
	add.u64 %a, %d, %t;
	add.u32 %r5, %r4, 1;
	ld.global.u32 %r8, [%d];
	st.global.u32 [%a], %r5;
	membar.gl;
	bar.sync 0;
	setp.ne.u32 %p, %r0, 0;
	@%p bra ASK;
	sub.u32 %r6, %r2, 1;
	atom.global.inc.u32 %r7, [%f], %r6;
	setp.eq.u32 %p, %r7, %r6;
	selp.u32 %r7, 1, 0, %p;
	st.shared.u32 [last], %r7;
	membar.gl;
ASK:
	bar.sync 0;
	ld.shared.u32 %r7, [last];
	setp.eq.u32 %p, %r7, 0;
	@%p bra END;
	setp.ne.u32 %p, %r0, 33;
	@%p bra END;
	mul.lo.u32 %r2, %r2, %r3;
	mov.u32 %r6, 0;
SUM:
	sub.u32 %r2, %r2, 1;
	mul.wide.u32 %t, %r2, 4;
	add.u64 %a, %d, %t;
	ld.global.u32 %r7, [%a];
	add.u32 %r6, %r6, %r7;
	setp.ne.u32 %p, %r2, 0;
	@%p bra SUM;
	st.global.u32 [%o], %r6;
END:
	ret;
}
)";
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    const GpuConfig config = random_machine(random);
    Bench bench(config, ptx);
    const std::uint64_t parts =
        bench.put(std::vector<std::uint32_t>(9 * 64), seed % 4 == 0 ? Aperture::sysmem : Aperture::vidmem);
    const std::uint64_t count = bench.put(std::vector<std::uint32_t>(1));
    const std::uint64_t out = bench.put(std::vector<std::uint32_t>(1));
    ASSERT_EQ(bench.launch("k", 9, 64, {parts, count, out}).outcome, RunOutcome::quiescent) << seed;
    ASSERT_EQ(bench.get<std::uint32_t>(out, 1)[0], 9 * 64 * (9 * 64 + 1) / 2U) << "seed " << seed;
    ASSERT_EQ(bench.get<std::uint32_t>(count, 1)[0], 0U);
  }
}

/// Without the driver's invalidation between grids an SM goes on hitting lines that another has overwritten.
TEST(Litmus, AStaleLineStaysStaleUntilTheDriverInvalidates) {
  const std::string ptx = two_ctas("\tld.global.ca.u32 %r1, [%d];\n\tst.global.u32 [%o], %r1;\n", "") + R"(
.visible .entry w(.param .u64 data, .param .u64 step)
{
	.reg .pred %p;
	.reg .b32 %r<3>;
	.reg .b64 %d, %s;
	mov.u32 %r1, %ctaid.x;
	setp.eq.u32 %p, %r1, 0;
	@%p ret;
	ld.param.u64 %d, [data];
	ld.param.u64 %s, [step];
	mov.u32 %r2, 0;
NEXT:
	st.global.u32 [%d], 5;
	add.u64 %d, %d, %s;
	add.u32 %r2, %r2, 1;
	setp.lt.u32 %p, %r2, 24;
	@%p bra NEXT;
	ret;
}
)";
  Result<GpuConfig> mini = load_gpu("mini", {{"sms=2"}});
  ASSERT_TRUE(mini.ok());
  Bench bench(mini.value(), ptx);
  const std::uint64_t data = bench.put(std::vector<std::uint32_t>(kRounds * 32));
  const std::uint64_t out = bench.put(std::vector<std::uint32_t>(kRounds * 4, 9));
  const auto seen = [&](bool invalidate) {
    EXPECT_EQ(bench.launch("k", 2, 1, {data, data, out, 128}, invalidate).outcome, RunOutcome::quiescent);
    return bench.get<std::uint32_t>(out, 1)[0];
  };
  EXPECT_EQ(seen(true), 0U);
  bench.launch("w", 2, 1, {data, 128}, false);
  EXPECT_EQ(bench.get<std::uint32_t>(data, 1)[0], 5U) << "written by the other SM";
  EXPECT_EQ(seen(false), 0U) << "the old line must still be hit";
  EXPECT_EQ(seen(true), 5U);
}

}  // namespace litmus_loops_test
}  // namespace warpline::test
