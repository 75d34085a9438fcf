#include "platform/cuda/loaded_modules.h"

#include <cstdio>
#include <iterator>
#include <utility>

namespace warpline::cuda {

LoadedModules& LoadedModules::instance() {
  // Never destroyed: destructors of the program's own objects may still call.
  static LoadedModules* const modules = new LoadedModules;
  return *modules;
}

Status LoadedModules::load(Machine& machine, unsigned device, const Result<std::vector<PtxText>>& texts,
                           LoadedModule*& module, std::string& log) {
  if (!texts.ok()) {
    for (const Diagnostic& d : texts.faults()) log += d.text() + "\n";
    std::fputs(("warpline: " + log).c_str(), stderr);
    return Status::no_kernel_image_for_device;
  }
  Library& library =
      machine.add_library([kept = texts.value()](unsigned) -> Result<std::vector<PtxText>> { return kept; });
  ModuleOnDevice* read = nullptr;
  if (const Status status = machine.module_on(library, device, read); status != Status::success) {
    log = library.fault_text;
    machine.remove_library(library);
    return status;
  }
  {
    // What lay at the library's address before is not there any more.
    const std::lock_guard lock(mutex_);
    for (auto m = all_.begin(); m != all_.end();)
      m = m->second->library == &library ? all_.erase(m) : std::next(m);
  }
  module = &of(library);
  module->owned = true;
  return Status::success;
}

LoadedModule* LoadedModules::find(const void* handle) {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(handle);
  return found == all_.end() ? nullptr : found->second.get();
}

LoadedModule& LoadedModules::of(Library& library) {
  const std::lock_guard lock(mutex_);
  for (const auto& [handle, module] : all_)
    if (module->library == &library) return *module;
  auto module = std::make_unique<LoadedModule>();
  module->library = &library;
  module->owned = false;
  LoadedModule& added = *module;
  all_[&added] = std::move(module);
  return added;
}

Status LoadedModules::unload(Machine& machine, LoadedModule& module) {
  if (!module.owned) return Status::invalid_resource_handle;
  Library& library = *module.library;
  {
    const std::lock_guard lock(mutex_);
    all_.erase(&module);
  }
  machine.remove_library(library);
  return Status::success;
}

Status LoadedModules::kernel(Machine& machine, LoadedModule& module, const std::string& name, unsigned device,
                             Function*& kernel) {
  ModuleOnDevice* read = nullptr;
  if (const Status status = machine.module_on(*module.library, device, read); status != Status::success)
    return status;
  if (read->entry(name) == nullptr) return Status::symbol_not_found;
  const std::lock_guard lock(mutex_);
  Function*& known = module.kernels[name];
  if (known == nullptr) known = &machine.add_function(*module.library, name);
  kernel = known;
  return Status::success;
}

}  // namespace warpline::cuda
