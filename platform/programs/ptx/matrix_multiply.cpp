// mma, mma.sp, and wmma with its loads and stores (PTX ISA, "Warp Level Matrix Multiply-Accumulate
// Instructions").
#include <algorithm>

#include "platform/programs/ptx/matrix_rows.h"
#include "platform/programs/ptx/matrix_words.h"
#include "platform/programs/ptx/memory_handlers.h"
#include "platform/programs/ptx/memory_operands.h"
#include "platform/programs/ptx/opcodes.h"

namespace warpline::ptx {
namespace {

constexpr unsigned kMetadata = 4;         ///< operand, behind those of matrices
constexpr unsigned kStride = 10;          ///< of wmma.load and wmma.store, elements
constexpr std::size_t kMostBytes = 2048;  ///< of a fragment of 32 lanes

void run_product(const Op& op, Frame& f) {
  if (!is_whole_warp(f)) return;
  const MatrixProduct::Layout& layout = op.product->layout();
  alignas(64) std::byte a[kMostBytes], b[kMostBytes], c[kMostBytes], d[kMostBytes];
  read_fragment(op, f, kMatrixA, layout.a, a);
  read_fragment(op, f, kMatrixB, layout.b, b);
  read_fragment(op, f, kMatrixC, layout.c, c);
  const bool sparse = op.product->form().sparse;
  op.product->run(a, b, c, d, sparse ? f.in<std::uint32_t>(op.r[kMetadata]) : nullptr,
                  static_cast<unsigned>(op.immediate));
  write_fragment(op, f, kMatrixD, layout.d, d);
}

bool is_one_of(const MatrixShape& shape, std::initializer_list<MatrixShape> all) {
  return std::find(all.begin(), all.end(), shape) != all.end();
}

bool is_float_sum(MatrixType t) {
  return t == MatrixType::f16 || t == MatrixType::f32;
}

/// PTX ISA, "mma", "mma.sp", and ptxas 13.0.
bool has_mma(const MatrixForm& f) {
  const MatrixShape& s = f.shape;
  const bool same = f.a == f.b, same_sum = f.c == f.d;
  switch (class_of(f.a)) {
    case MatrixClass::f16:
      if (!same) return false;
      if (f.a == MatrixType::f16 && !f.sparse && s == MatrixShape{8, 8, 4})
        return is_float_sum(f.c) && is_float_sum(f.d) && (same_sum || f.d == MatrixType::f32);
      if (!same_sum || !(f.a == MatrixType::f16 ? is_float_sum(f.c) : f.c == MatrixType::f32)) return false;
      return f.sparse ? is_one_of(s, {{16, 8, 16}, {16, 8, 32}}) : is_one_of(s, {{16, 8, 8}, {16, 8, 16}});
    case MatrixClass::tf32:
      if (!same || !same_sum || f.c != MatrixType::f32) return false;
      return f.sparse ? is_one_of(s, {{16, 8, 8}, {16, 8, 16}}) : is_one_of(s, {{16, 8, 4}, {16, 8, 8}});
    case MatrixClass::f8:
      if (class_of(f.b) != MatrixClass::f8 || !same_sum || !is_float_sum(f.c)) return false;
      return f.sparse ? s == MatrixShape{16, 8, 64} : is_one_of(s, {{16, 8, 16}, {16, 8, 32}});
    case MatrixClass::f64:
      return same && same_sum && f.c == MatrixType::f64 && !f.sparse &&
             is_one_of(s, {{8, 8, 4}, {16, 8, 4}, {16, 8, 8}, {16, 8, 16}});
    case MatrixClass::s8:
      if (class_of(f.b) != MatrixClass::s8 || !same_sum || f.c != MatrixType::s32) return false;
      return f.sparse ? is_one_of(s, {{16, 8, 32}, {16, 8, 64}})
                      : is_one_of(s, {{8, 8, 16}, {16, 8, 16}, {16, 8, 32}});
    case MatrixClass::s4:
      if (class_of(f.b) != MatrixClass::s4 || !same_sum || f.c != MatrixType::s32) return false;
      return f.sparse ? is_one_of(s, {{16, 8, 64}, {16, 8, 128}})
                      : is_one_of(s, {{8, 8, 32}, {16, 8, 32}, {16, 8, 64}});
    case MatrixClass::b1:
      return same && same_sum && f.c == MatrixType::s32 && !f.sparse &&
             is_one_of(s, {{8, 8, 128}, {16, 8, 128}, {16, 8, 256}});
  }
  return false;
}

constexpr std::initializer_list<MatrixShape> kLargeShapes = {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}};

/// PTX ISA, "wmma.mma".
bool has_wmma(const MatrixForm& f) {
  const MatrixShape& s = f.shape;
  const bool sums_same = f.c == f.d;
  if (class_of(f.a) != class_of(f.b)) return false;
  switch (class_of(f.a)) {
    case MatrixClass::f16:
      if (f.a != f.b || !is_one_of(s, kLargeShapes)) return false;
      return f.a == MatrixType::f16 ? is_float_sum(f.c) && is_float_sum(f.d)
                                    : sums_same && f.c == MatrixType::f32;
    case MatrixClass::tf32: return sums_same && f.c == MatrixType::f32 && s == MatrixShape{16, 16, 8};
    case MatrixClass::f64: return sums_same && f.c == MatrixType::f64 && s == MatrixShape{8, 8, 4};
    case MatrixClass::f8: return false;
    default: break;
  }
  if (!sums_same || f.c != MatrixType::s32 || (f.a != f.b)) return false;
  switch (class_of(f.a)) {
    case MatrixClass::s8: return is_one_of(s, kLargeShapes);
    case MatrixClass::s4: return s == MatrixShape{8, 8, 32};
    default: return s == MatrixShape{8, 8, 128};
  }
}

/// Qualifiers of single types: saturation, rounding, the product of bits.
void take_arithmetic(Decoder& d, MatrixForm& form) {
  const MatrixClass c = class_of(form.a);
  if (c == MatrixClass::s8 || c == MatrixClass::s4) form.saturate = d.take(".satfinite");
  if (c == MatrixClass::f64) form.rounding = d.take_rounding();
  if (c != MatrixClass::b1) return;
  const std::size_t product =
      d.need_one_of({".xor", ".and"}, d.opcode() + " of '.b1' needs '.xor' or '.and'");
  form.bits = product == 0 ? BitProduct::exclusive_or : BitProduct::conjunction;
  if (!d.take(".popc")) d.fail(d.opcode() + " of '.b1' needs '.popc'");
}

void emit_product(Decoder& d, Op op) {
  op.run = &run_product;
  const MatrixForm& form = op.product->form();
  const std::uint32_t products = form.shape.products() * (op.product->layout().quads ? 4 : 1);
  d.emit_together(op, InstructionKind::matrix, 1);
  d.emitted().products = form.sparse ? products / 2 : products;
  d.emitted().matrix_class = class_of(form.a);
}

void decode_mma(Decoder& d) {
  MatrixForm form;
  form.sparse = d.take_one_of({".sp", ".sp::ordered_metadata"}).has_value();
  const std::string name = form.sparse ? "mma.sp" : "mma";
  need_aligned(d);
  for (const Token& q : d.statement().qualifiers)
    if (q.text.substr(0, 6) == ".kind:" || q.is(".block_scale"))
      d.fail(q.place(), "qualifier " + quoted(q.text) + " is of sm_120a and not modelled in this version");
  const MatrixWords s = take_matrix_words(d);
  if (s.types.size() != 4) d.fail(quoted(name) + " needs the types of D, A, B and C");
  if (s.columns.size() != 2) d.fail(quoted(name) + " needs the layouts of A and B");
  form.shape = s.shape;
  form.d = s.types[0];
  form.a = s.types[1];
  form.b = s.types[2];
  form.c = s.types[3];
  if (!has_mma(form)) fail_shape(d, s, name);
  const bool quads = form.shape == MatrixShape{8, 8, 4} && form.a == MatrixType::f16;
  if (!quads && (s.columns[0] || !s.columns[1]))
    d.fail(quoted(name) + " of this shape has the layouts '.row.col'");
  take_arithmetic(d, form);
  d.need_operands(form.sparse ? 6 : 4);
  Op op;
  op.product = d.keep(mma_product(form, s.columns[0], s.columns[1]));
  const MatrixProduct::Layout& layout = op.product->layout();
  op.r[kMatrixA] = take_fragment(d, 1, form.a, layout.a.registers, false);
  op.r[kMatrixB] = take_fragment(d, 2, form.b, layout.b.registers, false);
  op.r[kMatrixC] = take_fragment(d, 3, form.c, layout.c.registers, false);
  if (form.sparse) {
    op.r[kMetadata] = d.source(4, DataType::b32);
    op.immediate = take_selector(d, 5, form);
  }
  op.r[kMatrixD] = take_fragment(d, 0, form.d, layout.d.registers, true);
  emit_product(d, op);
}

// wmma.

/// Registers that PTX gives a fragment of A or B: those of f16 have always 8.
unsigned declared_registers(MatrixType type, const Fragment& fragment) {
  return type == MatrixType::f16 ? 8 : fragment.registers;
}

void decode_wmma_product(Decoder& d) {
  need_aligned(d);
  const MatrixWords s = take_matrix_words(d);
  MatrixForm form;
  form.shape = s.shape;
  if (s.types.size() == 2) {
    form.d = s.types[0];
    form.c = s.types[1];
  } else if (s.types.size() == 4) {
    form.d = s.types[0];
    form.a = s.types[1];
    form.b = s.types[2];
    form.c = s.types[3];
  } else {
    d.fail(
        "'wmma.mma' needs the types of D and C, and between them those of A and B where these are not f16");
  }
  if (s.columns.size() != 2) d.fail("'wmma.mma' needs the layouts of A and B");
  if (!has_wmma(form)) fail_shape(d, s, "wmma.mma");
  const bool narrow = bits_of(form.a) < 8;
  if (narrow && (s.columns[0] || !s.columns[1])) d.fail("'wmma.mma' of this type has the layouts '.row.col'");
  take_arithmetic(d, form);
  d.need_operands(4);
  Op op;
  op.product = d.keep(wmma_product(form, s.columns[0], s.columns[1]));
  const MatrixProduct::Layout& layout = op.product->layout();
  op.r[kMatrixA] = take_fragment(d, 1, form.a, declared_registers(form.a, layout.a), false);
  op.r[kMatrixB] = take_fragment(d, 2, form.b, declared_registers(form.b, layout.b), false);
  op.r[kMatrixC] = take_fragment(d, 3, form.c, layout.c.registers, false);
  op.r[kMatrixD] = take_fragment(d, 0, form.d, layout.d.registers, true);
  emit_product(d, op);
}

/// What Op::mode of a wmma access says that each lane moves.
enum class Piece : std::uint8_t {
  chunk,    ///< chunk Op::target of its fragment, which lies together in memory
  element,  ///< element Op::target, as neighbours of the fragment are apart in memory
};

/// Where lane's piece lies behind the matrix's first element, for each lane.
void place_pieces(const Op& op, Frame& f) {
  const LoadedFragment& fragment = *op.fragment;
  MemoryAccess& access = *f.issue->access;
  const std::uint32_t* strides = f.in<std::uint32_t>(op.r[kStride]);
  const unsigned per_chunk = fragment.chunk_bytes * 8 / fragment.bits;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    const unsigned piece = static_cast<Piece>(op.mode) == Piece::chunk ? op.target : op.target / per_chunk;
    const unsigned chunk = piece * kWarpLanes + lane;
    const std::uint64_t across = chunk / fragment.chunks_per_line;
    const std::uint64_t along = std::uint64_t{chunk % fragment.chunks_per_line} * per_chunk;
    const std::uint64_t stride = strides[lane];
    if (static_cast<Piece>(op.mode) == Piece::chunk) {
      access.address[lane] += across * stride * fragment.element_bits / 8 + along * fragment.bits / 8;
    } else {
      access.address[lane] += ((along + op.target % per_chunk) * stride + across) * fragment.bits / 8;
    }
  }
}

void start_wmma(const Op& op, Frame& f) {
  issue_load(op, f);
  place_pieces(op, f);
}

void issue_wmma_load(const Op& op, Frame& f) {
  if (is_whole_warp(f)) start_wmma(op, f);
}

/// Bytes of a lane's piece that are of register n, and where they are in it.
struct RegisterPart {
  unsigned at, bytes, in_register;
};
RegisterPart slot_of(const Op& op, unsigned n) {
  const LoadedFragment& fragment = *op.fragment;
  if (static_cast<Piece>(op.mode) == Piece::element) {
    const unsigned bytes = fragment.bits / 8;
    return {0, bytes, op.target % fragment.parts() * bytes};
  }
  const unsigned registers = fragment.chunk_bytes / fragment.register_bytes;
  return {n % registers * fragment.register_bytes, fragment.register_bytes, 0};
}

void finish_wmma_load(const Op& op, Frame& f) {
  const unsigned step = op.fragment->register_bytes;
  for (unsigned n = 0; n < op.count; ++n) {
    const RegisterPart s = slot_of(op, n);
    std::byte* to = f.file + op.r[n] + s.in_register;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane)
      std::memcpy(to + std::size_t{lane} * step, f.loaded->lane_data(lane) + s.at, s.bytes);
  }
}

void issue_wmma_store(const Op& op, Frame& f) {
  if (!is_whole_warp(f)) return;
  start_wmma(op, f);
  const unsigned step = op.fragment->register_bytes;
  for (unsigned n = 0; n < op.count; ++n) {
    const RegisterPart s = slot_of(op, n);
    const std::byte* from = f.at(op.r[n]) + s.in_register;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane)
      std::memcpy(f.issue->access->lane_data(lane) + s.at, from + std::size_t{lane} * step, s.bytes);
  }
}

/// A, B, C or D of a `wmma` of this shape.
bool has_wmma_fragment(unsigned role, MatrixType type, const MatrixShape& shape) {
  constexpr MatrixType kInputs[] = {MatrixType::f16, MatrixType::bf16, MatrixType::tf32,
                                    MatrixType::f64, MatrixType::s8,   MatrixType::u8,
                                    MatrixType::s4,  MatrixType::u4,   MatrixType::b1};
  return std::any_of(std::begin(kInputs), std::end(kInputs), [&](MatrixType input) {
    MatrixForm form;
    form.shape = shape;
    form.a = form.b = role == kMatrixA || role == kMatrixB ? type : input;
    for (const MatrixType sum : {MatrixType::f16, MatrixType::f32, MatrixType::f64, MatrixType::s32}) {
      form.c = form.d = role == kMatrixA || role == kMatrixB ? sum : type;
      if (has_wmma(form)) return true;
    }
    return false;
  });
}

void decode_wmma_access(Decoder& d, bool load) {
  const auto named = load ? d.take_one_of({".a", ".b", ".c"}) : d.take_one_of({".d"});
  if (!named) d.fail(load ? "'wmma.load' needs '.a', '.b' or '.c'" : "'wmma.store' needs '.d'");
  const unsigned role = !load ? kMatrixD : *named == 0 ? kMatrixA : *named == 1 ? kMatrixB : kMatrixC;
  need_aligned(d);
  MemOp m;
  m.kind = load ? MemKind::load : MemKind::store;
  if (const auto space = d.take_one_of({".global", ".shared", ".shared::cta"}))
    m.space = *space == 0 ? Space::global : Space::shared;
  const MatrixWords s = take_matrix_words(d);
  const std::string name = load ? "wmma.load" : "wmma.store";
  if (s.types.size() != 1) d.fail(quoted(name) + " needs a type");
  if (s.columns.size() != 1) d.fail(quoted(name) + " needs a layout");
  const MatrixType type = s.types[0];
  if (!has_wmma_fragment(role, type, s.shape)) fail_shape(d, s, name);
  const bool input = role == kMatrixA || role == kMatrixB;
  const bool column = s.columns[0];
  if (input && bits_of(type) < 8 && column != (role == kMatrixB))
    d.fail(quoted(name) + " of this type has the layout " + quoted(role == kMatrixB ? ".col" : ".row"));
  const unsigned rows = role == kMatrixB ? s.shape.k : s.shape.m,
                 columns = role == kMatrixA ? s.shape.k : s.shape.n;
  const LoadedFragment* fragment = d.keep(wmma_fragment(type, rows, columns, input && column));
  const unsigned declared = input ? declared_registers(type, *fragment) : fragment->registers;
  d.need_operands(2, 3);
  const std::vector<Operand>& parts = need_vector(d, d.operand(load ? 0 : 1), declared);
  // C and D lie in registers in one way, whatever their layout in memory.
  const bool apart = !input && column;
  const unsigned units = fragment->registers * fragment->parts();
  const unsigned per_register = fragment->parts();
  for (unsigned piece = 0; piece < (apart ? units : fragment->chunks); ++piece) {
    Op op;
    op.fragment = fragment;
    op.mode = static_cast<std::uint8_t>(apart ? Piece::element : Piece::chunk);
    // Of two elements in a register the second would wait for the first.
    op.target = apart ? piece % fragment->registers * per_register + piece / fragment->registers : piece;
    const unsigned bytes = apart ? fragment->bits / 8 : fragment->chunk_bytes;
    m.type = bytes == 2 ? DataType::b16 : fragment->register_bytes == 8 ? DataType::b64 : DataType::b32;
    m.vector = static_cast<std::uint8_t>(bytes / size_of(m.type));
    take_address(d, d.operand(load ? 1 : 0), op, m);
    op.r[kStride] =
        d.operand_count() == 3 ? d.source(2, DataType::b32) : d.constant(column ? rows : columns, 4);
    const unsigned in_chunk = fragment->chunk_bytes / fragment->register_bytes;
    const unsigned first = apart ? op.target / per_register : piece * in_chunk;
    op.count = static_cast<std::uint8_t>(apart ? 1 : fragment->chunks > 1 ? in_chunk : declared);
    for (unsigned n = 0; n < op.count; ++n) {
      const Operand& part = parts[first + n];
      op.r.at(n) = load ? d.destination(part, register_type(type)) : d.source(part, register_type(type));
    }
    op.run = load ? &issue_wmma_load : &issue_wmma_store;
    op.finish = load ? &finish_wmma_load : nullptr;
    d.emit_together(op, InstructionKind::memory, 4, &m);
  }
}

void decode_wmma(Decoder& d) {
  if (d.take(".mma")) return decode_wmma_product(d);
  if (d.take(".load")) return decode_wmma_access(d, true);
  if (d.take(".store")) return decode_wmma_access(d, false);
  d.fail("'wmma' needs '.load', '.store' or '.mma'");
}

}  // namespace

std::vector<Opcode> matrix_opcodes() {
  return {{"mma", &decode_mma}, {"wmma", &decode_wmma}};
}

}  // namespace warpline::ptx
