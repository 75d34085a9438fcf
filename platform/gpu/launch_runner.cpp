#include "warpline/gpu/launch_runner.h"

#include <algorithm>
#include <map>

#include "warpline/base/contract.h"
#include "warpline/config/files.h"
#include "warpline/gpu/initial_arrays.h"
#include "warpline/gpu/inspection_report.h"
#include "warpline/gpu/module_memory.h"
#include "warpline/gpu/result_check.h"
#include "warpline/programs/generators/generator.h"
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

}  // namespace

/// Where a launch file's data lies, and its kernels.
struct LaunchRunner::FileState {
  std::vector<std::uint64_t> buffers;  ///< addresses, as LaunchFile::buffers
  std::vector<std::uint64_t> images;   ///< handles, as LaunchFile::images
  VariableAddresses variables;
  std::uint64_t footprint = 0;                   ///< address of what generators access
  std::vector<std::unique_ptr<Kernel>> kernels;  ///< as LaunchFile::launches
};

LaunchRunner::LaunchRunner(RunPlan& plan, GpuPlatform& platform, bool tags_only)
    : plan_(plan), platform_(platform), tags_only_(tags_only || plan.without_data) {}

LaunchRunner::~LaunchRunner() = default;

Diagnostics LaunchRunner::prepare() {
  Diagnostics faults;
  const bool traces =
      std::any_of(plan_.steps.begin(), plan_.steps.end(), [](const Step& s) { return !s.trace.empty(); });
  if (traces) platform_.map_everything();
  for (std::size_t n = 0; n < plan_.files.size(); ++n) prepare_file(n, faults);
  if (!faults.empty()) return faults;
  for (std::size_t n = 0; n < plan_.files.size(); ++n) prepare_launches(n);
  for (std::size_t n = 0; n < plan_.files.size(); ++n) check_launches(n, faults);
  return faults;
}

void LaunchRunner::prepare_file(std::size_t number, Diagnostics& faults) {
  LoadedFile& loaded = plan_.files[number];
  const LaunchFile& file = loaded.file;
  states_.push_back(std::make_unique<FileState>());
  FileState& state = *states_.back();
  for (const Buffer& b : file.buffers) {
    state.buffers.push_back(platform_.allocate(b.name, b.bytes(), b.aperture));
    if (state.buffers.back() == 0) {
      faults.push_back(file.document->fault(b.place, "buffer \"" + b.name + "\" of " +
                                                         std::to_string(b.bytes()) +
                                                         " bytes does not fit the GPU's memory"));
      continue;
    }
    if (tags_only_ || b.initial.kind == InitialContent::Kind::zeros) continue;
    const std::vector<std::uint8_t> bytes = initial_bytes(b.initial, b.type, b.count);
    platform_.write(state.buffers.back(), bytes.data(), bytes.size());
  }
  for (const LaunchImage& i : file.images)
    state.images.push_back(
        platform_.add_image({i.is_surface, state.buffers[i.buffer], i.width, i.height, i.format}));
  std::uint64_t footprint = 0;
  for (const Launch& l : file.launches)
    if (l.generator) footprint = std::max(footprint, l.generator->footprint);
  if (footprint != 0) {
    state.footprint = platform_.allocate("", footprint);
    if (state.footprint == 0)
      faults.push_back(file.document->fault(
          file.launches.front().place,
          "a footprint of " + std::to_string(footprint) + " bytes does not fit the GPU's memory"));
  }
  state.variables = place_variables(loaded, platform_, constant_used_, faults);
  if (faults.empty() && !tags_only_) fill_variables(loaded, state.variables, platform_);
}

void LaunchRunner::prepare_launches(std::size_t number) {
  LoadedFile& loaded = plan_.files[number];
  FileState& state = *states_[number];
  for (const Launch& l : loaded.file.launches) {
    if (l.generator) {
      GeneratorParameters p;
      p.kind = l.generator->kind;
      p.base = state.footprint;
      p.footprint = l.generator->footprint;
      p.stride = l.generator->stride;
      p.accesses = l.generator->accesses;
      p.seed = l.generator->seed;
      p.grid = l.grid;
      p.block = l.block;
      state.kernels.push_back(make_generator(p));
    } else {
      ptx::Module& module = *loaded.modules[l.module];
      const auto& entries = module.entries();
      const auto entry = std::find_if(entries.begin(), entries.end(),
                                      [&](const ptx::Entry& e) { return e.name == l.kernel; });
      WARPLINE_EXPECT(entry != entries.end(), "the plan checked the kernel's name");
      auto packed = pack_parameters(loaded.file, l, *entry, state.buffers, state.images);
      WARPLINE_EXPECT(packed.ok(), "the plan checked the arguments");
      state.kernels.push_back(
          module.make_kernel(l.kernel, l.grid, l.block, l.shared_bytes, std::move(packed.value())));
    }
    platform_.load(state.kernels.back()->info());
  }
}

void LaunchRunner::check_launches(std::size_t number, Diagnostics& faults) {
  const LaunchFile& file = plan_.files[number].file;
  for (std::size_t n = 0; n < file.launches.size(); ++n) {
    const Launch& l = file.launches[n];
    for (const std::string& why : platform_.refusals(states_[number]->kernels[n]->info()))
      faults.push_back(file.document->fault(l.block_place.line != 0 ? l.block_place : l.place,
                                            "\"" + l.kernel + "\" cannot run on this GPU: " + why));
  }
}

RunEnd LaunchRunner::run(CounterTable& table, std::vector<LaunchStatistics>& launches) {
  RunEnd end;
  bool all_ran = true;
  measures_ = !fast_forward_.asked();
  if (!measures_) platform_.set_loose(true);
  for (const Step& step : plan_.steps) {
    if (!step.trace.empty()) {
      all_ran = run_trace(step, end, table, launches);
    } else {
      const Launch& l = plan_.files[step.file].file.launches[step.launch];
      all_ran =
          run_step(step, *states_[step.file]->kernels[step.launch], l.invalidate_l1, end, table, launches);
    }
    if (!all_ran) break;
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

/// Switches to timed if the grid about to run is the first to be measured.
void LaunchRunner::start_measuring(const std::string& kernel, std::size_t number, RunEnd& end) {
  if (measures_ || !fast_forward_.reached(number, kernel)) return;
  measures_ = true;
  platform_.set_loose(false);
  end.fast_forwarded = number;
  end.measured_from = platform_.now();
  end.before = before_;
}

bool LaunchRunner::run_step(const Step& step, Kernel& kernel, bool invalidate_l1, RunEnd& end,
                            CounterTable& table, std::vector<LaunchStatistics>& launches) {
  start_measuring(kernel.info().name, launches.size(), end);
  if (on_launch_) on_launch_(launches.size(), kernel.info().name);
  LaunchResult result;
  try {
    result = platform_.launch(kernel, invalidate_l1);
  } catch (const InputError& error) {
    end.input_faults.push_back(error.diagnostic);
    return false;
  }
  CounterTable::Values now = table.read([&](CounterVisitor& v) { platform_.visit(v); });
  LaunchStatistics s;
  s.kernel = kernel.info().name;
  s.input = step.input;
  s.outcome = outcome_text(result.outcome);
  s.cycles = result.cycles;
  s.measured = measures_;
  s.values = CounterTable::difference(now, before_);
  before_ = std::move(now);
  launches.push_back(std::move(s));
  end.outcome = result.outcome;
  if (result.outcome == RunOutcome::quiescent) return true;
  end.stuck_kernel = kernel.info().name;
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
  const bool ran = run_step(step, kernel, true, end, table, launches);
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
  for (std::size_t m = 0; m < loaded.modules.size(); ++m) {
    const InspectionReport report = inspect(*loaded.modules[m], state.variables[m], platform_);
    end.shown += report.text;
    end.checks += report.checks;
    end.failed_checks += report.failures.size();
    end.failures.insert(end.failures.end(), report.failures.begin(), report.failures.end());
  }
}

}  // namespace warpline
