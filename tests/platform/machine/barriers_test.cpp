// Barriers while threads arrive, wait and exit in all orders: who goes on behind one finds that all who were
// to meet have come.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "rtl_models/base/random.h"
#include "tests/platform/machine/ptx_run.h"
#include "tests/support/environment.h"

namespace warpline::test {
namespace barriers_test {

using Threads = std::set<unsigned>;

/// A kernel of one block and what it leaves of each thread: how many barriers it found complete.
class BarrierKernel {
 public:
  explicit BarrierKernel(std::uint64_t seed) : random_(splitmix64(seed)) {
    const unsigned sizes[] = {40, 64, 96};
    threads_ = sizes[random_.below(3)];
    for (unsigned t = 0; t < threads_; ++t) live_.insert(t);
    good_.assign(threads_, 0);
    const auto rounds = 2 + random_.below(6);
    for (unsigned r = 0; r < rounds; ++r) round(r);
    leave(live_);
  }

  [[nodiscard]] std::string ptx() const {
    return ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n"
           ".reg .pred %p<9>;\n.reg .b32 %r<19>;\n.reg .b64 %rd<9>;\n.shared .align 4 .b32 met[16];\n"
           "ld.param.u64 %rd1, [a];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd1, %rd1, "
           "%rd2;\n"
           "shr.u32 %r2, %r1, 5;\nand.b32 %r3, %r1, 31;\nand.b32 %r9, %r1, 1;\nsetp.eq.u32 %p5, %r9, 1;\n"
           "mov.u32 %r4, met;\nmov.u32 %r5, 0;\n" +
           code_ + "ret;\n}\n";
  }
  [[nodiscard]] std::string launch() const {
    const std::string n = std::to_string(threads_);
    return "module = \"k.ptx\"\nkernel = \"k\"\ngrid = [1, 1, 1]\nblock = [" + n +
           ", 1, 1]\n[[argument]]\nbuffer = \"a\"\ntype = \"u32\"\ncount = " + n +
           "\nexpect = { file = \"want.bin\" }\n";
  }
  [[nodiscard]] std::string wanted() const {
    std::string out;
    for (const unsigned good : good_)
      for (unsigned b = 0; b < 4; ++b) out += static_cast<char>(good >> (8 * b));
    return out;
  }

 private:
  [[nodiscard]] bool one_in(unsigned n) { return random_.below(n) == 0; }
  Threads some(const Threads& of, unsigned one_of) {
    Threads out;
    for (const unsigned t : of)
      if (one_in(one_of)) out.insert(t);
    return out;
  }
  static Threads without(const Threads& a, const Threads& b) {
    Threads out;
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(out, out.end()));
    return out;
  }

  /// Code that only these threads run.
  void only(const Threads& threads, const std::string& code) {
    if (threads.empty()) return;
    std::uint32_t words[3] = {};
    for (const unsigned t : threads) words[t / 32] |= 1U << (t % 32);
    const std::string label = "L" + std::to_string(labels_++);
    code_ += "mov.u32 %r6, " + std::to_string(words[0]) + ";\n";
    for (unsigned w = 1; w < 3; ++w)
      code_ += "setp.eq.u32 %p1, %r2, " + std::to_string(w) + ";\nselp.b32 %r6, " + std::to_string(words[w]) +
               ", %r6, %p1;\n";
    code_ += "shr.u32 %r6, %r6, %r3;\nand.b32 %r6, %r6, 1;\nsetp.eq.u32 %p1, %r6, 0;\n@%p1 bra " + label +
             ";\n" + code + label + ":\n";
  }
  void leave(const Threads threads) {
    only(threads, "st.global.u32 [%rd1], %r5;\nret;\n");
    live_ = without(live_, threads);
  }
  /// Counts the round as good if `count` threads have come.
  static std::string is_complete(unsigned round, std::size_t count) {
    return "ld.volatile.shared.u32 %r7, [%r4+" + std::to_string(4 * round) + "];\nsetp.eq.u32 %p2, %r7, " +
           std::to_string(count) + ";\n@%p2 add.u32 %r5, %r5, 1;\n";
  }

  void round(unsigned r) {
    if (one_in(3)) leave(some(live_, 4));
    if (live_.empty()) return;
    const bool all = live_.size() < 32 || one_in(2);
    Threads meet = live_, arrive;
    if (!all) {
      while (meet.size() % 32 != 0 || (meet.size() > 32 && one_in(2)))
        meet.erase(std::next(meet.begin(), static_cast<long>(random_.below(meet.size()))));
      arrive = some(meet, 3);
      if (arrive == meet) arrive.clear();
    }
    // Barriers of all threads are used again and again; one with threads that do not wait, once.
    const std::string id = std::to_string(all ? 15 * random_.below(2) : r + 1);
    const std::string count = all ? "" : ", " + std::to_string(meet.size());
    only(meet, "red.shared.add.u32 [%r4+" + std::to_string(4 * r) + "], 1;\n");
    const Threads gone = some(arrive, 2);
    only(arrive, "barrier.arrive " + id + count + ";\n");
    if (one_in(2)) leave(gone);
    const Threads wait = without(meet, arrive);
    const Threads first = some(wait, 2);
    std::size_t odd = 0;
    for (const unsigned t : meet) odd += t % 2;
    const bool votes = arrive.empty() && one_in(3);
    const std::string vote = "barrier.red.popc.u32 %r8, " + id + count + ", %p5;\nsetp.eq.u32 %p3, %r8, " +
                             std::to_string(odd) + ";\n@!%p3 add.u32 %r5, %r5, 1000;\n";
    // The lanes of a warp come by several ways, one after the other.
    for (const Threads& group : {first, without(wait, first)})
      only(group, (votes ? vote : "barrier.sync " + id + count + ";\n") + is_complete(r, meet.size()));
    for (const unsigned t : wait) ++good_[t];
    if (one_in(3)) leave(some(live_, 4));
  }

  Random random_;
  unsigned threads_ = 0, labels_ = 0;
  Threads live_;
  std::vector<unsigned> good_;
  std::string code_;
};

/// WARPLINE_BARRIER_KERNELS says how many.
TEST(Barriers, NobodyGoesOnBeforeAllHaveCome) {
  const std::uint64_t kernels = from_environment("WARPLINE_BARRIER_KERNELS", 40);
  for (std::uint64_t seed = 0; seed < kernels; ++seed) {
    const BarrierKernel kernel(seed);
    RunOptions options;
    options.max_cycles = 1'000'000;
    if (seed % 2 != 0) options.jitter = seed;
    PtxRun run(kernel.ptx(), kernel.launch(), {}, {{"want.bin", kernel.wanted()}}, options);
    ASSERT_EQ(run.end().outcome, RunOutcome::quiescent) << "seed " << seed << '\n' << kernel.ptx();
    ASSERT_TRUE(run.end().failures.empty()) << "seed " << seed << ' ' << run.end().failures.front() << '\n'
                                            << kernel.ptx();
    ASSERT_TRUE(run.gpu().faults().empty()) << run.gpu().faults().front().kind << kernel.ptx();
  }
}

/// A barrier number that there is not stops who names it, who is then no arrival at another one.
TEST(Barriers, AWrongNumberIsNoArrivalAtBarrierZero) {
  PtxRun run(
      ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n.reg .pred "
      "%p<4>;\n"
      ".reg .b32 %r<9>;\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [a];\nmov.u32 %r1, %tid.x;\n"
      "setp.ge.u32 %p1, %r1, 32;\n@%p1 bra OTHER;\nbarrier.sync 0, 64;\nst.global.u32 [%rd1], 1;\nret;\n"
      "OTHER:\nmov.u32 %r2, 16;\nbarrier.sync %r2, 64;\nret;\n}\n",
      "module = \"k.ptx\"\nkernel = \"k\"\ngrid = [1, 1, 1]\nblock = [64, 1, 1]\n[[argument]]\nbuffer = "
      "\"a\"\n"
      "type = \"u32\"\ncount = 1\nexpect = { value = 0 }\n");
  EXPECT_EQ(run.end().outcome, RunOutcome::deadlock) << "32 of 64 threads have come";
  ASSERT_EQ(run.gpu().faults().size(), 1U);
  EXPECT_EQ(run.gpu().faults()[0].kind, "a barrier number above 15");
  EXPECT_FALSE(run.gpu().faults()[0].address.has_value());
}

}  // namespace barriers_test
}  // namespace warpline::test
