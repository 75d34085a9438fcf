#pragma once

#include <tlm_utils/peq_with_cb_and_phase.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

/// A cache of one's own: direct mapped, write-back, 128-byte lines. It takes a request every `pace`, looks it
/// up `latency` later, and fetches lines that it lacks from memory, any number at once.
///
/// As in Warpline's own L2 the bytes live in video memory from the start. The tags decide how long an access
/// takes.
class MyL2 final : public sc_core::sc_module, private tlm::tlm_mm_interface {
 public:
  struct Parameters {
    unsigned lines = 512;
    sc_core::sc_time pace{1, sc_core::SC_NS};
    sc_core::sc_time latency{20, sc_core::SC_NS};
    unsigned slices = 1;             ///< of the GPU: every so-manieth line comes here
    unsigned memory_channels = 1;    ///< sockets to_memory, over which the lines spread
    std::uint8_t* memory = nullptr;  ///< video memory
    std::uint64_t memory_bytes = 0;
  };
  MyL2(const sc_core::sc_module_name& name, const Parameters& parameters);
  ~MyL2() override;

  tlm_utils::simple_target_socket<MyL2, 256> from_crossbar{"from_crossbar"};
  std::vector<std::unique_ptr<tlm_utils::simple_initiator_socket_tagged<MyL2, 256>>> to_memory;

  std::uint64_t look_ups = 0, hits = 0, write_backs = 0;

 private:
  using Payload = tlm::tlm_generic_payload;
  struct Line {
    std::uint64_t number = ~std::uint64_t{0};
    bool dirty = false;
  };
  /// Requests to one memory channel, sent one after the other.
  struct Channel {
    std::deque<Payload*> queue;
    Payload* sending = nullptr;  ///< its END_REQ is awaited
  };

  // Loosely timed and debug access.
  void b_transport(Payload& payload, sc_core::sc_time& delay);
  unsigned transport_dbg(Payload& payload);
  // Timed access.
  tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum nb_transport_bw(int channel, Payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  void step(Payload& payload, const tlm::tlm_phase& phase);
  void look_up(Payload& payload);
  void fill(std::uint64_t line);
  void answer(Payload& payload);
  void respond();
  static void describe(Payload& payload, tlm::tlm_command command, std::uint64_t line);
  void access_memory(tlm::tlm_command command, std::uint64_t line);
  void send(std::size_t channel);
  Line& place_of(std::uint64_t line) { return lines_[line / parameters_.slices % lines_.size()]; }
  [[nodiscard]] std::size_t channel_of(std::uint64_t line) const {
    return line / parameters_.slices % to_memory.size();
  }
  void free(Payload* payload) override { free_.push_back(payload); }

  Parameters parameters_;
  std::vector<Line> lines_;
  std::map<std::uint64_t, std::vector<Payload*>> fetching_;  ///< lines on their way, and who waits for them
  std::vector<Channel> channels_;
  std::deque<Payload*> answers_;
  Payload* responding_ = nullptr;  ///< its END_RESP is awaited
  tlm_utils::peq_with_cb_and_phase<MyL2> steps_;
  std::deque<Payload> payloads_;  ///< all that were ever sent to memory
  std::vector<Payload*> free_;
};
