#include "platform/study/measured_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "rtl_models/base/text.h"
#include "rtl_models/document/document.h"

namespace warpline::study {
namespace {

/// What a measured value is multiplied with, to be in this unit; 0: no such unit.
double scale_of(const std::string& unit, double mhz) {
  if (unit == "cycles" || unit == "B/clk/SM" || unit == "atomics/clk" || unit == "MHz" || unit == "bytes" ||
      unit == "count")
    return 1;
  if (unit == "ns") return 1000 / mhz;
  if (unit == "us") return 1 / mhz;
  if (unit == "GB/s") return 1e-9;
  if (unit == "GiB/s") return 1.0 / (1U << 30U);
  return 0;
}

class RowReader {
 public:
  RowReader(const Document& document, Diagnostics& faults) : document_(document), faults_(faults) {}

  MeasuredRow read(const Value& table, Place place) {
    TableReader reader(document_, table, place, "[[row]]", faults_);
    MeasuredRow row;
    row.id = reader.text("id", TableReader::required).value_or("");
    row.gpu = reader.text("gpu", TableReader::required).value_or("");
    row.kind = reader.text("class", TableReader::required).value_or("");
    row.value = reader.magnitude("value", TableReader::required).value_or(0);
    row.unit = reader.text("unit", TableReader::required).value_or("");
    row.tolerance = reader.magnitude("tolerance").value_or(0);
    row.brief = reader.boolean("brief").value_or(false);
    row.source = reader.text("source", TableReader::required).value_or("");
    if (const Member* unit = table.find("unit"); unit != nullptr && scale_of(row.unit, 1) == 0)
      reader.fault(unit->value.place, "unit: there is no \"" + row.unit + "\"",
                   "cycles, ns, us, GB/s, GiB/s, B/clk/SM, atomics/clk, MHz, bytes or count");
    if (table.find("refused") != nullptr) {
      row.refused = reader.text("refused").value_or("");
    } else {
      const std::string name = reader.text("quantity", TableReader::required).value_or("");
      row.quantity = find_quantity(name);
      if (row.quantity == nullptr) {
        std::vector<std::string> names;
        for (const Quantity& q : quantities()) names.emplace_back(q.name);
        if (const Member* m = table.find("quantity"); m != nullptr)
          reader.fault(m->value.place, "quantity: there is none called \"" + name + "\"",
                       did_you_mean(name, names));
      } else {
        for (const char* key : row.quantity->numbers)
          if (const auto n = reader.magnitude(key)) row.arguments.numbers[key] = *n;
        for (const char* key : row.quantity->words)
          if (const auto w = reader.text(key)) row.arguments.words[key] = *w;
      }
    }
    if (row.quantity != nullptr || !row.refused.empty()) reader.finish();
    return row;
  }

 private:
  const Document& document_;
  Diagnostics& faults_;
};

}  // namespace

Result<std::vector<MeasuredRow>> read_rows(const std::string& file, const std::string& text) {
  Result<Document> parsed = Document::parse(file, text);
  if (!parsed.ok()) return parsed.faults();
  const Document& document = parsed.value();
  Diagnostics faults;
  std::vector<MeasuredRow> rows;
  std::set<std::string> ids;
  RowReader reader(document, faults);
  for (const Member& m : document.root().members) {
    if (m.key != "row" || m.value.kind != Value::Kind::array) {
      faults.push_back(
          document.fault(m.place, m.key + ": a file of rows has [[row]] tables, and nothing else"));
      continue;
    }
    for (const Value& item : m.value.items) {
      if (item.kind != Value::Kind::table) {
        faults.push_back(document.fault(item.place, "row: must be a table"));
        continue;
      }
      MeasuredRow row = reader.read(item, item.place);
      if (!row.id.empty() && !ids.insert(row.id).second)
        faults.push_back(document.fault(item.place, "id: there are two rows called \"" + row.id + "\""));
      rows.push_back(std::move(row));
    }
  }
  if (!faults.empty()) return faults;
  return rows;
}

std::string rows_toml(const std::vector<MeasuredRow>& rows) {
  std::string out;
  for (const MeasuredRow& row : rows) {
    out += fmt::format(
        "{}[[row]]\nid = {}\ngpu = {}\nclass = {}\nvalue = {:.6g}\nunit = {}\ntolerance = {:g}\nsource = "
        "{}\n",
        out.empty() ? "" : "\n", json_string(row.id), json_string(row.gpu), json_string(row.kind), row.value,
        json_string(row.unit), row.tolerance, json_string(row.source));
    if (row.brief) out += "brief = true\n";
    if (row.quantity == nullptr) {
      out += "refused = " + json_string(row.refused) + "\n";
      continue;
    }
    out += "quantity = " + json_string(row.quantity->name) + "\n";
    for (const auto& [key, word] : row.arguments.words) out += key + " = " + json_string(word) + "\n";
    for (const auto& [key, n] : row.arguments.numbers) out += fmt::format("{} = {:.0f}\n", key, n);
  }
  return out;
}

double in_unit_of(const MeasuredRow& row, double measured, const DeviceShape& shape) {
  return measured * scale_of(row.unit, shape.sm_mhz);
}

}  // namespace warpline::study
