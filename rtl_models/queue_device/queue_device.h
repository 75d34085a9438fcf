#pragma once

#include <cstdint>
#include <string>

#include "rtl_models/base/state_archive.h"
#include "rtl_models/pcie/packets/far_device.h"
#include "rtl_models/pcie/packets/loose_tlp_target.h"
#include "rtl_models/pcie/packets/timed_queue.h"
#include "rtl_models/pcie/packets/tlp_port.h"
#include "rtl_models/queue_device/queue_device_core.h"
#include "rtl_models/sim/engine.h"

namespace warpline {

/// A PCI Express function with a queue-pair engine (QueueDeviceCore), at the end of a link.
///
/// A request for a BAR takes effect when it is taken off the link, one after the other in the order of the
/// link, and is answered `access_latency` later. Commands move their data as fast as link and tags allow.
class QueueDevice final : public Component, public FarDevice, public LooseTlpTarget {
 public:
  /// `mhz`: of the fastest clock, in whose cycles time is told. The pool outlives it. Pre: no parameters have
  /// problems.
  QueueDevice(Engine& engine, std::string name, ClockDomain domain, TlpPool& pool, FunctionId id,
              const QueueDeviceParameters& parameters, const LinkParameters& link, unsigned mhz);

  [[nodiscard]] TlpPort& to_root() { return link_; }
  [[nodiscard]] const TlpPort& to_root() const { return link_; }
  /// Who performs what is loosely timed.
  void perform_by(LooseTlpTarget& root) { root_ = &root; }
  /// Whether its requests are loosely timed from now on. Pre: nothing is under way.
  void set_loose(bool loose) {
    loose_ = loose;
    core_.observe_by(loose ? nullptr : observer_);
  }
  /// Who hears what it does while it is timed; null: nobody.
  void observe_by(QueueDeviceObserver* observer) {
    observer_ = observer;
    core_.observe_by(loose_ ? nullptr : observer);
  }

  /// Hot reset by the link: everything as it was built, and what was under way is forgotten, here. The root
  /// complex is told by RootComplex::reset_link().
  void hot_reset();
  /// Surprise removal: it neither takes nor answers anything until it is inserted again, as new.
  void set_present(bool present) {
    if (present != present_) hot_reset();
    present_ = present;
  }

  Cycle tick(Cycle now) override;
  void perform(Tlp& tlp, Cycle& at) override;
  [[nodiscard]] bool busy() const override {
    return link_.busy() || !answers_.empty() || core_.busy() || endpoint_.reads_in_flight() != 0;
  }
  void explain(std::vector<Wait>& waits) const override;
  void visit_gauges(GaugeVisitor& visitor) const override;
  void restart() override {
    endpoint_.reset();
    core_.power_on();
  }
  void archive(StateArchive& a) override { a(endpoint_, core_, link_, present_); }
  [[nodiscard]] QueueDeviceCore& core() { return core_; }
  [[nodiscard]] const QueueDeviceCore& core() const { return core_; }
  [[nodiscard]] EndpointCore& endpoint() { return endpoint_; }
  [[nodiscard]] const EndpointCore& endpoint() const { return endpoint_; }

 private:
  /// Requests that wait for their answer at most: more are left on the link.
  static constexpr std::size_t kAnswers = 64;
  void perform(const EndpointCore::BarRequest& request, Cycle now) {
    const BusAccess access = core_.perform(request.where, *request.tlp, now);
    if (is_watched()) arrived(access);
  }
  void take(Cycle now, std::uint64_t t);
  [[nodiscard]] Cycle work(Cycle now);
  [[nodiscard]] Cycle run_loosely(Cycle now);

  TlpPool& pool_;
  QueueDeviceParameters parameters_;
  EndpointCore endpoint_;
  QueueDeviceCore core_;
  TlpPort link_;
  LooseTlpTarget* root_ = nullptr;
  bool loose_ = false;
  QueueDeviceObserver* observer_ = nullptr;
  bool running_ = false;  ///< loosely timed, and in the middle of what it does
  bool present_ = true;
  TimedQueue<Tlp*> answers_;  ///< requests, by the edge at which they are answered
};

}  // namespace warpline
