#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rtl_models/base/state_archive.h"
#include "rtl_models/dram/dram_controller.h"
#include "rtl_models/sim/target_ports.h"

namespace warpline {

/// One DRAM channel, shared by the L2 slices whose lines it holds. It keeps time only: the bytes
/// of video memory live in the backing store, which L2 reads and writes.
///
/// In a cycle it takes one request, round robin over the ports, while fewer than `queue` are
/// under way; their order is that of a DramScheduler. A read is answered when its last data has moved, a
/// write when its data was taken; both hold the data bus sectors * sector_cycles cycles. A request
/// is under way until its answer is sent. Takes reads and writes of at least one sector.
///
/// From the pop on an idle channel to the response of a read, in DRAM cycles: column + sectors *
/// sector_cycles if the row is open, and (sectors - 1) * (sector_step() - sector_cycles) more where column
/// commands have to keep a greater distance; activate more if the bank has none open; precharge more still if
/// it has another one open.
class DramChannel final : public Component, public LooseTarget {
 public:
  DramChannel(Engine& engine, std::string name, ClockDomain domain, const DramParameters& parameters,
              unsigned inputs);

  [[nodiscard]] In<RequestMessage>& from_l2(unsigned i) { return ports_.in(i); }
  [[nodiscard]] Out<ResponseMessage>& to_l2(unsigned i) { return ports_.out(i); }

  Cycle tick(Cycle now) override;
  void perform(Request& r, Cycle& at) override;
  void restart() override {
    controller_.restart(domain().edge_at_or_after(engine().now()));
    ports_.restart();
  }
  void archive(StateArchive& a) override { a(controller_, ports_); }
  [[nodiscard]] bool busy() const override { return under_way() != 0; }
  void explain(std::vector<Wait>& waits) const override {
    if (const std::size_t n = controller_.held() + moving_.size(); n != 0)
      waits.push_back({name(), std::to_string(n) + " requests to be served"});
    ports_.explain(waits);
  }
  void visit_gauges(GaugeVisitor& visitor) const override;
  void draw_turns(Random& random) override { ports_.draw_turns(random); }
  void in_flight(std::vector<InFlight>& rows) const override;

  [[nodiscard]] const DramCore& core() const { return controller_.core(); }
  [[nodiscard]] const DramCounters& counters() const { return controller_.counters(); }

 private:
  struct Held {
    Request* request = nullptr;
    unsigned port = 0;
  };
  struct Moving {
    Held held;
    std::uint64_t end = 0;
  };
  /// Those on the data bus or about to be, in the order in which they are done.
  class Bursts {
   public:
    /// Room for `most` of them.
    explicit Bursts(unsigned most);
    [[nodiscard]] bool empty() const { return first_ == end_; }
    [[nodiscard]] std::size_t size() const { return end_ - first_; }
    [[nodiscard]] const Moving& front() const { return ring_[first_ & mask_]; }
    void pop() { ++first_; }
    /// Behind all that move no later: sectors of bank groups take turns.
    void add(const Moving& m) {
      std::size_t at = end_++;
      for (; at != first_ && ring_[(at - 1) & mask_].end > m.end; --at)
        ring_[at & mask_] = ring_[(at - 1) & mask_];
      ring_[at & mask_] = m;
    }
    template <class F>
    void for_each(F&& visit) const {
      for (std::size_t i = first_; i != end_; ++i) visit(ring_[i & mask_]);
    }

   private:
    std::vector<Moving> ring_;
    std::size_t mask_;
    std::size_t first_ = 0, end_ = 0;  ///< modulo the size of the ring
  };
  [[nodiscard]] std::size_t under_way() const {
    return controller_.held() + moving_.size() + ports_.unsent();
  }
  [[nodiscard]] bool can_take() const { return ports_.pending() && under_way() < queue_; }

  unsigned queue_;
  DramController controller_;
  TargetPorts ports_;
  std::vector<Held> held_;  ///< by entry of the controller
  Bursts moving_;
  std::uint64_t next_ = 0;  ///< of the controller, unless it has changed
};

}  // namespace warpline
