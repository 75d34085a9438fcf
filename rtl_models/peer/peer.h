#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "warpline/fabric/engine.h"
#include "warpline/peer/peer_core.h"
#include "warpline/tlp/loose_tlp.h"
#include "warpline/tlp/tlp_port.h"

namespace warpline {

/// The peer device: a PCI Express function with a queue-pair engine (PeerCore), at the end of a link.
///
/// A request for a BAR takes effect when it is taken off the link, one after the other in the order of the
/// link, and is answered `access_latency` later. Commands move their data as fast as link and tags allow.
class Peer final : public Component, public LooseTlpTarget {
 public:
  /// `mhz`: of the fastest clock, in whose cycles time is told. The pool outlives it. Pre: no parameters have
  /// problems.
  Peer(Engine& engine, std::string name, ClockDomain domain, TlpPool& pool, FunctionId id,
       const PeerParameters& parameters, const LinkParameters& link, unsigned mhz);

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
  void observe_by(PeerObserver* observer) {
    observer_ = observer;
    core_.observe_by(loose_ ? nullptr : observer);
  }

  /// Hot reset by the link: everything as it was built, and what was under way is forgotten, here. The root
  /// complex is told by RootComplex::reset_link().
  void hot_reset();
  /// Surprise removal: it neither takes nor answers anything until it is inserted again, as new.
  void set_present(bool present);

  Cycle tick(Cycle now) override;
  void perform(Tlp& tlp, Cycle& at) override;
  [[nodiscard]] bool busy() const override;
  void explain(std::vector<Wait>& waits) const override;
  void visit_gauges(GaugeVisitor& visitor) const override;
  [[nodiscard]] PeerCore& core() { return core_; }
  [[nodiscard]] const PeerCore& core() const { return core_; }
  [[nodiscard]] const EndpointCore& endpoint() const { return endpoint_; }

 private:
  struct Answer {
    std::uint64_t at = 0;  ///< edge
    Tlp* request = nullptr;
  };
  /// Requests that wait for their answer at most: more are left on the link.
  static constexpr std::size_t kAnswers = 64;
  void take(Cycle now, std::uint64_t t);
  [[nodiscard]] Cycle work(Cycle now);
  [[nodiscard]] Cycle run_loosely(Cycle now);

  TlpPool& pool_;
  PeerParameters parameters_;
  EndpointCore endpoint_;
  PeerCore core_;
  TlpPort link_;
  LooseTlpTarget* root_ = nullptr;
  bool loose_ = false;
  PeerObserver* observer_ = nullptr;
  bool running_ = false;  ///< loosely timed, and in the middle of what it does
  bool present_ = true;
  std::deque<Answer> answers_;
};

}  // namespace warpline
