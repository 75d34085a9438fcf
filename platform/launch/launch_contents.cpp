#include "platform/launch/launch_contents.h"

#include <cmath>

#include "platform/launch/element.h"
#include "platform/launch/launch_tables.h"
#include "rtl_models/base/random.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/files.h"

namespace warpline {
namespace {

/// Element bits of the number under `key`; `otherwise`, and perhaps a fault, where there is none.
std::uint64_t element_at(TableReader& reader, const char* key, const ContentContext& c,
                         std::uint64_t otherwise) {
  const Member* m = reader.find(key);
  return m == nullptr ? otherwise : read_element(c.document, *m, c.type, c.faults).value_or(otherwise);
}

/// Whether a member is a table, as it must be; `shape` says of what.
bool is_table(TableReader& reader, const Member& m, const char* shape) {
  if (m.value.kind == Value::Kind::table) return true;
  reader.fault(m.value.place, m.key + ": must be " + shape + ", not " + std::string(m.value.kind_name()));
  return false;
}

std::uint64_t one(DataType type) {
  return is_float(type) ? float_bits(type, 1.0) : 1;
}

/// The bytes of a raw file that must be exactly as long as the buffer.
/// `path`: becomes that of the file.
std::vector<std::uint8_t> file_bytes(TableReader& reader, const Member& m, const ContentContext& c,
                                     std::string& path) {
  const auto name = reader.text("file");
  if (!name) return {};
  path = resolve_beside(c.path, *name);
  const std::uint64_t wanted = c.count * size_of(c.type);
  // A file somewhat too long is read to the end, to say by how much.
  Result<std::string> read = read_file(path, wanted + kMostTextBytes);
  if (!read.ok()) {
    reader.fault(m.value.place, "file: " + path + " " + read.faults().front().message);
    return {};
  }
  if (read.value().size() != wanted) {
    reader.fault(m.value.place, "file: " + path + " has " + counted(read.value().size(), "byte") +
                                    "; the buffer has " + std::to_string(wanted));
    return {};
  }
  return {read.value().begin(), read.value().end()};
}

void read_iota(TableReader& outer, const Member& m, const ContentContext& c, InitialContent& out) {
  out.kind = InitialContent::Kind::iota;
  out.step = one(c.type);
  if (!is_table(outer, m, "{ start = ..., step = ... }")) return;
  TableReader reader(c.document, m.value, m.place, "iota", c.faults);
  out.value = element_at(reader, "start", c, 0);
  out.step = element_at(reader, "step", c, out.step);
  reader.finish();
}

void read_random(TableReader& outer, const Member& m, const ContentContext& c, InitialContent& out) {
  out.kind = InitialContent::Kind::random;
  if (!is_table(outer, m, "{ seed = ... }")) return;
  TableReader reader(c.document, m.value, m.place, "random", c.faults);
  out.seed = reader.number("seed", 0, INT64_MAX, TableReader::required).value_or(0);
  reader.finish();
}

/// Which of `keys` stands there; null, and a fault, unless it is just one. Nothing else may stand there but
/// what the reader has been asked for.
const Member* only_key(TableReader& reader, const std::string& what, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) reader.find(key);
  reader.finish();
  return only_one(reader, what, keys);
}

void read_tolerance(TableReader& outer, const ContentContext& c, Expectation& out) {
  const Member* m = outer.find("tolerance");
  if (m == nullptr) return;
  if (!is_table(outer, *m, "{ abs = ..., rel = ... }")) return;
  TableReader reader(c.document, m->value, m->place, "tolerance", c.faults);
  out.tolerant = true;
  const auto absolute = reader.magnitude("abs");
  const auto relative = reader.magnitude("rel");
  if (reader.table().members.empty()) reader.fault(m->place, "tolerance: must say abs, rel or both");
  out.absolute = absolute.value_or(0);
  out.relative = relative.value_or(0);
  reader.finish();
}

}  // namespace

InitialContent read_initial(const Member& member, const ContentContext& c) {
  InitialContent out;
  out.place = member.place;
  if (member.value.kind == Value::Kind::text && member.value.text == "zeros") return out;
  if (member.value.kind != Value::Kind::table) {
    c.faults.push_back(
        c.document.fault(member.value.place,
                         "init: must be \"zeros\" or a table such as { value = 1 }, not " +
                             (member.value.kind == Value::Kind::text ? "\"" + member.value.text + "\""
                                                                     : std::string(member.value.kind_name())),
                         did_you_mean(member.value.text, {"zeros"})));
    return out;
  }
  TableReader reader(c.document, member.value, member.place, "init", c.faults);
  const Member* said = only_key(reader, "init:", {"zeros", "value", "iota", "random", "file"});
  if (said == nullptr) return out;
  if (said->key == "zeros" && (said->value.kind != Value::Kind::boolean || !said->value.boolean))
    reader.fault(said->value.place, "zeros: must be true");
  if (said->key == "value") {
    out.kind = InitialContent::Kind::value;
    out.value = element_at(reader, "value", c, 0);
  }
  if (said->key == "iota") read_iota(reader, *said, c, out);
  if (said->key == "random") read_random(reader, *said, c, out);
  if (said->key == "file") {
    out.kind = InitialContent::Kind::file;
    out.bytes = file_bytes(reader, *said, c, out.file);
  }
  return out;
}

Expectation read_expectation(const Member& member, const ContentContext& c) {
  Expectation out;
  out.place = member.place;
  if (member.value.kind != Value::Kind::table) {
    c.faults.push_back(c.document.fault(member.value.place,
                                        "expect: must be a table such as { expression = \"a[i]\" }, not " +
                                            std::string(member.value.kind_name())));
    return out;
  }
  TableReader reader(c.document, member.value, member.place, "expect", c.faults);
  read_tolerance(reader, c, out);
  const Member* said = only_key(reader, "expect:", {"expression", "value", "file"});
  if (said == nullptr) return out;
  if (said->key == "value") out.value = element_at(reader, "value", c, 0);
  if (said->key == "file") {
    out.kind = Expectation::Kind::file;
    out.bytes = file_bytes(reader, *said, c, out.file);
  }
  if (said->key == "expression") {
    out.kind = Expectation::Kind::expression;
    out.place = said->value.place;
    if (const auto text = reader.text("expression")) {
      out.text = *text;
      for (const ExpressionFault& f : Expression::compile(out.text, c.type, c.arrays, out.expression))
        c.faults.push_back(expression_diagnostic(c.document, out, f));
    }
  }
  return out;
}

Diagnostic expression_diagnostic(const Document& document, const Expectation& expect,
                                 const ExpressionFault& fault) {
  return document.fault(document.inside(expect.place, expect.text, fault.offset, fault.length),
                        "expression: " + fault.message, fault.hint);
}

std::vector<std::uint8_t> initial_bytes(const InitialContent& initial, DataType type, std::uint64_t count) {
  const unsigned size = size_of(type);
  if (initial.kind == InitialContent::Kind::file) return initial.bytes;
  std::vector<std::uint8_t> bytes(count * size);
  if (initial.kind == InitialContent::Kind::zeros) return bytes;
  const double start = is_float(type) ? element_as_double(type, initial.value) : 0;
  const double step = is_float(type) ? element_as_double(type, initial.step) : 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t bits = initial.value;
    if (initial.kind == InitialContent::Kind::iota) {
      bits = is_float(type) ? float_bits(type, start + step * static_cast<double>(i))
                            : initial.value + initial.step * i;
    } else if (initial.kind == InitialContent::Kind::random) {
      bits = splitmix64(initial.seed + i);
      if (type == DataType::f16) bits = float_bits(type, std::ldexp(static_cast<double>(bits >> 53U), -11));
      if (type == DataType::bf16) bits = float_bits(type, std::ldexp(static_cast<double>(bits >> 56U), -8));
      if (type == DataType::f32) bits = float_bits(type, std::ldexp(static_cast<double>(bits >> 40U), -24));
      if (type == DataType::f64) bits = float_bits(type, std::ldexp(static_cast<double>(bits >> 11U), -53));
    }
    store_element(type, bits, &bytes[i * size]);
  }
  return bytes;
}

}  // namespace warpline
