#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/config/gpu_config.h"
#include "platform/machine/attachment.h"
#include "rtl_models/base/problem.h"
#include "rtl_models/base/types.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/sim/run_outcome.h"

namespace warpline {

class CacheRegisters;
class Checkpoint;
class CounterVisitor;
class Exchange;
class FarDevice;
class GpuMemories;
class NetlistBackend;
class PcieSystem;
class System;
struct Image;
struct KernelInfo;

/// A guest's mistake, as hardware reports it.
struct WARPLINE_PUBLIC FaultRecord {
  std::string kind;  ///< "unmapped address", "misaligned address", ...
  Cycle cycle = 0;
  unsigned gpu = 0;
  unsigned sm = 0;
  unsigned warp = 0;  ///< slot
  Dim3 cta;
  unsigned lane = 0;
  std::string where;                     ///< source line or PC
  std::optional<std::uint64_t> address;  ///< nothing: it has none, such as `trap`
  Dim3 thread;                           ///< of the CTA
  std::string access;                    ///< "load", "store", ...; empty: no access of memory
  unsigned bytes = 0;  ///< that the lane accesses at the address; 0: a line, which has no size in the program
  /// The memory that the address lies in, or is nearest to: "buffer a", "variable table", "the block's shared
  /// memory"; that of the texture or surface whose handle it is; empty: none is near.
  std::string memory;
  std::uint64_t memory_bytes = 0;
  std::int64_t offset = 0;  ///< of the address from that memory's first byte; 0 with coordinates
  /// Of an access to an image: the texel of a row, or the byte of a surface's row, and which row.
  std::optional<std::array<std::int32_t, 2>> coordinates;
  std::optional<std::uint32_t> slice;  ///< likewise, of a volume or an array: of which slice or layer
};

/// "12 bytes past the end of buffer a", "at texel 3 of row 2 of the texture of 8 by 8 elements in buffer t";
/// empty where no memory is near.
WARPLINE_PUBLIC [[nodiscard]] std::string distance_text(const FaultRecord& fault);
/// "a load of 4 bytes"; empty where it is no access of memory.
WARPLINE_PUBLIC [[nodiscard]] std::string access_text(const FaultRecord& fault);

/// More threads than this have nothing to do: a window of time has not enough work for them.
inline constexpr unsigned kMostThreads = 64;

/// How a run is to be carried out.
struct WARPLINE_PUBLIC RunOptions {
  /// Makes hops and runs the engine; null: port to port, in plain C++.
  std::shared_ptr<NetlistBackend> backend;
  bool tags_only = false;               ///< no data anywhere: addresses and time only
  TickMode tick_mode = TickMode::lazy;  ///< of the plain engine; a backend has its own
  std::uint64_t seed = 1;
  Cycle max_cycles = kNever;
  /// Threads of the host that run the hardware, this one among them, where why_one_thread() does not say that
  /// they cannot; up to kMostThreads. Whatever their number, results are the same.
  unsigned threads = 1;
  /// Other processes that run the platform with this one, where why_no_ranks() does not say that they cannot:
  /// each makes the same platform, calls the same of its functions in the same order with the same arguments,
  /// and gets the same from them; and runs the hardware of some GPUs. Null: there are none. An ExchangeError
  /// leaves any function where another process is gone, or does something else.
  std::shared_ptr<Exchange> exchange;
  /// Seed by which the hardware's freedom in time is drawn anew before every launch (see Jitter).
  /// Nothing: queues are empty but for the run's own messages.
  std::optional<std::uint64_t> jitter;
  bool loose = false;       ///< requests are loosely timed from the start
  bool functional = false;  ///< see GpuPlatform::set_functional
  /// The software that uses the GPUs is this process: nothing else of it has the addresses of buffers, and
  /// allocate_shared() gives it memory that it shares with kernels.
  bool in_process = false;
  /// Accesses a little out of a buffer go through, as on GPUs, which map whole pages (of 2 MiB): in pages of
  /// video memory that hold some buffer. take_slack_used() tells of them. Otherwise they are faults, to the
  /// byte.
  bool page_slack = false;
};

/// How a launch ended.
struct WARPLINE_PUBLIC LaunchResult {
  RunOutcome outcome = RunOutcome::quiescent;
  Cycle cycles = 0;       ///< from its start until the netlist was quiescent
  Standstill standstill;  ///< of a run that did not end quiescent
};

/// The GPUs of a platform, config.gpus of them, and the driver's part in running kernels on them: memory,
/// address space, constant banks, launches, cache maintenance between grids.
class WARPLINE_PUBLIC GpuPlatform {
 public:
  /// Pre: config.problems() is empty; options.tags_only only without config.pcie_system.peers; with
  /// options.exchange, why_no_ranks() is empty.
  GpuPlatform(const GpuConfig& config, const RunOptions& options);
  ~GpuPlatform();

  /// Why such a platform cannot be run by the ranks of options.exchange together, half a sentence: "requests
  /// are not timed"; empty: it can. Then it is not attached to, saved, restored or reset, nor loosely timed.
  [[nodiscard]] static std::string why_no_ranks(const GpuConfig& config, const RunOptions& options);
  /// Makes the hardware now instead of at the first launch: for a driver whose world must be complete before
  /// time passes in it, as SystemC's must. A platform that is to map_everything() does so before.
  void build();
  /// Reserves `bytes` in an aperture, 256-byte aligned, mapped exactly, and counted under
  /// `buffer.NAME` if `name` is not empty. Video memory is that of GPU `gpu`, and mapped on this one only
  /// (see map_bus_at); system and peer memory is mapped on all. Returns its virtual address, or 0 if the
  /// memory is full.
  std::uint64_t allocate(const std::string& name, std::uint64_t bytes, Aperture aperture = Aperture::vidmem,
                         unsigned gpu = 0);
  /// The same of video memory, without a name, for programs whose addresses have 32 bits: it lies from
  /// config.wls_window on, or where allocate() would put it if that is 0. Returns 0 also if there is no room
  /// below 4 GiB.
  std::uint64_t allocate_below_4g(std::uint64_t bytes, unsigned gpu = 0);
  /// Reserves `bytes` of video memory of GPU `gpu`, or of system memory, as memory that this process has too:
  /// the address that kernels use is a pointer to the same bytes, without any copy. Returns 0 if the memory
  /// is full. Pre: RunOptions::in_process. What the host writes in system memory reaches a grid that runs as
  /// from another processor; in video memory it is to write between grids only.
  std::uint64_t allocate_shared(std::uint64_t bytes, Aperture aperture = Aperture::vidmem, unsigned gpu = 0);
  /// Shares pages of this process with kernels, which reach them at the same address from now on, as system
  /// memory; unshare() ends that, and the pages keep what they have by then. False: the system memory is
  /// full; no such pages are shared. Pre: RunOptions::in_process; whole pages that can be written, not shared
  /// yet, and that no other thread writes during the call; likewise no run is under way.
  [[nodiscard]] bool share(std::uint64_t address, std::uint64_t bytes);
  bool unshare(std::uint64_t address);
  /// Gives back what allocate() or allocate_shared() returned: a kernel's access of it is a fault from now
  /// on, until a later allocate() gives it to somebody else. Its bytes stay until then. False: no such
  /// address is allocated. Pre: no run is under way; the address is none of map() and allocate_below_4g().
  bool free(std::uint64_t address);
  /// Reserves `bytes` of video memory of a GPU that get no address; nothing: it is full. They get addresses
  /// by map_at(), one or several, and go back by free_unmapped() with the same arguments.
  std::optional<PhysicalAddress> allocate_unmapped(std::uint64_t bytes, unsigned gpu = 0);
  void free_unmapped(PhysicalAddress physical, std::uint64_t bytes, unsigned gpu = 0);
  /// Has a GPU's programs see `bytes` bytes of its memory at an address, which is a multiple of 256 and at
  /// which nothing is mapped; unmap() takes that away again, and is false if nothing was mapped from there
  /// on. Pre: no run is under way.
  void map_at(std::uint64_t address, std::uint64_t bytes, PhysicalAddress physical, unsigned gpu = 0);
  bool unmap(std::uint64_t address, unsigned gpu = 0);
  /// Has a GPU's programs see, at such an address, `bytes` bytes of what lies on the bus at `bus` and on, a
  /// multiple of 256, of a platform with a host: memory of another GPU, behind its BAR, which so has one
  /// address for both. It is as map() maps plain memory, or if `is_memory` is false, as what is not
  /// prefetchable. unmap() takes it away, and so does free() of memory
  /// that begins at the address. Pre: as map_at().
  void map_bus_at(std::uint64_t address, std::uint64_t bytes, std::uint64_t bus, unsigned gpu,
                  bool is_memory = true);
  /// Bytes of a GPU's video memory that nobody has; a single buffer may find no room for as many.
  [[nodiscard]] std::uint64_t free_bytes(unsigned gpu = 0) const;
  /// Maps, on all GPUs, system memory (Aperture::sysmem) that host software has reserved, or what a device's
  /// BAR has on the bus (Aperture::peer), of a platform with a host: `offset` is the physical address, or the
  /// address on the bus. Returns its virtual address. Of a device, a load that no cache may keep
  /// (`.volatile`, `.relaxed` beyond the CTA and so on) reads the bytes it asks for, others whole sectors. Of
  /// one that is not `prefetchable`, every load and store is a transaction of its own for each lane, in size
  /// and order, as if it were `.mmio`, and no cache keeps it. Pre: `offset` is a multiple of 256, and `bytes`
  /// is not 0.
  std::uint64_t map(Aperture aperture, std::uint64_t offset, std::uint64_t bytes, bool prefetchable = true);
  /// Binds memory of several GPUs to one address, by which `multimem` instructions reach all of it at once:
  /// `replicas` are addresses of allocate(), of `bytes` bytes or more each in the video memory of a GPU of
  /// its own; `name`: as fault records have it. Returns the address of the multicast object, which is mapped
  /// on the GPUs that have a replica, and which nothing but `multimem` may access. Pre: config.gpu_switch has
  /// a switch; no run is under way; `bytes` is not 0.
  std::uint64_t bind_multicast(const std::string& name, std::uint64_t bytes,
                               const std::vector<std::uint64_t>& replicas);
  /// What fault records call the memory that begins at an address of allocate(), allocate_below_4g() or
  /// map(), in place of "buffer NAME", or of the address where it has no name.
  void name_memory(std::uint64_t address, const std::string& name);
  /// The same of `bytes` bytes of a GPU's constant memory, from a constant address on.
  void name_constant(std::uint64_t address, std::uint64_t bytes, const std::string& name, unsigned gpu = 0);
  /// Where what a program of a GPU sees at an address lies; nothing if nothing is mapped there, or a
  /// multicast object, which lies in several places. Behind a root complex, the offset in video memory is
  /// that in the GPU's BAR.
  [[nodiscard]] std::optional<PhysicalAddress> physical_of(std::uint64_t address, unsigned gpu = 0) const;
  /// The lowest address outside of all buffers that programs of a GPU have accessed since the call before; 0:
  /// none. See RunOptions::page_slack.
  [[nodiscard]] std::uint64_t take_slack_used(unsigned gpu = 0);
  /// Makes a texture or surface of memory that is allocated. Returns the handle by which programs name it,
  /// which is the same for an image that is there already, unless it is to be `distinct`.
  std::uint64_t add_image(const Image& image, bool distinct = false);
  /// Takes a texture or surface away, by its handle: from now on an access by it is a fault. Pre: no run is
  /// under way. False: no image has that handle.
  bool remove_image(std::uint64_t handle);
  /// Maps every address, for traces and generators. Makes the platform tags-only.
  void map_everything();
  /// Host access to global memory by virtual address, without side effect on caches or counters.
  /// Pre: no run is under way; the range is mapped, by one or by several mappings.
  void write(std::uint64_t address, const void* bytes, std::size_t count);
  void read(std::uint64_t address, void* bytes, std::size_t count) const;
  /// Has the L2 of a GPU keep what was written there, as a copy engine's writes leave it: whole lines of
  /// video memory, of the last ones as many as it holds; none for whose room something else would have to be
  /// written back. Pre: no run is under way; the range is mapped.
  void leave_in_l2(std::uint64_t address, std::uint64_t count, unsigned gpu = 0);
  /// Host access to a GPU's constant memory by constant address ((bank << 16) + byte).
  void write_constant(std::uint64_t address, const void* bytes, std::size_t count, unsigned gpu = 0);

  /// Lays a kernel's code into a GPU's video memory, if it is not there yet. launch() does so itself; who
  /// means to run several kernels loads all of them first, so that refusals() knows how much room they leave
  /// to each other. What does not fit is left out, and refused.
  void load(const KernelInfo& info, unsigned gpu = 0);
  /// Why this GPU cannot run a kernel of this shape (too many threads, too much shared memory), or nothing.
  [[nodiscard]] std::vector<std::string> refusals(const KernelInfo& info, unsigned gpu = 0) const;
  /// A device at the far end of the links, whose bus can be watched: the memory of config.peer_bytes, or once
  /// build() has made them, those of config.pcie_system.peers; null: there is no such one.
  [[nodiscard]] FarDevice* peer(unsigned i = 0);
  /// The host's PCI Express, made by build(); null: there is none. Whoever plays the host (HostMachine)
  /// drives time, too, from start() to finish().
  [[nodiscard]] PcieSystem* pcie();
  /// The registers by which a driver has a GPU's caches invalidated between dependent grids.
  [[nodiscard]] CacheRegisters& registers(unsigned gpu = 0);
  /// Runs a kernel on GPU 0 to the end. Pre: refusals() is empty. Throws InputError if a trace turns out to
  /// be unusable.
  LaunchResult launch(Kernel& kernel, bool invalidate_l1 = true) {
    return launch({GridLaunch{&kernel, 0, invalidate_l1}});
  }
  /// Room for the constants of so many dependent grids on a GPU. False: there is not.
  [[nodiscard]] bool reserve_dependents(unsigned count, unsigned gpu = 0);
  /// Runs grids on several GPUs at the same time, to the end of all. Pre: one on each GPU, or several of
  /// which all but the first depend on the one before, with data, and with room for them
  /// (reserve_dependents); refusals() are empty.
  LaunchResult launch(const std::vector<GridLaunch>& grids);
  /// The same in steps: starts the grids, and no time passes. It does in finish(), or before that as far as
  /// the caller, who plays the host, lets it. Other GPUs may have grids under way, but not with jitter. With
  /// that, what host and devices have under way is completed first, as time is drawn anew when nothing moves;
  /// what does not end leaves it as it was, and finish() says so. Pre: nothing that was started on these GPUs
  /// is unfinished.
  void start(const std::vector<GridLaunch>& grids);
  /// Whether any CTA of the grids that were started has yet to end.
  [[nodiscard]] bool running() const;
  /// Runs to the end of what was started.
  LaunchResult finish();
  /// The same of the grids of one GPU, for who lets time pass himself, and has other things under way: to be
  /// called between cycles, as soon as can_finish() and again and again. Nothing: they have not ended, or
  /// what they wrote is not yet where all see it. Pre: some were started on it.
  std::optional<LaunchResult> try_finish(unsigned gpu);
  /// Whether try_finish() would do anything. Pre: likewise.
  [[nodiscard]] bool can_finish(unsigned gpu);
  /// Switches between loosely timed requests ("lt") and timed ones; caches stay as they are. Pre: no run is
  /// under way.
  void set_loose(bool loose);
  [[nodiscard]] bool is_loose() const;
  /// Whether what is loosely timed runs functionally ("functional"): warps issue many instructions at a time,
  /// accesses of video memory go past all caches, and nothing takes time, so that counters of caches and
  /// cycles say nothing of it. Results are those of some order in time, as always, but for what only caches
  /// show: lines that CCTL RS drops, or that a launch leaves in L1. Where L2 or DRAM is somebody else's, it
  /// is loosely timed all the same. Pre: no run is under way; not RunOptions::tags_only.
  void set_functional(bool functional);
  /// Resets the hardware, at any time: grids that were started end where they are, and finish() is not called
  /// for them; what is in flight comes back; then caches are empty and what they owed memory is lost, open
  /// rows are closed, devices and bridges are as at power on. Memory, what is allocated and mapped, counters
  /// and time go on. A fault: something in flight does not come back, as a foreign module keeps it.
  [[nodiscard]] Diagnostics reset();
  /// Writes a checkpoint: memory, caches, devices, what is allocated and mapped, counters and the time.
  /// `note`: the caller's own, which Checkpoint::note() hands back. Not in it are what is attached, software
  /// of a host (a device's registers, queues and memory are), and foreign modules. Faults, and then `out` is
  /// no checkpoint: a run is under way, L2 or DRAM is somebody else's, `out` takes no more.
  [[nodiscard]] Diagnostics save(std::ostream& out, std::string_view note = {});
  /// Makes the platform what the saved one was, whichever carriers either has: it goes on as that one would
  /// have, in every cycle and every counter. Faults, and then nothing has changed: the checkpoint is of
  /// another configuration (each key that differs), a run is under way, L2 or DRAM is somebody else's. A
  /// platform that is to map_everything() does so before.
  [[nodiscard]] Diagnostics restore(const Checkpoint& checkpoint);
  /// What comes is a run of its own on the machine as it is: it gives up `max_cycles` cycles from now, and
  /// what faults() and unmapped_control() tell is its own.
  void begin_run(Cycle max_cycles = kNever);
  /// What faults() and unmapped_control() tell of a GPU is from now on.
  void forget_faults(unsigned gpu);
  /// What the process knows that runs a GPU (RunOptions::exchange), of which this one knows `here`: such as
  /// what a kernel's source of instructions keeps. Where there are no others, `here`.
  [[nodiscard]] std::string known_where(unsigned gpu, std::string here) const;
  /// Called about every `cycles` cycles with the fraction of CTAs done; returning false stops the run.
  void on_progress(Cycle cycles, std::function<bool(double)> callback);
  /// Has it called no later than when cycle `cycle` is over, or the first after it in which anything happens:
  /// all up to there has happened then, and nothing beyond. Asked for by the callback, or between launches.
  void report_progress_at(Cycle cycle);
  /// Ends the grids that are under way: their warps stop where they are, and launch() returns when what they
  /// have asked for is done. To be called by the callback of on_progress(), or by who lets time pass between
  /// cycles. `gpu`: those of one alone.
  void end_grids(std::optional<unsigned> gpu = std::nullopt);

  /// Attaches what hears of all launches from now on, and keeps it. Returns it.
  template <class A>
  A& attach(std::unique_ptr<A> attachment) {
    A& attached = *attachment;
    keep(std::move(attachment));
    return attached;
  }
  /// A host did `what` from cycle `first` until `last`, as line `where` of its program says: what is attached
  /// is told.
  void host_did(const std::string& what, const std::string& where, Cycle first, Cycle last);
  /// What a platform consists of, for what is attached to it. Pre of system(): it is built.
  [[nodiscard]] System& system();
  [[nodiscard]] GpuMemories& memory();
  [[nodiscard]] NetlistBackend& backend();
  /// Whether memory has bytes: it is not tags-only.
  [[nodiscard]] bool has_data() const;
  /// Why RunOptions::threads does nothing for what is timed, as things stand, half a sentence: "requests are
  /// loosely timed"; empty: it does something, or is 1.
  [[nodiscard]] std::string why_one_thread();
  /// Every request in flight, where it is and what it waits for, and all other waits. Callable between
  /// launches and in the progress callback, where a run pauses.
  [[nodiscard]] Standstill standstill() const;
  /// The requests alone, oldest first.
  [[nodiscard]] std::vector<InFlight> in_flight() const { return standstill().in_flight; }

  [[nodiscard]] const GpuConfig& config() const;
  [[nodiscard]] Cycle now() const;
  /// The clock that counts cycles, the fastest of all.
  [[nodiscard]] unsigned fastest_mhz() const;
  /// The time of `cycles` cycles, nanoseconds.
  [[nodiscard]] double time_ns(Cycle cycles) const;
  /// The first 1000 of each SM, oldest first; of one cycle by GPU and SM, in the order in which the SM met
  /// them. `gpu`: those of one alone.
  [[nodiscard]] std::vector<FaultRecord> faults(std::optional<unsigned> gpu = std::nullopt) const;
  /// A CCTL of an address that is not mapped does nothing. The first one of the SM that comes first, by GPU
  /// and number; nothing: there was none.
  [[nodiscard]] std::optional<FaultRecord> unmapped_control() const;
  /// Every counter of every block, per instance.
  void visit(CounterVisitor& visitor) const;
  /// Each sum between and within levels that does not hold, as a sentence. Pre: quiescent.
  [[nodiscard]] std::vector<std::string> unreconciled() const;

 private:
  void keep(std::unique_ptr<Attachment> attachment);

  struct WARPLINE_INTERNAL State;
  std::unique_ptr<State> state_;
};

}  // namespace warpline
