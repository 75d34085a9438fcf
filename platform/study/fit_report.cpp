#include "platform/study/fit_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "rtl_models/base/text.h"

namespace warpline::study {
namespace {

std::string short_number(double v) {
  return fmt::format("{:.4g}", v);
}

std::string measured_text(const FitAnswer& answer) {
  return answer.answered ? short_number(answer.measured) : "-";
}

/// In per cent of the published value.
double error_of(const FitRow& row, const FitAnswer& answer) {
  return (answer.measured / row.row->value - 1) * 100;
}

std::string error_text(const FitRow& row, const FitAnswer& answer) {
  return answer.answered ? fmt::format("{:+.1f}%", error_of(row, answer)) : "-";
}

std::string bound_text(const FittedKey& key) {
  return key.at_lowest ? "at its lowest" : key.at_highest ? "at its highest" : "";
}

/// Of the rows that a key moves: how far it may go.
std::string play_text(const FittedKey& key) {
  return key.play == 0 ? "-" : short_number(key.play);
}

/// Without the blanks at the ends of lines.
std::string without_ends(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') out.erase(out.find_last_not_of(' ') + 1);
    out += c;
  }
  return out;
}

std::string keys_text(const FitPlan& plan, const FitOutcome& o) {
  std::size_t width = 3;
  for (const FitKey& k : plan.keys) width = std::max(width, k.path.size());
  std::string out = fmt::format("{:<4} {:<{}}  {:>10}  {:>10}  {:>10}  {:>10}", "", "key", width, "start",
                                "found", "lowest", "highest");
  out += o.keys.empty() ? "\n" : fmt::format("  {:>8}\n", "play");
  for (std::size_t k = 0; k < plan.keys.size(); ++k) {
    const FitKey& key = plan.keys[k];
    out += fmt::format("{:<4} {:<{}}  {:>10}  {:>10}  {:>10}  {:>10}", fmt::format("[{}]", k + 1), key.path,
                       width, key.start, o.found[k], key.lowest, key.highest);
    out += o.keys.empty() ? "\n" : fmt::format("  {:>8}  {}\n", play_text(o.keys[k]), bound_text(o.keys[k]));
  }
  return out;
}

/// Changes as a column for each key, where they are known.
std::string rows_text_of(const FitPlan& plan, const FitOutcome& o) {
  std::size_t width = 3;
  for (const FitRow& r : plan.rows) width = std::max(width, r.row->id.size());
  std::string out = fmt::format("{:<{}}  {:>10}  {:>10}  {:>10}  {:<11}  {:>7}  {:>7}", "row", width,
                                "published", "before", "after", "unit", "error", "now");
  for (std::size_t k = 0; k < o.keys.size(); ++k) out += fmt::format("  {:>7}", fmt::format("[{}]", k + 1));
  out += "\n";
  for (std::size_t r = 0; r < plan.rows.size(); ++r) {
    const FitRow& row = plan.rows[r];
    const FitAnswer &before = o.before.rows[r], &after = o.after.rows[r];
    out += fmt::format("{:<{}}  {:>10}  {:>10}  {:>10}  {:<11}  {:>7}  {:>7}", row.row->id, width,
                       short_number(row.row->value), measured_text(before), measured_text(after),
                       row.row->unit, error_text(row, before), error_text(row, after));
    for (const FittedKey& key : o.keys) {
      const double change = key.changes[r];
      out += fmt::format("  {:>7}", change == 0 ? "0" : fmt::format("{:+.2f}%", change));
    }
    out += after.answered ? "\n" : "  " + after.refused + "\n";
  }
  return out;
}

}  // namespace

std::string fit_text(const FitPlan& plan, const FitOutcome& o) {
  if (o.start.empty()) return "stopped before the start was measured: " + o.stopped + "\n";
  std::string out = keys_text(plan, o) + "\n" + rows_text_of(plan, o) + "\n";
  out += fmt::format("cost {:.4g} at the start, {:.4g} now; {} points, {} of them measured now\n",
                     o.cost_before, o.cost_after, o.points, o.measured);
  if (o.no_gpus != 0) out += fmt::format("{} of the points are no GPU ({})\n", o.no_gpus, o.no_gpu);
  if (!o.stopped.empty()) {
    out += "stopped: " + o.stopped + "; what was measured is kept, and the same command goes on\n";
  } else if (o.spent) {
    out += "the search has used up its evaluations: a neighbour may be better\n";
  }
  for (std::size_t k = 0; k < o.keys.size(); ++k)
    if (const std::string bound = bound_text(o.keys[k]); !bound.empty())
      out += fmt::format("{} is {}, {}: the rows may ask for what lies beyond\n", plan.keys[k].path, bound,
                         o.keys[k].found);
  for (const FitUndetermined& u : o.undetermined) out += "undetermined: " + u.why + "\n";
  return without_ends(out);
}

std::string fit_toml(const FitPlan& plan, const FitOutcome& o, const std::string& base,
                     const std::vector<ConfigEntry>& changed) {
  std::string out = base.empty() ? "" : "base = " + json_string(base) + "\n";
  for (const ConfigEntry& e : changed)
    out +=
        fmt::format("{} = {{ value = {}, assumed = \"as the GPU of the fit has it\" }}\n", e.path(), e.value);
  std::set<std::string> told;  // keys by themselves that no row moves
  for (const FitUndetermined& u : o.undetermined) {
    out += "# undetermined: " + u.why + "\n";
    if (u.keys.size() == 1) told.insert(u.keys.front());
  }
  for (std::size_t k = 0; k < plan.keys.size(); ++k) {
    const FittedKey& key = o.keys[k];
    FitPlan one;
    one.keys = {plan.keys[k]};
    const bool is_told = told.count(plan.keys[k].path) == 0;
    std::vector<std::string> rows;
    for (const std::string& row : key.rows) rows.push_back(json_string(row));
    for (const auto& [path, value] : one.values_of({key.found}))
      out += is_told ? fmt::format("{} = {{ value = {}, fit = [{}] }}\n", path, value, joined(rows))
                     : fmt::format("# {} = {}\n", path, value);
    if (const std::string bound = bound_text(key); is_told && !bound.empty())
      out += fmt::format("# {} is {}\n", plan.keys[k].path, bound);
  }
  return out;
}

std::string fit_json(const std::string& gpu, const FitPlan& plan, const FitOutcome& o) {
  using Json = nlohmann::ordered_json;
  Json out = {{"gpu", gpu}, {"ended", o.stopped.empty()}, {"search_spent", o.spent}, {"points", o.points}};
  if (!o.stopped.empty()) out["stopped"] = o.stopped;
  if (o.start.empty()) return out.dump(2) + "\n";
  out["points_without_gpu"] = o.no_gpus;
  out["cost_before"] = o.cost_before;
  out["cost"] = o.cost_after;
  for (std::size_t k = 0; k < plan.keys.size(); ++k) {
    const FitKey& key = plan.keys[k];
    Json entry = {{"path", key.path},     {"start", key.start},     {"found", o.found[k]},
                  {"lowest", key.lowest}, {"highest", key.highest}, {"step", key.step}};
    if (!o.keys.empty()) {
      entry["at_lowest"] = o.keys[k].at_lowest;
      entry["at_highest"] = o.keys[k].at_highest;
      entry["play"] = o.keys[k].play;
      entry["rows"] = o.keys[k].rows;
    }
    out["keys"].push_back(std::move(entry));
  }
  for (std::size_t r = 0; r < plan.rows.size(); ++r) {
    const FitRow& row = plan.rows[r];
    Json entry = {{"id", row.row->id},
                  {"published", row.row->value},
                  {"unit", row.row->unit},
                  {"tolerance_percent", row.tolerance},
                  {"weight", row.weight}};
    const auto put = [&](const char* name, const char* error, const FitAnswer& answer) {
      if (answer.answered) {
        entry[name] = answer.measured;
        entry[error] = error_of(row, answer);
      } else {
        entry[std::string(name) + "_refused"] = printable(answer.refused);
      }
    };
    put("before", "error_before_percent", o.before.rows[r]);
    put("after", "error_percent", o.after.rows[r]);
    for (std::size_t k = 0; k < o.keys.size(); ++k)
      entry["change_percent"][plan.keys[k].path] = o.keys[k].changes[r];
    out["rows"].push_back(std::move(entry));
  }
  out["undetermined"] = Json::array();
  for (const FitUndetermined& u : o.undetermined)
    out["undetermined"].push_back({{"keys", u.keys}, {"why", u.why}});
  out["singular_values"] = o.singular_values;
  return out.dump(2) + "\n";
}

}  // namespace warpline::study
