#pragma once

#include <tlm_utils/peq_with_cb_and_phase.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <unordered_map>
#include <vector>

/// A DRAM channel of one's own, of banks with one open row each, that keeps time and bytes: plain TLM-2.0,
/// base protocol. It has a socket for each L2 slice above it, takes a line of each at a time, and serves
/// lines in the order in which they come; a bank works on its row while others do.
class MyDram final : public sc_core::sc_module {
 public:
  struct Parameters {
    unsigned inputs = 1;  ///< sockets
    unsigned banks = 8;   ///< over which rows spread
    unsigned row_bytes = 2048;
    sc_core::sc_time open{28, sc_core::SC_NS};    ///< to put another row into a bank's buffer
    sc_core::sc_time column{14, sc_core::SC_NS};  ///< from an open row to the bus
    sc_core::sc_time line{4, sc_core::SC_NS};     ///< that a line keeps the bus
  };
  /// What was asked of it.
  struct Counters {
    std::uint64_t reads = 0, writes = 0;  ///< lines
    std::uint64_t row_hits = 0;           ///< of these, to the row that was open
    std::uint64_t bytes_written = 0;
    std::uint64_t looks = 0;  ///< calls of transport_dbg: no time, but where the bytes go and come from
  };
  MyDram(const sc_core::sc_module_name& name, const Parameters& parameters);

  std::vector<std::unique_ptr<tlm_utils::simple_target_socket_tagged<MyDram, 256>>> from_l2;
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  using Payload = tlm::tlm_generic_payload;
  /// A socket's responses, sent one after the other.
  struct Input {
    std::deque<Payload*> answers;
    Payload* responding = nullptr;  ///< its END_RESP is awaited
  };
  struct Bank {
    std::uint64_t row = ~std::uint64_t{0};
    sc_core::sc_time free;  ///< when it may begin the next line
  };
  tlm::tlm_sync_enum nb_transport_fw(int input, Payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  void b_transport(int input, Payload& payload, sc_core::sc_time& delay);
  unsigned transport_dbg(int input, Payload& payload);
  /// How long after `now` a line is there, or written, that is asked for then.
  sc_core::sc_time serve(const Payload& payload, const sc_core::sc_time& now);
  /// Moves the bytes of a read or write that its byte enables name.
  void move(Payload& payload);
  std::uint8_t& at(std::uint64_t address);
  void step(Payload& payload, const tlm::tlm_phase& phase);
  void respond(int input);

  static constexpr std::uint64_t kPage = 4096;
  Parameters parameters_;
  Counters counters_;
  std::vector<Bank> banks_;
  sc_core::sc_time bus_free_;
  std::deque<Input> inputs_;
  std::unordered_map<Payload*, int> asked_by_;  ///< requests under way, and the socket that each came by
  std::unordered_map<std::uint64_t, std::array<std::uint8_t, kPage>>
      pages_;  ///< zero where nobody has written
  tlm_utils::peq_with_cb_and_phase<MyDram> steps_;
};
