#include "platform/cuda/report.h"

#include <map>
#include <nlohmann/json.hpp>

#include "platform/cuda/shortcomings.h"
#include "rtl_models/base/plain_name.h"
#include "rtl_models/document/files.h"

namespace warpline::cuda {

std::string write_report(const std::string& path, const Machine& machine,
                         const std::vector<WorkRecord>& records) {
  using nlohmann::ordered_json;
  struct Total {
    std::uint64_t count = 0, timed = 0, cycles = 0, bytes = 0;
    std::map<std::uint32_t, std::uint64_t> counted;
    double ns = 0;
    bool kernel = false;
  };
  std::map<std::string, Total> totals;
  ordered_json work = ordered_json::array();
  for (const WorkRecord& r : records) {
    Total& t = totals[r.name];
    ++t.count;
    t.timed += r.timed ? 1 : 0;
    for (const auto& [counter, value] : r.counted) t.counted[counter] += value;
    t.cycles += r.cycles;
    t.bytes += r.bytes;
    t.ns += r.time.end_ns - r.time.begin_ns;
    t.kernel = r.kernel;
    ordered_json one = {{"name", r.name}, {"begin_ns", r.time.begin_ns}, {"end_ns", r.time.end_ns}};
    if (r.kernel) one["cycles"] = r.cycles;
    if (r.kernel && !r.timed) one["timed"] = false;
    if (!r.kernel) one["bytes"] = r.bytes;
    work.push_back(std::move(one));
  }
  ordered_json kernels = ordered_json::array(), copies = ordered_json::array();
  for (const auto& [name, t] : totals) {
    if (t.kernel) {
      // Totals of the GPUs; those of each block of hardware are left out.
      ordered_json counters = ordered_json::object();
      for (const auto& [counter, value] : t.counted)
        if (const std::string& of = machine.counters().entries()[counter].path;
            of.find('[') == std::string::npos)
          counters[of] = value;
      kernels.push_back({{"name", name},
                         {"function", plain_name(name)},
                         {"launches", t.count},
                         {"timed", t.timed},
                         {"cycles", t.cycles},
                         {"time_ns", t.ns},
                         {"counters", counters}});
    } else {
      copies.push_back({{"name", name}, {"count", t.count}, {"bytes", t.bytes}, {"time_ns", t.ns}});
    }
  }
  ordered_json lacking = ordered_json::object();
  for (const auto& [what, count] : Shortcomings::instance().all()) lacking[what] = count;
  const ordered_json report = {{"gpu", machine.config().name},
                               {"sm_mhz", machine.config().clocks.sm},
                               {"gpus", machine.config().gpus},
                               {"kernels", kernels},
                               {"copies", copies},
                               {"work", work},
                               {"not_given", lacking}};
  return write_file_atomically(path, report.dump(2) + "\n");
}

}  // namespace warpline::cuda
