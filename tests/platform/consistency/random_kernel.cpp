#include "tests/platform/consistency/random_kernel.h"

#include <initializer_list>
#include <vector>

namespace warpline::litmus::test {
namespace {

class KernelWriter {
 public:
  explicit KernelWriter(Random& random) : random_(random) {
    scopes_ = one_in(2) ? std::vector<std::string>{"gpu", "sys"} : std::vector<std::string>{"cta", "gpu"};
    bytes_ = one_in(3);
    values_ = 1 + static_cast<unsigned>(random_.below(4));
    apart_ = one_in(3) ? 8 : 256;
  }

  KernelText run() {
    const auto ctas = 1 + random_.below(3);
    std::string code;
    for (std::uint64_t cta = 0; cta < ctas; ++cta)
      for (const unsigned thread : {0U, 1U, 32U})
        if (thread == 0 || one_in(2)) code += thread_code(static_cast<unsigned>(cta), thread);
    KernelText out;
    out.ptx =
        ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n"
        "  .reg .pred %p<4>;\n  .reg .b16 %h<4>;\n  .reg .b32 %r<8>;\n  .reg .b64 %rd<8>;\n"
        "  .shared .align 8 .b8 s[64];\n"
        "  ld.param.u64 %rd1, [a];\n  mov.u64 %rd2, s;\n  mov.u32 %r1, %ctaid.x;\n"
        "  mov.u32 %r2, %tid.x;\n  mad.lo.u32 %r3, %r1, 64, %r2;\n" +
        code + "END:\n  ret;\n}\n";
    out.launch = "module = \"k.ptx\"\nkernel = \"k\"\ngrid = [" + std::to_string(ctas) +
                 ", 1, 1]\nblock = [64, 1, 1]\n[[argument]]\nbuffer = \"a\"\ntype = \"u32\"\ncount = 256\n" +
                 (one_in(4) ? "aperture = \"sysmem\"\n" : "");
    return out;
  }

 private:
  [[nodiscard]] bool one_in(unsigned n) { return random_.below(n) == 0; }
  std::string pick(const std::vector<std::string>& words) { return words[random_.below(words.size())]; }
  std::string scope() { return pick(scopes_); }
  std::string value() { return std::to_string(random_.below(values_ + 1)); }

  /// A place of `bytes` bytes: its space, and its address.
  std::pair<std::string, std::string> place(unsigned bytes) {
    const auto word = static_cast<unsigned>(random_.below(2));
    const unsigned part = bytes < 4 ? bytes * static_cast<unsigned>(random_.below(4 / bytes)) : 0;
    if (one_in(5)) return {".shared", "[%rd2+" + std::to_string(word * 8 + part) + "]"};
    return {pick({".global", ".global", ""}), "[%rd1+" + std::to_string(word * apart_ + part) + "]"};
  }
  unsigned size() { return bytes_ ? 1U << random_.below(4) : 4; }
  static std::string type(unsigned bytes) { return ".u" + std::to_string(8 * bytes); }
  static std::string reg(unsigned bytes) { return bytes <= 2 ? "%h1" : bytes == 4 ? "%r4" : "%rd3"; }

  std::string load() {
    const unsigned bytes = size();
    const auto [space, at] = place(bytes);
    const std::string rest = type(bytes) + " " + reg(bytes) + ", " + at + ";\n";
    const bool global = space == ".global";
    switch (random_.below(9)) {
      case 0:
      case 1: return "  ld.relaxed." + scope() + space + rest;
      case 2:
      case 3: return "  ld.acquire." + scope() + space + rest;
      case 4: return "  ld.volatile" + space + rest;
      case 5:
        if (global && one_in(2)) return "  ld.global.nc" + rest;
        if (global) return "  ld.mmio.relaxed.sys.global" + rest;
        return "  ld" + space + rest;
      case 6:
        if (global) return "  ld.global" + pick({".ca", ".cg", ".cs", ".cv", ".lu"}) + rest;
        return "  ld" + space + rest;
      case 7:
        if (bytes == 4) return "  ld" + space + ".v2.u32 {%r4, %r5}, " + at + ";\n";
        return "  ld" + space + rest;
      default: return "  ld" + space + rest;
    }
  }

  std::string store() {
    const unsigned bytes = size();
    const auto [space, at] = place(bytes);
    const std::string set = "  mov" +
                            std::string(bytes == 8   ? ".u64 "
                                        : bytes == 4 ? ".u32 "
                                                     : ".u16 ") +
                            reg(bytes) + ", " + value() + ";\n";
    const std::string rest = type(bytes) + " " + at + ", " + reg(bytes) + ";\n";
    const bool global = space == ".global";
    switch (random_.below(8)) {
      case 0:
      case 1: return set + "  st.relaxed." + scope() + space + rest;
      case 2:
      case 3: return set + "  st.release." + scope() + space + rest;
      case 4: return set + "  st.volatile" + space + rest;
      case 5: return set + (global ? "  st.mmio.relaxed.sys.global" + rest : "  st" + space + rest);
      case 6: return set + "  st" + space + (global ? pick({".wb", ".cg", ".cs", ".wt"}) : "") + rest;
      default: return set + "  st" + space + rest;
    }
  }

  std::string atomic() {
    const auto [space, at] = place(4);
    const std::string how = pick({".relaxed.", ".acquire.", ".release.", ".acq_rel."}) + scope() + space;
    switch (random_.below(4)) {
      case 0: return "  atom" + how + ".exch.b32 %r4, " + at + ", " + value() + ";\n";
      case 1: return "  atom" + how + ".cas.b32 %r4, " + at + ", " + value() + ", " + value() + ";\n";
      case 2: return "  atom" + how + ".add.u32 %r4, " + at + ", " + value() + ";\n";
      default:
        return "  red" + pick({".relaxed.", ".release."}) + scope() + space +
               pick({".add.u32 ", ".max.u32 ", ".or.b32 "}) + at + ", " + value() + ";\n";
    }
  }

  std::string between() {
    switch (random_.below(5)) {
      case 0: return "  fence.sc." + scope() + ";\n";
      case 1: return "  fence.acq_rel." + scope() + ";\n";
      case 2: return "  membar." + pick({"cta", "gl", "sys"}) + ";\n";
      case 3: return "  nanosleep.u32 " + std::to_string(random_.below(400)) + ";\n";
      default: return "  bar.sync 0;\n";
    }
  }

  std::string thread_code(unsigned cta, unsigned thread) {
    const std::string label = "L" + std::to_string(labels_++);
    std::string code =
        "  setp.ne.u32 %p1, %r3, " + std::to_string(cta * 64 + thread) + ";\n  @%p1 bra " + label + ";\n";
    const auto operations = 2 + random_.below(9);
    for (std::uint64_t n = 0; n < operations; ++n) {
      switch (random_.below(8)) {
        case 0:
        case 1: code += between(); break;
        case 2: code += atomic(); break;
        case 3:
        case 4: code += store(); break;
        default: code += load(); break;
      }
      code += use();
    }
    return code + "  bra END;\n" + label + ":\n";
  }

  /// A warp that ends does not wait for values that nobody uses.
  static std::string use() {
    return "  add.u32 %r6, %r4, %r5;\n  add.u16 %h2, %h1, 1;\n  add.u64 %rd4, %rd3, 1;\n";
  }

  Random& random_;
  std::vector<std::string> scopes_;
  bool bytes_ = false;
  unsigned values_ = 1, apart_ = 8, labels_ = 0;
};

}  // namespace

KernelText random_kernel(Random& random) {
  return KernelWriter(random).run();
}

}  // namespace warpline::litmus::test
