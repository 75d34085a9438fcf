#include "platform/metrics/energy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace warpline {
namespace {

constexpr double kPicojoule = 1e-12;
constexpr double kNanosecond = 1e-9;
/// Idle with its clocks at their full rate, and with sleeping warps.
constexpr double kStaticWatts = 126;

/// Work, in what its counters count times `factor`, and what one of it takes.
struct Figure {
  const char* what;
  std::vector<std::pair<const char*, double>> counters;
  double picojoules;
  const char* unit;
  const char* how;
};

/// From the energy counter of an H200 (HBM3e, 1980 MHz, driver 580.159, November 2026), four seconds of each
/// loop on all SMs, less the static power.
const std::vector<Figure>& figures() {
  static const std::vector<Figure> kFigures = {
      {"instructions",
       {{"sm.thread_instructions", 1}},
       5.4,
       "of a thread",
       "32.6 x 10^12 fused multiply-adds a second of f32: 302 W. What moves more bits takes more: additions "
       "and "
       "exclusive ors of random integers took 14.5"},
      {"tensor cores",
       {{"sm.matrix_multiply_adds", 1}},
       0.61,
       "a multiply-add",
       "637 x 10^12 of bf16 a second by `mma`: 513 W"},
      {"shared memory",
       {{"sm.lsu.shared_passes", 128}},
       1.6,
       "a byte",
       "127 TB/s of words without conflicts: 501 W, less an instruction for each word"},
      {"L1",
       {{"l1_lg.load_sectors", 32}, {"texture.sector_accesses", 32}},
       0.77,
       "a byte looked up",
       "122 TB/s of words that hit: 383 W, less an instruction for each word"},
      {"L2 and the way to it",
       {{"crossbar.request_sectors", 32}, {"crossbar.response_sectors", 32}},
       34.8,
       "a byte between SMs and L2",
       "7.1 TB/s of `ld.global.cg` that hit: 373 W. Stores are taken to cost the same"},
      {"DRAM, read", {{"dram.bytes_read", 1}}, 36.3, "a byte", "4.54 TB/s: 449 W, less the way from L2"},
      {"DRAM, written", {{"dram.bytes_written", 1}}, 43.9, "a byte", "4.23 TB/s: 459 W, less the way to L2"},
  };
  return kFigures;
}

std::string joules_text(double joules) {
  constexpr std::array<const char*, 5> kUnits{"pJ", "nJ", "uJ", "mJ", "J"};
  std::size_t unit = 0;
  double x = joules / kPicojoule;
  while (x >= 1000 && unit + 1 < kUnits.size()) x /= 1000, ++unit;
  return fmt::format("{:.1f} {}", x, kUnits[unit]);
}

}  // namespace

std::vector<EnergyShare> energy_of(const MetricSource& source) {
  std::vector<EnergyShare> out;
  for (const Figure& f : figures()) {
    double work = 0;
    for (const auto& [path, factor] : f.counters) work += factor * static_cast<double>(source.counter(path));
    out.push_back({f.what, work * f.picojoules * kPicojoule});
  }
  out.push_back({"static", kStaticWatts * source.gpus * source.time_ns * kNanosecond});
  return out;
}

std::string energy_text(const std::vector<MetricSource>& sources) {
  std::string out = "energy: an estimate, by figures of an H200 (`warpline metrics --list`)\n";
  for (const MetricSource& source : sources) {
    std::vector<EnergyShare> shares = energy_of(source);
    double sum = 0;
    for (const EnergyShare& s : shares) sum += s.joules;
    const double of_work = sum - shares.back().joules;
    std::stable_sort(shares.begin(), shares.end(),
                     [](const EnergyShare& a, const EnergyShare& b) { return a.joules > b.joules; });
    out += fmt::format(
        "\n{}: {}, {} of it for what was done{}\n", title_of(source), joules_text(sum), joules_text(of_work),
        source.time_ns == 0 ? "" : fmt::format(", {:.0f} W", sum / (source.time_ns * kNanosecond)));
    for (const EnergyShare& s : shares)
      if (s.joules != 0)
        out += fmt::format("  {:>10}  {:>5.1f}%  {}\n", joules_text(s.joules), 100 * s.joules / sum, s.what);
  }
  return out;
}

std::string energy_figures() {
  std::string out = fmt::format(
      "## Energy\n\n"
      "By what `--energy` estimates: the work that was counted, times what one of it took on an H200 (HBM3e, "
      "driver 580.159, November 2026), told from its energy counter over\n"
      "four seconds of loops on all SMs. It tells kernels and designs apart; it is no product's power: a "
      "smaller GPU takes less when idle, and links to a host or peers are left out.\n\n"
      "| energy | of | [counters](counters.md) | how it was measured |\n|---|---|---|---|\n"
      "| {} W | all the time | | idle at 1980 MHz, and with a sleeping warp on each SM |\n",
      kStaticWatts);
  for (const Figure& f : figures()) {
    std::string counters;
    for (const auto& [path, factor] : f.counters)
      counters += fmt::format("{}`{}`{}", counters.empty() ? "" : " + ", path,
                              factor == 1 ? "" : fmt::format(" x {}", factor));
    out += fmt::format("| {} pJ | {}: {} | {} | {} |\n", f.picojoules, f.what, f.unit, counters, f.how);
  }
  return out;
}

}  // namespace warpline
