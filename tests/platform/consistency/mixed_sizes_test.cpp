// Programs of mixed sizes: the checker, the judge of what kernels did, and the platform against one that goes
// byte by byte.
#include "tests/platform/consistency/mixed_sizes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "platform/config/load_gpu.h"
#include "platform/consistency/checker.h"
#include "platform/consistency/judge.h"
#include "platform/consistency/parser.h"
#include "platform/consistency/record/execution_record.h"
#include "platform/consistency/runner.h"
#include "tests/support/environment.h"

namespace warpline::litmus::test {
namespace mixed_sizes_test {

litmus::Test parsed(const std::string& text) {
  Result<litmus::Test> test = parse(text, "mixed");
  EXPECT_TRUE(test.ok()) << test.faults().front().text() << text;
  return std::move(test).value();
}

std::uint64_t programs() {
  return from_environment("WARPLINE_MIXED_PROGRAMS", 24);
}

TEST(MixedSizes, TheCheckerAgreesWithOneThatGoesByteByByte) {
  std::uint64_t allowed = 0, mixed = 0;
  for (std::uint64_t seed = 0; seed < programs(); ++seed) {
    Random random(splitmix64(seed));
    const MixedProgram p = random_mixed_program(random);
    const Verdict verdict = check(parsed(p.text()));
    ASSERT_FALSE(verdict.bounded) << "seed " << seed << '\n' << verdict.gave_up << '\n' << p.text();
    ASSERT_EQ(verdict.allowed, naively_allowed(p)) << "seed " << seed << '\n'
                                                   << verdict.axiom << '\n'
                                                   << p.text();
    if (!verdict.mixed_size_race.empty()) {
      EXPECT_TRUE(mixes_sizes(p)) << p.text();
    }
    allowed += verdict.allowed;
    mixed += mixes_sizes(p);
  }
  EXPECT_GT(allowed, programs() / 5);
  EXPECT_LT(allowed, programs() * 4 / 5);
  EXPECT_GT(mixed, programs() / 2);
}

/// Several writes leave the same in a byte, and some are known only when the program has run.
TEST(MixedSizes, TheCheckerAgreesWhereBytesDoNotTellWhoseTheyAre) {
  constexpr double kMostSources = 1000;
  std::uint64_t allowed = 0, tried = 0;
  const std::uint64_t count = programs() * 4 / 5;
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    Random random(splitmix64(seed) + 3);
    const MixedProgram p = random_program_of_few_bytes(random);
    if (sources_of(p) > kMostSources) continue;
    const bool is_allowed = naively_allowed(p);
    for (const bool computes : {false, true}) {
      const Verdict verdict = check(parsed(p.text(computes)));
      ASSERT_FALSE(verdict.bounded) << "seed " << seed << '\n' << verdict.gave_up << '\n' << p.text(computes);
      ASSERT_EQ(verdict.allowed, is_allowed) << "seed " << seed << '\n'
                                             << verdict.axiom << '\n'
                                             << p.text(computes);
    }
    ++tried;
    allowed += is_allowed;
  }
  EXPECT_GT(tried, count / 2);
  EXPECT_GT(allowed, tried / 5);
  EXPECT_LT(allowed, tried * 19 / 20);
}

TEST(MixedSizes, MoreWritesThatRaceForbidNothing) {
  const auto verdict = [](const std::string& more) {
    return check(
        parsed("PTX torn\n{\nx=0;\n}\n P0@cta 0, gpu 0 | P1@cta 1, gpu 0 | P2@cta 2, gpu 0 ;\n"
               " st.weak.b64 x, 0x100000001 | ld.weak.u64 r0, x | " +
               more + " ;\nexists (P1:r0 == 1)\n"));
  };
  EXPECT_TRUE(verdict("mov r1, 0").allowed);
  EXPECT_TRUE(verdict("st.weak.b64 x, 0x20300000000").allowed);
}

/// A run of `p` that ended as it says, and in which writes and fences came at `moments`.
ExecutionRecord record_of(const MixedProgram& p, const litmus::Test& test, const MixedMoments& moments) {
  ExecutionRecord r;
  r.kernel = "mixed";
  r.threads_per_cta = 64;
  std::uint64_t issued = 0;
  std::array<std::pair<std::uint64_t, std::uint64_t>, 8> last{};  // of x: moment, byte
  RecordedLine& x = r.lines[{0, 0}];
  RecordedLine& f = r.lines[{0, kLineBytes}];
  std::array<std::pair<std::uint64_t, std::uint64_t>, 8> last_flag{};
  for (std::uint32_t t = 0; t < p.threads.size(); ++t) {
    RecordedThread thread;
    thread.cta.x = p.threads[t].cta;
    thread.cta_number = p.threads[t].cta;
    thread.number = t;
    r.threads.push_back(thread);
    for (std::size_t n = 0; n < p.threads[t].code.size(); ++n) {
      const MixedOperation& o = p.threads[t].code[n];
      RecordedEvent e;
      e.kind =
          o.kind == MixedOperation::Kind::fence ? RecordedEvent::Kind::fence : RecordedEvent::Kind::access;
      e.thread = t;
      e.instruction = static_cast<std::uint32_t>(r.instructions.size());
      r.instructions.push_back({test.threads[t].code[n].op, "k.ptx:" + std::to_string(n)});
      e.issued = ++issued;
      e.reads = o.reads();
      e.writes = o.writes();
      e.returned = o.reads();
      e.answered = e.kind == RecordedEvent::Kind::fence ? moments[t][n] : ~Moment{0};
      e.coherent = o.writes() ? moments[t][n] : 0;
      if (e.kind == RecordedEvent::Kind::access) {
        e.bytes = static_cast<std::uint8_t>(o.bytes);
        e.address = e.physical = o.location * kLineBytes + o.offset;
        for (unsigned b = 0; b < o.bytes; ++b) {
          e.read[b] = static_cast<std::uint8_t>(p.read[t][n] >> (8 * b));
          e.written[b] = o.left(b);
          auto& at = (o.location == 0 ? last : last_flag)[o.offset + b];
          if (e.writes && at.first < e.coherent) at = {e.coherent, e.written[b]};
        }
      }
      r.events.push_back(e);
    }
  }
  for (unsigned b = 0; b < 8; ++b) {
    x.after[b] = static_cast<std::uint8_t>(last[b].second);
    f.after[b] = static_cast<std::uint8_t>(last_flag[b].second);
  }
  return r;
}

TEST(MixedSizes, TheJudgeOfKernelsAgreesWithIt) {
  std::uint64_t allowed = 0;
  for (std::uint64_t seed = 0; seed < programs(); ++seed) {
    Random random(splitmix64(seed) + 1);
    MixedProgram p = random_mixed_program(random);
    p.end.reset();
    std::vector<std::uint64_t> order;
    for (const MixedThread& t : p.threads)
      for (std::size_t n = 0; n < t.code.size(); ++n) order.push_back(order.size() + 1);
    for (std::size_t n = order.size(); n > 1; --n) std::swap(order[n - 1], order[random.below(n)]);
    MixedMoments moments;
    std::size_t next = 0;
    for (const MixedThread& t : p.threads) {
      moments.emplace_back();
      for (std::size_t n = 0; n < t.code.size(); ++n) moments.back().push_back(order[next++]);
    }
    // A thread's own writes take effect, and its fences are passed, in their order.
    for (std::size_t t = 0; t < moments.size(); ++t) std::sort(moments[t].begin(), moments[t].end());
    const Judgement j = judge(record_of(p, parsed(p.text()), moments));
    ASSERT_NE(j.verdict, Judgement::Verdict::refused) << j.reason;
    ASSERT_EQ(j.verdict == Judgement::Verdict::obeys, naively_allowed(p, &moments))
        << "seed " << seed << ' ' << text_of(j) << '\n'
        << p.text();
    allowed += j.verdict == Judgement::Verdict::obeys;
  }
  EXPECT_GT(allowed, programs() / 10);
  EXPECT_LT(allowed, programs() * 9 / 10);
}

/// What the platform shows of them is never forbidden.
TEST(MixedSizes, ThePlatformShowsNothingForbidden) {
  Machine machine(load_gpu("mini", {}).value());
  RunSeries plan;
  plan.runs = from_environment("WARPLINE_MIXED_RUNS", 10);
  std::uint64_t outcomes = 0;
  for (std::uint64_t seed = 0; seed < programs() / 4; ++seed) {
    Random random(splitmix64(seed) + 2);
    MixedProgram p = random_mixed_program(random);
    plan.seed = seed;
    const litmus::Test test = parsed(p.text());
    const RunReport report = run(machine, test, plan);
    for (const Outcome& outcome : report.outcomes) {
      for (std::size_t n = 0; n < report.terms.size(); ++n) {
        const Term& term = report.terms[n];
        const auto value = static_cast<std::uint64_t>(outcome.values[n]);
        if (term.kind == Term::Kind::location) {
          p.end = value;
        } else {
          const std::string& name = test.threads[term.thread].registers[term.number];
          p.read[term.thread][std::stoul(name.substr(1))] = value;
        }
      }
      ASSERT_TRUE(naively_allowed(p)) << "seed " << seed << '\n' << p.text();
      ++outcomes;
    }
  }
  EXPECT_GT(outcomes, programs() / 3);
}

}  // namespace mixed_sizes_test
}  // namespace warpline::litmus::test
