// wgmma, dense and sparse (PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions").
// Each of the four warps of a warpgroup multiplies its 16 rows of A with all of B. Matrices in shared memory
// are read when the load/store unit performs the access, and D changes then; when it may be read,
// `wgmma.wait_group` knows.
#include <algorithm>

#include "platform/programs/latencies.h"
#include "platform/programs/ptx/matrix_rows.h"
#include "platform/programs/ptx/matrix_words.h"
#include "platform/programs/ptx/memory_handlers.h"
#include "platform/programs/ptx/opcodes.h"
#include "platform/programs/ptx_syntax/special_registers.h"
#include "rtl_models/isa/matrix_descriptor.h"

namespace warpline::ptx {
namespace {

constexpr unsigned kWarp = 4;           ///< operand: the warp of its CTA
constexpr unsigned kGroupMetadata = 5;  ///< operand: of a sparse A, which elements it has
constexpr unsigned kRowsOfWarp = 16, kWarpsOfGroup = 4;
constexpr unsigned kLineBytes = 32;  ///< that are stored of K of a row of A, and of a column of B
/// Op::mode.
constexpr std::uint8_t kAInRegisters = 1, kNegates = 2, kTransposesA = 4, kTransposesB = 8;
/// What MemoryAccess::second has of an execution, by lane.
constexpr unsigned kDescriptorA = 0, kDescriptorB = 1, kAccumulates = 2;

/// Rows of A, or columns of B, in shared memory.
struct Tile {
  MatrixDescriptor descriptor;
  unsigned first = 0, count = 0;
  bool transposed = false;
  unsigned element_bytes = 1;
  unsigned line_bytes = kLineBytes;

  /// Calls f(address, line, byte of the line, bytes) for pieces that lie together.
  template <class F>
  void for_each_piece(F&& f) const {
    if (!transposed) {
      for (unsigned line = 0; line < count; ++line)
        for (unsigned byte = 0; byte < line_bytes; byte += 16)
          f(descriptor.along_k(first + line, byte), line, byte, 16U);
      return;
    }
    for (unsigned line = 0; line < count; ++line)
      for (unsigned k = 0; k < line_bytes / element_bytes; ++k)
        f(descriptor.across_k(first + line, k), line, k * element_bytes, element_bytes);
  }
};

Tile tile_a(const Op& op, std::uint64_t bits, unsigned warp) {
  return {MatrixDescriptor::of(bits),    warp % kWarpsOfGroup * kRowsOfWarp, kRowsOfWarp,
          (op.mode & kTransposesA) != 0, bits_of(op.product->form().a) / 8,  kLineBytes};
}
/// Of a column of B: it has all that a sparse A stores half of.
unsigned bytes_of_b(const MatrixForm& form) {
  return form.sparse ? 2 * kLineBytes : kLineBytes;
}
Tile tile_b(const Op& op, std::uint64_t bits) {
  return {MatrixDescriptor::of(bits),        0,
          op.product->form().shape.n,        (op.mode & kTransposesB) != 0,
          bits_of(op.product->form().b) / 8, bytes_of_b(op.product->form())};
}

/// The access is that to the lowest 16 bytes and the highest, which are checked.
void issue_tiles(const Op& op, Frame& f) {
  if (!is_whole_warp(f)) return;
  MemoryAccess& access = *f.issue->access;
  const unsigned warp = f.in<std::uint32_t>(op.r[kWarp])[0];
  std::uint64_t low = ~std::uint64_t{0}, high = 0;
  const auto span = [&](const Tile& tile) {
    tile.for_each_piece([&](std::uint64_t at, unsigned, unsigned, unsigned) {
      low = std::min(low, at);
      high = std::max(high, at);
    });
  };
  const bool in_registers = (op.mode & kAInRegisters) != 0;
  access.second[kDescriptorA] = in_registers ? 0 : f.in<std::uint64_t>(op.r[kMatrixA])[0];
  access.second[kDescriptorB] = f.in<std::uint64_t>(op.r[kMatrixB])[0];
  access.second[kAccumulates] = f.condition(op) & 1U;
  if (!in_registers) span(tile_a(op, access.second[kDescriptorA], warp));
  span(tile_b(op, access.second[kDescriptorB]));
  access.form = AddressForm::per_lane;
  access.active = 3;
  access.address[0] = low;
  access.address[1] = high & ~std::uint64_t{15};
}

void read_tile(const Tile& tile, const std::uint8_t* shared, std::byte* to) {
  tile.for_each_piece([&](std::uint64_t at, unsigned line, unsigned byte, unsigned bytes) {
    std::memcpy(to + line * tile.line_bytes + byte, shared + at, bytes);
  });
}

/// -1 times A.
void negate(MatrixType type, std::byte* a, std::size_t bytes) {
  const unsigned size = bits_of(type) / 8;
  for (std::size_t last = size - 1; last < bytes; last += size) a[last] ^= std::byte{0x80};
}

void finish_tiles(const Op& op, Frame& f) {
  const MemoryAccess& access = *f.loaded;
  const MatrixProduct::Layout& layout = op.product->layout();
  constexpr std::size_t kMostOfB = std::size_t{256} * 2 * kLineBytes, kMostOfD = 128 * kWarpLanes * 4;
  alignas(64) std::byte a[kRowsOfWarp * kLineBytes], b[kMostOfB], sums[kMostOfD];
  if ((op.mode & kAInRegisters) != 0)
    read_fragment(op, f, kMatrixA, layout.a, a);
  else
    read_tile(tile_a(op, access.second[kDescriptorA], f.in<std::uint32_t>(op.r[kWarp])[0]), access.shared, a);
  read_tile(tile_b(op, access.second[kDescriptorB]), access.shared, b);
  if ((op.mode & kNegates) != 0) negate(op.product->form().a, a, sizeof a);
  if (access.second[kAccumulates] != 0)
    read_fragment(op, f, kMatrixD, layout.c, sums);
  else
    std::fill_n(sums, layout.c.bytes(), std::byte{0});
  const bool sparse = op.product->form().sparse;
  op.product->run(a, b, sums, sums, sparse ? f.in<std::uint32_t>(op.r[kGroupMetadata]) : nullptr,
                  static_cast<unsigned>(op.immediate));
  write_fragment(op, f, kMatrixD, layout.d, sums);
}

/// PTX ISA, "wgmma.mma_async", "wgmma.mma_async.sp".
bool has_wgmma(const MatrixForm& f) {
  const auto [m, n, all] = f.shape;
  const unsigned k = f.sparse ? all / 2 : all;  // that are stored of a row of A
  if (f.sparse && (all % 2 != 0 || f.a == MatrixType::b1)) return false;
  if (m != 64 || n % 8 != 0 || n < 8 || n > 256) return false;
  const bool float_sum = f.d == MatrixType::f16 || f.d == MatrixType::f32;
  const bool few = n <= 32 || n % 16 == 0;
  switch (class_of(f.a)) {
    case MatrixClass::f16:
      return f.a == f.b && k == 16 && (f.a == MatrixType::f16 ? float_sum : f.d == MatrixType::f32);
    case MatrixClass::tf32: return f.a == f.b && k == 8 && f.d == MatrixType::f32;
    case MatrixClass::f8: return class_of(f.b) == MatrixClass::f8 && k == 32 && float_sum;
    case MatrixClass::s8: return class_of(f.b) == MatrixClass::s8 && k == 32 && f.d == MatrixType::s32 && few;
    case MatrixClass::b1: return f.b == MatrixType::b1 && k == 256 && f.d == MatrixType::s32 && few;
    default: return false;
  }
}

/// A number among `allowed`, which operand `index` is.
std::int64_t take_number(Decoder& d, std::size_t index, std::initializer_list<std::int64_t> allowed,
                         const char* what) {
  const Operand& o = d.operand(index);
  const auto value = static_cast<std::int64_t>(o.bits);
  if (o.kind != Operand::Kind::integer || std::find(allowed.begin(), allowed.end(), value) == allowed.end())
    d.fail(o.token.place(), what);
  return value;
}

void decode_product(Decoder& d) {
  MatrixForm form;
  form.sparse = d.take(".sp");
  const std::string name = form.sparse ? "wgmma.mma_async.sp" : "wgmma.mma_async";
  need_aligned(d);
  const MatrixWords s = take_matrix_words(d);
  if (s.types.size() != 3) d.fail(quoted(name) + " needs the types of D, A and B");
  if (!s.columns.empty()) d.fail(quoted(name) + " has no layouts");
  form.shape = s.shape;
  form.c = form.d = s.types[0];
  form.a = s.types[1];
  form.b = s.types[2];
  if (!has_wgmma(form)) fail_shape(d, s, name);
  const MatrixClass kind = class_of(form.a);
  if (kind == MatrixClass::s8) form.saturate = d.take(".satfinite");
  if (kind == MatrixClass::b1) {
    if (!d.take(".and") || !d.take(".popc")) d.fail("'wgmma.mma_async' of '.b1' needs '.and.popc'");
    form.bits = BitProduct::conjunction;
  }
  const bool integers = kind == MatrixClass::s8 || kind == MatrixClass::b1;
  const bool may_transpose = kind == MatrixClass::f16;
  const bool in_registers = d.operand_count() > 1 && d.operand(1).kind == Operand::Kind::vector;
  const std::size_t scale = form.sparse ? 5 : 3;  // the operand behind B, the metadata and its selector
  d.need_operands(scale + (integers ? 1U : !may_transpose ? 3U : in_registers ? 4U : 5U));
  const unsigned n = form.shape.n;
  form.shape.m = kRowsOfWarp;
  Op op;
  op.product = d.keep(warpgroup_product(form, in_registers));
  const MatrixProduct::Layout& layout = op.product->layout();
  if (in_registers) {
    op.mode |= kAInRegisters;
    op.r[kMatrixA] = take_fragment(d, 1, form.a, layout.a.registers, false);
  } else {
    op.r[kMatrixA] = d.source(1, DataType::b64);
  }
  op.r[kMatrixB] = d.source(2, DataType::b64);
  if (form.sparse) {
    op.r[kGroupMetadata] = d.source(3, DataType::b32);
    op.immediate = take_selector(d, 4, form);
  }
  d.take_condition(op, scale);
  if (!integers) {
    const char* const kScale = "expected 1 or -1";
    const bool negative =
        take_number(d, scale + 1, {1, -1}, kScale) != take_number(d, scale + 2, {1, -1}, kScale);
    if (negative) op.mode |= kNegates;
  }
  if (may_transpose) {
    const char* const kTranspose = "expected 0 or 1";
    std::size_t at = scale + 3;
    if (!in_registers && take_number(d, at++, {0, 1}, kTranspose) != 0) op.mode |= kTransposesA;
    if (take_number(d, at, {0, 1}, kTranspose) != 0) op.mode |= kTransposesB;
  }
  op.r[kWarp] = d.special(*special_register("%warpid"), 4);
  // D is read and written when the product is made, and no sooner may anything else touch it: it is a source,
  // so that what is still to come into it is there, and no destination, so that products follow each other.
  op.r[kMatrixD] = take_fragment(d, 0, form.d, layout.d.registers, false);
  for (const Operand& part : d.operand(0).elements)
    if (d.find_register(part) == nullptr) d.fail(part.token.place(), "D of 'wgmma.mma_async' are registers");
  op.run = &issue_tiles;
  op.finish = &finish_tiles;
  MemOp m;
  m.kind = MemKind::load;
  m.space = Space::shared;
  m.type = DataType::b128;
  m.proxy = Proxy::async;
  // The four warps read B together; the tensor cores take 128 bytes of shared memory a cycle.
  const unsigned bytes = n * bytes_of_b(form) / kWarpsOfGroup + (in_registers ? 0 : kRowsOfWarp * kLineBytes);
  m.tile_passes = static_cast<std::uint8_t>(std::max(1U, bytes / 128));
  d.emit_together(op, InstructionKind::memory, 4, &m);
  d.emitted().products = form.sparse ? form.shape.products() / 2 : form.shape.products();
  d.emitted().matrix_class = kind;
}

void decode_wgmma(Decoder& d) {
  if (d.take(".mma_async")) return decode_product(d);
  const auto which = d.take_one_of({".fence", ".commit_group", ".wait_group"});
  if (!which) d.fail("'wgmma' needs '.mma_async', '.fence', '.commit_group' or '.wait_group'");
  need_aligned(d);
  d.need_operands(*which == 2 ? 1 : 0);
  std::uint32_t groups = 0;
  if (*which == 2) {
    const Operand& n = d.operand(0);
    if (n.kind != Operand::Kind::integer || n.bits > 7)
      d.fail(n.token.place(), "expected the number of groups as a number from 0 to 7");
    groups = static_cast<std::uint32_t>(n.bits);
  }
  constexpr InstructionKind kKinds[] = {InstructionKind::alu, InstructionKind::commit_products,
                                        InstructionKind::wait_products};
  Op op;
  op.run = [](const Op&, Frame& f) { static_cast<void>(is_whole_warp(f)); };
  d.emit_together(op, kKinds[*which], latency::kControl);
  d.emitted().groups_left = groups;
}

}  // namespace

std::vector<Opcode> warpgroup_opcodes() {
  return {{"wgmma", &decode_wgmma}};
}

}  // namespace warpline::ptx
