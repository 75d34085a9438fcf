#include "platform/study/measured_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "rtl_models/base/text.h"
#include "rtl_models/document/document.h"

namespace warpline::study {
namespace {

/// A unit of rows.
struct Unit {
  const char* name;
  std::vector<Dimension> of;
  double scale;          ///< that a measured value is multiplied with
  bool in_time = false;  ///< and divided by the SM clock in MHz
};

const std::vector<Unit>& units() {
  using D = Dimension;
  static const std::vector<Unit> kAll = {{"cycles", {D::cycles}, 1},
                                         {"ns", {D::cycles}, 1000, true},
                                         {"us", {D::cycles}, 1, true},
                                         {"GB/s", {D::bytes_per_second}, 1e-9},
                                         {"TB/s", {D::bytes_per_second}, 1e-12},
                                         {"GiB/s", {D::bytes_per_second}, 1.0 / (1U << 30U)},
                                         {"B/clk/SM", {D::bytes_per_cycle}, 1},
                                         {"atomics/clk", {D::operations_per_cycle}, 1},
                                         {"warpinst/SM/clk", {D::operations_per_cycle}, 1},
                                         {"MHz", {D::count}, 1},
                                         {"MiB", {D::count}, 1.0 / (1U << 20U)},
                                         {"bytes", {D::count}, 1},
                                         {"count", {D::count}, 1}};
  return kAll;
}

const Unit* find_unit(const std::string& name) {
  for (const Unit& u : units())
    if (name == u.name) return &u;
  return nullptr;
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
    const Member* const unit_at = table.find("unit");
    const Unit* const unit = find_unit(row.unit);
    if (unit_at != nullptr && unit == nullptr)
      reader.fault(
          unit_at->value.place, "unit: there is no \"" + row.unit + "\"",
          "cycles, ns, us, GB/s, TB/s, GiB/s, B/clk/SM, atomics/clk, warpinst/SM/clk, MHz, bytes, MiB or "
          "count");
    if (const Member* value = table.find("value"); value != nullptr && row.value <= 0)
      reader.fault(value->value.place, "value: must be above 0");
    if (const Member* refused = table.find("refused"); refused != nullptr) {
      row.refused = reader.text("refused").value_or("");
      if (row.refused.empty()) reader.fault(refused->value.place, "refused: must say why");
    } else {
      const std::string name = reader.text("quantity", TableReader::required).value_or("");
      row.quantity = find_quantity(name);
      if (row.quantity != nullptr) {
        read_arguments(reader, table, row);
        const std::vector<Dimension>& of = unit == nullptr ? std::vector<Dimension>{} : unit->of;
        if (unit != nullptr && std::find(of.begin(), of.end(), row.quantity->dimension) == of.end())
          reader.fault(unit_at->value.place, "unit: " + name + " is not measured in " + row.unit,
                       row.quantity->meaning);
      } else if (const Member* m = table.find("quantity"); m != nullptr) {
        std::vector<std::string> names;
        for (const Quantity& q : quantities()) names.emplace_back(q.name);
        reader.fault(m->value.place, "quantity: there is none called \"" + name + "\"",
                     did_you_mean(name, names));
      }
    }
    if (row.quantity != nullptr || !row.refused.empty()) reader.finish();
    return row;
  }

 private:
  static void read_arguments(TableReader& reader, const Value& table, MeasuredRow& row) {
    for (const NumberArgument& n : row.quantity->numbers) {
      const auto need = n.required ? TableReader::required : TableReader::optional;
      if (const auto value = reader.number(n.name, n.least, n.most, need))
        row.arguments.numbers[n.name] = static_cast<double>(*value);
    }
    for (const WordArgument& w : row.quantity->words) {
      const auto word = reader.text(w.name);
      if (!word) continue;
      row.arguments.words[w.name] = *word;
      const std::vector<std::string> allowed(w.words.begin(), w.words.end());
      if (std::find(allowed.begin(), allowed.end(), *word) == allowed.end())
        reader.fault(table.find(w.name)->value.place,
                     std::string(w.name) + ": must be " + joined(allowed, ", ", " or "));
    }
  }

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
  const Unit& unit = *find_unit(row.unit);
  return measured * unit.scale / (unit.in_time ? shape.sm_mhz : 1);
}

}  // namespace warpline::study
