#include "platform/series/series_figures.h"

#include <algorithm>
#include <unordered_set>

#include "rtl_models/base/glob.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/document.h"

namespace warpline {
namespace {

using Kind = SeriesFigure::Kind;
using Paths = std::vector<std::string>;

SeriesFigure rate(const char* name, const char* unit, Paths parts, double scale, Paths less = {}) {
  SeriesFigure m;
  m.name = name;
  m.unit = unit;
  m.kind = Kind::rate;
  m.parts = std::move(parts);
  m.less = std::move(less);
  m.scale = scale;
  return m;
}

SeriesFigure hit_rate(const char* name, const std::string& block) {
  SeriesFigure m;
  m.name = name;
  m.kind = Kind::ratio;
  m.parts = {block + ".sector_hits", block + ".merged_sectors"};
  m.wholes = {block + ".sector_accesses"};
  return m;
}

SeriesFigure held(const char* name, const char* unit, const char* block, const char* gauge) {
  SeriesFigure m;
  m.name = name;
  m.unit = unit;
  m.kind = Kind::held;
  m.block = block;
  m.gauge = gauge;
  return m;
}

}  // namespace

std::vector<SeriesFigure> standard_figures(const GpuConfig& config) {
  const double fastest = config.clocks.fastest();
  const double gpus = config.gpus;
  // Cycles of a clock, of so many blocks of each GPU together, that one cycle of the fastest clock has.
  const auto each = [&](double blocks, double mhz) { return gpus * blocks * mhz / fastest; };
  const double ns = 1000.0 / fastest;  // a byte in a nanosecond is a gigabyte in a second
  return {
      rate("ipc", "instructions", {"sm.instructions"}, 1),
      held("warps", "warps", "sm", "warps"),
      hit_rate("l1_hit_rate", "l1_lg"),
      rate("reply_ports", "", {"crossbar.reply_beats"}, each(config.sms, config.clocks.l2)),
      rate("request_ports", "", {"crossbar.beats"}, each(config.l2.slices, config.clocks.l2),
           {"crossbar.reply_beats"}),
      held("crossbar_queue", "requests", "crossbar", "requests_waiting"),
      hit_rate("l2_hit_rate", "l2"),
      held("l2_misses", "lines", "l2", "miss_registers"),
      held("l2_queue", "requests", "l2", "outgoing"),
      rate("dram_read", "GB/s", {"dram.bytes_read"}, ns),
      rate("dram_write", "GB/s", {"dram.bytes_written"}, ns),
      rate("dram_busy", "", {"dram.busy_cycles"}, each(config.dram.channels, config.clocks.dram)),
      held("dram_queue", "requests", "dram", "queue"),
      rate("pcie_down", "GB/s", {"pcie.bytes_down"}, ns),
      rate("pcie_up", "GB/s", {"pcie.bytes_up"}, ns),
  };
}

Result<std::vector<SeriesFigure>> figures_named(const std::vector<std::string>& names,
                                                const GpuConfig& config,
                                                const std::vector<CounterTable::Entry>& counters) {
  const std::vector<SeriesFigure> standard = standard_figures(config);
  std::vector<SeriesFigure> out;
  Diagnostics faults;
  std::unordered_set<std::string> taken;
  const auto take = [&](const SeriesFigure& m) {
    if (taken.insert(m.name).second) out.push_back(m);
  };
  for (const std::string& name : names) {
    const auto known =
        std::find_if(standard.begin(), standard.end(), [&](const SeriesFigure& m) { return m.name == name; });
    if (known != standard.end()) {
      take(*known);
      continue;
    }
    bool any = false;
    for (const CounterTable::Entry& e : counters) {
      if (!glob_matches(name, e.path)) continue;
      any = true;
      SeriesFigure m;
      m.name = e.path;
      m.unit = e.unit;
      m.parts = {e.path};
      take(m);
    }
    if (any) continue;
    std::vector<std::string> candidates;
    for (const SeriesFigure& m : standard) candidates.push_back(m.name);
    const std::string some = joined(candidates);
    for (const CounterTable::Entry& e : counters) candidates.push_back(e.path);
    std::string hint = did_you_mean(name, candidates);
    if (hint.empty()) hint = "figures are " + some + "; `warpline counters` lists counters, * and ? are wild";
    faults.push_back(
        Diagnostic::about("--figures", "\"" + name + "\" is no figure and matches no counter", hint));
  }
  if (!faults.empty()) return faults;
  return out;
}

}  // namespace warpline
