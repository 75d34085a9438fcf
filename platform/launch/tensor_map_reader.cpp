#include "platform/launch/tensor_map_reader.h"

#include <algorithm>
#include <limits>

#include "rtl_models/base/text.h"

namespace warpline {
namespace {

const std::vector<std::string> kSwizzles = {"none", "32B", "64B", "128B"};
const std::vector<std::string> kFills = {"zeros", "nan"};

/// The integers of `key`; none where it does not stand there.
std::vector<std::int64_t> integers(TableReader& reader, const char* key, std::size_t most,
                                   TableReader::Need need = TableReader::optional) {
  std::vector<std::int64_t> out;
  const Member* m = reader.find(key, need);
  if (m == nullptr) return out;
  const bool fits = m->value.kind == Value::Kind::array && !m->value.items.empty() &&
                    m->value.items.size() <= most &&
                    std::all_of(m->value.items.begin(), m->value.items.end(),
                                [](const Value& v) { return v.kind == Value::Kind::integer; });
  if (!fits) {
    reader.fault(m->value.place,
                 std::string(key) + ": must be an array of one to " + std::to_string(most) + " integers");
    return out;
  }
  for (const Value& v : m->value.items) out.push_back(v.integer);
  return out;
}

/// Puts numbers of 32 bits where a map has them, from dimension `first` on. What does not fit stays wrong,
/// and is told with the map's other faults.
template <class T, std::size_t N>
void put(const std::vector<std::int64_t>& from, std::array<T, N>& to, std::size_t first = 0) {
  for (std::size_t n = 0; n < from.size() && first + n < N; ++n)
    to[first + n] = from[n] >= static_cast<std::int64_t>(std::numeric_limits<T>::min()) &&
                            (sizeof(T) == sizeof(std::int64_t) ||
                             from[n] <= static_cast<std::int64_t>(std::numeric_limits<T>::max()))
                        ? static_cast<T>(from[n])
                        : T{0};
}

unsigned one_of(TableReader& reader, const char* key, const std::vector<std::string>& names) {
  const auto text = reader.text(key);
  if (!text) return 0;
  const auto found = std::find(names.begin(), names.end(), *text);
  if (found != names.end()) return static_cast<unsigned>(found - names.begin());
  reader.fault(reader.find(key)->value.place, std::string(key) + ": must be " + joined(names, ", ", " or "));
  return 0;
}

void read_im2col(const Document& document, const Member& member, TensorMap& map, Diagnostics& faults) {
  TableReader reader(document, member.value, member.place, "im2col", faults);
  map.im2col = true;
  map.wide = reader.boolean("wide").value_or(false);
  put(integers(reader, "lower", 3, TableReader::required), map.lower);
  put(integers(reader, "upper", 3, TableReader::required), map.upper);
  map.channels =
      static_cast<std::uint32_t>(reader.number("channels", 1, 256, TableReader::required).value_or(1));
  map.pixels =
      static_cast<std::uint32_t>(reader.number("pixels", 1, 1024, TableReader::required).value_or(1));
  reader.finish();
}

}  // namespace

TensorMap read_tensor_map(const Document& document, TableReader& reader, Diagnostics& faults) {
  TensorMap map;
  const auto shape = integers(reader, "shape", TensorMap::kMaxRank, TableReader::required);
  map.rank = static_cast<unsigned>(std::max<std::size_t>(shape.size(), 1));
  put(shape, map.shape);
  put(integers(reader, "strides", TensorMap::kMaxRank - 1), map.strides, 1);
  put(integers(reader, "element_strides", TensorMap::kMaxRank), map.element_strides);
  map.swizzle = static_cast<TensorSwizzle>(one_of(reader, "swizzle", kSwizzles));
  map.fill = static_cast<TensorFill>(one_of(reader, "fill", kFills));
  if (const Member* m = reader.find("interleave");
      m != nullptr && (m->value.kind != Value::Kind::text || m->value.text != "none"))
    reader.fault(m->value.place, "interleave: only \"none\" is modelled in this version");
  const Member* im2col = reader.find("im2col");
  if (im2col != nullptr) {
    if (im2col->value.kind == Value::Kind::table) {
      read_im2col(document, *im2col, map, faults);
    } else {
      reader.fault(im2col->value.place, "im2col: must be { lower, upper, channels, pixels }");
    }
  }
  const auto box = integers(reader, "box", TensorMap::kMaxRank,
                            im2col == nullptr ? TableReader::required : TableReader::optional);
  put(box, map.box);
  if (!box.empty() && im2col != nullptr)
    reader.fault(reader.find("box")->place, "box: does not go with im2col, which says channels and pixels");
  if (!box.empty() && im2col == nullptr && box.size() != shape.size())
    reader.fault(reader.find("box")->value.place, "box: must have as many dimensions as shape");
  if (const Member* m = reader.find("strides"); m != nullptr && m->value.items.size() + 1 != shape.size())
    reader.fault(m->value.place,
                 "strides: must be one fewer than shape has: that of dimension 0 is an element's size");
  return map;
}

void resolve_tensor_map(const Document& document, const Buffer& buffer, LaunchTensorMap& map,
                        Diagnostics& faults) {
  TensorMap& m = map.map;
  // A copy moves bits: signed types of 8 and 16 bits are those without a sign.
  m.type = buffer.type == DataType::s8    ? DataType::u8
           : buffer.type == DataType::s16 ? DataType::u16
                                          : buffer.type;
  m.strides[0] = m.element_bytes();
  std::uint64_t dense = m.shape[0] * m.element_bytes();
  for (unsigned d = 1; d < m.rank; ++d) {
    if (m.strides[d] == 0) m.strides[d] = dense;
    dense = m.strides[d] * m.shape[d];
  }
  const Problems problems = m.problems("tensor_map");
  for (const Problem& p : problems) faults.push_back(document.fault(map.place, p.path + ": " + p.message));
  if (problems.empty() && m.extent() > buffer.bytes())
    faults.push_back(document.fault(map.place, "the tensor takes " + counted(m.extent(), "byte") +
                                                   "; buffer \"" + buffer.name + "\" has " +
                                                   std::to_string(buffer.bytes())));
}

}  // namespace warpline
