#include "tests/programs/cluster_program.h"

#include <algorithm>

#include "tests/programs/machine.h"

namespace warpline::test {
namespace {

constexpr unsigned kColumns = 5;

/// What every thread does to one word of the CTA `away` ranks on: that of number tid * step + shift in column
/// `column`, whose columns have a word for each thread. Additions go to one of eight words.
struct Operation {
  enum class Kind : std::uint8_t { store, load, add, fetch_add } kind = Kind::store;
  unsigned away = 0, step = 1, shift = 0, column = 0;
  unsigned form = 0;  ///< of the address: 32 bits, 64 bits, generic
  unsigned order = 0;
  std::uint32_t constant = 0;
};

struct Phase {
  std::vector<Operation> operations;
  unsigned barrier = 0;
  unsigned threads = 0;  ///< those below this number go on to the next phase
};

class Writer {
 public:
  Writer(const ClusterProgram& program, const std::vector<Phase>& phases)
      : p_(program), threads_(program.threads) {
    const std::string words = std::to_string(kColumns * p_.threads);
    text_ =
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 left, .param .u64 "
        "shared)\n.explicitcluster\n.reqnctapercluster " +
        std::to_string(p_.ctas) +
        ", 1, 1\n{\n.reg .b32 %r<32>;\n.reg .b64 %d<16>;\n.reg .pred %p<4>;\n.shared .align 16 .b32 m[" +
        words + "];\n";
    line("ld.param.u64 %d1, [left]");
    line("ld.param.u64 %d2, [shared]");
    line("mov.u32 %r1, %tid.x");
    line("mov.u32 %r2, %cluster_ctarank");
    line("mov.u32 %r3, %cluster_nctarank");
    line("mov.u32 %r4, %ctaid.x");
    line("mad.lo.u32 %r10, %r4, 1000, %r1");
    line("mov.u32 %r5, m");
    line("mad.lo.u32 %r6, %r1, 4, %r5");
    for (unsigned c = 0; c < kColumns - 1; ++c) {
      line("add.u32 %r7, %r10, " + std::to_string(c * 7));
      line("st.shared.u32 [%r6+" + std::to_string(c * p_.threads * 4) + "], %r7");
    }
    barrier(0, 1000);
    for (std::size_t n = 0; n < phases.size(); ++n) {
      for (const Operation& o : phases[n].operations) operation(o);
      if (phases[n].threads < threads_) {
        threads_ = phases[n].threads;
        line("setp.ge.u32 %p1, %r1, " + std::to_string(threads_));
        line("@%p1 exit");
      }
      barrier(phases[n].barrier, n);
    }
    line("mad.lo.u32 %r7, %r4, " + std::to_string(p_.threads) + ", %r1");
    line("mad.wide.u32 %d3, %r7, 4, %d1");
    line("st.global.u32 [%d3], %r10");
    line("mov.u32 %r8, %r1");
    text_ += "COPY:\n";
    line("mad.lo.u32 %r6, %r8, 4, %r5");
    line("ld.shared.u32 %r9, [%r6]");
    line("mad.lo.u32 %r7, %r4, " + words + ", %r8");
    line("mad.wide.u32 %d3, %r7, 4, %d2");
    line("st.global.u32 [%d3], %r9");
    line("add.u32 %r8, %r8, " + std::to_string(threads_));
    line("setp.lt.u32 %p1, %r8, " + words);
    line("@%p1 bra COPY");
    line("ret");
    text_ += "}\n";
  }
  std::string take() { return std::move(text_); }

 private:
  void line(const std::string& s) { text_ += s + ";\n"; }

  void operation(const Operation& o) {
    const bool adds = o.kind == Operation::Kind::add || o.kind == Operation::Kind::fetch_add;
    line("add.u32 %r7, %r2, " + std::to_string(o.away));
    line("rem.u32 %r7, %r7, %r3");
    line("mad.lo.u32 %r8, %r1, " + std::to_string(o.step) + ", " + std::to_string(o.shift));
    line("rem.u32 %r8, %r8, " + std::to_string(adds ? 8 : p_.threads));
    line("add.u32 %r8, %r8, " + std::to_string(o.column * p_.threads));
    line("mad.lo.u32 %r9, %r8, 4, %r5");
    std::string space = ".shared::cluster", at = "%r11";
    if (o.form == 0) {
      line("mapa.shared::cluster.u32 %r11, %r9, %r7");
    } else {
      line("cvt.u64.u32 %d4, %r9");
      if (o.form == 2) line("cvta.shared.u64 %d4, %d4");
      line(std::string("mapa") + (o.form == 1 ? ".shared::cluster" : "") + ".u64 %d5, %d4, %r7");
      at = "%d5";
      if (o.form == 2) space = "";
    }
    const char* const strong[] = {"", ".relaxed.cluster", ".relaxed.gpu"};
    const std::string order = strong[o.order];
    switch (o.kind) {
      case Operation::Kind::store:
        line("mad.lo.u32 %r12, %r10, 5, " + std::to_string(o.constant));
        line("st" + order + space + ".u32 [" + at + "], %r12");
        break;
      case Operation::Kind::load:
        line("ld" + order + space + ".u32 %r12, [" + at + "]");
        line("mad.lo.u32 %r10, %r10, 3, %r12");
        break;
      case Operation::Kind::add: line("red" + order + space + ".add.u32 [" + at + "], %r10"); break;
      case Operation::Kind::fetch_add:
        line("atom" + order + space + ".add.u32 %r12, [" + at + "], %r10");
        break;
    }
  }

  void barrier(unsigned form, std::size_t n) {
    const std::string label = "B" + std::to_string(n);
    switch (form) {
      case 0:
        line("barrier.cluster.arrive");
        line("barrier.cluster.wait");
        break;
      case 1:
        line("barrier.cluster.arrive.release.aligned");
        line("add.u32 %r13, %r10, 1");
        line("barrier.cluster.wait.acquire.aligned");
        break;
      case 2:
        line("fence.acq_rel.cluster");
        line("barrier.cluster.arrive.relaxed");
        line("barrier.cluster.wait");
        break;
      default:  // lanes meet it at two places
        line("and.b32 %r13, %r1, 1");
        line("setp.eq.u32 %p2, %r13, 0");
        line("@%p2 bra " + label + "E");
        line("barrier.cluster.arrive");
        line("barrier.cluster.wait");
        line("bra " + label + "J");
        text_ += label + "E:\n";
        line("barrier.cluster.arrive");
        line("barrier.cluster.wait");
        text_ += label + "J:\n";
    }
  }

  const ClusterProgram& p_;
  std::string text_;
  unsigned threads_;  ///< that have not exited
};

/// What the program leaves, phase by phase and thread by thread.
void interpret(ClusterProgram& p, const std::vector<Phase>& phases) {
  const unsigned words = kColumns * p.threads, ctas = p.ctas * p.clusters;
  p.left.assign(std::size_t{ctas} * p.threads, 0);
  p.shared.assign(std::size_t{ctas} * words, 0);
  std::vector<std::uint32_t> value(p.left.size());
  for (unsigned cta = 0; cta < ctas; ++cta)
    for (unsigned t = 0; t < p.threads; ++t) {
      value[cta * p.threads + t] = cta * 1000 + t;
      for (unsigned c = 0; c + 1 < kColumns; ++c)
        p.shared[cta * words + c * p.threads + t] = cta * 1000 + t + c * 7;
    }
  unsigned threads = p.threads;
  for (const Phase& phase : phases) {
    // Operations of a phase touch different columns, so that their order is that of the text.
    for (const Operation& o : phase.operations)
      for (unsigned cta = 0; cta < ctas; ++cta)
        for (unsigned t = 0; t < threads; ++t) {
          const bool adds = o.kind == Operation::Kind::add || o.kind == Operation::Kind::fetch_add;
          const unsigned there = cta / p.ctas * p.ctas + (cta % p.ctas + o.away) % p.ctas;
          const unsigned word = (t * o.step + o.shift) % (adds ? 8 : p.threads) + o.column * p.threads;
          std::uint32_t& at = p.shared[there * words + word];
          std::uint32_t& own = value[cta * p.threads + t];
          if (o.kind == Operation::Kind::store) at = own * 5 + o.constant;
          if (o.kind == Operation::Kind::load) own = own * 3 + at;
          if (adds) at += own;
        }
    threads = std::min(threads, phase.threads);
  }
  for (unsigned cta = 0; cta < ctas; ++cta)
    for (unsigned t = 0; t < threads; ++t) p.left[cta * p.threads + t] = value[cta * p.threads + t];
}

}  // namespace

GpuConfig random_machine_of_clusters(Random& random) {
  GpuConfig c = random_machine(random);
  c.sm_network.present = true;
  c.sms = static_cast<unsigned>(2 + random.below(5));
  c.gpcs = static_cast<unsigned>(1 + random.below(2));
  c.sms_per_tpc = static_cast<unsigned>(1 + random.below(2));
  return c;
}

ClusterProgram random_cluster_program(Random& random, const GpuConfig& config) {
  ClusterProgram p;
  const auto pick = [&random](unsigned low, unsigned high) {
    return static_cast<unsigned>(low + random.below(high - low + 1));
  };
  p.threads = 32 * pick(1, 3);
  const unsigned resident = std::min(config.sm.cta_slots, config.sm.warp_slots / (p.threads / 32));
  unsigned in_gpc = 0;
  for (unsigned i = 0; i < config.sms; ++i) in_gpc += i / config.sms_per_tpc % config.gpcs == 0;
  p.ctas = pick(1, std::min(8U, in_gpc * resident));
  p.clusters = pick(1, 4);
  std::vector<Phase> phases(pick(2, 6));
  unsigned threads = p.threads;
  for (Phase& phase : phases) {
    std::vector<unsigned> columns = {0, 1, 2, 3, 4};
    for (unsigned n = pick(1, 3); n != 0; --n) {
      Operation o;
      const auto taken = columns.begin() + pick(0, static_cast<unsigned>(columns.size()) - 1);
      o.column = *taken;
      columns.erase(taken);
      o.kind = static_cast<Operation::Kind>(pick(0, 3));
      o.away = pick(0, p.ctas - 1);
      o.step = random.below(2) == 0 ? 1 : 5;
      o.shift = pick(0, 31);
      o.form = pick(0, 2);
      o.order = pick(0, 2);
      o.constant = pick(0, 1000);
      phase.operations.push_back(o);
    }
    phase.barrier = pick(0, 3);
    if (random.below(6) == 0) threads = pick(1, threads);
    phase.threads = threads;
  }
  p.text = Writer(p, phases).take();
  interpret(p, phases);
  return p;
}

}  // namespace warpline::test
