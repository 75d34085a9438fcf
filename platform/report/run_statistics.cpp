#include "platform/report/run_statistics.h"

#include <fmt/format.h>

#include <cmath>

#include "platform/report/json_string.h"
#include "platform/report/standstill_json.h"
#include "rtl_models/base/contract.h"

namespace warpline {

std::string total_path(std::string_view path) {
  std::string out;
  unsigned depth = 0;
  for (const char c : path) {
    if (c == '[') ++depth;
    if (depth == 0) out += c;
    if (c == ']' && depth != 0) --depth;
  }
  constexpr std::string_view kGpu = "gpu.";  // one of several, whose sum the total is
  if (out.compare(0, kGpu.size(), kGpu) == 0) out.erase(0, kGpu.size());
  for (const std::string_view cache : {"sm.l1_lg.", "sm.texture.", "sm.constant.", "sm.instruction."})
    if (out.compare(0, cache.size(), cache) == 0) return out.substr(3);
  return out;
}

/// Collects the paths of the first visit.
class CounterTable::Learner : public CounterVisitor {
 public:
  struct Seen {
    Entry entry;
    std::string total;
  };
  void counter(std::string_view block, std::string_view name, std::uint64_t, std::string_view unit,
               std::string_view description) override {
    std::string path(block);
    path += ".";
    path += name;
    std::string total = total_path(path);
    seen.push_back({{std::move(path), std::string(unit), std::string(description)}, std::move(total)});
  }
  std::vector<Seen> seen;
};

/// Adds up the values of a visit that runs over the learned slots.
class CounterTable::Reader : public CounterVisitor {
 public:
  explicit Reader(const CounterTable& table) : table_(table), values(table.entries_.size()) {}
  void counter(std::string_view, std::string_view, std::uint64_t value, std::string_view,
               std::string_view) override {
    WARPLINE_EXPECT(next < table_.slots_.size(), "a netlist keeps its counters");
    const Slot& slot = table_.slots_[next++];
    values[slot.total] += value;
    if (slot.instance != slot.total) values[slot.instance] += value;
  }

 private:
  const CounterTable& table_;

 public:
  Values values;
  std::size_t next = 0;
};

CounterTable::Values CounterTable::read(const std::function<void(CounterVisitor&)>& visit) {
  if (slots_.empty()) {
    Learner learner;
    visit(learner);
    const auto entry = [&](const Entry& e) {
      const auto [at, fresh] = by_path_.try_emplace(e.path, entries_.size());
      if (fresh) entries_.push_back(e);
      return at->second;
    };
    for (const Learner::Seen& s : learner.seen)
      slots_.push_back({entry({s.total, s.entry.unit, s.entry.description}), 0});
    for (std::size_t n = 0; n < slots_.size(); ++n) slots_[n].instance = entry(learner.seen[n].entry);
  }
  Reader reader(*this);
  visit(reader);
  WARPLINE_EXPECT(reader.next == slots_.size(), "a netlist keeps its counters");
  return std::move(reader.values);
}

std::uint64_t CounterTable::value(const Values& values, const std::string& path) const {
  const auto found = by_path_.find(path);
  return found == by_path_.end() || found->second >= values.size() ? 0 : values[found->second];
}

CounterTable::Values CounterTable::difference(const Values& later, const Values& earlier) {
  Values out = later;
  for (std::size_t n = 0; n < out.size() && n < earlier.size(); ++n) out[n] -= earlier[n];
  return out;
}

namespace {

/// JSON has no infinity and no NaN.
std::string number(double x) {
  return std::isfinite(x) ? fmt::format("{}", x) : "0";
}

void append_counters(std::string& out, const CounterTable& table, const CounterTable::Values& values,
                     const char* indent) {
  out += "{";
  const char* comma = "\n";
  for (std::size_t n = 0; n < values.size(); ++n) {
    const CounterTable::Entry& e = table.entries()[n];
    out += fmt::format("{}{}  {}: {{\"value\": {}, \"unit\": {}, \"description\": {}}}", comma, indent,
                       json_string(e.path), values[n], json_string(e.unit), json_string(e.description));
    comma = ",\n";
  }
  if (!values.empty()) out += fmt::format("\n{}", indent);
  out += "}";
}

std::string consistency_json(const ConsistencyStatistics& c) {
  std::string out = fmt::format("      \"consistency\": {{\"verdict\": {}", json_string(c.verdict));
  if (!c.axiom.empty()) out += fmt::format(", \"axiom\": {}", json_string(c.axiom));
  if (!c.reason.empty()) out += fmt::format(", \"reason\": {}", json_string(c.reason));
  return out + fmt::format(", \"threads\": {}, \"events\": {}, \"accesses\": {}}},\n", c.threads, c.events,
                           c.accesses);
}

}  // namespace

std::string to_json(const RunStatistics& run) {
  std::string out = "{\n  \"schema\": 1,\n";
  out += fmt::format("  \"warpline\": {},\n  \"gpu\": {},\n  \"transport\": {},\n  \"input\": [",
                     json_string(run.version), json_string(run.gpu), json_string(run.transport));
  for (std::size_t n = 0; n < run.inputs.size(); ++n)
    out += (n == 0 ? "" : ", ") + json_string(run.inputs[n]);
  out += "],\n";
  if (run.fast_forwarded != 0) out += fmt::format("  \"fast_forwarded\": {},\n", run.fast_forwarded);
  out += fmt::format("  \"cycles\": {},\n  \"time_ns\": {},\n  \"wall_s\": {},\n  \"counters\": ", run.cycles,
                     number(run.time_ns), number(run.wall_s));
  append_counters(out, run.table, run.values, "  ");
  out += ",\n  \"launches\": [";
  for (std::size_t n = 0; n < run.launches.size(); ++n) {
    const LaunchStatistics& l = run.launches[n];
    out += fmt::format(
        "{}\n    {{\n      \"kernel\": {},\n      \"input\": {},\n      \"outcome\": {},\n{}      "
        "\"cycles\": "
        "{},\n"
        "{}      \"counters\": ",
        n == 0 ? "" : ",", json_string(l.kernel), json_string(l.input), json_string(l.outcome),
        l.measured ? "" : "      \"fast_forwarded\": true,\n", l.cycles,
        l.consistency ? consistency_json(*l.consistency) : "");
    append_counters(out, run.table, l.values, "      ");
    out += "\n    }";
  }
  out += run.launches.empty() ? "],\n" : "\n  ],\n";
  append_standstill(out, run.standstill);
  return out + "}\n";
}

}  // namespace warpline
