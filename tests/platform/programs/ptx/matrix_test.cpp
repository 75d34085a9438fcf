// ldmatrix, stmatrix, movmatrix, mma, mma.sp and wmma as PTX writes them, and what is refused. The arithmetic
// and where mma's elements are is tested with the product itself.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "rtl_models/base/random.h"
#include "rtl_models/isa/matrix_product.h"
#include "tests/platform/programs/ptx/harness.h"

namespace warpline::ptx::test {
namespace matrix_test {

using ::testing::HasSubstr;

constexpr unsigned kLanes = 32;

/// A kernel with three buffers, %rd4 to %rd6 their places for the thread 4 bytes apart, %r1 the thread and
/// %r2 the address of `tile`.
std::string kernel(const std::string& body, const std::string& target = "sm_90") {
  return R"(.version 9.0
.target )" +
         target + R"(
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c)
{
.reg .pred %p<4>;
.reg .b32 %r<99>;
.reg .f32 %f<99>;
.reg .f64 %fd<99>;
.reg .b64 %rd<19>;
.shared .align 128 .b8 tile[4096];
ld.param.u64 %rd1, [a];
ld.param.u64 %rd2, [b];
ld.param.u64 %rd3, [c];
mov.u32 %r1, %tid.x;
mov.u32 %r2, tile;
mul.wide.u32 %rd7, %r1, 4;
add.s64 %rd4, %rd1, %rd7;
add.s64 %rd5, %rd2, %rd7;
add.s64 %rd6, %rd3, %rd7;
)" + body +
         "\nret;\n}\n";
}

std::vector<std::uint8_t> random_bytes(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint8_t> bytes(count);
  for (std::size_t i = 0; i < count; ++i)
    bytes[i] = static_cast<std::uint8_t>(splitmix64(seed * 1000003 + i));
  return bytes;
}

struct Buffers {
  std::vector<std::uint8_t> a, b, c;
};
/// What the kernel leaves of the buffers.
Buffers run(const std::string& text, const Buffers& in, unsigned threads = kLanes,
            std::vector<std::string>* faults = nullptr) {
  Machine machine;
  machine.load(text);
  const std::uint64_t a = machine.buffer(in.a), b = machine.buffer(in.b), c = machine.buffer(in.c);
  std::vector<std::uint8_t> parameters(24);
  std::memcpy(parameters.data(), &a, 8);
  std::memcpy(&parameters[8], &b, 8);
  std::memcpy(&parameters[16], &c, 8);
  machine.run("k", {1, 1, 1}, {threads, 1, 1}, 0, parameters);
  if (faults != nullptr) *faults = machine.faults;
  return {machine.read<std::uint8_t>(a, in.a.size()), machine.read<std::uint8_t>(b, in.b.size()),
          machine.read<std::uint8_t>(c, in.c.size())};
}

template <class T>
T at(const std::vector<std::uint8_t>& bytes, std::size_t index) {
  T value;
  std::memcpy(&value, &bytes.at(index * sizeof(T)), sizeof value);
  return value;
}

std::string list(const std::string& name, unsigned first, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i) text += (i == 0 ? "%" : ", %") + name + std::to_string(first + i);
  return text + "}";
}

/// The tile is filled with `a`, 16 bytes a thread and round; lanes' rows are shuffled: lane l has row 5 l
/// mod 32.
const std::string kFillTile = R"(
mul.wide.u32 %rd8, %r1, 16;
add.s64 %rd8, %rd1, %rd8;
ld.global.v4.u32 {%r90, %r91, %r92, %r93}, [%rd8];
mad.lo.u32 %r3, %r1, 16, %r2;
st.shared.v4.u32 [%r3], {%r90, %r91, %r92, %r93};
bar.sync 0;
mul.lo.u32 %r4, %r1, 5;
and.b32 %r4, %r4, 31;
mad.lo.u32 %r4, %r4, 16, %r2;
)";

TEST(PtxMatrix, LdmatrixGivesEachLaneItsPartOfEachRow) {
  const std::vector<std::uint8_t> tile = random_bytes(512, 1);
  for (const unsigned count : {1U, 2U, 4U})
    for (const bool trans : {false, true})
      for (const int space : {0, 1, 2}) {
        std::string body = kFillTile;
        const std::string name = std::string("ldmatrix.sync.aligned.m8n8.x") + std::to_string(count) +
                                 (trans ? ".trans" : "") +
                                 (space == 0   ? ".shared"
                                  : space == 1 ? ".shared::cta"
                                               : "") +
                                 ".b16 " + list("r", 10, count);
        if (space == 2) body += "cvt.u64.u32 %rd9, %r4; cvta.shared.u64 %rd9, %rd9;";
        body += name + (space == 2 ? ", [%rd9];\n" : ", [%r4];\n");
        for (unsigned n = 0; n < count; ++n)
          body += "st.global.u32 [%rd6+" + std::to_string(n * 128) + "], %r" + std::to_string(10 + n) + ";\n";
        const Buffers out = run(kernel(body), {tile, {0}, std::vector<std::uint8_t>(512)});
        for (unsigned n = 0; n < count; ++n)
          for (unsigned lane = 0; lane < kLanes; ++lane)
            for (unsigned half = 0; half < 2; ++half) {
              const unsigned across = lane / 4, along = lane % 4 * 2 + half;
              const unsigned row = trans ? along : across, column = trans ? across : along;
              const unsigned of_lane = n * 8 + row;  // whose address is the row's
              ASSERT_EQ(at<std::uint16_t>(out.c, n * 64 + lane * 2 + half),
                        at<std::uint16_t>(tile, of_lane * 5 % 32 * 8 + column))
                  << name << " matrix " << n << " lane " << lane;
            }
      }
}

TEST(PtxMatrix, StmatrixAndLdmatrixAreInverse) {
  const std::vector<std::uint8_t> in = random_bytes(512, 2);
  for (const unsigned count : {1U, 2U, 4U})
    for (const bool trans : {false, true}) {
      const std::string form =
          ".sync.aligned.m8n8.x" + std::to_string(count) + (trans ? ".trans" : "") + ".shared.b16 ";
      std::string body = kFillTile;
      for (unsigned n = 0; n < count; ++n)
        body += "ld.global.u32 %r" + std::to_string(10 + n) + ", [%rd4+" + std::to_string(n * 128) + "];\n";
      body += "stmatrix" + form + "[%r4+512], " + list("r", 10, count) + ";\n";
      body += "ldmatrix" + form + list("r", 20, count) + ", [%r4+512];\n";
      for (unsigned n = 0; n < count; ++n)
        body += "st.global.u32 [%rd6+" + std::to_string(n * 128) + "], %r" + std::to_string(20 + n) + ";\n";
      const Buffers out = run(kernel(body), {in, {0}, std::vector<std::uint8_t>(512)});
      for (std::size_t i = 0; i < count * 128; ++i) ASSERT_EQ(out.c[i], in[i]) << form << i;
    }
}

TEST(PtxMatrix, MovmatrixTransposes) {
  const std::vector<std::uint8_t> in = random_bytes(128, 3);
  const Buffers out = run(kernel("ld.global.u32 %r5, [%rd4]; movmatrix.sync.aligned.m8n8.trans.b16 %r6, %r5;"
                                 "st.global.u32 [%rd6], %r6;"),
                          {in, {0}, std::vector<std::uint8_t>(128)});
  for (std::size_t row = 0; row < 8; ++row)
    for (std::size_t column = 0; column < 8; ++column)
      EXPECT_EQ(at<std::uint16_t>(out.c, row * 8 + column), at<std::uint16_t>(in, column * 8 + row));
}

struct MmaRow {
  const char* text;  ///< between "mma" and the operands
  MatrixForm form;
  const char* sum;  ///< registers of C and D
  bool a_column = false, b_column = true;
  unsigned selector = 0;
};

MatrixForm form(MatrixShape shape, MatrixType d, MatrixType a, MatrixType b, MatrixType c,
                bool sparse = false) {
  MatrixForm f;
  f.shape = shape;
  f.a = a;
  f.b = b;
  f.c = c;
  f.d = d;
  f.sparse = sparse;
  return f;
}

/// One of each kind of decoding: the form that comes out is the one that is written.
std::vector<MmaRow> mma_rows() {
  using T = MatrixType;
  std::vector<MmaRow> rows = {
      {".sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", form({16, 8, 16}, T::f32, T::f16, T::f16, T::f32),
       "f"},
      {".sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", form({16, 8, 8}, T::f16, T::f16, T::f16, T::f16),
       "r"},
      {".sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
       form({16, 8, 16}, T::f32, T::bf16, T::bf16, T::f32), "f"},
      {".sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", form({16, 8, 4}, T::f32, T::tf32, T::tf32, T::f32),
       "f"},
      {".sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32",
       form({16, 8, 32}, T::f32, T::e4m3, T::e5m2, T::f32), "f"},
      {".sync.aligned.m16n8k16.row.col.f16.e5m2.e4m3.f16",
       form({16, 8, 16}, T::f16, T::e5m2, T::e4m3, T::f16), "r"},
      {".sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", form({8, 8, 4}, T::f64, T::f64, T::f64, T::f64), "fd"},
      {".sync.aligned.m16n8k16.row.col.f64.f64.f64.f64.rz", form({16, 8, 16}, T::f64, T::f64, T::f64, T::f64),
       "fd"},
      {".sync.aligned.m8n8k16.row.col.s32.u8.s8.s32", form({8, 8, 16}, T::s32, T::u8, T::s8, T::s32), "r"},
      {".sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32",
       form({16, 8, 32}, T::s32, T::s8, T::u8, T::s32), "r"},
      {".sync.aligned.m16n8k64.row.col.s32.s4.u4.s32", form({16, 8, 64}, T::s32, T::s4, T::u4, T::s32), "r"},
      {".sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc",
       form({8, 8, 128}, T::s32, T::b1, T::b1, T::s32), "r"},
      {".sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc",
       form({16, 8, 256}, T::s32, T::b1, T::b1, T::s32), "r"},
      {".sync.aligned.m8n8k4.col.row.f32.f16.f16.f16", form({8, 8, 4}, T::f32, T::f16, T::f16, T::f16), "f",
       true, false},
      {".sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
       form({16, 8, 32}, T::f32, T::f16, T::f16, T::f32, true), "f", false, true, 1},
      {".sp::ordered_metadata.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
       form({16, 8, 8}, T::f32, T::tf32, T::tf32, T::f32, true), "f", false, true, 3},
      {".sp.sync.aligned.m16n8k128.row.col.s32.u4.u4.s32",
       form({16, 8, 128}, T::s32, T::u4, T::u4, T::s32, true), "r"},
  };
  rows[7].form.rounding = Rounding::zero;
  rows[9].form.saturate = true;
  rows[12].form.bits = BitProduct::conjunction;
  return rows;
}

TEST(PtxMatrix, MmaIsTheProductOfItsForm) {
  std::uint64_t seed = 10;
  for (const MmaRow& row : mma_rows()) {
    const MatrixProduct product = mma_product(row.form, row.a_column, row.b_column);
    const MatrixProduct::Layout& layout = product.layout();
    Buffers in{random_bytes(layout.a.bytes(), seed), random_bytes(layout.b.bytes(), seed + 1),
               random_bytes(layout.c.bytes(), seed + 2)};
    seed += 3;
    in.c.resize(4096);
    const std::vector<std::uint8_t> metadata = random_bytes(128, seed);
    std::copy(metadata.begin(), metadata.end(), in.c.end() - 128);
    std::string body;
    const auto load = [&](const Fragment& f, const std::string& name, unsigned first,
                          const std::string& from) {
      const bool wide = f.register_bytes == 8;
      for (unsigned r = 0; r < f.registers; ++r)
        body += std::string("ld.global.") + (wide ? "b64" : "b32") + " %" + name + std::to_string(first + r) +
                ", [" + from + "+" + std::to_string(r * kLanes * f.register_bytes) + "];\n";
    };
    const bool wide = layout.a.register_bytes == 8;
    if (wide) body += "add.s64 %rd4, %rd4, %rd7; add.s64 %rd5, %rd5, %rd7; add.s64 %rd10, %rd6, %rd7;";
    const std::string sums = wide ? "%rd10" : "%rd6";
    const std::string input = wide ? "fd" : "r";
    const std::string c_name = row.form.c == MatrixType::f16 ? "r" : row.sum;
    load(layout.a, input, 10, "%rd4");
    load(layout.b, input, 20, "%rd5");
    load(layout.c, c_name, 30, sums);
    body += "ld.global.b32 %r9, [%rd6+3968];\nmma" + std::string(row.text) + " " +
            list(row.sum, 40, layout.d.registers) + ", " + list(input, 10, layout.a.registers) + ", " +
            list(input, 20, layout.b.registers) + ", " + list(c_name, 30, layout.c.registers);
    if (row.form.sparse) body += ", %r9, " + std::to_string(row.selector);
    body += ";\n";
    for (unsigned r = 0; r < layout.d.registers; ++r)
      body += std::string("st.global.") + (wide ? "b64" : "b32") + " [" + sums + "+" +
              std::to_string(r * kLanes * layout.d.register_bytes) + "], %" + row.sum +
              std::to_string(40 + r) + ";\n";
    const Buffers out = run(kernel(body), in);
    std::vector<std::uint8_t> want(layout.d.bytes());
    std::vector<std::uint32_t> words(kLanes);
    std::memcpy(words.data(), metadata.data(), 128);
    product.run(in.a.data(), in.b.data(), in.c.data(), want.data(), words.data(), row.selector);
    for (std::size_t i = 0; i < want.size(); ++i) ASSERT_EQ(out.c[i], want[i]) << row.text << " byte " << i;
  }
}

// wmma: whole matrices of small whole numbers, from memory to memory.

struct WmmaRow {
  unsigned m, n, k;
  const char *a, *c;  ///< types
  unsigned a_bits, c_bits;
  unsigned a_registers, b_registers, c_registers;
};

std::uint64_t encoded(const std::string& type, int value) {
  if (type == "f16") return encode(value, kHalf, Rounding::nearest);
  if (type == "bf16") return encode(value, kBrain, Rounding::nearest);
  if (type == "tf32" || type == "f32") return bits_as<std::uint32_t>(static_cast<float>(value));
  if (type == "f64") return bits_as<std::uint64_t>(static_cast<double>(value));
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

void put_bits(std::vector<std::uint8_t>& bytes, std::size_t first, unsigned width, std::uint64_t bits) {
  for (unsigned n = 0; n < width; ++n) {
    const auto mask = static_cast<std::uint8_t>(1U << (first + n) % 8);
    std::uint8_t& byte = bytes.at((first + n) / 8);
    byte = static_cast<std::uint8_t>((byte & ~mask) | ((bits >> n & 1U) != 0 ? mask : 0));
  }
}
std::uint64_t bits_at(const std::vector<std::uint8_t>& bytes, std::size_t first, unsigned width) {
  std::uint64_t bits = 0;
  for (unsigned n = 0; n < width; ++n)
    bits |= std::uint64_t{bytes.at((first + n) / 8) >> (first + n) % 8 & 1U} << n;
  return bits;
}

TEST(PtxMatrix, WmmaMultipliesMatricesInMemory) {
  const std::vector<WmmaRow> rows = {
      {16, 16, 16, "f16", "f32", 16, 32, 8, 8, 8},  {32, 8, 16, "f16", "f32", 16, 32, 8, 8, 8},
      {8, 32, 16, "f16", "f16", 16, 16, 8, 8, 4},   {16, 16, 16, "f16", "f16", 16, 16, 8, 8, 4},
      {16, 16, 16, "bf16", "f32", 16, 32, 4, 4, 8}, {32, 8, 16, "bf16", "f32", 16, 32, 8, 2, 8},
      {8, 32, 16, "bf16", "f32", 16, 32, 2, 8, 8},  {16, 16, 8, "tf32", "f32", 32, 32, 4, 4, 8},
      {8, 8, 4, "f64", "f64", 64, 64, 1, 1, 2},     {16, 16, 16, "s8", "s32", 8, 32, 2, 2, 8},
      {32, 8, 16, "u8", "s32", 8, 32, 4, 1, 8},     {8, 32, 16, "s8", "s32", 8, 32, 1, 4, 8},
      {8, 8, 32, "s4", "s32", 4, 32, 1, 1, 2},      {8, 8, 32, "u4", "s32", 4, 32, 1, 1, 2},
      {8, 8, 128, "b1", "s32", 1, 32, 1, 1, 2}};
  std::uint64_t seed = 100;
  for (const WmmaRow& row : rows)
    for (unsigned layouts = 0; layouts < 16; ++layouts) {
      const bool a_column = (layouts & 1U) != 0, b_column = (layouts & 2U) != 0,
                 c_column = (layouts & 4U) != 0;
      const bool padded = (layouts & 8U) != 0;  // and C in shared memory, by a generic address
      if (row.a_bits < 8 && (a_column || !b_column)) continue;
      Random random(seed++);
      // Strides are multiples of 16 bytes.
      const auto stride_of = [&](unsigned line, unsigned bits) {
        return line + (padded ? 2 * 128 / bits : 0);
      };
      const unsigned lda = stride_of(a_column ? row.m : row.k, row.a_bits);
      const unsigned ldb = stride_of(b_column ? row.k : row.n, row.a_bits);
      const unsigned ldc = stride_of(c_column ? row.m : row.n, row.c_bits);
      Buffers in{random_bytes(8192, seed), random_bytes(8192, seed + 1), random_bytes(8192, seed + 2)};
      const auto index = [](bool column, unsigned r, unsigned c, unsigned stride) {
        return std::size_t{column ? c : r} * stride + (column ? r : c);
      };
      std::vector<int> a(row.m * row.k), b(row.k * row.n), c(row.m * row.n);
      const bool is_unsigned = row.a[0] == 'u' || row.a[0] == 'b';
      const int range = row.a_bits == 1 ? 2 : 8;
      const auto number = [&] {
        return static_cast<int>(random.below(static_cast<std::uint64_t>(range))) - (is_unsigned ? 0 : 4);
      };
      for (unsigned i = 0; i < row.m; ++i)
        for (unsigned k = 0; k < row.k; ++k) {
          a[i * row.k + k] = number();
          put_bits(in.a, index(a_column, i, k, lda) * row.a_bits, row.a_bits,
                   encoded(row.a, a[i * row.k + k]));
        }
      for (unsigned k = 0; k < row.k; ++k)
        for (unsigned j = 0; j < row.n; ++j) {
          b[k * row.n + j] = number();
          put_bits(in.b, index(b_column, k, j, ldb) * row.a_bits, row.a_bits,
                   encoded(row.a, b[k * row.n + j]));
        }
      for (unsigned i = 0; i < row.m; ++i)
        for (unsigned j = 0; j < row.n; ++j) {
          c[i * row.n + j] = static_cast<int>(random.below(100)) - 50;
          put_bits(in.c, index(c_column, i, j, ldc) * row.c_bits, row.c_bits,
                   encoded(row.c, c[i * row.n + j]));
        }
      const std::string shape =
          ".m" + std::to_string(row.m) + "n" + std::to_string(row.n) + "k" + std::to_string(row.k);
      const auto layout = [](bool column) { return std::string(column ? ".col" : ".row"); };
      const std::string type = std::string(".") + row.a, sum = std::string(".") + row.c;
      const std::string input_name = row.a_bits == 64 ? "fd" : "r";
      const std::string sum_name = row.c_bits == 64 ? "fd" : sum == ".f32" ? "f" : "r";
      const std::string ra = list(input_name, 10, row.a_registers),
                        rb = list(input_name, 20, row.b_registers), rc = list(sum_name, 30, row.c_registers),
                        rd = list(sum_name, 40, row.c_registers);
      const auto stride = [&](unsigned ld) { return padded ? ", " + std::to_string(ld) : std::string(); };
      std::string body;
      std::string where = ".global";
      std::string at_c = "[%rd3]";
      if (padded) {
        // C goes through shared memory.
        body +=
            "mov.u32 %r60, %r1;\nL1: mul.wide.u32 %rd11, %r60, 4; add.s64 %rd11, %rd11, %rd3;"
            "ld.global.u32 %r61, [%rd11]; mad.lo.u32 %r62, %r60, 4, %r2; st.shared.u32 [%r62], %r61;"
            "add.u32 %r60, %r60, 32; setp.lt.u32 %p1, %r60, 1024; @%p1 bra L1;\nbar.sync 0;\n"
            "cvt.u64.u32 %rd12, %r2; cvta.shared.u64 %rd12, %rd12;\n";
        at_c = "[%rd12]";
        where = "";
      }
      body += "wmma.load.a.sync.aligned" + layout(a_column) + shape + ".global" + type + " " + ra +
              ", [%rd1]" + stride(lda) + ";\n";
      body += "wmma.load.b.sync.aligned" + layout(b_column) + shape + type + " " + rb + ", [%rd2]" +
              stride(ldb) + ";\n";
      body += "wmma.load.c.sync.aligned" + layout(c_column) + shape + where + sum + " " + rc + ", " + at_c +
              stride(ldc) + ";\n";
      const std::string types = type == ".f16" ? sum + sum : sum + type + type + sum;
      body += "wmma.mma" + std::string(row.a_bits == 1 ? ".and.popc" : "") + ".sync.aligned" +
              layout(a_column) + layout(b_column) + shape + types + " " + rd + ", " + ra + ", " + rb + ", " +
              rc + ";\n";
      body += "wmma.store.d.sync.aligned" + layout(c_column) + shape + where + sum + " " + at_c + ", " + rd +
              stride(ldc) + ";\n";
      if (padded)
        body +=
            "bar.sync 0;\nmov.u32 %r60, %r1;\nL2: mul.wide.u32 %rd11, %r60, 4; add.s64 %rd11, %rd11, %rd3;"
            "mad.lo.u32 %r62, %r60, 4, %r2; ld.shared.u32 %r61, [%r62]; st.global.u32 [%rd11], %r61;"
            "add.u32 %r60, %r60, 32; setp.lt.u32 %p1, %r60, 1024; @%p1 bra L2;\n";
      const Buffers out = run(kernel(body), in);
      std::vector<std::uint8_t> want = in.c;
      for (unsigned i = 0; i < row.m; ++i)
        for (unsigned j = 0; j < row.n; ++j) {
          int total = c[i * row.n + j];
          for (unsigned k = 0; k < row.k; ++k) total += a[i * row.k + k] * b[k * row.n + j];
          put_bits(want, index(c_column, i, j, ldc) * row.c_bits, row.c_bits, encoded(row.c, total));
        }
      for (std::size_t n = 0; n < want.size() * 8 / row.c_bits; ++n)
        ASSERT_EQ(bits_at(out.c, n * row.c_bits, row.c_bits), bits_at(want, n * row.c_bits, row.c_bits))
            << shape << type << " layouts " << layouts << " element " << n;
    }
}

// wgmma: A of 64 rows and B of n columns in shared memory, or A in registers; whole numbers again. Of a
// sparse A half is stored.

struct WgmmaRow {
  const char* types;
  const char *d, *input;
  unsigned n, k, bits;
  unsigned width;  ///< of the pattern: 16 (no swizzle), 32, 64 or 128 bytes
  bool a_transposed = false, b_transposed = false;
  bool a_in_registers = false;
  unsigned offset = 0;  ///< of the matrices in their pattern's first line
  int scale_a = 1, scale_b = 1;
  bool accumulates = true;
  bool sparse = false;
  unsigned selector = 0;
};

/// Leading and stride offset in units of 16 bytes. B of a sparse A is twice as long.
std::pair<unsigned, unsigned> offsets(const WgmmaRow& row, unsigned start, bool transposed) {
  const unsigned w = row.width / 16;
  const bool twice = row.sparse && start != 0;
  const unsigned lbo = transposed && w > 1 ? row.width * (twice ? 2 : 1) : twice && w == 2 ? 16 : 8;
  const unsigned sbo = w == 1 ? (twice ? 32 : 16) : row.width / 2 * (twice && w == 2 && !transposed ? 2 : 1);
  return {lbo, sbo};
}

/// The 16 bytes of line `line` from which on its byte `byte` lies, in CUTLASS's terms: ((8,n),2):((w,SBO),LBO
/// or 1); and of an element across, ((w,n),(8,k)):((1,LBO),(w,SBO)), without swizzle
/// ((1,n),(8,k)):((1,SBO),(1,LBO)).
std::size_t address(const WgmmaRow& row, unsigned start, bool transposed, unsigned line, unsigned element) {
  const unsigned w = row.width / 16;
  const auto [lbo, sbo] = offsets(row, start, transposed);
  std::size_t unit = 0, within = 0;
  if (!transposed) {
    const unsigned byte = element * row.bits / 8;
    unit = line % 8 * w + line / 8 * sbo + byte % row.width / 16 + byte / row.width * lbo;
    within = byte % 16;
  } else if (w == 1) {
    unit = line / 8 * sbo + element % 8 + element / 8 * lbo;
    within = line % 8 * 2;
  } else {
    unit = line / 8 % w + line / (8 * w) * lbo + element % 8 * w + element / 8 * sbo;
    within = line % 8 * 2;
  }
  unit += (start + row.offset) / 16;
  return (unit ^ (unit / 8 & (w - 1))) * 16 + within;
}

std::uint64_t descriptor(const WgmmaRow& row, unsigned start, bool transposed) {
  const unsigned w = row.width / 16;
  const auto [lbo, sbo] = offsets(row, start, transposed);
  const std::uint64_t mode = w == 1 ? 0 : w == 8 ? 1 : w == 4 ? 2 : 3;
  return (start + row.offset) / 16 | std::uint64_t{lbo} << 16U | std::uint64_t{sbo} << 32U | mode << 62U;
}

TEST(PtxMatrix, WgmmaMultipliesTilesInSharedMemory) {
  const std::vector<WgmmaRow> rows = {
      {"f32.f16.f16", "f32", "f16", 8, 16, 16, 16},
      {"f32.f16.f16", "f32", "f16", 64, 16, 16, 32},
      {"f32.f16.f16", "f32", "f16", 24, 16, 16, 64},
      {"f32.bf16.bf16", "f32", "bf16", 64, 16, 16, 128, false, false, false, 32},
      {"f16.f16.f16", "f16", "f16", 64, 16, 16, 128, false, false, false, 0, -1, 1},
      {"f32.f16.f16", "f32", "f16", 64, 16, 16, 128, true, true},
      {"f32.f16.f16", "f32", "f16", 32, 16, 16, 64, true, false},
      {"f32.bf16.bf16", "f32", "bf16", 40, 16, 16, 32, false, true},
      {"f32.f16.f16", "f32", "f16", 16, 16, 16, 16, true, true},
      {"f32.f16.f16", "f32", "f16", 64, 16, 16, 128, false, true, true, 0, 1, -1},
      {"f32.tf32.tf32", "f32", "tf32", 48, 8, 32, 128, false, false, false, 64, -1, -1},
      {"f32.e4m3.e5m2", "f32", "e4m3", 16, 32, 8, 64, false, false, false, 0, 1, 1, false},
      {"s32.s8.u8", "s32", "s8", 32, 32, 8, 128},
      {"s32.u8.s8", "s32", "u8", 8, 32, 8, 16, false, false, true},
      {"s32.b1.b1", "s32", "b1", 16, 256, 1, 32},
      {"f32.f16.f16", "f32", "f16", 8, 32, 16, 16, false, false, false, 0, 1, 1, true, true, 1},
      {"f16.f16.f16", "f16", "f16", 64, 32, 16, 128, false, true, false, 0, -1, 1, true, true, 0},
      {"f32.bf16.bf16", "f32", "bf16", 24, 32, 16, 64, true, false, false, 0, 1, 1, false, true, 1},
      {"f32.f16.f16", "f32", "f16", 16, 32, 16, 16, false, true, true, 0, 1, -1, true, true, 1},
      {"f32.bf16.bf16", "f32", "bf16", 16, 32, 16, 32, false, false, true, 0, 1, 1, true, true, 0},
      {"f32.tf32.tf32", "f32", "tf32", 40, 16, 32, 128, false, false, false, 0, 1, 1, true, true, 1},
      {"f32.tf32.tf32", "f32", "tf32", 8, 16, 32, 64, false, false, true, 0, 1, 1, true, true, 0},
      {"f16.e5m2.e4m3", "f16", "e5m2", 16, 64, 8, 128, false, false, false, 0, 1, 1, true, true, 0},
      {"s32.u8.s8", "s32", "u8", 32, 64, 8, 64, false, false, false, 0, 1, 1, true, true, 0},
      {"s32.s8.s8", "s32", "s8", 16, 64, 8, 128, false, false, true, 0, 1, 1, true, true, 0}};
  constexpr unsigned kB = 16384, kThreads = 128;
  std::uint64_t seed = 500;
  for (const WgmmaRow& row : rows) {
    Random random(seed++);
    Buffers in{random_bytes(32768, seed), random_bytes(4096, seed + 1), random_bytes(65536, seed + 2)};
    const std::string words = row.types;
    const std::string b_type = words.substr(words.rfind('.') + 1);
    const auto number = [&](const std::string& type) {
      if (type == "b1") return static_cast<int>(random.below(2));
      return static_cast<int>(random.below(4)) - (type[0] == 'u' ? 0 : 1);
    };
    const auto bits = [](const std::string& type, int value) -> std::uint64_t {
      // 8-bit formats: 1 and 2 are the exponents 0 and 1.
      if (type == "e4m3") return value == 0 ? 0 : value == 1 ? 0x38 : value == 2 ? 0x40 : 0xB8;
      if (type == "e5m2") return value == 0 ? 0 : value == 1 ? 0x3C : value == 2 ? 0x40 : 0xBC;
      return encoded(type, value);
    };
    std::vector<int> a(64 * row.k), b(row.k * row.n);
    const unsigned stored = row.sparse ? row.k / 2 : row.k;
    constexpr unsigned kMetadata = 2048;  // bytes before it in in.b: A's registers
    for (unsigned i = 0; i < 64; ++i)
      for (unsigned k = 0; k < stored; ++k) {
        unsigned place = k;
        if (row.sparse && row.bits == 32) {  // one of two, named by both its halves
          const unsigned second = random.below(2) != 0 ? 1 : 0;
          place = k * 2 + second;
          const unsigned lane = i % 8 * 4 + row.selector * 2 + k / 4;
          put_bits(in.b, (kMetadata / 4 + i / 16 * 32 + lane) * 32 + k % 4 * 4 + i % 16 / 8 * 16, 4,
                   second != 0 ? 14 : 4);
        } else if (row.sparse) {  // two of four, 4 bits for both
          const unsigned chunk = k / 2;
          const auto low = static_cast<unsigned>((i * 7 + chunk * 5) % 3);
          const unsigned high = low + 1 + (i + chunk) % (3 - low);
          place = chunk * 4 + (k % 2 == 0 ? low : high);
          const unsigned upper = i % 16 / 8;
          const unsigned lane = row.bits == 16 ? row.selector * 2 + chunk / 4 : chunk / 8 * 2 + upper;
          const unsigned first = row.bits == 16 ? chunk % 4 * 4 + upper * 16 : chunk % 8 * 4;
          put_bits(in.b, (kMetadata / 4 + i / 16 * 32 + i % 8 * 4 + lane) * 32 + first, 4, low | high << 2U);
        }
        const int value = a[i * row.k + place] = number(row.input);
        const std::uint64_t raw = bits(row.input, value);
        if (!row.a_in_registers) {
          put_bits(in.a, address(row, 0, row.a_transposed, i, k) * 8 + (row.bits == 1 ? k % 8 : 0), row.bits,
                   raw);
          continue;
        }
        // As of mma: register 2 (k / half) + (row / 8), lane 4 (row mod 8) + ...
        const unsigned per = 32 / row.bits;
        const unsigned reg = k / (4 * per) * 2 + i % 16 / 8, lane = i % 8 * 4 + k % (4 * per) / per;
        put_bits(in.b, ((reg * kThreads + i / 16 * 32 + lane) * 32) + k % per * row.bits, row.bits, raw);
      }
    for (unsigned k = 0; k < row.k; ++k)
      for (unsigned j = 0; j < row.n; ++j) {
        const int value = b[k * row.n + j] = number(b_type);
        put_bits(in.a, address(row, kB, row.b_transposed, j, k) * 8 + (row.bits == 1 ? k % 8 : 0), row.bits,
                 bits(b_type, value));
      }
    const bool halves = std::string(row.d) == "f16", integers = std::string(row.d) == "s32";
    const unsigned registers = row.n / (halves ? 4 : 2);
    const std::string sum = std::string(row.d) == "f32" ? "f" : "r";
    std::string body =
        "mov.u32 %r3, tile;\nmov.u32 %r60, %r1;\nL1: mul.wide.u32 %rd11, %r60, 4; add.s64 %rd11, %rd11, %rd1;"
        "ld.global.u32 %r61, [%rd11]; mad.lo.u32 %r62, %r60, 4, %r3; st.shared.u32 [%r62], %r61;"
        "add.u32 %r60, %r60, 128; setp.lt.u32 %p1, %r60, 8192; @%p1 bra L1;\nbar.sync 0;\n";
    for (unsigned r = 0; r < 4; ++r)
      body +=
          "ld.global.u32 %r" + std::to_string(5 + r) + ", [%rd5+" + std::to_string(r * kThreads * 4) + "];\n";
    if (row.sparse) body += "ld.global.u32 %r4, [%rd5+" + std::to_string(kMetadata) + "];\n";
    for (unsigned r = 0; r < registers; ++r) {
      const std::string reg = "%" + sum + std::to_string(10 + r);
      body += sum == "f" ? "mov.f32 " + reg + ", 0f40400000;\n"
                         : "mov.b32 " + reg + (halves ? ", 0x42004200;\n" : ", 3;\n");
    }
    const auto hex = [](std::uint64_t v) { return std::to_string(v); };
    body += "mov.u64 %rd8, " + hex(descriptor(row, 0, row.a_transposed)) + ";\nmov.u64 %rd9, " +
            hex(descriptor(row, kB, row.b_transposed)) + ";\nsetp.ne.u32 %p2, 0, " +
            (row.accumulates ? "1" : "0") + ";\n";
    const std::string d = list(sum, 10, registers);
    body += std::string("wgmma.fence.sync.aligned;\nwgmma.mma_async") + (row.sparse ? ".sp" : "") +
            ".sync.aligned.m64n" + std::to_string(row.n) + "k" + std::to_string(row.k) + "." + words +
            (row.bits == 1 ? ".and.popc " : " ") + d + ", " +
            (row.a_in_registers ? list("r", 5, 4) : std::string("%rd8")) + ", %rd9" +
            (row.sparse ? ", %r4, " + std::to_string(row.selector) : std::string()) + ", %p2";
    if (!integers) body += ", " + std::to_string(row.scale_a) + ", " + std::to_string(row.scale_b);
    if (row.bits == 16) {
      if (!row.a_in_registers) body += row.a_transposed ? ", 1" : ", 0";
      body += row.b_transposed ? ", 1" : ", 0";
    }
    body += ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
    for (unsigned r = 0; r < registers; ++r)
      body += "st.global.b32 [%rd6+" + std::to_string(r * kThreads * 4) + "], %" + sum +
              std::to_string(10 + r) + ";\n";
    std::string text = kernel(body, "sm_90a");
    const std::string small = ".align 128 .b8 tile[4096]";
    text.replace(text.find(small), small.size(), ".align 1024 .b8 tile[32768]");
    const Buffers out = run(text, in, kThreads);
    for (unsigned i = 0; i < 64; ++i)
      for (unsigned j = 0; j < row.n; ++j) {
        int total = 0;
        for (unsigned k = 0; k < row.k; ++k) total += a[i * row.k + k] * b[k * row.n + j];
        total = total * row.scale_a * row.scale_b + (row.accumulates ? 3 : 0);
        const unsigned thread = i / 16 * 32 + i % 8 * 4 + j % 8 / 2;
        const unsigned element = j / 8 * 4 + i % 16 / 8 * 2 + j % 2;
        const std::size_t word = (halves ? element / 2 : element) * kThreads + thread;
        const std::uint64_t got =
            halves ? bits_at(out.c, word * 32 + element % 2 * 16, 16) : bits_at(out.c, word * 32, 32);
        ASSERT_EQ(got, encoded(row.d, total) & (halves ? 0xFFFFU : 0xFFFFFFFFU))
            << words << " n " << row.n << " width " << row.width << " row " << i << " column " << j;
      }
  }
}

TEST(PtxMatrix, WhatNotAllLanesExecuteTogetherEndsTheWarp) {
  for (const char* body :
       {"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r4, %r5}, {%r6}, {%r7}, {%r4, %r5};",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r2];",
        "movmatrix.sync.aligned.m8n8.trans.b16 %r5, %r6;",
        "wmma.load.c.sync.aligned.row.m8n8k32.s32 {%r4, %r5}, [%rd3];"}) {
    std::vector<std::string> faults;
    run(kernel(body), {{0}, {0}, std::vector<std::uint8_t>(512)}, 20, &faults);
    ASSERT_EQ(faults.size(), 1U) << body;
    EXPECT_THAT(faults[0], HasSubstr(".aligned"));
    // Lanes that come later are waited for.
    const std::string late = std::string("setp.lt.u32 %p1, %r1, 7; @%p1 bra L1; mov.u32 %r8, 1; L1: ") + body;
    run(kernel(late), {{0}, {0}, std::vector<std::uint8_t>(512)}, kLanes, &faults);
    EXPECT_TRUE(faults.empty()) << body;
  }
}

TEST(PtxMatrix, WhatIsWrongIsRefused) {
  struct Row {
    const char* text;
    const char* message;
  };
  for (const Row& row :
       {Row{"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r4}, [%r2];",
            "expected a vector of 2, found 1 elements"},
        Row{"ldmatrix.sync.aligned.m8n8.x1.shared.b16 %r4, [%r2];", "expected a vector of 1"},
        Row{"ldmatrix.sync.aligned.m8n8.shared.b16 {%r4}, [%r2];", "'ldmatrix' needs '.x1'"},
        Row{"ldmatrix.sync.m8n8.x1.shared.b16 {%r4}, [%r2];", "'ldmatrix' needs '.aligned'"},
        Row{"ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r4, %r5}, [%r2];", "'.m16n16' is of sm_100a"},
        Row{"ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 {%r4}, [%r2];", "is of sm_100a"},
        Row{"ldmatrix.sync.aligned.m8n8.x1.shared::cluster.b16 {%r4}, [%r2];",
            "'ldmatrix' takes no '.shared::cluster'"},
        Row{"stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r2], {1};",
            "one element at least must be a register"},
        Row{"movmatrix.sync.aligned.m8n8.b16 %r4, %r5;", "needs '.trans'"},
        Row{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, "
            "{%f1, "
            "%f2, %f3, %f4};",
            "expected a vector of 4, found 2 elements"},
        Row{"mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, "
            "{%r5, "
            "%r6}, {%f1, %f2, %f3, %f4};",
            "does not take '.m16n8k16' with the others"},
        Row{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, "
            "{%r5, "
            "%r6}, {%r7, %r8};",
            "does not take '.m16n8k16' with the others"},
        Row{"mma.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 {%f1}, {%r1}, {%r1}, {%f1};",
            "does not take '.m16n8k16' with the others"},
        Row{"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32 {%f1}, {%r1}, {%r1}, {%f1};",
            "is right on sm_120a, sm_120f, sm_121a and sm_121f only"},
        Row{"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32 {%r1, %r2}, {%r3}, {%r4}, {%r1, %r2};",
            "'mma' needs '.xor'"},
        Row{"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r1, %r2}, {%f3}, {%r4}, {%r1, %r2};",
            "register '%f3' is .f32"},
        Row{"mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, "
            "%r4}, {%r1, "
            "%r2, %r3, %r4}, {%f1, %f2, %f3, %f4}, %r5, 2;",
            "selector of this shape is a number below 2"},
        Row{"mma.sync.aligned.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r1}, {%f1};", "'mma' needs '.m8n8k4'"},
        Row{"wmma.load.a.sync.aligned.row.m16n16k8.f16 {%r1}, [%rd1];",
            "'wmma' does not take '.m16n16k8' with the others"},
        Row{"wmma.load.a.sync.aligned.col.m8n8k32.s4 {%r1}, [%rd1];",
            "'wmma' does not take '.col' with the others"},
        Row{"wmma.load.d.sync.aligned.row.m16n16k16.f32 {%r1}, [%rd1];",
            "'wmma' does not take '.d' with the others"},
        Row{"wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %r1, 2, "
            "1, 1, 1, 0, 0;",
            "expected a literal below 2"},
        Row{"wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {%f1}, %rd1, %rd2, 1, 1, 1, 0, 0;",
            "'wgmma' takes no '.m64n12k16'"},
        Row{"wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8 {%r1}, %rd1, %rd2, 1;",
            "'wgmma' does not take '.m64n40k32' with the others"},
        Row{"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, 1, 2, 1, 0, "
            "0;",
            "expected 1 or -1"},
        Row{"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, 1, 1, 1;",
            "takes 8 operands"},
        Row{"wgmma.wait_group.sync.aligned 8;", "a number from 0 to 7"},
        Row{"wmma.sync.aligned.row.col.m16n16k16.f32.f32 {%r1}, {%r1}, {%r1}, {%r1};",
            "'wmma' needs '.mma'"}}) {
    const auto module = parse(kernel(row.text, row.text[1] == 'g' ? "sm_90a" : "sm_100a"), "m.ptx");
    std::string said;
    if (!module.ok()) said = module.faults()[0].text();
    if (module.ok() && !module.value()->entries()[0].refused.empty())
      said = module.value()->entries()[0].refused[0].text();
    EXPECT_THAT(said, HasSubstr(row.message)) << row.text;
  }
}

}  // namespace matrix_test
}  // namespace warpline::ptx::test
