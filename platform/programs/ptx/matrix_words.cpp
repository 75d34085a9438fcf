#include "platform/programs/ptx/matrix_words.h"

#include <algorithm>

#include "platform/programs/ptx/matrix_rows.h"

namespace warpline::ptx {
namespace {

constexpr std::string_view kTypeWords[] = {"f16", "bf16", "tf32", "e4m3", "e5m2", "f32", "f64",
                                           "s8",  "u8",   "s4",   "u4",   "b1",   "s32"};

std::optional<MatrixType> matrix_type(std::string_view word) {
  const auto* const found = std::find(std::begin(kTypeWords), std::end(kTypeWords), word);
  if (found == std::end(kTypeWords)) return std::nullopt;
  return static_cast<MatrixType>(found - std::begin(kTypeWords));
}

/// A shape as it is written, ".m16n8k16".
std::optional<MatrixShape> shape_from(std::string_view text) {
  unsigned numbers[3] = {};
  constexpr std::string_view kLetters = "mnk";
  std::size_t at = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    if (at >= text.size() || text[at++] != kLetters[i]) return std::nullopt;
    const std::size_t first = at;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9' && at - first < 4; ++at)
      numbers[i] = numbers[i] * 10 + static_cast<unsigned>(text[at] - '0');
    if (at == first) return std::nullopt;
  }
  if (at != text.size()) return std::nullopt;
  return MatrixShape{numbers[0], numbers[1], numbers[2]};
}

const Ref* references(const Op& op, const Frame& f, unsigned operand) {
  return static_cast<const Ref*>(static_cast<const void*>(f.at(op.r[operand])));
}

}  // namespace

DataType register_type(MatrixType type) {
  switch (type) {
    case MatrixType::f32: return DataType::f32;
    case MatrixType::f64: return DataType::f64;
    case MatrixType::s32: return DataType::s32;
    default: return DataType::u32;
  }
}

MatrixClass class_of(MatrixType type) {
  switch (type) {
    case MatrixType::tf32: return MatrixClass::tf32;
    case MatrixType::e4m3:
    case MatrixType::e5m2: return MatrixClass::f8;
    case MatrixType::f64: return MatrixClass::f64;
    case MatrixType::s8:
    case MatrixType::u8: return MatrixClass::s8;
    case MatrixType::s4:
    case MatrixType::u4: return MatrixClass::s4;
    case MatrixType::b1: return MatrixClass::b1;
    default: return MatrixClass::f16;
  }
}

MatrixWords take_matrix_words(Decoder& d) {
  MatrixWords s;
  for (const Token& q : d.statement().qualifiers) {
    const auto shape = shape_from(q.text);
    if (!shape || !d.take(q.text)) continue;
    s.shape = *shape;
    s.shape_place = q.place();
    s.shape_text = q.text;
  }
  if (s.shape_text.empty()) d.fail(d.opcode() + " needs a shape such as '.m16n8k16'");
  d.take_where([&s](std::string_view word) {
    if (const auto type = matrix_type(word)) {
      s.types.push_back(*type);
      return true;
    }
    if (word != "row" && word != "col") return false;
    s.columns.push_back(word == "col");
    return true;
  });
  return s;
}

void fail_shape(Decoder& d, const MatrixWords& s, const std::string& what) {
  std::string types;
  for (const MatrixType t : s.types) types += "." + std::string(kTypeWords[static_cast<std::size_t>(t)]);
  d.fail(s.shape_place,
         quoted(what) + " has no form " + quoted(s.shape_text) + " with types " + quoted(types));
}

Ref take_fragment(Decoder& d, std::size_t index, MatrixType type, std::size_t registers, bool written) {
  std::vector<Ref> refs;
  for (const Operand& part : need_vector(d, d.operand(index), registers))
    refs.push_back(written ? d.destination(part, register_type(type)) : d.source(part, register_type(type)));
  return d.list(refs);
}

std::int64_t take_selector(Decoder& d, std::size_t index, const MatrixForm& form) {
  const Operand& selector = d.operand(index);
  if (selector.kind != Operand::Kind::integer || selector.bits >= selectors_of(form))
    d.fail(selector.token.place(),
           "the sparsity selector of this shape is a number below " + std::to_string(selectors_of(form)));
  return static_cast<std::int64_t>(selector.bits);
}

void read_fragment(const Op& op, const Frame& f, unsigned operand, const Fragment& layout, std::byte* to) {
  const Ref* refs = references(op, f, operand);
  const std::size_t bytes = std::size_t{layout.register_bytes} * kWarpLanes;
  for (unsigned r = 0; r < layout.registers; ++r) std::memcpy(to + r * bytes, f.at(refs[r]), bytes);
}

void write_fragment(const Op& op, const Frame& f, unsigned operand, const Fragment& layout,
                    const std::byte* from) {
  const Ref* refs = references(op, f, operand);
  const std::size_t bytes = std::size_t{layout.register_bytes} * kWarpLanes;
  for (unsigned r = 0; r < layout.registers; ++r) std::memcpy(f.file + refs[r], from + r * bytes, bytes);
}

}  // namespace warpline::ptx
