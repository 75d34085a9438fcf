#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/programs/ptx/module.h"
#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

struct LoadedFile;
struct Step;

/// Everything that a run will do, read and checked as far as it can be without a GPU. Inputs run one after
/// the other, their launches as dependent grids: on GPU 0 unless a launch says another, and at the same time
/// as the launch before it where it says so (keys `gpu` and `concurrent`).
struct WARPLINE_PUBLIC Workload {
  Workload();
  ~Workload();
  Workload(Workload&& other) noexcept;
  Workload& operator=(Workload&& other) noexcept;

  std::vector<std::string> inputs;
  std::vector<LoadedFile> files;
  std::vector<Step> steps;
  bool without_data = false;  ///< traces and generators carry none
  std::vector<std::string> warnings;
};

/// Reads launch files (.toml), programs (.wls), trace lists (.g) and kernel traces. Every fault of every
/// input at once. Programs with data and programs without do not mix; `tags_only` wants programs without.
/// `schedule`: of all modules in PTX; nothing: as their launch files say, or Schedule::assembler.
WARPLINE_PUBLIC [[nodiscard]] Result<Workload> read_workload(const std::vector<std::string>& inputs,
                                                             bool tags_only,
                                                             std::optional<ptx::Schedule> schedule = {});

/// A file that a plan was read from.
struct WARPLINE_PUBLIC WorkloadFile {
  std::string path;
  const char* what = "";  ///< "a module of this run"
  /// As they were read, which pipes allow once; they live as long as the plan. None of traces and lists of
  /// them, which are plain files and are read as they run.
  std::optional<std::string_view> contents;
};
/// Calls f for every file that a plan was read from beside its inputs: modules, contents, traces; one that
/// stands in several places as often.
WARPLINE_PUBLIC void for_each_file(const Workload& plan, const std::function<void(const WorkloadFile&)>& f);
/// The files that a plan was read from, each once, inputs first.
WARPLINE_PUBLIC [[nodiscard]] std::vector<WorkloadFile> files_of(const Workload& plan);

}  // namespace warpline
