// Runs a launch file twice: on a GPU as it is, and on one whose DRAM channels are those of my_dram.h. Both
// must give the results that the launch file expects.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "my_dram.h"
#include "warpline/platform/config/load_gpu.h"
#include "warpline/platform/launch/launch_runner.h"
#include "warpline/platform/systemc/systemc_backend.h"

namespace {

struct Outcome {
  int status = 2;  ///< 0: as expected; 1: not so; 2: it could not be run
  warpline::Cycle cycles = 0;
  std::size_t checks = 0, failed = 0;
};

void print(const warpline::Diagnostics& faults) {
  for (const warpline::Diagnostic& fault : faults) std::fprintf(stderr, "%s\n", fault.text().c_str());
}

Outcome run(const std::string& launch_file, const warpline::GpuConfig& config,
            const std::shared_ptr<warpline::NetlistBackend>& backend, bool loose) {
  Outcome outcome;
  auto plan = warpline::read_workload({launch_file}, false);
  if (!plan.ok()) {
    print(plan.faults());
    return outcome;
  }
  warpline::RunOptions options;
  options.backend = backend;
  options.loose = loose;
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
  for (const std::string& failure : end.failures) std::fprintf(stderr, "%s\n", failure.c_str());
  const std::size_t shown = std::min<std::size_t>(end.standstill.waits.size(), 10);
  for (std::size_t i = 0; i < shown; ++i)
    std::fprintf(stderr, "%s waits for %s\n", end.standstill.waits[i].who.c_str(),
                 end.standstill.waits[i].what.c_str());
  const bool ended = end.outcome == warpline::RunOutcome::quiescent;
  const bool reconciled = ended && gpu.unreconciled().empty();
  if (!end.input_faults.empty()) return outcome;
  outcome.status = reconciled && end.failures.empty() && gpu.faults().empty() ? 0 : 1;
  outcome.cycles = gpu.now();
  outcome.checks = end.checks;
  outcome.failed = end.failed_checks;
  return outcome;
}

void print(const char* whose, const Outcome& o) {
  std::printf("  %-12s%12llu cycles%6zu of %zu results as expected\n", whose,
              static_cast<unsigned long long>(o.cycles), o.checks - o.failed, o.checks);
}

}  // namespace

int sc_main(int argc, char* argv[]) {
  const bool loose = argc == 4 && std::string(argv[3]) == "lt";
  if (argc != 2 && argc != 3 && !loose) {
    std::fprintf(stderr, "usage: %s LAUNCH_FILE [ROW_NS [lt]]\nexample: %s kernels/transpose.toml 28\n",
                 argv[0], argv[0]);
    return 2;
  }
  double row = 28;
  if (argc > 2) {
    char* end = nullptr;
    row = std::strtod(argv[2], &end);
    if (*end != '\0' || !(row >= 1 && row <= 1e6)) {
      std::fprintf(stderr, "to open a row takes 1 to 1000000 ns, not \"%s\"\n", argv[2]);
      return 2;
    }
  }
  const auto config = warpline::load_gpu("mini", {});

  std::vector<std::unique_ptr<MyDram>> channels;
  const auto backend =
      std::make_shared<warpline::SystemCBackend>(config.value().clocks, warpline::HopTransport::direct);
  backend->replace_dram([&](const warpline::DramSite& site) {
    MyDram::Parameters p;
    p.inputs = site.inputs;
    p.open = sc_core::sc_time(row, sc_core::SC_NS);
    MyDram& channel = *channels.emplace_back(std::make_unique<MyDram>(site.name.c_str(), p));
    warpline::DramSockets sockets;
    for (const auto& socket : channel.from_l2) sockets.from_l2.push_back(socket.get());
    sockets.keeps_bytes = true;
    return sockets;
  });

  const Outcome theirs = run(argv[1], config.value(), nullptr, loose);
  if (theirs.status != 0) return theirs.status;
  const Outcome mine = run(argv[1], config.value(), backend, loose);

  std::printf("%s on %s\n", std::filesystem::path(argv[1]).filename().c_str(), config.value().name.c_str());
  print("its own DRAM", theirs);
  print("MyDram", mine);
  MyDram::Counters all;
  for (const auto& channel : channels) {
    const MyDram::Counters& c = channel->counters();
    all.reads += c.reads;
    all.writes += c.writes;
    all.row_hits += c.row_hits;
    all.looks += c.looks;
  }
  std::printf("  MyDram: %llu lines read, %llu written, %llu in an open row, %llu looks at bytes\n",
              static_cast<unsigned long long>(all.reads), static_cast<unsigned long long>(all.writes),
              static_cast<unsigned long long>(all.row_hits), static_cast<unsigned long long>(all.looks));
  return mine.status;
}
