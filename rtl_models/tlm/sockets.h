#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <tlm>
#include <type_traits>

#include "rtl_models/base/visibility.h"
#include "rtl_models/sim/channel_parameters.h"
#include "rtl_models/sim/clock_domain.h"
#include "rtl_models/tlm/payload.h"

namespace warpline {

class EngineModule;
enum class EndResponse : std::uint8_t;
class InitiatorEnd;
class TargetEnd;
struct RequestMessage;
struct ResponseMessage;
struct TakenCommands;
template <class M>
class In;
template <class M>
class Out;

/// The part of a module that knows no time: debug access and direct memory access.
class WARPLINE_PUBLIC UntimedAccess {
 public:
  virtual ~UntimedAccess() = default;
  virtual unsigned transport_dbg(tlm::tlm_generic_payload& payload) = 0;
  virtual bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) = 0;
};

/// The initiator's end of a hop: a TLM-2.0 socket that carries the requests a block sends and the
/// responses it receives. At the end of elaboration it looks at what it is bound to: a TargetSocket
/// of the same engine is connected port to port, unless the engine wants sockets; anything else is
/// talked to by nb_transport, base protocol, four phases.
///
/// Mistakes of the other side are SystemC error reports that name this socket. What a foreign target refuses
/// is answered with address_error; where that may go unnoticed, or shows that the target does not fit, a
/// warning names this socket, once.
class WARPLINE_PUBLIC InitiatorSocket final : public tlm::tlm_initiator_socket<kBusBits> {
 public:
  /// Of a block of ours, whose ports these are.
  InitiatorSocket(const char* name, EngineModule& engine, Out<RequestMessage>& out, In<ResponseMessage>& in);
  ~InitiatorSocket() override;

  using tlm_initiator_socket::bind;
  void bind(base_target_socket_type& target) override;
  /// A socket of another bus width: says so where the compiler would list types.
  template <unsigned W, class FW, class BW, int N, sc_core::sc_port_policy P>
  std::enable_if_t<W != kBusBits> bind(tlm::tlm_base_target_socket<W, FW, BW, N, P>& /*target*/) {
    static_assert(W == kBusBits,
                  "the bus of a Warpline socket is 256 bits wide, and so must be the target's");
  }

  /// The channel on which responses arrive, and the clock of their sender. Pre: elaboration has not
  /// ended; the parameters have no problems.
  void set_channel(const ChannelParameters& response, const ClockDomain& responder);
  /// Whether bytes move with requests; without, payloads carry an idle buffer.
  void set_with_data(bool with_data);
  /// What it carries messages for.
  struct Ports {
    Out<RequestMessage>& out;
    In<ResponseMessage>& in;
    bool with_data;
  };
  /// Hands its ports over to another carrier, such as pins: it carries untimed access only from now on. Pre:
  /// elaboration has not ended.
  [[nodiscard]] Ports hand_over();
  /// How it ends responses of a foreign target from now on, whatever EngineModule::set_end_response says.
  void set_end_response(EndResponse form);
  /// Called when the other side takes back direct memory access to these addresses, first to last.
  void on_invalidate(std::function<void(sc_dt::uint64, sc_dt::uint64)> callback);
  /// Whether the hop is direct. Pre: elaboration has ended.
  [[nodiscard]] bool is_direct() const;
  /// Whether bytes that it carries may be seen by somebody who is not ours: a foreign module, or who looks at
  /// wires. Pre: elaboration has ended.
  [[nodiscard]] bool shows_data() const;
  /// Writes that a foreign target answered with an error.
  [[nodiscard]] std::uint64_t refused_writes() const;
  [[nodiscard]] const char* kind() const override { return "warpline::InitiatorSocket"; }

 private:
  void end_of_elaboration() override;
  std::unique_ptr<InitiatorEnd> end_;
};

/// The target's end of a hop: a TLM-2.0 socket that receives the requests of a block and carries its
/// responses. See InitiatorSocket for how the two ends find each other.
///
/// A payload without our extension is a weak read or write of bytes of one 128-byte line; what
/// cannot be is answered with the response status that TLM has for it.
///
/// b_transport while time is timed: the access takes its turn in the model as a timed request would, beside
/// those of nb_transport, of this socket and of others. The calling thread first waits for the delay that it
/// is ahead by, then for the answer; the delay is zero on return. Any number of threads may call at a time.
/// Who cannot wait, as it is no SC_THREAD, is served at rest only, at once, with the latency added to the
/// delay; else that is an error report and TLM_GENERIC_ERROR_RESPONSE. While time is loose see
/// EngineModule::set_loose.
class WARPLINE_PUBLIC TargetSocket final : public tlm::tlm_target_socket<kBusBits> {
 public:
  /// Of a block of ours, whose ports these are.
  TargetSocket(const char* name, EngineModule& engine, In<RequestMessage>& in, Out<ResponseMessage>& out,
               UntimedAccess& untimed);
  ~TargetSocket() override;

  /// The channel on which requests arrive, and the clock of their sender. Pre: elaboration has not
  /// ended; the parameters have no problems.
  void set_channel(const ChannelParameters& request, const ClockDomain& requester);
  void set_with_data(bool with_data);
  /// What it carries messages for.
  struct Ports {
    In<RequestMessage>& in;
    Out<ResponseMessage>& out;
    bool with_data;
  };
  /// Hands its ports over to another carrier, such as pins: it carries untimed access only from now on. Pre:
  /// elaboration has not ended.
  [[nodiscard]] Ports hand_over();
  /// What the block takes; the rest is answered with TLM_COMMAND_ERROR_RESPONSE.
  void set_taken(const TakenCommands& taken);
  /// All the memory that lies behind it, bytes: a foreign write beyond is answered at once, with
  /// TLM_ADDRESS_ERROR_RESPONSE, as a cache on the way would answer it before anybody knows what becomes of
  /// it.
  void set_memories(std::uint64_t vidmem_bytes, std::uint64_t sysmem_bytes);
  /// Foreign payloads that were answered with TLM_ADDRESS_ERROR_RESPONSE, here or behind.
  [[nodiscard]] std::uint64_t address_errors() const;
  /// Loosely timed accesses to memory that would be granted directly are answered with TLM's hint at it.
  void hint_direct_memory();
  /// Takes back what was granted of these addresses, first to last, if anything was.
  void take_back_direct_memory(sc_dt::uint64 first, sc_dt::uint64 last);
  [[nodiscard]] const char* kind() const override { return "warpline::TargetSocket"; }

 private:
  void end_of_elaboration() override;
  std::unique_ptr<TargetEnd> end_;
};

}  // namespace warpline
