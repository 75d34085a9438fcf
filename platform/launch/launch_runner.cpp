#include "platform/launch/launch_runner.h"

#include <algorithm>
#include <map>

#include "platform/launch/initial_arrays.h"
#include "platform/launch/module_memory.h"
#include "platform/launch/parameter_block.h"
#include "platform/launch/result_check.h"
#include "platform/programs/generators/generator.h"
#include "platform/programs/sass_trace/trace.h"
#include "platform/report/inspection_report.h"
#include "rtl_models/base/contract.h"
#include "rtl_models/document/files.h"

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
bool is_concurrent(const Workload& plan, const Step& step) {
  return step.trace.empty() && plan.files[step.file].file.launches[step.launch].concurrent;
}

}  // namespace

/// Where a launch file's data lies, and its kernels.
struct LaunchRunner::FileState {
  std::vector<std::uint64_t> buffers;  ///< addresses, as LaunchFile::buffers
  std::vector<std::uint64_t> images;   ///< handles, as LaunchFile::images
  std::vector<std::uint64_t> places;   ///< values, as LaunchFile::addresses
  VariableAddresses variables;
  std::vector<std::uint64_t> footprints;         ///< of each GPU, address of what generators access
  std::vector<std::unique_ptr<Kernel>> kernels;  ///< as LaunchFile::launches
};

LaunchRunner::LaunchRunner(Workload& plan, GpuPlatform& platform, bool tags_only, LaunchHost* host)
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

Diagnostics LaunchRunner::prepare() {
  Diagnostics faults;
  const bool traces =
      std::any_of(plan_.steps.begin(), plan_.steps.end(), [](const Step& s) { return !s.trace.empty(); });
  for (const LoadedFile& loaded : plan_.files) check_gpus(loaded, faults);
  if (!faults.empty()) return faults;
  if (traces) platform_.map_everything();
  for (std::size_t n = 0; n < plan_.files.size(); ++n) prepare_file(n, faults);
  if (!faults.empty()) return faults;
  for (std::size_t n = 0; n < plan_.files.size(); ++n) prepare_launches(n);
  for (std::size_t n = 0; n < plan_.files.size(); ++n) check_launches(n, faults);
  return faults;
}

/// Whether the platform has the GPUs that a file names, and every module with variables runs on one only: a
/// variable has one address, which lies in that GPU's memory.
void LaunchRunner::check_gpus(const LoadedFile& loaded, Diagnostics& faults) {
  const LaunchFile& file = loaded.file;
  const unsigned gpus = platform_.config().gpus;
  for (const Launch& l : file.launches) {
    if (l.gpu >= gpus)
      faults.push_back(file.document->fault(
          l.gpu_place, "gpu: the platform has no GPU " + std::to_string(l.gpu),
          "its GPUs are as many as gpus says (--set gpus=" + std::to_string(l.gpu + 1) + ")"));
    if (l.generator || loaded.modules[l.module]->variables().empty()) continue;
    const unsigned first = gpu_of_module(file, l.module);
    if (l.gpu != first)
      faults.push_back(file.document->fault(l.gpu_place,
                                            "gpu: " + file.modules[l.module].path +
                                                " has variables, which lie in the memory of GPU " +
                                                std::to_string(first) + ", where it was launched first",
                                            "a module without variables runs on any GPU"));
  }
}

void LaunchRunner::prepare_file(std::size_t number, Diagnostics& faults) {
  LoadedFile& loaded = plan_.files[number];
  const LaunchFile& file = loaded.file;
  states_.push_back(std::make_unique<FileState>());
  FileState& state = *states_.back();
  for (const Buffer& b : file.buffers) {
    state.buffers.push_back(platform_.allocate(b.name, b.bytes(), b.aperture, b.gpu));
    if (state.buffers.back() == 0) {
      const char* memory = b.aperture == Aperture::peer ? "the peer's memory" : "the GPU's memory";
      faults.push_back(file.document->fault(
          b.place,
          "buffer \"" + b.name + "\" of " + std::to_string(b.bytes()) + " bytes does not fit " + memory));
      continue;
    }
    if (tags_only_ || b.initial.kind == InitialContent::Kind::zeros) continue;
    const std::vector<std::uint8_t> bytes = initial_bytes(b.initial, b.type, b.count);
    platform_.write(state.buffers.back(), bytes.data(), bytes.size());
  }
  if (faults.empty()) set_up_host(file, state, faults);
  for (const LaunchImage& i : file.images)
    state.images.push_back(
        platform_.add_image({i.is_surface, state.buffers[i.buffer], i.width, i.height, i.format}));
  for (unsigned gpu = 0; gpu < platform_.config().gpus; ++gpu) {
    std::uint64_t footprint = 0;
    for (const Launch& l : file.launches)
      if (l.generator && l.gpu == gpu) footprint = std::max(footprint, l.generator->footprint);
    state.footprints.push_back(footprint == 0 ? 0 : platform_.allocate("", footprint, Aperture::vidmem, gpu));
    if (footprint != 0 && state.footprints.back() == 0)
      faults.push_back(file.document->fault(
          file.launches.front().place,
          "a footprint of " + std::to_string(footprint) + " bytes does not fit the GPU's memory"));
  }
  state.variables = place_variables(loaded, platform_, constant_used_, faults);
  if (faults.empty() && !tags_only_) fill_variables(loaded, state.variables, platform_);
}

void LaunchRunner::set_up_host(const LaunchFile& file, FileState& state, Diagnostics& faults) {
  const auto need = file.host_need();
  if (!need) return;
  const unsigned peers = platform_.config().pcie_system.peers;
  if (host_ == nullptr || need->device >= peers) {
    faults.push_back(
        file.document->fault(need->place,
                             peers == 0 ? "the platform has no host with devices"
                                        : "the platform has no peer[" + std::to_string(need->device) + "]",
                             "its devices are as many as pcie_system.peers says (--set pcie_system.peers=" +
                                 std::to_string(need->device + 1) + ")"));
    return;
  }
  for (std::size_t n = 0; n + 1 < states_.size(); ++n) check_registers(plan_.files[n].file, file, faults);
  if (!faults.empty()) return;
  has_host_ = true;
  const Diagnostics more = host_->set_up({file, state.buffers}, state.places);
  faults.insert(faults.end(), more.begin(), more.end());
}

/// All files' registers are written before the first launch, so one value of two would be lost.
void LaunchRunner::check_registers(const LaunchFile& before, const LaunchFile& file, Diagnostics& faults) {
  for (const LaunchRegister& r : file.registers) {
    const auto is_same = [&r](const LaunchRegister& other) {
      return r.initial && other.initial && other.where.device == r.where.device &&
             other.where.offset == r.where.offset;
    };
    if (std::any_of(before.registers.begin(), before.registers.end(), is_same))
      faults.push_back(file.document->fault(
          r.where.place,
          "init: " + before.document->file() + " writes register \"" + r.where.text + "\", too",
          "registers are written once, before the first launch of all files: run the files one by one"));
  }
}

void LaunchRunner::prepare_launches(std::size_t number) {
  LoadedFile& loaded = plan_.files[number];
  FileState& state = *states_[number];
  for (const Launch& l : loaded.file.launches) {
    if (l.generator) {
      GeneratorParameters p = generator_parameters(l);
      p.base = state.footprints[l.gpu];
      state.kernels.push_back(make_generator(p));
    } else {
      programs::Module& module = *loaded.modules[l.module];
      const auto& entries = module.entries();
      const auto entry = std::find_if(entries.begin(), entries.end(),
                                      [&](const programs::Entry& e) { return e.name == l.kernel; });
      WARPLINE_EXPECT(entry != entries.end(), "the plan checked the kernel's name");
      auto packed = pack_parameters(loaded.file, l, *entry, state.buffers, state.images, state.places);
      WARPLINE_EXPECT(packed.ok(), "the plan checked the arguments");
      state.kernels.push_back(
          module.make_kernel(l.kernel, l.grid, l.block, l.shared_bytes, std::move(packed.value())));
    }
    platform_.load(state.kernels.back()->info(), l.gpu);
  }
}

void LaunchRunner::check_launches(std::size_t number, Diagnostics& faults) {
  const LaunchFile& file = plan_.files[number].file;
  for (std::size_t n = 0; n < file.launches.size(); ++n) {
    const Launch& l = file.launches[n];
    for (const std::string& why : platform_.refusals(states_[number]->kernels[n]->info(), l.gpu))
      faults.push_back(file.document->fault(l.block_place.line != 0 ? l.block_place : l.place,
                                            "\"" + l.kernel + "\" cannot run on this GPU: " + why));
  }
}

}  // namespace warpline
