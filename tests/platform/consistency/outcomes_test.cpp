// Weak behaviour that the hardware has, and what its rules forbid.
#include "tests/platform/consistency/bench.h"

namespace warpline::test {
namespace outcomes_test {

TEST(LitmusOutcomes, StoresLeaveAfterLaterLoads) {
  EXPECT_GT(times_seen(R"({ x=0; y=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 st.relaxed.gpu x, 1 | st.relaxed.gpu y, 1 ;
 ld.relaxed.gpu r0, y | ld.relaxed.gpu r1, x ;
exists (P0:r0 == 0 /\ P1:r1 == 0))"),
            0U);
}

TEST(LitmusOutcomes, RequestsToDifferentSlicesPassEachOther) {
  EXPECT_GT(times_seen(R"({ x=0; y=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 st.relaxed.gpu x, 1 | ld.relaxed.gpu r0, y ;
 st.relaxed.gpu y, 1 | ld.relaxed.gpu r1, x ;
exists (P1:r0 == 1 /\ P1:r1 == 0))"),
            0U)
      << "message passing";
  EXPECT_GT(times_seen(R"({ x=0; y=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 ld.relaxed.gpu r0, x | ld.relaxed.gpu r1, y ;
 st.relaxed.gpu y, 1 | st.relaxed.gpu x, 1 ;
exists (P0:r0 == 1 /\ P1:r1 == 1))"),
            0U)
      << "load buffering";
  EXPECT_GT(times_seen(R"({ x=0; y=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 st.relaxed.gpu x, 1 | st.relaxed.gpu y, 1 ;
 st.relaxed.gpu y, 2 | st.relaxed.gpu x, 2 ;
exists (x == 1 /\ y == 1))"),
            0U)
      << "2+2W";
}

TEST(LitmusOutcomes, AStaleLineIsRead) {
  const std::string test = R"({ x=0; y=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 st.weak x, 1 | ld.LOAD r0, y ;
 fence.acq_rel.gpu | ld.weak r1, x ;
 st.relaxed.gpu y, 1 | ;
exists (P1:r0 == 1 /\ P1:r1 == 0))";
  const auto with = [&](const std::string& load) {
    std::string text = test;
    return text.replace(text.find("LOAD"), 4, load);
  };
  EXPECT_GT(times_seen(with("relaxed.gpu")), 0U);
  EXPECT_EQ(times_seen(with("acquire.gpu")), 0U);
}

TEST(LitmusOutcomes, FencesForbidStoreBuffering) {
  EXPECT_EQ(times_seen(R"({ x=0; y=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 st.relaxed.gpu x, 1 | st.relaxed.gpu y, 1 ;
 fence.sc.gpu | fence.sc.gpu ;
 ld.relaxed.gpu r0, y | ld.relaxed.gpu r1, x ;
exists (P0:r0 == 0 /\ P1:r1 == 0))"),
            0U);
}

TEST(LitmusOutcomes, OneLocationIsCoherent) {
  EXPECT_EQ(times_seen(R"({ x=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 st.relaxed.gpu x, 1 | ld.relaxed.gpu r0, x ;
 st.relaxed.gpu x, 2 | ld.relaxed.gpu r1, x ;
exists (P1:r0 == 2 /\ P1:r1 == 1 \/ x == 1))"),
            0U);
}

TEST(LitmusOutcomes, ScopesReachAsFarAsTheySay) {
  const std::string test = R"({ x=0; y=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 st.weak x, 1 | ld.acquire.SCOPE r0, y ;
 st.release.SCOPE y, 1 | ld.weak r1, x ;
exists (P1:r0 == 1 /\ P1:r1 == 0))";
  const auto with = [&](const std::string& scope) {
    std::string text = test;
    while (text.find("SCOPE") != std::string::npos) text.replace(text.find("SCOPE"), 5, scope);
    return text;
  };
  EXPECT_GT(times_seen(with("cta")), 0U);
  EXPECT_EQ(times_seen(with("gpu")), 0U);
  EXPECT_EQ(times_seen(with("sys")), 0U);
}

TEST(LitmusOutcomes, OtherProxiesSeeStoresLate) {
  EXPECT_GT(times_seen(R"({ x=0; t @ texture aliases x; }
 P0@cta 0,gpu 0 ;
 st.weak x, 1 ;
 tld.weak r0, t ;
exists (P0:r0 == 0))"),
            0U);
  EXPECT_GT(times_seen(R"({ x=0; y @ generic aliases x; }
 P0@cta 0,gpu 0 ;
 st.weak x, 1 ;
 ld.weak r0, y ;
exists (P0:r0 == 0))"),
            0U);
}

TEST(LitmusOutcomes, LinesOfSurfacesAreStaleUntilTheirFence) {
  const auto with = [](const std::string& store, const std::string& fence, const std::string& load) {
    return times_seen("{ x=0; f=0; s @ surface aliases x; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n " + store +
                      " | ld.acquire.gpu r0, f ;\n fence.proxy.surface | " + fence +
                      " ;\n st.release.gpu f, 1 | " + load + " ;\nexists (P1:r0 == 1 /\\ P1:r1 == 0)");
  };
  EXPECT_GT(with("st.weak x, 1", "", "suld.weak r1, s"), 0U) << "an acquire spares them";
  EXPECT_GT(with("st.weak x, 1", "fence.proxy.alias", "suld.weak r1, s"), 0U);
  EXPECT_EQ(with("st.weak x, 1", "fence.proxy.surface", "suld.weak r1, s"), 0U);
  EXPECT_EQ(with("sust.weak s, 1", "fence.proxy.surface", "suld.weak r1, s"), 0U);
  EXPECT_EQ(with("sust.weak s, 1", "", "ld.weak r1, x"), 0U) << "an acquire drops generic ones";
}

/// What a CTA stores by surface its own threads see by surface, stored past a line or into one.
TEST(LitmusOutcomes, ACtaSeesItsOwnSurfaceStores) {
  EXPECT_EQ(times_seen(R"({ x=0; s @ surface aliases x; }
 P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;
 suld.weak r0, s | ;
 sust.weak s, 1 | bar.cta.sync 0 ;
 suld.weak r1, s | suld.weak r2, s ;
 bar.cta.sync 0 | suld.weak r3, s ;
exists (P0:r0 != 0 \/ P0:r1 != 1 \/ P1:r2 != 1 \/ P1:r3 != 1))"),
            0U);
}

TEST(LitmusOutcomes, SiblingsMeetInSharedMemory) {
  EXPECT_EQ(times_seen(R"({ x @ shared = 4; }
 P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;
 st.weak x, 1 | bar.cta.sync 0 ;
 bar.cta.sync 0 | ld.weak r0, x ;
exists (P1:r0 != 1 \/ x != 1))"),
            0U);
  EXPECT_GT(times_seen(R"({ x @ shared = 4; }
 P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;
 st.weak x, 1 | ld.weak r0, x ;
exists (P1:r0 == 4))"),
            0U);
}

}  // namespace outcomes_test
}  // namespace warpline::test
