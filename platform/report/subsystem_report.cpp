#include "platform/report/subsystem_report.h"

#include <fmt/format.h>

namespace warpline {
namespace {

class Table {
 public:
  explicit Table(const std::map<std::string, std::uint64_t>& counters) : counters_(counters) {}
  void caches() {
    out_ += fmt::format("  {:<16}{:>14}{:>14}{:>14}{:>12}\n", "32 B sectors", "look-ups", "hits", "misses",
                        "hit rate");
    cache("L1 local/global", "l1_lg");
    cache("L2", "l2");
  }
  void bytes(const char* label, const char* read, const char* written) {
    out_ += fmt::format("  {:<16}{:>14} B read{:>17} B written\n", label, at(read), at(written));
  }
  [[nodiscard]] const std::string& text() const { return out_; }

 private:
  [[nodiscard]] std::uint64_t at(const std::string& path) const {
    const auto found = counters_.find(path);
    return found == counters_.end() ? 0 : found->second;
  }
  void cache(const char* label, const std::string& block) {
    const std::uint64_t all = at(block + ".sector_accesses"), hits = at(block + ".sector_hits");
    const std::string rate =
        all == 0 ? "-" : fmt::format("{:.1f}%", 100.0 * static_cast<double>(hits) / static_cast<double>(all));
    out_ += fmt::format("  {:<16}{:>14}{:>14}{:>14}{:>12}\n", label, all, hits, at(block + ".sector_misses"),
                        rate);
  }

  const std::map<std::string, std::uint64_t>& counters_;
  std::string out_;
};

}  // namespace

std::string subsystem_report(const std::string& name, const std::map<std::string, std::uint64_t>& counters) {
  Table table(counters);
  table.caches();
  table.bytes("DRAM", "dram.bytes_read", "dram.bytes_written");
  table.bytes("system memory", "pcie.bytes_down", "pcie.bytes_up");
  return name + "\n" + table.text();
}

}  // namespace warpline
