#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "rtl_models/pcie/packets/bus_range.h"
#include "rtl_models/pcie/packets/link_parameters.h"
#include "rtl_models/pcie/packets/refused_access.h"
#include "rtl_models/pcie/packets/tlp.h"
#include "rtl_models/pcie/root_complex/iommu.h"
#include "rtl_models/pcie/root_complex/outside_memory.h"
#include "rtl_models/pcie/root_complex/root_complex_parameters.h"
#include "rtl_models/sim/memory_image.h"

namespace warpline {

/// Where a packet goes from the root complex.
struct TlpRoute {
  enum class To : std::uint8_t {
    memory,
    interrupts,   ///< a message for the host
    port,         ///< the link to device `port`, or where that is kHost, to the host
    unsupported,  ///< nobody has the address, or the link is down
    refused,      ///< the IOMMU forbids it
    dropped,      ///< malformed, or a completion for nobody
  };
  To to = To::unsupported;
  unsigned port = 0;
};

/// What went through a root complex.
struct RootComplexCounters {
  std::uint64_t memory_reads = 0;
  std::uint64_t memory_writes = 0;
  std::uint64_t memory_atomics = 0;
  std::uint64_t to_devices = 0;
  std::uint64_t to_host = 0;
  std::uint64_t peer_to_peer = 0;
  std::uint64_t interrupts = 0;
  std::uint64_t unsupported = 0;
  std::uint64_t refused = 0;
  std::uint64_t dropped = 0;
  std::uint64_t no_snoop = 0;

  template <class F>
  void visit(F&& f) const {
    f("memory_reads", memory_reads, "packets", "reads of system memory by devices");
    f("memory_writes", memory_writes, "packets", "writes of system memory by devices");
    f("memory_atomics", memory_atomics, "packets", "atomics on system memory by devices");
    f("to_devices", to_devices, "packets", "sent on to devices, by the host and by each other");
    f("to_host", to_host, "packets", "completions for the host");
    f("peer_to_peer", peer_to_peer, "packets", "of those to devices, requests of other devices");
    f("interrupts", interrupts, "packets", "interrupt messages");
    f("unsupported", unsupported, "packets", "for an address that nobody has, or a link that is down");
    f("refused", refused, "packets", "that the IOMMU forbade");
    f("dropped", dropped, "packets", "malformed, or completions for nobody");
    f("no_snoop", no_snoop, "packets", "of those for system memory, that say that no cache need be asked");
  }
};

/// What a root complex does, without time: routing, translation, and the effect on system memory.
///
/// Root port i leads to the device of bus i + 1; the host is bus 0. Memory requests of devices go through the
/// IOMMU. What they name then, and what the host names as it is, is system memory from 0 on, the interrupt
/// window, or a window of a root port. Poisoned writes to memory are dropped whole, as if they had not been,
/// and poisoned atomics are answered as unsupported.
///
/// With an OutsideMemory that says where requests of devices lead, but for interrupts; the host's go on as
/// they do. What a function writes into that window itself is no interrupt then: it may be the machine's
/// memory.
class RootComplexCore {
 public:
  /// The port that stands for the host in routes.
  static constexpr unsigned kHost = ~0U;
  /// Posted writes to this window are interrupts. It lies above any system memory.
  static constexpr std::uint64_t kInterruptWindow = warpline::kInterruptWindow;
  static constexpr std::uint64_t kInterruptWindowBytes = std::uint64_t{1} << 20U;

  /// System memory and pool outlive it. Pre: nothing has problems.
  RootComplexCore(TlpPool& pool, const RootComplexParameters& parameters, MemoryImage& sysmem,
                  const std::vector<LinkParameters>& links);

  [[nodiscard]] static FunctionId id_of(unsigned port) { return function_id(port + 1, 0, 0); }
  [[nodiscard]] unsigned ports() const { return static_cast<unsigned>(ports_.size()); }
  /// Like a bridge a root port has two windows: one for BARs of 32 bits, below 4 GiB, and one for those
  /// of 64.
  enum class Window : std::uint8_t { narrow, wide };
  /// Addresses that are forwarded to root port i, whole pages; `bytes` 0: none. False, and nothing changes:
  /// they begin or end within a page, or reach past the end of what the window is for, or into system memory,
  /// the interrupt window, or a window of any port.
  [[nodiscard]] bool set_window(unsigned i, Window window, std::uint64_t base, std::uint64_t bytes);
  /// Whether the link of root port i is up.
  [[nodiscard]] bool up(unsigned i) const { return ports_[i].up; }
  void set_up(unsigned i, bool up) {
    ports_[i].up = up;
    if (!up) ++ports_[i].downs;
  }
  /// How often the link of root port i has gone down, and the host's, which never does.
  [[nodiscard]] std::uint64_t downs(unsigned i) const { return i == kHost ? 0 : ports_[i].downs; }
  /// Windows and IOMMU are as at first; links stay up or down.
  void restart() {
    for (Port& p : ports_) p.windows = {};
    iommu_.restart();
  }
  [[nodiscard]] Iommu& iommu() { return iommu_; }
  /// Devices reach memory outside of the model from now on. It lives as long. Pre: nothing is under way.
  void reach_outside(OutsideMemory& memory) { outside_ = &memory; }
  [[nodiscard]] bool reaches_outside() const { return outside_ != nullptr; }

  /// Where a packet that came over `from` goes; counts it. The address of a memory request is the physical
  /// one afterwards. A completion whose request went out before one of the two links was last down is for
  /// nobody: whoever made it, or is to answer it, has been reset since.
  [[nodiscard]] TlpRoute route(unsigned from, Tlp& tlp, Cycle now);
  /// The channel of system memory that has an address.
  [[nodiscard]] unsigned channel_of(std::uint64_t address) const {
    return static_cast<unsigned>(address / Iommu::kPage % parameters_.memory_channels);
  }
  /// The effect on memory. Afterwards `tlp.data` of a read or an atomic that is successful is the answer.
  /// Nothing: memory outside has it under way, where `may_wait`.
  [[nodiscard]] std::optional<CompletionStatus> perform(Tlp& tlp, bool may_wait, Cycle now);
  /// Notes what became of an access of memory outside.
  void note_outside(const Tlp& tlp, CompletionStatus status, Cycle now);
  /// The completions of a request that came over `from`, and was answered with `status`; for a successful one
  /// its data is the answer. The request is released; one that is posted has none.
  void complete(unsigned from, Tlp* request, CompletionStatus status, std::vector<Tlp*>& completions);

  /// Accesses of functions behind the root ports that were refused: the first kRefusals of them, and how many
  /// there were.
  static constexpr std::size_t kRefusals = 1000;
  [[nodiscard]] const std::vector<RefusedAccess>& refused() const { return refused_; }
  [[nodiscard]] std::uint64_t refusals() const { return refusals_; }
  /// Notes what became of an access that was performed loosely timed by the device at port `to`.
  void note_loose_refusal(unsigned from, unsigned to, const Tlp& tlp, Cycle now);
  [[nodiscard]] const RootComplexCounters& counters() const { return counters_; }
  template <class Archive>
  void archive(Archive& a) {
    a.same(ports_.size(), "root ports");
    for (Port& p : ports_) a(p.up, p.downs, p.windows);
    a(iommu_, counters_, refused_, refusals_);
  }
  [[nodiscard]] const RootComplexParameters& parameters() const { return parameters_; }
  [[nodiscard]] TlpPool& pool() { return pool_; }

 private:
  static constexpr BusRange kInterrupts{kInterruptWindow, kInterruptWindowBytes};
  struct Port {
    LinkParameters link;
    bool up = true;
    std::uint64_t downs = 0;
    std::array<BusRange, 2> windows{};
  };
  /// Numbers the times between two ports in which no link was down: as neither count ever falls, their sum
  /// is the same only while both are.
  [[nodiscard]] std::uint64_t epoch_between(unsigned a, unsigned b) const { return downs(a) + downs(b); }
  [[nodiscard]] TlpRoute route_request(unsigned from, Tlp& tlp, Cycle now);
  [[nodiscard]] TlpRoute route_outside(unsigned from, Tlp& tlp) const;
  void note_refusal(unsigned from, const Tlp& tlp, const TlpRoute& route, Cycle now);
  void note(const RefusedAccess& access) {
    if (refusals_++ < kRefusals) refused_.push_back(access);
  }
  [[nodiscard]] TlpRoute route_by_bus(FunctionId id) const;
  [[nodiscard]] TlpRoute route_by_address(unsigned from, const Tlp& tlp) const;

  TlpPool& pool_;
  RootComplexParameters parameters_;
  MemoryImage& sysmem_;
  OutsideMemory* outside_ = nullptr;  ///< null: there is none
  Iommu iommu_;
  std::vector<Port> ports_;
  RootComplexCounters counters_;
  std::vector<RefusedAccess> refused_;
  std::uint64_t refusals_ = 0;
};

}  // namespace warpline
