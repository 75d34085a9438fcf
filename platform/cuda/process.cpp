#include "platform/cuda/process.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "platform/config/load_gpu.h"
#include "platform/cuda/fat_binary_source.h"
#include "platform/cuda/launcher.h"
#include "platform/cuda/report.h"
#include "platform/cuda/shortcomings.h"
#include "platform/cuda/visible_devices.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/files.h"

namespace warpline::cuda {
namespace {

std::string program_name() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : "the program";
}

std::string value_of(const char* name, const std::string& otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : value;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) lines.push_back(line);
  return lines;
}

/// The file that a variable names; each of several processes has one of its own. Empty: none is wanted.
std::string file_of_process(const char* variable) {
  const std::string path = value_of(variable, "");
  const bool several = std::getenv(environment::kChildren) != nullptr;
  return path.empty() || !several ? path : path + "." + std::to_string(getpid());
}

}  // namespace

ThreadState& this_thread() {
  thread_local ThreadState state;
  return state;
}

Process& Process::instance() {
  // Never destroyed: destructors of the program's own objects may still call.
  static Process* const process = new Process;
  return *process;
}

Process::Process() = default;

Process::Registered* Process::add(const FatBinaryWrapper* wrapper) {
  const std::lock_guard lock(mutex_);
  registered_.push_back(std::make_unique<Registered>());
  registered_.back()->wrapper = wrapper;
  return registered_.back().get();
}

void Process::remove(Registered* registered) {
  Library* library = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto is_it = [registered](const auto& r) { return r.get() == registered; };
    const auto found = std::find_if(registered_.begin(), registered_.end(), is_it);
    if (found == registered_.end()) return;
    library = registered->library;
    for (const void* f : registered->functions) functions_.erase(f);
    for (const void* v : registered->variables) variables_.erase(v);
    registered_.erase(found);
    if (ended_ || machine_ == nullptr || owner_ != getpid()) return;
  }
  if (library != nullptr) machine_->remove_library(*library);
}

void Process::add_function(Registered* owner, const void* stub, const char* name) {
  const std::lock_guard lock(mutex_);
  functions_[stub] = {owner, name, nullptr};
  owner->functions.push_back(stub);
}

void Process::add_variable(Registered* owner, const void* variable, const char* name, std::size_t bytes,
                           void** managed) {
  const std::lock_guard lock(mutex_);
  variables_[variable] = {owner, name, bytes, managed};
  owner->variables.push_back(variable);
}

Machine* Process::machine() {
  const std::lock_guard lock(mutex_);
  if (machine_ != nullptr && owner_ != getpid()) {
    static bool told = false;
    if (!std::exchange(told, true))
      say("this process was forked after the first call of CUDA: its GPUs stay with its parent");
    return nullptr;
  }
  if (tried_) return machine_.get();
  tried_ = true;
  std::vector<std::string> settings = lines_of(value_of(environment::kSettings, ""));
  const auto load = [&] { return load_gpu(value_of(environment::kGpu, "a100"), settings); };
  Result<GpuConfig> config = load();
  std::vector<unsigned> ordinals;
  if (const char* const list = std::getenv("CUDA_VISIBLE_DEVICES"); list != nullptr && config.ok()) {
    ordinals = visible_devices(list, config.value().gpus);
    if (ordinals.empty()) {
      say(fmt::format("CUDA_VISIBLE_DEVICES is \"{}\": the program sees none of the platform's {}", list,
                      counted(config.value().gpus, "GPU")));
      return nullptr;
    }
    if (ordinals.size() != config.value().gpus) {
      settings.push_back("gpus=" + std::to_string(ordinals.size()));
      config = load();
    }
  }
  if (!config.ok()) {
    for (const Diagnostic& d : config.faults()) say(d.text());
    return nullptr;
  }
  try {
    MachineOptions options;
    options.measuring = Measuring(std::getenv(environment::kFastForward) != nullptr);
    for (const std::string& text : lines_of(value_of(environment::kMeasure, "")))
      for (const Diagnostic& d : options.measuring.include(text)) say(d.text());
    options.keep_warm = std::getenv(environment::kKeepWarm) != nullptr;
    options.exact_bounds = std::getenv(environment::kExactBounds) != nullptr;
    const std::string schedule = value_of(environment::kSchedule, "assembler");
    if (const auto known = ptx::schedule_named(schedule)) {
      options.schedule = *known;
    } else {
      say(fmt::format("{} is \"{}\", which is none of {}", environment::kSchedule, schedule,
                      joined(ptx::schedule_names())));
    }
    const std::string threads = value_of(environment::kThreads, "1");
    options.threads = number_from<unsigned>(threads).value_or(0);
    if (options.threads == 0 || options.threads > kMostThreads) {
      say(fmt::format("{} is \"{}\", which is no number from 1 to {}", environment::kThreads, threads,
                      kMostThreads));
      options.threads = 1;
    }
    options.ordinals = std::move(ordinals);
    options.profile = !value_of(environment::kProfile, "").empty();
    options.watching.latency = file_of_process(environment::kLatency);
    options.watching.reuse = file_of_process(environment::kReuse);
    options.sampling.series = file_of_process(environment::kSeries);
    options.sampling.figures = lines_of(value_of(environment::kFigures, ""));
    if (const auto every = number_from<Cycle>(value_of(environment::kSample, "")); every && *every != 0)
      options.sampling.every = *every;
    options.counts = !value_of(environment::kReport, "").empty();
    machine_ = std::make_unique<Machine>(config.value(), std::move(options));
  } catch (const std::bad_alloc&) {
    say("the host has no room for the GPU's memory (vidmem_bytes, sysmem_bytes)");
    return nullptr;
  }
  owner_ = getpid();
  pthread_atfork(nullptr, nullptr, [] { instance().machine_->after_fork(); });
  std::atexit([] { instance().end(); });
  return machine_.get();
}

Status Process::why_no_machine() {
  const std::lock_guard lock(mutex_);
  return machine_ != nullptr ? Status::initialization_error : Status::no_device;
}

Library& Process::library_of(Registered& registered) {
  if (registered.library == nullptr) {
    const FatBinaryWrapper* const wrapper = registered.wrapper;
    registered.library = &machine_->add_library([wrapper, name = program_name()](unsigned capability) {
      return texts_of(*wrapper, capability, name);
    });
    for (const void* variable : registered.variables)
      if (const RegisteredVariable& v = variables_.at(variable); v.managed != nullptr)
        registered.library->managed[v.name] = v.bytes;
  }
  return *registered.library;
}

Function* Process::function_of(const void* stub_or_handle) {
  Machine* const machine = this->machine();
  if (machine == nullptr) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto found = functions_.find(stub_or_handle);
  if (found == functions_.end())
    return machine->is_function(stub_or_handle)
               ? const_cast<Function*>(static_cast<const Function*>(stub_or_handle))
               : nullptr;
  RegisteredFunction& f = found->second;
  if (f.function == nullptr) f.function = &machine->add_function(library_of(*f.owner), f.name);
  return f.function;
}

const void* Process::stub_of(const Function* function) {
  const std::lock_guard lock(mutex_);
  for (const auto& [stub, f] : functions_)
    if (f.function == function) return stub;
  return nullptr;
}

Status Process::variable_of(const void* variable, unsigned device, ModuleOnDevice::Variable& out) {
  Machine* const machine = this->machine();
  if (machine == nullptr) return why_no_machine();
  Library* library = nullptr;
  std::string name;
  {
    const std::lock_guard lock(mutex_);
    const auto found = variables_.find(variable);
    if (found == variables_.end()) return Status::invalid_symbol;
    library = &library_of(*found->second.owner);
    name = found->second.name;
  }
  return machine->variable_of(*library, name, device, out);
}

void Process::place_managed(Registered* registered) {
  Machine* const machine = this->machine();
  if (machine == nullptr) return;
  std::vector<RegisteredVariable> managed;
  {
    const std::lock_guard lock(mutex_);
    for (const void* variable : registered->variables)
      if (const RegisteredVariable& v = variables_.at(variable); v.managed != nullptr) managed.push_back(v);
    if (managed.empty()) return;
    library_of(*registered);
  }
  for (const RegisteredVariable& v : managed) {
    ModuleOnDevice::Variable found;
    if (machine->variable_of(*registered->library, v.name, 0, found) == Status::success)
      *v.managed = reinterpret_cast<void*>(found.address);
  }
}

void Process::end() {
  {
    const std::lock_guard lock(mutex_);
    if (ended_ || machine_ == nullptr || owner_ != getpid()) return;
    ended_ = true;
  }
  const std::vector<WorkRecord> records = machine_->finish();
  if (const std::string path = value_of(environment::kReport, ""); !path.empty())
    if (const std::string why = write_report(path, *machine_, records); !why.empty()) say("report: " + why);
  if (const std::string path = file_of_process(environment::kProfile); !path.empty())
    if (const std::string why = write_file_atomically(path, machine_->profile()); !why.empty())
      say("profile: " + why);
  for (const std::string& failure : machine_->finish_files()) say(failure);
  if (const std::string summary = Shortcomings::instance().summary(); !summary.empty()) say(summary);
}

}  // namespace warpline::cuda
