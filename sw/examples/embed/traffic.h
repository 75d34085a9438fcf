#pragma once

#include <tlm_utils/peq_with_cb_and_phase.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <deque>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

/// A timed initiator: writes pieces of a pattern all over a region, in no order, then reads them all back and
/// compares, once or several times, with several accesses in flight.
class Traffic final : public sc_core::sc_module, private tlm::tlm_mm_interface {
 public:
  struct Parameters {
    std::uint64_t base = 0;   ///< of the region, a multiple of 128
    unsigned pieces = 1024;   ///< of 64 bytes
    unsigned in_flight = 16;  ///< at most
    unsigned rounds = 1;      ///< of reading
    std::uint64_t seed = 1;
  };
  Traffic(const sc_core::sc_module_name& name, const Parameters& parameters);

  tlm_utils::simple_initiator_socket<Traffic, 256> socket{"socket"};

  /// Lets it begin.
  void start() { next(); }
  /// What was done so far.
  unsigned written = 0, read = 0, wrong = 0, refused = 0;
  sc_core::sc_time finished;  ///< when the last piece was read
  [[nodiscard]] bool done() const { return read == parameters_.rounds * parameters_.pieces; }

 private:
  using Payload = tlm::tlm_generic_payload;
  struct Access {
    explicit Access(tlm::tlm_mm_interface* memory) : payload(memory) {}
    Payload payload;
    std::vector<std::uint8_t> data;
    unsigned piece = 0;
    bool free = true;
  };
  void next();
  void begin(Access& access);
  void finish(Payload& payload);
  void step(Payload& payload, const tlm::tlm_phase& phase);
  tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void free(Payload* payload) override;
  [[nodiscard]] std::uint8_t pattern(unsigned piece, unsigned byte) const;

  Parameters parameters_;
  unsigned begun_ = 0;  ///< accesses, the writes first
  unsigned in_flight_ = 0;
  Payload* requesting_ = nullptr;  ///< its END_REQ is awaited
  std::deque<Access> accesses_;
  tlm_utils::peq_with_cb_and_phase<Traffic> steps_;
};
