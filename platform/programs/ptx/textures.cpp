// tex, suld and sust in their unfiltered forms (PTX ISA, "Texture Instructions", "Surface Instructions").
// Textures and surfaces are named by 64-bit handles, as CUDA's texture and surface objects are.
#include <cmath>
#include <limits>

#include "platform/programs/ptx/memory_handlers.h"
#include "platform/programs/ptx/memory_operands.h"
#include "platform/programs/ptx/opcodes.h"

namespace warpline::ptx {
namespace {

constexpr unsigned kX = 6;  ///< operands that hold the coordinates; kY: kNoRef with one dimension
constexpr unsigned kY = 7;
/// Op::mode of coordinates that are floating-point numbers.
constexpr std::uint8_t kFloatCoordinates = 1;

/// The texel that a coordinate lies in. No number is texel 0.
std::int32_t texel_of(float coordinate) {
  constexpr auto kLow = std::numeric_limits<std::int32_t>::min(),
                 kHigh = std::numeric_limits<std::int32_t>::max();
  if (std::isnan(coordinate)) return 0;
  const double whole = std::floor(static_cast<double>(coordinate));
  return whole <= kLow ? kLow : whole >= kHigh ? kHigh : static_cast<std::int32_t>(whole);
}

void fill_coordinates(const Op& op, Frame& f) {
  const auto read = [&](unsigned operand, unsigned lane) {
    if (op.r.at(operand) == kNoRef) return 0;
    const std::uint32_t bits = f.in<std::uint32_t>(op.r.at(operand))[lane];
    return op.mode == kFloatCoordinates ? texel_of(bits_as<float>(bits)) : static_cast<std::int32_t>(bits);
  };
  for (unsigned i = 0; i < kWarpLanes; ++i)
    f.issue->access->second[i] = ImageCoordinates{read(kX, i), read(kY, i)}.packed();
}

void issue_image_load(const Op& op, Frame& f) {
  issue_load(op, f);
  fill_coordinates(op, f);
}

void issue_image_store(const Op& op, Frame& f) {
  store_handler(op.data_bytes, op.register_bytes)(op, f);
  fill_coordinates(op, f);
}

/// 1 or 2.
unsigned take_dimensions(Decoder& d) {
  for (const Token& token : d.statement().qualifiers) {
    const Qualifier* const q = find_qualifier(token.text.substr(1));
    if (q == nullptr || q->slot != Slot::geometry) continue;
    if (q->value == Qualifier::kNoValue)
      d.fail(token.place(), "qualifier " + quoted(token.text) + " is not modelled in this version",
             "'.1d' and '.2d' are");
    d.take(token.text);
    return q->value;
  }
  d.fail(d.opcode() + " needs '.1d' or '.2d'");
}

/// `[handle, {x, y}]`
void take_image(Decoder& d, const Operand& o, Op& op, unsigned dimensions, DataType coordinates) {
  if (o.kind != Operand::Kind::address) d.fail(o.token.place(), "expected [handle, {coordinates}]");
  Operand handle = o;
  handle.kind = Operand::Kind::name;
  handle.elements.clear();
  const Register* r = d.find_register(handle);
  if (r == nullptr || size_of(r->type) != 8 || o.offset != 0)
    d.fail(o.token.place(), "a texture or surface is named by a 64-bit register that holds its handle",
           "texture and surface references are not modelled in this version");
  if (o.elements.size() > 1) d.fail(o.elements[0].token.place(), "samplers are not modelled in this version");
  if (o.elements.empty()) d.fail(o.token.place(), "expected coordinates after the handle");
  const Operand& where = o.elements[0];
  const bool tuple = where.kind == Operand::Kind::vector;
  const std::size_t n = tuple ? where.elements.size() : 1;
  if (n != dimensions)
    d.fail(where.token.place(),
           "expected " + std::to_string(dimensions) + " coordinates, not " + std::to_string(n));
  op.r[Op::kAddress] = d.reads(*r);
  op.r[kX] = d.source(tuple ? where.elements[0] : where, coordinates);
  op.r[kY] = dimensions == 2 ? d.source(where.elements[1], coordinates) : kNoRef;
  op.mode = coordinates == DataType::f32 ? kFloatCoordinates : 0;
}

void decode_tex(Decoder& d) {
  MemOp m = take_qualifiers(d, MemKind::texture_load);
  m.space = Space::texture;
  m.proxy = Proxy::texture;
  const unsigned dimensions = take_dimensions(d);
  if (m.vector != 4) d.fail("'tex' needs '.v4'");
  m.type = d.take_type({DataType::u32, DataType::s32, DataType::f32});
  const DataType coordinates = d.take_type({DataType::s32, DataType::f32});
  d.need_operands(2);
  Op op;
  take_elements(d, d.operand(0), op, m, true);
  take_image(d, d.operand(1), op, dimensions, coordinates);
  op.run = &issue_image_load;
  op.finish = load_handler(m.type, op.register_bytes);
  d.emit(op, InstructionKind::memory, 4, &m);
}

void decode_surface(Decoder& d, MemKind kind) {
  const bool load = kind == MemKind::surface_load;
  MemOp m = take_qualifiers(d, kind);
  m.space = Space::surface;
  m.proxy = Proxy::surface;
  if (!d.take(".b"))
    d.fail("only unformatted surface accesses are modelled in this version", "write '.b' after the opcode");
  const unsigned dimensions = take_dimensions(d);
  m.type = d.take_type({DataType::b8, DataType::b16, DataType::b32, DataType::b64});
  if (m.bytes_per_lane() > 16) d.fail("this vector is too wide: a surface access has 16 bytes at most");
  d.need_operands(2);
  Op op;
  take_elements(d, d.operand(load ? 0 : 1), op, m, load);
  take_image(d, d.operand(load ? 1 : 0), op, dimensions, DataType::s32);
  op.run = load ? &issue_image_load : &issue_image_store;
  op.finish = load ? load_handler(m.type, op.register_bytes) : nullptr;
  d.emit(op, InstructionKind::memory, 4, &m);
}

}  // namespace

std::vector<Opcode> texture_opcodes() {
  return {{"tex", &decode_tex},
          {"suld", [](Decoder& d) { decode_surface(d, MemKind::surface_load); }},
          {"sust", [](Decoder& d) { decode_surface(d, MemKind::surface_store); }}};
}

}  // namespace warpline::ptx
