// tex, tld4, txq, suld, sust, sured, suq and istypep (PTX ISA, "Texture Instructions", "Surface
// Instructions"). Textures and surfaces are named by 64-bit handles, as CUDA's texture and surface objects
// are.
#include <algorithm>
#include <array>
#include <cstring>

#include "platform/programs/ptx/memory_handlers.h"
#include "platform/programs/ptx/memory_operands.h"
#include "platform/programs/ptx/opcodes.h"

namespace warpline::ptx {
namespace {

// Operands behind the data's; kNoRef: a coordinate that the geometry has not.
constexpr unsigned kX = 4, kY = 5, kZ = 6, kLayer = 7;
constexpr unsigned kSample = Op::kSecond;    ///< of a texture load: a list, as SampleRefs
constexpr unsigned kResident = Op::kPolicy;  ///< of a texture load: the predicate behind '|'
constexpr std::uint8_t kIntegerLevel = 1;    ///< Op::mode of a level of detail that is an integer

/// The list kSample: what SampleOperands has, 32 bits each.
struct SampleRefs {
  std::array<Ref, 3> dx{kNoRef, kNoRef, kNoRef};
  std::array<Ref, 3> dy{kNoRef, kNoRef, kNoRef};
  std::array<Ref, 3> offset{kNoRef, kNoRef, kNoRef};
  Ref reference = kNoRef;
};

std::uint32_t read(const Frame& f, Ref ref, unsigned lane) {
  return ref == kNoRef ? 0 : f.in<std::uint32_t>(ref)[lane];
}

void fill_coordinates(const Op& op, Frame& f) {
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    const auto coordinate = [&](unsigned n) { return static_cast<std::int32_t>(read(f, op.r.at(n), i)); };
    const ImageCoordinates at{coordinate(kX), coordinate(kY), coordinate(kZ), read(f, op.r[kLayer], i)};
    f.issue->access->second[i] = at.packed();
    f.issue->access->policy[i] = at.packed_rest();
  }
}

void issue_texture_load(const Op& op, Frame& f) {
  issue_load(op, f);
  fill_coordinates(op, f);
  SampleRefs refs;
  std::memcpy(&refs, f.at(op.r[kSample]), sizeof refs);
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    SampleOperands s;
    for (unsigned n = 0; n < 3; ++n) {
      s.dx.at(n) = bits_as<float>(read(f, refs.dx.at(n), i));
      s.dy.at(n) = bits_as<float>(read(f, refs.dy.at(n), i));
      // What does not fit is none of the offsets that there are, either.
      s.offset.at(n) = static_cast<std::int8_t>(
          std::clamp(static_cast<std::int32_t>(read(f, refs.offset.at(n), i)), -128, 127));
    }
    if (op.mode == kIntegerLevel)
      s.dx[0] = static_cast<float>(static_cast<std::int32_t>(read(f, refs.dx[0], i)));
    s.reference = bits_as<float>(read(f, refs.reference, i));
    std::memcpy(f.issue->access->lane_data(i), &s, sizeof s);
  }
}

/// Texels are as wide as their registers. Everything that a handle names is resident.
void finish_texture_load(const Op& op, Frame& f) {
  for (unsigned e = 0; e < op.count; ++e)
    if (op.r.at(e) != kNoRef)
      copy_lanes(f.active, op.data_bytes, f.file + op.r.at(e), op.data_bytes,
                 f.loaded->data + std::size_t{e} * op.data_bytes, MemoryAccess::kMaxLaneBytes);
  f.set_predicate(op.r[kResident], kAllLanes);
}

void issue_surface_load(const Op& op, Frame& f) {
  issue_load(op, f);
  fill_coordinates(op, f);
}

void issue_surface_store(const Op& op, Frame& f) {
  store_handler(op.data_bytes, op.register_bytes)(op, f);
  fill_coordinates(op, f);
}

/// The query's answer, and for istypep whether it is not 0.
void issue_query(const Op& op, Frame& f) {
  issue_load(op, f);
  if (op.r[kSample] != kNoRef)
    copy_lanes(kAllLanes, 4, f.issue->access->data, MemoryAccess::kMaxLaneBytes, f.at(op.r[kSample]), 4);
}
void finish_type_query(const Op& op, Frame& f) {
  LaneMask holds = 0;
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    std::uint32_t answer = 0;
    std::memcpy(&answer, f.loaded->lane_data(i), sizeof answer);
    if (answer != 0) holds |= kLaneBit[i];
  }
  f.set_predicate(op.r[0], holds);
}

/// An instruction's geometry, of those in `allowed`.
Geometry take_geometry(Decoder& d, std::initializer_list<Geometry> allowed) {
  for (const Token& token : d.statement().qualifiers) {
    const Qualifier* const q = find_qualifier(token.text.substr(1));
    if (q == nullptr || q->slot != Slot::geometry) continue;
    const auto geometry = value_of<Geometry>(*q);
    if (!geometry)
      d.fail(token.place(), "qualifier " + quoted(token.text) + " is not modelled in this version",
             "textures of several samples are not; those of '.1d' to '.acube' are");
    if (std::find(allowed.begin(), allowed.end(), *geometry) == allowed.end())
      d.fail(token.place(), d.opcode() + " takes no " + quoted(token.text));
    d.take(token.text);
    return *geometry;
  }
  d.fail(d.opcode() + " needs a geometry such as '.2d'");
}

/// Coordinates without the layer.
unsigned dimensions_of(Geometry geometry) {
  switch (geometry) {
    case Geometry::d1:
    case Geometry::a1d: return 1;
    case Geometry::d2:
    case Geometry::a2d: return 2;
    default: return 3;
  }
}
bool has_layer(Geometry geometry) {
  return geometry == Geometry::a1d || geometry == Geometry::a2d || geometry == Geometry::acube;
}

/// The handle of `[handle, ...]`.
void take_handle(Decoder& d, const Operand& o, Op& op) {
  Operand handle = o;
  handle.kind = Operand::Kind::name;
  handle.elements.clear();
  const Register* r = d.find_register(handle);
  if (r == nullptr || size_of(r->type) != 8 || o.offset != 0)
    d.fail(o.token.place(), "a texture or surface is named by a 64-bit register that holds its handle",
           "texture and surface references are not modelled in this version");
  op.r[Op::kAddress] = d.reads(*r);
}

/// The elements of a vector, or the one operand that stands for a vector of one.
std::vector<Operand> elements_of(const Operand& o) {
  return o.kind == Operand::Kind::vector ? o.elements : std::vector<Operand>{o};
}

/// `count` elements of `o`, of which it may have one more that nobody reads.
void take_numbers(Decoder& d, const Operand& o, unsigned count, DataType type, Ref* refs) {
  const std::vector<Operand> all = elements_of(o);
  if (all.size() != count && !(count == 3 && all.size() == 4))
    d.fail(o.token.place(),
           "expected " + std::to_string(count) + " elements, not " + std::to_string(all.size()));
  for (unsigned n = 0; n < count; ++n) refs[n] = d.source(all[n], type);
}

/// `[handle, {layer, x, y, z}]`, of which the geometry says what is there; a fourth element may fill up.
void take_image(Decoder& d, const Operand& o, Op& op, Geometry geometry, DataType coordinates) {
  if (o.kind != Operand::Kind::address) d.fail(o.token.place(), "expected [handle, {coordinates}]");
  take_handle(d, o, op);
  if (o.elements.size() > 1)
    d.fail(o.elements[0].token.place(), "samplers are not modelled in this version",
           "a texture object has its sampler with it");
  if (o.elements.empty()) d.fail(o.token.place(), "expected coordinates after the handle");
  const Operand& where = o.elements[0];
  const std::vector<Operand> all = elements_of(where);
  const unsigned layer = has_layer(geometry) ? 1 : 0, wanted = layer + dimensions_of(geometry);
  const std::size_t size = wanted == 3 ? 4 : wanted;
  if (all.size() != size)
    d.fail(where.token.place(),
           "expected " + std::to_string(size) + " coordinates, not " + std::to_string(all.size()));
  op.r[kX] = op.r[kY] = op.r[kZ] = op.r[kLayer] = kNoRef;
  if (layer != 0) op.r[kLayer] = d.source(all[0], DataType::b32);
  for (unsigned n = 0; n < dimensions_of(geometry); ++n)
    op.r.at(kX + n) = d.source(all[layer + n], coordinates);
}

/// What follows the coordinates from operand `index` on: offsets in texels, and a reference to compare with.
void take_adjustments(Decoder& d, std::size_t index, Geometry geometry, MemOp& m, SampleRefs& refs) {
  const auto is_offset = [&](const Operand& o) {
    if (o.kind == Operand::Kind::vector || o.kind == Operand::Kind::integer) return true;
    const Register* const r = d.find_register(o);
    return r != nullptr && r->type == DataType::s32;
  };
  if (index < d.operand_count() && is_offset(d.operand(index))) {
    if (geometry == Geometry::cube || geometry == Geometry::acube)
      d.fail(d.operand(index).token.place(), "a cube takes no offsets");
    take_numbers(d, d.operand(index++), dimensions_of(geometry), DataType::s32, refs.offset.data());
  }
  if (index < d.operand_count()) {
    if (geometry == Geometry::d3) d.fail(d.operand(index).token.place(), "'.3d' takes no comparison");
    refs.reference = d.source(index++, DataType::f32);
    m.image.compares = true;
  }
  if (index < d.operand_count())
    d.fail(d.operand(index).token.place(), d.opcode() + " takes no further operand");
}

void emit_texture_load(Decoder& d, Op& op, MemOp& m, const SampleRefs& refs) {
  const Operand& to = d.operand(0);
  op.r[kResident] = kNoRef;
  take_elements(d, to.kind == Operand::Kind::pair ? to.elements[0] : to, op, m, true);
  if (to.kind == Operand::Kind::pair) op.r[kResident] = d.predicate_destination(to.elements[1]);
  std::vector<Ref> list(sizeof refs / sizeof(Ref));
  std::memcpy(list.data(), &refs, sizeof refs);
  op.r[kSample] = d.list(list);
  op.run = &issue_texture_load;
  op.finish = &finish_texture_load;
  d.emit(op, InstructionKind::memory, 4, &m);
}

MemOp texture_operation(Decoder& d, MemKind kind) {
  MemOp m = take_qualifiers(d, kind);
  m.space = Space::texture;
  m.proxy = Proxy::texture;
  return m;
}

void decode_tex(Decoder& d) {
  MemOp m = texture_operation(d, MemKind::texture_load);
  const auto mode = d.take_one_of({".base", ".level", ".grad"});
  if (mode) m.image.sampling = static_cast<Sampling>(*mode);
  const Geometry geometry = take_geometry(d, {Geometry::d1, Geometry::d2, Geometry::d3, Geometry::a1d,
                                              Geometry::a2d, Geometry::cube, Geometry::acube});
  m.image.geometry = geometry;
  m.type = d.take_type({DataType::u32, DataType::s32, DataType::f32, DataType::f16, DataType::f16x2});
  if (m.vector != (m.type == DataType::f16x2 ? 2 : 4)) d.fail("'tex' needs '.v4', and '.v2' with '.f16x2'");
  const DataType coordinates = d.take_type({DataType::s32, DataType::f32});
  m.image.float_coordinates = coordinates == DataType::f32;
  Op op;
  SampleRefs refs;
  std::size_t next = 2;
  d.need_operands(2, 6);
  take_image(d, d.operand(1), op, geometry, coordinates);
  if (m.image.sampling == Sampling::level) {
    d.need_operands(3, 5);
    refs.dx[0] = d.source(next++, coordinates);
    if (!m.image.float_coordinates) op.mode = kIntegerLevel;
  } else if (m.image.sampling == Sampling::gradients) {
    d.need_operands(4, 6);
    take_numbers(d, d.operand(next++), dimensions_of(geometry), DataType::f32, refs.dx.data());
    take_numbers(d, d.operand(next++), dimensions_of(geometry), DataType::f32, refs.dy.data());
  }
  take_adjustments(d, next, geometry, m, refs);
  emit_texture_load(d, op, m, refs);
}

void decode_tld4(Decoder& d) {
  MemOp m = texture_operation(d, MemKind::texture_load);
  m.image.sampling = Sampling::gather;
  m.image.float_coordinates = true;
  m.image.component = static_cast<std::uint8_t>(
      d.need_one_of({".r", ".g", ".b", ".a"}, "'tld4' says which component: '.r', '.g', '.b' or '.a'"));
  m.image.geometry = take_geometry(d, {Geometry::d2, Geometry::a2d, Geometry::cube, Geometry::acube});
  if (m.vector != 4) d.fail("'tld4' needs '.v4'");
  m.type = d.take_type({DataType::u32, DataType::s32, DataType::f32});
  static_cast<void>(d.take_type({DataType::f32}));
  d.need_operands(2, 4);
  Op op;
  SampleRefs refs;
  take_image(d, d.operand(1), op, m.image.geometry, DataType::f32);
  take_adjustments(d, 2, m.image.geometry, m, refs);
  emit_texture_load(d, op, m, refs);
}

MemOp surface_operation(Decoder& d, MemKind kind) {
  MemOp m = take_qualifiers(d, kind);
  m.space = Space::surface;
  m.proxy = Proxy::surface;
  return m;
}

void decode_surface(Decoder& d, MemKind kind) {
  const bool load = kind == MemKind::surface_load;
  MemOp m = surface_operation(d, kind);
  m.image.formatted = !load && d.take(".p");
  if (!m.image.formatted && !d.take(".b"))
    d.fail(d.opcode() + (load ? " needs '.b': surfaces are read without their format"
                              : " needs '.b', or '.p' to store components"));
  m.image.geometry =
      take_geometry(d, {Geometry::d1, Geometry::d2, Geometry::d3, Geometry::a1d, Geometry::a2d});
  m.type = m.image.formatted ? d.take_type({DataType::b32})
                             : d.take_type({DataType::b8, DataType::b16, DataType::b32, DataType::b64});
  if (m.bytes_per_lane() > 16) d.fail("this vector is too wide: a surface access has 16 bytes at most");
  d.need_operands(2);
  Op op;
  take_elements(d, d.operand(load ? 0 : 1), op, m, load);
  take_image(d, d.operand(load ? 1 : 0), op, m.image.geometry, DataType::s32);
  op.run = load ? &issue_surface_load : &issue_surface_store;
  op.finish = load ? load_handler(m.type, op.register_bytes) : nullptr;
  d.emit(op, InstructionKind::memory, 4, &m);
}

void decode_sured(Decoder& d) {
  MemOp m = surface_operation(d, MemKind::reduction);
  m.image.formatted = d.take(".p");
  if (!m.image.formatted && !d.take(".b")) d.fail("'sured' needs '.b' or '.p'");
  m.image.geometry = take_geometry(d, {Geometry::d1, Geometry::d2, Geometry::d3});
  m.type = m.image.formatted
               ? d.take_type({DataType::b32, DataType::b64})
               : d.take_type({DataType::u32, DataType::s32, DataType::b32, DataType::u64, DataType::s64});
  const bool adds = m.atomic == AtomicOperation::add;
  const bool orders = m.atomic == AtomicOperation::min || m.atomic == AtomicOperation::max;
  const bool logic = m.atomic == AtomicOperation::bit_and || m.atomic == AtomicOperation::bit_or;
  if (!adds && !orders && !logic) d.fail("'sured' needs '.add', '.min', '.max', '.and' or '.or'");
  const bool fits = m.image.formatted ? m.type == DataType::b32 || orders
                    : logic           ? m.type == DataType::b32
                                      : m.type != DataType::b32 && (orders || m.type != DataType::s64);
  if (!fits) d.fail("'sured' has no such operation on " + type_text(m.type));
  d.need_operands(2);
  Op op;
  op.count = 1;
  op.data_bytes = op.register_bytes = static_cast<std::uint8_t>(size_of(m.type));
  take_image(d, d.operand(0), op, m.image.geometry, DataType::s32);
  op.r[0] = d.source(1, m.type);
  op.run = &issue_surface_store;
  d.emit(op, InstructionKind::memory, 4, &m);
}

/// The qualifiers of queries, as ImageQuery numbers them.
constexpr std::array<std::string_view, 15> kQueries = {".width",
                                                       ".height",
                                                       ".depth",
                                                       ".channel_data_type",
                                                       ".channel_order",
                                                       ".normalized_coords",
                                                       ".array_size",
                                                       ".num_mipmap_levels",
                                                       ".num_samples",
                                                       ".memory_layout",
                                                       ".force_unnormalized_coords",
                                                       ".filter_mode",
                                                       ".addr_mode_0",
                                                       ".addr_mode_1",
                                                       ".addr_mode_2"};

/// Whether PTX lets one ask for it (PTX ISA, "txq", "suq").
bool may_ask(ImageQuery query, bool surface, bool of_level) {
  const bool size = query <= ImageQuery::depth;
  if (of_level) return size;
  if (!surface) return query != ImageQuery::memory_layout;
  return size || query == ImageQuery::channel_data_type || query == ImageQuery::channel_order ||
         query == ImageQuery::array_size || query == ImageQuery::memory_layout;
}

void decode_query(Decoder& d, Space space) {
  MemOp m;
  m.kind = MemKind::image_query;
  m.space = space;
  m.type = DataType::b32;
  const bool of_level = space == Space::texture && d.take(".level");
  if (of_level) m.image.sampling = Sampling::level;
  std::size_t query = 0;
  while (query < kQueries.size() && !d.take(kQueries.at(query))) ++query;
  m.image.query = static_cast<ImageQuery>(query);
  if (query == kQueries.size() || !may_ask(m.image.query, space == Space::surface, of_level))
    d.fail(d.opcode() + " says what it asks for, such as '.width'");
  static_cast<void>(d.take_type({DataType::b32}));
  d.need_operands(of_level ? 3 : 2);
  Op op;
  op.count = 1;
  const Operand& from = d.operand(1);
  if (from.kind != Operand::Kind::address || !from.elements.empty())
    d.fail(from.token.place(), "expected [handle]");
  take_handle(d, from, op);
  op.r[kSample] = of_level ? d.source(2, DataType::b32) : kNoRef;
  op.r[0] = d.destination(0, DataType::b32);
  op.run = &issue_query;
  op.finish = load_handler(DataType::b32, 4);
  d.emit(op, InstructionKind::memory, 4, &m);
}

void decode_istypep(Decoder& d) {
  MemOp m;
  m.kind = MemKind::image_query;
  m.space = Space::texture;
  m.type = DataType::b32;
  m.image.query =
      static_cast<ImageQuery>(static_cast<std::size_t>(ImageQuery::is_texture) +
                              d.need_one_of({".texref", ".surfref", ".samplerref"},
                                            "'istypep' needs '.texref', '.surfref' or '.samplerref'"));
  d.need_operands(2);
  Op op;
  op.r[kSample] = kNoRef;
  op.r[Op::kAddress] = d.source(1, DataType::u64);
  op.r[0] = d.predicate_destination(d.operand(0));
  op.run = &issue_query;
  op.finish = &finish_type_query;
  d.emit(op, InstructionKind::memory, 4, &m);
}

}  // namespace

std::vector<Opcode> texture_opcodes() {
  return {{"tex", &decode_tex},
          {"tld4", &decode_tld4},
          {"txq", [](Decoder& d) { decode_query(d, Space::texture); }},
          {"suld", [](Decoder& d) { decode_surface(d, MemKind::surface_load); }},
          {"sust", [](Decoder& d) { decode_surface(d, MemKind::surface_store); }},
          {"sured", &decode_sured},
          {"suq", [](Decoder& d) { decode_query(d, Space::surface); }},
          {"istypep", &decode_istypep}};
}

}  // namespace warpline::ptx
