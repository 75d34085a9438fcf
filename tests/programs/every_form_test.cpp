// Every opcode with its qualifiers that public CUDA programs were seen to have runs.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "tests/programs/machine.h"

namespace warpline::test {
namespace every_form_test {

using Words = std::vector<std::string>;

Words words_of(const std::string& form) {
  Words words;
  std::size_t from = 0;
  for (std::size_t dot = 0; dot != std::string::npos; from = dot + 1)
    words.push_back(form.substr(from, (dot = form.find('.', from)) == std::string::npos ? dot : dot - from));
  return words;
}

/// Bits of a type's name, 0 where it is none.
unsigned bits_of(const std::string& word) {
  static const std::map<std::string, unsigned> kBits = {
      {"pred", 1},   {"b8", 8},      {"u8", 8},   {"s8", 8},   {"b16", 16}, {"u16", 16}, {"s16", 16},
      {"f16", 16},   {"bf16", 16},   {"b32", 32}, {"u32", 32}, {"s32", 32}, {"f32", 32}, {"tf32", 32},
      {"f16x2", 32}, {"bf16x2", 32}, {"b64", 64}, {"u64", 64}, {"s64", 64}, {"f64", 64}, {"b128", 128}};
  const auto found = kBits.find(word);
  return found == kBits.end() ? 0 : found->second;
}

/// What a statement is made of: the words of its opcode, and registers by the size of their values. The first
/// of each size is left to results; the others hold 1.
class Form {
 public:
  explicit Form(const std::string& text) : text_(text), words_(words_of(text)) {
    for (const std::string& w : words_)
      if (bits_of(w) != 0) types_.push_back(w);
  }
  [[nodiscard]] const std::string& base() const { return words_[0]; }
  [[nodiscard]] bool has(const std::string& word) const {
    return std::find(words_.begin(), words_.end(), word) != words_.end();
  }
  /// Type number `i` of the opcode, the last from -1 on.
  [[nodiscard]] std::string type(int i) const {
    return types_.at(static_cast<std::size_t>(i < 0 ? static_cast<int>(types_.size()) + i : i));
  }
  [[nodiscard]] std::size_t types() const { return types_.size(); }
  [[nodiscard]] unsigned vector() const { return has("v4") ? 4 : has("v2") ? 2 : 1; }
  /// "FORM a, b, c;"
  [[nodiscard]] std::string with(const Words& operands) const {
    std::string s = text_;
    for (std::size_t i = 0; i < operands.size(); ++i) s += (i == 0 ? " " : ", ") + operands[i];
    return s + ";";
  }

 private:
  std::string text_;
  Words words_, types_;
};

std::string reg(unsigned bits, unsigned number) {
  const std::string n = std::to_string(number);
  return bits == 1 ? "%p" + n : bits <= 16 ? "%h" + n : bits == 32 ? "%r" + n : "%d" + n;
}
std::string reg(const std::string& type, unsigned number) {
  return reg(bits_of(type), number);
}
/// "{%r0, %r1}", of so many registers from `first` on; one stands alone.
std::string list(const std::string& type, unsigned count, unsigned first, bool braces = false) {
  if (count == 1 && !braces) return reg(type, first);
  std::string s = "{";
  for (unsigned i = 0; i < count; ++i) s += (i == 0 ? "" : ", ") + reg(type, first + i);
  return s + "}";
}

/// Where an access of the form's space goes: %d9 holds a generic address of global memory, %d8 one of global
/// memory, %r9 one of shared memory.
std::string place(const Form& f) {
  if (f.has("shared")) return "[%r9]";
  if (f.has("local")) return "[here]";
  if (f.has("const")) return "[constants]";
  if (f.has("param")) return f.base() == "st" ? "[argument]" : "[blob]";
  if (f.has("global")) return "[%d8]";
  return "[%d9]";
}

std::optional<std::string> memory_form(const Form& f) {
  const std::string type = f.type(-1);
  const std::string value = list(type, f.vector(), 2);
  if (f.base() == "ld") return f.with({list(type, f.vector(), 4), place(f)});
  if (f.base() == "st" && f.has("param"))
    return "{ .param .align 16 .b8 argument[16]; .param .b32 answer; " + f.with({place(f), value}) +
           " call (answer), taking, (argument); }";
  if (f.base() == "st" || f.base() == "red") return f.with({place(f), value});
  return f.has("cas") ? f.with({reg(type, 0), place(f), value, reg(type, 3)})
                      : f.with({reg(type, 0), place(f), value});
}

std::optional<std::string> texture_form(const Form& f) {
  const std::string real = f.type(-1);
  const std::string c = real == "f32" ? "%f1" : "%r1";
  const bool integers = f.base() == "tex" && f.type(0) != "f32";
  const std::string kind = f.has("1d")    ? "1d"
                           : f.has("2d")  ? "2d"
                           : f.has("3d")  ? "3d"
                           : f.has("a2d") ? "a2d"
                                          : "cube";
  if (f.base() == "tex") {
    const std::string at = kind == "1d"    ? "{" + c + "}"
                           : kind == "2d"  ? "{" + c + ", " + c + "}"
                           : kind == "a2d" ? "{%r1, " + c + ", " + c + ", " + c + "}"
                                           : "{" + c + ", " + c + ", " + c + ", " + c + "}";
    Words operands = {list(f.type(0), 4, 4),
                      "[%" + std::string(integers ? "integers_" : "texture_") + kind + ", " + at + "]"};
    if (f.has("level")) operands.push_back("%f1");
    return f.with(operands);
  }
  const std::string x = "%r8";
  const std::string at = kind == "1d"   ? "{" + x + "}"
                         : kind == "2d" ? "{" + x + ", " + x + "}"
                                        : "{" + x + ", " + x + ", " + x + ", " + x + "}";
  return f.with({"[%surface_" + kind + ", " + at + "]", list(f.type(-1), f.vector(), 2, true)});
}

/// Registers of a fragment (PTX ISA, "Matrix Fragments for WMMA"): m16n16k16 and its kin.
std::optional<std::string> wmma_form(const Form& f) {
  const bool doubles = f.has("f64");
  const std::string part = f.has("mma") ? "d" : f.has("a") ? "a" : f.has("b") ? "b" : "c";
  const auto fragment = [&](const std::string& type, bool accumulator, unsigned first) {
    if (doubles) return list("f64", accumulator ? 2 : 1, first, true);
    if (accumulator) return list("b32", type == "f16" ? 4 : 8, first, true);
    return list("b32", type == "f16" ? 8 : type == "u8" || type == "s8" ? 2 : 4, first, true);
  };
  if (f.has("mma")) {
    const bool four = f.types() == 4;
    const std::string a = four ? f.type(1) : "f16", b = four ? f.type(2) : "f16";
    return f.with({fragment(f.type(0), true, 10), fragment(a, false, 20), fragment(b, false, 30),
                   fragment(f.type(-1), true, 40)});
  }
  const std::string frag = fragment(f.type(-1), part == "c" || f.has("store"), 10);
  const std::string at = f.has("shared") ? "[%r9]" : f.has("global") ? "[%d8]" : "[%d9]";
  return f.has("store") ? f.with({at, frag, "%r7"}) : f.with({frag, at, "%r7"});
}

std::optional<std::string> statement_of(const std::string& text) {
  const Form f(text);
  const std::string& base = f.base();
  const auto same = [&](unsigned sources) {
    Words operands;
    for (unsigned i = 0; i <= sources; ++i) operands.push_back(reg(f.type(-1), i));
    return f.with(operands);
  };
  static const std::map<std::string, unsigned> kSources = {
      {"add", 2}, {"sub", 2}, {"min", 2},  {"max", 2},  {"and", 2},      {"or", 2},    {"xor", 2},
      {"div", 2}, {"rem", 2}, {"addc", 2}, {"subc", 2}, {"copysign", 2}, {"fma", 3},   {"madc", 3},
      {"neg", 1}, {"not", 1}, {"abs", 1},  {"rcp", 1},  {"sqrt", 1},     {"rsqrt", 1}, {"sin", 1},
      {"cos", 1}, {"lg2", 1}, {"ex2", 1},  {"brev", 1}, {"mov", 1},      {"prmt", 3},  {"bmsk", 2}};
  if (const auto found = kSources.find(base); found != kSources.end()) return same(found->second);
  if (base == "mul" || base == "mad") {
    const std::string wide = reg(f.has("wide") ? bits_of(f.type(-1)) * 2 : bits_of(f.type(-1)), 0);
    Words operands = {f.has("wide") && bits_of(f.type(-1)) == 16 ? "%r0" : wide, reg(f.type(-1), 1),
                      reg(f.type(-1), 2)};
    if (base == "mad")
      operands.push_back(f.has("wide") ? reg(bits_of(f.type(-1)) * 2, 3) : reg(f.type(-1), 3));
    return f.with(operands);
  }
  if (base == "shl" || base == "shr") return f.with({reg(f.type(-1), 0), reg(f.type(-1), 1), "%r2"});
  if (base == "shf") return same(3);
  if (base == "setp") return f.with({"%p0", reg(f.type(-1), 1), reg(f.type(-1), 2)});
  if (base == "set") return f.with({reg(f.type(0), 0), reg(f.type(1), 1), reg(f.type(1), 2)});
  if (base == "selp") return f.with({reg(f.type(-1), 0), reg(f.type(-1), 1), reg(f.type(-1), 2), "%p1"});
  if (base == "cvt") {
    const bool packed = f.type(0) == "f16x2" || f.type(0) == "bf16x2";
    Words operands = {reg(f.type(0), 0), reg(f.type(-1), 1)};
    if (packed) operands.push_back(reg(f.type(-1), 2));
    return f.with(operands);
  }
  if (base == "popc" || base == "clz" || base == "bfind") return f.with({"%r0", reg(f.type(-1), 1)});
  if (base == "bfi")
    return f.with({reg(f.type(-1), 0), reg(f.type(-1), 1), reg(f.type(-1), 2), "%r3", "%r4"});
  if (base == "dp4a" || base == "vabsdiff4") return f.with({"%r0", "%r1", "%r2", "%r3"});
  if (base == "cvta") return f.with({"%d0", f.has("to") ? "%d9" : "%d1"});
  if (base == "ld" || base == "st" || base == "atom" || base == "red") return memory_form(f);
  if (base == "tex" || base == "sust") return texture_form(f);
  if (base == "wmma") return wmma_form(f);
  if (base == "vote") return f.with({f.has("ballot") ? "%r0" : "%p0", "%p1", "-1"});
  if (base == "shfl") return f.with({"%r0|%p0", "%r1", "%r2", "31", "-1"});
  if (base == "match") return f.with({"%r0", reg(f.type(-1), 1), "-1"});
  if (base == "redux") return f.with({"%r0", "%r1", "-1"});
  if (base == "activemask") return f.with({"%r0"});
  if (base == "nanosleep") return f.with({"%r1"});
  if (base == "barrier") return f.with({"1"});
  if (base == "bar")
    return f.has("warp") ? f.with({"-1"}) : f.has("red") ? f.with({"%p0", "1", "%p1"}) : f.with({"1"});
  if (base == "membar" || base == "fence" || base == "ret" || base == "exit" || base == "trap")
    return f.with({});
  if (base == "bra") return "@%p1 " + f.with({"next"}) + " next:";
  if (base == "call")
    return "{ .param .align 16 .b8 argument[16]; .param .b32 answer; st.param.b32 [argument], %r1; " +
           f.with({"(answer)", "taking", "(argument)"}) + " }";
  if (base == "prefetch") return f.with({place(f)});
  if (base == "cp")
    return f.has("mbarrier")       ? "mbarrier.init.shared.b64 [%r9], 1; " + f.with({"[%r9]"})
           : f.has("commit_group") ? f.with({})
           : f.has("wait_group")   ? f.with({"0"})
                                   : f.with({"[%r9]", "[%d8]", f.has("cg") ? "16" : "4"});
  if (base == "mbarrier") {
    const std::string init = "mbarrier.init.shared.b64 [%r9], 32; ";
    const std::string arrive = "mbarrier.arrive.shared.b64 %d0, [%r9]; ";
    if (f.has("init")) return f.with({"[%r9]", "32"});
    if (f.has("inval")) return init + "@%p2 " + f.with({"[%r9]"});
    if (f.has("arrive")) return init + f.with({"%d0", "[%r9]"});
    return init + arrive + f.with({"%p0", "[%r9]", f.has("parity") ? "0" : "%d0"});
  }
  return std::nullopt;
}

constexpr const char* kPreamble = R"(.version 9.0
.target sm_90
.address_size 64
.const .align 16 .b8 constants[16];
.func (.param .b32 out) taking(.param .align 16 .b8 in[16]) {
  .reg .b32 %r;
  ld.param.b32 %r, [in];
  st.param.b32 [out], %r;
  ret;
}
)";

const std::vector<std::string> kImages = {"texture_1d",   "texture_2d",  "texture_3d",  "texture_a2d",
                                          "texture_cube", "integers_1d", "integers_2d", "surface_1d",
                                          "surface_2d",   "surface_3d",  "surface_a2d"};

/// Lanes access 16 bytes each, one after the other; matrices begin at the first. Parameters: memory, the
/// images.
std::string kernel_of(const std::string& name, const std::string& statement) {
  std::string k = ".entry " + name + "(.param .u64 memory";
  for (const std::string& i : kImages) k += ", .param .u64 " + i;
  k += ", .param .align 16 .b8 blob[16]) {\n.reg .pred %p<9>; .reg .b16 %h<19>; .reg .b32 %r<60>; .reg .f32 "
       "%f<9>; .reg .b64 %d<60>;\n"
       ".shared .align 16 .b8 tile[4096]; .local .align 16 .b8 here[16];\n"
       "mov.u32 %r7, 16; mov.u32 %r8, 0; mov.u32 %r9, tile; ld.param.u64 %d8, [memory]; mov.b64 %d9, %d8; "
       "mov.f32 %f1, "
       "0f3F800000;\n";
  for (const std::string& i : kImages) k += ".reg .b64 %" + i + "; ld.param.u64 %" + i + ", [" + i + "];";
  k += "\nsetp.eq.u32 %p1, %r7, 16;";
  for (unsigned n = 1; n <= 6; ++n)
    k += "mov.b16 %h" + std::to_string(n) + ", 1; mov.b32 %r" + std::to_string(n) + ", 1; mov.b64 %d" +
         std::to_string(n) + ", 1;";
  return k + "\n.reg .b32 %lane; mov.u32 %lane, %laneid; setp.eq.u32 %p2, %lane, 0;\n" + statement +
         "\nret;\n}\n";
}

/// The first column of the table, without its title.
std::vector<std::string> forms_of(const std::string& path) {
  std::ifstream in(path);
  std::vector<std::string> forms;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) forms.push_back(line.substr(0, line.find('\t')));
  return forms;
}

TEST(EveryForm, OfPublicPrograms) {
  const std::string path = std::string(WARPLINE_SOURCE_DIR) + "/../shared/facts/cuda_opcodes.tsv";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const std::vector<std::string> forms = forms_of(path);
  ASSERT_GE(forms.size(), 500U);
  std::string text = kPreamble;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const auto statement = statement_of(forms[i]);
    ASSERT_TRUE(statement) << forms[i];
    text += kernel_of("k" + std::to_string(i), *statement);
  }
  if (const char* dump = std::getenv("WARPLINE_DUMP_FORMS")) std::ofstream(dump) << text;
  Bench bench(load_gpu("mini", {}).value(), text);
  bench.module().place("constants", ConstantBanks::address(ConstantBanks::kModuleBank, 0));
  std::vector<std::uint64_t> words = {bench.put(std::vector<std::uint32_t>(4096))};
  for (const std::string& name : kImages) {
    Image image;
    image.is_surface = name[0] == 's';
    image.address = bench.put(std::vector<std::uint32_t>(4096));
    image.width = 4;
    image.height = name.find("1d") == std::string::npos ? 4 : 1;
    image.depth = name.find("3d") == std::string::npos ? 1 : 4;
    image.layers = name.find("a2d") == std::string::npos ? 0 : 4;
    image.cube = name == "texture_cube";
    image.format.components = 4;
    if (name[0] == 'i') image.format.type = DataType::u32;
    words.push_back(bench.platform().add_image(image));
  }
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const programs::Entry& entry = bench.module().entries()[i];
    EXPECT_TRUE(entry.refused.empty()) << forms[i] << ": " << entry.refused.front().text();
    if (!entry.refused.empty()) continue;
    const std::size_t before = bench.platform().faults().size();
    std::vector<std::uint8_t> tail((entry.parameter_bytes - words.size() * 8), 0);
    bench.launch("k" + std::to_string(i), 1, 32, words, true, tail);
    const auto faults = bench.platform().faults();
    EXPECT_EQ(faults.size() - before, forms[i] == "trap" ? 1U : 0U)
        << forms[i] << ": " << (faults.size() > before ? faults.back().kind : "");
  }
}

/// A block may have labels that others have, too (PTX ISA, "Labels and Function Names"); what waits for an
/// mbarrier in several places of a kernel does.
TEST(Labels, BelongToTheirBlock) {
  Bench bench(load_gpu("mini", {}).value(), R"(.version 9.0
.target sm_80
.address_size 64
.entry k(.param .u64 out) {
.reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d;
ld.param.u64 %d, [out]; mov.u32 %r1, 0; mov.u32 %r2, 0;
{ again: add.u32 %r1, %r1, 1; setp.lt.u32 %p, %r1, 5; @%p bra again; bra done; add.u32 %r1, %r1, 100; done: }
{ again: add.u32 %r2, %r2, 3; setp.lt.u32 %p, %r2, 20; @!%p bra done;
  { add.u32 %r2, %r2, 1; bra again; } }
done: mad.lo.u32 %r1, %r1, 1000, %r2; st.global.u32 [%d], %r1; ret;
}
)");
  const std::uint64_t out = bench.put(std::vector<std::uint32_t>(1));
  bench.launch("k", 1, 1, {out});
  EXPECT_EQ(bench.get<std::uint32_t>(out, 1)[0], 5 * 1000 + 23U);
}

}  // namespace every_form_test
}  // namespace warpline::test
