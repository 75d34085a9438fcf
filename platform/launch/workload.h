#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rtl_models/base/problem.h"

namespace warpline {

struct LoadedFile;
struct Step;

/// Everything that a run will do, read and checked as far as it can be without a GPU. Inputs run one after
/// the other, their launches as dependent grids: on GPU 0 unless a launch says another, and at the same time
/// as the launch before it where it says so (keys `gpu` and `concurrent`).
struct Workload {
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
[[nodiscard]] Result<Workload> read_workload(const std::vector<std::string>& inputs, bool tags_only);

/// Calls f(path, what it is) for every file that a plan was read from beside its inputs: modules, contents,
/// traces; one that stands in several places as often.
void for_each_file(const Workload& plan, const std::function<void(const std::string&, const char*)>& f);
/// The files that a plan was read from, each once, inputs first.
[[nodiscard]] std::vector<std::string> files_of(const Workload& plan);

}  // namespace warpline
