#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "rtl_models/base/state_archive.h"
#include "rtl_models/pcie/gpu_link/device_end.h"
#include "rtl_models/pcie/gpu_link/memory_end.h"
#include "rtl_models/sim/target_ports.h"

namespace warpline {

/// The PCIe link of a GPU, shared by its L2 slices: wires (PcieWire), and at their far end system memory, and
/// for the peer aperture the memory of a device (MemoryEnd) or a root complex with devices behind it
/// (DeviceEnd).
///
/// Each direction is a wire that carries one packet at a time; `latency` is one way, and a memory device is
/// `peer_latency` farther away. What enters the wire upward takes effect in its memory in the order of the
/// wire, when its last packet arrives; there is no order between the two ends. Answers come down in the
/// order in which they get back to the wire. A request is taken when the wire is free, round robin over the
/// ports; one that lacks tags or has to wait for its line (PcieTransfers) lets requests of other ports pass.
///
/// - Read: up, latency, completion down, latency. See PcieCore::idle_read_cycles.
/// - Write: posted; answered when its last packet is on the wire.
/// - Atomic, reduction: as PcieCore::way_of says. AtomicOps: as a read, packets of all lanes in a
///   row. Compare-and-swap: a round trip that reads, and one or more that swap. Read and write: a
///   round trip that reads, then a posted write of what came of it, if anything did.
/// Further legs of a request go before new requests; answers to requests from outside for video memory
/// (Inbound) take turns with these.
///
/// Links of several GPUs to one memory know each other: what arrives over them in the same cycle takes effect
/// in the order in which they were made.
///
/// A request for no line that is there has no effect and is answered with address_error. Takes no
/// maintenance: L2 drains itself.
class PcieLink final : public Component, public LooseTarget {
 public:
  /// The memories outlive the link. `sysmem`: null: tags only. `peer`: null: there is none.
  PcieLink(Engine& engine, std::string name, ClockDomain domain, const PcieParameters& parameters,
           MemoryImage* sysmem, unsigned inputs, MemoryDevice* peer = nullptr);
  /// A link of another GPU to the memories of `beside`, in its cluster, with its clock and parameters. Links
  /// to one memory live and die together.
  PcieLink(PcieLink& beside, std::string name, unsigned inputs);

  /// Gives GPU `gpu`, whose video memory has `memory_bytes`, a way for requests from outside. To be called
  /// before reach_devices(). Pre: the parameters have a BAR.
  void take_inbound(unsigned gpu, std::uint64_t memory_bytes) {
    WARPLINE_EXPECT(inbound_ == nullptr && devices_ == nullptr && core_.parameters().bar_bytes != 0,
                    "a GPU with a BAR has one way to video memory");
    inbound_ = std::make_unique<Inbound>(*this, core_, wire_, gpu, memory_bytes);
  }
  /// That way; null: there is none.
  [[nodiscard]] Inbound* inbound() { return inbound_.get(); }
  [[nodiscard]] const Inbound* inbound() const { return inbound_.get(); }
  /// Puts a root complex in the place of a memory device. To be called before anything is under way, and
  /// once. Pre: it has no such device, and is not tags only. The pool outlives it.
  /// `log_entries`: of the log of accesses to its registers, if it has any (PcieParameters::registers).
  GpuFunction& reach_devices(TlpPool& pool, FunctionId id, const LinkParameters& root,
                             std::uint64_t log_entries);
  /// Gives all writes to devices relaxed ordering from now on, as a driver does where memory alone is
  /// reached: those to different lines take effect in any order, and what is read, of no byte too, still
  /// comes behind them. So PTX's order holds, whose releases wait for such a read (R11). To be called when
  /// nothing is under way, and after a checkpoint is restored again. Pre: it reaches devices.
  void relax_writes() { devices_->relax_writes(); }
  /// The function as which it reaches devices; null: there is no root complex.
  [[nodiscard]] GpuFunction* function() { return devices_ != nullptr ? &devices_->function() : nullptr; }
  [[nodiscard]] const GpuFunction* function() const {
    return devices_ != nullptr ? &devices_->function() : nullptr;
  }
  /// Hot reset of that function, see there. Pre: there is one.
  void hot_reset() {
    devices_->function().hot_reset();
    wake(engine().now() + 1);
  }

  /// System memory, as what comes from here finds it.
  [[nodiscard]] MemoryEnd& system_memory() { return sysmem_; }
  [[nodiscard]] In<RequestMessage>& from_l2(unsigned i) { return ports_.in(i); }
  [[nodiscard]] Out<ResponseMessage>& to_l2(unsigned i) { return ports_.out(i); }

  Cycle tick(Cycle now) override;
  void perform(Request& r, Cycle& at) override;
  void restart() override {
    ports_.restart();
    answered_last_ = false;
    if (devices_ != nullptr) devices_->function().restart();
  }
  void archive(StateArchive& a) override {
    a(counters_, wire_, ports_, answered_last_);
    a.same(inbound_ != nullptr, "ways to video memory");
    if (inbound_ != nullptr) a(*inbound_);
    a.same(devices_ != nullptr, "ways to devices");
    if (devices_ != nullptr) a(*devices_);
  }
  [[nodiscard]] bool busy() const override {
    return transfers_.under_way() != 0 || ports_.unsent() != 0 || (inbound_ != nullptr && inbound_->busy()) ||
           (devices_ != nullptr && devices_->busy());
  }
  void explain(std::vector<Wait>& waits) const override;
  void visit_gauges(GaugeVisitor& visitor) const override;
  void draw_turns(Random& random) override { ports_.draw_turns(random); }
  void in_flight(std::vector<InFlight>& rows) const override;

  [[nodiscard]] const PcieCore& core() const { return core_; }
  /// Whoever shares its memories joins these.
  [[nodiscard]] const std::shared_ptr<MemoryWriters>& writers() const { return writers_; }
  [[nodiscard]] const PcieCounters& counters() const { return counters_; }

 private:
  void join_writers() {
    writers_->join(sysmem_);
    writers_->join(peer_);
    ports_.perform_by(*this);
  }
  [[nodiscard]] bool is_for_devices(const Request& request) const {
    return devices_ != nullptr && aperture_of(request.line) == Aperture::peer;
  }
  [[nodiscard]] MemoryEnd& memory_of(const PcieTransfer& transfer) {
    return aperture_of(transfer.request->line) == Aperture::peer ? peer_ : sysmem_;
  }
  PcieTransfer& begin(Request& r, unsigned port) {
    const bool to_devices = is_for_devices(r);
    return transfers_.begin(r, port, to_devices,
                            to_devices || sysmem_.reaches(r.line) || peer_.reaches(r.line));
  }
  [[nodiscard]] unsigned choose() const;
  [[nodiscard]] bool wants_wire() const {
    return !legs_.empty() || (inbound_ != nullptr && inbound_->unsent() != 0) ||
           (devices_ != nullptr && devices_->parked_goes()) || choose() != TargetPorts::kNone;
  }
  void put_up(Cycle now, std::uint64_t t);
  void send_up(std::uint64_t t, PcieTransfer& transfer);
  void answer(PcieTransfer& transfer) {
    const unsigned port = transfer.port;
    Request* const owed = transfers_.answer(transfer);
    if (port != TargetPorts::kNone) ports_.answer(port, owed);
  }
  [[nodiscard]] bool ends(PcieTransfer& transfer);
  void arrive_down(PcieTransfer& transfer) {
    if (!ends(transfer)) legs_.push_back(&transfer);
  }

  PcieCore core_;
  PcieCounters counters_;
  PcieTransfers transfers_;
  PcieWire wire_;
  std::shared_ptr<MemoryWriters> writers_;  ///< of the memories
  MemoryEnd sysmem_, peer_;
  std::unique_ptr<Inbound> inbound_;
  std::unique_ptr<DeviceEnd> devices_;
  TargetPorts ports_;
  std::deque<PcieTransfer*> legs_;    ///< whose next packets wait for the wire
  TimedQueue<PcieTransfer*> posted_;  ///< to be answered when on the wire
  TimedQueue<PcieTransfer*> down_;    ///< whose answers from memory are on their way down
  bool answered_last_ = false;        ///< the wire upward last carried an answer, not a request
};

}  // namespace warpline
