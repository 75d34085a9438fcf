// Grids that follow each other on one GPU.
#include <gtest/gtest.h>

#include "tests/programs/machine.h"

namespace warpline::test {
namespace grids_test {

/// An entry `name` in which every thread of CTA 0 waits a while and every thread fills `words` words of local
/// memory. Where `out` is not null, CTA 1 waits longer still and stores what it reads back.
std::string local_user(const std::string& name, unsigned words) {
  const std::string bytes = std::to_string(4 * words), step = name == "before" ? "7" : "1000";
  return ".visible .entry " + name + R"((.param .u64 out) {
  .local .align 16 .b8 depot[)" +
         bytes + R"(];
  .reg .pred %p, %q;
  .reg .b32 %cta, %tid, %i, %v, %step;
  .reg .b64 %out, %l, %a, %t;
  ld.param.u64 %out, [out];
  mov.u32 %cta, %ctaid.x;
  mov.u32 %tid, %tid.x;
  mov.u64 %l, depot;
  mov.u32 %step, )" +
         step + R"(;
  setp.ne.u32 %p, %cta, 0;
  @!%p nanosleep.u32 20000;
  mov.u32 %i, 0;
FILL:
  mul.wide.u32 %t, %i, 4;
  add.u64 %a, %l, %t;
  mad.lo.u32 %v, %i, %step, %tid;
  st.local.u32 [%a], %v;
  add.u32 %i, %i, 1;
  setp.lt.u32 %q, %i, )" +
         std::to_string(words) + R"(;
  @%q bra FILL;
  setp.eq.u64 %q, %out, 0;
  @%q bra DONE;
  @!%p bra DONE;
  nanosleep.u32 60000;
  mov.u32 %i, 0;
READ:
  mul.wide.u32 %t, %i, 4;
  add.u64 %a, %l, %t;
  ld.local.u32 %v, [%a];
  mov.u32 %tid, %tid.x;
  mad.lo.u32 %tid, %i, 32, %tid;
  mul.wide.u32 %t, %tid, 4;
  add.u64 %a, %out, %t;
  st.global.u32 [%a], %v;
  add.u32 %i, %i, 1;
  setp.lt.u32 %q, %i, )" +
         std::to_string(words) + R"(;
  @%q bra READ;
DONE:
  ret;
}
)";
}

TEST(Grids, LocalLinesOfAnEarlierGridDoNotReachTheLocalMemoryOfALaterOne) {
  GpuConfig config = load_gpu("mini", {}).value();
  config.sms = 2;
  config.l1_lg.geometry = {4, 2};
  constexpr unsigned kWords = 32;
  // With half the local memory per thread, SM 0 has what SM 1 has afterwards.
  Bench bench(config, ".version 8.0\n.target sm_90\n.address_size 64\n" + local_user("before", kWords / 2) +
                          local_user("after", kWords));
  const std::uint64_t out = bench.put(std::vector<std::uint32_t>(kWords * 32));
  ASSERT_EQ(bench.launch("before", 2, 32, {0}).outcome, RunOutcome::quiescent);
  ASSERT_EQ(bench.launch("after", 2, 32, {out}).outcome, RunOutcome::quiescent);
  const auto got = bench.get<std::uint32_t>(out, kWords * 32);
  for (std::uint32_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], i / 32 * 1000 + i % 32) << i;
}

}  // namespace grids_test
}  // namespace warpline::test
