#include "platform/launch/launch_runner.h"

#include <algorithm>
#include <map>
#include <set>

#include "platform/launch/device_memory.h"
#include "platform/launch/fast_forward.h"
#include "platform/launch/hosted_run.h"
#include "platform/launch/launch_host.h"
#include "platform/launch/launched_grids.h"
#include "platform/launch/loaded_file.h"
#include "platform/launch/module_memory.h"
#include "platform/launch/parameter_block.h"
#include "platform/launch/result_check.h"
#include "platform/programs/inspection.h"
#include "platform/programs/sass_trace/trace.h"
#include "platform/report/inspection_report.h"
#include "rtl_models/base/bits.h"
#include "rtl_models/base/contract.h"
#include "rtl_models/base/state_archive.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/files.h"
#include "rtl_models/sm/image_table.h"
#include "rtl_models/sm/input_error.h"

namespace warpline {
namespace {

/// Of a cooperative grid: two words, of which its barrier is one.
constexpr std::uint64_t kWorkspaceBytes = 8;

const char* outcome_text(RunOutcome outcome) {
  switch (outcome) {
    case RunOutcome::quiescent: return "done";
    case RunOutcome::deadlock: return "deadlock";
    case RunOutcome::cycle_limit: return "cycle limit";
    case RunOutcome::stopped: break;
  }
  return "stopped";
}

/// Whether a step is started together with the one before it.
bool is_concurrent(const Workload& plan, const Step& step) {
  if (!step.trace.empty()) return false;
  const Launch& l = plan.files[step.file].file.launches[step.launch];
  return l.concurrent || l.dependent;
}

}  // namespace

/// A run on its way.
struct LaunchRunner::State {
  /// Where a launch file's data lies, and its kernels.
  struct FileState {
    explicit FileState(const LaunchFile& file) : placed{file, {}, {}, {}, {}} {}
    PlacedFile placed;
    VariableAddresses variables;
    std::vector<std::uint64_t> footprints;         ///< of each GPU, address of what generators access
    std::vector<std::unique_ptr<Kernel>> kernels;  ///< as LaunchFile::launches
    DeviceMemory device_memory;
    std::vector<std::uint64_t> workspaces;  ///< of cooperative grids, as LaunchFile::launches; 0: it is none
  };
  class Run;
  void check_gpus(const LoadedFile& loaded, Diagnostics& faults);
  void bind_multicasts(PlacedFile& placed);
  void prepare_file(std::size_t number, Diagnostics& faults);
  void set_up_host(PlacedFile& placed, Diagnostics& faults);
  static void check_registers(const LaunchFile& before, const LaunchFile& file, Diagnostics& faults);
  void prepare_launches(std::size_t number, Diagnostics& faults);
  void check_launches(std::size_t number, Diagnostics& faults);

  Workload& plan;
  GpuPlatform& platform;
  bool tags_only;
  HostedRun* host;                  ///< null: there is none
  bool has_host = false;            ///< a file needs it
  std::uint64_t constant_used = 0;  ///< bytes of the module constant bank
  std::uint64_t grids_made = 0;
  std::vector<std::unique_ptr<FileState>> states{};
  FastForward fast_forward{};
  sass::TraceCache trace_cache = sass::TraceCache::off;
  FastForward rest{};      ///< after which the run ends
  std::string before{};    ///< progress that it continues
  std::string progress{};  ///< that it has made
  bool dumps = true;
  std::function<void(std::size_t, const std::string&)> on_launch{};
  std::function<void(const std::string&, bool)> on_printed{};
  std::function<void()> on_measuring{};
  std::function<bool()> on_check{};
};

/// A run of the plan, and what has come of it so far.
class LaunchRunner::State::Run {
 public:
  Run(State& state, CounterTable& table, std::vector<LaunchStatistics>& launches)
      : state_(state),
        plan_(state.plan),
        platform_(state.platform),
        host_(state.has_host ? state.host : nullptr),
        table_(table),
        launches_(launches) {}

  RunEnd to_its_end() {
    measures_ = !state_.fast_forward.asked();
    if (!measures_) hurry(true);
    if (host_ != nullptr) host_->begin();
    if (host_ != nullptr || (platform_.now() != 0 && state_.before.empty())) {
      // What setting up cost, or came before on a machine that is warm, is no part of the run.
      before_ = end_.before = counted_now();
      end_.measured_from = platform_.now();
      note_measuring();
    }
    if (!state_.before.empty()) {
      go_on();
      note_measuring();
    }
    const bool all_ran = run_steps();
    if (end_.outcome == RunOutcome::quiescent && end_.input_faults.empty()) note_progress();
    for (const auto& [opcode, count] : unknown_opcodes_)
      end_.notes.push_back("opcode not understood: " + opcode + " (" + std::to_string(count) + " times)");
    if (const auto dropped = platform_.unmapped_control())
      end_.notes.push_back(
          dropped->where + ": CCTL of address " + hexadecimal(dropped->address.value_or(0)) +
          ", where nothing is mapped, did nothing (lanes in all: counter sm.lsu.dropped_cctl). Without .E an "
          "address has 32 bits");
    if (all_ran && !measures_)
      end_.input_faults.push_back(Diagnostic::about(
          "--fast-forward",
          "no kernel \"" + state_.fast_forward.kernel + "\" was launched: nothing was measured"));
    for (std::size_t n = 0; n < plan_.files.size() && all_ran && measures_; ++n)
      check(plan_.files[n], *state_.states[n]);
    return std::move(end_);
  }

  /// Whether `progress` is of this plan; if so, it is what the run to come continues.
  Diagnostics check_progress(const std::string& made) {
    state_.before = made;
    try {
      go_on();
    } catch (const StateMisfit& misfit) {
      state_.before.clear();
      return {Diagnostic::about("progress", misfit.what())};
    }
    if (!is_past(state_.rest)) return {};
    return {Diagnostic::about("--save-after",
                              state_.rest.kernel.empty()
                                  ? counted(grids_started_, "grid") + " of the run had ended where it goes on"
                                  : "\"" + state_.rest.kernel + "\" had run before the run goes on",
                              "grids are counted from the beginning of the run that was saved")};
  }

 private:
  /// Whether the run has been at that rest already.
  [[nodiscard]] bool is_past(const FastForward& rest) const {
    if (!rest.asked()) return false;
    if (rest.kernel.empty()) return grids_started_ >= rest.launches;
    return std::any_of(launches_.begin(), launches_.end(), [&rest](const LaunchStatistics& s) {
      // Grids that started at the same time.
      return (" + " + s.kernel + " + ").find(" + " + rest.kernel + " + ") != std::string::npos;
    });
  }
  CounterTable::Values counted_now() {
    return table_.read([&](CounterVisitor& v) { platform_.visit(v); });
  }

  /// Saves or restores how far the run has got; memory, counters and time are the platform's.
  void archive(StateArchive& a) {
    std::uint64_t launches = launches_.size();
    a(done_, grids_started_, measures_, end_.fast_forwarded, end_.measured_from, end_.before,
      unknown_opcodes_, launches);
    if (done_ > plan_.steps.size() || launches > done_) a.misfit("has more grids than there are");
    launches_.resize(launches);
    for (LaunchStatistics& s : launches_)
      a(s.kernel, s.input, s.outcome, s.cycles, s.gpus, s.measured, s.counted);
    for (const LoadedFile& loaded : plan_.files)
      for (const auto& module : loaded.modules) archive_registers(a, *module);
  }
  /// The registers that a program is to show lie in no memory.
  static void archive_registers(StateArchive& a, programs::Module& module) {
    if (module.inspection() == nullptr) return;
    const Inspection& i = *module.inspection();
    unsigned threads = i.threads;
    std::vector<std::uint32_t> left = i.left;
    a(threads, left);
    if (left.size() != std::size_t{threads} * i.registers.size()) a.misfit("has other registers");
    if (!a.saves()) module.set_left(threads, std::move(left));
  }
  /// Those that a grid on a GPU has left are known where that ran.
  void find_registers(programs::Module& module, unsigned gpu) {
    if (module.inspection() == nullptr) return;
    std::string left;
    StateArchive saved(left);
    archive_registers(saved, module);
    left = platform_.known_where(gpu, std::move(left));
    StateArchive known{std::string_view(left)};
    archive_registers(known, module);
  }
  void go_on() {
    StateArchive a{std::string_view(state_.before)};
    archive(a);
    if (!a.ended()) a.misfit("has more to it");
    const CounterTable::Values now = counted_now();
    for (const LaunchStatistics& s : launches_)
      for (const auto& change : s.counted)
        if (change.first >= now.size()) a.misfit("has other counters");
    if (!end_.before.empty() && end_.before.size() != now.size()) a.misfit("has other counters");
    before_ = now;
    if (state_.fast_forward.asked()) hurry(!measures_);
  }
  void note_progress() {
    state_.progress.clear();
    StateArchive a(state_.progress);
    archive(a);
  }

  /// These return false where the run cannot go on.
  bool run_steps() {
    const std::vector<Step>& steps = plan_.steps;
    for (std::size_t count = 1; done_ < steps.size(); done_ += count) {
      const std::size_t n = done_;
      count = 1;
      while (n + count < steps.size() && is_concurrent(plan_, steps[n + count])) ++count;
      if (!(steps[n].trace.empty() ? run_launches(n, count) : run_trace(steps[n]))) return false;
      if (!rests_) continue;
      done_ += count;
      end_.stopped_early = true;
      return false;
    }
    return true;
  }

  bool run_launches(std::size_t first, std::size_t count) {
    const Step& step = plan_.steps[first];
    const std::vector<Launch>& all = plan_.files[step.file].file.launches;
    std::vector<GridLaunch> grids;
    for (std::size_t n = first; n < first + count; ++n) {
      const std::size_t number = plan_.steps[n].launch;
      Kernel* const kernel = state_.states[step.file]->kernels[number].get();
      grids.push_back({kernel, all[number].gpu, all[number].invalidate_l1, all[number].dependent});
    }
    if (!run_grids(step, grids, &all[step.launch])) return false;
    for (std::size_t n = 0; n < count; ++n)
      if (const Launch& l = all[plan_.steps[first + n].launch]; !l.generator)
        find_registers(*plan_.files[step.file].modules[l.module], l.gpu);
    return true;
  }

  bool run_trace(const Step& step) {
    auto opened = sass::open_trace(step.trace, state_.trace_cache);
    if (!opened.ok()) {
      end_.input_faults = opened.faults();
      return false;
    }
    sass::TraceKernel& kernel = *opened.value();
    for (const std::string& why : platform_.refusals(kernel.info()))
      end_.input_faults.push_back(
          Diagnostic::about(step.trace, "\"" + kernel.info().name + "\" cannot run on this GPU: " + why));
    if (!end_.input_faults.empty()) return false;
    const bool ran = run_grids(step, {{&kernel, 0, true}}, nullptr);
    for (const std::string& unknown : kernel.unknown_opcodes()) {
      const std::size_t colon = unknown.rfind(": ");
      const std::string opcode = unknown.substr(0, colon);
      unknown_opcodes_[opcode] += colon == std::string::npos ? 1 : std::stoull(unknown.substr(colon + 2));
    }
    return ran;
  }

  /// Runs grids that start at the same time. `launch`: what the host does meanwhile; null: nothing.
  bool run_grids(const Step& step, const std::vector<GridLaunch>& grids, const Launch* launch) {
    std::string name;
    for (const GridLaunch& g : grids) name += (name.empty() ? "" : " + ") + g.kernel->info().name;
    start_measuring(grids);
    for (const GridLaunch& g : grids) rests_ = is_rest(grids_started_++, g.kernel->info().name) || rests_;
    if (state_.on_launch) state_.on_launch(launches_.size(), name);
    LaunchResult result;
    try {
      result =
          host_ == nullptr || launch == nullptr ? platform_.launch(grids) : run_hosted(step, grids, *launch);
    } catch (const InputError& error) {
      end_.input_faults.push_back(error.diagnostic);
      return false;
    }
    if (launch != nullptr) {
      take_printed(step);
      run_launched(step, grids, result);
    }
    CounterTable::Values now = counted_now();
    LaunchStatistics s;
    s.kernel = name;
    s.input = step.input;
    s.outcome = outcome_text(result.outcome);
    s.cycles = result.cycles;
    std::set<unsigned> gpus;
    for (const GridLaunch& g : grids) gpus.insert(g.gpu);
    s.gpus = static_cast<unsigned>(gpus.size());
    s.measured = measures_;
    s.counted = CounterTable::changes(now, before_);
    before_ = std::move(now);
    launches_.push_back(std::move(s));
    end_.outcome = result.outcome;
    if (result.outcome == RunOutcome::quiescent) return true;
    end_.stuck_kernel = name;
    end_.standstill = std::move(result.standstill);
    return false;
  }

  /// Runs what the kernels of these grids have launched.
  void run_launched(const Step& step, const std::vector<GridLaunch>& grids, LaunchResult& result) {
    const LoadedFile& loaded = plan_.files[step.file];
    std::map<unsigned, std::size_t> modules;  // by GPU
    for (std::size_t n = 0; n < grids.size(); ++n)
      if (const Launch& l = loaded.file.launches[step.launch + n]; !l.generator) modules[l.gpu] = l.module;
    LaunchedGrids launched{platform_, state_.states[step.file]->device_memory, state_.grids_made, launched_,
                           [this, &step](const std::string& why, bool) {
                             if (why.empty()) return take_printed(step);
                             note({{"a launch from the device", "a launch from the device failed: " + why}});
                           }};
    for (const auto& [gpu, module] : modules)
      if (result.outcome == RunOutcome::quiescent) launched.run(gpu, *loaded.modules[module], result);
  }

  /// Also of a grid that is stuck: it may have said why.
  void take_printed(const Step& step) {
    std::uint64_t lost = 0;
    bool asserted = false;
    for (const PrintedText& p : state_.states[step.file]->device_memory.take_printed(platform_, lost)) {
      if (p.text.empty()) continue;
      asserted |= p.assertion;
      end_.printed += p.text;
      if (state_.on_printed) state_.on_printed(p.text, p.assertion);
    }
    // Where an assertion has ended the grid, other threads were in the middle of their messages.
    if (lost == 0 || asserted) return;
    end_.notes.push_back(
        plan_.files[step.file].file.document->file() + ": " + counted(lost, "byte") +
        " of what printf wrote to its ring were overwritten, or not finished: printf_bytes = " +
        std::to_string(plan_.files[step.file].file.device_memory.printf_bytes) + " says how large it is");
  }

  LaunchResult run_hosted(const Step& step, const std::vector<GridLaunch>& grids, const Launch& launch) {
    HostedLaunch hosted = host_->run(state_.states[step.file]->placed, launch, grids);
    end_.host_is_stuck = hosted.host_is_stuck;
    note(hosted.comparisons);
    return std::move(hosted.result);
  }

  /// Whether the run ends after the grid of that number.
  [[nodiscard]] bool is_rest(std::size_t number, const std::string& name) const {
    const FastForward& stop = state_.rest;
    return stop.asked() && (stop.kernel.empty() ? number + 1 >= stop.launches : name == stop.kernel);
  }

  /// Begins or ends what is not measured.
  void hurry(bool on) {
    platform_.set_functional(on && !state_.fast_forward.warm && !state_.tags_only);
    platform_.set_loose(on);
  }
  /// Switches to timed if one of the grids about to start together is the first to be measured.
  void start_measuring(const std::vector<GridLaunch>& grids) {
    const auto is_first = [&, number = grids_started_](const GridLaunch& g) mutable {
      return state_.fast_forward.reached(number++, g.kernel->info().name);
    };
    if (measures_ || std::none_of(grids.begin(), grids.end(), is_first)) return;
    measures_ = true;
    hurry(false);
    end_.fast_forwarded = grids_started_;
    end_.measured_from = platform_.now();
    end_.before = before_;
    note_measuring();
  }
  void note_measuring() const {
    if (state_.on_measuring) state_.on_measuring();
  }

  void note(const std::vector<Comparison>& comparisons) {
    for (const Comparison& c : comparisons) {
      ++end_.checks;
      end_.failed_checks += !c.failure.empty();
      if (!c.failure.empty()) end_.failures.push_back(c.failure);
      end_.comparisons.push_back(c);
    }
  }

  /// Compares and writes the results of a file.
  void check(const LoadedFile& loaded, const FileState& state) {
    const LaunchFile& file = loaded.file;
    if (state_.tags_only) {
      const auto left_out = [](const Buffer& b) { return b.expect || !b.dump.empty(); };
      if (std::any_of(file.buffers.begin(), file.buffers.end(), left_out))
        end_.notes.push_back(file.document->file() + ": without data nothing is checked or dumped");
      return;
    }
    const InitialArrays arrays(loaded);
    const auto compare = [&](const std::string& name, DataType type, std::uint64_t count, std::uint64_t base,
                             const Expectation& expect) {
      CheckedData data{name, type, count, {}, {}};
      data.go_on = [&] {
        end_.checks_stopped = end_.checks_stopped || (state_.on_check && !state_.on_check());
        return !end_.checks_stopped;
      };
      data.read = [&](std::uint64_t first, std::uint64_t n, std::uint8_t* to) {
        platform_.read(base + first * size_of(type), to, n * size_of(type));
      };
      const std::string failure = check_data(data, expect, arrays.views(), *file.document);
      if (end_.checks_stopped) return;
      note({{name, failure}});
    };
    for (std::size_t b = 0; b < file.buffers.size(); ++b) {
      const Buffer& buffer = file.buffers[b];
      if (buffer.expect)
        compare("buffer \"" + buffer.name + "\"", buffer.type, buffer.count, state.placed.buffers[b],
                *buffer.expect);
      if (buffer.dump.empty()) continue;
      std::string bytes(buffer.bytes(), '\0');
      platform_.read(state.placed.buffers[b], bytes.data(), bytes.size());
      if (!state_.dumps) continue;
      const std::string failure = write_file_atomically(buffer.dump, bytes);
      if (failure.empty()) continue;
      end_.failures.push_back("dump of buffer \"" + buffer.name + "\": " + failure);
      ++end_.unwritten;
    }
    for (const ResolvedSymbol& s : loaded.symbols)
      if (s.expect)
        compare("symbol \"" + s.variable->name + "\"", s.type, s.count,
                state.variables[s.module].at(s.variable->name), *s.expect);
    if (host_ != nullptr) note(host_->compared(file));
    for (std::size_t m = 0; m < loaded.modules.size(); ++m) {
      const InspectionReport report = inspect(*loaded.modules[m], state.variables[m], platform_);
      end_.shown += report.text;
      note(report.comparisons);
    }
  }

  State& state_;
  const Workload& plan_;
  GpuPlatform& platform_;
  HostedRun* host_;  ///< null: no file needs one
  CounterTable& table_;
  std::vector<LaunchStatistics>& launches_;
  RunEnd end_;
  bool measures_ = true;
  std::size_t grids_started_ = 0;
  std::size_t done_ = 0;                                  ///< steps
  std::unique_ptr<Kernel> launched_;                      ///< from the device, last
  bool rests_ = false;                                    ///< the run ends after the grids that were started
  CounterTable::Values before_;                           ///< what was counted before the launch to come
  std::map<std::string, std::uint64_t> unknown_opcodes_;  ///< of all traces, with their counts
};

LaunchRunner::LaunchRunner(Workload& plan, GpuPlatform& platform, bool tags_only, LaunchHost* host)
    : state_(new State{plan, platform, tags_only || plan.without_data,
                       host != nullptr ? host->run_.get() : nullptr}) {}

LaunchRunner::~LaunchRunner() = default;

void LaunchRunner::fast_forward(const FastForward& to) {
  state_->fast_forward = to;
}

void LaunchRunner::stop_after(const FastForward& rest) {
  state_->rest = rest;
}

void LaunchRunner::cache_traces(sass::TraceCache cache) {
  state_->trace_cache = cache;
}

void LaunchRunner::write_dumps(bool writes) {
  state_->dumps = writes;
}

const std::string& LaunchRunner::progress() const {
  return state_->progress;
}

Diagnostics LaunchRunner::continue_from(const std::string& progress) {
  CounterTable table;
  std::vector<LaunchStatistics> launches;
  return State::Run(*state_, table, launches).check_progress(progress);
}

void LaunchRunner::on_launch(std::function<void(std::size_t, const std::string&)> callback) {
  state_->on_launch = std::move(callback);
}

void LaunchRunner::on_printed(std::function<void(const std::string&, bool)> callback) {
  state_->on_printed = std::move(callback);
}

void LaunchRunner::on_measuring(std::function<void()> callback) {
  state_->on_measuring = std::move(callback);
}

void LaunchRunner::on_check(std::function<bool()> callback) {
  state_->on_check = std::move(callback);
}

RunEnd LaunchRunner::run(CounterTable& table, std::vector<LaunchStatistics>& launches) {
  return State::Run(*state_, table, launches).to_its_end();
}

Diagnostics LaunchRunner::prepare() {
  State& s = *state_;
  const Workload& plan = s.plan;
  Diagnostics faults;
  const bool traces =
      std::any_of(plan.steps.begin(), plan.steps.end(), [](const Step& step) { return !step.trace.empty(); });
  for (const LoadedFile& loaded : plan.files) s.check_gpus(loaded, faults);
  if (!faults.empty()) return faults;
  if (traces) s.platform.map_everything();
  for (std::size_t n = 0; n < plan.files.size(); ++n) s.prepare_file(n, faults);
  if (!faults.empty()) return faults;
  for (std::size_t n = 0; n < plan.files.size(); ++n) s.prepare_launches(n, faults);
  if (!faults.empty()) return faults;
  for (std::size_t n = 0; n < plan.files.size(); ++n) s.check_launches(n, faults);
  return faults;
}

/// Whether the platform has the GPUs that a file names, and every module with variables runs on one only: a
/// variable has one address, which lies in that GPU's memory.
void LaunchRunner::State::check_gpus(const LoadedFile& loaded, Diagnostics& faults) {
  const LaunchFile& file = loaded.file;
  const unsigned gpus = platform.config().gpus;
  if (!file.multicasts.empty() && platform.config().gpu_switch.count == 0)
    faults.push_back(file.document->fault(file.multicasts.front().place,
                                          "multimem: needs a switch between GPUs, which " +
                                              platform.config().name + " has not (gpu_switch.count)",
                                          "h100 has four; --set gpu_switch.count=1 gives any GPU one"));
  for (const Buffer& b : file.buffers) {
    const bool runs = std::any_of(file.launches.begin(), file.launches.end(),
                                  [&b](const Launch& l) { return l.gpu == b.gpu; });
    if (b.gpu >= gpus && !runs)  // else it is said of the launch
      faults.push_back(file.document->fault(
          b.place, "buffer \"" + b.name + "\": the platform has no GPU " + std::to_string(b.gpu),
          "its GPUs are as many as gpus says (--set gpus=" + std::to_string(b.gpu + 1) + ")"));
  }
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

namespace {

/// What of memory lies between the buffers before and the first place where this one may begin is nobody's.
void leave_out_before(const Buffer& buffer, GpuPlatform& platform) {
  if (buffer.align == 1) return;
  const std::uint64_t next = platform.allocate("", buffer.align, buffer.aperture, buffer.gpu);
  if (next == 0) return;  // as there is no room for it
  platform.free(next);
  if (const std::uint64_t out = align_up(next, buffer.align) - next; out != 0)
    static_cast<void>(platform.allocate("", out, buffer.aperture, buffer.gpu));
}

}  // namespace

void LaunchRunner::State::prepare_file(std::size_t number, Diagnostics& faults) {
  LoadedFile& loaded = plan.files[number];
  const LaunchFile& file = loaded.file;
  FileState& state = *states.emplace_back(std::make_unique<FileState>(file));
  PlacedFile& placed = state.placed;
  for (const Buffer& b : file.buffers) {
    leave_out_before(b, platform);
    placed.buffers.push_back(platform.allocate(b.name, b.bytes(), b.aperture, b.gpu));
    if (placed.buffers.back() == 0) {
      const char* memory = b.aperture == Aperture::peer ? "the peer's memory" : "the GPU's memory";
      faults.push_back(file.document->fault(
          b.place, "buffer \"" + b.name + "\" of " + counted(b.bytes(), "byte") + " does not fit " + memory));
      continue;
    }
    if (tags_only || b.initial.kind == InitialContent::Kind::zeros) continue;
    const std::vector<std::uint8_t> bytes = initial_bytes(b.initial, b.type, b.count);
    platform.write(placed.buffers.back(), bytes.data(), bytes.size());
  }
  if (faults.empty()) bind_multicasts(placed);
  if (faults.empty()) set_up_host(placed, faults);
  for (const LaunchImage& i : file.images) {
    Image image = i.image;
    image.address = placed.buffers[i.buffer];
    placed.images.push_back(platform.add_image(image));
  }
  for (unsigned gpu = 0; gpu < platform.config().gpus; ++gpu) {
    std::uint64_t footprint = 0;
    for (const Launch& l : file.launches)
      if (l.generator && l.gpu == gpu) footprint = std::max(footprint, l.generator->footprint);
    state.footprints.push_back(footprint == 0 ? 0 : platform.allocate("", footprint, Aperture::vidmem, gpu));
    if (state.footprints.back() != 0)
      platform.name_memory(state.footprints.back(), "the footprint of the access patterns");
    if (footprint != 0 && state.footprints.back() == 0)
      faults.push_back(file.document->fault(
          file.launches.front().place,
          "a footprint of " + counted(footprint, "byte") + " does not fit the GPU's memory"));
  }
  state.variables = place_variables(loaded, platform, constant_used, faults);
  if (faults.empty() && !tags_only) fill_variables(loaded, state.variables, platform);
  for (const Launch& l : file.launches) {
    state.workspaces.push_back(l.cooperative ? platform.allocate("", kWorkspaceBytes, Aperture::vidmem, l.gpu)
                                             : 0);
    if (l.cooperative && state.workspaces.back() == 0)
      faults.push_back(
          file.document->fault(l.place, "the barrier of a cooperative grid does not fit the GPU's memory"));
    else if (l.cooperative)
      platform.name_memory(state.workspaces.back(), "the barrier of the cooperative grid");
  }
  for (std::size_t m = 0; m < loaded.modules.size() && faults.empty(); ++m)
    if (const auto misfit = state.device_memory.set_up(gpu_of_module(file, m), state.variables[m],
                                                       file.device_memory, platform))
      faults.push_back(file.document->fault(file.modules[m].place,
                                            misfit->what + " does not fit the GPU's memory",
                                            "the launch file's " + misfit->key + " says how large it is"));
}

/// Arguments that name the same buffers get one object.
void LaunchRunner::State::bind_multicasts(PlacedFile& placed) {
  std::map<std::set<std::size_t>, std::uint64_t> bound;
  for (const LaunchMulticast& m : placed.file.multicasts) {
    std::uint64_t& address = bound[{m.buffers.begin(), m.buffers.end()}];
    if (address == 0) {
      std::vector<std::uint64_t> replicas;
      for (const std::size_t b : m.buffers) replicas.push_back(placed.buffers[b]);
      address = platform.bind_multicast(m.name, placed.file.buffers[m.buffers.front()].bytes(), replicas);
    }
    placed.multicasts.push_back(address);
  }
}

void LaunchRunner::State::set_up_host(PlacedFile& placed, Diagnostics& faults) {
  const LaunchFile& file = placed.file;
  const auto needs = file.host_needs();
  if (needs.empty()) return;
  const PcieSystemParameters& pcie = platform.config().pcie_system;
  const bool is_there = host != nullptr && pcie.functions() != 0;
  for (const LaunchFile::HostNeed& need : needs) {
    const DeviceName device = need.device.value_or(DeviceName{});
    const bool is_nvme = device.kind == DeviceName::Kind::nvme;
    if (is_there && (!need.device || device.number < (is_nvme ? pcie.nvme.count : pcie.peers))) continue;
    const std::string key = is_nvme ? "pcie_system.nvme.count" : "pcie_system.peers";
    faults.push_back(file.document->fault(
        need.place,
        is_there ? "the platform has no " + device.text() : "the platform has no host with devices",
        "its devices are as many as " + key + " says (--set " + key + "=" +
            std::to_string(device.number + 1) + ")"));
    if (!is_there) return;
  }
  for (std::size_t n = 0; n + 1 < states.size(); ++n) check_registers(plan.files[n].file, file, faults);
  if (!faults.empty()) return;
  has_host = true;
  const Diagnostics more = host->set_up(placed);
  faults.insert(faults.end(), more.begin(), more.end());
}

/// All files' registers are written before the first launch, so one value of two would be lost.
void LaunchRunner::State::check_registers(const LaunchFile& before, const LaunchFile& file,
                                          Diagnostics& faults) {
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

void LaunchRunner::State::prepare_launches(std::size_t number, Diagnostics& faults) {
  LoadedFile& loaded = plan.files[number];
  FileState& state = *states[number];
  unsigned dependents = 0;  // in a row
  for (const Launch& l : loaded.file.launches) {
    dependents = l.dependent ? dependents + 1 : 0;
    if (!platform.reserve_dependents(dependents, l.gpu))
      faults.push_back(loaded.file.document->fault(
          l.place, "the constants of a dependent grid do not fit the GPU's memory"));
    if (l.generator) {
      GeneratorParameters p = *l.generator;
      p.base = state.footprints[l.gpu];
      state.kernels.push_back(make_generator(p));
    } else {
      programs::Module& module = *loaded.modules[l.module];
      const auto& entries = module.entries();
      const auto entry = std::find_if(entries.begin(), entries.end(),
                                      [&](const programs::Entry& e) { return e.name == l.kernel; });
      WARPLINE_EXPECT(entry != entries.end(), "the plan checked the kernel's name");
      state.kernels.push_back(module.make_kernel(l.kernel, l.grid, l.block, l.shared_bytes,
                                                 pack_parameters(state.placed, l, *entry), l.cluster));
      LaunchAttributes attributes;
      attributes.cooperative = l.cooperative;
      attributes.carveout = l.carveout;
      attributes.registers = l.registers;
      attributes.grid_workspace = state.workspaces[state.kernels.size() - 1];
      attributes.grid_number = ++grids_made;
      state.kernels.back()->set_attributes(attributes);
    }
    platform.load(state.kernels.back()->info(), l.gpu);
  }
}

void LaunchRunner::State::check_launches(std::size_t number, Diagnostics& faults) {
  const LaunchFile& file = plan.files[number].file;
  for (std::size_t n = 0; n < file.launches.size(); ++n) {
    const Launch& l = file.launches[n];
    for (const std::string& why : platform.refusals(states[number]->kernels[n]->info(), l.gpu))
      faults.push_back(file.document->fault(l.block_place.line != 0 ? l.block_place : l.place,
                                            "\"" + l.kernel + "\" cannot run on this GPU: " + why));
  }
}

}  // namespace warpline
