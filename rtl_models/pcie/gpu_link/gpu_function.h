#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "rtl_models/pcie/gpu_link/gpu_registers.h"
#include "rtl_models/pcie/packets/endpoint_core.h"
#include "rtl_models/pcie/packets/far_device.h"
#include "rtl_models/pcie/packets/tlp_port.h"

namespace warpline {

/// A GPU as a PCI Express function, where its link meets the root complex: sends packets of the link's to
/// devices, and takes requests for video memory.
///
/// Packets leave in the order in which they are asked for; one that finds no tag keeps back what comes after
/// it. If the function may make no requests, as software has not allowed it to, or is reset, they are
/// answered as unsupported.
///
/// BAR 0, if it has one, is 64-bit, prefetchable, the offset in it the offset in video memory. What asks for
/// bytes beyond the end of that is unsupported; other requests for it are for the link to take on. With
/// registers (GpuRegisters) it has BARs 2 and 4 besides, whose requests the link takes on, too, and which
/// are watched as those of a device. Its interrupts come behind what was asked of it before.
class GpuFunction final : public LooseTlpTarget, public FarDevice {
 public:
  static constexpr unsigned kMemoryBar = 0;
  /// Video memory as it is seen from outside.
  struct Memory {
    std::uint64_t bar_bytes = 0;    ///< size of the BAR; 0: there is none
    std::uint64_t bytes = 0;        ///< of video memory
    bool registers = false;         ///< whether there are registers; only where there is that BAR
    std::uint64_t log_entries = 0;  ///< of the log of accesses to them
  };
  /// What its configuration space says of it.
  [[nodiscard]] static FunctionDescription description(const Memory& memory);

  /// The pool outlives it. Pre: the parameters have no problems.
  GpuFunction(Component& link, TlpPool& pool, FunctionId id, const LinkParameters& parameters,
              const Memory& memory);

  [[nodiscard]] TlpPort& to_root() { return port_; }
  /// Who performs what is loosely timed.
  void perform_by(LooseTlpTarget& root) { root_ = &root; }
  /// Null: it has none.
  [[nodiscard]] GpuRegisters* registers() { return registers_ ? &*registers_ : nullptr; }
  [[nodiscard]] const GpuRegisters* registers() const { return registers_ ? &*registers_ : nullptr; }
  /// Performs a request for a BAR other than that of video memory, which is at the GPU now. Pre: there are
  /// registers.
  void access(const BarHit& where, Tlp& tlp, Cycle now) {
    const BusAccess access = registers_->perform(where, tlp, now);
    if (is_watched()) arrived(access);
  }
  /// Hot reset by the link: as it was built; what was under way is forgotten here, and answered to the GPU.
  /// The root complex is told by RootComplex::reset_link().
  void hot_reset();
  /// Who performs requests for its BARs that are loosely timed. Lives as long.
  class LooseMemory {
   public:
    /// Performs a packet that is at the far end of the link in cycle `at`. On return `at` is the cycle in
    /// which its answer is back there, and `tlp.data` of a request that reads is the answer.
    virtual void perform_inbound(Tlp& tlp, const BarHit& where, Cycle& at) = 0;

   protected:
    ~LooseMemory() = default;
  };
  void perform_by(LooseMemory& memory) { loose_memory_ = &memory; }

  /// Queues a packet for a device, and takes ownership of it. A read or an atomic is answered by parts() with
  /// its cookie; a read of 0 bytes is answered when the writes before it have arrived. Pre: it concerns at
  /// most one line.
  void ask(Tlp* packet) { waiting_.push_back(packet); }
  /// Answers, or parts of them, that have come, oldest first.
  [[nodiscard]] std::deque<ReadPart>& parts() { return parts_; }

  /// How many requests for BARs may be taken now, by class: others stay at the end of the link, and
  /// what must stay behind them.
  struct Room {
    unsigned posted = 0, non_posted = 0;
  };
  /// Takes what has come and makes what can be made. Part of the link's tick; transmit() ends it.
  void exchange(Cycle now, Room room);
  /// Requests for BARs that were taken: the caller's, and for complete() in the end.
  [[nodiscard]] std::deque<EndpointCore::BarRequest>& claimed() { return claimed_; }
  /// Such a request is done: answers it with its data, or aborts it, as its `status` says. It is released.
  void complete(Tlp* request) {
    if (request->status != CompletionStatus::successful) return endpoint_.abort(request);
    if (request->posted()) return pool_.release(request);
    endpoint_.complete(request, CompletionStatus::successful, request->data.data());
  }
  /// Puts packets on the wire. Returns when there is more to do; kNever: not before something comes.
  [[nodiscard]] Cycle transmit(Cycle now);
  /// Has all that is asked for performed, loosely timed. `at`: afterwards when the last answer is there.
  void exchange_loosely(Cycle& at);
  /// A configuration request, or one for video memory.
  void perform(Tlp& tlp, Cycle& at) override;

  template <class Archive>
  void archive(Archive& a) {
    // Pre: not busy().
    a(endpoint_, port_, counters_);
    a.same(registers_.has_value(), "blocks of registers of a GPU");
    if (registers_) registers_->archive(a);
  }
  /// As software finds it at first. Pre: not busy().
  void restart() {
    endpoint_.reset();
    if (registers_) registers_->power_on();
  }
  [[nodiscard]] bool busy() const { return !waiting_.empty() || port_.busy(); }
  void explain(std::vector<Wait>& waits) const { port_.explain(waits); }
  [[nodiscard]] EndpointCore& endpoint() { return endpoint_; }
  [[nodiscard]] const EndpointCore& endpoint() const { return endpoint_; }

  struct Counters {
    std::uint64_t refused = 0;
    template <class F>
    void visit(F&& f) const {
      f("refused", refused, "packets", "to devices, that were not answered with data or not sent");
    }
  };
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  void restart_softly();
  void perform_request(Tlp& tlp, Cycle& at);
  void forget();
  void claim(const EndpointCore::BarRequest& request, Room& room) {
    if (!is_for_link(request)) return endpoint_.refuse(request.tlp);
    --(request.tlp->posted() ? room.posted : room.non_posted);
    claimed_.push_back(request);
  }
  [[nodiscard]] bool is_for_link(const EndpointCore::BarRequest& request) const {
    if (request.where.bar != kMemoryBar) return true;
    // A flush of no byte has an address like any other read.
    return request.where.offset < memory_.bytes && request.tlp->bytes <= memory_.bytes - request.where.offset;
  }
  void issue(Cycle now);
  void collect();
  void refuse(const ReadPart& refusal) {
    ++counters_.refused;
    parts_.push_back(refusal);
  }

  EndpointCore endpoint_;
  std::optional<GpuRegisters> registers_;
  TlpPort port_;
  Component& link_;
  LooseTlpTarget* root_ = nullptr;
  LooseMemory* loose_memory_ = nullptr;
  TlpPool& pool_;
  Memory memory_;
  std::deque<EndpointCore::BarRequest> claimed_;
  std::deque<Tlp*> waiting_;
  std::vector<ReadPart> under_way_;  ///< of each request that is: its answer if the function is reset
  std::deque<ReadPart> parts_;
  Counters counters_;
};

}  // namespace warpline
