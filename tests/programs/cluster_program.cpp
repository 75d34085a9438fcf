#include "tests/programs/cluster_program.h"

#include <algorithm>

#include "tests/programs/machine.h"

namespace warpline::test {
namespace {

constexpr unsigned kColumns = 5;

/// What every thread does to one word of the CTA `away` ranks on: that of number tid * step + shift in column
/// `column`, whose columns have a word for each thread. Additions go to one of eight words. A copy is thread
/// 0's, of column `source` to column `column` there. A multicast is that of the CTA of rank `away`, of words
/// of global memory from `shift` on to column `column` of all CTAs that `ranks` names.
struct Operation {
  enum class Kind : std::uint8_t {
    store,
    load,
    add,
    fetch_add,
    async_store,
    async_add,
    complete,
    copy,
    copy_add,
    multicast
  } kind = Kind::store;
  /// Whether its end is told to the mbarrier of whom it goes to.
  [[nodiscard]] bool tells() const { return kind >= Kind::async_store; }
  [[nodiscard]] bool adds() const {
    return kind == Kind::add || kind == Kind::fetch_add || kind == Kind::async_add;
  }
  [[nodiscard]] bool copies() const { return kind >= Kind::copy; }
  unsigned source = 0, ranks = 0;
  unsigned away = 0, step = 1, shift = 0, column = 0;
  unsigned form = 0;  ///< of the address: 32 bits, 64 bits, generic
  unsigned order = 0;
  std::uint32_t constant = 0;
};

struct Phase {
  std::vector<Operation> operations;
  unsigned barrier = 0;
  unsigned arrives = 0;  ///< ranks away from whose mbarrier each CTA's first thread arrives at
  unsigned threads = 0;  ///< those below this number go on to the next phase
};

constexpr unsigned kGiven = 256;
constexpr std::uint32_t given_word(unsigned n) {
  return n * 2654435761U;
}

class ClusterWriter {
 public:
  ClusterWriter(const ClusterProgram& program, const std::vector<Phase>& phases)
      : p_(program), threads_(program.threads) {
    const std::string words = std::to_string(kColumns * p_.threads);
    text_ =
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 left, .param .u64 "
        "shared, .param .u64 given)\n.explicitcluster\n.reqnctapercluster " +
        std::to_string(p_.ctas) +
        ", 1, 1\n{\n.reg .b32 %r<32>;\n.reg .b64 %d<16>;\n.reg .pred %p<8>;\n.shared .align 8 .b64 object;\n"
        ".shared .align 128 .b32 m[" +
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
    line("mov.u32 %r20, object");
    line("setp.eq.u32 %p4, %r1, 0");
    line("@%p4 mbarrier.init.shared.b64 [%r20], 1");
    for (unsigned c = 0; c < kColumns - 1; ++c) {
      line("add.u32 %r7, %r10, " + std::to_string(c * 7));
      line("st.shared.u32 [%r6+" + std::to_string(c * p_.threads * 4) + "], %r7");
    }
    barrier(0, 1000);
    for (std::size_t n = 0; n < phases.size(); ++n) {
      for (const Operation& o : phases[n].operations) operation(o);
      wait_for_what_comes(phases[n], n);
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

  /// Where `address`, an offset in the own shared memory, is in that of the CTA whose rank is in %r7.
  void map(const std::string& to, const std::string& address) {
    line("mapa.shared::cluster.u32 " + to + ", " + address + ", %r7");
  }

  void copy(const Operation& o) {
    const std::string bytes = std::to_string(4 * p_.threads);
    line("add.u32 %r12, %r5, " + std::to_string(o.column * p_.threads * 4));
    line("fence.proxy.async.shared::cta");
    if (o.kind == Operation::Kind::multicast) {
      line("setp.eq.and.u32 %p5, %r2, " + std::to_string(o.away) + ", %p4");
      line("ld.param.u64 %d6, [given]");
      line(
          "@%p5 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r12], "
          "[%d6+" +
          std::to_string(o.shift / 4 * 16) + "], " + bytes + ", [%r20], " + std::to_string(o.ranks));
      return;
    }
    line("add.u32 %r14, %r5, " + std::to_string(o.source * p_.threads * 4));
    map("%r13", "%r12");
    map("%r15", "%r20");
    const bool adds = o.kind == Operation::Kind::copy_add;
    line("@%p4 cp." + std::string(adds ? "reduce." : "") +
         "async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes" + (adds ? ".add.u32" : "") +
         " [%r13], [%r14], " + bytes + ", [%r15]");
  }

  /// Bytes that each CTA is told of, or only some: its rank is in %r2.
  void wait_for_what_comes(const Phase& phase, std::size_t n) {
    if (std::none_of(phase.operations.begin(), phase.operations.end(),
                     [](const Operation& o) { return o.tells(); }))
      return;
    // Of whom it arrives for.
    line("add.u32 %r7, %r2, " + std::to_string(phase.arrives));
    line("rem.u32 %r7, %r7, %r3");
    map("%r15", "%r20");
    line("mov.u32 %r16, 0");
    for (const Operation& o : phase.operations) {
      if (!o.tells()) continue;
      const unsigned bytes = 4 * (o.copies() ? p_.threads : threads_);
      if (o.kind == Operation::Kind::multicast) {
        line("shr.u32 %r17, " + std::to_string(o.ranks) + ", %r7");
        line("and.b32 %r17, %r17, 1");
        line("mad.lo.u32 %r16, %r17, " + std::to_string(bytes) + ", %r16");
      } else {
        line("add.u32 %r16, %r16, " + std::to_string(bytes));
      }
    }
    line("@%p4 mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r15], %r16");
    const std::string label = "W" + std::to_string(n);
    text_ += label + ":\n";
    line("mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p6, [%r20], " + std::to_string(parity_));
    line("@!%p6 bra " + label);
    parity_ ^= 1U;
  }

  void operation(const Operation& o) {
    const bool adds = o.adds();
    line("add.u32 %r7, %r2, " + std::to_string(o.away));
    line("rem.u32 %r7, %r7, %r3");
    if (o.copies()) return copy(o);
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
      case Operation::Kind::async_store:
      case Operation::Kind::async_add: {
        std::string object = "%r15";
        map("%r15", "%r20");
        if (o.form != 0) {
          line("cvt.u64.u32 %d7, %r15");
          object = "%d7";
        }
        if (o.form == 2) line("cvta.shared::cluster.u64 %d7, %d7");
        line("mad.lo.u32 %r12, %r10, 5, " + std::to_string(o.constant));
        line((adds ? "red.async.relaxed.cluster" : "st.async.weak") + space +
             ".mbarrier::complete_tx::bytes" + (adds ? ".add" : "") + ".u32 [" + at + "], " +
             (adds ? "%r10" : "%r12") + ", [" + object + "]");
        break;
      }
      case Operation::Kind::complete:
        map("%r15", "%r20");
        line("mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r15], 4");
        break;
      default: break;
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
  unsigned threads_;     ///< that have not exited
  unsigned parity_ = 0;  ///< of the phase of mbarriers that is waited for next
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
    for (const Operation& o : phase.operations) {
      if (o.copies()) {
        const std::vector<std::uint32_t> before = p.shared;
        for (unsigned cta = 0; cta < ctas; ++cta) {
          const unsigned rank = cta % p.ctas, first = cta - rank;
          for (unsigned w = 0; w < p.threads; ++w) {
            if (o.kind == Operation::Kind::multicast) {
              if ((o.ranks >> rank & 1U) != 0)
                p.shared[cta * words + o.column * p.threads + w] = given_word(o.shift / 4 * 4 + w);
              continue;
            }
            std::uint32_t& at =
                p.shared[(first + (rank + o.away) % p.ctas) * words + o.column * p.threads + w];
            const std::uint32_t moved = before[cta * words + o.source * p.threads + w];
            at = o.kind == Operation::Kind::copy ? moved : at + moved;
          }
        }
        continue;
      }
      for (unsigned cta = 0; cta < ctas; ++cta)
        for (unsigned t = 0; t < threads; ++t) {
          const bool adds = o.adds();
          const unsigned there = cta / p.ctas * p.ctas + (cta % p.ctas + o.away) % p.ctas;
          const unsigned word = (t * o.step + o.shift) % (adds ? 8 : p.threads) + o.column * p.threads;
          std::uint32_t& at = p.shared[there * words + word];
          std::uint32_t& own = value[cta * p.threads + t];
          if (o.kind == Operation::Kind::store || o.kind == Operation::Kind::async_store)
            at = own * 5 + o.constant;
          if (o.kind == Operation::Kind::load) own = own * 3 + at;
          if (adds) at += own;
        }
    }
    threads = std::min(threads, phase.threads);
  }
  for (unsigned cta = 0; cta < ctas; ++cta)
    for (unsigned t = 0; t < threads; ++t) p.left[cta * p.threads + t] = value[cta * p.threads + t];
}

}  // namespace

GpuConfig random_machine_of_clusters(Random& random) {
  GpuConfig c = random_machine(random);
  c.l1_lg.carveouts.clear();  // an SM is to hold several CTAs
  c.sm_network.present = true;
  c.sms = static_cast<unsigned>(2 + random.below(5));
  c.gpcs = static_cast<unsigned>(1 + random.below(2));
  c.sms_per_tpc = static_cast<unsigned>(1 + random.below(2));
  c.crossbar.network.gpc_distance.clear();  // of another number of GPCs
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
      o.kind = static_cast<Operation::Kind>(pick(0, 9));
      const bool reads = o.kind == Operation::Kind::copy || o.kind == Operation::Kind::copy_add;
      if (reads && columns.size() < n) o.kind = Operation::Kind::multicast;
      if (reads && columns.size() >= n) {
        // Nobody else writes its source meanwhile.
        const auto read = columns.begin() + pick(0, static_cast<unsigned>(columns.size()) - 1);
        o.source = *read;
        columns.erase(read);
      }
      o.ranks = pick(1, (1U << p.ctas) - 1);
      o.away = pick(0, p.ctas - 1);
      o.step = random.below(2) == 0 ? 1 : 5;
      o.shift = pick(0, 31);
      o.form = pick(0, 2);
      o.order = pick(0, 2);
      o.constant = pick(0, 1000);
      phase.operations.push_back(o);
    }
    phase.barrier = pick(0, 3);
    phase.arrives = pick(0, p.ctas - 1);
    if (random.below(6) == 0) threads = pick(1, threads);
    phase.threads = threads;
  }
  for (unsigned n = 0; n < kGiven; ++n) p.given.push_back(given_word(n));
  p.text = ClusterWriter(p, phases).take();
  interpret(p, phases);
  return p;
}

}  // namespace warpline::test
