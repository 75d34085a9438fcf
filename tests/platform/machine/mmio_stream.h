#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace warpline::test {

inline constexpr unsigned kStreamWarps = 4;
inline constexpr std::uint64_t kStreamWindow = 1024;  ///< bytes of registers that each thread has to itself

/// What one thread asks of its window: a random sequence, as the kernel below makes it.
struct MmioStream {
  static constexpr std::uint64_t kFactor = 6364136223846793005ULL, kStep = 1442695040888963407ULL;
  std::uint64_t x = 0;
  struct Operation {
    bool store = false;
    unsigned bytes = 0;
    std::uint64_t offset = 0, value = 0;
  };
  Operation next() {
    x = x * kFactor + kStep;
    const unsigned bytes = 1U << ((x >> 61U) & 3U);
    return {(x >> 63U) != 0, bytes, ((x >> 33U) & 0x3FFU) & ~std::uint64_t{bytes - 1}, x};
  }
};

/// The operations of a warp, each step of its loop by size, loads first, and then in the order of the lanes.
class WarpStream {
 public:
  WarpStream(unsigned warp, unsigned lanes) : first_(std::uint64_t{warp} * lanes), streams_(lanes) {
    for (unsigned lane = 0; lane < lanes; ++lane) streams_[lane].x = first_ + lane;
  }
  /// The next, its offset that in the device's memory.
  MmioStream::Operation next() {
    if (at_ == step_.size()) take_step();
    return step_[at_++];
  }

 private:
  void take_step() {
    step_.clear();
    at_ = 0;
    for (unsigned lane = 0; lane < streams_.size(); ++lane) {
      step_.push_back(streams_[lane].next());
      step_.back().offset += (first_ + lane) * kStreamWindow;
    }
    std::stable_sort(step_.begin(), step_.end(), [](const auto& a, const auto& b) {
      return a.bytes != b.bytes ? a.bytes < b.bytes : a.store < b.store;
    });
  }
  std::uint64_t first_;  ///< thread
  std::vector<MmioStream> streams_;
  std::vector<MmioStream::Operation> step_;
  std::size_t at_ = 0;
};

/// Each thread does `%a3` operations on its window, with loads and stores of video and system memory between
/// them.
inline std::string mmio_kernel() {
  std::string s =
      "mov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %ntid.x;\nmov.u32 %r2, %tid.x;\nmad.lo.u32 %r0, %r0, %r1, %r2;\n"
      "cvt.u64.u32 %d0, %r0;\nmul.lo.u64 %a4, %d0, 1024;\n"
      "add.u64 %a0, %a0, %a4;\nadd.u64 %a1, %a1, %a4;\nadd.u64 %a2, %a2, %a4;\ncvt.u32.u64 %r1, %a3;\n"
      "LOOP: mad.lo.u64 %d0, %d0, 6364136223846793005, 1442695040888963407;\n"
      "shr.u64 %d1, %d0, 61;\ncvt.u32.u64 %r2, %d1;\nand.b32 %r3, %r2, 3;\nmov.u64 %d2, 1;\n"
      "shl.b64 %d2, %d2, %r3;\nneg.s64 %d2, %d2;\nshr.u64 %d1, %d0, 33;\nand.b64 %d1, %d1, 1023;\n"
      "and.b64 %d1, %d1, %d2;\nadd.u64 %d2, %a0, %d1;\nand.b64 %d3, %d1, 1016;\nadd.u64 %a6, %a1, %d3;\n"
      "add.u64 %a7, %a2, %d3;\nst.global.u32 [%a6], %r2;\nld.global.u32 %r4, [%a7];\n"
      "st.global.u32 [%a7+4], %r2;\nst.global.u32 [%a6+4], %r4;\ncvt.u32.u64 %r5, %d0;\n"
      "cvt.u16.u64 %h0, %d0;\n";
  struct Size {
    const char *type, *value, *into;
  };
  const Size sizes[] = {
      {"u8", "%r5", "%r6"}, {"u16", "%h0", "%h1"}, {"u32", "%r5", "%r6"}, {"u64", "%d0", "%d3"}};
  for (unsigned n = 0; n < 4; ++n) {
    s += "setp.eq.u32 %p, %r2, " + std::to_string(n) + ";\n@%p ld.mmio.relaxed.sys.global." + sizes[n].type +
         " " + sizes[n].into + ", [%d2];\n";
    s += "setp.eq.u32 %p, %r2, " + std::to_string(n + 4) + ";\n@%p st.mmio.relaxed.sys.global." +
         sizes[n].type + " [%d2], " + sizes[n].value + ";\n";
  }
  return s + "sub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p, %r1, 0;\n@%p bra LOOP;\n";
}

}  // namespace warpline::test
