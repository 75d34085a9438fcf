#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rtl_models/base/contract.h"
#include "rtl_models/base/state_archive.h"
#include "rtl_models/pcie/endpoint/endpoint_function.h"
#include "rtl_models/pcie/packets/far_device.h"
#include "rtl_models/pcie/packets/loose_tlp_target.h"
#include "rtl_models/pcie/packets/timed_queue.h"
#include "rtl_models/pcie/packets/tlp_port.h"
#include "rtl_models/sim/engine.h"

namespace warpline {

/// A PCI Express function (EndpointFunction) at the end of a link.
///
/// A request for a BAR takes effect when it is taken off the link, one after the other in the order of the
/// link, and is answered `access_latency` later. What the function itself asks for moves as fast as link and
/// tags allow.
///
/// A kind of device derives from it, has its function, and names it by serve() when it is built.
class EndpointDevice : public Component, public FarDevice, public LooseTlpTarget {
 public:
  /// Times in cycles of its clock.
  struct Timing {
    unsigned access_latency = 4;  ///< from a request's arrival to its answer
    unsigned write_queue = 8;     ///< packets that wait for the link before no more are made; at least 1
  };
  ~EndpointDevice() override = default;
  EndpointDevice(const EndpointDevice&) = delete;
  EndpointDevice& operator=(const EndpointDevice&) = delete;

  [[nodiscard]] TlpPort& to_root() { return link_; }
  [[nodiscard]] const TlpPort& to_root() const { return link_; }
  /// Who performs what is loosely timed.
  void perform_by(LooseTlpTarget& root) { root_ = &root; }
  /// Whether its requests are loosely timed from now on. Pre: nothing is under way.
  void set_loose(bool loose) {
    loose_ = loose;
    // What was loosely timed before may have taken a time that its host forgets, as setting up takes none.
    done_ = 0;
  }
  [[nodiscard]] bool is_loose() const { return loose_; }
  /// Who hears what it does; null: nobody. Loosely timed, it may do one thing in a cycle that is before that
  /// of the last.
  void observe_by(DeviceObserver* observer) { function_->observe_by(observer); }

  /// Hot reset by the link: everything as it was built, and what was under way is forgotten, here. The root
  /// complex is told by RootComplex::reset_link().
  void hot_reset();
  /// Surprise removal: it neither takes nor answers anything until it is inserted again, as new.
  void set_present(bool present) {
    if (present != present_) hot_reset();
    present_ = present;
  }

  Cycle tick(Cycle now) final;
  void perform(Tlp& tlp, Cycle& at) final;
  [[nodiscard]] bool busy() const final {
    return link_.busy() || !answers_.empty() || function_->busy() || endpoint_.reads_in_flight() != 0;
  }
  void explain(std::vector<Wait>& waits) const final;
  void visit_gauges(GaugeVisitor& visitor) const final;
  void restart() final {
    endpoint_.reset();
    function_->power_on();
  }
  void archive(StateArchive& a) final;
  /// Its counters: of what it does, of its endpoint, and of its end of the link.
  void visit(CounterVisitor& visitor) const;

  [[nodiscard]] EndpointFunction& function() { return *function_; }
  [[nodiscard]] const EndpointFunction& function() const { return *function_; }
  [[nodiscard]] EndpointCore& endpoint() { return endpoint_; }
  [[nodiscard]] const EndpointCore& endpoint() const { return endpoint_; }

 protected:
  /// The pool outlives it. Pre: neither description nor link has problems.
  EndpointDevice(Engine& engine, std::string name, ClockDomain domain, TlpPool& pool, FunctionId id,
                 const FunctionDescription& description, const LinkParameters& link, const Timing& timing);
  /// What it does; outlives it but for its own end. Called once, before anything else.
  void serve(EndpointFunction& function);

 private:
  /// Requests that wait for their answer at most: more are left on the link.
  static constexpr std::size_t kAnswers = 64;
  /// Cycles that it gets ahead at most, loosely timed, before others go on: devices that ring each other's
  /// doorbells would never let them.
  static constexpr Cycle kSlice = 100'000;
  /// A register as a signal.
  struct NamedRegister {
    std::string name;
    RegisterAt at;
    std::uint64_t most = 0;
  };
  void perform(const EndpointCore::BarRequest& request, Cycle now) {
    const BusAccess access = function_->perform(request.where, *request.tlp, now);
    if (is_watched()) arrived(access);
  }
  void take(Cycle now, std::uint64_t t);
  [[nodiscard]] Cycle work(Cycle now);
  [[nodiscard]] Cycle run_loosely(Cycle now);
  [[nodiscard]] Cycle send_loosely(Cycle now);

  TlpPool& pool_;
  Timing timing_;
  EndpointCore endpoint_;
  EndpointFunction* function_ = nullptr;
  TlpPort link_;
  LooseTlpTarget* root_ = nullptr;
  bool loose_ = false;
  bool running_ = false;  ///< loosely timed, and in the middle of what it does
  Cycle done_ = 0;        ///< loosely timed: until when that takes
  bool present_ = true;
  TimedQueue<Tlp*> answers_;  ///< requests, by the edge at which they are answered
  std::vector<NamedRegister> registers_;
};

}  // namespace warpline
