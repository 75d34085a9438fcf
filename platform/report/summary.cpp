#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "platform/report/run_statistics.h"
#include "rtl_models/base/text.h"

namespace warpline {
namespace {

constexpr std::size_t kLaunchRows = 16;
constexpr std::size_t kKernelColumns = 34;
constexpr const char* kOrderingScopes[] = {"cta", "cluster", "gpu", "sys", "proxy"};

std::string share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "-"
                    : fmt::format("{:.1f}%", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string bytes_text(std::uint64_t bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double x = static_cast<double>(bytes);
  std::size_t u = 0;
  while (x >= 1024 && u + 1 < std::size(units)) x /= 1024, ++u;
  return u == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", x, units[u]);
}

std::string time_text(double ns) {
  if (ns < 1e4) return fmt::format("{:.1f} ns", ns);
  if (ns < 1e7) return fmt::format("{:.2f} us", ns / 1e3);
  return ns < 1e10 ? fmt::format("{:.2f} ms", ns / 1e6) : fmt::format("{:.2f} s", ns / 1e9);
}

class Summary {
 public:
  Summary(const RunStatistics& run, double dram_peak, bool colour)
      : run_(run), peak_(dram_peak), colour_(colour) {}

  std::string text() {
    head();
    faults();
    instructions();
    ordering();
    caches();
    memory();
    devices();
    launches();
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::uint64_t at(const std::string& path) const {
    return run_.table.value(run_.values, path);
  }
  [[nodiscard]] std::string paint(const char* code, const std::string& text) const {
    return colour_ ? std::string("\033[") + code + "m" + text + "\033[0m" : text;
  }
  /// A name, a figure, and what is to be said about it.
  void row(const char* name, const std::string& figure, const std::string& note) {
    out_ += fmt::format("  {:<22}{:>18}", name, figure) + (note.empty() ? "" : "  " + note) + "\n";
  }
  void title(const char* text) { out_ += "\n" + paint("1", text) + "\n"; }

  void head() {
    out_ += paint("1", fmt::format("{}: {} cycles, {}", printable(run_.gpu), grouped(run_.cycles),
                                   time_text(run_.time_ns))) +
            fmt::format(" simulated in {:.2f} s\n", run_.wall_s);
  }

  void faults() {
    const std::uint64_t n = at("sm.lsu.faults");
    if (n != 0) out_ += paint("1;31", fmt::format("  {} faults", grouped(n))) + "\n";
  }

  void instructions() {
    title("Instructions");
    const std::uint64_t warp = at("sm.instructions");
    const std::uint64_t thread = at("sm.thread_instructions");
    row("warp instructions", grouped(warp),
        run_.cycles == 0
            ? ""
            : fmt::format("{:.2f} per cycle", static_cast<double>(warp) / static_cast<double>(run_.cycles)));
    row("thread instructions", grouped(thread), "lanes active " + share(thread, warp * kWarpLanes));
    const std::uint64_t requests = at("sm.lsu.global_requests");
    const std::uint64_t sectors = at("sm.lsu.global_sectors");
    row("memory instructions", grouped(at("sm.lsu.instructions")), "");
    row("global lines", grouped(requests),
        requests == 0 ? ""
                      : fmt::format("{} sectors, {:.2f} per line", grouped(sectors),
                                    static_cast<double>(sectors) / static_cast<double>(requests)));
    const std::uint64_t shared = at("sm.lsu.shared_accesses");
    if (shared != 0)
      row("shared accesses", grouped(shared),
          fmt::format("{:.2f} passes each",
                      static_cast<double>(at("sm.lsu.shared_passes")) / static_cast<double>(shared)));
  }

  void ordering() {
    const auto cycles = [&](const char* scope) { return at(std::string("sm.ordering_cycles_") + scope); };
    std::uint64_t all = 0;
    for (const char* const scope : kOrderingScopes) all += cycles(scope);
    if (all == 0) return;
    title("Ordering (cycles that warps stood still in fences, releases, acquires)");
    for (const char* const scope : kOrderingScopes)
      if (const std::uint64_t n = cycles(scope); n != 0)
        row(std::strcmp(scope, "proxy") == 0 ? "proxy fences" : scope, grouped(n), share(n, all));
  }

  void caches() {
    title("Caches (32 B sectors; a merge is a miss that joins a fetch under way; hit rate: hits / look-ups)");
    const auto columns = [&](const auto&... cells) {
      out_ += fmt::format("  {:<22}{:>18}{:>16}{:>16}{:>16}{:>10}\n", cells...);
    };
    columns("", "look-ups", "hits", "merges", "other misses", "hit rate");
    for (const auto& [label, path] : {std::pair{"L1 local/global", "l1_lg"},
                                      std::pair{"texture/.nc", "texture"}, std::pair{"constant", "constant"},
                                      std::pair{"instruction", "instruction"}, std::pair{"L2", "l2"}}) {
      const std::uint64_t all = at(std::string(path) + ".sector_accesses");
      const std::uint64_t hits = at(std::string(path) + ".sector_hits");
      if (all == 0) continue;
      const std::uint64_t merged = at(std::string(path) + ".merged_sectors");
      columns(label, grouped(all), grouped(hits), grouped(merged), grouped(all - hits - merged),
              share(hits, all));
    }
  }

  void memory() {
    const std::uint64_t read = at("dram.bytes_read");
    const std::uint64_t written = at("dram.bytes_written");
    const std::uint64_t up = at("pcie.bytes_up");
    const std::uint64_t down = at("pcie.bytes_down");
    title("Memory");
    row("DRAM read", bytes_text(read), rate(read));
    row("DRAM written", bytes_text(written), rate(written));
    const double used = run_.time_ns > 0 ? static_cast<double>(read + written) / run_.time_ns : 0;
    if (peak_ > 0)
      row("DRAM bandwidth used", fmt::format("{:.1f}%", 100 * used / peak_),
          fmt::format("of {:.1f} GB/s", peak_));
    const std::uint64_t served = at("dram.row_hits") + at("dram.row_misses") + at("dram.row_conflicts");
    if (served != 0) row("DRAM row hits", share(at("dram.row_hits"), served), "");
    if (up + down != 0) {
      row("system memory read", bytes_text(down), rate(down));
      row("system memory written", bytes_text(up), rate(up));
    }
  }
  /// A byte per nanosecond is a gigabyte per second.
  [[nodiscard]] std::string rate(std::uint64_t bytes) const {
    return run_.time_ns > 0 ? fmt::format("{:.2f} GB/s", static_cast<double>(bytes) / run_.time_ns) : "";
  }

  void devices() {
    const std::uint64_t reads = at("peer.register_reads"), writes = at("peer.register_writes");
    const std::uint64_t buffer = at("peer.buffer_accesses"), commands = at("peer.commands");
    if (reads + writes + buffer + commands == 0) return;
    title("Devices");
    row("register accesses", grouped(reads + writes),
        fmt::format("{} reads, {} writes, {} of doorbells", grouped(reads), grouped(writes),
                    grouped(at("peer.doorbells"))));
    if (buffer != 0) row("buffer accesses", grouped(buffer), "");
    if (commands != 0) row("commands", grouped(commands), grouped(at("peer.failed_commands")) + " failed");
    if (const std::uint64_t n = at("peer.interrupts"); n != 0) row("interrupts raised", grouped(n), "");
    row("packets to devices", grouped(at("root.to_devices")),
        fmt::format("{} from other devices", grouped(at("root.peer_to_peer"))));
    row("of system memory",
        grouped(at("root.memory_reads") + at("root.memory_writes") + at("root.memory_atomics")),
        fmt::format("{} reads, {} writes, {} atomics", grouped(at("root.memory_reads")),
                    grouped(at("root.memory_writes")), grouped(at("root.memory_atomics"))));
    if (const std::uint64_t n = at("root.refused") + at("root.unsupported"); n != 0)
      row("refused packets", grouped(n), "by the IOMMU, or for nobody");
  }

  void launches() {
    if (run_.launches.size() < 2) return;
    title("Launches (hits: of look-ups, as above)");
    out_ += fmt::format("  {:<34}{:>16}{:>12}{:>12}{:>18}\n", "kernel", "cycles", "L1 hits", "L2 hits",
                        "DRAM bytes");
    for (std::size_t n = 0; n < std::min(run_.launches.size(), kLaunchRows); ++n) {
      const LaunchStatistics& l = run_.launches[n];
      const auto v = [&](const char* path) { return run_.table.value(l.counted, path); };
      std::string name = printable(l.kernel);
      if (name.size() > kKernelColumns - 2) name = name.substr(0, kKernelColumns - 5) + "...";
      out_ += fmt::format("  {:<34}{:>16}{:>12}{:>12}{:>18}\n", name, grouped(l.cycles),
                          share(v("l1_lg.sector_hits"), v("l1_lg.sector_accesses")),
                          share(v("l2.sector_hits"), v("l2.sector_accesses")),
                          grouped(v("dram.bytes_read") + v("dram.bytes_written")));
    }
    if (run_.launches.size() > kLaunchRows)
      out_ += fmt::format("  and {} more; --stats writes them all\n", run_.launches.size() - kLaunchRows);
  }

  const RunStatistics& run_;
  double peak_;
  bool colour_;
  std::string out_;
};

}  // namespace

std::string summary(const RunStatistics& run, double dram_peak, bool colour) {
  return Summary(run, dram_peak, colour).text();
}

}  // namespace warpline
