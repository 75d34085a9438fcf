// Random programs on the platform: no run shows what the memory model forbids.
#include <gtest/gtest.h>

#include <array>
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

/// Threads of one CTA that store, load, arrive at barriers and wait there, in any order: many never end.
std::string program_of_barriers(Random& random) {
  const auto threads = 2 + random.below(2);
  std::array<std::uint64_t, 2> meeting{};  // 0: all that use it
  for (std::uint64_t& n : meeting) n = random.below(2) == 0 ? 0 : 2 + random.below(threads - 1);
  std::vector<std::vector<std::string>> code(threads);
  std::string where, registers;
  unsigned value = 0;
  for (std::size_t t = 0; t < threads; ++t) {
    where += (t == 0 ? " P" : " | P") + std::to_string(t) + "@cta 0, gpu 0";
    const auto count = 2 + random.below(4);
    for (std::uint64_t n = 0; n < count; ++n) {
      const auto barrier = random.below(3) / 2;
      const std::string place = random.below(2) == 0 ? "x" : "y";
      std::string what;
      switch (random.below(5)) {
        case 0: what = "st.weak " + place + ", " + std::to_string(++value); break;
        case 1:
          what = "ld.weak r" + std::to_string(n) + ", " + place;
          registers +=
              (registers.empty() ? "P" : " /\\ P") + std::to_string(t) + ":r" + std::to_string(n) + " == 0";
          break;
        default:
          what = random.below(2) == 0 ? "bar.cta.sync 0, " : "bar.cta.arrive 0, ";
          what += std::to_string(barrier);
          if (meeting[barrier] != 0) what += ", " + std::to_string(meeting[barrier]);
      }
      code[t].push_back(what);
    }
  }
  std::string out = "PTX barriers\n{\nx=0; y=0;\n}\n" + where + " ;\n";
  for (std::size_t row = 0; row < 5; ++row) {
    for (std::size_t t = 0; t < threads; ++t)
      out += (t == 0 ? " " : " | ") + (row < code[t].size() ? code[t][row] : std::string());
    out += " ;\n";
  }
  return out + "exists (" + (registers.empty() ? "0 == 0" : registers) + ")\n";
}

/// Arrivals that do not wait may come twice before others come once.
TEST(RandomLitmusPrograms, OfBarriersNeverShowWhatTheModelForbids) {
  const std::uint64_t programs = 8 * from_environment("WARPLINE_PROGRAMS", 250);
  RunSeries plan;
  plan.runs = from_environment("WARPLINE_PROGRAM_RUNS", 40) / 2;
  Machine machine(load_gpu("mini", {}).value());
  std::uint64_t ended = 0;
  for (std::uint64_t seed = 1; seed <= programs; ++seed) {
    Random random(splitmix64(seed) + 1);
    const std::string text = program_of_barriers(random);
    const Result<litmus::Test> test = parse(text, "barriers");
    ASSERT_TRUE(test.ok()) << test.faults().front().text() << text;
    plan.seed = seed;
    const RunReport report = run(machine, test.value(), plan);
    for (const Outcome& outcome : report.outcomes) {
      const Verdict v = check(test.value(), observed_run_of(test.value(), report.terms, outcome));
      ASSERT_TRUE(v.allowed && !v.bounded)
          << "seed " << seed << ' ' << text_of(outcome, report.terms, test.value()) << " forbidden by "
          << v.axiom << '\n'
          << text;
    }
    ended += report.runs - report.stuck;
  }
  EXPECT_GT(ended, programs * plan.runs / 4);
}

}  // namespace random_programs_test
}  // namespace warpline::litmus::test
