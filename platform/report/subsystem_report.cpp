#include "platform/report/subsystem_report.h"

#include <fmt/format.h>

namespace warpline {

std::string subsystem_report(const std::string& name, const std::map<std::string, std::uint64_t>& counters) {
  const auto at = [&](const std::string& path) {
    const auto found = counters.find(path);
    return found == counters.end() ? 0 : found->second;
  };
  std::string out = name + "\n";
  const auto row = [&](const auto&... cells) {
    out += fmt::format("  {:<16}{:>14}{:>14}{:>14}{:>14}{:>15}\n", cells...);
  };
  // A merge is a miss that joins a fetch under way.
  row("32 B sectors", "look-ups", "hits", "merges", "other misses", "hits/look-ups");
  for (const auto& [label, block] :
       {std::pair{"L1 local/global", std::string("l1_lg")}, std::pair{"L2", std::string("l2")}}) {
    const std::uint64_t all = at(block + ".sector_accesses"), hits = at(block + ".sector_hits");
    const std::uint64_t merged = at(block + ".merged_sectors");
    const double share = 100.0 * static_cast<double>(hits) / static_cast<double>(all);
    row(label, all, hits, merged, all - hits - merged, all == 0 ? "-" : fmt::format("{:.1f}%", share));
  }
  const auto bytes = [&](const char* label, const char* read, const char* written) {
    out += fmt::format("  {:<16}{:>14} B read{:>17} B written\n", label, at(read), at(written));
  };
  bytes("DRAM", "dram.bytes_read", "dram.bytes_written");
  bytes("system memory", "pcie.bytes_down", "pcie.bytes_up");
  return out;
}

}  // namespace warpline
