// Random programs on the platform: no run shows what the memory model forbids.
#include <gtest/gtest.h>

#include <map>

#include "platform/config/load_gpu.h"
#include "platform/consistency/checker.h"
#include "platform/consistency/parser.h"
#include "platform/consistency/runner.h"
#include "tests/platform/consistency/random_program.h"
#include "tests/support/environment.h"

namespace warpline::litmus::test {
namespace random_programs_test {

/// What each value of a program names: the write that stores it.
std::map<std::int64_t, ObservedRun::Source> sources_of(const litmus::Test& test) {
  std::map<std::int64_t, ObservedRun::Source> out;
  out[0] = {};
  for (unsigned t = 0; t < test.threads.size(); ++t) {
    unsigned writes = 0;
    for (const Instruction& i : test.threads[t].code)
      if (i.kind == InstructionKind::memory && i.op.writes()) out[i.a.value] = {t, writes++};
  }
  return out;
}

/// An outcome as the checker takes it: reads in program order, and what memory held.
ObservedRun observed_run_of(const litmus::Test& test, const std::vector<Term>& terms,
                            const Outcome& outcome) {
  const auto sources = sources_of(test);
  const auto value_of = [&](Term::Kind kind, unsigned thread, unsigned number) {
    for (std::size_t n = 0; n < terms.size(); ++n)
      if (terms[n].kind == kind && terms[n].number == number &&
          (kind == Term::Kind::location || terms[n].thread == thread))
        return outcome.values[n];
    return std::int64_t{-1};
  };
  ObservedRun seen;
  for (unsigned t = 0; t < test.threads.size(); ++t) {
    seen.reads.emplace_back();
    for (const Instruction& i : test.threads[t].code)
      if (i.kind == InstructionKind::memory && i.destination != Instruction::kNoRegister)
        seen.reads.back().push_back(sources.at(value_of(Term::Kind::reg, t, i.destination)));
  }
  for (std::size_t n = 0; n < terms.size(); ++n)
    if (terms[n].kind == Term::Kind::location) seen.end.emplace_back(terms[n], outcome.values[n]);
  return seen;
}

/// WARPLINE_PROGRAM_SEED, WARPLINE_PROGRAMS and WARPLINE_PROGRAM_RUNS say which, how many and how often.
TEST(RandomLitmusPrograms, NeverShowWhatTheModelForbids) {
  const std::uint64_t first = from_environment("WARPLINE_PROGRAM_SEED", 1);
  const std::uint64_t programs = from_environment("WARPLINE_PROGRAMS", 250);
  RunSeries plan;
  plan.runs = from_environment("WARPLINE_PROGRAM_RUNS", 40);
  GpuConfig config = load_gpu("mini", {}).value();
  config.gpus = 2;
  Machine machine(config);
  std::uint64_t ended = 0, outcomes = 0;
  for (std::uint64_t seed = first; seed < first + programs; ++seed) {
    Random random(splitmix64(seed));
    const std::string text = random_program(random);
    const Result<litmus::Test> test = parse(text, "random");
    ASSERT_TRUE(test.ok()) << test.faults().front().text() << text;
    ASSERT_EQ(machine.refusals(test.value()), std::vector<std::string>{}) << text;
    plan.seed = seed;
    const RunReport report = run(machine, test.value(), plan);
    EXPECT_EQ(report.stuck, 0U) << "WARPLINE_PROGRAM_SEED=" << seed << '\n' << text;
    for (const Outcome& outcome : report.outcomes) {
      const Verdict v = check(test.value(), observed_run_of(test.value(), report.terms, outcome));
      ASSERT_TRUE(v.allowed || v.bounded)
          << "WARPLINE_PROGRAM_SEED=" << seed
          << " WARPLINE_PROGRAMS=1: " << text_of(outcome, report.terms, test.value()) << " forbidden by "
          << v.axiom << '\n'
          << text;
      EXPECT_FALSE(v.bounded) << text;
      ++outcomes;
    }
    ended += report.runs - report.stuck;
  }
  EXPECT_EQ(ended, programs * plan.runs);
  EXPECT_GT(outcomes, programs * 3) << "there is no variety";
}

}  // namespace random_programs_test
}  // namespace warpline::litmus::test
