#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "rtl_models/tlm/engine_process.h"
#include "rtl_models/tlm/sockets.h"
#include "tests/support/mock_components.h"
#include "tests/support/protocol_checker.h"

namespace warpline::test {

/// A client of somebody else's at a socket: several threads, each of which makes one access after the other,
/// as early as its item says and `gap` cycles after the answer before it. No two begin in the same cycle: in
/// whose turn threads go that wait for the same time, SystemC does not say.
class OutsideClient final : public sc_core::sc_module,
                            private tlm::tlm_bw_transport_if<>,
                            private tlm::tlm_mm_interface {
 public:
  /// By nb_transport, one request after the other, completing each response as it begins; or by b_transport:
  /// sometimes a thread waits until it is time, sometimes it is ahead of time and says so.
  enum class Kind : std::uint8_t { timed, loose };
  OutsideClient(const sc_core::sc_module_name& name, EngineProcess& engine, std::vector<Item> items,
                Cycle gap, Kind kind, std::uint64_t seed);
  ~OutsideClient() override;

  tlm::tlm_initiator_socket<256> socket{"socket"};
  std::vector<Answer> answers;
  bool delayed = false;  ///< a call of b_transport came back with a delay
  /// Whether all is answered.
  [[nodiscard]] bool done() const { return done_ == items_.size(); }

 private:
  static constexpr unsigned kThreads = 3;
  using Payload = tlm::tlm_generic_payload;
  /// One access: the payload, and all it points to.
  struct Access;
  /// A thread.
  struct Lane;
  void run(unsigned lane);
  void call(Access& access, bool ahead, Cycle at);
  void send(Access& access, Cycle at);
  void begin_next();
  void request_ended(const sc_core::sc_time& delay);
  tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  void free(Payload*) override {}

  EngineProcess& engine_;
  std::vector<Item> items_;
  Cycle gap_;
  Kind kind_;
  std::uint64_t seed_;
  std::size_t done_ = 0;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::deque<Access*> queued_;  ///< for the request channel
  Access* requesting_ = nullptr;
  std::vector<Access*> under_way_;
  sc_core::sc_time free_;  ///< when the request channel is
  sc_core::sc_event begin_;
};

/// What stands at ports of a netlist for a client from outside.
struct OutsideHop final : sc_core::sc_module {
  OutsideHop(const sc_core::sc_module_name& name, EngineProcess& engine, UntimedAccess& untimed,
             In<RequestMessage>& in, Out<ResponseMessage>& out, const ChannelParameters& request,
             const ClockDomain& requester)
      : sc_module(name), target("target", engine, in, out, untimed) {
    target.set_channel(request, requester);
    checker.to_target.bind(target);
  }
  ProtocolChecker checker{"checker"};
  TargetSocket target;
};

}  // namespace warpline::test
