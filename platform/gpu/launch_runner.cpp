#include "warpline/gpu/launch_runner.h"

#include <algorithm>
#include <map>

#include "warpline/document/files.h"
#include "warpline/gpu/initial_arrays.h"
#include "warpline/gpu/inspection_report.h"
#include "warpline/gpu/launch_file_state.h"
#include "warpline/gpu/result_check.h"
#include "warpline/programs/sass_trace/trace.h"

namespace warpline {
namespace {

const char* outcome_text(RunOutcome outcome) {
  switch (outcome) {
    case RunOutcome::quiescent: return "done";
    case RunOutcome::deadlock: return "deadlock";
    case RunOutcome::cycle_limit: return "cycle limit";
    case RunOutcome::stopped: break;
  }
  return "stopped";
}

/// Whether a step runs at the same time as the one before it.
bool is_concurrent(const RunPlan& plan, const Step& step) {
  return step.trace.empty() && plan.files[step.file].file.launches[step.launch].concurrent;
}

}  // namespace

LaunchRunner::LaunchRunner(RunPlan& plan, GpuPlatform& platform, bool tags_only, LaunchHost* host)
    : plan_(plan), platform_(platform), tags_only_(tags_only || plan.without_data), host_(host) {}

LaunchRunner::~LaunchRunner() = default;

RunEnd LaunchRunner::run(CounterTable& table, std::vector<LaunchStatistics>& launches) {
  RunEnd end;
  bool all_ran = true;
  measures_ = !fast_forward_.asked();
  if (!measures_) platform_.set_loose(true);
  if (has_host_) {
    host_->begin();
    // What setting up cost is no part of the run.
    before_ = end.before = table.read([&](CounterVisitor& v) { platform_.visit(v); });
    end.measured_from = platform_.now();
  }
  const std::vector<Step>& steps = plan_.steps;
  for (std::size_t n = 0, count = 1; n < steps.size() && all_ran; n += count) {
    count = 1;
    if (!steps[n].trace.empty()) {
      all_ran = run_trace(steps[n], end, table, launches);
      continue;
    }
    while (n + count < steps.size() && is_concurrent(plan_, steps[n + count])) ++count;
    all_ran = run_launches(n, count, end, table, launches);
  }
  for (const auto& [opcode, count] : unknown_opcodes_)
    end.notes.push_back("opcode not understood: " + opcode + " (" + std::to_string(count) + " times)");
  if (!all_ran) return end;
  if (!measures_) {
    Diagnostic never;
    never.file = "--fast-forward";
    never.message = "no kernel \"" + fast_forward_.kernel + "\" was launched: nothing was measured";
    end.input_faults.push_back(std::move(never));
    return end;
  }
  for (std::size_t n = 0; n < plan_.files.size(); ++n) check(n, end);
  return end;
}

/// Switches to timed if one of the grids about to start together is the first to be measured.
void LaunchRunner::start_measuring(const std::vector<GridLaunch>& grids, RunEnd& end) {
  const auto is_first = [&, number = grids_started_](const GridLaunch& g) mutable {
    return fast_forward_.reached(number++, g.kernel->info().name);
  };
  if (measures_ || std::none_of(grids.begin(), grids.end(), is_first)) return;
  measures_ = true;
  platform_.set_loose(false);
  end.fast_forwarded = grids_started_;
  end.measured_from = platform_.now();
  end.before = before_;
}

bool LaunchRunner::run_launches(std::size_t first, std::size_t count, RunEnd& end, CounterTable& table,
                                std::vector<LaunchStatistics>& launches) {
  Together together;
  together.step = &plan_.steps[first];
  const std::vector<Launch>& all = plan_.files[together.step->file].file.launches;
  together.launch = &all[together.step->launch];
  for (std::size_t n = first; n < first + count; ++n) {
    const std::size_t number = plan_.steps[n].launch;
    together.grids.push_back(
        {states_[together.step->file]->kernels[number].get(), all[number].gpu, all[number].invalidate_l1});
  }
  return run_grids(together, end, table, launches);
}

LaunchResult LaunchRunner::run_hosted(const Together& together, RunEnd& end) {
  if (!has_host_ || together.launch == nullptr) return platform_.launch(together.grids);
  const std::size_t file = together.step->file;
  HostedLaunch hosted =
      host_->run({plan_.files[file].file, states_[file]->buffers}, *together.launch, together.grids);
  end.host_is_stuck = hosted.host_is_stuck;
  end.checks += hosted.checks;
  end.failed_checks += hosted.failures.size();
  end.failures.insert(end.failures.end(), hosted.failures.begin(), hosted.failures.end());
  return std::move(hosted.result);
}

bool LaunchRunner::run_grids(const Together& together, RunEnd& end, CounterTable& table,
                             std::vector<LaunchStatistics>& launches) {
  std::string name;
  for (const GridLaunch& g : together.grids) name += (name.empty() ? "" : " + ") + g.kernel->info().name;
  start_measuring(together.grids, end);
  grids_started_ += together.grids.size();
  if (on_launch_) on_launch_(launches.size(), name);
  LaunchResult result;
  try {
    result = run_hosted(together, end);
  } catch (const InputError& error) {
    end.input_faults.push_back(error.diagnostic);
    return false;
  }
  CounterTable::Values now = table.read([&](CounterVisitor& v) { platform_.visit(v); });
  LaunchStatistics s;
  s.kernel = name;
  s.input = together.step->input;
  s.outcome = outcome_text(result.outcome);
  s.cycles = result.cycles;
  s.measured = measures_;
  s.values = CounterTable::difference(now, before_);
  before_ = std::move(now);
  launches.push_back(std::move(s));
  end.outcome = result.outcome;
  if (result.outcome == RunOutcome::quiescent) return true;
  end.stuck_kernel = name;
  end.standstill = std::move(result.standstill);
  return false;
}

bool LaunchRunner::run_trace(const Step& step, RunEnd& end, CounterTable& table,
                             std::vector<LaunchStatistics>& launches) {
  auto opened = sass::open_trace(step.trace);
  if (!opened.ok()) {
    end.input_faults = opened.faults();
    return false;
  }
  sass::TraceKernel& kernel = *opened.value();
  for (const std::string& why : platform_.refusals(kernel.info())) {
    Diagnostic d;
    d.file = step.trace;
    d.message = "\"" + kernel.info().name + "\" cannot run on this GPU: " + why;
    end.input_faults.push_back(std::move(d));
  }
  if (!end.input_faults.empty()) return false;
  const bool ran = run_grids({&step, {{&kernel, 0, true}}, nullptr}, end, table, launches);
  for (const std::string& unknown : kernel.unknown_opcodes()) {
    const std::size_t colon = unknown.rfind(": ");
    const std::string opcode = unknown.substr(0, colon);
    unknown_opcodes_[opcode] += colon == std::string::npos ? 1 : std::stoull(unknown.substr(colon + 2));
  }
  return ran;
}

void LaunchRunner::check(std::size_t number, RunEnd& end) {
  const LoadedFile& loaded = plan_.files[number];
  const LaunchFile& file = loaded.file;
  const FileState& state = *states_[number];
  if (tags_only_) {
    const auto left_out = [](const Buffer& b) { return b.expect || !b.dump.empty(); };
    if (std::any_of(file.buffers.begin(), file.buffers.end(), left_out))
      end.notes.push_back(file.document->file() + ": without data nothing is checked or dumped");
    return;
  }
  const InitialArrays arrays(loaded);
  const auto compare = [&](const std::string& name, DataType type, std::uint64_t count, std::uint64_t base,
                           const Expectation& expect) {
    CheckedData data{name, type, count, {}};
    data.read = [&](std::uint64_t first, std::uint64_t n, std::uint8_t* to) {
      platform_.read(base + first * size_of(type), to, n * size_of(type));
    };
    ++end.checks;
    std::string failure = check_data(data, expect, arrays.views(), *file.document);
    if (failure.empty()) return;
    ++end.failed_checks;
    end.failures.push_back(std::move(failure));
  };
  for (std::size_t b = 0; b < file.buffers.size(); ++b) {
    const Buffer& buffer = file.buffers[b];
    if (buffer.expect)
      compare("buffer \"" + buffer.name + "\"", buffer.type, buffer.count, state.buffers[b], *buffer.expect);
    if (buffer.dump.empty()) continue;
    std::string bytes(buffer.bytes(), '\0');
    platform_.read(state.buffers[b], bytes.data(), bytes.size());
    const std::string failure = write_file_atomically(buffer.dump, bytes);
    if (!failure.empty()) end.failures.push_back("dump of buffer \"" + buffer.name + "\": " + failure);
  }
  for (const ResolvedSymbol& s : loaded.symbols)
    if (s.expect)
      compare("symbol \"" + s.variable->name + "\"", s.type, s.count,
              state.variables[s.module].at(s.variable->name), *s.expect);
  if (has_host_) {
    const auto is_expected = [](const LaunchRegister& r) { return r.expect.has_value(); };
    end.checks +=
        static_cast<std::size_t>(std::count_if(file.registers.begin(), file.registers.end(), is_expected));
    for (std::string& failure : host_->unexpected(file)) {
      ++end.failed_checks;
      end.failures.push_back(std::move(failure));
    }
  }
  for (std::size_t m = 0; m < loaded.modules.size(); ++m) {
    const InspectionReport report = inspect(*loaded.modules[m], state.variables[m], platform_);
    end.shown += report.text;
    end.checks += report.checks;
    end.failed_checks += report.failures.size();
    end.failures.insert(end.failures.end(), report.failures.begin(), report.failures.end());
  }
}

}  // namespace warpline
