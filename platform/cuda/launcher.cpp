#include "platform/cuda/launcher.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>

#include "platform/cuda/measuring.h"
#include "platform/cuda/program_file.h"

namespace warpline::cuda {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDriver = "libcuda.so.1";

/// A file by its path, or by its name in the folders of PATH.
std::optional<std::string> find_program(const std::string& name) {
  const auto runs = [](const std::string& path) {
    std::error_code unknown;
    return access(path.c_str(), X_OK) == 0 && fs::is_regular_file(path, unknown);
  };
  if (name.find('/') != std::string::npos) return runs(name) ? std::optional(name) : std::nullopt;
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const std::string file = (folder.empty() ? "." : folder) + "/" + name; runs(file)) return file;
  return std::nullopt;
}

/// Libraries of NVIDIA's that bring machine code only, by the start of their names.
std::string closed_library(const ProgramFile& program) {
  for (const std::string& library : program.needed)
    for (const char* closed : {"libcublas", "libcudnn", "libcufft", "libcusparse", "libcusolver", "libcurand",
                               "libnccl", "libnpp", "libnvjpeg", "libtorch"})
      if (library.rfind(closed, 0) == 0) return library;
  return {};
}

}  // namespace

std::string library_folder() {
  std::error_code error;
  const fs::path command = fs::read_symlink("/proc/self/exe", error);
  for (const char* folder : {"../../cuda", "../lib/warpline", "../lib/x86_64-linux-gnu/warpline"})
    if (const fs::path there = command.parent_path() / folder; fs::exists(there / kDriver, error))
      return fs::weakly_canonical(there, error).string();
  return {};
}

Result<ExecPlan> plan_exec(const ExecRequest& request, const std::string& libraries) {
  const std::string& name = request.command.front();
  const std::optional<std::string> found = find_program(name);
  if (!found) return Diagnostic::about(name, "there is no such program, or it may not be run");
  if (libraries.empty())
    return Diagnostic::about("warpline", "its libraries for programs (libcuda.so.1) are not beside it",
                             "they are built with it, and installed in lib/warpline");
  ExecPlan plan;
  plan.program = *found;
  const auto is_entry_point = [](std::string_view function) {
    return function == "cudaMalloc" || function == "__cudaRegisterFatBinary";
  };
  const Result<ProgramFile> program = read_program_file(*found, is_entry_point);
  plan.preload.push_back(libraries + "/" + kDriver);
  if (!program.ok()) {
    // A script: what it starts is what has kernels.
    if (!request.children)
      return Diagnostic::about(name, "it is no program of x86-64, but perhaps a script",
                               "with --children, the programs that it starts run on the platform");
  } else {
    const ProgramFile& file = program.value();
    if (!file.dynamic)
      return Diagnostic::about(
          name, "it is linked without a loader (-static), so that no library can stand in for CUDA's",
          "link it without -static");
    if (const std::string closed = closed_library(file); !closed.empty())
      plan.warnings.push_back(
          closed +
          " holds machine code of GPUs and no PTX, which is what runs here: what the program asks of it "
          "fails with its own errors; record what it does on a GPU as a trace, and run that "
          "(docs/programs.md)");
    if (std::find(file.needed.begin(), file.needed.end(), kDriver) != file.needed.end())
      plan.notes.push_back("it calls the driver API, of " + std::string(kDriver) +
                           ", in whose place ours is");
    if (const std::string runtime = file.runtime_library(); !runtime.empty()) {
      const std::string ours = libraries + "/" + runtime;
      std::error_code error;
      if (!fs::exists(ours, error))
        return Diagnostic::about(
            name, "it asks for " + runtime + ", and that version is not among those that are here");
      plan.preload.push_back(ours);
      plan.notes.push_back("its CUDA runtime is " + runtime + ", in whose place ours is");
    } else if (!file.functions.empty()) {
      plan.notes.push_back("its CUDA runtime is linked into it, and is led to ours");
    } else if (!file.has_symbols && file.registers_code) {
      return Diagnostic::about(
          name, "it is stripped, so that the CUDA runtime that is linked into it cannot be led to ours",
          "link it with `-cudart shared`, or do not strip it");
    }
  }
  plan.environment.push_back(fmt::format("{}={}", environment::kGpu, request.gpu));
  plan.environment.push_back(fmt::format("{}={}", environment::kSettings, fmt::join(request.sets, "\n")));
  std::error_code unknown;  // a path that cannot be made absolute is refused when it is written to
  for (const auto& [variable, path] :
       {std::pair{environment::kReport, &request.report}, std::pair{environment::kProfile, &request.profile},
        std::pair{environment::kLatency, &request.latency}, std::pair{environment::kReuse, &request.reuse},
        std::pair{environment::kSeries, &request.series}})
    plan.environment.push_back(
        fmt::format("{}={}", variable, path->empty() ? "" : fs::absolute(*path, unknown).string()));
  plan.environment.push_back(fmt::format("{}={}", environment::kSample, request.sample));
  plan.environment.push_back(fmt::format("{}={}", environment::kFigures, fmt::join(request.figures, "\n")));
  if (request.fast_forward) plan.environment.push_back(fmt::format("{}=1", environment::kFastForward));
  if (request.keep_warm) plan.environment.push_back(fmt::format("{}=1", environment::kKeepWarm));
  if (request.exact_bounds) plan.environment.push_back(fmt::format("{}=1", environment::kExactBounds));
  if (request.threads != 1)
    plan.environment.push_back(fmt::format("{}={}", environment::kThreads, request.threads));
  if (!request.schedule.empty())
    plan.environment.push_back(fmt::format("{}={}", environment::kSchedule, request.schedule));
  Measuring measuring;
  for (const std::string& text : request.measure)
    if (Diagnostics faults = measuring.include(text); !faults.empty()) return faults;
  plan.environment.push_back(fmt::format("{}={}", environment::kMeasure, fmt::join(request.measure, "\n")));
  if (request.children) plan.environment.push_back(fmt::format("{}=1", environment::kChildren));
  return plan;
}

std::string become(const ExecRequest& request, const ExecPlan& plan) {
  const auto set = [](const std::string& name, const std::string& value) {
    setenv(name.c_str(), value.c_str(), 1);
  };
  for (const std::string& line : plan.environment) {
    const std::size_t equals = line.find('=');
    set(line.substr(0, equals), line.substr(equals + 1));
  }
  const char* const before = std::getenv("LD_PRELOAD");
  set(environment::kPreloadBefore, before == nullptr ? "" : before);
  set("LD_PRELOAD", fmt::format("{}{}{}", fmt::join(plan.preload, ":"), before == nullptr ? "" : ":",
                                before == nullptr ? "" : before));
  // For libraries that are loaded later on.
  const char* const path = std::getenv("LD_LIBRARY_PATH");
  set(environment::kPathBefore, path == nullptr ? "" : path);
  const std::string folder = fs::path(plan.preload.front()).parent_path().string();
  set("LD_LIBRARY_PATH", folder + (path == nullptr ? "" : std::string(":") + path));
  std::vector<char*> words;
  for (const std::string& word : request.command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execv(plan.program.c_str(), words.data());
  return std::strerror(errno);
}

}  // namespace warpline::cuda
