// Textures and surfaces with their coordinates (PTX ISA, "tex", "suld", "sust").

#include <algorithm>
#include <array>

#include "warpline/programs/ptx/legality/operand_judge.h"

namespace warpline::ptx {
namespace {

struct Geometry {
  const char* word;
  std::size_t coordinates;  ///< at least; more are read over
  bool layered;             ///< the first coordinate is the layer of an array, an integer
};
constexpr std::array<Geometry, 9> kGeometries = {{{".1d", 1, false},
                                                  {".2d", 2, false},
                                                  {".3d", 4, false},
                                                  {".a1d", 2, true},
                                                  {".a2d", 4, true},
                                                  {".cube", 4, false},
                                                  {".acube", 4, true},
                                                  {".2dms", 4, false},
                                                  {".a2dms", 4, true}}};

const Geometry* geometry_of(const WordSet& words) {
  const auto* const found = std::find_if(kGeometries.begin(), kGeometries.end(), [&](const Geometry& g) {
    return (words & words_named(g.word)).any();
  });
  return found == kGeometries.end() ? nullptr : found;
}

}  // namespace

void OperandJudge::image(DataType type) {
  if (o_.kind != Operand::Kind::address) return fault(o_, "expected [object, {coordinates}]");
  if (o_.offset != 0) fault(o_, "a handle takes no offset");
  const Meaning m = meaning(o_);
  if (m.kind == Meaning::Kind::reg && (is_float(m.type) || size_of(m.type) != 8 || m.vector != 1))
    fault(o_, "a " + type_text(m.type) + " register holds no handle", "it has 64 bits");
  if (m.kind != Meaning::Kind::reg && m.kind != Meaning::Kind::nothing)
    fault(o_, quoted(o_.name) + " is neither texture nor surface", "a register of 64 bits holds its handle");
  const bool sampled = a_.second_type != DataType::none && o_.elements.size() == 2;
  if (o_.elements.size() != 1 && !sampled) return fault(o_, "expected coordinates after the object");
  if (sampled) value(o_.elements[0], DataType::u64, Width::exact);
  coordinates(o_.elements.back(), type);
}

void OperandJudge::coordinates(const Operand& where, DataType type) {
  const Geometry* const geometry = geometry_of(a_.words);
  const std::vector<Operand> all =
      where.kind == Operand::Kind::vector ? where.elements : std::vector<Operand>{where};
  if (all.size() != 1 && all.size() != 2 && all.size() != 4) return fault(where, "coordinates are 1, 2 or 4");
  if (geometry != nullptr && where.kind == Operand::Kind::vector && all.size() < geometry->coordinates)
    return fault(where, quoted(geometry->word) + " takes " + std::to_string(geometry->coordinates) +
                            " coordinates, not " + std::to_string(all.size()));
  const bool textured = a_.second_type != DataType::none;
  const bool bits = untyped(all);
  for (const Operand& e : all) {
    const bool layer = geometry != nullptr && geometry->layered && textured && &e == all.data();
    const Meaning m = e.kind == Operand::Kind::name ? meaning(e) : Meaning{};
    if (m.kind == Meaning::Kind::special_register) continue;
    if (e.kind == Operand::Kind::name && (m.kind != Meaning::Kind::reg || e.offset != 0))
      fault(e, "expected a register, found " + quoted(e.token.text));
    else if (layer && (is_float(m.type) || e.kind == Operand::Kind::real))
      fault(e, "the layer is an integer");
    else if (bits && m.kind == Meaning::Kind::reg && (m.type == DataType::pred || size_of(m.type) == 4))
      continue;
    else
      value(e, layer ? DataType::b32 : type, Width::exact);
  }
}

}  // namespace warpline::ptx
