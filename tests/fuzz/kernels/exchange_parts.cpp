// Parts in which CTAs of a cluster send each other what they do not wait for, and those of tensor maps that
// are changed or name rows. What must come is known: what a thread sends follows from its number.
#include <array>

#include "tests/fuzz/kernels/part_writer.h"

namespace warpline::test {
namespace {

std::string signed_text(std::int64_t n) {
  return std::to_string(n);
}

}  // namespace

/// What `mapa` makes of an address of the CTA whose rank is in %t10.
struct PartWriter::Remote {
  std::string at, space;
};

void PartWriter::meet_cluster() {
  line("barrier.cluster.arrive" + pick({"", ".release", ".release.aligned"}));
  line("barrier.cluster.wait" + pick({"", ".acquire", ".acquire.aligned"}));
}

/// Every CTA has an mbarrier, and has written what others are to change.
void PartWriter::begin_exchange(unsigned count) {
  places();
  line("@%p1 mbarrier.init.shared::cta.b64 [%t0], " + text(count));
  line("@%p1 fence.mbarrier_init.release.cluster");
  line("fence.proxy.async.shared::cta");
  meet_cluster();
}

void PartWriter::await_in_cluster(unsigned parity) {
  const std::string again = label();
  out_ += again + ":\n";
  const std::string at = ".acquire.cluster.shared::cta.b64 %p2, [%t0], " + text(parity);
  switch (below(3)) {
    case 0: line("mbarrier.try_wait.parity" + at); break;
    case 1: line("mbarrier.try_wait.parity" + at + ", " + text(20 + below(900))); break;
    default: line("mbarrier.test_wait.parity" + at);
  }
  line("@!%p2 bra " + again);
}

/// Thread 0 arrives at the mbarrier of the CTA whose rank is in %t12, or its own, and expects so many bytes.
void PartWriter::expect_bytes(const std::string& bytes) {
  line("mapa.shared::cluster.u32 %t13, %t0, %t12");
  line("@%p1 mbarrier.arrive.expect_tx." + pick({"release", "relaxed"}) +
       ".cluster.shared::cluster.b64 _, [%t13], " + bytes);
}

/// %t10: the rank of the CTA `away` ranks on; %t11: the CTA from which this one is as far away; %t12: the
/// rank of one at whose mbarrier to arrive.
void PartWriter::peer(unsigned away) {
  line("add.u32 %t10, %rank, " + text(away));
  line("rem.u32 %t10, %t10, " + text(cluster_));
  line("add.u32 %t11, %rank, " + text(cluster_ - away));
  line("rem.u32 %t11, %t11, " + text(cluster_));
  line("sub.u32 %t12, %cta, %rank");
  line("add.u32 %t11, %t11, %t12");
  line("add.u32 %t12, %rank, " + text(below(cluster_)));
  line("rem.u32 %t12, %t12, " + text(cluster_));
}

PartWriter::Remote PartWriter::remote(const std::string& own, unsigned slot, unsigned form) {
  const std::string narrow = "%t" + text(30 + slot), wide = "%d" + text(8 + slot);
  if (form == 0) {
    line("mapa.shared::cluster.u32 " + narrow + ", " + own + ", %t10");
    return {narrow, ".shared::cluster"};
  }
  line("cvt.u64.u32 " + wide + ", " + own);
  if (form == 2) line("cvta.shared.u64 " + wide + ", " + wide);
  line(std::string("mapa") + (form == 2 ? "" : ".shared::cluster") + ".u64 " + wide + ", " + wide + ", %t10");
  return {wide, form == 2 ? "" : ".shared::cluster"};
}

/// What the thread whose number is in `thread`, of the CTA in `cta`, sends in this part.
void PartWriter::made(const std::string& to, const std::string& cta, const std::string& thread,
                      unsigned salt) {
  line("mad.lo.u32 " + to + ", " + thread + ", 40503, " + text(n_ * 7919 + salt * 104729));
  line("mad.lo.u32 " + to + ", " + cta + ", 2654435761, " + to);
}

void PartWriter::check(const std::string& got, const std::string& wanted) {
  line("setp.ne.u32 %p4, " + got + ", " + wanted);
  line("@%p4 red.global.add.u32 [%errors+" + text(std::uint64_t{4} * n_) + "], 1");
}

/// What %t20 has of the tensor's element in column %t21 of row %t22, or 0 where it has none.
void PartWriter::check_place(const View& v) {
  line("mad.lo.s32 %t23, %t22, " + text(v.stride) + ", %t21");
  line("add.s32 %t23, %t23, " + text(v.first));
  line("mul.wide.s32 %d14, %t23, 4");
  line("add.u64 %d14, %d14, %matrix");
  line("setp.lt.u32 %p2, %t21, " + text(v.columns));
  line("setp.lt.and.u32 %p3, %t22, " + text(v.rows) + ", %p2");
  line("mov.u32 %t24, 0");
  line("@%p3 ld.global.u32 %t24, [%d14]");
  check("%t20", "%t24");
}

/// That of a box at %t2, whose first element is in column `x` of row `y`, the element whose number is in
/// `number` is right.
void PartWriter::check_box(const std::string& number, int x, int y, const View& v) {
  line("shl.b32 %t20, " + number + ", 2");
  if (v.swizzled) {
    line("shr.u32 %t21, %t20, 3");
    line("and.b32 %t21, %t21, 48");
    line("xor.b32 %t20, %t20, %t21");
  }
  line("add.u32 %t20, %t20, %t2");
  line("ld.shared.u32 %t20, [%t20]");
  line("and.b32 %t21, " + number + ", 15");
  line("add.s32 %t21, %t21, " + signed_text(x));
  line("shr.u32 %t22, " + number + ", 4");
  line("add.s32 %t22, %t22, " + signed_text(y));
  check_place(v);
}

void PartWriter::asynchronous_stores() {
  struct Shape {
    const char* type;
    unsigned vector;
    bool wide;
  };
  static const Shape kShapes[] = {{"b32", 1, false}, {"u32", 2, false}, {"s32", 4, false}, {"b32", 4, false},
                                  {"b64", 1, true},  {"u64", 2, true},  {"s64", 1, true}};
  struct Reduction {
    const char* name;
    const char* plain;  ///< of what comes and the element; null: of 1 and the element
    unsigned start, operand;
  };
  static const Reduction kReductions[] = {
      {"add.u32", "add.u32", 77, 0},  {"add.s32", "add.u32", 1, 0},   {"min.u32", "min.u32", ~0U, 0},
      {"max.s32", "max.s32", 0, 0},   {"and.b32", "and.b32", ~0U, 0}, {"or.b32", "or.b32", 0, 0},
      {"xor.b32", "xor.b32", 123, 0}, {"inc.u32", nullptr, 0, 1000},  {"dec.u32", nullptr, 500, 1000}};
  const Shape& shape = kShapes[below(sizeof kShapes / sizeof *kShapes)];
  const Reduction& reduction = kReductions[below(sizeof kReductions / sizeof *kReductions)];
  const unsigned reductions = below(3), bytes = (shape.wide ? 8 : 4) * shape.vector, form = below(3);
  places();
  line("and.b32 %t4, %me, 7");
  line("mad.lo.u32 %t4, %t4, 4, %t2");
  line("setp.lt.u32 %p3, %me, 8");
  line("@%p3 st.shared.u32 [%t4], " + text(reduction.start));
  begin_exchange(1);
  peer(below(cluster_));
  const Remote to = remote("%t1", 0, form), object = remote("%t0", 1, form), word = remote("%t4", 2, form);
  made("%t14", "%cta", "%me", 0);
  std::string list;
  if (shape.wide) {
    line("mov.b64 %d6, {%t14, " + x() + "}");
    line("mov.b64 %d7, {" + x() + ", " + x() + "}");
    list = shape.vector == 1 ? "%d6" : "{%d6, %d7}";
  } else if (shape.vector == 1) {
    list = "%t14";
  } else {
    list = "{%t14";
    for (unsigned i = 1; i < shape.vector; ++i) list += ", " + x();
    list += "}";
  }
  const std::string store = "st.async" + pick({"", ".weak"}) + to.space + ".mbarrier::complete_tx::bytes" +
                            (shape.vector > 1 ? ".v" + text(shape.vector) : "") + "." + shape.type + " [" +
                            to.at + "], " + list + ", [" + object.at + "]";
  const bool first = coin();
  if (first) line(store);
  for (unsigned r = 0; r < reductions; ++r) {
    made("%t15", "%cta", "%me", 1 + r);
    if (reduction.plain == nullptr) line("mov.u32 %t15, " + text(reduction.operand));
    line("red.async.relaxed.cluster" + word.space + ".mbarrier::complete_tx::bytes." + reduction.name + " [" +
         word.at + "], %t15, [" + object.at + "]");
  }
  expect_bytes(text(threads_ * (bytes + 4 * reductions)));
  if (!first) line(store);
  await_in_cluster(0);
  line("ld.shared.u32 %t17, [%t1]");
  made("%t18", "%t11", "%me", 0);
  check("%t17", "%t18");
  if (bytes > 4) {
    line("ld.shared.u32 %t17, [%t1+" + text(bytes - 4) + "]");
    keep("%t17");
  }
  if (reductions > 0) {
    const std::string again = label(), end = label();
    line("setp.ge.u32 %p3, %me, 8");
    line("@%p3 bra " + end);
    line("mov.u32 %t17, " + text(reduction.start));
    line("mov.u32 %t19, %me");
    out_ += again + ":\n";
    for (unsigned r = 0; r < reductions; ++r) {
      made("%t18", "%t11", "%t19", 1 + r);
      if (reduction.plain != nullptr)
        line(reduction.plain + std::string(" %t17, %t17, %t18"));
      else
        line("add.u32 %t17, %t17, " + std::string(reduction.start == 0 ? "1" : "-1"));
    }
    line("add.u32 %t19, %t19, 8");
    line("setp.lt.u32 %p3, %t19, " + text(threads_));
    line("@%p3 bra " + again);
    line("ld.shared.u32 %t18, [%t4]");
    check("%t18", "%t17");
    out_ += end + ":\n";
    line("bar.warp.sync 0xffffffff");
  }
  end_mbarrier();
}

void PartWriter::remote_arrivals() {
  const unsigned rounds = 1 + below(3), form = below(3);
  begin_exchange(threads_);
  peer(below(cluster_));
  const Remote to = remote("%t1", 0, form), object = remote("%t0", 1, form % 2);
  const std::string at = "[" + object.at + "]";
  const std::string arrive =
      "mbarrier.arrive" + pick({".release.cluster.shared::cluster", ".shared::cluster"}) + ".b64 _, " + at;
  for (unsigned r = 0; r < rounds; ++r) {
    made("%t14", "%cta", "%me", r);
    line("st" + pick({"", ".relaxed.cluster"}) + to.space + ".u32 [" + to.at + "+" + text(4 * r) + "], %t14");
    switch (below(4)) {
      case 0:
        line("bar.sync 0");
        line("@%p1 " + arrive + ", " + text(threads_));
        break;
      case 1:
        line("mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 " + at + ", 20");
        line(arrive);
        line("mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 " + at + ", 20");
        break;
      case 2:
        if (threads_ > 32 && r + 1 == rounds) {
          line("setp.lt.u32 %p3, %me, 32");
          line("@%p3 mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, " + at);
          line("@!%p3 " + arrive);
          break;
        }
        line("@!%p1 " + arrive);
        line("@%p1 mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, " + at + ", 32");
        line("@%p1 mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 " + at + ", 32");
        break;
      default: line(arrive);
    }
    await_in_cluster(r % 2);
    line("ld.shared.u32 %t17, [%t1+" + text(4 * r) + "]");
    made("%t18", "%t11", "%me", r);
    check("%t17", "%t18");
    keep("%t17");
    // Nobody arrives for the next phase as long as somebody waits for this one.
    meet_cluster();
  }
  end_mbarrier();
}

void PartWriter::copies_between() {
  struct Reduction {
    const char *name, *plain;
  };
  static const Reduction kReductions[] = {
      {"add.u32", "add.u32"}, {"add.s32", "add.u32"}, {"min.s32", "min.s32"}, {"max.u32", "max.u32"},
      {"xor.b32", "xor.b32"}, {"and.b32", "and.b32"}, {"or.b32", "or.b32"},   {"add.u64", "add.u32"}};
  constexpr unsigned kTo = 2048;
  const Reduction& reduction = kReductions[below(sizeof kReductions / sizeof *kReductions)];
  const bool adds = coin();
  const unsigned bytes = 16 * threads_, start = below(1U << 30U), form = below(2),
                 ranks = 1 + below((1U << cluster_) - 1);
  places();
  line("mad.lo.u32 %t4, %me, 16, %t2");
  made("%t14", "%cta", "%me", 0);
  line("st.shared.v4.u32 [%t4], {%t14, " + x() + ", " + x() + ", " + x() + "}");
  line("mov.u32 %t15, " + text(start));
  line("st.shared.v4.u32 [%t4+" + text(kTo) + "], {%t15, %t15, %t15, %t15}");
  begin_exchange(1);
  peer(below(cluster_));
  const unsigned split = coin() ? 0 : 16 * (1 + below(threads_ - 1));
  const auto send = [&](const std::string& name, const std::string& operation) {
    line("add.u32 %t5, %t2, " + text(kTo));
    const Remote to = remote("%t5", 0, form), object = remote("%t0", 1, form);
    const std::string how = "@%p1 " + name +
                            ".async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes" +
                            operation + " [" + to.at;
    if (split != 0) line(how + "], [%t2], " + text(split) + ", [" + object.at + "]");
    line(how + "+" + text(split) + "], [%t2+" + text(split) + "], " + text(bytes - split) + ", [" +
         object.at + "]");
  };
  if (adds) {
    for (unsigned r = 0; r < cluster_; ++r) {
      if ((ranks >> r & 1U) == 0) continue;
      line("mov.u32 %t10, " + text(r));
      send("cp.reduce", "." + std::string(reduction.name));
    }
    line("shr.u32 %t16, " + text(ranks) + ", %t12");
    line("and.b32 %t16, %t16, 1");
    line("mul.lo.u32 %t16, %t16, " + text(cluster_ * bytes));
    expect_bytes("%t16");
  } else {
    send("cp", "");
    expect_bytes(text(bytes));
  }
  await_in_cluster(0);
  // Nobody writes what others still copy.
  meet_cluster();
  line("ld.shared.v4.u32 {%t17, %t25, %t26, %t27}, [%t4+" + text(kTo) + "]");
  if (adds) {
    line("mov.u32 %t18, %t15");
    for (unsigned r = 0; r < cluster_; ++r) {
      line("sub.u32 %t19, %cta, %rank");
      line("add.u32 %t19, %t19, " + text(r));
      made("%t20", "%t19", "%me", 0);
      line(reduction.plain + std::string(" %t18, %t18, %t20"));
    }
    line("shr.u32 %t16, " + text(ranks) + ", %rank");
    line("and.b32 %t16, %t16, 1");
    line("setp.ne.u32 %p3, %t16, 0");
    line("selp.b32 %t18, %t18, %t15, %p3");
  } else {
    made("%t18", "%t11", "%me", 0);
  }
  check("%t17", "%t18");
  keep("%t25");
  keep("%t27");
  end_mbarrier();
}

void PartWriter::multicast() {
  struct Copy {
    unsigned from, bytes, to, ranks;
  };
  std::vector<Copy> copies;
  for (unsigned r = 0, at = 0; r < cluster_; ++r) {
    Copy c{16 * below(kInputWords / 4 - 64), 16 * (1 + below(60)), at, 1 + below((1U << cluster_) - 1)};
    if (r > 0 && below(3) == 0) c.ranks = 0;  // that CTA sends nothing
    copies.push_back(c);
    at += c.bytes;
  }
  begin_exchange(1);
  peer(0);
  line("mov.u32 %t16, 0");
  for (unsigned r = 0; r < cluster_; ++r) {
    const Copy& c = copies[r];
    line("shr.u32 %t5, " + text(c.ranks) + ", %t12");
    line("and.b32 %t5, %t5, 1");
    line("mad.lo.u32 %t16, %t5, " + text(c.bytes) + ", %t16");
    if (c.ranks == 0) continue;
    line("setp.eq.and.u32 %p3, %rank, " + text(r) + ", %p1");
    line("add.u64 %d1, %in, " + text(c.from));
    line("mov.u16 %h1, " + text(c.ranks));
    line("@%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%t2+" +
         text(c.to) + "], [%d1], " + text(c.bytes) + ", [%t0], " + (coin() ? "%h1" : text(c.ranks)));
  }
  expect_bytes("%t16");
  await_in_cluster(0);
  for (const Copy& c : copies) {
    line("shr.u32 %t5, " + text(c.ranks) + ", %rank");
    line("and.b32 %t5, %t5, 1");
    line("setp.ne.u32 %p3, %t5, 0");
    line("mul.lo.u32 %t5, %me, " + text(4 * (1 + 2 * below(4))));
    line("rem.u32 %t5, %t5, " + text(c.bytes));
    line("cvt.u64.u32 %d1, %t5");
    line("add.u64 %d1, %d1, %in");
    line("add.u32 %t5, %t5, %t2");
    line("mov.u32 %t20, 0");
    line("mov.u32 %t21, 0");
    line("@%p3 ld.shared.u32 %t20, [%t5+" + text(c.to) + "]");
    line("@%p3 ld.global.u32 %t21, [%d1+" + text(c.from) + "]");
    check("%t20", "%t21");
    keep("%t20");
  }
  end_mbarrier();
}

void PartWriter::multicast_of_boxes() {
  struct Copy {
    int x, y;
    unsigned ranks;
  };
  std::vector<Copy> copies;
  for (unsigned r = 0; r < cluster_; ++r) {
    Copy c{static_cast<int>(below(kRow + 8)) - 6, static_cast<int>(below(kRows + 8)) - 6,
           1 + below((1U << cluster_) - 1)};
    if (r > 0 && below(3) == 0) c.ranks = 0;
    copies.push_back(c);
  }
  begin_exchange(1);
  peer(0);
  own_map("%d1", "tm");
  line("mov.u32 %t16, 0");
  for (unsigned r = 0; r < cluster_; ++r) {
    const Copy& c = copies[r];
    line("shr.u32 %t5, " + text(c.ranks) + ", %t12");
    line("and.b32 %t5, %t5, 1");
    line("mad.lo.u32 %t16, %t5, " + text(kBoxBytes) + ", %t16");
    if (c.ranks == 0) continue;
    line("setp.eq.and.u32 %p3, %rank, " + text(r) + ", %p1");
    line("mov.u32 %t5, " + signed_text(c.x));
    line("mov.u16 %h1, " + text(c.ranks));
    line(
        "@%p3 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%t2+" +
        text(r * kBoxBytes) + "], [%d1, {%t5, " + signed_text(c.y) + "}], [%t0], %h1");
  }
  expect_bytes("%t16");
  await_in_cluster(0);
  line("add.u32 %t7, %me, " + text(below(kBox * kBox - threads_)));
  for (const Copy& c : copies) {
    const std::string end = label();
    line("shr.u32 %t5, " + text(c.ranks) + ", %rank");
    line("and.b32 %t5, %t5, 1");
    line("setp.eq.u32 %p3, %t5, 0");
    line("@%p3 bra " + end);
    check_box("%t7", c.x, c.y, {0, kRow, kRow, kRows, swizzled_});
    keep("%t20");
    out_ += end + ":\n";
    line("bar.warp.sync 0xffffffff");
    line("add.u32 %t2, %t2, " + text(kBoxBytes));
  }
  end_mbarrier();
}

void PartWriter::fill() {
  const unsigned start = 8 * below(2 * threads_), bytes = 8 * (1 + below(2 * threads_ - start / 8));
  places();
  line("st.shared.v4.u32 [%t1], {%x0, %x1, %x2, %x3}");
  line("bar.sync 0");
  line("mov.u64 %d5, " + text(bytes));
  if (coin()) {
    line("@%p1 st.bulk.weak.shared::cta [%t0+" + text(kOwn + start) + "], %d5, 0");
  } else {
    line("cvt.u64.u32 %d6, %t0");
    line("cvta.shared.u64 %d6, %d6");
    line("@%p1 st.bulk.weak [%d6+" + text(kOwn + start) + "], %d5, 0");
  }
  line("bar.sync 0");
  line("ld.shared.v4.u32 {%t5, %t6, %t7, %t8}, [%t1]");
  line("shl.b32 %t9, %me, 4");
  line("sub.u32 %t9, %t9, " + text(start));
  for (unsigned k = 0; k < 4; ++k) {
    line("setp.lt.u32 %p2, %t9, " + text(bytes));
    line("selp.b32 %t10, 0, %x" + text(k) + ", %p2");
    check("%t" + text(5 + k), "%t10");
    line("add.u32 %t9, %t9, 4");
  }
  keep("%t5");
  line("bar.sync 0");
}

void PartWriter::own_map(const std::string& to, const char* name) {
  line("mov.b64 " + to + ", " + name);
  line("cvta.param.u64 " + to + ", " + to);
}

/// A map is copied, changed, and put into global memory, whence a copy goes by it.
void PartWriter::changed_map() {
  const unsigned columns = kRow - 4 * below(6), sparse = 1 + below(2), down = below(8);
  const unsigned rows = (kRows - down) / sparse - below(5), right = 4 * below((kRow - columns) / 4 + 1);
  const bool swizzled = coin();
  const View view{down * kRow + right, sparse * kRow, columns, rows, swizzled};
  const int x = static_cast<int>(below(columns + 8)) - 6, y = static_cast<int>(below(rows + 8)) - 6;
  begin_mbarrier(1);
  own_area();
  line("mov.u64 %d2, %d1");
  own_map("%d1", "tm");
  const std::string end = label();
  line("setp.ge.u32 %p3, %me, 32");
  line("@%p3 bra " + end);
  line("mad.wide.u32 %d3, %lane, 4, %d1");
  line("ld.u32 %t5, [%d3]");
  line("add.u32 %t4, %t0, " + text(kTiles));
  line("mad.lo.u32 %t6, %lane, 4, %t4");
  line("st.shared.u32 [%t6], %t5");
  line("bar.warp.sync 0xffffffff");
  line("add.u64 %d4, %matrix, " + text(std::uint64_t{4} * view.first));
  const auto replace = [this](const std::string& field, const std::string& value, bool wide) {
    line("@%p1 tensormap.replace.tile." + field + ".shared::cta.b1024.b" + (wide ? "64" : "32") + " [%t4], " +
         value);
  };
  replace("global_address", "%d4", true);
  line("mov.u32 %t7, " + text(columns));
  replace("global_dim", "0, %t7", false);
  replace("global_dim", "1, " + text(rows), false);
  replace("global_stride", "0, " + text(std::uint64_t{4} * view.stride), true);
  if (coin()) replace("box_dim", "0, " + text(kBox), false);
  if (coin()) replace("elemtype", "2", false);
  replace("swizzle_mode", swizzled ? "2" : "0", false);
  line("bar.warp.sync 0xffffffff");
  line(
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d2], [%t4], "
      "128");
  line("fence.proxy.tensormap::generic.acquire.gpu [%d2], 128");
  line("@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%t0], " + text(kBoxBytes));
  line("mov.u32 %t5, " + signed_text(x));
  line(
      "@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%t2], [%d2, "
      "{%t5, " +
      signed_text(y) + "}], [%t0]");
  out_ += end + ":\n";
  line("bar.warp.sync 0xffffffff");
  await(0);
  line("add.u32 %t7, %me, " + text(below(kBox * kBox - threads_)));
  check_box("%t7", x, y, view);
  keep("%t20");
  end_mbarrier();
}

void PartWriter::four_rows_in() {
  const int column = static_cast<int>(below(kRow + 8)) - 6;
  std::array<int, 4> rows{};
  for (int& r : rows) r = static_cast<int>(below(kRows + 4)) - 2;
  const bool to_several = in_cluster() && coin();
  const unsigned ranks = to_several ? 1 + below((1U << cluster_) - 1) : 0;
  if (to_several)
    begin_exchange(1);
  else
    begin_mbarrier(1);
  own_map("%d1", "tg");
  line("mov.u32 %t5, " + signed_text(column));
  for (unsigned k = 0; k < 4; ++k) line("mov.u32 %t" + text(6 + k) + ", " + signed_text(rows[k]));
  std::string who = "@%p1 ", mask;
  const std::string end = label();
  if (to_several) {
    line("setp.eq.and.u32 %p3, %rank, " + text(below(cluster_)) + ", %p1");
    who = "@%p3 ";
    mask = ", %h1";
    line("mov.u16 %h1, " + text(ranks));
  }
  line(who + "cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes" +
       (to_several ? ".multicast::cluster" : "") + " [%t2], [%d1, {%t5, %t6, %t7, %t8, %t9}], [%t0]" + mask);
  if (to_several) {
    line("shr.u32 %t16, " + text(ranks) + ", %rank");
    line("and.b32 %t16, %t16, 1");
    line("setp.eq.u32 %p3, %t16, 0");
    line("@%p3 bra " + end);
  }
  line("@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%t0], " + text(4 * kBox * 4));
  await(0);
  for (unsigned at = 0; at < 4 * kBox; at += threads_) {
    line("and.b32 %t10, %me, 63");
    line("add.u32 %t10, %t10, " + text(at));
    line("mad.lo.u32 %t20, %t10, 4, %t2");
    line("ld.shared.u32 %t20, [%t20]");
    line("and.b32 %t21, %t10, 15");
    line("add.s32 %t21, %t21, %t5");
    line("shr.u32 %t11, %t10, 4");
    line("mov.u32 %t22, %t6");
    for (unsigned k = 1; k < 4; ++k) {
      line("setp.eq.u32 %p2, %t11, " + text(k));
      line("@%p2 mov.u32 %t22, %t" + text(6 + k));
    }
    check_place({0, kRow, kRow, kRows, false});
    keep("%t20");
  }
  out_ += end + ":\n";
  line("bar.warp.sync 0xffffffff");
  end_mbarrier();
}

void PartWriter::four_rows_out() {
  std::array<unsigned, kBox> rows{};
  for (unsigned r = 0; r < kBox; ++r) rows[r] = r;
  for (unsigned r = 0; r < 4; ++r) std::swap(rows[r], rows[r + below(kBox - r)]);
  places();
  line("setp.lt.u32 %p2, %me, " + text(4 * kBox));
  line("mad.lo.u32 %t5, %me, 4, %t2");
  for (unsigned at = 0; at < 4 * kBox; at += threads_)
    line("@%p2 st.shared.u32 [%t5+" + text(4 * at) + "], " + x());
  line("fence.proxy.async.shared::cta");
  line("bar.sync 0");
  own_map("%d1", "tw");
  line("mad.lo.u32 %t6, %launch, " + text(ctas_) + ", %cta");
  line("mul.lo.u32 %t6, %t6, " + text(kBox));
  for (unsigned k = 0; k < 4; ++k) line("add.u32 %t" + text(10 + k) + ", %t6, " + text(rows[k]));
  line("mov.u32 %t5, " + text(kBox * below(kTensorRow / kBox)));
  line(
      "@%p1 cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%d1, {%t5, %t10, %t11, "
      "%t12, %t13}], [%t2]");
  line("@%p1 cp.async.bulk.commit_group");
  line("@%p1 cp.async.bulk.wait_group 0");
  line("bar.sync 0");
}

/// The matrix, taken as lines of images: pixels from one on, between the corners of a line, then those of the
/// next image.
void PartWriter::lines_of_images() {
  const int last = static_cast<int>(kLine) - 1 + kUpper;
  const unsigned halo = newer_ ? below(4) : 0, offset = below(3), channel = below(3) == 0 ? 4 : 0;
  int w = kLower + static_cast<int>(below(static_cast<unsigned>(last - kLower) + 1)),
      image = static_cast<int>(below(kImages + 1));
  begin_mbarrier(1);
  own_map("%d1", "tl");
  line("mov.u32 %t5, " + text(channel));
  line("mov.u32 %t6, " + signed_text(w));
  line("mov.u32 %t7, " + signed_text(image));
  line("mov.u16 %h1, " + text(newer_ ? halo : offset));
  line("mov.u16 %h2, " + text(offset));
  const unsigned pixels = kPixels + halo;
  line("@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%t0], " + text(pixels * kChannels * 4));
  line("@%p1 cp.async.bulk.tensor.3d.shared::cluster.global.im2col" + std::string(newer_ ? "::w" : "") +
       ".mbarrier::complete_tx::bytes [%t2], [%d1, {%t5, %t6, %t7}], [%t0], {%h1" +
       (newer_ ? ", %h2}" : "}"));
  await(0);
  for (unsigned k = 0; k < 2; ++k) {
    line("add.u32 %t8, %me, " + text(below(pixels * kChannels)));
    line("rem.u32 %t8, %t8, " + text(pixels * kChannels));
    line("shl.b32 %t20, %t8, 2");
    line("shr.u32 %t21, %t20, 3");
    line("and.b32 %t21, %t21, 16");
    line("xor.b32 %t20, %t20, %t21");
    line("add.u32 %t20, %t20, %t2");
    line("ld.shared.u32 %t20, [%t20]");
    line("and.b32 %t21, %t8, 7");
    line("add.u32 %t21, %t21, " + text(channel));
    line("shr.u32 %t9, %t8, 3");
    line("mov.u32 %t22, -1");
    int at = w, in = image;
    for (unsigned p = 0; p < pixels; ++p) {
      const int column = at + static_cast<int>(offset);
      if (column >= 0 && column < static_cast<int>(kLine) && in < static_cast<int>(kImages)) {
        line("setp.eq.u32 %p2, %t9, " + text(p));
        line("@%p2 mov.u32 %t22, " + signed_text(in * static_cast<int>(kLine) + column));
      }
      if (++at > last) at = kLower, ++in;
    }
    check_place({0, kChannels, kChannels, kLine * kImages, false});
    keep("%t20");
  }
  end_mbarrier();
}

}  // namespace warpline::test
