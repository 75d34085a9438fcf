// How a decoder reads the qualifiers of a statement.
#include <algorithm>

#include "warpline/programs/ptx/decoder.h"

namespace warpline::ptx {

bool Decoder::take(std::string_view text) {
  return take_one_of({text}).has_value();
}

std::optional<std::size_t> Decoder::take_one_of(std::initializer_list<std::string_view> names) {
  for (auto q = left_.begin(); q != left_.end(); ++q) {
    const auto found = std::find(names.begin(), names.end(), (*q)->text);
    if (found == names.end()) continue;
    left_.erase(q);
    return static_cast<std::size_t>(found - names.begin());
  }
  return std::nullopt;
}

const Token* Decoder::take_any() {
  if (left_.empty()) return nullptr;
  const Token* q = left_.front();
  left_.erase(left_.begin());
  return q;
}

std::optional<DataType> Decoder::take_type_if_any() {
  for (auto q = left_.begin(); q != left_.end(); ++q) {
    const DataType type = data_type_from((*q)->text.substr(1));
    if (type == DataType::none) continue;
    left_.erase(q);
    return type;
  }
  return std::nullopt;
}

DataType Decoder::take_type(std::initializer_list<DataType> allowed) {
  const std::vector<const Token*> before = left_;
  const std::optional<DataType> type = take_type_if_any();
  if (!type) {
    if (!left_.empty()) {
      std::vector<std::string> names;
      for (auto known = DataType::pred; known <= DataType::f64;
           known = static_cast<DataType>(static_cast<int>(known) + 1))
        names.push_back("." + std::string(name_of(known)));
      const Token& q = *left_.front();
      fail(q.place(),
           quoted(q.text) + " is not a type that " + quoted(statement_->opcode.text) + " takes here",
           suggestion(q.text, names));
    }
    fail(quoted(statement_->opcode.text) + " needs a type");
  }
  if (allowed.size() == 0 || std::find(allowed.begin(), allowed.end(), *type) != allowed.end()) return *type;
  for (const Token* q : before)
    if (data_type_from(q->text.substr(1)) == *type)
      fail(q->place(), "type " + quoted(q->text) + " is not supported on " + quoted(statement_->opcode.text));
  fail("this type is not supported");
}

Rounding Decoder::take_rounding() {
  const auto r = take_one_of({".rn", ".rz", ".rm", ".rp"});
  return r ? static_cast<Rounding>(*r) : Rounding::nearest;
}

}  // namespace warpline::ptx
