// Runs a launch file twice: on a GPU as it is, and with SystemVerilog in one or more of its hops.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "VSlice.h"
#include "VWires.h"
#include "rtl_between.h"
#include "warpline/platform/config/load_gpu.h"
#include "warpline/platform/launch/launch_runner.h"
#include "warpline/platform/systemc/systemc_backend.h"

namespace {

struct Outcome {
  int status = 2;                       ///< 0: as expected; 1: not so; 2: it could not be run
  std::vector<warpline::Cycle> cycles;  ///< of each grid
  std::vector<std::string> kernels;
  std::size_t checks = 0, failed = 0;
};

void print(const warpline::Diagnostics& faults) {
  for (const warpline::Diagnostic& fault : faults) std::fprintf(stderr, "%s\n", fault.text().c_str());
}

Outcome run(const std::string& launch_file, const warpline::GpuConfig& config,
            const std::shared_ptr<warpline::NetlistBackend>& backend) {
  Outcome outcome;
  auto plan = warpline::read_workload({launch_file}, false);
  if (!plan.ok()) {
    print(plan.faults());
    return outcome;
  }
  warpline::RunOptions options;
  options.backend = backend;
  options.max_cycles = 100'000'000;
  options.tags_only = plan.value().without_data;
  warpline::GpuPlatform gpu(config, options);
  warpline::LaunchRunner runner(plan.value(), gpu, options.tags_only);
  if (const warpline::Diagnostics faults = runner.prepare(); !faults.empty()) {
    print(faults);
    return outcome;
  }
  warpline::CounterTable table;
  std::vector<warpline::LaunchStatistics> launches;
  const warpline::RunEnd end = runner.run(table, launches);
  print(end.input_faults);
  if (!end.input_faults.empty()) return outcome;
  for (const std::string& failure : end.failures) std::fprintf(stderr, "%s\n", failure.c_str());
  const bool ended = end.outcome == warpline::RunOutcome::quiescent;
  outcome.status = ended && end.failures.empty() && gpu.unreconciled().empty() ? 0 : 1;
  outcome.checks = end.checks;
  outcome.failed = end.failed_checks;
  for (const warpline::LaunchStatistics& launch : launches) {
    outcome.cycles.push_back(launch.cycles);
    outcome.kernels.push_back(launch.kernel);
  }
  return outcome;
}

}  // namespace

int sc_main(int argc, char* argv[]) {
  const std::string kind = argc == 4 ? argv[3] : "";
  if (kind != "wires" && kind != "slice") {
    std::fprintf(stderr, "usage: %s LAUNCH_FILE HOPS wires|slice\nexample: %s kernels/chase.toml %s slice\n",
                 argv[0], argv[0], "'sm[0].l1_lg.to_crossbar'");
    return 2;
  }
  const warpline::GpuConfig config = warpline::load_gpu("mini").value();
  const Outcome plain = run(argv[1], config, nullptr);
  if (plain.status != 0) return plain.status;

  std::vector<std::unique_ptr<sc_core::sc_module>> rtl;
  std::size_t hops = 0;
  const auto backend =
      std::make_shared<warpline::SystemCBackend>(config.clocks, warpline::HopTransport::direct);
  backend->open_hops(argv[2], [&](const warpline::HopSite& hop, warpline::PinWires& from_initiator,
                                  warpline::PinWires& to_target) {
    const std::string down = hop.module_name + "_request", up = hop.module_name + "_response";
    if (kind == "slice") {
      rtl.push_back(put_between<VSlice>(down, from_initiator.request, to_target.request));
      rtl.push_back(put_between<VSlice>(up, to_target.response, from_initiator.response));
    } else {
      rtl.push_back(put_between<VWires>(down, from_initiator.request, to_target.request));
      rtl.push_back(put_between<VWires>(up, to_target.response, from_initiator.response));
    }
    ++hops;
  });
  Outcome with_rtl;
  try {
    with_rtl = run(argv[1], config, backend);
  } catch (const std::exception& refusal) {  // no hop is called so, or it has other wires than the RTL
    std::fprintf(stderr, "%s\n", refusal.what());
    return 2;
  }

  std::printf("%s on %s, %s in %zu hops\n", std::filesystem::path(argv[1]).filename().c_str(),
              config.name.c_str(), kind.c_str(), hops);
  for (std::size_t i = 0; i < plain.cycles.size() && i < with_rtl.cycles.size(); ++i)
    std::printf("  %-16s%10llu cycles, with RTL%10llu: %+lld\n", plain.kernels[i].c_str(),
                static_cast<unsigned long long>(plain.cycles[i]),
                static_cast<unsigned long long>(with_rtl.cycles[i]),
                static_cast<long long>(with_rtl.cycles[i]) - static_cast<long long>(plain.cycles[i]));
  std::printf("  %zu of %zu results as expected\n", with_rtl.checks - with_rtl.failed, with_rtl.checks);
  return with_rtl.status;
}
