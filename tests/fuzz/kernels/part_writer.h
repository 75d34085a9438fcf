#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rtl_models/base/random.h"

namespace warpline::test {

/// Where a mixed kernel has what. Of shared memory: mbarriers, and the answers of launch control; 16 bytes
/// for each thread; a buffer of bulk copies; tiles of wgmma, and tensor maps that are changed.
struct MixedLayout {
  static constexpr unsigned kAsked = 8, kAnswer = 16, kOwn = 128, kBuffer = 4096, kTiles = 8192,
                            kSharedBytes = 16384;
  static constexpr unsigned kMostParts = 16, kInputWords = 4096, kPartBytes = 1024, kSumWords = 128,
                            kSums = 6, kCounters = 64;
  /// Of the tensors: that which is read, the boxes.
  static constexpr unsigned kRow = 48, kRows = 40, kBox = 16, kBoxBytes = kBox * kBox * 4, kTensorRow = 64;
  /// What is read, once more, as lines of images: channels, pixels of a line, images; pixels of a column.
  static constexpr unsigned kChannels = 8, kLine = 12, kImages = 20, kPixels = 10;
  static constexpr int kLower = -1, kUpper = -1;  ///< corners of the pixels of a line
};

/// What all parts of a kernel know of it.
struct MixedShape {
  unsigned threads = 32;  ///< of a CTA
  unsigned cluster = 1;   ///< CTAs
  unsigned ctas = 1;
  bool cooperative = false;
  bool newer = false;     ///< for sm_100a, not sm_90a
  bool swizzled = false;  ///< boxes of the tensors in shared memory, over 64 bytes
};

/// Writes the parts of one kernel. In %x0 to %x7 every thread carries what it has computed; %t, %d, %f, %h,
/// %g, %q and %p are free, but for %p1, which holds in thread 0. Some parts know what must come out, and
/// count what does not at %errors, a word for each part.
class PartWriter : MixedLayout {
 public:
  PartWriter(Random random, const MixedShape& shape)
      : random_(random),
        threads_(shape.threads),
        cluster_(shape.cluster),
        ctas_(shape.ctas),
        cooperative_(shape.cooperative),
        newer_(shape.newer),
        swizzled_(shape.swizzled) {}

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

  static std::string text(std::uint64_t n) { return std::to_string(n); }

 private:
  [[nodiscard]] bool of_warpgroups() const { return threads_ % 128 == 0; }
  [[nodiscard]] bool multiplies_in_groups() const { return of_warpgroups() && !newer_; }
  [[nodiscard]] bool newer() const { return newer_; }
  [[nodiscard]] bool in_cluster() const { return cluster_ > 1; }
  [[nodiscard]] bool together() const { return cooperative_; }

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
    line("mad.lo.u32 %t1, %me, 16, %t0");
    line("add.u32 %t1, %t1, " + text(kOwn));
    line("add.u32 %t2, %t0, " + text(kBuffer));
  }
  /// %t3: the 16 bytes of the thread `away` further.
  void other(unsigned away) {
    line("add.u32 %t3, %me, " + text(away));
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
      line("mad.lo.u32 %t5, %cta, " + text(1 + below(40)) + ", %me");
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
  void warpgroup() { group_products(false); }
  void images();
  void print();
  void heap();
  void registers();
  void whole_grid();
  void dependents() { line("griddepcontrol.launch_dependents"); }

  void group_products(bool sparse);

  // Written in exchange_parts.cpp.
  struct Remote;
  /// Words of the matrix: the first, from row to row, columns, rows.
  struct View {
    unsigned first, stride, columns, rows;
    bool swizzled;
  };
  void meet_cluster();
  void begin_exchange(unsigned count);
  void await_in_cluster(unsigned parity);
  void expect_bytes(const std::string& bytes);
  void peer(unsigned away);
  Remote remote(const std::string& own, unsigned slot, unsigned form);
  void made(const std::string& to, const std::string& cta, const std::string& thread, unsigned salt);
  void check(const std::string& got, const std::string& wanted);
  void check_place(const View& v);
  void check_box(const std::string& number, int x, int y, const View& v);
  void own_map(const std::string& to, const char* name);
  void asynchronous_stores();
  void remote_arrivals();
  void copies_between();
  void multicast();
  void multicast_of_boxes();
  void fill();
  void sparse_warpgroup() { group_products(true); }
  void changed_map();
  void four_rows_in();
  void four_rows_out();
  void lines_of_images();

  Random random_;
  unsigned threads_, cluster_, ctas_;
  bool cooperative_, newer_, swizzled_;
  unsigned n_ = 0, labels_ = 0;
  std::string out_;
};

}  // namespace warpline::test
