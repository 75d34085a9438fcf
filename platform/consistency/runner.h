#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "platform/consistency/machine.h"
#include "platform/consistency/test.h"
#include "rtl_models/base/visibility.h"

namespace warpline::litmus {

/// How often a test is run.
struct WARPLINE_PUBLIC RunSeries {
  std::uint64_t runs = 1000;
  std::uint64_t seed = 1;
  Cycle most_cycles = Machine::kMostCycles;  ///< after which a run is taken to be stuck
};

/// One end of a test, as far as its condition names it.
struct WARPLINE_PUBLIC Outcome {
  std::vector<std::int64_t> values;  ///< of the report's terms
  std::uint64_t count = 0;           ///< runs that ended so
  bool in_question = false;          ///< see Condition::in_question
};

/// What runs of a test showed.
struct WARPLINE_PUBLIC RunReport {
  std::vector<Term> terms;
  std::vector<Outcome> outcomes;  ///< by their values
  std::uint64_t runs = 0;
  std::uint64_t stuck = 0;     ///< of them, that did not end
  std::uint64_t faulted = 0;   ///< of them, in which a thread did what no program may
  std::string fault;           ///< of the first of those: see Machine::fault
  std::uint64_t held = 0;      ///< of them, in which a hold of the test held something
  std::uint64_t gave_way = 0;  ///< of them, in which one had to end before its instruction was done
  std::uint64_t in_question = 0;
  Standstill standstill;  ///< of the first run that did not end
};

/// Runs `test` on `machine`, each run with a seed of its own that follows from the plan's. `progress` is told
/// the runs done, now and then; where it returns false, no more follow. Pre: the machine does not refuse the
/// test.
WARPLINE_PUBLIC [[nodiscard]] RunReport run(Machine& machine, const Test& test, const RunSeries& plan,
                                            const std::function<bool(std::uint64_t)>& progress = {});

/// "P0:r1=1 x=2".
WARPLINE_PUBLIC [[nodiscard]] std::string text_of(const Outcome& outcome, const std::vector<Term>& terms,
                                                  const Test& test);

}  // namespace warpline::litmus
