#include "platform/cli/run_inputs.h"

#include "platform/cli/output_check.h"
#include "platform/launch/loaded_file.h"
#include "platform/launch/target_check.h"
#include "platform/machine/hop_names.h"

namespace warpline {
namespace {

class InputReader {
 public:
  explicit InputReader(const RunRequest& request) : request_(request) {}

  Result<RunInputs> read() {
    std::string gpu_text;
    auto config = request_.gpu.load(&gpu_text);
    auto plan = read_workload(request_.inputs, request_.tags_only, ptx::schedule_named(request_.schedule));
    if (!config.ok()) add(config.faults());
    if (!plan.ok()) add(plan.faults());
    const bool without_data = request_.tags_only || (plan.ok() && plan.value().without_data);
    if (config.ok()) check_platform(config.value(), without_data);
    FastForward fast_forward, rest;
    if (plan.ok()) check_plan(plan.value(), fast_forward, rest);
    if (request_.strict_target && config.ok() && plan.ok()) add(unfit_targets(plan.value(), config.value()));
    check_outputs(plan.ok() ? &plan.value() : nullptr, without_data);
    if (!faults_.empty()) return std::move(faults_);
    return RunInputs{std::move(config.value()), std::move(gpu_text), std::move(plan.value()),
                     std::move(fast_forward), std::move(rest)};
  }

 private:
  void add(const Diagnostics& more) { faults_.insert(faults_.end(), more.begin(), more.end()); }
  /// `where`: the option or input at fault.
  void fault(const char* where, std::string message, std::string hint = {}) {
    faults_.push_back(Diagnostic::about(where, std::move(message), std::move(hint)));
  }

  void check_platform(const GpuConfig& config, bool without_data) {
    if (!request_.pins.empty()) add(unmatched_hops("--pins", request_.pins, config));
    if (!config.has_root_complex()) {
      if (!request_.access_log.empty())
        fault("--access-log", "the platform has no devices whose accesses could be told",
              "--set pcie_system.peers=1, or pcie_system.nvme.count=1");
      return;
    }
    const std::string hint = std::string("leave gpu.") + config.without_root_complex();
    for (const auto& [option, path] :
         {std::pair{"--save", &request_.save}, std::pair{"--restore", &request_.restore}})
      if (!path->empty())
        fault(option, "the software of a host, which a platform with devices has, is not saved", hint);
    if (without_data)
      fault(request_.tags_only ? "--tags-only" : "INPUT",
            "a host and its devices need data, and this run has none", hint);
    if (request_.check_consistency)
      fault("--check-consistency", "what a host and its devices do to memory is not recorded", hint);
  }
  void check_plan(const Workload& plan, FastForward& fast_forward, FastForward& rest) {
    if (!request_.save_after.empty()) {
      const auto after = stop_after("--save-after", request_.save_after, plan);
      if (!after.ok()) add(after.faults());
      if (after.ok()) rest = after.value();
    }
    if (plan.without_data && request_.transport == "functional")
      fault("--transport", "functional computes values, and what a trace asks of memory has none",
            "--transport lt");
    if (plan.without_data && request_.check_consistency)
      fault("--check-consistency", "traces and generators carry no data, so there are no values to judge");
    if (request_.fast_forward.empty()) return;
    const auto to = fast_forward_to(request_.fast_forward, plan);
    if (!to.ok()) return add(to.faults());
    fast_forward = to.value();
    fast_forward.warm = request_.keep_warm || request_.check_consistency;
  }
  /// `plan`: null where it is not known.
  void check_outputs(const Workload* plan, bool without_data) {
    if (!request_.writes) return;
    OutputCheck outputs;
    for (const std::string& input : request_.inputs) outputs.add_input(input, "an input");
    if (preset_text(request_.gpu.name).empty()) outputs.add_input(request_.gpu.name, "the file of --gpu");
    if (!request_.restore.empty()) outputs.add_input(request_.restore, "the file of --restore");
    if (plan != nullptr)
      for_each_file(*plan, [&outputs](const WorkloadFile& file) { outputs.add_input(file.path, file.what); });
    for (const auto& [option, path] :
         {std::pair{"--stats", &request_.stats}, std::pair{"--access-log", &request_.access_log},
          std::pair{"--profile", &request_.profile}, std::pair{"--wave", &request_.observation.wave},
          std::pair{"--series", &request_.series}, std::pair{"--timeline", &request_.observation.timeline},
          std::pair{"--latency", &request_.observation.latency},
          std::pair{"--reuse", &request_.observation.reuse}, std::pair{"--dot", &request_.dot},
          std::pair{"--save", &request_.save}})
      outputs.add_output(option, *path);
    if (plan != nullptr && !without_data)
      for (const LoadedFile& loaded : plan->files) add_dumps(loaded.file, outputs);
    add(outputs.faults());
  }
  static void add_dumps(const LaunchFile& file, OutputCheck& outputs) {
    for (const Buffer& b : file.buffers)
      outputs.add_output(b.dump, "the dump of buffer \"" + b.name + "\"",
                         [&](const std::string& message, const std::string& hint) {
                           return file.document->fault(b.dump_place, "dump: " + message, hint);
                         });
  }

  const RunRequest& request_;
  Diagnostics faults_;
};

}  // namespace

Result<RunInputs> read_run_inputs(const RunRequest& request) {
  return InputReader(request).read();
}

}  // namespace warpline
