#pragma once

#include <array>
#include <deque>
#include <functional>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "tests/support/protocol_checker.h"

namespace warpline::test {

using Payload = tlm::tlm_generic_payload;

/// What the other side does with a call: `first` runs, then it returns.
struct Reply {
  tlm::tlm_sync_enum status = tlm::TLM_ACCEPTED;
  tlm::tlm_phase phase;  ///< UNINITIALIZED_PHASE: as called
  int ns = -1;           ///< the delay; negative: as called
  std::function<void(Payload&)> first;
};
[[nodiscard]] Reply accepted(std::function<void(Payload&)> first = {});
[[nodiscard]] Reply updated(tlm::tlm_phase_enum phase, int ns = -1, std::function<void(Payload&)> first = {});
[[nodiscard]] Reply completed(int ns = -1, std::function<void(Payload&)> first = {});

/// Gives the payload the answer that everything went well.
void answer(Payload& payload);

/// An initiator and a target with a checker between them, both played by one script that runs in a thread.
class Bench final : public sc_core::sc_module,
                    private tlm::tlm_fw_transport_if<>,
                    private tlm::tlm_bw_transport_if<>,
                    private tlm::tlm_mm_interface {
 public:
  using Script = std::function<void(Bench&)>;
  Bench(const sc_core::sc_module_name& name, Script script);

  /// A payload of eight bytes with one reference.
  Payload& read(sc_dt::uint64 address = 0x40);
  Payload& write(sc_dt::uint64 address = 0x80);
  /// A write of every other byte.
  Payload& masked_write();
  /// A payload without a memory manager.
  Payload& unmanaged();

  /// The initiator calls the target `ns` ahead of time, and the target replies.
  void forward(Payload& payload, tlm::tlm_phase phase, int ns = 0, const Reply& reply = accepted());
  /// The target calls the initiator.
  void backward(Payload& payload, tlm::tlm_phase phase, int ns = 0, const Reply& reply = accepted());
  /// The target answers and sends BEGIN_RESP.
  void respond(Payload& payload, int ns = 0, const Reply& reply = accepted());
  /// A read whose request has begun.
  Payload& begin_read(int ns = 0);
  /// The target answers, and the initiator completes.
  void end(Payload& payload) { respond(payload, 0, completed()); }
  /// All four phases by calls, a nanosecond each.
  void transfer(Payload& payload);
  void wait_ns(int ns) { wait(ns, sc_core::SC_NS); }

  ProtocolChecker checker{"checker"};
  tlm::tlm_initiator_socket<256> initiator{"initiator"};
  tlm::tlm_target_socket<256> target{"target"};
  /// Whether a payload without a reference is wiped at once.
  bool recycles = true;
  /// Times a payload lost its last reference.
  unsigned freed = 0;
  /// Names of calls that came through unchecked, in order.
  std::vector<std::string> unchecked;

 private:
  /// The bytes that a payload points to.
  struct Buffer {
    std::array<unsigned char, 8> data{1, 2, 3, 4, 5, 6, 7, 8};
    std::array<unsigned char, 8> enables{0xFF, 0, 0xFF, 0, 0xFF, 0, 0xFF, 0};
  };
  void run() { script_(*this); }
  Payload& make(Payload& payload, tlm::tlm_command command, sc_dt::uint64 address);
  void call(bool forward, Payload& payload, tlm::tlm_phase phase, int ns, const Reply& reply);
  tlm::tlm_sync_enum reply_to(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum nb_transport_fw(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
    return reply_to(p, phase, delay);
  }
  tlm::tlm_sync_enum nb_transport_bw(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
    return reply_to(p, phase, delay);
  }
  void b_transport(Payload& payload, sc_core::sc_time& delay) override;
  unsigned transport_dbg(Payload& payload) override;
  bool get_direct_mem_ptr(Payload& payload, tlm::tlm_dmi& dmi) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) override;
  void free(Payload* payload) override {
    ++freed;
    if (recycles) make(*payload, tlm::TLM_IGNORE_COMMAND, 0);
  }

  Script script_;
  std::deque<Payload> managed_, unmanaged_;
  std::deque<Buffer> buffers_;
  /// The call on its way, as it must arrive.
  struct Call {
    Payload* payload = nullptr;
    tlm::tlm_phase phase;
    sc_core::sc_time delay;
    Reply reply;
  } call_;
};

/// A script, and what each of the violations it must cause says.
struct Scenario {
  std::string name;
  Bench::Script script;
  std::vector<std::string> violations;
};
[[nodiscard]] std::vector<Scenario> legal_scenarios();
[[nodiscard]] std::vector<Scenario> faults_of_order();
[[nodiscard]] std::vector<Scenario> faults_of_time();
[[nodiscard]] std::vector<Scenario> faults_of_payloads();

}  // namespace warpline::test
