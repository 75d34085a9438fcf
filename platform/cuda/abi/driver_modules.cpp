#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>

#include "platform/cuda/abi/driver_calls.h"
#include "platform/cuda/fat_binary_source.h"
#include "platform/cuda/jit_options.h"
#include "platform/cuda/loaded_modules.h"
#include "platform/programs/ptx/module.h"

namespace warpline::cuda::driver {
namespace {

constexpr const char* kImageName = "the module that the program loads";

std::optional<std::string> contents_of(const char* path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  return in.bad() ? std::nullopt : std::optional(std::move(bytes));
}

/// Loads the texts, which `texts` gets for a compute capability, and gives the program its log.
template <class Texts>
int load(void** handle, const JitOptions& options, Texts&& texts) {
  return with_context([&](Machine& m, Context& context) {
    if (handle == nullptr || !options.are_known()) return Status::invalid_value;
    LoadedModule* module = nullptr;
    std::string log;
    const Status status =
        LoadedModules::instance().load(m, context.device, texts(m.config().compute_capability), module, log);
    options.report(log);
    if (status == Status::success) *handle = module;
    return status;
  });
}

int load_image(void** handle, const void* image, const JitOptions& options) {
  if (image == nullptr) return result(Status::invalid_value);
  return load(handle, options,
              [image](unsigned capability) { return texts_of_image(image, capability, kImageName); });
}

int load_file(void** handle, const char* path, const JitOptions& options) {
  if (path == nullptr) return result(Status::invalid_value);
  const std::optional<std::string> bytes = contents_of(path);
  if (!bytes) return result(Status::file_not_found);
  return load(handle, options,
              [&bytes, path](unsigned capability) { return texts_of_bytes(*bytes, capability, path); });
}

const JitOptions kNoOptions{0, nullptr, nullptr};

int cuModuleLoad(void** module, const char* path) {
  return load_file(module, path, kNoOptions);
}

int cuModuleLoadData(void** module, const void* image) {
  return load_image(module, image, kNoOptions);
}

int cuModuleLoadDataEx(void** module, const void* image, unsigned count, const int* options, void** values) {
  return load_image(module, image, {count, options, values});
}

int cuModuleLoadFatBinary(void** module, const void* image) {
  return load_image(module, image, kNoOptions);
}

/// Calls `f` with the machine, the context and the module.
template <class F>
int with_module(void* handle, F&& f) {
  return with_context([&](Machine& m, Context& context) {
    LoadedModule* const module = LoadedModules::instance().find(handle);
    return module == nullptr ? Status::invalid_resource_handle : f(m, context, *module);
  });
}

/// The same, with what the module is on the context's GPU.
template <class F>
int with_module_there(void* handle, F&& f) {
  return with_module(handle, [&](Machine& m, Context& context, LoadedModule& module) {
    ModuleOnDevice* there = nullptr;
    const Status status = m.module_on(*module.library, context.device, there);
    return status != Status::success ? status : f(m, context, module, *there);
  });
}

int cuModuleUnload(void* handle) {
  return with_module(handle, [](Machine& m, Context&, LoadedModule& module) {
    return LoadedModules::instance().unload(m, module);
  });
}

int cuModuleGetFunction(void** function, void* handle, const char* name) {
  if (function == nullptr || name == nullptr) return result(Status::invalid_value);
  return with_module(handle, [&](Machine& m, Context& context, LoadedModule& module) {
    Function* found = nullptr;
    const Status status = LoadedModules::instance().kernel(m, module, name, context.device, found);
    if (status == Status::success) *function = found;
    return status;
  });
}

int cuModuleGetFunctionCount(unsigned* count, void* handle) {
  if (count == nullptr) return result(Status::invalid_value);
  return with_module_there(handle, [&](Machine&, Context&, LoadedModule&, ModuleOnDevice& there) {
    *count = static_cast<unsigned>(there.kernels().size());
    return Status::success;
  });
}

int cuModuleEnumerateFunctions(void** functions, unsigned count, void* handle) {
  if (functions == nullptr) return result(Status::invalid_value);
  return with_module_there(handle, [&](Machine& m, Context& context, LoadedModule& module,
                                       ModuleOnDevice& there) {
    const std::vector<std::string> kernels = there.kernels();
    for (std::size_t n = 0; n < std::min<std::size_t>(count, kernels.size()); ++n) {
      Function* found = nullptr;
      const Status status = LoadedModules::instance().kernel(m, module, kernels[n], context.device, found);
      if (status != Status::success) return status;
      functions[n] = found;
    }
    return Status::success;
  });
}

int cuModuleGetGlobal_v2(std::uint64_t* address, std::size_t* bytes, void* handle, const char* name) {
  if (name == nullptr) return result(Status::invalid_value);
  return with_module_there(handle, [&](Machine&, Context&, LoadedModule&, ModuleOnDevice& there) {
    const std::optional<ModuleOnDevice::Variable> variable = there.variable(name);
    if (!variable) return Status::symbol_not_found;
    if (address != nullptr) *address = variable->address;
    if (bytes != nullptr) *bytes = variable->bytes;
    return Status::success;
  });
}

int cuModuleGetLoadingMode(int* mode) {
  if (mode == nullptr) return result(Status::invalid_value);
  constexpr int kEager = 1;
  *mode = kEager;
  return result(Status::success);
}

// ---- Libraries: modules that belong to no context

/// Where none is current, calls that need no context mean the first GPU.
class SomeContext {
 public:
  SomeContext() : borrowed_(Contexts::current() == nullptr) {
    if (borrowed_) Contexts::push(Contexts::instance().primary(0));
  }
  ~SomeContext() {
    if (borrowed_) Contexts::pop();
  }
  SomeContext(const SomeContext&) = delete;
  SomeContext& operator=(const SomeContext&) = delete;

 private:
  bool borrowed_;
};

int cuLibraryLoadData(void** library, const void* image, const int* options, void** values, unsigned count,
                      const int*, void**, unsigned) {
  const SomeContext context;
  return load_image(library, image, {count, options, values});
}

int cuLibraryLoadFromFile(void** library, const char* path, const int* options, void** values, unsigned count,
                          const int*, void**, unsigned) {
  const SomeContext context;
  return load_file(library, path, {count, options, values});
}

int cuLibraryUnload(void* library) {
  const SomeContext context;
  return cuModuleUnload(library);
}

int cuLibraryGetKernel(void** kernel, void* library, const char* name) {
  const SomeContext context;
  return cuModuleGetFunction(kernel, library, name);
}

int cuLibraryGetKernelCount(unsigned* count, void* library) {
  const SomeContext context;
  return cuModuleGetFunctionCount(count, library);
}

int cuLibraryEnumerateKernels(void** kernels, unsigned count, void* library) {
  const SomeContext context;
  return cuModuleEnumerateFunctions(kernels, count, library);
}

int cuLibraryGetGlobal(std::uint64_t* address, std::size_t* bytes, void* library, const char* name) {
  const SomeContext context;
  return cuModuleGetGlobal_v2(address, bytes, library, name);
}

int cuLibraryGetManaged(std::uint64_t* address, std::size_t* bytes, void* library, const char* name) {
  const SomeContext context;
  if (name == nullptr || (address == nullptr && bytes == nullptr)) return result(Status::invalid_value);
  return with_module_there(library, [&](Machine&, Context&, LoadedModule& module, ModuleOnDevice& there) {
    const std::optional<ModuleOnDevice::Variable> variable = there.variable(name);
    if (!variable || module.library->managed.count(name) == 0) return Status::symbol_not_found;
    if (address != nullptr) *address = variable->address;
    if (bytes != nullptr) *bytes = variable->bytes;
    return Status::success;
  });
}

int cuLibraryGetModule(void** module, void* library) {
  if (module == nullptr) return result(Status::invalid_value);
  return with_module(library, [&](Machine&, Context&, LoadedModule& found) {
    *module = &found;
    return Status::success;
  });
}

int cuLibraryGetUnifiedFunction(void**, void*, const char*) {
  return result(refuse("functions that host and GPU share (cuLibraryGetUnifiedFunction) are not modelled"));
}

int cuKernelGetFunction(void** function, void* kernel) {
  return with_context([&](Machine& m, Context& context) {
    if (function == nullptr) return Status::invalid_value;
    if (!m.is_function(kernel)) return Status::invalid_resource_handle;
    const programs::Entry* entry = nullptr;
    const Status status = m.entry_of(*static_cast<Function*>(kernel), context.device, entry);
    if (status == Status::success) *function = kernel;
    return status;
  });
}

int cuFuncGetModule(void** module, void* function) {
  return with_machine([&](Machine& m) {
    if (module == nullptr) return Status::invalid_value;
    if (!m.is_function(function)) return Status::invalid_resource_handle;
    *module = &LoadedModules::instance().of(*static_cast<Function*>(function)->library);
    return Status::success;
  });
}

// ---- Linking

/// What a program is linking (`CUlinkState`), and the image that came of it.
struct LinkState {
  JitOptions options;
  std::vector<PtxText> texts;
  std::string image;
};
struct Links {
  std::mutex mutex;
  std::map<const void*, std::unique_ptr<LinkState>> all;
};
Links& links() {
  static Links* const links = new Links;
  return *links;
}

LinkState* link_of(void* handle) {
  const std::lock_guard lock(links().mutex);
  const auto found = links().all.find(handle);
  return found == links().all.end() ? nullptr : found->second.get();
}

int cuLinkCreate_v2(unsigned count, const int* options, void** values, void** handle) {
  return with_context([&](Machine&, Context&) {
    const JitOptions given(count, options, values);
    if (handle == nullptr || !given.are_known()) return Status::invalid_value;
    const std::lock_guard lock(links().mutex);
    auto made = std::make_unique<LinkState>(LinkState{given, {}, {}});
    *handle = made.get();
    links().all[made.get()] = std::move(made);
    return Status::success;
  });
}

/// Gives the program's log what is wrong, which is also told on stderr.
Status link_fails(const LinkState& state, const Diagnostics& faults, Status status) {
  std::string log;
  for (const Diagnostic& d : faults) log += d.text() + "\n";
  state.options.report(log);
  std::fputs(("warpline: " + log).c_str(), stderr);
  return status;
}

int add_to_link(void* handle, int type, std::string_view bytes, const std::string& name) {
  constexpr int kTypes = 6, kIntermediate = 5;
  return with_context([&](Machine& m, Context&) {
    LinkState* const state = link_of(handle);
    if (state == nullptr) return Status::invalid_resource_handle;
    if (type < 0 || type >= kTypes || bytes.empty()) return Status::invalid_value;
    if (type == kIntermediate) return refuse("linking of NVVM's intermediate code is not modelled");
    Result<std::vector<PtxText>> texts = texts_to_link(bytes, m.config().compute_capability, name);
    if (!texts.ok()) return link_fails(*state, texts.faults(), Status::no_kernel_image_for_device);
    for (PtxText& text : texts.value()) {
      const ptx::ModuleRuns runs = ptx::kernels_that_run(text.text, text.name);
      if (!runs.readable) return link_fails(*state, runs.faults, Status::invalid_ptx);
      state->texts.push_back(std::move(text));
    }
    return Status::success;
  });
}

int cuLinkAddData_v2(void* handle, int type, const void* data, std::size_t bytes, const char* name, unsigned,
                     const int*, void**) {
  if (data == nullptr) return result(Status::invalid_value);
  return add_to_link(handle, type, {static_cast<const char*>(data), bytes},
                     name == nullptr || *name == '\0' ? "what the program links" : name);
}

int cuLinkAddFile_v2(void* handle, int type, const char* path, unsigned, const int*, void**) {
  if (path == nullptr) return result(Status::invalid_value);
  const std::optional<std::string> bytes = contents_of(path);
  if (!bytes) return result(Status::file_not_found);
  return add_to_link(handle, type, *bytes, path);
}

int cuLinkComplete(void* handle, void** image, std::size_t* bytes) {
  return with_context([&](Machine& m, Context&) {
    LinkState* const state = link_of(handle);
    if (state == nullptr) return Status::invalid_resource_handle;
    if (image == nullptr || state->texts.empty()) return Status::invalid_value;
    std::vector<ptx::ModulePart> parts;
    std::vector<std::string> texts;
    for (const PtxText& t : state->texts) {
      parts.push_back({t.text, t.name});
      texts.push_back(t.text);
    }
    if (const auto linked = ptx::parse(parts); !linked.ok())
      return link_fails(*state, linked.faults(), Status::invalid_ptx);
    state->options.report({});
    state->image = linked_fat_binary(texts, m.config().compute_capability);
    *image = state->image.data();
    if (bytes != nullptr) *bytes = state->image.size();
    return Status::success;
  });
}

int cuLinkDestroy(void* handle) {
  const std::lock_guard lock(links().mutex);
  return result(links().all.erase(handle) == 0 ? Status::invalid_resource_handle : Status::success);
}

}  // namespace

void add_modules(Functions& f) {
  WARPLINE_ADD(f, cuModuleLoad);
  WARPLINE_ADD(f, cuModuleLoadData);
  WARPLINE_ADD(f, cuModuleLoadDataEx);
  WARPLINE_ADD(f, cuModuleLoadFatBinary);
  WARPLINE_ADD(f, cuModuleUnload);
  WARPLINE_ADD(f, cuModuleGetFunction);
  WARPLINE_ADD(f, cuModuleGetFunctionCount);
  WARPLINE_ADD(f, cuModuleEnumerateFunctions);
  WARPLINE_ADD(f, cuModuleGetGlobal_v2);
  WARPLINE_ADD(f, cuModuleGetLoadingMode);
  WARPLINE_ADD(f, cuLibraryLoadData);
  WARPLINE_ADD(f, cuLibraryLoadFromFile);
  WARPLINE_ADD(f, cuLibraryUnload);
  WARPLINE_ADD(f, cuLibraryGetKernel);
  WARPLINE_ADD(f, cuLibraryGetKernelCount);
  WARPLINE_ADD(f, cuLibraryEnumerateKernels);
  WARPLINE_ADD(f, cuLibraryGetGlobal);
  WARPLINE_ADD(f, cuLibraryGetManaged);
  WARPLINE_ADD(f, cuLibraryGetModule);
  WARPLINE_ADD(f, cuLibraryGetUnifiedFunction);
  WARPLINE_ADD(f, cuKernelGetFunction);
  f.add("cuKernelGetLibrary", &cuFuncGetModule);
  WARPLINE_ADD(f, cuFuncGetModule);
  f.add("cuLinkCreate", &cuLinkCreate_v2);
  WARPLINE_ADD(f, cuLinkCreate_v2);
  f.add("cuLinkAddData", &cuLinkAddData_v2);
  WARPLINE_ADD(f, cuLinkAddData_v2);
  f.add("cuLinkAddFile", &cuLinkAddFile_v2);
  WARPLINE_ADD(f, cuLinkAddFile_v2);
  WARPLINE_ADD(f, cuLinkComplete);
  WARPLINE_ADD(f, cuLinkDestroy);
}

}  // namespace warpline::cuda::driver
