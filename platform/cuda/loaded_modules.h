#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "platform/cuda/machine.h"

namespace warpline::cuda {

/// A module that a program loads at run time, and names by the object's address: `CUmodule`, `CUlibrary`.
struct LoadedModule {
  Library* library = nullptr;
  bool owned = true;                         ///< false: it is the runtime's, which unloads it
  std::map<std::string, Function*> kernels;  ///< that the program has asked for
};

/// All such modules of a process.
class LoadedModules {
 public:
  static LoadedModules& instance();

  /// Reads a module for a GPU. `log`: what is wrong with it, as lines.
  Status load(Machine& machine, unsigned device, const Result<std::vector<PtxText>>& texts,
              LoadedModule*& module, std::string& log);
  /// Null: it is none.
  [[nodiscard]] LoadedModule* find(const void* handle);
  /// That which a library is, which the runtime may have read.
  [[nodiscard]] LoadedModule& of(Library& library);
  Status unload(Machine& machine, LoadedModule& module);
  /// A kernel on a GPU; the same name gives the same one each time.
  Status kernel(Machine& machine, LoadedModule& module, const std::string& name, unsigned device,
                Function*& kernel);

 private:
  std::mutex mutex_;
  std::map<const void*, std::unique_ptr<LoadedModule>> all_;
};

}  // namespace warpline::cuda
