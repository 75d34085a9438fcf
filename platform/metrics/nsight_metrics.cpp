#include "platform/metrics/nsight_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "rtl_models/base/glob.h"
#include "rtl_models/base/text.h"

namespace warpline {

/// A counter by its total path, or one of the two below, times `factor`.
struct MetricTerm {
  const char* path;
  double factor = 1;
};

struct MetricDefinition {
  const char* name;  ///< of a count: what stands before `.sum`; else the whole name
  const char* unit;
  std::vector<MetricTerm> sum;
  std::vector<MetricTerm> divisor = {};  ///< none: it is a count
  const char* remark = "";               ///< where it is not what Nsight Compute would count
  double percent = 1;                    ///< what the quotient is multiplied by
  bool whole = false;                    ///< the name is whole
  const char* unless = nullptr;  ///< a counter: where it is not zero, what is counted has other things in it
};

namespace {

constexpr const char* kTime = "time_ns";
constexpr const char* kSmCycles = "SM cycles";
constexpr double kNanosecondsPerSecond = 1e9;

const std::vector<MetricTerm> kL1Hits = {{"l1_lg.load_sector_hits"},
                                         {"l1_lg.merged_sectors"},
                                         {"texture.sector_hits"},
                                         {"texture.merged_sectors"}};
const std::vector<MetricTerm> kL1Sectors = {
    {"sm.lsu.global_sectors"}, {"sm.lsu.local_sectors"}, {"sm.lsu.image_sectors"}};
const std::vector<MetricTerm> kL2Hits = {{"l2.sector_hits"}, {"l2.merged_sectors"}};
constexpr const char* kMerged = "what joins a fetch under way is a hit";
constexpr const char* kOfPtx = "of PTX, as the assembler expands it";

const std::vector<MetricDefinition>& definitions() {
  static const std::vector<MetricDefinition> kAll = {
      {"gpu__time_duration.sum", "ns", {{kTime}}, {}, "", 1, true},
      {"sm__cycles_elapsed.max",
       "cycles",
       {{kSmCycles}},
       {},
       "there some 3,500 more: what it takes to launch a grid",
       1,
       true},
      {"sm__ctas_launched", "blocks", {{"sm.ctas"}}},
      {"sm__warps_launched", "warps", {{"sm.warps"}}},
      {"smsp__warps_launched", "warps", {{"sm.warps"}}},
      {"sm__inst_executed", "inst", {{"sm.instructions"}}, {}, kOfPtx},
      {"smsp__inst_executed", "inst", {{"sm.instructions"}}, {}, kOfPtx},
      {"smsp__thread_inst_executed", "threads", {{"sm.thread_instructions"}}, {}, kOfPtx},
      {"smsp__thread_inst_executed_per_inst_executed.ratio",
       "threads/inst",
       {{"sm.thread_instructions"}},
       {{"sm.instructions"}},
       "",
       1,
       true},
      {"sm__inst_executed_pipe_tensor",
       "inst",
       {{"sm.matrix_products"}},
       {},
       "what is said of `mma`, which ptxas may split"},
      {"smsp__sass_inst_executed_op_shared",
       "inst",
       {{"sm.lsu.shared_accesses"}},
       {},
       "ptxas joins neighbouring accesses"},
      {"smsp__sass_inst_executed_op_global_ld",
       "inst",
       {{"sm.lsu.global_loads"}},
       {},
       "ptxas joins neighbouring accesses"},
      {"smsp__sass_inst_executed_op_global_st",
       "inst",
       {{"sm.lsu.global_stores"}},
       {},
       "ptxas joins neighbouring accesses"},
      {"l1tex__data_pipe_lsu_wavefronts_mem_shared",
       "wavefronts",
       {{"sm.lsu.shared_passes"}},
       {},
       "there a few more for each warp"},
      {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared", "conflicts", {{"sm.lsu.shared_conflicts"}}},
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld",
       "sectors",
       {{"sm.lsu.global_load_sectors"}},
       {},
       "without asynchronous copies"},
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_st", "sectors", {{"sm.lsu.global_store_sectors"}}},
      {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
       "sectors/inst",
       {{"sm.lsu.global_load_sectors"}},
       {{"sm.lsu.global_loads"}},
       "",
       1,
       true},
      {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
       "sectors/inst",
       {{"sm.lsu.global_store_sectors"}},
       {{"sm.lsu.global_stores"}},
       "",
       1,
       true},
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit",
       "sectors",
       kL1Hits,
       {},
       "what joins a fetch under way is a hit; loads of local memory are counted, too; none where textures "
       "or surfaces were read",
       1,
       false,
       "sm.lsu.image_sectors"},
      {"l1tex__t_sector_hit_rate.pct", "%", kL1Hits, kL1Sectors,
       "what joins a fetch under way is a hit; no store is, where there a store to a line that an earlier "
       "one wrote is",
       100, true},
      {"l1tex__m_xbar2l1tex_read_sectors",
       "sectors",
       {{"l1_lg.fetched_sectors"}, {"l1_lg.forwarded_sectors"}, {"texture.fetched_sectors"}},
       {},
       "without what atomics return"},
      {"lts__t_sectors",
       "sectors",
       {{"l2.sector_accesses"}},
       {},
       "of all units; there the front end has about 1,000 in each grid"},
      {"lts__t_sectors_op_read",
       "sectors",
       {{"l2.read_sectors"}},
       {},
       "of all units, there with those of the front end"},
      {"lts__t_sectors_op_write",
       "sectors",
       {{"l2.write_sectors"}},
       {},
       "of all units, there with those of the front end"},
      {"lts__t_sectors_lookup_hit", "sectors", kL2Hits, {}, kMerged},
      {"lts__t_sectors_lookup_miss", "sectors", {{"l2.sector_misses"}, {"l2.merged_sectors", -1}}},
      {"lts__t_sector_hit_rate.pct", "%", kL2Hits, {{"l2.sector_accesses"}}, kMerged, 100, true},
      {"lts__d_sectors_fill_device", "sectors", {{"l2.fetched_sectors"}}},
      {"lts__d_sectors_fill_sysmem", "sectors", {{"l2.sysmem_fetched_sectors"}}},
      {"dram__bytes", "bytes", {{"dram.bytes_read"}, {"dram.bytes_written"}}},
      {"dram__bytes_read", "bytes", {{"dram.bytes_read"}}},
      {"dram__bytes_write", "bytes", {{"dram.bytes_written"}}},
      {"dram__sectors", "sectors", {{"dram.bytes_read", 1.0 / 32}, {"dram.bytes_written", 1.0 / 32}}},
      {"dram__sectors_read", "sectors", {{"dram.bytes_read", 1.0 / 32}}},
      {"dram__sectors_write", "sectors", {{"dram.bytes_written", 1.0 / 32}}},
  };
  return kAll;
}

std::optional<double> sum_of(const std::vector<MetricTerm>& terms, const MetricSource& of) {
  double sum = 0;
  for (const MetricTerm& t : terms) {
    if (t.path == kSmCycles && !of.sm_cycles) return std::nullopt;
    sum += t.factor * (t.path == kTime       ? of.time_ns
                       : t.path == kSmCycles ? *of.sm_cycles
                                             : static_cast<double>(of.counter(t.path)));
  }
  return sum;
}

std::string formula_of(const std::vector<MetricTerm>& terms) {
  std::string out;
  for (const MetricTerm& t : terms) {
    if (t.factor < 0) out += out.empty() ? "-" : " - ";
    if (t.factor > 0 && !out.empty()) out += " + ";
    out += fmt::format("`{}`", t.path);
    if (const double size = std::abs(t.factor); size < 1) out += fmt::format(" / {}", std::lround(1 / size));
  }
  return out;
}

/// Whole numbers by thousands, others with two decimals; of what is per second the unit grows.
std::pair<std::string, std::string> shown(const NsightMetric& metric, const std::optional<double>& value) {
  if (!value) return {"-", metric.unit()};
  constexpr std::array<const char*, 5> kPrefixes{"", "K", "M", "G", "T"};
  if (ends_with(metric.unit(), "/s")) {
    std::size_t p = 0;
    double x = *value;
    while (x >= 1000 && p + 1 < kPrefixes.size()) x /= 1000, ++p;
    return {fmt::format("{:.2f}", x), kPrefixes[p] + metric.unit()};
  }
  // Cycles of a clock that is not the fastest are no whole number.
  if (metric.unit() == "cycles") return {grouped(static_cast<std::uint64_t>(std::llround(*value))), "cycles"};
  if (*value != std::round(*value) || metric.unit().find_first_of("/%") != std::string::npos)
    return {fmt::format("{:.2f}", *value), metric.unit()};
  return {grouped(static_cast<std::uint64_t>(*value)), metric.unit()};
}

}  // namespace

NsightMetric::NsightMetric(const MetricDefinition& definition, Over over, const char* suffix)
    : definition_(&definition),
      over_(over),
      name_(std::string(definition.name) + suffix),
      unit_(std::string(definition.unit) + (over == Over::seconds     ? "/s"
                                            : over == Over::sm_cycles ? "/cycle"
                                                                      : "")) {}

const std::vector<NsightMetric>& NsightMetric::all() {
  static const std::vector<NsightMetric> kAll = [] {
    std::vector<NsightMetric> out;
    for (const MetricDefinition& d : definitions()) {
      if (d.whole) {
        out.push_back({d, Over::nothing, ""});
        continue;
      }
      out.push_back({d, Over::nothing, ".sum"});
      out.push_back({d, Over::seconds, ".sum.per_second"});
      // The clocks of L2 and DRAM are others.
      if (d.name[0] == 's' || d.name[1] == '1') out.push_back({d, Over::sm_cycles, ".sum.per_cycle_elapsed"});
    }
    return out;
  }();
  return kAll;
}

Result<std::vector<NsightMetric>> NsightMetric::named(const std::vector<std::string>& names) {
  std::vector<NsightMetric> out;
  std::vector<std::string> known;
  for (const NsightMetric& m : all()) known.push_back(m.name());
  for (const std::string& name : names) {
    const std::size_t before = out.size();
    // A pattern asks for what was counted: rates of it are asked for by their ends.
    const bool pattern = name.find_first_of("*?") != std::string::npos;
    const bool rates = name.find("per_") != std::string::npos;
    for (const NsightMetric& m : all())
      if (pattern ? glob_matches(name, m.name()) && (rates || m.over_ == Over::nothing) : m.name() == name)
        out.push_back(m);
    if (out.size() != before) continue;
    const std::string near = did_you_mean(name, known);
    return Diagnostic::about(
        "--metrics",
        pattern ? "no metric fits \"" + name + "\"" : "there is no equal of a metric \"" + name + "\" here",
        near.empty() ? "`warpline metrics --list` has them all" : near);
  }
  return out;
}

std::optional<double> NsightMetric::value(const MetricSource& of) const {
  if (definition_->unless != nullptr && of.counter(definition_->unless) != 0) return std::nullopt;
  const std::optional<double> sum = sum_of(definition_->sum, of);
  if (!sum || *sum < 0) return std::nullopt;
  std::optional<double> divisor = 1;
  if (!definition_->divisor.empty()) divisor = sum_of(definition_->divisor, of);
  if (over_ == Over::seconds) divisor = of.time_ns / kNanosecondsPerSecond;
  if (over_ == Over::sm_cycles) divisor = of.sm_cycles;
  if (!divisor || *divisor == 0) return std::nullopt;
  return *sum * definition_->percent / *divisor;
}

std::string title_of(const MetricSource& source) {
  if (source.name.empty()) return "the whole run";
  return "kernel " + source.name +
         (source.grids == 1 ? "" : fmt::format(", {} launches together", grouped(source.grids)));
}

std::string metrics_text(const std::vector<NsightMetric>& metrics, const std::vector<MetricSource>& sources) {
  std::string out;
  for (const MetricSource& source : sources) {
    out +=
        (out.empty() ? "" : "\n") + (source.name.empty() ? "the whole run" : "kernel " + source.name) + "\n";
    std::size_t widest = 0, wide = 0;
    std::vector<std::pair<std::string, std::string>> cells;
    for (const NsightMetric& m : metrics) {
      cells.push_back(shown(m, m.value(source)));
      widest = std::max(widest, m.name().size());
      wide = std::max(wide, cells.back().first.size());
    }
    for (std::size_t n = 0; n < metrics.size(); ++n)
      out += fmt::format("  {:<{}}  {:>{}}  {}\n", metrics[n].name(), widest, cells[n].first, wide,
                         cells[n].second);
  }
  return out;
}

std::string metrics_reference() {
  std::string out =
      "# Metrics of Nsight Compute\n\n"
      "Those that have an equal here, and what they are made of. This page is the output of `warpline "
      "metrics "
      "--list`; [Statistics](statistics.md#by-the-names-of-nsight-compute) says\n"
      "how to ask for them. `.sum.per_second` in the place of `.sum` is for each second of simulated time; "
      "of "
      "metrics that begin with `sm` or `l1tex`, `.sum.per_cycle_elapsed` for each cycle of the SMs' "
      "clock.\n\n"
      "| metric | unit | [counters](counters.md) | where it differs from what is counted there |\n"
      "|---|---|---|---|\n";
  for (const MetricDefinition& d : definitions()) {
    std::string formula = formula_of(d.sum);
    if (!d.divisor.empty()) {
      if (d.sum.size() > 1) formula = "(" + formula + ")";
      const std::string below = formula_of(d.divisor);
      formula = (d.percent == 1 ? "" : fmt::format("{} x ", d.percent)) + formula + " / " +
                (d.divisor.size() > 1 ? "(" + below + ")" : below);
    }
    out +=
        fmt::format("| `{}{}` | {} | {} | {} |\n", d.name, d.whole ? "" : ".sum", d.unit, formula, d.remark);
  }
  return out;
}

}  // namespace warpline
