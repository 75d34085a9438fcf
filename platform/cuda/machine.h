#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "platform/config/gpu_config.h"
#include "platform/cuda/allocations.h"
#include "platform/cuda/executor.h"
#include "platform/cuda/module_on_device.h"
#include "platform/cuda/schedule.h"
#include "platform/cuda/status.h"
#include "platform/machine/gpu_platform.h"

namespace warpline::cuda {

/// A stream of a program, which names it by the object's address.
struct Stream {
  StreamId id{};
  unsigned device = 0;
  bool blocking = true;
  int priority = 0;
  Executor::Ticket last = 0;  ///< its last work
};

/// An event of a program, which names it by the object's address.
struct Event {
  bool timed = true;
  bool recorded = false;      ///< ever
  Executor::Ticket last = 0;  ///< the work that records it
  double time_ns = 0;         ///< once that is done
};

/// A module of a program: read once for each GPU that uses it, when it does.
struct Library {
  std::function<Result<std::vector<PtxText>>(unsigned compute_capability)> texts;
  std::map<unsigned, std::unique_ptr<ModuleOnDevice>> on_device;
  std::map<unsigned, Status> failed;  ///< why it could not be read for a GPU
};

/// A kernel of a program, which names it by the object's address.
struct Function {
  Library* library = nullptr;
  std::string name;
  std::uint32_t most_dynamic_shared = 48U << 10U;  ///< bytes; raised by an attribute
};

/// A grid to launch.
struct GridRequest {
  Function* function = nullptr;
  Dim3 grid, block;
  Dim3 cluster;  ///< 1 x 1 x 1: none
  std::uint32_t shared_bytes = 0;
  bool cooperative = false;
  /// Bytes of the parameters, laid out by the function that gets the kernel's own layout.
  std::function<std::vector<std::uint8_t>(const programs::Entry&)> parameters;
};

/// Which way a copy goes.
enum class CopyKind : std::uint8_t {
  host_to_host,
  host_to_device,
  device_to_host,
  device_to_device,
  by_address
};

/// What one grid or copy was, for the report.
struct WorkRecord {
  std::string name;  ///< of the kernel; "copy to the device", ...
  bool kernel = false;
  unsigned device = 0;
  Span time;
  Cycle cycles = 0;
  std::uint64_t bytes = 0;  ///< copied
};

/// The GPUs of a process, and what its calls of CUDA have made of them. Both APIs are thin layers over it.
/// All calls may come from any thread.
class Machine {
 public:
  explicit Machine(const GpuConfig& config);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  [[nodiscard]] const GpuConfig& config() const { return config_; }
  [[nodiscard]] unsigned devices() const { return config_.gpus; }

  // Memory. `device` is the GPU that is current in the calling thread.
  Status allocate(Allocation::Kind kind, std::uint64_t bytes, std::uint32_t flags, unsigned device,
                  std::uint64_t& address);
  /// Waits for the device, as it may use it. Freeing address 0 does nothing.
  Status free(std::uint64_t address, std::initializer_list<Allocation::Kind> kinds);
  /// Free and all bytes of a GPU.
  void memory_info(unsigned device, std::uint64_t& free, std::uint64_t& total);
  [[nodiscard]] std::optional<Allocation> allocation_of(std::uint64_t address);
  /// Copies rows of `width` bytes, `to_pitch` and `from_pitch` apart. `asynchronous`: it may return before it
  /// is done; it does where both sides are memory of the platform.
  struct Copy {
    std::uint64_t to = 0, from = 0;
    std::uint64_t width = 0, height = 1, to_pitch = 0, from_pitch = 0;
    CopyKind kind = CopyKind::by_address;
  };
  Status copy(const Copy& copy, Stream& stream, bool asynchronous);
  /// Fills rows of `width` elements of `element_bytes` (1, 2, 4) bytes, `pitch` bytes apart.
  Status fill(std::uint64_t to, std::uint32_t value, unsigned element_bytes, std::uint64_t width,
              std::uint64_t height, std::uint64_t pitch, Stream& stream, bool asynchronous);

  // Modules.
  Library& add_library(std::function<Result<std::vector<PtxText>>(unsigned)> texts);
  void remove_library(Library& library);
  Function& add_function(Library& library, const std::string& name);
  [[nodiscard]] bool is_function(const void* handle);
  /// The module on a GPU, read now if it was not. A failure is told on stderr once.
  Status module_on(Library& library, unsigned device, ModuleOnDevice*& module);
  /// The kernel's signature on a GPU.
  Status entry_of(Function& function, unsigned device, const programs::Entry*& entry);
  Status variable_of(Library& library, const std::string& name, unsigned device,
                     ModuleOnDevice::Variable& variable);
  Status launch(const GridRequest& request, Stream& stream);

  // Streams and events.
  [[nodiscard]] Stream& default_stream(unsigned device) { return *legacy_[device]; }
  Stream& add_stream(unsigned device, bool blocking, int priority);
  [[nodiscard]] bool is_stream(const void* handle);
  void remove_stream(Stream& stream);
  Event& add_event(bool timed);
  [[nodiscard]] bool is_event(const void* handle);
  void remove_event(Event& event);
  Status record(Event& event, Stream& stream);
  Status wait_for(Event& event, Stream& stream);
  Status query(const Event& event);
  Status synchronize(Event& event);
  Status elapsed_ms(const Event& first, const Event& last, float& ms);
  Status query(const Stream& stream);
  Status synchronize(Stream& stream);
  Status synchronize(unsigned device);
  /// A function of the program that is called in its turn in a stream.
  Status call(std::function<void()> function, Stream& stream);

  /// What a kernel has done wrong: it stays. success: nothing.
  [[nodiscard]] Status fault();
  /// Ends what is under way, and hands over what was done.
  std::vector<WorkRecord> finish();

 private:
  /// What a piece of work turned out to be.
  struct Done {
    Engine engine = Engine::none;
    double duration_ns = 0;
    std::optional<WorkRecord> record;
  };
  Executor::Ticket submit(Stream& stream, std::function<Done()> work,
                          std::function<void(const Span&)> then = {});
  Status wait(Executor::Ticket ticket);
  [[nodiscard]] double copy_ns(CopyKind kind, std::uint64_t bytes) const;
  Status check_copy(const Copy& copy, CopyKind& kind);
  Status check_shape(const GridRequest& request, const programs::Entry& entry) const;
  /// Pre of these: the platform is held.
  Status make_kernel(ModuleOnDevice& module, const programs::Entry& entry, const GridRequest& request,
                     const std::vector<std::uint8_t>& parameters, unsigned device,
                     std::unique_ptr<Kernel>& kernel);
  void take_printed();
  void note_faults(const std::string& kernel, const LaunchResult& result);
  Done run_grid(ModuleOnDevice& module, const programs::Entry& entry, const GridRequest& request,
                const std::vector<std::uint8_t>& parameters, unsigned device);
  void set_fault(Status status);
  /// A line on stderr, unless it was said before.
  void tell(const std::string& line);

  const GpuConfig config_;
  GpuPlatform platform_;
  Executor::Shared platform_use_;   ///< guards platform_, and what lies on it
  DeviceMemory device_memory_;      ///< likewise
  std::unique_ptr<Kernel> kernel_;  ///< the last one, whose program SMs keep until the next starts
  std::uint64_t grids_ = 0;
  std::map<unsigned, std::uint64_t> workspaces_;  ///< of cooperative grids, by device

  std::mutex mutex_;  ///< guards all below; never held while anything is waited for
  Schedule schedule_;
  Allocations allocations_;
  std::vector<std::unique_ptr<Library>> libraries_;
  std::map<const void*, std::unique_ptr<Function>> functions_;
  std::map<const void*, std::shared_ptr<Stream>> streams_;
  std::map<const void*, std::shared_ptr<Event>> events_;
  std::vector<Stream*> legacy_;  ///< by device
  std::uint64_t streams_made_ = 0;
  Status fault_ = Status::success;
  std::set<std::string> told_;
  std::vector<WorkRecord> records_;

  Executor executor_;  ///< last: it ends first
};

}  // namespace warpline::cuda
