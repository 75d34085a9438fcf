#include "tests/fuzz/kernels/mixed_kernel.h"

#include <algorithm>
#include <initializer_list>

namespace warpline::test {
namespace {

// Of shared memory: mbarriers, 16 bytes for each thread, a buffer of bulk copies, tiles of wgmma.
constexpr unsigned kOwn = 128, kBuffer = 4096, kTiles = 8192, kSharedBytes = 16384;
constexpr unsigned kMostParts = 16, kInputWords = 4096, kPartBytes = 1024, kSumWords = 128, kSums = 6,
                   kCounters = 64;
/// Of the tensors: that which is read, the boxes.
constexpr unsigned kRow = 48, kRows = 40, kBox = 16, kBoxBytes = kBox * kBox * 4, kTensorRow = 64;

std::string text(std::uint64_t n) {
  return std::to_string(n);
}

/// Writes the parts of one kernel. In %x0 to %x7 every thread carries what it has computed; %t, %d, %f, %h,
/// %g and %p are free, but for %p1, which holds in thread 0.
class PartWriter {
 public:
  PartWriter(Random random, unsigned threads, unsigned cluster, unsigned ctas, bool cooperative)
      : random_(random), threads_(threads), cluster_(cluster), ctas_(ctas), cooperative_(cooperative) {}

  struct Kind {
    const char* name;
    void (PartWriter::*write)();
    bool (PartWriter::*fits)() const;
  };
  static const std::vector<Kind>& kinds();
  [[nodiscard]] bool fits(const Kind& k) const { return k.fits == nullptr || (this->*k.fits)(); }
  /// Part `n`, drawn from a generator of its own.
  std::string part(const Kind& kind, unsigned n, Random random) {
    random_ = random;
    n_ = n;
    labels_ = 0;
    out_.clear();
    (this->*kind.write)();
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool of_warpgroups() const { return threads_ % 128 == 0; }
  [[nodiscard]] bool in_cluster() const { return cluster_ > 1; }
  [[nodiscard]] bool together() const { return cooperative_; }
  [[nodiscard]] bool alone() const { return cluster_ == 1; }

  void line(const std::string& s) { out_ += s + ";\n"; }
  unsigned below(unsigned n) { return static_cast<unsigned>(random_.below(n)); }
  bool coin() { return below(2) == 0; }
  std::string x() { return "%x" + text(below(8)); }
  std::string pick(std::initializer_list<const char*> list) {
    return *(list.begin() + below(static_cast<unsigned>(list.size())));
  }
  std::string label() { return "L" + text(n_) + "_" + text(labels_++); }
  void meet() {
    if (in_cluster() && coin()) {
      line("barrier.cluster.arrive" + pick({"", ".release", ".release.aligned"}));
      line("barrier.cluster.wait" + pick({"", ".acquire", ".acquire.aligned"}));
    } else {
      line(pick({"bar.sync 0", "barrier.sync 0", "barrier.cta.sync.aligned 0"}));
    }
  }
  /// The result in `value` becomes part of what the thread carries.
  void keep(const std::string& value) {
    const std::string to = x();
    line("mad.lo.u32 " + to + ", " + to + ", 3, " + value);
  }
  void keep_float(const std::string& value) {
    line("mov.b32 %t39, " + value);
    keep("%t39");
  }
  /// %t0: mbarrier 0; %t1: the thread's own 16 bytes; %t2: the buffer.
  void places() {
    line("mov.u32 %t0, s");
    line("mad.lo.u32 %t1, %tid, 16, %t0");
    line("add.u32 %t1, %t1, " + text(kOwn));
    line("add.u32 %t2, %t0, " + text(kBuffer));
  }
  /// %t3: the 16 bytes of the thread `away` further.
  void other(unsigned away) {
    line("add.u32 %t3, %tid, " + text(away));
    line("rem.u32 %t3, %t3, " + text(threads_));
    line("mad.lo.u32 %t3, %t3, 16, %t0");
    line("add.u32 %t3, %t3, " + text(kOwn));
  }
  void begin_mbarrier(unsigned count) {
    places();
    line("@%p1 mbarrier.init" + pick({".shared", ".shared::cta"}) + ".b64 [%t0], " + text(count));
    if (coin()) line("@%p1 fence.mbarrier_init.release.cluster");
    line("fence.proxy.async.shared::cta");
    meet();
  }
  void end_mbarrier() {
    line("bar.sync 0");
    line("@%p1 mbarrier.inval.shared.b64 [%t0]");
    line("bar.sync 0");
  }
  void await(unsigned parity) {
    const std::string again = label();
    out_ += again + ":\n";
    const std::string at = "%p2, [%t0], " + text(parity);
    switch (below(4)) {
      case 0: line("mbarrier.try_wait.parity.shared.b64 " + at); break;
      case 1:
        line("mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 " + at + ", " + text(20 + below(900)));
        break;
      case 2: line("mbarrier.test_wait.parity.shared::cta.b64 " + at); break;
      default: line("nanosleep.u32 " + text(below(300))); line("mbarrier.test_wait.parity.shared.b64 " + at);
    }
    line("@!%p2 bra " + again);
  }
  /// %d1: the part's own place in a buffer of which every CTA of a launch has one.
  void own_area() {
    line("mad.lo.u32 %t5, %launch, " + text(ctas_) + ", %cta");
    line("mad.lo.u32 %t5, %t5, " + text(kMostParts) + ", " + text(n_));
    line("mul.wide.u32 %d1, %t5, " + text(kPartBytes));
    line("add.u64 %d1, %d1, %area");
  }
  /// %d1: 16-byte aligned, inside the input with `bytes` behind it; the same in all threads, or a place for
  /// each.
  void input(unsigned bytes, bool of_thread) {
    const unsigned units = kInputWords / 4 - bytes / 16;
    if (of_thread) {
      line("mad.lo.u32 %t5, %cta, " + text(1 + below(40)) + ", %tid");
      line("rem.u32 %t5, %t5, " + text(units));
    } else {
      line("mov.u32 %t5, " + text(below(units)));
    }
    line("mul.wide.u32 %d1, %t5, 16");
    line("add.u64 %d1, %d1, %in");
  }

  void arithmetic();
  void across_lanes();
  void memory();
  void mbarrier();
  void copies();
  void bulk_in();
  void bulk_out();
  void tensor_in();
  void tensor_out();
  void cluster();
  void products();
  void tiles();
  void wmma();
  void warpgroup();
  void images();
  void print();
  void heap();
  void registers();
  void whole_grid();
  void dependents() { line("griddepcontrol.launch_dependents"); }

  Random random_;
  unsigned threads_, cluster_, ctas_;
  bool cooperative_;
  unsigned n_ = 0, labels_ = 0;
  std::string out_;
};

const std::vector<PartWriter::Kind>& PartWriter::kinds() {
  static const std::vector<Kind> kKinds = {
      {"arithmetic", &PartWriter::arithmetic, nullptr},
      {"across_lanes", &PartWriter::across_lanes, nullptr},
      {"memory", &PartWriter::memory, nullptr},
      {"mbarrier", &PartWriter::mbarrier, nullptr},
      {"copies", &PartWriter::copies, nullptr},
      {"bulk_in", &PartWriter::bulk_in, nullptr},
      {"bulk_out", &PartWriter::bulk_out, nullptr},
      {"tensor_in", &PartWriter::tensor_in, nullptr},
      {"tensor_out", &PartWriter::tensor_out, nullptr},
      {"cluster", &PartWriter::cluster, &PartWriter::in_cluster},
      {"products", &PartWriter::products, nullptr},
      {"tiles", &PartWriter::tiles, nullptr},
      {"wmma", &PartWriter::wmma, nullptr},
      {"warpgroup", &PartWriter::warpgroup, &PartWriter::of_warpgroups},
      {"images", &PartWriter::images, nullptr},
      {"print", &PartWriter::print, nullptr},
      {"heap", &PartWriter::heap, nullptr},
      {"registers", &PartWriter::registers, &PartWriter::of_warpgroups},
      {"whole_grid", &PartWriter::whole_grid, &PartWriter::together},
      {"dependents", &PartWriter::dependents, &PartWriter::alone},
  };
  return kKinds;
}

void PartWriter::arithmetic() {
  for (unsigned k = 4 + below(8); k != 0; --k) {
    const std::string d = x(), a = x(), b = x(), c = x();
    const std::string two = " " + d + ", " + a + ", " + b, three = two + ", " + c;
    switch (below(8)) {
      case 0:
        line(pick({"add.f16x2", "mul.rn.f16x2", "sub.rn.ftz.f16x2", "max.NaN.f16x2", "min.bf16x2",
                   "mul.bf16x2", "add.rn.bf16x2", "max.NaN.bf16x2"}) +
             two);
        break;
      case 1:
        line(pick({"fma.rn.f16x2", "fma.rn.bf16x2", "fma.rn.relu.f16x2", "fma.rn.ftz.sat.f16x2",
                   "fma.rn.relu.bf16x2"}) +
             three);
        break;
      case 2:
        line(pick({"add.u16x2", "add.s16x2", "min.s16x2", "max.u16x2", "max.s16x2.relu", "min.s16x2.relu"}) +
             two);
        break;
      case 3:
        line(pick({"dp4a.u32.s32", "dp4a.s32.s32", "dp2a.lo.u32.u32", "dp2a.hi.s32.u32",
                   "vabsdiff4.u32.u32.u32.add", "vadd2.s32.s32.s32", "vmax4.s32.s32.u32", "prmt.b32",
                   "vsub.s32.u32.s32.sat.add", "shf.l.wrap.b32"}) +
             three);
        break;
      case 4: line(pick({"vadd.s32.s32.s32.sat", "vmin.u32.u32.s32", "vshl.u32.u32.u32.clamp"}) + two); break;
      case 5:
        line("mov.b32 {%h0, %h1}, " + a);
        line(pick({"cvt.rn.f16x2.e4m3x2", "cvt.rn.relu.f16x2.e5m2x2"}) + " %t5, %h0");
        line("xor.b32 " + d + ", " + d + ", %t5");
        break;
      case 6:
        line("mov.b32 %f0, " + a);
        line("mov.b32 %f1, " + b);
        line(pick({"cvt.rn.satfinite.e4m3x2.f32", "cvt.rn.satfinite.relu.e5m2x2.f32"}) + " %h0, %f0, %f1");
        line("cvt.u32.u16 %t5, %h0");
        line("add.u32 " + d + ", " + d + ", %t5");
        break;
      default:
        line("mov.b32 %f0, " + a);
        line("mov.b32 %f1, " + b);
        line(pick({"cvt.rn.bf16x2.f32", "cvt.rz.f16x2.f32", "cvt.rn.relu.f16x2.f32"}) + " " + d +
             ", %f0, %f1");
    }
  }
}

void PartWriter::across_lanes() {
  for (unsigned k = 1 + below(4); k != 0; --k) {
    const std::string d = x(), a = x();
    switch (below(6)) {
      case 0:
        line("redux.sync." + pick({"add.s32", "min.u32", "max.s32", "and.b32", "xor.b32"}) + " %t5, " + a +
             ", 0xffffffff");
        break;
      case 1:
        line("mov.u32 %t5, 0");
        line("setp.lt.u32 %p2, %lane, " + text(16));
        line("@%p2 redux.sync.add.u32 %t5, " + a + ", 0xffff");
        break;
      case 2:
        line("shfl.sync." + pick({"bfly", "down", "idx"}) + ".b32 %t5, " + a + ", " + text(below(32)) +
             ", 31, 0xffffffff");
        break;
      case 3:
        line("setp.gt.s32 %p2, " + a + ", 0");
        line("vote.sync.ballot.b32 %t5, %p2, 0xffffffff");
        break;
      case 4:
        line("and.b32 %t5, " + a + ", 7");
        line("match.any.sync.b32 %t5, %t5, 0xffffffff");
        break;
      default:
        line("mov.u32 %t5, 1");
        line("elect.sync _|%p2, 0xffffffff");
        line("@%p2 mov.u32 %t5, " + a);
    }
    line("add.u32 " + d + ", " + d + ", %t5");
  }
}

void PartWriter::memory() {
  input(16, true);
  line("ld.global" + pick({"", ".nc", ".cg", ".L1::no_allocate"}) + ".v4.u32 {%t5, %t6, %t7, %t8}, [%d1]");
  keep("%t5");
  keep("%t8");
  own_area();
  line("mad.wide.u32 %d1, %tid, 4, %d1");
  line("st.global" + pick({"", ".cs", ".relaxed.gpu", ".wt"}) + ".u32 [%d1], " + x());
  line("mad.wide.u32 %d2, %tid, 4, %sums");
  line("red.global" + pick({"", ".relaxed.gpu"}) + ".add.u32 [%d2], " + x());
}

void PartWriter::mbarrier() {
  begin_mbarrier(threads_);
  const unsigned rounds = 1 + below(3);
  const bool drops = threads_ > 32 && coin();
  for (unsigned r = 0; r < rounds; ++r) {
    line("st.shared.u32 [%t1+" + text(4 * r) + "], " + x());
    const bool bytes = coin();
    if (bytes) {
      line("@%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%t0], 48");
      line("@!%p1 mbarrier.arrive.release.cta.shared::cta.b64 %d5, [%t0]");
      line("@%p1 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%t0], 48");
      line("@%p1 mbarrier.arrive" +
           pick({".release.cta.shared::cta", ".shared", ".release.cluster.shared::cta"}) + ".b64 %d5, [%t0]");
    } else if (drops && r + 1 == rounds) {
      // A warp takes its leave; the phase wants as many as before.
      line("setp.lt.u32 %p3, %tid, 32");
      line("@%p3 mbarrier.arrive_drop.shared.b64 %d5, [%t0]");
      line("@!%p3 mbarrier.arrive.shared.b64 %d5, [%t0]");
    } else {
      line("mbarrier.arrive.shared.b64 %d5, [%t0]");
    }
    if (!bytes && coin()) {
      const std::string again = label();
      out_ += again + ":\n";
      line("mbarrier." + pick({"test_wait", "try_wait"}) + ".shared.b64 %p2, [%t0], %d5");
      line("@!%p2 bra " + again);
    } else {
      await(r % 2);
    }
    other(1 + below(threads_ - 1));
    line("ld.shared.u32 %t5, [%t3+" + text(4 * r) + "]");
    keep("%t5");
  }
  line("mbarrier.pending_count.b64 %t5, %d5");
  end_mbarrier();
}

void PartWriter::copies() {
  const unsigned how = below(4);
  begin_mbarrier(threads_);
  input(16, true);
  line("st.shared.v4.u32 [%t1], {%x0, %x1, %x2, %x3}");
  switch (below(4)) {
    case 0: line("cp.async.ca.shared.global [%t1], [%d1], " + pick({"4", "8", "16"})); break;
    case 1: line("cp.async.cg.shared.global.L2::128B [%t1], [%d1], 16"); break;
    case 2: line("cp.async.ca.shared.global [%t1], [%d1], 16, " + pick({"0", "4", "12"})); break;
    default:
      line("cp.async.ca.shared::cta.global [%t1], [%d1], 8");
      line("cp.async.ca.shared::cta.global [%t1+8], [%d1], 4");
  }
  switch (how) {
    case 0:
      line("cp.async.commit_group");
      line("cp.async.wait_group 0");
      break;
    case 1: line("cp.async.wait_all"); break;
    case 2:
      line("cp.async.mbarrier.arrive.noinc.shared.b64 [%t0]");
      await(0);
      break;
    default:
      line("cp.async.mbarrier.arrive.shared.b64 [%t0]");
      line("mbarrier.arrive.shared.b64 %d5, [%t0]");
      await(0);
  }
  if (how < 2) line("bar.sync 0");
  other(1 + below(threads_ - 1));
  line("ld.shared.v2.u32 {%t5, %t6}, [%t3]");
  keep("%t5");
  keep("%t6");
  end_mbarrier();
}

void PartWriter::bulk_in() {
  begin_mbarrier(1);
  const unsigned pieces = 1 + below(3);
  unsigned sizes[3] = {}, all = 0;
  for (unsigned k = 0; k < pieces; ++k) all += sizes[k] = 16 * (1 + below(60));
  line("@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%t0], " + text(all));
  unsigned at = 0;
  for (unsigned k = 0; k < pieces; ++k) {
    input(1024, false);
    line("@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%t2+" + text(at) +
         "], [%d1], " + text(sizes[k]) + ", [%t0]");
    at += sizes[k];
  }
  if (coin()) line("@%p1 cp.async.bulk.prefetch.L2.global [%d1], 256");
  await(0);
  line("mul.lo.u32 %t5, %tid, " + text(4 * (1 + below(7))));
  line("rem.u32 %t5, %t5, " + text(all));
  line("add.u32 %t5, %t5, %t2");
  line("ld.shared.u32 %t6, [%t5]");
  keep("%t6");
  end_mbarrier();
}

void PartWriter::bulk_out() {
  places();
  line("mad.lo.u32 %t5, %tid, 4, %t2");
  line("st.shared.u32 [%t5], " + x());
  line("fence.proxy.async.shared::cta");
  line("bar.sync 0");
  const unsigned bytes = threads_ * 4;
  if (coin()) {
    own_area();
    line("@%p1 cp.async.bulk.global.shared::cta.bulk_group [%d1], [%t2], " + text(bytes));
  } else {
    const unsigned op = below(kSums);
    const char* const names[kSums] = {"add.u32", "min.u32", "max.u32", "and.b32", "or.b32", "xor.b32"};
    line("add.u64 %d1, %sums, " + text(std::uint64_t{op} * kSumWords * 4));
    line("@%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group." + std::string(names[op]) +
         " [%d1], [%t2], " + text(bytes));
  }
  line("@%p1 cp.async.bulk.commit_group");
  if (coin()) line("@%p1 cp.async.bulk.wait_group.read 0");
  line("@%p1 cp.async.bulk.wait_group 0");
  line("bar.sync 0");
}

void PartWriter::tensor_in() {
  begin_mbarrier(1);
  // Some of the boxes lie beyond the edges.
  line("mov.u32 %t5, " + text(below(kRow + 8)));
  line("sub.s32 %t5, %t5, 6");
  line("mov.u32 %t6, " + text(below(kRows + 8)));
  line("sub.s32 %t6, %t6, 6");
  line("mov.b64 %d1, tm");
  line("cvta.param.u64 %d1, %d1");
  if (coin()) line("@%p1 prefetch.tensormap [%d1]");
  line("@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%t0], " + text(kBoxBytes));
  line(
      "@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%t2], [%d1, "
      "{%t5, %t6}], [%t0]");
  await(0);
  line("mad.lo.u32 %t7, %tid, 4, %t2");
  line("ld.shared.u32 %t8, [%t7]");
  keep("%t8");
  line("ld.shared.u32 %t8, [%t7+512]");
  keep("%t8");
  end_mbarrier();
}

void PartWriter::tensor_out() {
  places();
  for (unsigned at = 0; at < kBoxBytes; at += 4 * threads_) {
    line("mad.lo.u32 %t5, %tid, 4, %t2");
    line("st.shared.u32 [%t5+" + text(at) + "], " + x());
  }
  line("fence.proxy.async.shared::cta");
  line("bar.sync 0");
  const bool adds = coin();
  line(std::string("mov.b64 %d1, ") + (adds ? "ts" : "tt"));
  line("cvta.param.u64 %d1, %d1");
  if (adds) {
    line("mov.u32 %t5, 0");
    line(
        "@%p1 cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%d1, {%t5, %t5}], "
        "[%t2]");
  } else {
    line("mov.u32 %t5, " + text(kBox * below(kTensorRow / kBox)));
    line("mad.lo.u32 %t6, %launch, " + text(ctas_) + ", %cta");
    line("mul.lo.u32 %t6, %t6, " + text(kBox));
    line("@%p1 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%d1, {%t5, %t6}], [%t2]");
  }
  line("@%p1 cp.async.bulk.commit_group");
  line("@%p1 cp.async.bulk.wait_group 0");
  line("bar.sync 0");
}

void PartWriter::cluster() {
  places();
  const unsigned away = 1 + below(cluster_ - 1);
  line("st.shared.v4.u32 [%t1], {0, 0, 0, 0}");
  line("barrier.cluster.arrive");
  line("barrier.cluster.wait");
  line("add.u32 %t5, %rank, " + text(away));
  line("rem.u32 %t5, %t5, " + text(cluster_));
  const bool wide = coin();
  if (wide) {
    line("cvt.u64.u32 %d1, %t1");
    line("mapa.shared::cluster.u64 %d1, %d1, %t5");
  } else {
    line("mapa.shared::cluster.u32 %t6, %t1, %t5");
  }
  const std::string at = wide ? "%d1" : "%t6";
  const std::string order = pick({"", ".relaxed.cluster", ".relaxed.gpu"});
  line("st" + order + ".shared::cluster.u32 [" + at + "], " + x());
  for (unsigned k = 1 + below(3); k != 0; --k)
    line(pick({"red.relaxed.cluster", "red"}) + ".shared::cluster.add.u32 [" + at + "+4], " + x());
  line("atom.shared::cluster." + pick({"max.u32", "or.b32", "exch.b32"}) + " %t7, [" + at + "+8], " + x());
  line("barrier.cluster.arrive.release");
  line("add.u32 %x0, %x0, 1");
  line("barrier.cluster.wait.acquire");
  line("ld.shared.v4.u32 {%t7, %t8, %t9, %t10}, [%t1]");
  keep("%t7");
  keep("%t8");
  keep("%t9");
  line("ld.shared::cluster.u32 %t7, [" + at + "]");
  keep("%t7");
  line("barrier.cluster.arrive");
  line("barrier.cluster.wait");
}

void PartWriter::products() {
  struct Form {
    const char* name;
    unsigned d, a, b, c;  ///< registers of 32 bits
    bool floats;
    bool sparse;
  };
  static const Form kForms[] = {
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 4, 4, 2, 4, true, false},
      {"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", 4, 2, 1, 4, true, false},
      {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 2, 4, 2, 2, false, false},
      {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 4, 4, 2, 4, true, false},
      {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", 4, 4, 2, 4, true, false},
      {"mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32", 4, 4, 2, 4, false, false},
      {"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", 2, 1, 1, 2, false, false},
      {"mma.sync.aligned.m16n8k64.row.col.s32.u4.s4.s32", 4, 4, 2, 4, false, false},
      {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc", 4, 4, 2, 4, false, false},
      {"mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", 4, 4, 4, 4, true, true},
      {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32", 4, 4, 4, 4, false, true},
  };
  for (unsigned k = 1 + below(3); k != 0; --k) {
    const Form& form = kForms[below(sizeof kForms / sizeof *kForms)];
    const auto list = [&](const std::string& prefix, unsigned first, unsigned count) {
      std::string s = "{";
      for (unsigned i = 0; i < count; ++i) s += (i == 0 ? "" : ", ") + prefix + text(first + i);
      return s + "}";
    };
    const auto draw = [&](unsigned count) {
      std::string s = "{";
      for (unsigned i = 0; i < count; ++i) s += (i == 0 ? "" : ", ") + x();
      return s + "}";
    };
    const std::string to = form.floats ? "%f" : "%t";
    for (unsigned i = 0; i < form.c; ++i) line("mov.b32 " + to + text(10 + i) + ", " + x());
    // Of every four elements, the first two are there.
    line(std::string(form.name) + " " + list(to, 20, form.d) + ", " + draw(form.a) + ", " + draw(form.b) +
         ", " + list(to, 10, form.c) + (form.sparse ? ", %pairs, 0" : ""));
    for (unsigned i = 0; i < form.d; ++i) {
      if (form.floats)
        keep_float("%f" + text(20 + i));
      else
        keep("%t" + text(20 + i));
    }
  }
  if (coin()) return;
  line("mov.b64 %g0, {%x0, %x1}");
  line("mov.b64 %g1, {%x2, %x3}");
  line("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%g2, %g3}, {%g0}, {%g1}, {%g0, %g1}");
  line("mov.b64 {%t5, %t6}, %g2");
  keep("%t6");
}

void PartWriter::tiles() {
  places();
  line("st.shared.v4.u32 [%t1], {%x0, %x1, %x2, %x3}");
  line("bar.sync 0");
  const std::string trans = pick({"", ".trans"});
  if (coin()) {
    line("ldmatrix.sync.aligned.m8n8.x4" + trans + ".shared.b16 {%t5, %t6, %t7, %t8}, [%t1]");
    keep("%t8");
  } else {
    line("ldmatrix.sync.aligned.m8n8.x2" + trans + ".shared::cta.b16 {%t5, %t6}, [%t1]");
  }
  keep("%t5");
  keep("%t6");
  line("bar.sync 0");
  line("movmatrix.sync.aligned.m8n8.trans.b16 %t7, " + x());
  line("stmatrix.sync.aligned.m8n8.x2" + pick({"", ".trans"}) + ".shared.b16 [%t1], {%t5, %t7}");
  line("bar.sync 0");
  other(below(threads_));
  line("ld.shared.u32 %t5, [%t3+" + text(4 * below(4)) + "]");
  keep("%t5");
  line("bar.sync 0");
}

void PartWriter::wmma() {
  places();
  line("st.shared.v4.u32 [%t1], {%x4, %x5, %x6, %x7}");
  line("bar.sync 0");
  line("and.b32 %t5, %tid, " + text(~31U));
  line("mad.lo.u32 %t5, %t5, 16, %t0");
  line("add.u32 %t5, %t5, " + text(kOwn));
  const std::string a = pick({"row", "col"}), b = pick({"row", "col"});
  const auto list = [](const std::string& prefix, unsigned first, unsigned count) {
    std::string s = "{";
    for (unsigned i = 0; i < count; ++i) s += (i == 0 ? "" : ", ") + prefix + text(first + i);
    return s + "}";
  };
  for (unsigned i = 0; i < 8; ++i)
    line("mov.b32 %f" + text(i) + ", " + (i % 2 == 0 ? x() : std::string("0")));
  line("wmma.load.a.sync.aligned." + a + ".m16n16k16.shared.f16 " + list("%t", 10, 8) + ", [%t5], 16");
  line("wmma.load.b.sync.aligned." + b + ".m16n16k16.shared.f16 " + list("%t", 20, 8) + ", [%t5], 16");
  line("wmma.mma.sync.aligned." + a + "." + b + ".m16n16k16.f32.f32 " + list("%f", 10, 8) + ", " +
       list("%t", 10, 8) + ", " + list("%t", 20, 8) + ", " + list("%f", 0, 8));
  for (unsigned i = 10; i < 18; ++i) keep_float("%f" + text(i));
  line("bar.sync 0");
}

void PartWriter::warpgroup() {
  // Rows of 8 elements of 2 bytes, eight of them in a row: 128 bytes. A has 8 by 2 of these, B 1 to 4 by 2.
  const unsigned columns = 8U << below(3);
  line("mov.u32 %t0, s");
  line("mad.lo.u32 %t1, %tid, 16, %t0");
  line("add.u32 %t1, %t1, " + text(kTiles));
  line("st.shared.v4.u32 [%t1], {%x0, %x1, %x2, %x3}");
  line("st.shared.v4.u32 [%t1+2048], {%x4, %x5, %x6, %x7}");
  line("fence.proxy.async.shared::cta");
  line("bar.sync 0");
  const auto descriptor = [this](const std::string& to, unsigned at) {
    line("add.u32 %t2, %t0, " + text(at));
    line("bfe.u32 %t2, %t2, 4, 14");
    line("cvt.u64.u32 " + to + ", %t2");
    // From one of the two to the next 128 bytes, from eight rows to the next 256.
    line("or.b64 " + to + ", " + to + ", " + text(std::uint64_t{8} << 16U | std::uint64_t{16} << 32U));
  };
  descriptor("%d1", kTiles);
  descriptor("%d2", kTiles + 2048);
  const unsigned count = columns / 2;
  std::string d = "{";
  for (unsigned i = 0; i < count; ++i) {
    line("mov.b32 %f" + text(i) + ", 0");
    d += (i == 0 ? "%f" : ", %f") + text(i);
  }
  d += "}";
  line("setp.eq.u32 %p2, 0, " + text(below(2)));
  line("wgmma.fence.sync.aligned");
  const std::string name =
      "wgmma.mma_async.sync.aligned.m64n" + text(columns) + "k16.f32." + pick({"f16.f16", "bf16.bf16"});
  if (coin())
    line(name + " " + d + ", %d1, %d2, %p2, 1, " + pick({"1", "-1"}) + ", 0, 0");
  else
    line(name + " " + d + ", {%x0, %x1, %x2, %x3}, %d2, %p2, 1, 1, 0");
  line("wgmma.commit_group.sync.aligned");
  line("wgmma.wait_group.sync.aligned 0");
  for (unsigned i = 0; i < count; i += 3) keep_float("%f" + text(i));
  line("bar.sync 0");
}

void PartWriter::images() {
  line("cvt.rn.f32.u32 %f0, %tid");
  line("mul.f32 %f0, %f0, 0f3E990000");
  line("cvt.rn.f32.u32 %f1, %cta");
  line("add.f32 %f1, %f1, 0f3FA00000");
  if (coin()) {
    line("tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%tex, {%f0, %f1}]");
  } else {
    line("tld4.r.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%tex, {%f0, %f1}]");
  }
  keep_float("%f2");
  line("mad.lo.u32 %t5, %cta, " + text(threads_) + ", %tid");
  line("mul.lo.u32 %t5, %t5, 4");
  line("sust.b.2d.b32." + pick({"trap", "zero", "clamp"}) + " [%surf, {%t5, %launch}], {" + x() + "}");
  line(pick({"txq.width.b32 %t6, [%tex]", "suq.height.b32 %t6, [%surf]"}));
  keep("%t6");
}

void PartWriter::print() {
  const std::string end = label();
  line("setp.ne.u32 %p2, %lane, 0");
  line("@%p2 bra " + end);
  line("mad.lo.u32 %t5, %cta, " + text(threads_) + ", %tid");
  line("st.local.u32 [args], %t5");
  line("st.local.u32 [args+4], " + x());
  line("mov.u64 %d1, format");
  line("cvta.global.u64 %d1, %d1");
  line("mov.u64 %d2, args");
  line("cvta.local.u64 %d2, %d2");
  out_ +=
      "{\n.param .b64 p0; .param .b64 p1; .param .b32 q;\nst.param.b64 [p0], %d1;\nst.param.b64 [p1], %d2;\n"
      "call.uni (q), vprintf, (p0, p1);\nld.param.b32 %t6, [q];\n}\n";
  keep("%t6");
  out_ += end + ":\n";
  line("bar.warp.sync 0xffffffff");
}

void PartWriter::heap() {
  const std::string end = label();
  // Few threads: on the slowest machines, all of them would meet at the heap's lists for millions of cycles.
  line("and.b32 %t5, %tid, " + pick({"127", "63"}));
  line("setp.ne.u32 %p2, %t5, 0");
  line("@%p2 bra " + end);
  out_ += "{\n.param .b64 n; .param .b64 q;\nst.param.b64 [n], " + text(8 + below(100)) +
          ";\ncall.uni (q), malloc, (n);\nld.param.b64 %d1, [q];\n}\n";
  line("st.u32 [%d1+4], " + x());
  line("ld.u32 %t5, [%d1+4]");
  keep("%t5");
  out_ += "{\n.param .b64 n;\nst.param.b64 [n], %d1;\ncall.uni free, (n);\n}\n";
  out_ += end + ":\n";
  line("bar.warp.sync 0xffffffff");
}

void PartWriter::registers() {
  line("setmaxnreg.dec.sync.aligned.u32 " + text(24 + 8 * below(4)));
  keep("%tid");
  line("setmaxnreg.inc.sync.aligned.u32 " + text(56));
}

void PartWriter::whole_grid() {
  own_area();
  line("mad.wide.u32 %d1, %tid, 4, %d1");
  line("st.global.u32 [%d1], " + x());
  line("bar.sync 0");
  const std::string again = label(), end = label();
  line("mad.lo.u32 %t5, %launch, " + text(kCounters / 2) + ", " + text(n_));
  line("mad.wide.u32 %d2, %t5, 4, %counters");
  line("@!%p1 bra " + end);
  line("red.release.gpu.global.add.u32 [%d2], 1");
  out_ += again + ":\n";
  line("ld.acquire.gpu.global.u32 %t6, [%d2]");
  line("setp.lt.u32 %p2, %t6, " + text(ctas_));
  line("@%p2 bra " + again);
  out_ += end + ":\n";
  line("bar.sync 0");
  // What the next CTA wrote there.
  line("add.u32 %t6, %cta, 1");
  line("rem.u32 %t6, %t6, " + text(ctas_));
  line("mad.lo.u32 %t5, %launch, " + text(ctas_) + ", %t6");
  line("mad.lo.u32 %t5, %t5, " + text(kMostParts) + ", " + text(n_));
  line("mul.wide.u32 %d1, %t5, " + text(kPartBytes));
  line("add.u64 %d1, %d1, %area");
  line("mad.wide.u32 %d1, %tid, 4, %d1");
  line("ld.global.u32 %t7, [%d1]");
  keep("%t7");
}

/// What lies around the parts.
std::string module_of(const std::string& body, unsigned threads, unsigned ctas, bool reallocates) {
  std::string s =
      ".version 8.6\n.target sm_90a\n.address_size 64\n"
      ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
      ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n"
      ".global .align 1 .b8 format[10] = {37, 117, 58, 32, 37, 120, 10, 0, 0, 0};\n"
      ".visible .entry k(.param .u64 in_, .param .u64 out_, .param .u64 area_, .param .u64 sums_, .param "
      ".u64 counters_, "
      ".param .align 64 .b8 tm[128], .param .align 64 .b8 tt[128], .param .align 64 .b8 ts[128], .param .u64 "
      "tex_, "
      ".param .u64 surf_, .param .u32 launch_)\n";
  if (reallocates) s += ".maxnreg 64\n";
  s += ".maxntid " + text(threads) +
       ", 1, 1\n{\n"
       ".reg .b32 %x<8>, %t<40>;\n.reg .b64 %d<16>;\n.reg .f32 %f<40>;\n.reg .b16 %h<8>;\n.reg .f64 "
       "%g<8>;\n.reg .pred %p<8>;\n"
       ".reg .b32 %tid, %lane, %cta, %rank, %launch, %pairs;\n.reg .b64 %in, %out, %area, %sums, %counters, "
       "%tex, %surf;\n"
       ".shared .align 1024 .b8 s[" +
       text(kSharedBytes) +
       "];\n.local .align 8 .b8 args[16];\n"
       "ld.param.u64 %in, [in_];\nld.param.u64 %out, [out_];\nld.param.u64 %area, [area_];\nld.param.u64 "
       "%sums, [sums_];\n"
       "ld.param.u64 %counters, [counters_];\nld.param.u64 %tex, [tex_];\nld.param.u64 %surf, "
       "[surf_];\nld.param.u32 %launch, "
       "[launch_];\nmov.u32 %tid, %tid.x;\nmov.u32 %lane, %laneid;\nmov.u32 %cta, %ctaid.x;\nmov.u32 %rank, "
       "%cluster_ctarank;\n"
       "mov.u32 %pairs, 0x44444444;\nsetp.eq.u32 %p1, %tid, 0;\n";
  // What the first launch left is there.
  s += "griddepcontrol.wait;\n";
  s += "mad.lo.u32 %t0, %cta, " + text(threads) +
       ", %tid;\nmad.wide.u32 %d0, %t0, 32, %out;\n"
       "ld.global.v4.u32 {%x0, %x1, %x2, %x3}, [%d0];\nld.global.v4.u32 {%x4, %x5, %x6, %x7}, [%d0+16];\n";
  for (unsigned i = 0; i < 8; ++i)
    s += "mad.lo.u32 %x" + text(i) + ", %t0, " + text(2654435761U + 40503U * i) + ", %x" + text(i) + ";\n";
  s += body;
  s += "mul.lo.u32 %t1, %launch, " + text(ctas * threads) +
       ";\nmad.wide.u32 %d1, %t1, 32, %d0;\n"
       "st.global.v4.u32 [%d1], {%x0, %x1, %x2, %x3};\nst.global.v4.u32 [%d1+16], {%x4, %x5, %x6, "
       "%x7};\nret;\n}\n";
  return s;
}

}  // namespace

MixedKernel mixed_kernel(std::uint64_t seed, const GpuConfig& config, std::uint64_t kept) {
  Random random(splitmix64(seed ^ 0x6D69786564ULL));
  const auto pick = [&random](std::initializer_list<unsigned> list) {
    return *(list.begin() + random.below(list.size()));
  };
  const unsigned most_warps = std::min(4U, config.sm.warp_slots);
  unsigned threads = 32 * pick({1, 2, 4, 4});
  while (threads / 32 > most_warps) threads /= 2;
  unsigned in_gpc = 0;
  for (unsigned i = 0; i < config.sms; ++i) in_gpc += i / config.sms_per_tpc % config.gpcs == 0;
  const unsigned together =
      std::min(config.sm.warp_slots / (threads / 32), config.sm.shared_bytes / (2 * kSharedBytes));
  const unsigned cluster = std::min(pick({1, 1, 2, 4}), std::max(1U, in_gpc * together));
  const bool cooperative = cluster == 1 && random.below(3) == 0;
  const unsigned ctas = cooperative ? std::min(pick({1, 2, 3, 4}), config.sms) : cluster * pick({1, 2, 3});
  const bool dependent = cluster == 1 && !cooperative && random.below(2) == 0;

  MixedKernel k;
  k.dependent = dependent;
  PartWriter writer(random, threads, cluster, ctas, cooperative);
  std::string body;
  bool reallocates = false;
  for (unsigned n = 0, count = pick({3, 5, 8, 12}); n < count; ++n) {
    const PartWriter::Kind* kind = nullptr;
    do {
      kind = &PartWriter::kinds()[random.below(PartWriter::kinds().size())];
    } while (!writer.fits(*kind));
    const Random own(splitmix64(random.next()));
    k.parts.emplace_back(kind->name);
    if ((kept >> n & 1U) == 0) continue;
    reallocates |= k.parts.back() == "registers";
    body += writer.part(*kind, n, own);
  }
  k.ptx = module_of(body, threads, ctas, reallocates);

  const auto buffer = [&k](const std::string& name, unsigned words, const std::string& init) {
    std::string s = "[[launch.argument]]\nbuffer = \"" + name + "\"\n";
    if (words == 0) return s;
    s += "type = \"u32\"\ncount = " + text(words) + "\n" + init + "\n";
    if (name == "in") return s;
    k.files.push_back(name + ".bin");
    return s + "dump = \"" + name + ".bin\"\n";
  };
  const std::string swizzle = random.below(2) == 0 ? "none" : "64B";
  const std::string filter = random.below(2) == 0 ? "point" : "linear";
  for (unsigned n = 0; n < 2; ++n) {
    const auto words = [n](unsigned count) { return n == 0 ? count : 0; };
    const auto map = [&](const std::string& name, unsigned columns, unsigned rows, bool read) {
      std::string s = "[[launch.argument]]\ntensor_map = { buffer = \"" + name + "\", shape = [" +
                      text(columns) + ", " + text(rows) + "], box = [" + text(kBox) + ", " + text(kBox) +
                      "], swizzle = \"" + swizzle + "\" }\n";
      if (n != 0) return s;
      s += "type = \"u32\"\ncount = " + text(columns * rows) + "\n";
      if (read) return s + "init = { random = { seed = 5 } }\n";
      k.files.push_back(name + ".bin");
      return s + "dump = \"" + name + ".bin\"\n";
    };
    k.launch += "[[launch]]\nmodule = \"k.ptx\"\nkernel = \"k\"\ngrid = [" + text(ctas) + "]\nblock = [" +
                text(threads) + "]\n";
    if (cluster > 1) k.launch += "cluster = [" + text(cluster) + ", 1, 1]\n";
    if (cooperative) k.launch += "cooperative = true\n";
    if (dependent && n == 1) k.launch += "dependent = true\n";
    k.launch += buffer("in", words(kInputWords), "init = { random = { seed = " + text(seed % 1000) + " } }");
    k.launch += buffer("out", words(2 * ctas * threads * 8), "");
    k.launch += buffer("area", words(2 * ctas * kMostParts * kPartBytes / 4), "");
    k.launch += buffer("sums", words(kSums * kSumWords), "init = { random = { seed = 3 } }");
    k.launch += buffer("counters", words(kCounters), "");
    k.launch += map("matrix", kRow, kRows, true) + map("tout", kTensorRow, 2 * kBox * ctas, false) +
                map("tsum", kBox, kBox, false);
    k.launch +=
        "[[launch.argument]]\ntexture = { buffer = \"image\", width = 32, height = 16, format = \"f32\", "
        "filter = \"" +
        filter + "\" }\n";
    if (n == 0) k.launch += "init = { random = { seed = 9 } }\n";
    k.launch += "[[launch.argument]]\nsurface = { buffer = \"surface\", width = " + text(ctas * threads) +
                ", height = 2, format = \"u32\" }\n";
    if (n == 0) {
      k.launch += "dump = \"surface.bin\"\n";
      k.files.emplace_back("surface.bin");
    }
    k.launch += "[[launch.argument]]\nscalar = " + text(n) + "\ntype = \"u32\"\n";
  }
  return k;
}

}  // namespace warpline::test
