#include "platform/cuda/report.h"

#include <map>
#include <nlohmann/json.hpp>

#include "rtl_models/document/files.h"

namespace warpline::cuda {

std::string write_report(const std::string& path, const GpuConfig& config,
                         const std::vector<WorkRecord>& records) {
  using nlohmann::ordered_json;
  struct Total {
    std::uint64_t count = 0, cycles = 0, bytes = 0;
    double ns = 0;
    bool kernel = false;
  };
  std::map<std::string, Total> totals;
  ordered_json work = ordered_json::array();
  for (const WorkRecord& r : records) {
    Total& t = totals[r.name];
    ++t.count;
    t.cycles += r.cycles;
    t.bytes += r.bytes;
    t.ns += r.time.end_ns - r.time.begin_ns;
    t.kernel = r.kernel;
    ordered_json one = {{"name", r.name}, {"begin_ns", r.time.begin_ns}, {"end_ns", r.time.end_ns}};
    if (r.kernel) one["cycles"] = r.cycles;
    if (!r.kernel) one["bytes"] = r.bytes;
    work.push_back(std::move(one));
  }
  ordered_json kernels = ordered_json::array(), copies = ordered_json::array();
  for (const auto& [name, t] : totals) {
    if (t.kernel) {
      kernels.push_back({{"name", name}, {"launches", t.count}, {"cycles", t.cycles}, {"time_ns", t.ns}});
    } else {
      copies.push_back({{"name", name}, {"count", t.count}, {"bytes", t.bytes}, {"time_ns", t.ns}});
    }
  }
  const ordered_json report = {
      {"gpu", config.name}, {"kernels", kernels}, {"copies", copies}, {"work", work}};
  return write_file_atomically(path, report.dump(2) + "\n");
}

}  // namespace warpline::cuda
