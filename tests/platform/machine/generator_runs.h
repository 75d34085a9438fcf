#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "platform/machine/netlist_backend.h"
#include "rtl_models/base/random.h"
#include "tests/platform/machine/harness.h"

namespace warpline::test {

/// What two runs have in common if time is the same.
struct Outcome {
  std::vector<Cycle> cycles;
  std::map<std::string, std::uint64_t> counters;
  friend bool operator==(const Outcome& a, const Outcome& b) {
    return a.cycles == b.cycles && a.counters == b.counters;
  }
};

/// Five grids of generators drawn from `seed`, whose counters reconcile after each. `backend`: null for plain
/// C++ in this mode.
inline Outcome play(const GpuConfig& config, std::uint64_t seed, TickMode mode,
                    std::shared_ptr<NetlistBackend> backend = nullptr) {
  GeneratorRun run(config, mode, seed, std::move(backend));
  Outcome out;
  Random random(seed);
  for (const char* kind : {"stream", "strided", "random", "reuse", "chase"}) {
    GeneratorParameters p;
    p.kind = kind;
    p.footprint = 1024 * (8 + random.below(64));
    const std::string name = kind;
    if (name == "chase") p.stride = 128;
    if (name == "strided") p.stride = 4 * (1 + random.below(40));
    p.accesses = 20 + random.below(100);
    p.seed = seed;
    p.grid = {static_cast<std::uint32_t>(1 + random.below(5)), 1, 1};
    p.block = {static_cast<std::uint32_t>(32 * (1 + random.below(4))), 1, 1};
    p.base = 1 << 20;
    for (const Problem& fault : p.problems("generator")) ADD_FAILURE() << fault.path << " " << fault.message;
    if (::testing::Test::HasFailure()) return out;
    const LaunchResult r = run.launch(p, random.below(2) == 0);
    EXPECT_EQ(r.outcome, RunOutcome::quiescent);
    out.cycles.push_back(r.cycles);
    const std::vector<std::string> faults = run.platform().unreconciled();
    EXPECT_TRUE(faults.empty()) << faults.front() << " seed " << seed;
  }
  out.counters = AllCounters(run.platform()).values();
  return out;
}

}  // namespace warpline::test
