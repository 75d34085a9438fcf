#include "platform/report/run_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rtl_models/base/contract.h"
#include "rtl_models/base/text.h"
#include "rtl_models/sim/wait_graph.h"

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

void CounterTable::learn(const std::function<void(CounterVisitor&)>& visit) {
  std::vector<Entry> instances;
  EachCounter collect([&](std::string_view block, std::string_view name, std::uint64_t /*value*/,
                          std::string_view unit, std::string_view description) {
    instances.push_back(
        {std::string(block).append(".").append(name), std::string(unit), std::string(description)});
  });
  visit(collect);
  const auto number_of = [&](Entry e) {
    const auto [at, fresh] = by_path_.try_emplace(e.path, entries_.size());
    if (fresh) entries_.push_back(std::move(e));
    return at->second;
  };
  for (const Entry& e : instances)
    slots_.push_back({number_of({total_path(e.path), e.unit, e.description}), 0});
  for (std::size_t n = 0; n < slots_.size(); ++n) slots_[n].instance = number_of(instances[n]);
}

CounterTable::Values CounterTable::read(const std::function<void(CounterVisitor&)>& visit) {
  if (slots_.empty()) learn(visit);
  Values values(entries_.size());
  auto slot = slots_.begin();
  EachCounter add(
      [&](std::string_view, std::string_view, std::uint64_t value, std::string_view, std::string_view) {
        WARPLINE_EXPECT(slot != slots_.end(), "a netlist keeps its counters");
        values[slot->total] += value;
        if (slot->instance != slot->total) values[slot->instance] += value;
        ++slot;
      });
  visit(add);
  WARPLINE_EXPECT(slot == slots_.end(), "a netlist keeps its counters");
  return values;
}

std::uint64_t CounterTable::value(const Values& values, const std::string& path) const {
  const auto found = by_path_.find(path);
  return found == by_path_.end() || found->second >= values.size() ? 0 : values[found->second];
}

std::uint64_t CounterTable::value(const Changes& changes, const std::string& path) const {
  const auto found = by_path_.find(path);
  if (found == by_path_.end()) return 0;
  const auto at =
      std::lower_bound(changes.begin(), changes.end(), found->second,
                       [](const auto& change, std::size_t entry) { return change.first < entry; });
  return at == changes.end() || at->first != found->second ? 0 : at->second;
}

CounterTable::Changes CounterTable::changes(const Values& later, const Values& earlier) {
  Changes out;
  const Values more = difference(later, earlier);
  for (std::size_t n = 0; n < more.size(); ++n)
    if (more[n] != 0) out.emplace_back(static_cast<std::uint32_t>(n), more[n]);
  return out;
}

CounterTable::Values CounterTable::whole(const Changes& changes) const {
  Values out(entries_.size());
  for (const auto& [entry, value] : changes) out[entry] = value;
  return out;
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

std::string json_list(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const std::string& text : texts) quoted.push_back(json_string(text));
  return "[" + joined(quoted) + "]";
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

const char* word_of(StatisticsCounters counters) {
  switch (counters) {
    case StatisticsCounters::all: return "all";
    case StatisticsCounters::counted: return "counted";
    case StatisticsCounters::totals: return "totals";
  }
  return "";
}

bool is_total(const CounterTable::Entry& e) {
  return e.path.find('[') == std::string::npos;
}

/// The same of totals, with what they mean, and of other counters that counted something, without.
void append_counted(std::string& out, const RunStatistics& run, StatisticsCounters which) {
  const char* comma = "\n    ";
  for (std::size_t n = 0; n < run.values.size(); ++n) {
    const CounterTable::Entry& e = run.table.entries()[n];
    const bool total = is_total(e);
    if (!total && (which == StatisticsCounters::totals || run.values[n] == 0)) continue;
    out += comma + json_string(e.path) + ": {\"value\": " + std::to_string(run.values[n]);
    if (total)
      out += ", \"unit\": " + json_string(e.unit) + ", \"description\": " + json_string(e.description);
    out += "}";
    comma = ",\n    ";
  }
}

/// What a launch counted, by its values alone.
void append_counted(std::string& out, const RunStatistics& run, const CounterTable::Changes& changes,
                    StatisticsCounters which) {
  const char* comma = "";
  for (const auto& [n, value] : changes) {
    const CounterTable::Entry& e = run.table.entries()[n];
    if (which == StatisticsCounters::totals && !is_total(e)) continue;
    out += comma + json_string(e.path) + ": {\"value\": " + std::to_string(value) + "}";
    comma = ", ";
  }
}

std::string consistency_json(const ConsistencyStatistics& c) {
  std::string out = fmt::format("      \"consistency\": {{\"verdict\": {}", json_string(c.verdict));
  if (!c.axiom.empty()) out += fmt::format(", \"axiom\": {}", json_string(c.axiom));
  if (!c.reason.empty()) out += fmt::format(", \"reason\": {}", json_string(c.reason));
  return out + fmt::format(", \"threads\": {}, \"events\": {}, \"accesses\": {}}},\n", c.threads, c.events,
                           c.accesses);
}

/// Appends a member that is a list, an element a line.
template <class T, class F>
void append_list(std::string& out, const char* name, const std::vector<T>& elements, F&& text) {
  std::vector<std::string> lines;
  for (const T& e : elements) lines.push_back("\n    " + text(e));
  out += fmt::format("  \"{}\": [{}{}]", name, joined(lines, ","), lines.empty() ? "" : "\n  ");
}

/// Each request in flight (`made` is null where no SM made it), each other wait, and who stands in the circle
/// of waits of a dead model.
void append_standstill(std::string& out, const Standstill& standstill) {
  append_list(out, "in_flight", standstill.in_flight, [](const InFlight& row) {
    return fmt::format(
        "{{\"id\": \"{}\", \"made\": {}, \"request\": {}, \"holder\": {}, \"at\": {}, \"waits_for\": {}, "
        "\"on\": "
        "{}}}",
        row.id, row.made == kNever ? "null" : std::to_string(row.made), json_string(row.what),
        json_string(row.holder), json_string(row.at), json_string(row.wait.what), json_list(row.wait.on));
  });
  out += ",\n";
  append_list(out, "waits", standstill.waits, [](const Wait& w) {
    return fmt::format("{{\"who\": {}, \"waits_for\": {}, \"on\": {}}}", json_string(w.who),
                       json_string(w.what), json_list(w.on));
  });
  out += ",\n";
  const std::vector<WaitEdge> circle = standstill.dead ? circle_of(standstill) : std::vector<WaitEdge>{};
  append_list(out, "circle", circle, [](const WaitEdge& e) { return json_string(e.from); });
  out += "\n";
}

std::string json_triple(const Dim3& d) {
  return fmt::format("[{}, {}, {}]", d.x, d.y, d.z);
}

/// A whole number; as text where readers that take it for a floating-point one would lose digits.
std::string json_whole(std::uint64_t n) {
  return n <= std::uint64_t{1} << 53U ? std::to_string(n) : "\"" + std::to_string(n) + "\"";
}
std::string json_whole_or_null(const std::optional<std::uint64_t>& n) {
  return n ? json_whole(*n) : "null";
}

/// A key's value as JSON. It is written as TOML has it, which JSON has alike but for great numbers.
std::string json_value(const std::string& toml) {
  const bool is_text = !toml.empty() && toml.front() == '"';
  if (is_text || toml.find_first_of(".e") != std::string::npos) return toml;
  std::string out;
  for (std::size_t at = 0; at < toml.size();) {
    std::size_t end = at;
    while (end < toml.size() && is_digit(toml[end])) ++end;
    const auto n = number_from<std::uint64_t>(std::string_view(toml).substr(at, end - at));
    out += n ? json_whole(*n) : toml.substr(at, std::max<std::size_t>(end - at, 1));
    at = std::max(end, at + 1);
  }
  return out;
}

std::string fault_json(const FaultRecord& f) {
  const auto text_or_null = [](const std::string& text) { return text.empty() ? "null" : json_string(text); };
  std::string out =
      fmt::format("{{\"kind\": {}, \"address\": {}, \"access\": {}, \"bytes\": {}, ", json_string(f.kind),
                  f.address ? json_string(hexadecimal(*f.address)) : "null", text_or_null(f.access),
                  f.bytes == 0 ? "null" : std::to_string(f.bytes));
  out += fmt::format(
      "\"thread\": {}, \"block\": {}, \"gpu\": {}, \"sm\": {}, \"warp\": {}, \"lane\": {}, \"cycle\": {}, ",
      json_triple(f.thread), json_triple(f.cta), f.gpu, f.sm, f.warp, f.lane, f.cycle);
  out += fmt::format("\"where\": {}, \"memory\": {}, ", json_string(f.where), text_or_null(f.memory));
  if (!f.memory.empty())
    out += fmt::format("\"offset\": {}, \"memory_bytes\": {}, ",
                       f.coordinates ? "null" : std::to_string(f.offset), json_whole(f.memory_bytes));
  if (f.coordinates)
    out += fmt::format("\"coordinates\": [{}, {}], ", (*f.coordinates)[0], (*f.coordinates)[1]);
  if (f.slice) out += fmt::format("\"slice\": {}, ", *f.slice);
  return out + fmt::format("\"distance\": {}}}", text_or_null(distance_text(f)));
}

/// What two files must agree in for their figures to be those of one run.
void append_request(std::string& out, const RunStatistics& run) {
  const RunChoices& c = run.choices;
  out += fmt::format("  \"gpu\": {},\n  \"transport\": {},\n  \"input\": {},\n", json_string(run.gpu),
                     json_string(run.transport), json_list(run.inputs));
  append_list(out, "files", run.files, [](const InputFile& f) {
    return fmt::format("{{\"path\": {}, \"bytes\": {}, \"sha256\": \"{}\"}}", json_string(f.path), f.bytes,
                       f.sha256);
  });
  out += fmt::format(
      ",\n  \"options\": {{\"seed\": {}, \"jitter\": {}, \"max_cycles\": {}, \"fast_forward\": {}, "
      "\"keep_warm\": {}, \"pins\": {}, \"tags_only\": {}, \"check_consistency\": {}}},\n",
      json_whole(c.seed), json_whole_or_null(c.jitter), json_whole_or_null(c.max_cycles),
      c.fast_forward.empty() ? "null" : json_string(c.fast_forward), c.keep_warm, json_list(c.pins),
      c.tags_only, c.check_consistency);
  out +=
      fmt::format("  \"configuration_sha256\": \"{}\",\n  \"configuration\": {{", run.configuration_sha256);
  const char* comma = "";
  for (const Setting& s : run.configuration) {
    out += fmt::format("{}\n    {}: {}", comma, json_string(s.path), json_value(s.value));
    comma = ",";
  }
  out += run.configuration.empty() ? "},\n" : "\n  },\n";
}

void append_results(std::string& out, const RunStatistics& run) {
  out += fmt::format("  \"checks\": {},\n  \"failed_checks\": {},\n", run.checks, run.failed_checks);
  append_list(out, "comparisons", run.comparisons, [](const Comparison& c) {
    return fmt::format("{{\"what\": {}, \"as_expected\": {}, \"failure\": {}}}", json_string(c.what),
                       c.failure.empty(), c.failure.empty() ? "null" : json_string(c.failure));
  });
  out += ",\n";
  append_list(out, "failures", run.failures, [](const std::string& text) { return json_string(text); });
  out += fmt::format(",\n  \"fault_count\": {},\n", run.fault_count);
  append_list(out, "faults", run.faults, fault_json);
  out += ",\n";
}

}  // namespace

const char* name_of(RunVerdict verdict) {
  switch (verdict) {
    case RunVerdict::finished: return "finished";
    case RunVerdict::interrupted: return "interrupted";
    case RunVerdict::deadlocked: return "deadlocked";
    case RunVerdict::limit: return "limit";
    case RunVerdict::faulted: return "faulted";
    case RunVerdict::failed_check: return "failed check";
    case RunVerdict::incomplete: return "incomplete";
  }
  return "";
}

std::string to_json(const RunStatistics& run, StatisticsCounters counters) {
  const bool all = counters == StatisticsCounters::all;
  std::string out = "{\n  \"schema\": 2,\n";
  out +=
      fmt::format("  \"warpline\": {},\n  \"command\": {},\n  \"outcome\": \"{}\",\n  \"exit_status\": {},\n",
                  json_string(run.version), json_list(run.command), name_of(run.verdict), run.exit_status);
  append_request(out, run);
  append_results(out, run);
  if (run.fast_forwarded != 0) out += fmt::format("  \"fast_forwarded\": {},\n", run.fast_forwarded);
  out += fmt::format(
      "  \"cycles\": {},\n  \"time_ns\": {},\n  \"wall_s\": {},\n  \"stats_counters\": \"{}\",\n  "
      "\"counters\": ",
      run.cycles, number(run.time_ns), number(run.wall_s), word_of(counters));
  if (all) {
    append_counters(out, run.table, run.values, "  ");
  } else {
    out += "{";
    append_counted(out, run, counters);
    out += run.values.empty() ? "}" : "\n  }";
  }
  out += ",\n  \"launches\": [";
  for (std::size_t n = 0; n < run.launches.size(); ++n) {
    const LaunchStatistics& l = run.launches[n];
    out += fmt::format(
        "{}\n    {{\n      \"kernel\": {},\n      \"input\": {},\n      \"outcome\": {},\n{}      "
        "\"cycles\": "
        "{},\n"
        "{}{}      \"counters\": ",
        n == 0 ? "" : ",", json_string(l.kernel), json_string(l.input), json_string(l.outcome),
        l.measured ? "" : "      \"fast_forwarded\": true,\n", l.cycles,
        l.gpus == 1 ? "" : fmt::format("      \"gpus\": {},\n", l.gpus),
        l.consistency ? consistency_json(*l.consistency) : "");
    if (all) {
      append_counters(out, run.table, run.table.whole(l.counted), "      ");
    } else {
      // Of one launch alone, they are the run's.
      out += "{";
      if (run.launches.size() > 1) append_counted(out, run, l.counted, counters);
      out += "}";
    }
    out += "\n    }";
  }
  out += run.launches.empty() ? "],\n" : "\n  ],\n";
  if (run.refusals != 0)
    out += fmt::format("  \"refused_accesses\": {{\"count\": {}, \"first\": {}}},\n", run.refusals,
                       json_list(run.refused_accesses));
  append_standstill(out, run.standstill);
  return out + "}\n";
}

}  // namespace warpline
