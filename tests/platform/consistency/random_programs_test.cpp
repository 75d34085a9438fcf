// Random programs on the platform: no run shows what the memory model forbids.
#include <gtest/gtest.h>

#include <algorithm>
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
  const std::uint64_t programs = from_environment("WARPLINE_PROGRAMS", 75);
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
  const std::uint64_t programs = 8 * from_environment("WARPLINE_PROGRAMS", 75);
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

/// Two or three threads that access eight bytes by vectors, at places that registers name and where
/// predicates let them, and copy them to shared memory.
class RichProgram {
 public:
  explicit RichProgram(Random& random) : random_(random) {}

  std::string run() {
    const auto threads = 2 + random_.below(4) / 3;
    const bool apart = random_.below(2) == 0;
    std::vector<std::vector<std::string>> code;
    std::string where;
    for (std::size_t t = 0; t < threads; ++t) {
      where +=
          (t == 0 ? " P" : " | P") + std::to_string(t) + "@cta " + std::to_string(apart ? t : 0) + ", gpu 0";
      own_ = "s" + std::to_string(apart ? t : 0);
      registers_ = 0;
      code.emplace_back();
      const auto count = 2 + random_.below(threads == 2 ? 4 : 2);
      while (code.back().size() < count) instruction(code.back());
      for (unsigned r = 0; r < registers_; ++r)
        ends_ += (ends_.empty() ? "P" : " /\\ P") + std::to_string(t) + ":r" + std::to_string(r) + " == 0";
    }
    std::string out =
        "PTX rich\n{\nx=0; y=0; s0 @ shared = 0; s1 @ shared = 0; s2 @ shared = 0;\n}\n" + where + " ;\n";
    std::size_t rows = 0;
    for (const auto& c : code) rows = std::max(rows, c.size());
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t t = 0; t < threads; ++t)
        out += (t == 0 ? " " : " | ") + (row < code[t].size() ? code[t][row] : std::string());
      out += " ;\n";
    }
    return out + "exists (" + (ends_.empty() ? "0 == 0" : ends_) + ")\n";
  }

 private:
  std::string pick(const std::vector<std::string>& words) { return words[random_.below(words.size())]; }
  std::string fresh() { return "r" + std::to_string(registers_++); }
  std::string value() { return std::to_string(++value_); }
  std::string last() const { return "r" + std::to_string(registers_ - 1); }

  std::string place() {
    if (registers_ != 0 && random_.below(5) == 0) return pick({"x", "y"}) + "+" + last();
    return pick({"x", "y"}) + pick({"", "+4"});
  }

  void instruction(std::vector<std::string>& code) {
    std::string guard;
    if (registers_ != 0 && random_.below(5) == 0) {
      code.push_back(pick({"setp.eq", "setp.ne", "setp.gt"}) + " p, " + last() + ", " +
                     std::to_string(random_.below(3)));
      guard = pick({"@p ", "@!p "});
    }
    const std::string load = guard + "ld." + pick({"weak", "relaxed.gpu", "acquire.gpu"});
    const std::string store = guard + "st." + pick({"weak", "relaxed.gpu", "release.gpu"});
    switch (random_.below(11)) {
      case 0:
      case 1: {
        const std::string to = place();
        code.push_back(load + " " + fresh() + ", " + to);
        return;
      }
      case 2: {
        const std::string a = fresh(), b = fresh();
        code.push_back(load + ".v2 {" + a + ", " + b + "}, " + pick({"x", "y"}));
        return;
      }
      case 3:
      case 4: code.push_back(store + " " + place() + ", " + value()); return;
      case 5: {
        const std::string a = value();
        code.push_back(store + ".v2 " + pick({"x", "y"}) + ", {" + a + ", " + value() + "}");
        return;
      }
      case 6: {
        const std::string to = place();
        code.push_back(guard + "atom.relaxed.gpu." + pick({"exch ", "add "}) + fresh() + ", " + to + ", " +
                       value());
        return;
      }
      case 7: code.push_back(pick({"fence.sc.gpu", "fence.acq_rel.gpu", "fence.sc.cta"})); return;
      case 8: {
        const bool wide = random_.below(2) == 0;
        code.push_back(guard + "cp.async.ca " + own_ + ", " + pick({"x", "y"}) + ", " + (wide ? "8" : "4"));
        if (random_.below(2) == 0) code.emplace_back("cp.async.commit_group");
        return;
      }
      case 9:
        code.push_back(pick({"cp.async.wait_all", "cp.async.wait_group 0", "cp.async.wait_group 1"}));
        return;
      default: code.push_back("ld.weak " + fresh() + ", " + own_ + pick({"", "+4"})); return;
    }
  }

  Random& random_;
  std::string own_, ends_;
  unsigned registers_ = 0, value_ = 0;
};

/// Two or three threads of one CTA, or of a cluster's two, that access shared and global memory, arrive at
/// mbarriers and look at their phases, copy in bulk both ways, meet, and access 16 bytes at once; and from
/// CTA to CTA arrive, store and reduce asynchronously, and copy.
class AsynchronousProgram {
 public:
  explicit AsynchronousProgram(Random& random) : random_(random), in_cluster_(random.below(2) == 0) {
    for (unsigned& n : lacking_) n = 1 + static_cast<unsigned>(random_.below(2));
  }

  std::string run() {
    const auto threads = 2 + random_.below(4) / 3;
    if (threads > 2) sends_ = 1;
    const auto meetings = in_cluster_ ? random_.below(3) / 2 : 0;
    std::string where, head = "PTX asynchronous\n{\nx=0; y=0; w=0;";
    for (unsigned c = 0; c < (in_cluster_ ? 2 : 1); ++c) {
      const std::string number = std::to_string(c);
      head += " s" + number + " @ shared of P" + number + " = 0; b" + number + " @ mbarrier of P" + number +
              " = " + std::to_string(lacking_[c]) + ";";
    }
    std::vector<std::vector<std::string>> code;
    for (std::size_t t = 0; t < threads; ++t) {
      cta_ = in_cluster_ ? static_cast<unsigned>(std::min<std::size_t>(t, 1)) : 0;
      where += (t == 0 ? " P" : " | P") + std::to_string(t) + "@cta " + std::to_string(cta_) +
               ", cluster 0, gpu 0";
      registers_ = 0;
      code_ = {};
      const auto count = 2 + random_.below(threads == 2 ? 4 : 3);
      const auto meets = random_.below(count);
      for (std::uint64_t n = 0; n < count; ++n) {
        if (meetings != 0 && n == meets) meet();
        instruction();
      }
      code.push_back(code_);
      for (unsigned r = 0; r < registers_; ++r)
        ends_ += (ends_.empty() ? "P" : " /\\ P") + std::to_string(t) + ":r" + std::to_string(r) + " == 0";
    }
    std::string out = head + "\n}\n" + where + " ;\n";
    std::size_t rows = 0;
    for (const auto& c : code) rows = std::max(rows, c.size());
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t t = 0; t < threads; ++t)
        out += (t == 0 ? " " : " | ") + (row < code[t].size() ? code[t][row] : std::string());
      out += " ;\n";
    }
    return out + "exists (" + (ends_.empty() ? "0 == 0" : ends_) + ")\n";
  }

 private:
  std::string pick(const std::vector<std::string>& words) { return words[random_.below(words.size())]; }
  std::string fresh() { return "r" + std::to_string(registers_++); }
  std::string value() { return std::to_string(++value_); }
  std::string own(const char* name) const { return name + std::to_string(cta_); }
  std::string place() {
    if (in_cluster_) return pick({"x", "y", "s0", "s1"});
    return pick({"x", "x", "y", "s0"});
  }
  void add(const std::string& text) { code_.push_back(text); }

  void meet() {
    add("barrier.cluster.arrive" + pick({"", ".release", ".relaxed"}));
    if (random_.below(3) == 0) instruction();
    add("barrier.cluster.wait");
  }

  void copy_in() {
    // No more may arrive than the first phase lacks.
    if (lacking_[cta_] != 0 && random_.below(4) != 0) {
      --lacking_[cta_];
      add("mbarrier.arrive.expect_tx " + fresh() + ", " + own("b") + ", 16");
    } else {
      add("mbarrier.expect_tx" + pick({"", ".relaxed.cta"}) + " " + own("b") + ", 16");
    }
    add("cp.async.bulk " + own("s") + ", " + pick({"x", "y"}) + ", 16, " + own("b"));
  }

  /// Bytes are expected at the mbarrier of CTA `to`, whoever is going to tell it of them.
  void expect(unsigned to, const std::string& bytes) {
    const std::string object = "b" + std::to_string(to);
    if (lacking_[to] != 0 && random_.below(4) != 0) {
      --lacking_[to];
      return add("mbarrier.arrive.expect_tx" +
                 pick({".release.cluster", ".release.cluster", ".relaxed.cluster", ""}) + " _, " + object +
                 ", " + bytes);
    }
    add("mbarrier.expect_tx.relaxed.cluster " + object + ", " + bytes);
  }

  /// Something of which the mbarrier of any CTA is told, or an arrival there.
  void send() {
    const auto to = static_cast<unsigned>(random_.below(in_cluster_ ? 2 : 1));
    const std::string number = std::to_string(to), there = "s" + number, told = ", b" + number;
    switch (random_.below(6)) {
      case 0:
      case 1: expect(to, "4"); return add("st.async " + there + ", " + value() + told);
      case 2: {
        expect(to, "4");
        return add("red.async.relaxed.cluster." + pick({"add", "or", "max"}) + ".u32 " + there + ", " +
                   value() + told);
      }
      case 3: expect(to, "16"); return add("cp.async.bulk " + there + ", " + own("s") + ", 16" + told);
      case 4:
        expect(to, "16");
        return add("cp.async.bulk " + there + ", " + pick({"x", "y"}) + ", 16" + told);
      default:
        if (lacking_[to] == 0) return expect(to, "0");
        --lacking_[to];
        add("mbarrier.arrive" + pick({".release.cluster", ".release.cluster", ".relaxed.cluster", ""}) +
            " _" + told);
    }
  }

  void copy_out() {
    add("cp.async.bulk " + pick({"x", "y"}) + ", " + own("s") + ", 16");
    add("cp.async.bulk.commit_group");
    const std::string wait = pick({"", ".read 0", ".read 0", " 0", " 0"});
    if (!wait.empty()) add("cp.async.bulk.wait_group" + wait);
  }

  void instruction() {
    switch (random_.below(16)) {
      case 0:
      case 1:
        add("st." + pick({"weak ", "relaxed.cluster ", "release.cluster "}) + place() + ", " + value());
        return;
      case 2:
      case 3: {
        const std::string r = fresh();
        add("ld." + pick({"weak ", "relaxed.cluster ", "acquire.cluster "}) + r + ", " + place());
        return;
      }
      case 4: {
        const std::string r = fresh();
        add("atom.acq_rel." + pick({"cluster", "gpu"}) + ".exch " + r + ", " + place() + ", " + value());
        return;
      }
      case 5: add("fence.proxy.async" + pick({"", ".global", ".shared::cta", ".shared::cluster"})); return;
      case 6: add(pick({"fence.sc.cluster", "fence.acq_rel.cluster", "fence.acq_rel.gpu"})); return;
      case 7:
        if (lacking_[cta_] == 0) return copy_out();
        --lacking_[cta_];
        add("mbarrier.arrive" + pick({" ", ".release.cluster ", ".relaxed.cta "}) + fresh() + ", " +
            own("b"));
        return;
      case 8:
      case 9:
        add("mbarrier." + pick({"try_wait", "test_wait"}) + pick({"", ".acquire.cluster", ".relaxed.cta"}) +
            ".parity " + fresh() + ", " + own("b") + ", 0");
        return;
      case 10: return copy_in();
      case 11: return copy_out();
      case 12:
      case 13:
      case 14:
        if (sends_ == 0) return expect(cta_, "0");
        --sends_;
        return send();
      default: {
        const std::string pair = "{" + fresh() + ", r" + std::to_string(registers_++) + "}, w, ", a = value();
        if (random_.below(2) == 0)
          return add("atom.relaxed.gpu.exch.b128 " + pair + "{" + a + ", " + a + "}");
        const std::string old = random_.below(2) == 0 ? "0" : "1";
        add("atom.relaxed.gpu.cas.b128 " + pair + "{" + old + ", " + old + "}, {" + a + ", " + a + "}");
      }
    }
  }

  Random& random_;
  bool in_cluster_;
  std::array<unsigned, 2> lacking_{};  ///< arrivals, by CTA
  unsigned cta_ = 0;
  unsigned sends_ = 2;  ///< left: more are too much for the checker
  std::vector<std::string> code_;
  std::string ends_;
  unsigned registers_ = 0, value_ = 0;
};

/// Runs random programs of which `text_of` makes the text, and judges what was read by the registers at the
/// end, which of its reads a thread has made included. `few`: programs, unless WARPLINE_PROGRAMS says how
/// many.
template <class TextOf>
void judge_ends(const GpuConfig& config, std::uint64_t salt, std::uint64_t few, TextOf&& text_of_program) {
  const std::uint64_t first = from_environment("WARPLINE_PROGRAM_SEED", 1);
  const std::uint64_t programs = from_environment("WARPLINE_PROGRAMS", few);
  RunSeries plan;
  plan.runs = from_environment("WARPLINE_PROGRAM_RUNS", 40) / 2;
  Machine machine(config);
  std::uint64_t outcomes = 0, undecided = 0;
  for (std::uint64_t seed = first; seed < first + programs; ++seed) {
    Random random(splitmix64(seed) + salt);
    const std::string text = text_of_program(random);
    const Result<litmus::Test> test = parse(text, "random");
    ASSERT_TRUE(test.ok()) << test.faults().front().text() << text;
    ASSERT_EQ(machine.refusals(test.value()), std::vector<std::string>{}) << text;
    plan.seed = seed;
    const RunReport report = run(machine, test.value(), plan);
    EXPECT_EQ(report.stuck + report.faulted, 0U) << "WARPLINE_PROGRAM_SEED=" << seed << '\n' << text;
    for (const Outcome& outcome : report.outcomes) {
      litmus::Test asked = test.value();
      Proposition& p = asked.condition.proposition;
      p = {};
      p.kind = Proposition::Kind::conjunction;
      for (std::size_t n = 0; n < report.terms.size(); ++n) {
        Proposition& part = p.parts.emplace_back();
        part.left = report.terms[n];
        part.right.value = outcome.values[n];
      }
      const Verdict v = check(asked);
      ASSERT_TRUE(v.allowed || !v.gave_up.empty())
          << "WARPLINE_PROGRAM_SEED=" << seed
          << " WARPLINE_PROGRAMS=1: " << text_of(outcome, report.terms, test.value()) << " forbidden by "
          << v.axiom << '\n'
          << text;
      undecided += v.gave_up.empty() ? 0 : 1;
      ++outcomes;
    }
  }
  EXPECT_GT(outcomes, programs * 3 / 2) << "there is no variety";
  EXPECT_LE(undecided, outcomes / 1000) << "too much is not judged";
}

TEST(RandomLitmusPrograms, OfVectorsPredicatesAndCopiesNeverShowWhatTheModelForbids) {
  judge_ends(load_gpu("mini", {}).value(), 2, 125, [](Random& random) { return RichProgram(random).run(); });
}

TEST(RandomLitmusPrograms, OfMbarriersBulkCopiesAndClustersNeverShowWhatTheModelForbids) {
  judge_ends(load_gpu("mini", {"sm_network.present=true"}).value(), 3, 30,
             [](Random& random) { return AsynchronousProgram(random).run(); });
}

}  // namespace random_programs_test
}  // namespace warpline::litmus::test
