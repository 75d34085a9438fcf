// Tensor maps that kernels change: tensormap.replace, and tensormap.cp_fenceproxy, which copies one out of
// shared memory (PTX ISA, "tensormap.replace", "tensormap.cp_fenceproxy").
#include <algorithm>

#include "platform/programs/ptx/matrix_rows.h"
#include "platform/programs/ptx/memory_handlers.h"
#include "platform/programs/ptx/memory_operands.h"
#include "platform/programs/ptx/opcodes.h"
#include "rtl_models/bulk_copy/tensor_map.h"

namespace warpline::ptx {
namespace {

using Field = TensorMap::Field;

struct FieldWord {
  std::string_view word;
  Field field;
  bool has_ordinal;
};
constexpr FieldWord kFields[] = {
    {".global_address", Field::address, false},
    {".rank", Field::rank, false},
    {".box_dim", Field::box, true},
    {".global_dim", Field::shape, true},
    {".global_stride", Field::stride, true},
    {".element_stride", Field::element_stride, true},
    {".elemtype", Field::type, false},
    {".swizzle_mode", Field::swizzle, false},
    {".fill_mode", Field::fill, false},
};

/// The types of elements by their numbers (PTX ISA, "tensormap.replace"). None: not modelled.
constexpr DataType kElementTypes[] = {DataType::u8,   DataType::u16,  DataType::u32,  DataType::s32,
                                      DataType::u64,  DataType::s64,  DataType::f16,  DataType::f32,
                                      DataType::none, DataType::f64,  DataType::bf16, DataType::none,
                                      DataType::none, DataType::none, DataType::none, DataType::none};

/// A store of the field alone. Op::target: which it is; operand 0: its value, of Op::register_bytes.
void issue_replace(const Op& op, Frame& f) {
  issue_load(op, f);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    const std::uint64_t value =
        op.register_bytes == 8 ? f.in<std::uint64_t>(op.r[0])[lane] : f.in<std::uint32_t>(op.r[0])[lane];
    const std::uint64_t stored = TensorMap::stored(static_cast<Field>(op.target), value);
    std::memcpy(f.issue->access->lane_data(lane), &stored, sizeof stored);
  }
}

/// The space that the statement names, or generic.
Space take_map_space(Decoder& d) {
  const auto space = d.take_one_of({".global", ".shared::cta"});
  return !space ? Space::generic : *space == 0 ? Space::global : Space::shared;
}

std::uint64_t literal_of(Decoder& d, const Operand& o) {
  if (o.kind != Operand::Kind::integer) d.fail(o.token.place(), "expected an integer literal");
  return o.bits;
}

/// The value of a field that a literal names, as a descriptor has it.
Ref named_value(Decoder& d, const Operand& o, Field field) {
  std::uint64_t value = literal_of(d, o);
  if (field == Field::type) {
    if (value >= std::size(kElementTypes) || kElementTypes[value] == DataType::none)
      d.fail(o.token.place(), "this type of elements is not modelled in this version",
             "u8 to s64, f16, bf16, f32 and f64 are");
    value = static_cast<std::uint64_t>(kElementTypes[value]);
  }
  return d.constant(value, 4);
}

void decode_replace(Decoder& d) {
  d.take(".tile");
  d.take(".b1024");
  if (d.take(".interleave_layout") || d.has(".swizzle_atomicity"))
    d.fail(d.has(".swizzle_atomicity")
               ? "a swizzle of other pieces than 16 bytes is not modelled in this version"
               : "interleaved tensors are not modelled in this version");
  const auto* const found = std::find_if(std::begin(kFields), std::end(kFields),
                                         [&d](const FieldWord& w) { return d.take(w.word); });
  if (found == std::end(kFields)) d.fail("'tensormap.replace' needs a field such as '.global_address'");
  const std::size_t value = found->has_ordinal ? 2 : 1;
  d.need_operands(value + 1);
  unsigned ordinal = 0;
  if (found->has_ordinal) {
    const std::uint64_t last =
        found->field == Field::stride ? TensorMap::kMaxRank - 2 : TensorMap::kMaxRank - 1;
    const std::uint64_t n = literal_of(d, d.operand(1));
    if (n > last)
      d.fail(d.operand(1).token.place(),
             quoted(found->word) + " is of a number from 0 to " + std::to_string(last));
    ordinal = static_cast<unsigned>(n);
  }
  const TensorMap::Place place = TensorMap::place_of(found->field, ordinal);
  MemOp m;
  m.kind = MemKind::store;
  m.space = take_map_space(d);
  m.type = bits_of_size(place.bytes);
  Op op;
  take_address(d, d.operand(0), op, m);
  op.immediate += place.offset;
  const bool wide = d.take(".b64");
  d.take(".b32");
  const bool named = found->field >= Field::type;
  op.r[0] = named ? named_value(d, d.operand(value), found->field)
                  : d.source(value, wide ? DataType::b64 : DataType::b32);
  op.register_bytes = wide ? 8 : 4;
  op.target = static_cast<std::uint32_t>(found->field);
  op.run = &issue_replace;
  d.emit(op, InstructionKind::memory, 4, &m);
}

constexpr unsigned kWordBytes = TensorMap::kBytes / kWarpLanes;

/// Each lane has one word of the map.
void place_words(const Op& op, Frame& f) {
  issue_load(op, f);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane)
    f.issue->access->address[lane] += std::uint64_t{lane} * kWordBytes;
}
void load_words(const Op& op, Frame& f) {
  if (is_whole_warp(f)) place_words(op, f);
}
void store_words(const Op& op, Frame& f) {
  if (!is_whole_warp(f)) return;
  place_words(op, f);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane)
    std::memcpy(f.issue->access->lane_data(lane), f.in<std::uint32_t>(op.r[0]) + lane, kWordBytes);
}

void decode_copy_and_fence(Decoder& d) {
  need_aligned(d);
  d.take(".global");
  d.take(".shared::cta");
  d.take(".tensormap::generic");
  MemOp fence;
  fence.kind = MemKind::proxy_fence;
  fence.proxy = Proxy::tensormap;
  fence.semantics = d.take_value<Semantics>().value_or(Semantics::release);
  fence.scope = d.take_value<Scope>().value_or(Scope::gpu);
  d.need_operands(3);
  const Register word = d.new_register(DataType::b32);
  Op load;
  MemOp m;
  m.kind = MemKind::load;
  m.space = Space::shared;
  m.type = DataType::b32;
  take_address(d, d.operand(1), load, m);
  load.count = 1;
  load.r[0] = d.writes(word);
  load.run = &load_words;
  load.finish = load_handler(DataType::b32, kWordBytes);
  d.emit_together(load, InstructionKind::memory, 4, &m);
  Op store;
  m.kind = MemKind::store;
  m.space = Space::global;
  take_address(d, d.operand(0), store, m);
  store.r[0] = d.reads(word);
  store.run = &store_words;
  d.emit_together(store, InstructionKind::memory, 4, &m);
  d.emit(Op{}, InstructionKind::fence, 4, &fence);
}

void decode_tensor_map(Decoder& d) {
  if (d.take(".replace")) return decode_replace(d);
  if (!d.take(".cp_fenceproxy")) d.fail("'tensormap' needs '.replace' or '.cp_fenceproxy'");
  decode_copy_and_fence(d);
}

}  // namespace

std::vector<Opcode> tensor_map_opcodes() {
  return {{"tensormap", &decode_tensor_map}};
}

}  // namespace warpline::ptx
