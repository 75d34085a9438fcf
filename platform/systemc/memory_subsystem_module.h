#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <systemc>
#include <tlm>
#include <vector>

#include "platform/systemc/cache_registers_module.h"
#include "platform/systemc/hop_hardware_module.h"
#include "platform/systemc/interposer_module.h"
#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/tlm/engine_module.h"

namespace warpline {

class Checkpoint;

/// What a memory subsystem is made of.
struct WARPLINE_PUBLIC MemorySubsystemOptions {
  std::string gpu = "mini";           ///< a preset, or the path of a GPU file
  std::vector<std::string> settings;  ///< keys of it to change, as `--set` does: "l2.slices=2"
  unsigned devices = 0;               ///< sockets from_device: requesters that have no L1
  /// Puts modules of one's own into hops within: L1 to crossbar ("crossbar.from_client[0]"), crossbar to L2
  /// ("l2[0].from_crossbar"), L2 to DRAM ("dram[0].from_l2[0]") and to the link ("pcie.from_l2[0]").
  Interposer interpose = {};
  /// How it ends the responses of foreign modules that are in its hops.
  EndResponse end_response = EndResponse::by_call;
  /// Opens hops within for hardware of one's own, by the same names.
  std::vector<HopOpening> open_hops = {};
};

/// The memory subsystem of a GPU without its SMs, for a platform of anyone's: L1 caches, crossbar, L2 slices,
/// DRAM and PCIe link with data and time, behind standard TLM-2.0 target sockets (base protocol, 256 bits).
///
/// Sockets
/// - from_sm_N, as many as the GPU has SMs (key `sms`): the L1 local/global cache of SM N. As on hardware an
///   L1 does not see what goes past it: what it holds may be stale until invalidate_l1().
/// - from_device_N: the crossbar. L2 is the point of coherence of all these.
/// - from_host: the registers by which a driver has the L1 caches invalidated (CacheRegisters); 32 bits.
/// All must be bound but from_host: what a platform has no use for, to an IdleInitiator.
///
/// Payloads: a read or write of bytes within one aligned 128-byte line, byte enables allowed; no streaming.
/// What cannot be is answered with TLM's response status for it: a line crossed TLM_BURST_ERROR_RESPONSE, an
/// address beyond a memory TLM_ADDRESS_ERROR_RESPONSE (counted: from_sm[N].address_errors and
/// from_device[N].address_errors), any other command TLM_COMMAND_ERROR_RESPONSE. Accesses are weak: two in
/// flight to the same line may change places unless they came by one socket.
///
/// Time: timed, with contention, whether an access comes by nb_transport or by b_transport: that takes its
/// turn among the others, and its thread waits for the answer; initiators of both kinds may be side by side,
/// at one socket, too. A thread that is ahead of time by the delay it hands over waits for that first.
/// set_loose() is for platforms without timed initiators. Debug access reads and writes the newest bytes that
/// an access by the socket could see, dirty or not, those of writes that have been answered and are on their
/// way, too; it disturbs nothing and counts nowhere.
///
/// Addresses: video memory from 0, system memory behind the link from kSystemMemory.
///
/// Parameters: the keys of its GPU under its name, for ParameterBroker.
///
/// Mistakes of the other side of a socket are SystemC error reports that name the socket.
class WARPLINE_PUBLIC MemorySubsystemModule final : public sc_core::sc_module {
 public:
  using Socket = tlm::tlm_target_socket<256>;
  static constexpr std::uint64_t kSystemMemory = std::uint64_t{2} << 60U;

  /// Throws std::invalid_argument with every fault of `options`: an unknown preset or key, a broken rule;
  /// a hop that is given one socket only, or is opened twice or besides; a pattern that fits no hop.
  explicit MemorySubsystemModule(const sc_core::sc_module_name& name,
                                 const MemorySubsystemOptions& options = {});
  ~MemorySubsystemModule() override;

  /// Both throw std::out_of_range where there is no such socket.
  [[nodiscard]] Socket& from_sm(unsigned i);
  [[nodiscard]] Socket& from_device(unsigned i);
  [[nodiscard]] CacheRegistersTarget::Socket& from_host();
  /// How many sockets face SMs, and how many devices.
  [[nodiscard]] unsigned sms() const;
  [[nodiscard]] unsigned devices() const;

  /// Sizes, bytes.
  [[nodiscard]] std::uint64_t video_memory_bytes() const;
  [[nodiscard]] std::uint64_t system_memory_bytes() const;

  /// Says whether all accesses to come are loosely timed: b_transport then performs an access on the same
  /// caches in one call, with the latencies of idle hardware added to its delay, and from_device grants all
  /// of video memory as a pointer; from_sm never grants it, as what the L1 holds may be stale. False, as at
  /// first: accesses are timed, and the pointer is withdrawn. Pre: idle().
  void set_loose(bool loose);
  /// Whether no request is in flight.
  [[nodiscard]] bool idle() const;
  /// Drops what the L1 caches hold, as a driver does between kernels by the register INVALIDATE. Nothing is
  /// lost: they write through. Pre: idle().
  void invalidate_l1();

  /// Resets all of it, at any time: what is in flight, and what comes before that is through, is answered
  /// with TLM_GENERIC_ERROR_RESPONSE; then caches are empty, and what system memory was owed is lost. Memory,
  /// counters and time go on.
  void reset();
  /// Whether a reset still waits for what is in flight.
  [[nodiscard]] bool resetting() const;
  /// Saves and restores all of it, and the module goes on in every cycle as the one that was saved would
  /// have: see GpuPlatform::save() and restore(). Faults, and nothing has changed: it is not idle(), or the
  /// checkpoint does not fit. Pre of both: the simulation has started.
  [[nodiscard]] Diagnostics save(std::ostream& out, std::string_view note = {});
  [[nodiscard]] Diagnostics restore(const Checkpoint& checkpoint);

  /// Every counter by its path: `l2[0].sector_hits` of one block, `l2.sector_hits` of all of them.
  [[nodiscard]] std::map<std::string, std::uint64_t> counters() const;
  /// What was looked up, hit and moved, as a table of at most 80 columns.
  void report(std::ostream& out) const;
  /// Who waits for what, a sentence each: why a simulation that should go on does not.
  [[nodiscard]] std::vector<std::string> waits() const;

 private:
  void start_of_simulation() override;
  struct WARPLINE_INTERNAL State;
  std::unique_ptr<State> state_;
};

}  // namespace warpline
