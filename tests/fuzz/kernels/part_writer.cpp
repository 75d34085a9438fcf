#include "tests/fuzz/kernels/part_writer.h"

namespace warpline::test {

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
      {"warpgroup", &PartWriter::warpgroup, &PartWriter::multiplies_in_groups},
      {"images", &PartWriter::images, nullptr},
      {"print", &PartWriter::print, nullptr},
      {"heap", &PartWriter::heap, nullptr},
      {"registers", &PartWriter::registers, &PartWriter::of_warpgroups},
      {"whole_grid", &PartWriter::whole_grid, &PartWriter::together},
      {"dependents", &PartWriter::dependents, nullptr},
      {"asynchronous_stores", &PartWriter::asynchronous_stores, &PartWriter::in_cluster},
      {"remote_arrivals", &PartWriter::remote_arrivals, &PartWriter::in_cluster},
      {"copies_between", &PartWriter::copies_between, &PartWriter::in_cluster},
      {"multicast", &PartWriter::multicast, &PartWriter::in_cluster},
      {"multicast_of_boxes", &PartWriter::multicast_of_boxes, &PartWriter::in_cluster},
      {"fill", &PartWriter::fill, &PartWriter::newer},
      {"sparse_warpgroup", &PartWriter::sparse_warpgroup, &PartWriter::multiplies_in_groups},
      {"changed_map", &PartWriter::changed_map, nullptr},
      {"four_rows_in", &PartWriter::four_rows_in, &PartWriter::newer},
      {"four_rows_out", &PartWriter::four_rows_out, &PartWriter::newer},
      {"lines_of_images", &PartWriter::lines_of_images, nullptr},
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
  line("mad.wide.u32 %d1, %me, 4, %d1");
  line("st.global" + pick({"", ".cs", ".relaxed.gpu", ".wt"}) + ".u32 [%d1], " + x());
  line("mad.wide.u32 %d2, %me, 4, %sums");
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
      line("setp.lt.u32 %p3, %me, 32");
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
  line("mul.lo.u32 %t5, %me, " + text(4 * (1 + below(7))));
  line("rem.u32 %t5, %t5, " + text(all));
  line("add.u32 %t5, %t5, %t2");
  line("ld.shared.u32 %t6, [%t5]");
  keep("%t6");
  end_mbarrier();
}

void PartWriter::bulk_out() {
  places();
  line("mad.lo.u32 %t5, %me, 4, %t2");
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
  const int column = static_cast<int>(below(kRow + 8)), row = static_cast<int>(below(kRows + 8));
  line("mov.u32 %t5, " + std::to_string(column));
  line("sub.s32 %t5, %t5, 6");
  line("mov.u32 %t6, " + std::to_string(row));
  line("sub.s32 %t6, %t6, 6");
  line("mov.b64 %d1, tm");
  line("cvta.param.u64 %d1, %d1");
  if (coin()) line("@%p1 prefetch.tensormap [%d1]");
  line("@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%t0], " + text(kBoxBytes));
  line(
      "@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%t2], [%d1, "
      "{%t5, %t6}], [%t0]");
  await(0);
  line("mad.lo.u32 %t7, %me, 4, %t2");
  line("ld.shared.u32 %t8, [%t7]");
  keep("%t8");
  line("ld.shared.u32 %t8, [%t7+512]");
  keep("%t8");
  line("add.u32 %t7, %me, " + text(below(kBox * kBox - threads_)));
  check_box("%t7", column - 6, row - 6, {0, kRow, kRow, kRows, swizzled_});
  end_mbarrier();
}

void PartWriter::tensor_out() {
  places();
  for (unsigned at = 0; at < kBoxBytes; at += 4 * threads_) {
    line("mad.lo.u32 %t5, %me, 4, %t2");
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
  line("and.b32 %t5, %me, " + text(~31U));
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

void PartWriter::group_products(bool sparse) {
  // Rows of 8 elements of 2 bytes, eight of them in a row: 128 bytes. A has 8 by 2 of these, B 1 to 4 by 2,
  // or by 4 where half of A is stored.
  const unsigned columns = 8U << below(3);
  line("mov.u32 %t0, s");
  line("mad.lo.u32 %t1, %me, 16, %t0");
  line("add.u32 %t1, %t1, " + text(kTiles));
  line("st.shared.v4.u32 [%t1], {%x0, %x1, %x2, %x3}");
  line("st.shared.v4.u32 [%t1+2048], {%x4, %x5, %x6, %x7}");
  line("fence.proxy.async.shared::cta");
  line("bar.sync 0");
  const auto descriptor = [this](const std::string& to, unsigned at, unsigned eight_rows) {
    line("add.u32 %t2, %t0, " + text(at));
    line("bfe.u32 %t2, %t2, 4, 14");
    line("cvt.u64.u32 " + to + ", %t2");
    // From one of the two, or four, to the next 128 bytes.
    line("or.b64 " + to + ", " + to + ", " +
         text(std::uint64_t{8} << 16U | std::uint64_t{eight_rows} / 16 << 32U));
  };
  descriptor("%d1", kTiles, 256);
  descriptor("%d2", kTiles + 2048, sparse ? 512 : 256);
  const unsigned count = columns / 2;
  std::string d = "{";
  for (unsigned i = 0; i < count; ++i) {
    line("mov.b32 %f" + text(i) + ", 0");
    d += (i == 0 ? "%f" : ", %f") + text(i);
  }
  d += "}";
  line("setp.eq.u32 %p2, 0, " + text(below(2)));
  line("wgmma.fence.sync.aligned");
  const std::string name = std::string("wgmma.mma_async") + (sparse ? ".sp" : "") + ".sync.aligned.m64n" +
                           text(columns) + (sparse ? "k32" : "k16") + ".f32." +
                           pick({"f16.f16", "bf16.bf16"});
  // Of every four elements, the first two are there.
  const std::string there = sparse ? ", %pairs, " + text(below(2)) : "";
  if (coin())
    line(name + " " + d + ", %d1, %d2" + there + ", %p2, 1, " + pick({"1", "-1"}) + ", 0, 0");
  else
    line(name + " " + d + ", {%x0, %x1, %x2, %x3}, %d2" + there + ", %p2, 1, 1, 0");
  line("wgmma.commit_group.sync.aligned");
  line("wgmma.wait_group.sync.aligned 0");
  for (unsigned i = 0; i < count; i += 3) keep_float("%f" + text(i));
  line("bar.sync 0");
}

void PartWriter::images() {
  line("cvt.rn.f32.u32 %f0, %me");
  line("mul.f32 %f0, %f0, 0f3E990000");
  line("cvt.rn.f32.u32 %f1, %cta");
  line("add.f32 %f1, %f1, 0f3FA00000");
  if (coin()) {
    line("tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%tex, {%f0, %f1}]");
  } else {
    line("tld4.r.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%tex, {%f0, %f1}]");
  }
  keep_float("%f2");
  line("mad.lo.u32 %t5, %cta, " + text(threads_) + ", %me");
  line("mul.lo.u32 %t5, %t5, 4");
  line("sust.b.2d.b32." + pick({"trap", "zero", "clamp"}) + " [%surf, {%t5, %launch}], {" + x() + "}");
  line(pick({"txq.width.b32 %t6, [%tex]", "suq.height.b32 %t6, [%surf]"}));
  keep("%t6");
}

void PartWriter::print() {
  const std::string end = label();
  line("setp.ne.u32 %p2, %lane, 0");
  line("@%p2 bra " + end);
  line("mad.lo.u32 %t5, %cta, " + text(threads_) + ", %me");
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
  line("and.b32 %t5, %me, " + pick({"127", "63"}));
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
  keep("%me");
  line("setmaxnreg.inc.sync.aligned.u32 " + text(56));
}

void PartWriter::whole_grid() {
  own_area();
  line("mad.wide.u32 %d1, %me, 4, %d1");
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
  line("mad.wide.u32 %d1, %me, 4, %d1");
  line("ld.global.u32 %t7, [%d1]");
  keep("%t7");
}

}  // namespace warpline::test
