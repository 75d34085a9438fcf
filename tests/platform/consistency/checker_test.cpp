// Verdicts on small tests, each with its reason.
#include "platform/consistency/checker.h"

#include <gtest/gtest.h>

#include <string>

#include "platform/consistency/parser.h"

namespace warpline::litmus {
namespace checker_test {

Test parsed(const std::string& body) {
  Result<litmus::Test> r = parse("PTX t\n" + body, "t.litmus");
  if (!r.ok()) {
    ADD_FAILURE() << r.faults().front().text();
    return {};
  }
  return std::move(r.value());
}

struct Case {
  const char* why;
  bool allowed;
  const char* body;
};

class Verdicts : public ::testing::TestWithParam<Case> {};

TEST_P(Verdicts, AreThoseOfTheModel) {
  const Verdict v = check(parsed(GetParam().body));
  EXPECT_EQ(v.allowed, GetParam().allowed) << GetParam().why;
}

const Case kScopes[] = {
    {"nothing orders a weak store before a weak load", true,
     "{\nx=0; y=0;\n}\n P0@cta 0 | P1@cta 1 ;\n st.weak x, 1 | st.weak y, 1 ;\n ld.weak r0, y | ld.weak r1, "
     "x ;\n"
     "exists (P0:r0 == 0 /\\ P1:r1 == 0)\n"},
    {"two fence.sc of a scope that holds both are ordered", false,
     "{\nx=0; y=0;\n}\n P0@cta 0 | P1@cta 1 ;\n st.weak x, 1 | st.weak y, 1 ;\n fence.sc.gpu | fence.sc.gpu "
     ";\n"
     " ld.weak r0, y | ld.weak r1, x ;\nexists (P0:r0 == 0 /\\ P1:r1 == 0)\n"},
    {"membar is fence.sc", false,
     "{\nx=0; y=0;\n}\n P0@cta 0 | P1@cta 1 ;\n st.weak x, 1 | st.weak y, 1 ;\n membar.gl | membar.sys ;\n"
     " ld.weak r0, y | ld.weak r1, x ;\nexists (P0:r0 == 0 /\\ P1:r1 == 0)\n"},
    {"a cluster holds its CTAs", false,
     "{\nx=0; f=0;\n}\n P0@cta 0, cluster 1 | P1@cta 1, cluster 1 ;\n st.weak x, 1 | ld.acquire.cluster r0, "
     "f ;\n"
     " st.release.cluster f, 1 | ld.weak r1, x ;\nexists (P1:r0 == 1 /\\ P1:r1 == 0)\n"},
    {"and no others", true,
     "{\nx=0; f=0;\n}\n P0@cta 0, cluster 1 | P1@cta 1, cluster 2 ;\n st.weak x, 1 | ld.acquire.cluster r0, "
     "f ;\n"
     " st.release.cluster f, 1 | ld.weak r1, x ;\nexists (P1:r0 == 1 /\\ P1:r1 == 0)\n"},
    {"gpu scope ends at the GPU", true,
     "{\nx=0; f=0;\n}\n P0@cta 0, gpu 0 | P1@cta 0, gpu 1 ;\n st.weak x, 1 | ld.acquire.gpu r0, f ;\n"
     " st.release.gpu f, 1 | ld.weak r1, x ;\nexists (P1:r0 == 1 /\\ P1:r1 == 0)\n"},
    {"volatile is relaxed.sys: no order by itself", true,
     "{\nx=0; y=0;\n}\n P0@cta 0 | P1@cta 1 ;\n st.volatile x, 1 | ld.volatile r0, y ;\n"
     " st.volatile y, 1 | ld.volatile r1, x ;\nexists (P1:r0 == 1 /\\ P1:r1 == 0)\n"},
    {"volatile accesses are morally strong: reads of one location agree on the order of its writes", false,
     "{\nx=0;\n}\n P0@cta 0 | P1@cta 1 ;\n st.volatile x, 1 | ld.volatile r0, x ;\n | ld.volatile r1, x ;\n"
     "exists (P1:r0 == 1 /\\ P1:r1 == 0)\n"},
    {"an acquire fence orders what follows a strong load", false,
     "{\nx=0; f=0;\n}\n P0@cta 0 | P1@cta 1 ;\n st.weak x, 1 | ld.relaxed.gpu r0, f ;\n fence.release.gpu | "
     "fence.acquire.gpu ;\n st.relaxed.gpu f, 1 | ld.weak r1, x ;\nexists (P1:r0 == 1 /\\ P1:r1 == 0)\n"},
    {"a release fence does not", true,
     "{\nx=0; f=0;\n}\n P0@cta 0 | P1@cta 1 ;\n st.weak x, 1 | ld.relaxed.gpu r0, f ;\n fence.release.gpu | "
     "fence.release.gpu ;\n st.relaxed.gpu f, 1 | ld.weak r1, x ;\nexists (P1:r0 == 1 /\\ P1:r1 == 0)\n"},
};
const Case kMbarriers[] = {
    {"the wait for a phase shows what was stored before the arrivals that complete it", false,
     "{\nx=0; y=0; b @ mbarrier = 2;\n}\n P0@cta 0 | P1@cta 0 | P2@cta 0 ;\n st.weak x, 1 | st.weak y, 1 | "
     "mbarrier.test_wait.parity p, b, 0 ;\n mbarrier.arrive r0, b | mbarrier.arrive r0, b | ld.weak r1, x ;\n"
     " | | ld.weak r2, y ;\nexists (P2:p == 1 /\\ (P2:r1 == 0 \\/ P2:r2 == 0))\n"},
    {"a phase is complete when all have arrived", true,
     "{\nb @ mbarrier = 2;\n}\n P0@cta 0 | P1@cta 0 | P2@cta 0 ;\n mbarrier.arrive r0, b | mbarrier.arrive "
     "r0, b | mbarrier.test_wait.parity p, b, 0 ;\nexists (P2:p == 1)\n"},
    {"and not before", false,
     "{\nb @ mbarrier = 2;\n}\n P0@cta 0 | P2@cta 0 ;\n mbarrier.arrive r0, b | mbarrier.test_wait.parity p, "
     "b, 0 ;\nexists (P2:p == 1)\n"},
    {"the phase before the first is complete", false,
     "{\nb @ mbarrier = 2;\n}\n P0@cta 0 ;\n mbarrier.test_wait.parity p, b, 1 ;\nexists (P0:p == 0)\n"},
    {"a wait that finds the phase incomplete shows nothing", true,
     "{\nx=0; b @ mbarrier = 2;\n}\n P0@cta 0 | P1@cta 0 ;\n st.weak x, 1 | mbarrier.test_wait.parity p, b, "
     "0 "
     ";\n mbarrier.arrive r0, b | ld.weak r1, x ;\nexists (P1:p == 0 /\\ P1:r1 == 0)\n"},
    {"a relaxed arrival releases nothing", true,
     "{\nx=0; b @ mbarrier = 1;\n}\n P0@cta 0 | P1@cta 0 ;\n st.weak x, 1 | mbarrier.test_wait.parity p, b, "
     "0 "
     ";\n mbarrier.arrive.relaxed.cta r0, b | ld.weak r1, x ;\nexists (P1:p == 1 /\\ P1:r1 == 0)\n"},
    {"a relaxed wait acquires nothing", true,
     "{\nx=0; b @ mbarrier = 1;\n}\n P0@cta 0 | P1@cta 0 ;\n st.weak x, 1 | "
     "mbarrier.test_wait.parity.relaxed.cta "
     "p, b, 0 ;\n mbarrier.arrive r0, b | ld.weak r1, x ;\nexists (P1:p == 1 /\\ P1:r1 == 0)\n"},
    {"a fence makes them do so", false,
     "{\nx=0; b @ mbarrier = 1;\n}\n P0@cta 0 | P1@cta 0 ;\n st.weak x, 1 | "
     "mbarrier.test_wait.parity.relaxed.cta "
     "p, b, 0 ;\n fence.acq_rel.cta | fence.acq_rel.cta ;\n mbarrier.arrive.relaxed.cta r0, b | ld.weak r1, "
     "x ;\n"
     "exists (P1:p == 1 /\\ P1:r1 == 0)\n"},
    {"the scope of the CTA ends at it, whoever can name the object", true,
     "{\nx=0; b @ mbarrier = 1;\n}\n P0@cta 0, cluster 0 | P1@cta 1, cluster 0 ;\n st.weak x, 1 | "
     "mbarrier.test_wait.parity p, b, 0 ;\n mbarrier.arrive r0, b | ld.weak r1, x ;\n"
     "exists (P1:p == 1 /\\ P1:r1 == 0)\n"},
    {"that of the cluster holds its CTAs", false,
     "{\nx=0; b @ mbarrier = 1;\n}\n P0@cta 0, cluster 0 | P1@cta 1, cluster 0 ;\n st.weak x, 1 | "
     "mbarrier.test_wait.parity.acquire.cluster p, b, 0 ;\n mbarrier.arrive.release.cluster r0, b | ld.weak "
     "r1, x "
     ";\nexists (P1:p == 1 /\\ P1:r1 == 0)\n"},
    {"each arrival has a state of its phase: the third of two is in the next", false,
     "{\nb @ mbarrier = 2;\n}\n P0@cta 0 ;\n mbarrier.arrive r0, b ;\n mbarrier.arrive r1, b ;\n "
     "mbarrier.arrive r2, "
     "b ;\n mbarrier.test_wait p, b, r0 ;\n mbarrier.test_wait q, b, r2 ;\n"
     "exists (P0:r0 != 0 \\/ P0:r1 != 0 \\/ P0:r2 != 1 \\/ P0:p != 1 \\/ P0:q != 0)\n"},
    {"no arrival is lost", false,
     "{\nb @ mbarrier = 2;\n}\n P0@cta 0 | P1@cta 0 ;\n mbarrier.arrive r0, b | mbarrier.arrive r0, b ;\n"
     "mbarrier.arrive r1, b | ;\nexists (P0:r1 == 0 /\\ P0:r0 == 0 /\\ P1:r0 == 0)\n"},
    {"an arrival of copies comes behind them: who waits for it sees what they wrote", false,
     "{\nx=7; s @ shared = 1; b @ mbarrier = 1;\n}\n P0@cta 0 | P1@cta 0 ;\n cp.async.ca s, x, 4 | "
     "mbarrier.test_wait.parity p, b, 0 ;\n cp.async.mbarrier.arrive.noinc b | ld.weak r1, s ;\n"
     "exists (P1:p == 1 /\\ P1:r1 == 1)\n"},
    {"an arrival of the thread itself does not wait for its copies", true,
     "{\nx=7; s @ shared = 1; b @ mbarrier = 1;\n}\n P0@cta 0 | P1@cta 0 ;\n cp.async.ca s, x, 4 | "
     "mbarrier.test_wait.parity p, b, 0 ;\n mbarrier.arrive r0, b | ld.weak r1, s ;\n"
     "exists (P1:p == 1 /\\ P1:r1 == 1)\n"},
    {"the thread that began the copies goes on before their arrival", true,
     "{\nx=7; s @ shared = 1; b @ mbarrier = 1;\n}\n P0@cta 0 ;\n cp.async.ca s, x, 4 ;\n"
     " cp.async.mbarrier.arrive.noinc b ;\n mbarrier.test_wait.parity p, b, 0 ;\nexists (P0:p == 0)\n"},
};

INSTANTIATE_TEST_SUITE_P(Scopes, Verdicts, ::testing::ValuesIn(kScopes));
const char* const kOneCluster = " P0@cta 0, cluster 0 | P1@cta 1, cluster 0 ;\n ";
const std::string kStoredAsynchronously =
    "{\ns @ shared of P1 = 0; b @ mbarrier of P1 = 1;\n}\n" + std::string(kOneCluster);
const std::string kAsynchronous[] = {
    kStoredAsynchronously +
        "st.async s, 1, b | mbarrier.arrive.expect_tx.release.cluster r, b, 4 ;\n | "
        "mbarrier.test_wait.acquire.cluster p, b, r ;\n | ld.weak r1, s ;\nexists (P1:p == 1 /\\ P1:r1 == "
        "0)\n",
    kStoredAsynchronously +
        "red.async.add.u32 s, 1, b | mbarrier.arrive.expect_tx.release.cluster r, b, 8 ;\n red.async.add.u32 "
        "s, 2, b | "
        "mbarrier.test_wait.acquire.cluster p, b, r ;\n | ld.weak r1, s ;\nexists (P1:p == 1 /\\ P1:r1 != "
        "3)\n",
    kStoredAsynchronously +
        "st.async s, 1, b | mbarrier.arrive.expect_tx r, b, 4 ;\n | mbarrier.test_wait p, b, r ;\n | ld.weak "
        "r1, s "
        ";\nexists (P1:p == 1 /\\ P1:r1 == 0)\n"};
const Case kAsynchronousStores[] = {
    {"an mbarrier is told of an asynchronous store behind it", false, kAsynchronous[0].c_str()},
    {"of two reductions, each is told of when it is done", false, kAsynchronous[1].c_str()},
    {"that is at the scope of the cluster, which an arrival of the CTA's does not pass on", true,
     kAsynchronous[2].c_str()},
    {"the phase is not complete before the bytes have come", false,
     "{\ns @ shared of P1 = 0; b @ mbarrier of P1 = 1;\n}\n P0@cta 0, cluster 0 | P1@cta 1, cluster 0 ;\n "
     "| mbarrier.arrive.expect_tx r, b, 4 ;\n | mbarrier.test_wait p, b, r ;\nexists (P1:p == 1)\n"},
};
const char* const kUntold =
    " ;\n st.async s, 1, b | mbarrier.test_wait.acquire.cluster p, b, r ;\n | ld.weak r1, x ;\n"
    "exists (P1:p == 1 /\\ P1:r1 == 0)\n";
std::string told_behind(const char* before) {
  return "{\nx=0; s @ shared of P1 = 0; b @ mbarrier of P1 = 1;\n}\n" + std::string(kOneCluster) + before +
         " | mbarrier.arrive.expect_tx.release.cluster r, b, 4" + kUntold;
}
const std::string kBetween =
    "{\nx=0; t @ shared of P0 = 0; s @ shared of P1 = 3; b @ mbarrier of P1 = 1;\n}\n" +
    std::string(kOneCluster);
const std::string kWaitsFor16 =
    " | mbarrier.arrive.expect_tx.release.cluster r, b, 16 ;\n | mbarrier.test_wait.acquire.cluster p, b, r "
    ";\n";
const std::string kTold[] = {
    told_behind("st.weak x, 1"), told_behind("st.release.cluster x, 1"),
    // The wait of the thread itself comes before its store, whose end it cannot see.
    "{\ns @ shared = 0; b @ mbarrier = 1;\n}\n P0@cta 0 ;\n mbarrier.arrive.expect_tx r, b, 4 ;\n"
    " mbarrier.test_wait p, b, r ;\n st.async s, 1, b ;\nexists (P0:p == 1)\n",
    // Through another thread, too.
    "{\nf=0; s @ shared = 0; b @ mbarrier = 1;\n}\n P0@cta 0 | P1@cta 0 ;\n mbarrier.arrive.expect_tx r, b, "
    "4 | "
    "ld.acquire.cta q, f ;\n mbarrier.test_wait p, b, r | @q st.async s, 1, b ;\n st.release.cta f, 1 | ;\n"
    "exists (P0:p == 1)\n",
    kBetween + "cp.async.bulk s, t, 16, b" + kWaitsFor16 +
        " | ld.weak r1, s ;\nexists (P1:p == 1 /\\ P1:r1 == 3)\n",
    kBetween + "cp.async.bulk s, x, 16, b" + kWaitsFor16 +
        " | ld.weak r1, s ;\nexists (P1:p == 1 /\\ P1:r1 == 3)\n",
    kBetween + "st.weak t, 5" + kWaitsFor16 +
        " cp.async.bulk s, t, 16, b | ld.weak r1, s ;\nexists (P1:p == 1 /\\ P1:r1 == 0)\n",
    kBetween + "st.weak t, 5" + kWaitsFor16 +
        " fence.proxy.async | ld.weak r1, s ;\n cp.async.bulk s, t, 16, b | ;\nexists (P1:p == 1 /\\ P1:r1 "
        "== 0)\n",
    // The arrival of copies tells of copies alone.
    "{\nx=7; y=0; s @ shared = 1; b @ mbarrier = 1;\n}\n P0@cta 0 | P1@cta 0 ;\n st.weak y, 1 | "
    "mbarrier.test_wait.parity p, b, 0 ;\n cp.async.ca s, x, 4 | ld.weak r1, y ;\n"
    " cp.async.mbarrier.arrive.noinc b | ;\nexists (P1:p == 1 /\\ P1:r1 == 0)\n",
    // Who has waited tells all of it.
    "{\nf=0; s @ shared of P1 = 0; b @ mbarrier of P1 = 1;\n}\n P0@cta 0, cluster 0 | P1@cta 1, cluster 0 | "
    "P2@cta 2, cluster 0 ;\n st.async s, 1, b | mbarrier.arrive.expect_tx.release.cluster r, b, 4 | "
    "ld.acquire.cluster q, f ;\n | mbarrier.test_wait.acquire.cluster p, b, r | ld.weak r1, s ;\n"
    " | @p st.release.cluster f, 1 | ;\nexists (P2:q == 1 /\\ P2:r1 == 0)\n"};
const Case kTellings[] = {
    {"nothing is told of an earlier store", true, kTold[0].c_str()},
    {"nor of an earlier release", true, kTold[1].c_str()},
    {"what comes before an asynchronous store does not see its end", false, kTold[2].c_str()},
    {"nor what comes before that in another thread", false, kTold[3].c_str()},
    {"a copy between CTAs tells when it is there", false, kTold[4].c_str()},
    {"and so does one from global memory to another CTA", false, kTold[5].c_str()},
    {"it may read what its thread has overwritten", true, kTold[6].c_str()},
    {"but not behind a proxy fence", false, kTold[7].c_str()},
    {"an arrival for copies tells of nothing else", true, kTold[8].c_str()},
    {"a wait acquires what was told, and passes it on", false, kTold[9].c_str()},
};
INSTANTIATE_TEST_SUITE_P(Tellings, Verdicts, ::testing::ValuesIn(kTellings));
INSTANTIATE_TEST_SUITE_P(AsynchronousStores, Verdicts, ::testing::ValuesIn(kAsynchronousStores));
INSTANTIATE_TEST_SUITE_P(Mbarriers, Verdicts, ::testing::ValuesIn(kMbarriers));

const Case kRest[] = {
    {"a compare-and-swap that fails writes nothing", false,
     "{\nx=5;\n}\n P0@cta 0 ;\n atom.cas r0, x, 1, 2 ;\nexists (x == 2)\n"},
    {"one that succeeds does", true,
     "{\nx=1;\n}\n P0@cta 0 ;\n atom.cas r0, x, 1, 2 ;\nexists (x == 2 /\\ P0:r0 == 1)\n"},
    {"it compares as many bits as it has", true,
     "{\nx=-1;\n}\n P0@cta 0 ;\n atom.cas r0, x, 0xFFFFFFFF, 0x100000001 ;\n atom.cas.b32 r1, x, 1, -2 ;\n"
     " atom.cas.b32 r2, x, -2, 3 ;\nexists (P0:r2 == 0xFFFFFFFE /\\ x == 3)\n"},
    {"and all of those", false,
     "{\nx=0x100000001;\n}\n P0@cta 0 ;\n atom.cas.b64 r0, x, 1, 2 ;\nexists (x == 2)\n"},
    {"increments at a scope of both are never lost", false,
     "{\nx=0;\n}\n P0@cta 0 | P1@cta 1 ;\n atom.add r0, x, 1 | atom.add r0, x, 1 ;\nexists (x == 1)\n"},
    {"at the scope of a CTA they may be", true,
     "{\nx=0;\n}\n P0@cta 0 | P1@cta 1 ;\n atom.relaxed.cta.add r0, x, 1 | atom.relaxed.cta.add r0, x, 1 ;\n"
     "exists (x == 1)\n"},
    {"unsigned types wrap, others keep their sign", true,
     "{\nx=-1;\n}\n P0@cta 0 ;\n ld.weak r0, x ;\n ld.weak.u8 r1, x ;\n ld.weak.s8 r2, x ;\n atom.sub r3, x, "
     "-2 ;\n"
     "exists (P0:r0 == -1 /\\ P0:r1 == 255 /\\ P0:r2 == -1 /\\ x == 1)\n"},
    {"the loop ends when the flag is seen", false,
     "{\nx=0; f=0;\n}\n P0@cta 0 | P1@cta 1 ;\n st.weak x, 1 | L: ;\n st.release.gpu f, 1 | ld.acquire.gpu "
     "r0, f ;\n"
     " | beq r0, 0, L ;\n | ld.weak r1, x ;\nexists (P1:r1 == 0)\n"},
    {"values from nowhere", false,
     "{\nx=0; y=0;\n}\n P0@cta 0 | P1@cta 1 ;\n ld.weak r0, x | ld.weak r0, y ;\n st.weak y, r0 | st.weak x, "
     "r0 ;\n"
     "exists (P0:r0 == 42)\n"},
    {"a wide read of a wide write and a later narrow one", true,
     "{\nx=0;\n}\n P0@cta 0 ;\n st.weak.b64 x, -1 ;\n st.weak.b32 x+4, 0 ;\n ld.weak.u64 r0, x ;\n"
     "exists (P0:r0 == 0xFFFFFFFF /\\ x == 0xFFFFFFFF)\n"},
    {"the narrow write is the thread's own: it cannot be missed", false,
     "{\nx=0;\n}\n P0@cta 0 ;\n st.weak.b64 x, -1 ;\n st.weak.b32 x+4, 0 ;\n ld.weak.u64 r0, x ;\n"
     "exists (P0:r0 == -1)\n"},
    {"strong accesses of one size are whole", false,
     "{\nx=0;\n}\n P0@cta 0 | P1@cta 1 ;\n st.relaxed.gpu.b64 x, -1 | ld.relaxed.gpu.u64 r0, x ;\nexists "
     "(P1:r0 == 0xFFFFFFFF)\n"},
    {"weak ones that race are promised nothing", true,
     "{\nx=0;\n}\n P0@cta 0 | P1@cta 1 ;\n st.weak.b64 x, -1 | ld.relaxed.gpu.u64 r0, x ;\nexists (P1:r0 == "
     "0xFFFFFFFF)\n"},
    {"nor are narrow ones", true,
     "{\nx=0;\n}\n P0@cta 0 | P1@cta 1 ;\n st.weak.b16 x, 0x0102 | ld.weak.u16 r0, x ;\nexists (P1:r0 == "
     "0x0100)\n"},
    {"nor such that do not include each other", true,
     "{\nx=0;\n}\n P0@cta 0 | P1@cta 1 ;\n st.relaxed.cta.b64 x, -1 | ld.relaxed.gpu.u64 r0, x ;\nexists "
     "(P1:r0 == 0xFFFFFFFF)\n"},
    {"but weak ones that are ordered are whole", false,
     "{\nx=0; f=0;\n}\n P0@cta 0 | P1@cta 1 ;\n st.weak.b64 x, -1 | ld.acquire.gpu r1, f ;\n st.release.gpu "
     "f, 1 | ld.weak.u64 r0, x ;\nexists (P1:r1 == 1 /\\ P1:r0 == 0xFFFFFFFF)\n"},
    {"who reads a part of a strong write reads none of what it covers", false,
     "{\nx=0;\n}\n P0@cta 0 | P1@cta 1 ;\n st.relaxed.gpu.b16 x, 3 | ld.relaxed.gpu.u32 r0, x ;\n "
     "st.relaxed.gpu.b32 x, 0x40004 | ;\nexists (P1:r0 == 0x40003)\n"},
    {"but may read a part of a narrow one that follows", true,
     "{\nx=0;\n}\n P0@cta 0 | P1@cta 1 ;\n st.relaxed.gpu.b32 x, 0x40004 | ld.relaxed.gpu.u32 r0, x ;\n "
     "st.relaxed.gpu.b16 x, 3 | ;\nexists (P1:r0 == 0x40003)\n"},
    {"atomics of different sizes exclude each other", false,
     "{\nx=0;\n}\n P0@cta 0 | P1@cta 1 ;\n atom.add.u32 r0, x, 1 | atom.add.u64 r0, x, 0x100000001 ;\nexists "
     "(P0:r0 == 0 /\\ P1:r0 == 0)\n"},
    {"unless a scope does not include the other", true,
     "{\nx=0;\n}\n P0@cta 0 | P1@cta 1 ;\n atom.relaxed.cta.add.u32 r0, x, 1 | atom.add.u64 r0, x, "
     "0x100000001 ;\nexists (P0:r0 == 0 /\\ P1:r0 == 0)\n"},
    {"reads through .nc know nothing of the thread's own stores", true,
     "{\nx=0;\n}\n P0@cta 0 ;\n st.weak x, 1 ;\n ld.weak.global.nc r0, x ;\nexists (P0:r0 == 0)\n"},
    {"cache operators are hints", false,
     "{\nx=0;\n}\n P0@cta 0 ;\n st.weak.cs x, 1 ;\n ld.weak.cg r0, x ;\nexists (P0:r0 == 0)\n"},
    {"and so is cache control", false,
     "{\nx=0;\n}\n P0@cta 0 ;\n st.weak x, 1 ;\n CCTL.IV x ;\n ld.weak r0, x ;\nexists (P0:r0 == 0)\n"},
    {"aliases are ordered by their fence", false,
     "{\nx=0; y @ generic aliases x;\n}\n P0@cta 0 ;\n st.weak x, 1 ;\n fence.proxy.alias ;\n ld.weak r0, y "
     ";\n"
     "exists (P0:r0 == 0)\n"},
    {"and by nothing else", true,
     "{\nx=0; y @ generic aliases x;\n}\n P0@cta 0 ;\n st.weak x, 1 ;\n fence.sc.sys ;\n ld.weak r0, y ;\n"
     "exists (P0:r0 == 0)\n"},
    {"the n-th time at a barrier meets the n-th", false,
     "{\nx=0; y=0;\n}\n P0@cta 0 | P1@cta 0 ;\n st.weak x, 1 | bar.sync 1 ;\n bar.sync 1 | ld.weak r0, x ;\n"
     " ld.weak r0, y | st.weak y, 1 ;\n bar.sync 1 | bar.sync 1 ;\nexists (P1:r0 == 0)\n"},
    {"and no other", true,
     "{\nx=0; y=0;\n}\n P0@cta 0 | P1@cta 0 ;\n bar.sync 1 | bar.sync 1 ;\n ld.weak r0, y | st.weak y, 1 ;\n"
     " bar.sync 1 | bar.sync 1 ;\nexists (P0:r0 == 1)\n"},
};
INSTANTIATE_TEST_SUITE_P(Rest, Verdicts, ::testing::ValuesIn(kRest));

const char* const kMessage =
    "{\nx=0; f=0;\n}\n P0@cta 0 | P1@cta 1 ;\n st.weak x, 1 | ld.acquire.gpu r0, f ;\n"
    " st.release.gpu f, 1 | ld.weak r1, x ;\nexists (P1:r0 == 1 /\\ P1:r1 == 0)\n";

TEST(Checker, NamesTheAxiomThatForbidsAndDrawsTheExecution) {
  CheckOptions options;
  options.draw = true;
  const Verdict forbidden = check(parsed(kMessage), options);
  EXPECT_EQ(forbidden.axiom, "causality");
  for (const char* part : {"digraph", "forbidden: causality", "st.release.gpu f, 1", "label=\"rf\"",
                           "label=\"sync\"", "P1: gpu 0, CTA 1"})
    EXPECT_NE(forbidden.graph.find(part), std::string::npos) << part << '\n' << forbidden.graph;
  std::string weaker = kMessage;
  weaker.replace(weaker.find("release"), 7, "relaxed");
  const Verdict allowed = check(parsed(weaker), options);
  EXPECT_TRUE(allowed.allowed);
  EXPECT_NE(allowed.graph.find("label=\"fr\""), std::string::npos);
}

TEST(Checker, NamesTheAxiomAndTheRaceOfMixedSizes) {
  const std::string columns = "{\nx=0; f=0;\n}\n P0@cta 0 | P1@cta 1 ;\n";
  const Verdict sca =
      check(parsed(columns + " st.relaxed.gpu.b16 x, 3 | ld.relaxed.gpu.u32 r0, x ;\n st.relaxed.gpu.b32 x, "
                             "0x40004 | ;\nexists (P1:r0 == 0x40003)\n"));
  EXPECT_EQ(sca.axiom, "single-copy atomicity");
  EXPECT_EQ(sca.mixed_size_race, "\"P0: st.relaxed.gpu.b16 x, 3\" and \"P1: ld.relaxed.gpu.u32 r0, x\"");
  EXPECT_EQ(check(parsed(columns + " st.relaxed.gpu.b64 x, -1 | ld.relaxed.gpu.u64 r0, x ;\nexists (P1:r0 == "
                                   "0xFFFFFFFF)\n"))
                .axiom,
            "single-copy atomicity");
  const std::string behind = " st.weak.b16 x, 3 | ld.acquire.gpu r0, f ;\n st.release.gpu f, 1 | ";
  EXPECT_NE(check(parsed(columns + behind + "ld.weak.u32 r1, x ;\nexists (P1:r1 == 3)\n")).mixed_size_race,
            "");
  EXPECT_EQ(check(parsed(columns + behind +
                         "beq r0, 0, E ;\n | ld.weak.u32 r1, x ;\n | E: ;\nexists (P1:r1 == "
                         "3)\n"))
                .mixed_size_race,
            "")
      << "it reads only what is written before";
}

TEST(Checker, SaysWhereItDidNotLookAtEverything) {
  const litmus::Test loop =
      parsed("{\nx=0;\n}\n P0@cta 0 ;\n L: ;\n ld.weak r0, x ;\n beq r0, 0, L ;\nexists 0==0\n");
  const Verdict v = check(loop);
  EXPECT_FALSE(v.allowed) << "nobody ever writes what it waits for";
  EXPECT_TRUE(v.bounded);
  EXPECT_EQ(v.gave_up, "");
}

TEST(Checker, GivesUpWhereThereIsTooMuchToLookAt) {
  CheckOptions few;
  few.work = 100;
  const Verdict v = check(parsed(kMessage), few);
  EXPECT_EQ(v.gave_up, "there are too many executions to look at");
  EXPECT_TRUE(v.bounded);
  unsigned asked = 0;
  CheckOptions interrupted;
  interrupted.stop = [&] { return ++asked == 3; };
  EXPECT_NE(check(parsed(kMessage), interrupted).gave_up, "");
  EXPECT_EQ(asked, 3U);

  std::string stores;
  for (unsigned n = 0; n < 63; ++n) stores += " st.weak x, 1 | st.weak x, 1 | st.weak x, 1 ;\n";
  const std::string wide = "{\nx=0;\n}\n P0@cta 0 | P1@cta 1 | P2@cta 2 ;\n" + stores;
  EXPECT_EQ(check(parsed(wide + "exists (x == 1)\n")).gave_up,
            "there are executions of more than 128 events");
  const std::string deep = "{\nx=0;\n}\n P0@cta 0 ;\n" + stores + stores;
  std::string one = deep;
  for (std::size_t at = 0; (at = one.find(" |", at)) != std::string::npos;)
    one.erase(at, one.find('\n', at) - at - 2);
  EXPECT_NE(check(parsed(one + "exists (x == 1)\n")).gave_up.find("thread P0 has too many ways"),
            std::string::npos);
}

/// Each value is worked out once: doubling it is no more work than adding to it.
TEST(Checker, FollowsALongCalculation) {
  std::string code = "{\nx=1; y=0;\n}\n P0@cta 0 ;\n ld.weak r0, x ;\n";
  for (unsigned n = 0; n < 62; ++n) code += " add r0, r0, r0 ;\n";
  code += " st.weak.b64 y, r0 ;\n";
  EXPECT_TRUE(check(parsed(code + "exists (y == 0x4000000000000000)\n")).allowed);
  EXPECT_FALSE(check(parsed(code + "exists (y != 0x4000000000000000)\n")).allowed);
}

TEST(Checker, FindsTheOrderOfManyAtomics) {
  std::string places, atomics;
  for (unsigned n = 0; n < 16; ++n) {
    places += (n == 0 ? " P" : " | P") + std::to_string(n) + "@cta " + std::to_string(n);
    atomics += n == 0 ? " atom.add r0, x, 1" : " | atom.add r0, x, 1";
  }
  EXPECT_TRUE(check(parsed("{\nx=0;\n}\n" + places + ";\n" + atomics + ";\nexists (x == 16)\n")).allowed);
}

/// What a run read: the model says of that alone whether it is allowed.
TEST(Checker, JudgesWhatWasObserved) {
  const litmus::Test test = parsed(kMessage);
  using Source = ObservedRun::Source;
  const auto allowed = [&](Source flag, Source data) {
    ObservedRun seen;
    seen.reads = {{}, {flag, data}};
    return check(test, seen).allowed;
  };
  EXPECT_TRUE(allowed({0, 1}, {0, 0}));
  EXPECT_TRUE(allowed({}, {}));
  EXPECT_TRUE(allowed({}, {0, 0}));
  EXPECT_FALSE(allowed({0, 1}, {}));
  EXPECT_FALSE(allowed({0, 0}, {0, 0})) << "the flag cannot come from the store to x";
}

TEST(Checker, JudgesWhatMemoryHeldAtTheEnd) {
  const litmus::Test test =
      parsed("{\nx=0;\n}\n P0@cta 0 ;\n st.weak x, 1 ;\n st.weak x, 2 ;\nexists (x == 2)\n");
  ObservedRun seen;
  seen.reads = {{}};
  seen.end = {{test.condition.proposition.parts[0].parts[0].parts[0].parts[0].left, 2}};
  ASSERT_EQ(seen.end[0].first.kind, Term::Kind::location);
  EXPECT_TRUE(check(test, seen).allowed);
  seen.end[0].second = 1;
  EXPECT_FALSE(check(test, seen).allowed);
}

}  // namespace checker_test
}  // namespace warpline::litmus
