// Runs over sockets show what runs port to port show; loosely timed runs show nothing forbidden either.
#include "platform/systemc/systemc_backend.h"
#include "tests/platform/consistency/bench.h"

namespace warpline::test {
namespace transports_test {

constexpr const char* kMixed = R"({ x=3; y @ generic aliases x; z @ sysmem = 5; t @ texture aliases x; f=0; }
 P0@cta 0,gpu 0 | P1@cta 0,gpu 0 | P2@cta 1,gpu 0 ;
 atom.add.gpu r0, x, 1 | ld.weak r0, y | tld.weak r0, t ;
 st.weak z, 7 | bar.cta.sync 1 | ld.acquire.sys r2, f ;
 bar.cta.sync 1 | ld.weak r1, z | fence.proxy.texture ;
 st.release.sys f, 1 | st.weak x, 9 | tld.weak r1, t ;
 | | ld.weak r3, z ;
exists (P2:r2 == 1 /\ P2:r3 == 5 /\ P0:r0 == 0 /\ P1:r0 == 0 /\ P1:r1 == 0 /\ P2:r0 == 0 /\ P2:r1 == 0))";

constexpr const char* kTwoGpus = R"({ x=3; p @ peer = 5; f=0; }
 P0@cta 0,gpu 0 | P1@cta 0,gpu 1 | P2@cta 1,gpu 1 ;
 atom.add.sys r0, x, 1 | st.mmio.relaxed.sys p, 6 | ld.weak r0, x ;
 st.weak x, 7 | ld.mmio.relaxed.sys r0, p | ld.acquire.sys r1, f ;
 st.release.sys f, 1 | atom.add.sys r1, x, 2 | ld.weak r2, x ;
exists (x == 7 /\ p == 5 /\ P0:r0 == 0 /\ P1:r0 == 0 /\ P1:r1 == 0 /\ P2:r0 == 0 /\ P2:r1 == 0 /\ P2:r2 == 0))";

/// Runs of `text` with `transport`, and those hops that match `pins` as wires, are those port to port.
void expect_alike(const std::string& text, const GpuConfig& gpu, HopTransport transport,
                  std::vector<std::string> pins, std::uint64_t runs) {
  const litmus::Test test = litmus_test(text);
  litmus::Machine direct(gpu);
  litmus::Machine other(
      gpu, std::make_shared<SystemCBackend>(gpu.clocks, transport, TickMode::lazy, 1, std::move(pins)));
  direct.load(test);
  other.load(test);
  const std::vector<litmus::Term> terms = test.condition.terms();
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    ASSERT_TRUE(direct.run(seed));
    ASSERT_TRUE(other.run(seed));
    EXPECT_EQ(direct.cycles(), other.cycles()) << "seed " << seed;
    for (const litmus::Term& term : terms)
      EXPECT_EQ(direct.value(term), other.value(term)) << "seed " << seed;
  }
}

TEST(LitmusTransports, SocketsShowWhatPortsShow) {
  expect_alike(kMixed, litmus_gpu(), HopTransport::socket, {}, 50);
}

TEST(LitmusTransports, SocketsOfTwoGpusShowWhatPortsShow) {
  GpuConfig gpu = litmus_gpu();
  gpu.gpus = 2;
  expect_alike(kTwoGpus, gpu, HopTransport::socket, {}, 50);
}

TEST(LitmusTransports, PinsShowWhatPortsShow) {
  GpuConfig gpu = litmus_gpu();
  gpu.gpus = 2;
  expect_alike(kTwoGpus, gpu, HopTransport::direct, {"gpu[*].pcie*", "gpu[1].l2*", "*l1_lg.from_sm"}, 10);
}

/// Arrivals, stores, reductions and copies from CTA to CTA.
constexpr const char* kBetweenCtas = R"({ x=5; s @ shared of P1 = 1; u @ shared of P1; t @ shared of P0 = 7;
 b @ mbarrier of P1 = 2; }
 P0@cta 0, cluster 0, gpu 0 | P1@cta 1, cluster 0, gpu 0 ;
 st.async s, 2, b | mbarrier.arrive.expect_tx.release.cluster r, b, 24 ;
 red.async.add.u32 s, 4, b | mbarrier.try_wait.acquire.cluster p, b, r ;
 cp.async.bulk u, t, 16, b | ld.weak r1, s ;
 mbarrier.arrive.release.cluster _, b | ld.weak r2, u ;
exists (P1:p == 1 /\ ((P1:r1 != 6 /\ P1:r1 != 2) \/ P1:r2 != 7)))";

TEST(LitmusTransports, SocketsBetweenCtasShowWhatPortsShow) {
  expect_alike(kBetweenCtas, load_gpu("mini", {"sm_network.present=true"}).value(), HopTransport::socket, {},
               50);
}

TEST(LitmusTransports, PinsBetweenCtasShowWhatPortsShow) {
  expect_alike(kBetweenCtas, load_gpu("mini", {"sm_network.present=true"}).value(), HopTransport::direct,
               {"*network*"}, 20);
}

TEST(LitmusTransports, LooselyTimedRunsBetweenCtasForbidWhatTheModelForbids) {
  const litmus::Test test = litmus_test(kBetweenCtas);
  litmus::Machine machine(load_gpu("mini", {"sm_network.present=true"}).value(), nullptr, true);
  const litmus::RunReport report = litmus::run(machine, test, {500, 1});
  EXPECT_EQ(report.stuck + report.faulted, 0U) << report.fault;
  EXPECT_EQ(report.in_question, 0U);
}

TEST(LitmusTransports, LooselyTimedRunsEndAndForbidWhatTheModelForbids) {
  const litmus::Test test = litmus_test(R"({ x=0; f=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 st.weak x, 1 | ld.acquire.gpu r0, f ;
 st.release.gpu f, 1 | ld.weak r1, x ;
exists (P1:r0 == 1 /\ P1:r1 == 0))");
  litmus::Machine machine(litmus_gpu(), nullptr, true);
  const litmus::RunReport report = litmus::run(machine, test, {500, 1});
  EXPECT_EQ(report.stuck, 0U);
  EXPECT_EQ(report.in_question, 0U);
  EXPECT_GE(report.outcomes.size(), 2U);
}

TEST(LitmusTransports, AStuckRunOverSocketsIsCleanedUp) {
  const litmus::Test stuck = litmus_test(R"({ x=0; }
 P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;
 LOOP: | bar.cta.sync 1, 1, 3 ;
 ld.relaxed.gpu r0, x | ;
 beq r0, 0, LOOP | ;
exists (x == 0))");
  const litmus::Test good = litmus_test(kMixed);
  const GpuConfig gpu = litmus_gpu();
  litmus::Machine machine(gpu, std::make_shared<SystemCBackend>(gpu.clocks, HopTransport::socket));
  EXPECT_EQ(litmus::run(machine, stuck, {3, 1, 3000}).stuck, 3U);
  EXPECT_EQ(litmus::run(machine, good, {10, 1}).stuck, 0U);
}

}  // namespace transports_test
}  // namespace warpline::test
