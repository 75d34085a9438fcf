#pragma once

#include <memory>
#include <tlm>
#include <utility>

#include "rtl_models/base/visibility.h"

namespace warpline {

/// What an idle initiator socket does when it is called: nothing. By itself, and not of the socket's width,
/// as its virtual functions are in the library alone then: compilers differ in how they name the tables of
/// classes like this one, and what one of them compiled could not be linked with the library of another.
class WARPLINE_PUBLIC IdleInitiatorCalls final : public tlm::tlm_bw_transport_if<> {
 public:
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override;
};

/// What an idle target socket does when it is called: it answers with TLM_ADDRESS_ERROR_RESPONSE. By itself
/// for the same reason.
class WARPLINE_PUBLIC IdleTargetCalls final : public tlm::tlm_fw_transport_if<> {
 public:
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&) override;
  void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time&) override;
  unsigned transport_dbg(tlm::tlm_generic_payload&) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override;
};

/// A socket that sends nothing, to be bound to a target socket: part of a module.
template <unsigned Bits>
class IdleInitiatorSocket final : public tlm::tlm_initiator_socket<Bits> {
 public:
  explicit IdleInitiatorSocket(const char* name) : tlm::tlm_initiator_socket<Bits>(name) {
    this->bind(calls_);
  }

 private:
  IdleInitiatorCalls calls_;
};

/// A socket behind which nothing is: it answers whatever is asked with TLM_ADDRESS_ERROR_RESPONSE. Part of a
/// module.
template <unsigned Bits>
class IdleTargetSocket final : public tlm::tlm_target_socket<Bits> {
 public:
  explicit IdleTargetSocket(const char* name) : tlm::tlm_target_socket<Bits>(name) { this->bind(calls_); }

 private:
  IdleTargetCalls calls_;
};

/// Leaves a target socket of any width unused: sends nothing to it. SystemC wants every socket of a module
/// bound; where a platform has nothing to bind to one (an SM's L1, a processor's socket), this is.
///
///     warpline::MemorySubsystemModule gpu("gpu", {"mini", {"sms=2"}});
///     shader.socket.bind(gpu.from_sm(0));
///     warpline::IdleInitiator unused("unused", gpu.from_sm(1));
class WARPLINE_PUBLIC IdleInitiator final : public sc_core::sc_module {
 public:
  template <unsigned Bits>
  IdleInitiator(const sc_core::sc_module_name& name, tlm::tlm_base_target_socket_b<Bits>& unused)
      : sc_module(name) {
    auto socket = std::make_shared<IdleInitiatorSocket<Bits>>("socket");
    socket->bind(unused);
    socket_ = std::move(socket);
  }

 private:
  std::shared_ptr<void> socket_;
};

/// Leaves an initiator socket of any width without a target: answers whatever is asked with
/// TLM_ADDRESS_ERROR_RESPONSE, as nothing is there. For a block of ours without one of its channels (an L2
/// slice without link, say).
class WARPLINE_PUBLIC IdleTarget final : public sc_core::sc_module {
 public:
  template <unsigned Bits, int N, sc_core::sc_port_policy P>
  IdleTarget(const sc_core::sc_module_name& name,
             tlm::tlm_base_initiator_socket<Bits, tlm::tlm_fw_transport_if<>, tlm::tlm_bw_transport_if<>, N,
                                            P>& unused)
      : sc_module(name) {
    auto socket = std::make_shared<IdleTargetSocket<Bits>>("socket");
    unused.bind(*socket);
    socket_ = std::move(socket);
  }

 private:
  std::shared_ptr<void> socket_;
};

}  // namespace warpline
