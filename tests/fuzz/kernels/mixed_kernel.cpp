#include "tests/fuzz/kernels/mixed_kernel.h"

#include <algorithm>
#include <initializer_list>

#include "tests/fuzz/kernels/part_writer.h"

namespace warpline::test {
namespace {

std::string text(std::uint64_t n) {
  return std::to_string(n);
}

/// What lies around the parts.
///
/// One that cancels asks the work distributor, before the parts or behind them, for a CTA, or cluster, that
/// has not begun, and does what that one would have done; until there is none.
struct Frame {
  bool reallocates = false, cancels = false, asks_first = false;
};

std::string module_of(const std::string& body, const MixedShape& shape, const Frame& frame) {
  std::string s = shape.newer ? ".version 8.8\n.target sm_100a\n" : ".version 8.6\n.target sm_90a\n";
  s += ".address_size 64\n"
       ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
       ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n"
       ".global .align 1 .b8 format[10] = {37, 117, 58, 32, 37, 120, 10, 0, 0, 0};\n"
       ".visible .entry k(";
  const char* const kAddresses[] = {"in",     "out",  "area",   "sums", "counters",
                                    "errors", "done", "matrix", "tex",  "surf"};
  for (const char* name : kAddresses) s += ".param .u64 " + std::string(name) + "_, ";
  for (const char* name : {"tm", "tt", "ts", "tg", "tw", "tl"})
    s += ".param .align 64 .b8 " + std::string(name) + "[128], ";
  s += ".param .u32 launch_)\n";
  if (frame.reallocates) s += ".maxnreg 64\n";
  s += ".maxntid " + text(shape.threads) +
       ", 1, 1\n{\n"
       ".reg .b32 %x<8>, %t<40>;\n.reg .b64 %d<16>;\n.reg .f32 %f<40>;\n.reg .b16 %h<8>;\n.reg .f64 "
       "%g<8>;\n.reg .pred %p<8>;\n.reg .b128 %q<2>;\n"
       ".reg .b32 %me, %lane, %cta, %rank, %launch, %pairs, %phase;\n.shared .align 1024 .b8 s[" +
       text(MixedLayout::kSharedBytes) + "];\n.local .align 8 .b8 args[16];\n";
  for (const char* name : kAddresses) {
    s += ".reg .b64 %" + std::string(name) + ";\n";
    s += "ld.param.u64 %" + std::string(name) + ", [" + name + "_];\n";
  }
  s += "ld.param.u32 %launch, [launch_];\nmov.u32 %me, %tid.x;\nmov.u32 %lane, %laneid;\nmov.u32 %cta, "
       "%ctaid.x;\nmov.u32 %rank, %cluster_ctarank;\n"
       "mov.u32 %pairs, 0x44444444;\nsetp.eq.u32 %p1, %me, 0;\n";
  // What the first launch left is there.
  s += "griddepcontrol.wait;\n";
  const bool cluster = shape.cluster > 1;
  const std::string meet = cluster ? "barrier.cluster.arrive;\nbarrier.cluster.wait;\n" : "bar.sync 0;\n";
  const std::string asked = "[s+" + text(MixedLayout::kAsked) + "]";
  const std::string answer = "[s+" + text(MixedLayout::kAnswer) + "]";
  std::string ask = "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, " + asked + ", 16;\n";
  if (cluster) ask += "setp.eq.and.u32 %p2, %rank, 0, %p1;\n";
  ask += cluster ? "@%p2 " : "@%p1 ";
  ask += "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes" +
         std::string(cluster ? ".multicast::cluster::all" : "") + ".b128 " + answer + ", " + asked + ";\n";
  if (frame.cancels)
    s += "mov.u32 %phase, 0;\n@%p1 mbarrier.init.shared.b64 " + asked +
         ", 1;\nfence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;\n" + meet + "AGAIN:\n";
  s += "mad.lo.u32 %t0, %cta, " + text(shape.threads) +
       ", %me;\nmad.wide.u32 %d0, %t0, 32, %out;\n"
       "ld.global.v4.u32 {%x0, %x1, %x2, %x3}, [%d0];\nld.global.v4.u32 {%x4, %x5, %x6, %x7}, [%d0+16];\n";
  for (unsigned i = 0; i < 8; ++i)
    s += "mad.lo.u32 %x" + text(i) + ", %t0, " + text(2654435761U + 40503U * i) + ", %x" + text(i) + ";\n";
  if (frame.cancels && frame.asks_first) s += ask;
  s += body;
  s += "mad.lo.u32 %t0, %cta, " + text(shape.threads) + ", %me;\nmad.lo.u32 %t1, %launch, " +
       text(shape.ctas * shape.threads) +
       ", %t0;\nmad.wide.u32 %d1, %t1, 32, %out;\n"
       "st.global.v4.u32 [%d1], {%x0, %x1, %x2, %x3};\nst.global.v4.u32 [%d1+16], {%x4, %x5, %x6, "
       "%x7};\nmad.lo.u32 %t1, %launch, " +
       text(shape.ctas) + ", %cta;\nmad.wide.u32 %d1, %t1, 4, %done;\n@%p1 red.global.add.u32 [%d1], 1;\n";
  if (frame.cancels) {
    if (!frame.asks_first) s += ask;
    s += "AWAIT:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, " + asked +
         ", %phase;\n@!%p2 bra AWAIT;\nxor.b32 %phase, %phase, 1;\nld.shared.b128 %q0, " + answer +
         ";\nclusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q0;\n"
         "@%p2 clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %cta, %q0;\n"
         "@%p2 add.u32 %cta, %cta, %rank;\nfence.proxy.async.shared::cta;\n" +
         meet + "@%p2 bra AGAIN;\n";
  }
  return s + "ret;\n}\n";
}

}  // namespace

MixedKernel mixed_kernel(std::uint64_t seed, const GpuConfig& config, std::uint64_t kept) {
  using L = MixedLayout;
  Random random(splitmix64(seed ^ 0x6D69786564ULL));
  const auto pick = [&random](std::initializer_list<unsigned> list) {
    return *(list.begin() + random.below(list.size()));
  };
  const unsigned most_warps = std::min(4U, config.sm.warp_slots);
  MixedShape shape;
  unsigned& threads = shape.threads;
  threads = 32 * pick({1, 2, 4, 4});
  while (threads / 32 > most_warps) threads /= 2;
  unsigned in_gpc = 0;
  for (unsigned i = 0; i < config.sms; ++i) in_gpc += i / config.sms_per_tpc % config.gpcs == 0;
  const unsigned together =
      std::min(config.sm.warp_slots / (threads / 32), config.sm.shared_bytes / (2 * L::kSharedBytes));
  shape.cluster = std::min(pick({1, 2, 2, 3, 4}), std::max(1U, in_gpc * together));
  shape.cooperative = shape.cluster == 1 && random.below(2) == 0;
  shape.newer = random.below(2) == 0;
  shape.swizzled = random.below(2) == 0;
  Frame frame;
  frame.cancels = shape.newer && !shape.cooperative && random.below(2) == 0;
  frame.asks_first = random.below(2) == 0;
  shape.ctas = shape.cooperative ? std::min(pick({1, 2, 3, 4}), config.sms)
                                 : shape.cluster * (frame.cancels ? pick({2, 4, 6}) : pick({1, 2, 3}));
  const unsigned ctas = shape.ctas;
  const bool dependent = !shape.cooperative && random.below(3) == 0;

  MixedKernel k;
  k.dependent = dependent;
  PartWriter writer(random, shape);
  std::string body;
  for (unsigned n = 0, count = pick({3, 5, 8, 12}); n < count; ++n) {
    const PartWriter::Kind* kind = nullptr;
    do {
      kind = &PartWriter::kinds()[random.below(PartWriter::kinds().size())];
    } while (!writer.fits(*kind));
    const Random own(splitmix64(random.next()));
    k.parts.emplace_back(kind->name);
    if ((kept >> n & 1U) == 0) continue;
    frame.reallocates |= k.parts.back() == "registers";
    body += writer.part(*kind, n, own);
  }
  k.ptx = module_of(body, shape, frame);

  const auto buffer = [&k](const std::string& name, unsigned words, const std::string& init) {
    std::string s = "[[launch.argument]]\nbuffer = \"" + name + "\"\n";
    if (words == 0) return s;
    s += "type = \"u32\"\ncount = " + text(words) + "\n" + init + "\n";
    if (name == "in" || name == "matrix") return s;
    k.files.push_back(name + ".bin");
    return s + "dump = \"" + name + ".bin\"\n";
  };
  const std::string swizzle = shape.swizzled ? "64B" : "none";
  const std::string filter = random.below(2) == 0 ? "point" : "linear";
  for (unsigned n = 0; n < 2; ++n) {
    const auto words = [n](unsigned count) { return n == 0 ? count : 0; };
    // Declares the buffer, but for the matrix and what is there already.
    const auto map = [&](const std::string& name, unsigned columns, unsigned rows, unsigned box_rows,
                         bool declares) {
      std::string s = "[[launch.argument]]\ntensor_map = { buffer = \"" + name + "\", shape = [" +
                      text(columns) + ", " + text(rows) + "], box = [" + text(L::kBox) + ", " +
                      text(box_rows) + "], swizzle = \"" + (box_rows == 1 ? "none" : swizzle) + "\" }\n";
      if (n != 0 || !declares) return s;
      s += "type = \"u32\"\ncount = " + text(columns * rows) + "\n";
      k.files.push_back(name + ".bin");
      return s + "dump = \"" + name + ".bin\"\n";
    };
    k.launch += "[[launch]]\nmodule = \"k.ptx\"\nkernel = \"k\"\ngrid = [" + text(ctas) + "]\nblock = [" +
                text(threads) + "]\n";
    if (shape.cluster > 1) k.launch += "cluster = [" + text(shape.cluster) + ", 1, 1]\n";
    if (shape.cooperative) k.launch += "cooperative = true\n";
    if (dependent && n == 1) k.launch += "dependent = true\n";
    k.launch +=
        buffer("in", words(L::kInputWords), "init = { random = { seed = " + text(seed % 1000) + " } }");
    k.launch += buffer("out", words(2 * ctas * threads * 8), "");
    k.launch += buffer("area", words(2 * ctas * L::kMostParts * L::kPartBytes / 4), "");
    k.launch += buffer("sums", words(L::kSums * L::kSumWords), "init = { random = { seed = 3 } }");
    k.launch += buffer("counters", words(L::kCounters), "");
    k.launch += buffer("errors", words(L::kMostParts), "expect = { value = 0 }");
    k.launch += buffer("done", words(2 * ctas), "expect = { value = 1 }");
    k.launch += buffer("matrix", words(L::kRow * L::kRows), "init = { random = { seed = 5 } }");
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
    k.launch += map("matrix", L::kRow, L::kRows, L::kBox, false) +
                map("tout", L::kTensorRow, 2 * L::kBox * ctas, L::kBox, true) +
                map("tsum", L::kBox, L::kBox, L::kBox, true) + map("matrix", L::kRow, L::kRows, 1, false) +
                map("tout", L::kTensorRow, 2 * L::kBox * ctas, 1, false);
    k.launch += "[[launch.argument]]\ntensor_map = { buffer = \"matrix\", shape = [" + text(L::kChannels) +
                ", " + text(L::kLine) + ", " + text(L::kImages) + "], swizzle = \"32B\", im2col = { " +
                (shape.newer ? "wide = true, " : "") + "lower = [" + std::to_string(L::kLower) +
                "], upper = [" + std::to_string(L::kUpper) + "], channels = " + text(L::kChannels) +
                ", pixels = " + text(L::kPixels) + " } }\n";
    k.launch += "[[launch.argument]]\nscalar = " + text(n) + "\ntype = \"u32\"\n";
  }
  return k;
}

}  // namespace warpline::test
