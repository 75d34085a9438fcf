#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "warpline/fabric/target_ports.h"
#include "warpline/pcie/gpu_function.h"
#include "warpline/pcie/inbound.h"
#include "warpline/pcie/memory_writers.h"
#include "warpline/pcie/pcie_core.h"

namespace warpline {

/// What went over a PCIe link. requests = reads + writes + atomics.
struct PcieCounters {
  std::uint64_t requests = 0;
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t atomics = 0;
  std::uint64_t flushes = 0;
  std::uint64_t peer_requests = 0;
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  std::uint64_t tlp_bytes = 0;
  std::uint64_t cas_loops = 0;
  std::uint64_t cas_retries = 0;
  std::uint64_t unsupported_atomics = 0;
  std::uint64_t address_errors = 0;

  template <class F>
  void visit(F&& f) const {
    f("requests", requests, "requests", "taken from L2");
    f("reads", reads, "requests", "reads of system or peer memory, flushes included");
    f("writes", writes, "requests", "writes of system or peer memory");
    f("atomics", atomics, "requests", "atomics and reductions on system or peer memory");
    f("flushes", flushes, "requests", "reads of no byte, behind writes that must have arrived (R11)");
    f("peer_requests", peer_requests, "requests", "of all those, the ones to the peer's memory");
    f("bytes_up", bytes_up, "bytes", "payload away from the GPU");
    f("bytes_down", bytes_down, "bytes", "payload to the GPU");
    f("tlp_bytes", tlp_bytes, "bytes", "of packets both ways, overhead included");
    f("cas_loops", cas_loops, "requests", "atomics done by compare-and-swap for want of an AtomicOp");
    f("cas_retries", cas_retries, "round trips", "of such loops, because a word had changed meanwhile");
    f("unsupported_atomics", unsupported_atomics, "requests", "atomics that are atomic among this GPU only");
    f("address_errors", address_errors, "requests", "for no line of system memory or the peer's");
  }
};

/// The PCIe link of a GPU to system memory and a peer device's, shared by its L2 slices, and the far end of
/// both.
///
/// Each direction is a wire that carries one packet at a time; `latency` is one way, and a peer's memory is
/// `peer_latency` farther away. What enters the wire upward takes effect in its memory in the order of the
/// wire, when its last packet arrives; there is no order between the two memories. Answers come down in the
/// order in which they get back to the wire. A request is taken when the wire is free, round
/// robin over the ports; a read also needs a tag, and an atomic one for each lane (at most all there
/// are), until it is answered, and lets requests of other ports pass while it lacks them. So does
/// a request for a line on which an atomic is at work that takes several round trips: what follows an atomic
/// on its line follows it in memory.
///
/// - Read: up, latency, completion down, latency. See PcieCore::idle_read_cycles.
/// - Write: posted; answered when its last packet is on the wire.
/// - Atomic, reduction: as PcieCore::way_of says. AtomicOps: as a read, packets of all lanes in a
///   row. Compare-and-swap: a round trip that reads, and one or more that swap. Read and write: a
///   round trip that reads, then a posted write of what came of it, if anything did.
/// Further legs of a request go before new requests.
///
/// Links of several GPUs to one memory know each other: what arrives over them in the same cycle takes effect
/// in the order in which they were made.
///
/// A request for no line of either memory has no effect and is answered with address_error. Takes no
/// maintenance: L2 drains itself.
///
/// Behind a root complex (reach_devices()) there is no peer's memory: what arrives for the peer aperture goes
/// on as packets of a GpuFunction, and the offset in the aperture is the address on the bus. A read is a
/// packet for each run of adjacent bytes it asks for, an exact one of those bytes and no other one of whole
/// sectors; a write one for each run of bytes; AtomicOps and the words of compare-and-swap loops one each. As
/// packets that are not posted may be overtaken, what would have to stay behind one on its line waits until
/// that is answered, apart: nothing else waits for it, and what follows it to devices stays behind it. What
/// devices do not answer with data reads as all ones.
///
/// Such requests take tags of the function, and none of the link's, so that none of other GPUs' or devices'
/// requests can make system memory's wait.
///
/// Requests from outside for video memory (take_inbound()) come down the wire in the order in which the
/// function took them, among the answers, and go on to the crossbar (see Inbound); what answers them takes
/// turns with requests on the wire upward. What devices answer stays behind the writes that came before it
/// until these are performed: a kernel that reads of a device that it is done finds what it wrote. Answers of
/// system memory do not, as L2 may need them before it takes such a write.
class PcieLink final : public Component,
                       public LooseTarget,
                       private MemoryWriter,
                       private GpuFunction::LooseMemory {
 public:
  /// The memories outlive the link. `sysmem`: null: tags only. `peer`: null: there is none.
  PcieLink(Engine& engine, std::string name, ClockDomain domain, const PcieParameters& parameters,
           MemoryImage* sysmem, unsigned inputs, PeerMemory* peer = nullptr);
  /// A link of another GPU to the memories of `beside`, in its cluster, with its clock and parameters. Links
  /// to one memory live and die together.
  PcieLink(PcieLink& beside, std::string name, unsigned inputs);

  /// Gives GPU `gpu`, whose video memory has `memory_bytes`, a way for requests from outside. To be called
  /// before reach_devices(). Pre: the parameters have a BAR.
  void take_inbound(unsigned gpu, std::uint64_t memory_bytes);
  /// That way; null: there is none.
  [[nodiscard]] Inbound* inbound() { return inbound_.get(); }
  [[nodiscard]] const Inbound* inbound() const { return inbound_.get(); }
  /// Puts a root complex in the place of the peer's memory. To be called before anything is under way, and
  /// once. Pre: it has no peer's memory, and is not tags only. The pool outlives it.
  GpuFunction& reach_devices(TlpPool& pool, FunctionId id, const LinkParameters& root);
  /// The function as which it reaches devices; null: there is no root complex.
  [[nodiscard]] const GpuFunction* function() const { return function_.get(); }

  [[nodiscard]] In<RequestMessage>& from_l2(unsigned i) { return ports_.in(i); }
  [[nodiscard]] Out<ResponseMessage>& to_l2(unsigned i) { return ports_.out(i); }

  Cycle tick(Cycle now) override;
  void perform(Request& r, Cycle& at) override;
  void restart() override {
    ports_.restart();
    answered_last_ = false;
  }
  [[nodiscard]] bool busy() const override;
  void explain(std::vector<Wait>& waits) const override;
  void visit_gauges(GaugeVisitor& visitor) const override;
  void draw_turns(Random& random) override { ports_.draw_turns(random); }
  void in_flight(std::vector<InFlight>& rows) const override;

  [[nodiscard]] const PcieCore& core() const { return core_; }
  /// Whoever shares its memories joins these.
  [[nodiscard]] const std::shared_ptr<MemoryWriters>& writers() const { return writers_; }
  [[nodiscard]] const PcieCounters& counters() const { return counters_; }

 private:
  /// What the packets on the wire are; the last three are of atomics that take several.
  enum class Leg : std::uint8_t { read, write, atomic_op, word_reads, word_swaps, word_writes };
  struct Transfer {
    Request* request = nullptr;  ///< null once a posted write is answered
    unsigned port = 0;           ///< kNone: of a loosely timed access
    unsigned tags = 0;
    Leg leg = Leg::read;
    bool reaches = true;
    bool peer = false;
    bool exact = false;
    std::uint8_t gpu = 0;
    std::uint16_t sm = 0, warp = 0;
    unsigned completion = 0;  ///< cycles of the wire downward
    unsigned awaited = 0;     ///< packets that devices have yet to answer
    /// Of those that devices have answered: writes to video memory that came before (Inbound::writes_taken).
    std::uint64_t behind = 0;
    PcieSwap swap;  ///< of an atomic that takes several round trips
    PhysicalAddress line;
    ByteMask bytes;  ///< of a posted write, with its data
    std::array<std::uint8_t, kLineBytes> data{};
  };
  struct Timed {
    std::uint64_t at = 0;  ///< edge of the link clock
    std::uint32_t transfer = 0;
  };
  [[nodiscard]] unsigned tags_of(const Request& request) const;
  [[nodiscard]] bool fits(const Request& request) const;
  [[nodiscard]] bool is_for_devices(const Request& request) const {
    return function_ != nullptr && aperture_of(request.line) == Aperture::peer;
  }
  [[nodiscard]] bool waits_for_line(const Request& request) const;
  [[nodiscard]] bool parked_goes() const;
  void park(Cycle now);
  [[nodiscard]] unsigned choose() const;
  [[nodiscard]] bool wants_wire() const;
  void put_up(Cycle now, std::uint64_t t);
  void answer_inbound(std::uint64_t t);
  void perform_inbound(Tlp& tlp, std::uint64_t offset, Cycle& at) override;
  std::uint32_t take(Request* r, unsigned port);
  void answer(Transfer& transfer);
  void send_up(std::uint64_t t, std::uint32_t transfer);
  [[nodiscard]] PcieTrain perform(Transfer& transfer);
  void arrive(Cycle now) override;
  void send_down(std::uint64_t at, std::uint32_t transfer);
  void show_at_peer(const Transfer& transfer, std::uint64_t at, std::uint32_t words = 0) const;
  void show_runs(BusAccess::Kind kind, const Transfer& transfer, const ByteMask& mask,
                 std::uint64_t at) const;
  void show(BusAccess::Kind kind, const Transfer& transfer, unsigned offset, unsigned bytes,
            std::uint64_t at) const;
  void arrive_up(std::uint64_t at, std::uint32_t transfer);
  void go_on(std::uint32_t transfer);
  void ask(std::uint32_t transfer);
  void ask_atomics(std::uint32_t transfer);
  void ask_words(std::uint32_t transfer);
  void take_answers(std::uint64_t at);
  void take(const GpuFunction::Piece& piece);
  void exchange_with_devices(Cycle now, std::uint64_t t);
  [[nodiscard]] Cycle take_from_inbound(Cycle now);
  [[nodiscard]] PcieTrain completion_of(const Transfer& transfer) const;
  void arrive_down(std::uint32_t transfer);
  [[nodiscard]] bool is_in_order(const Transfer& transfer) const;
  void finish(std::uint32_t transfer);
  void release(std::uint32_t transfer);
  void count(const PcieTrain& train, std::uint64_t& payload);

  PcieCore core_;
  std::unique_ptr<GpuFunction> function_;
  std::unique_ptr<Inbound> inbound_;
  std::uint64_t memory_bytes_ = 0;          ///< of video memory, if there is a way to it
  std::shared_ptr<MemoryWriters> writers_;  ///< of the memories
  TargetPorts ports_;
  std::vector<Transfer> transfers_;
  std::vector<std::uint32_t> free_;
  std::vector<PhysicalAddress> looping_;  ///< lines on which atomics of several round trips are at work
  std::vector<std::uint32_t> asking_;     ///< transfers that devices are asked for
  /// A request for devices that waits for an answer to an earlier one of its line, or behind one that does.
  struct Parked {
    Request* request = nullptr;
    unsigned port = 0;
  };
  std::deque<Parked> parked_;
  std::deque<Tlp*> inbound_answers_;  ///< that wait for the wire
  struct Answer {
    std::uint64_t at = 0;
    Tlp* request = nullptr;
  };
  std::deque<Answer> answers_up_;   ///< under way upward
  bool answered_last_ = false;      ///< by the wire upward, rather than asked
  std::deque<std::uint32_t> legs_;  ///< whose next packets wait for the wire
  std::deque<Timed> posted_;        ///< to be answered when on the wire
  std::deque<Timed> up_;            ///< under way upward, to system memory
  std::deque<Timed> peer_up_;       ///< likewise, to the peer's
  std::deque<Timed> returning_;     ///< completions on their way from the peer to the wire downward
  std::deque<Timed> down_;          ///< under way downward
  std::deque<Timed> devices_down_;  ///< likewise, answered by devices; or behind writes to video memory
  std::uint64_t up_free_ = 0;
  std::uint64_t down_free_ = 0;
  unsigned tags_ = 0;  ///< in use
  PcieCounters counters_;
};

}  // namespace warpline
