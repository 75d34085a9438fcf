#include "platform/launch/launch_contents.h"

#include <cmath>

#include "platform/launch/element.h"
#include "rtl_models/base/random.h"
#include "rtl_models/document/files.h"

namespace warpline {
namespace {

/// Element bits of the number under `key`, or zero and a fault.
std::uint64_t element_at(TableReader& reader, const char* key, DataType type, TableReader::Need need,
                         std::uint64_t otherwise) {
  const Member* m = reader.find(key, need);
  if (m == nullptr) return otherwise;
  std::string why;
  if (const auto bits = element_from(m->value, type, why)) return *bits;
  reader.fault(m->value.place, std::string(key) + ": " + why);
  return otherwise;
}

std::uint64_t one(DataType type) {
  return is_float(type) ? float_bits(type, 1.0) : 1;
}

/// The bytes of a raw file that must be exactly as long as the buffer.
std::vector<std::uint8_t> file_bytes(TableReader& reader, const Member& m, const ContentContext& c) {
  if (m.value.kind != Value::Kind::text) {
    reader.fault(m.value.place, "file: must be a string, not " + std::string(m.value.kind_name()));
    return {};
  }
  const std::string path = resolve_beside(c.path, m.value.text);
  const std::uint64_t wanted = c.count * size_of(c.type);
  // A file somewhat too long is read to the end, to say by how much.
  Result<std::string> read = read_file(path, wanted + kMostTextBytes);
  if (!read.ok()) {
    reader.fault(m.value.place, "file: " + path + " " + read.faults().front().message);
    return {};
  }
  if (read.value().size() != wanted) {
    reader.fault(m.value.place, "file: " + path + " has " + std::to_string(read.value().size()) +
                                    " bytes; the buffer has " + std::to_string(wanted));
    return {};
  }
  return {read.value().begin(), read.value().end()};
}

void read_iota(TableReader& outer, const Member& m, const ContentContext& c, InitialContent& out) {
  out.kind = InitialContent::Kind::iota;
  out.step = one(c.type);
  if (m.value.kind != Value::Kind::table)
    return outer.fault(m.value.place,
                       "iota: must be { start = ..., step = ... }, not " + std::string(m.value.kind_name()));
  TableReader reader(c.document, m.value, m.place, "iota", c.faults);
  out.value = element_at(reader, "start", c.type, TableReader::optional, 0);
  out.step = element_at(reader, "step", c.type, TableReader::optional, out.step);
  reader.finish();
}

void read_random(TableReader& outer, const Member& m, const ContentContext& c, InitialContent& out) {
  out.kind = InitialContent::Kind::random;
  if (m.value.kind != Value::Kind::table)
    return outer.fault(m.value.place,
                       "random: must be { seed = ... }, not " + std::string(m.value.kind_name()));
  TableReader reader(c.document, m.value, m.place, "random", c.faults);
  out.seed = reader.number("seed", 0, INT64_MAX, TableReader::required).value_or(0);
  reader.finish();
}

/// Complains unless exactly one of the alternatives of `what` stands there.
bool exactly_one(TableReader& reader, const char* what, const char* alternatives,
                 std::initializer_list<const Member*> given) {
  unsigned n = 0;
  for (const Member* m : given) n += m != nullptr ? 1 : 0;
  if (n == 1) return true;
  reader.fault(reader.place(), std::string(what) + ": must say exactly one of " + alternatives);
  return false;
}

void read_tolerance(TableReader& outer, const ContentContext& c, Expectation& out) {
  const Member* m = outer.find("tolerance");
  if (m == nullptr) return;
  if (m->value.kind != Value::Kind::table)
    return outer.fault(m->value.place, "tolerance: must be { abs = ..., rel = ... }, not " +
                                           std::string(m->value.kind_name()));
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
  const Member* zeros = reader.find("zeros");
  const Member* value = reader.find("value");
  const Member* iota = reader.find("iota");
  const Member* random = reader.find("random");
  const Member* file = reader.find("file");
  reader.finish();
  if (!exactly_one(reader, "init", "zeros, value, iota, random, file", {zeros, value, iota, random, file}))
    return out;
  if (zeros != nullptr && (zeros->value.kind != Value::Kind::boolean || !zeros->value.boolean))
    reader.fault(zeros->value.place, "zeros: must be true");
  if (value != nullptr) {
    out.kind = InitialContent::Kind::value;
    out.value = element_at(reader, "value", c.type, TableReader::required, 0);
  }
  if (iota != nullptr) read_iota(reader, *iota, c, out);
  if (random != nullptr) read_random(reader, *random, c, out);
  if (file != nullptr) {
    out.kind = InitialContent::Kind::file;
    out.bytes = file_bytes(reader, *file, c);
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
  const Member* expression = reader.find("expression");
  const Member* value = reader.find("value");
  const Member* file = reader.find("file");
  read_tolerance(reader, c, out);
  reader.finish();
  if (!exactly_one(reader, "expect", "expression, value, file", {expression, value, file})) return out;
  if (value != nullptr) out.value = element_at(reader, "value", c.type, TableReader::required, 0);
  if (file != nullptr) {
    out.kind = Expectation::Kind::file;
    out.bytes = file_bytes(reader, *file, c);
  }
  if (expression != nullptr) {
    out.kind = Expectation::Kind::expression;
    out.place = expression->value.place;
    out.text = reader.text("expression").value_or("");
    if (expression->value.kind == Value::Kind::text)
      for (const ExpressionFault& f : Expression::compile(out.text, c.type, c.arrays, out.expression))
        c.faults.push_back(expression_diagnostic(c.document, out, f));
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
      if (type == DataType::f32) bits = float_bits(type, std::ldexp(static_cast<double>(bits >> 40U), -24));
      if (type == DataType::f64) bits = float_bits(type, std::ldexp(static_cast<double>(bits >> 11U), -53));
    }
    store_element(type, bits, &bytes[i * size]);
  }
  return bytes;
}

}  // namespace warpline
