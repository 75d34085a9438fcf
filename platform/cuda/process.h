#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "platform/cuda/fat_binary.h"
#include "platform/cuda/machine.h"

namespace warpline::cuda {

struct Context;

/// What a thread of a program has of CUDA's runtime and of the driver API.
struct ThreadState {
  unsigned device = 0;             ///< the current one: that of the current context, if there is one
  unsigned device_flags = 0;       ///< kept, and without effect
  bool uses_runtime = false;       ///< it has called the runtime
  std::vector<Context*> contexts;  ///< of the driver API, the current one last
  Status last = Status::success;
  int capture_mode = 0;  ///< of what it calls while any stream captures: kept, and without effect
  struct Configuration {
    Dim3 grid, block;
    std::size_t shared_bytes = 0;
    void* stream = nullptr;
  };
  std::vector<Configuration> configurations;  ///< of `<<<...>>>`, pushed and not yet taken
};
[[nodiscard]] ThreadState& this_thread();

/// What a program has registered with CUDA's runtime, and the machine that its calls use, which the first of
/// them makes. Registering does no work: it happens before main().
///
/// The machine is as the environment says: WARPLINE_GPU (a preset or a file; a100), WARPLINE_SET (settings as
/// `--set` takes them, one per line), CUDA_VISIBLE_DEVICES (which of its GPUs the program sees: it has no
/// others), WARPLINE_REPORT (a file that gets what was done, when the program ends).
class Process {
 public:
  static Process& instance();

  struct Registered {
    const FatBinaryWrapper* wrapper = nullptr;
    Library* library = nullptr;                     ///< once it is used
    std::vector<const void*> functions, variables;  ///< its keys in the maps below
  };
  struct RegisteredFunction {
    Registered* owner = nullptr;
    std::string name;
    Function* function = nullptr;  ///< once it is used
  };
  struct RegisteredVariable {
    Registered* owner = nullptr;
    std::string name;
    std::size_t bytes = 0;
    void** managed = nullptr;  ///< of a `__managed__` one: where the program keeps its address
  };

  Registered* add(const FatBinaryWrapper* wrapper);
  void remove(Registered* registered);
  void add_function(Registered* owner, const void* stub, const char* name);
  void add_variable(Registered* owner, const void* variable, const char* name, std::size_t bytes,
                    void** managed);

  /// The machine; null: it cannot be made, which was said on stderr, or this is a child of the process that
  /// made it.
  [[nodiscard]] Machine* machine();
  /// Why there is none, as CUDA says it.
  [[nodiscard]] Status why_no_machine();
  /// The stub of a kernel on the host; null: it has none.
  [[nodiscard]] const void* stub_of(const Function* function);
  /// A kernel by the address of its stub on the host, or by its handle; null: neither.
  [[nodiscard]] Function* function_of(const void* stub_or_handle);
  /// Reads what is registered if it has variables that are the host's, too, and tells the program where these
  /// lie.
  void place_managed(Registered* registered);
  /// A variable by its address on the host, on a GPU.
  Status variable_of(const void* variable, unsigned device, ModuleOnDevice::Variable& found);
  /// Ends the work of the machine, and writes the report.
  void end();

 private:
  Process();
  Library& library_of(Registered& registered);

  std::mutex mutex_;  ///< guards all below
  std::vector<std::unique_ptr<Registered>> registered_;
  std::map<const void*, RegisteredFunction> functions_;
  std::map<const void*, RegisteredVariable> variables_;
  std::unique_ptr<Machine> machine_;
  bool tried_ = false;
  bool ended_ = false;
  int owner_ = 0;  ///< the process that made the machine
};

}  // namespace warpline::cuda
