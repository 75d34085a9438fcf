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
#include "platform/cuda/graph.h"
#include "platform/cuda/measuring.h"
#include "platform/cuda/memory_advice.h"
#include "platform/cuda/module_on_device.h"
#include "platform/cuda/operation.h"
#include "platform/cuda/peer_links.h"
#include "platform/cuda/schedule.h"
#include "platform/cuda/status.h"
#include "platform/cuda/virtual_memory.h"
#include "platform/machine/gpu_platform.h"
#include "platform/observe/watcher.h"
#include "platform/profile/profiler.h"
#include "platform/report/run_statistics.h"
#include "platform/series/figure_sampler.h"

namespace warpline::cuda {

class Arrays;

/// Work of streams that becomes a graph instead of being done (CUDA C++ Programming Guide, "Creating a Graph
/// Using Stream Capture").
struct Capture {
  std::unique_ptr<Graph> own;  ///< that it fills; handed over at its end
  Graph* graph = nullptr;
  const void* origin = nullptr;  ///< the stream in which it began, and must end
  std::uint64_t id = 0;
  int mode = 0;
  bool invalid = false;
};
/// A stream of a program, which names it by the object's address.
struct Stream {
  StreamId id{};
  unsigned device = 0;
  bool blocking = true;
  int priority = 0;
  Executor::Ticket last = 0;         ///< its last work
  std::shared_ptr<Capture> capture;  ///< null: what it gets is done
  std::vector<GraphNode*> frontier;  ///< of a capture: what the next piece of work waits for
};

/// An event of a program, which names it by the object's address.
struct Event {
  bool timed = true;
  bool recorded = false;             ///< ever
  Executor::Ticket last = 0;         ///< the work that records it
  double time_ns = 0;                ///< once that is done
  std::uint64_t asked = 0;           ///< records so far, in streams
  std::uint64_t recorded_last = 0;   ///< the one that the time is of: streams may do them in another order
  std::shared_ptr<Capture> capture;  ///< in which it was recorded last
  std::vector<GraphNode*> frontier;  ///< likewise, after which nodes
};

/// Memory from which allocations in stream order come (CUDA Runtime API, "Stream Ordered Memory Allocator").
/// It takes memory of the GPU when a program asks, and gives it back at once.
struct Pool {
  unsigned device = 0;
  std::array<std::uint64_t, 4> settings{1, 1, 1, 0};  ///< reuse by events, at will, inside; release threshold
  std::uint64_t used = 0, most_used = 0;              ///< bytes
  std::map<unsigned, unsigned> access;                ///< of other GPUs: cudaMemAccessFlags, if any
};

/// What one grid or copy was, for the report.
struct WorkRecord {
  std::string name;  ///< of the kernel; "copy to the device", ...
  bool kernel = false;
  unsigned device = 0;
  Span time;
  Cycle cycles = 0;
  std::uint64_t bytes = 0;        ///< copied
  bool timed = true;              ///< of a grid
  CounterTable::Changes counted;  ///< of a grid, if that was asked for
};

/// How a machine is to run a program's grids.
struct MachineOptions {
  Measuring measuring = Measuring(false);
  bool keep_warm = false;     ///< grids that are not timed are loosely timed, and keep the caches warm
  bool profile = false;       ///< see Machine::profile()
  WatchOptions watching;      ///< of what is timed: see Machine::finish_files()
  SampleOptions sampling;     ///< likewise
  bool counts = false;        ///< each grid's record has what it counted
  bool exact_bounds = false;  ///< see RunOptions::page_slack
  ptx::Schedule schedule = ptx::Schedule::assembler;
  unsigned threads = 1;  ///< see RunOptions::threads
  /// Which GPUs of a larger platform the program's are, by its own numbers; empty: all, as they are.
  std::vector<unsigned> ordinals;
};

/// The GPUs of a process, and what its calls of CUDA have made of them. Both APIs are thin layers over it.
/// All calls may come from any thread.
class Machine {
 public:
  explicit Machine(const GpuConfig& config, MachineOptions options = MachineOptions());
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  [[nodiscard]] const GpuConfig& config() const { return config_; }
  [[nodiscard]] unsigned devices() const { return config_.gpus; }
  /// What a GPU is called outside of the program, which may not see all (CUDA_VISIBLE_DEVICES).
  [[nodiscard]] unsigned ordinal(unsigned device) const {
    return options_.ordinals.empty() ? device : options_.ordinals[device];
  }

  // Memory. `device` is the GPU that is current in the calling thread.
  Status allocate(Allocation::Kind kind, std::uint64_t bytes, std::uint32_t flags, unsigned device,
                  std::uint64_t& address);
  /// Waits for the device, as it may use it. Freeing address 0 does nothing.
  Status free(std::uint64_t address, std::initializer_list<Allocation::Kind> kinds);
  /// Forgets what kernels have done wrong, gives back all memory of a GPU, and its variables the values they
  /// began with.
  Status reset(unsigned device);
  /// Limits by their numbers (CUDA Runtime API, "cudaLimit"). Those of printf's ring and of the heap cannot
  /// be changed any more once a grid was launched that may use them.
  Status set_limit(int limit, std::uint64_t value);
  [[nodiscard]] std::optional<std::uint64_t> limit(int limit);
  /// Free and all bytes of a GPU.
  void memory_info(unsigned device, std::uint64_t& free, std::uint64_t& total);
  [[nodiscard]] std::optional<Allocation> allocation_of(std::uint64_t address);
  /// What a program advises of a range of managed memory, and what it has advised of all of it. Errors: it is
  /// no managed memory.
  Status advise(std::uint64_t address, std::uint64_t bytes,
                const std::function<void(MemoryAdvice::Of&)>& advice);
  Status advice_of(std::uint64_t address, std::uint64_t bytes, MemoryAdvice::Of& advice);
  /// Memory of a pool, from now on; `free_in_order`: until a stream gets there.
  Status allocate_from(Pool& pool, std::uint64_t bytes, Stream& stream, std::uint64_t& address);
  /// A node of a graph that stands for memory, which is there at once and goes with the graph.
  Status allocate_in_graph(Graph& graph, const std::vector<GraphNode*>& after, unsigned device,
                           std::uint64_t bytes, GraphNode*& node);
  /// A value that kernels set and conditional nodes of a graph look at. `initial`: with which each launch
  /// begins.
  Status add_condition(Graph& graph, unsigned device, std::optional<std::uint32_t> initial,
                       std::uint64_t& address);
  /// Bytes of a GPU's memory that nodes of graphs have, and the most that they had since that was set.
  void graph_memory(unsigned device, std::uint64_t& now, std::uint64_t& most);
  void forget_most_graph_memory(unsigned device);
  Status free_in_order(std::uint64_t address, Stream& stream);
  Pool& add_pool(unsigned device);
  [[nodiscard]] bool is_pool(const void* handle);
  Status remove_pool(Pool& pool);
  /// The pool that allocations on a GPU come from if the program names none; see set_pool().
  [[nodiscard]] Pool& default_pool(unsigned device) { return *default_pools_[device]; }
  [[nodiscard]] Pool& pool_of(unsigned device);
  void set_pool(unsigned device, Pool& pool);
  /// Memory of the program, which GPUs reach at the same address until it is given back.
  Status register_host(std::uint64_t address, std::uint64_t bytes, std::uint32_t flags, unsigned device);
  Status unregister_host(std::uint64_t address);
  /// In a child of the process, which has no GPUs: memory that was registered is its own.
  void after_fork();
  /// `asynchronous`: it may return before it is done; it does where both sides are memory of the platform.
  using Copy = CopyRequest;
  Status copy(const Copy& copy, Stream& stream, bool asynchronous);
  Status fill(const FillRequest& fill, Stream& stream, bool asynchronous);
  /// Whether a copy or fill can be done, and the way a copy goes by its addresses.
  Status check(CopyRequest& copy);
  Status check(const FillRequest& fill);

  // Memory that programs map themselves (CUDA Driver API, "Virtual Memory Management"). Sizes and addresses
  // are multiples of VirtualMemory::kGranularity.
  Status reserve_addresses(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t wanted,
                           std::uint64_t& address);
  Status release_addresses(std::uint64_t address, std::uint64_t bytes);
  Status create_block(std::uint64_t bytes, unsigned device, std::uint8_t compression, std::uint64_t& handle);
  Status release_block(std::uint64_t handle);
  Status map_block(std::uint64_t address, std::uint64_t bytes, std::uint64_t handle);
  /// Whatever of blocks is mapped there, which is whole ones.
  Status unmap_blocks(std::uint64_t address, std::uint64_t bytes);
  /// `access`: 0 none, 1 read, 3 read and write.
  Status set_access(std::uint64_t address, std::uint64_t bytes, unsigned device, unsigned access);
  Status access_of(std::uint64_t address, unsigned device, unsigned& access);
  /// The block that an address is mapped to, which the program holds once more.
  Status hold_block_at(std::uint64_t address, std::uint64_t& handle);
  [[nodiscard]] std::optional<MemoryBlock> block(std::uint64_t handle);

  // Peers: kernels of one GPU in the memory of another one.
  /// Whether kernels of a GPU can be let into the memory of another one.
  [[nodiscard]] bool can_reach(unsigned device, unsigned peer) const {
    return device != peer && peer_links_.exist();
  }
  /// What of a GPU's memory has no pool, is not mapped by the program, and belongs to no graph can be reached
  /// by kernels of another one, now and in future.
  Status enable_peer(unsigned device, unsigned peer);
  Status disable_peer(unsigned device, unsigned peer);
  /// A property of the link between two GPUs, by CUDA's number (CUDA Runtime API, "cudaDeviceP2PAttr").
  [[nodiscard]] std::optional<int> peer_attribute(int attribute, unsigned device, unsigned peer) const;
  /// Who reaches what comes from a pool. `access`: as in set_access(), of another GPU than the pool's.
  Status set_pool_access(Pool& pool, unsigned device, unsigned access);
  [[nodiscard]] unsigned pool_access(const Pool& pool, unsigned device);
  /// The memory of a node of a graph, for another GPU.
  Status share_with_peer(const GraphNode& node, unsigned device);

  // Arrays, textures and surfaces.
  [[nodiscard]] Arrays& arrays() { return *arrays_; }
  /// Makes a texture or surface, with a handle that no other one ever has.
  std::uint64_t add_image(const Image& image);
  /// Takes it away when all work is done that was asked for before.
  void remove_image(std::uint64_t handle);

  // Modules.
  Library& add_library(std::function<Result<std::vector<PtxText>>(unsigned)> texts);
  void remove_library(Library& library);
  Function& add_function(Library& library, const std::string& name);
  [[nodiscard]] bool is_function(const void* handle);
  /// The module on a GPU, read now if it was not. A failure is told on stderr once.
  Status module_on(Library& library, unsigned device, ModuleOnDevice*& module);
  /// The kernel's signature on a GPU.
  Status entry_of(Function& function, unsigned device, const programs::Entry*& entry);
  /// Registers of a thread of a kernel, as the module says, or an estimate. Pre: entry_of() found it.
  unsigned registers_of(Function& function);
  Status variable_of(Library& library, const std::string& name, unsigned device,
                     ModuleOnDevice::Variable& variable);
  Status launch(const GridRequest& request, Stream& stream);
  /// A grid that can be launched on a GPU, or why it cannot.
  Status prepare(const GridRequest& request, unsigned device, Grid& grid);

  // Streams and events.
  [[nodiscard]] Stream& default_stream(unsigned device) { return *legacy_[device]; }
  Stream& add_stream(unsigned device, bool blocking, int priority);
  [[nodiscard]] bool is_stream(const void* handle);
  void remove_stream(Stream& stream);
  Event& add_event(bool timed);
  [[nodiscard]] bool is_event(const void* handle);
  void remove_event(Event& event);
  /// `external`: in a capture it becomes a node of the graph, which records the event, or waits for it, each
  /// time that it is launched; elsewhere that is not allowed.
  Status record(Event& event, Stream& stream, bool external = false);
  Status wait_for(Event& event, Stream& stream, bool external = false);
  Status query(const Event& event);
  Status synchronize(Event& event);
  Status elapsed_ms(const Event& first, const Event& last, float& ms);
  Status query(const Stream& stream);
  Status synchronize(Stream& stream);
  Status synchronize(unsigned device);
  /// A function of the program that is called in its turn in a stream.
  Status call(std::function<void()> function, Stream& stream);
  /// A value of `bytes` (4, 8) bytes that is written in its turn in a stream.
  Status write_value(std::uint64_t address, std::uint64_t value, unsigned bytes, Stream& stream);
  /// Has a stream wait until `holds` is true of what lies there. Work of all streams is done in the order in
  /// which it was asked for: what ends the wait is a grid before it, or the host.
  Status wait_for_value(std::uint64_t address, unsigned bytes, std::function<bool(std::uint64_t)> holds,
                        Stream& stream);
  std::shared_ptr<Event> kept(Event& event);

  // Graphs. A graph belongs to one thread at a time; the machine keeps it until it is removed.
  Graph& add_graph(std::unique_ptr<Graph> graph);
  [[nodiscard]] bool is_graph(const void* handle);
  void remove_graph(Graph& graph);
  GraphExec& add_exec(const Graph& graph);
  [[nodiscard]] bool is_exec(const void* handle);
  void remove_exec(GraphExec& exec);
  Status launch(const GraphExec& exec, Stream& stream);
  /// From now on a stream's work becomes a graph: `into`, behind nodes of it, or a new one.
  Status begin_capture(Stream& stream, int mode, Graph* into, const std::vector<GraphNode*>& after);
  Status end_capture(Stream& stream, Graph*& graph);

  /// A line on stderr, unless it was said before.
  void tell(const std::string& line);
  /// What a kernel has done wrong: it stays. success: nothing.
  [[nodiscard]] Status fault();
  /// Names and meaning of the counters in records.
  [[nodiscard]] const CounterTable& counters() const { return table_; }
  /// Ends what is under way, and hands over what was done.
  std::vector<WorkRecord> finish();
  /// What warps did in what was timed, as a file has it (docs/profiles.md). Pre: MachineOptions::profile;
  /// after finish().
  [[nodiscard]] std::string profile();
  /// Puts the files in their places that MachineOptions::watching and sampling have asked for. Returns why
  /// that failed, a sentence each. Pre: after finish().
  [[nodiscard]] std::vector<std::string> finish_files();

 private:
  /// What a piece of work turned out to be.
  struct Done {
    Engine engine = Engine::none;
    double duration_ns = 0;
    std::optional<WorkRecord> record;
  };
  /// What begins at an address is no memory of the program's any more. Pre: mutex_ is held.
  std::optional<Allocation> take_away(std::uint64_t address);
  /// allocate(), before other GPUs are let in. `wanted`: all of it but the address.
  Status take_memory(Allocation wanted, std::uint64_t& address);
  /// Lets those GPUs in that reach memory of its kind. Pre of all three: the platform and mutex_ are held.
  void let_peers_in(Allocation& a);
  void let_in(Allocation& a, unsigned device);
  void keep_out(Allocation& a, unsigned device);
  /// Whether kernels of a GPU reach such memory of another one. Pre: mutex_ is held.
  [[nodiscard]] bool is_for_peer(const Allocation& a, unsigned device) const;
  /// Whose memory it is that a GPU may not reach, for a message; empty: nobody's. Pre: mutex_ is held.
  [[nodiscard]] std::string owner_of(std::uint64_t address, unsigned device) const;
  [[nodiscard]] bool is_capturing(const Stream& stream);
  /// Waits while too much is queued. What is captured is not.
  void wait_for_room(const Stream& stream);
  /// Has a stream do it, or takes it into a graph.
  /// `call_ns`: after its end, until a host that waits for it goes on.
  Status issue(Operation operation, Stream& stream, bool asynchronous, double call_ns = 0);
  /// Does it, on the executor's thread.
  Done perform(const Operation& operation);
  /// Whether all of it is memory of the platform. Pre: that is held.
  [[nodiscard]] bool is_mapped(std::uint64_t address, std::uint64_t bytes);
  /// What a copy or fill has written stays in the L2 of the GPU whose memory it is. Pre: the platform is
  /// held.
  void leave_in_l2(std::uint64_t address, std::uint64_t bytes);
  Done perform_copy(const CopyRequest& copy);
  Done perform_fill(const FillRequest& fill);
  /// Does it, and says when it was done. `stream`: whose turn it is.
  Span do_next(const Operation& operation, StreamId stream, double asked_ns);
  Span do_steps(const GraphExec::Steps& steps, unsigned device, double begin_ns);
  /// Does what a conditional node chooses, and says when that was done.
  double do_choice(const GraphExec::Step& step, unsigned device, double begin_ns);
  /// Gives the conditions of a graph, and of those inside it, the values that its launches begin with.
  void set_conditions(const GraphExec::Steps& steps);
  Status wait(Executor::Ticket ticket);
  /// For all that was asked for so far.
  Status wait_for_all();
  /// What a wait comes to. `is_done`: what was waited for was not dropped.
  Status after_waiting(bool is_done);
  /// Pre: mutex_ is held.
  [[nodiscard]] Executor::Turn turn_of(const Stream& stream) const;
  [[nodiscard]] static bool is_short(const Operation& operation);
  [[nodiscard]] double copy_ns(CopyKind kind, std::uint64_t bytes, bool page_locked) const;
  /// A grid of the module is asked for: what it has of the device library stays as large as it is.
  void note_use(const ModuleOnDevice& module, unsigned device);
  /// Pre: mutex_ is held.
  [[nodiscard]] DeviceMemorySizes sizes_of_device_memory() const;
  /// Pre: mutex_ is held.
  [[nodiscard]] std::uint64_t graph_bytes(unsigned device) const;
  Status check_shape(const GridShape& shape, const Function& function, const programs::Entry& entry) const;
  [[nodiscard]] static std::map<int, std::uint64_t> usual_limits();
  /// How grids are launched, but for what is a grid's own.
  [[nodiscard]] LaunchAttributes usual_attributes();
  [[nodiscard]] static std::optional<unsigned> carveout_of(const Function& function);
  /// Pre of these: the platform is held.
  Status make_kernel(const Grid& grid, std::unique_ptr<Kernel>& kernel);
  /// Gives memory back that a node of a graph allocated, when nobody has it any more.
  std::shared_ptr<void> memory_of_graph(std::uint64_t address);
  [[nodiscard]] CounterTable::Values read_counters();
  void take_printed();
  /// What kernels have printed comes out when the program launches or waits, as CUDA does it
  /// (CUDA C++ Programming Guide, "Formatted Output").
  void show_printed();
  /// A kernel accesses what was not allocated, within pages that a GPU has: that is said once.
  void note_slack(const std::string& kernel, unsigned device);
  void note_faults(const Grid& grid, const LaunchResult& result);
  /// What kernels of a module ask of their GPU is there, as it is now.
  void lay_facts(ModuleOnDevice& module, const Library& library);
  Done run_grid(const Grid& grid);
  void set_fault(Status status);
  /// Whether all of it is managed memory. Pre: mutex_ is held.
  [[nodiscard]] bool is_managed(std::uint64_t address, std::uint64_t bytes) const;
  /// Whether a value may be written or read there.
  [[nodiscard]] bool is_place_of_value(std::uint64_t address, unsigned bytes);

  const GpuConfig config_;
  MachineOptions options_;  ///< used on the executor's thread
  GpuPlatform platform_;
  Profiler* profiler_ = nullptr;                ///< null: nothing is profiled
  Watcher* watcher_ = nullptr;                  ///< null: nothing is watched
  FigureSampler* sampler_ = nullptr;            ///< null: nothing is sampled
  std::map<std::string, std::string> sources_;  ///< of what is profiled: PTX by name
  const PeerLinks peer_links_;
  Executor::Shared platform_use_;   ///< guards platform_, and what lies on it
  DeviceMemory device_memory_;      ///< likewise
  std::unique_ptr<Kernel> kernel_;  ///< the last one, whose program SMs keep until the next starts
  CounterTable table_;              ///< likewise
  bool loose_ = false;              ///< likewise: grids are not timed
  bool threads_looked_at_ = false;  ///< whether timed grids are run by the threads asked for: said once
  unsigned device_in_turn_ = 0;     ///< used on the executor's thread: of the piece of work under way
  bool grid_runs_ = false;          ///< likewise: what is done meanwhile leaves the caches alone
  std::uint64_t grids_ = 0;
  std::map<unsigned, std::uint64_t> workspaces_;  ///< of cooperative grids, by device

  std::mutex mutex_;  ///< guards all below; never held while anything is waited for
  Schedule schedule_;
  Allocations allocations_;
  MemoryAdvice advice_;
  VirtualMemory virtual_memory_;
  std::set<std::pair<unsigned, unsigned>> enabled_peers_;  ///< whose kernels reach whose memory
  std::vector<std::unique_ptr<Library>> libraries_;
  std::map<const void*, std::unique_ptr<Function>> functions_;
  std::map<const void*, std::shared_ptr<Stream>> streams_;
  std::map<const void*, std::shared_ptr<Event>> events_;
  std::map<const void*, std::unique_ptr<Graph>> graphs_;
  std::map<const void*, std::unique_ptr<GraphExec>> execs_;
  std::map<const void*, std::shared_ptr<Pool>> pools_;
  std::vector<Pool*> default_pools_, current_pools_;  ///< by device
  std::uint64_t captures_ = 0;
  std::map<int, std::uint64_t> limits_ = usual_limits();  ///< by CUDA's numbers
  std::map<unsigned, std::uint64_t> most_graph_bytes_;    ///< by device
  std::set<unsigned> prints_, allocates_;                 ///< devices whose grids may have
  std::vector<Stream*> legacy_;                           ///< by device
  std::uint64_t streams_made_ = 0;
  Status fault_ = Status::success;
  unsigned fault_device_ = 0;  ///< whose it is
  std::set<std::string> told_;
  std::set<std::string> kernels_with_slack_;
  std::string printed_;  ///< by kernels, and not shown yet
  std::vector<WorkRecord> records_;
  std::unique_ptr<Arrays> arrays_;

  Executor executor_;  ///< last: it ends first
};

}  // namespace warpline::cuda
