#include "platform/metrics/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rtl_models/base/text.h"

namespace warpline {
namespace {

constexpr double kSector = 32, kFlopsOfMultiplyAdd = 2;

/// What counts or carries so much per cycle of a clock, in MHz, does so much in a nanosecond.
constexpr double kMhz = 1e-3;

struct Memory {
  const char* name;
  double (*bytes)(const RooflineSource&);
  double (*bandwidth)(const RooflineSource&);
};

const Memory kMemories[] = {
    {"DRAM",
     [](const RooflineSource& s) { return s.counter("dram.bytes_read") + s.counter("dram.bytes_written"); },
     [](const RooflineSource& s) {
       return s.busy_gpus() * s.key("dram.channels") * kSector / s.key("dram.sector_cycles") *
              s.key("clocks.dram") * kMhz;
     }},
    {"reads of L2", [](const RooflineSource& s) { return s.counter("crossbar.response_sectors") * kSector; },
     [](const RooflineSource& s) {
       return s.busy_gpus() * s.key("l2.slices") * s.key("hops.crossbar_l2.response.width") *
              s.key("clocks.l2") * kMhz;
     }}};

std::string figure(double x) {
  return x >= 1000 ? grouped(static_cast<std::uint64_t>(std::llround(x))) : fmt::format("{:.3g}", x);
}

}  // namespace

bool Roofline::is_known() const {
  return intensity > 0 && rate > 0 && bandwidth > 0 && issue_rate > 0 && std::isfinite(intensity);
}

double Roofline::roof(double at) const {
  return std::min(issue_rate, at * bandwidth);
}

std::vector<Roofline> rooflines(const RooflineSource& s) {
  std::vector<Roofline> out;
  const double instructions = s.counter("sm.instructions");
  for (const Memory& m : kMemories) {
    Roofline r;
    r.memory = m.name;
    r.bytes = m.bytes(s);
    r.intensity = instructions / r.bytes;
    r.rate = instructions / s.time_ns;
    r.bandwidth = m.bandwidth(s);
    r.issue_rate = s.busy_gpus() * s.key("sms") * s.key("sm.partitions") * s.key("clocks.sm") * kMhz;
    out.push_back(r);
  }
  return out;
}

std::string roofline_text(const std::vector<MetricSource>& sources) {
  std::string out = "roofline, in warp instructions\n";
  for (const MetricSource& source : sources) {
    const RooflineSource s{[&](const std::string& path) { return static_cast<double>(source.counter(path)); },
                           source.key, source.time_ns, static_cast<double>(source.busy_gpus)};
    const std::vector<Roofline> all = rooflines(s);
    const double instructions = s.counter("sm.instructions");
    const Roofline& any = all.front();
    if (instructions == 0 || !(source.time_ns > 0)) {
      out += fmt::format("\n{}: no instruction\n", title_of(source));
      continue;
    }
    out += fmt::format("\n{}: {} in {} ns, {} a ns; SMs issue {} at most: {:.1f}%\n", title_of(source),
                       grouped(static_cast<std::uint64_t>(instructions)), figure(source.time_ns),
                       figure(any.rate), figure(any.issue_rate), 100 * any.rate / any.issue_rate);
    out += fmt::format("  {:<12}{:>14}{:>10}{:>10}{:>14}{:>10}{:>10}  {}\n", "", "bytes", "GB/s", "at most",
                       "instr. a byte", "roof", "attained", "roof is of");
    for (const Roofline& r : all) {
      if (!r.is_known()) {
        out += fmt::format("  {:<12}{:>14}\n", r.memory, r.bytes == 0 ? "nothing moved" : "not known");
        continue;
      }
      out +=
          fmt::format("  {:<12}{:>14}{:>10}{:>10}{:>14}{:>10}{:>9.1f}%  {}\n", r.memory,
                      grouped(static_cast<std::uint64_t>(r.bytes)), figure(r.bytes / source.time_ns),
                      figure(r.bandwidth), figure(r.intensity), figure(r.roof(r.intensity)),
                      100 * r.rate / r.roof(r.intensity), r.bandwidth_limits() ? "bandwidth" : "issue slots");
    }
    if (const double products = s.counter("sm.matrix_multiply_adds"); products > 0) {
      const double flops = kFlopsOfMultiplyAdd * products;
      out += fmt::format("  tensor cores: {} operations, {} G a second{}\n",
                         grouped(static_cast<std::uint64_t>(flops)), figure(flops / source.time_ns),
                         all.front().bytes > 0
                             ? fmt::format(", {} for each byte of DRAM", figure(flops / all.front().bytes))
                             : "");
    }
  }
  return out;
}

}  // namespace warpline
