#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <array>
#include <cstdint>
#include <systemc>
#include <tlm>

/// What tells a DMA engine what to do: it lies in memory, where software and engine look at it.
struct Doorbell {
  enum State : std::uint64_t { idle, ring, stop };
  std::uint64_t source = 0, target = 0;  ///< multiples of 128
  std::uint64_t bytes = 0;               ///< a multiple of 128
  std::uint64_t state = idle;            ///< software rings; the engine is idle again when all is copied
};

/// A DMA engine: looks at its doorbell every 100 ns, and copies line by line when that is rung. Timed, base
/// protocol, four phases.
class Dma final : public sc_core::sc_module, private tlm::tlm_mm_interface {
 public:
  Dma(const sc_core::sc_module_name& name, std::uint64_t doorbell);

  tlm_utils::simple_initiator_socket<Dma, 256> socket{"socket"};

  std::uint64_t copied = 0;  ///< bytes
  unsigned looks = 0;        ///< at the doorbell
  unsigned refused = 0;
  bool stopped = false;

 private:
  static constexpr unsigned kLineBytes = 128;
  using Payload = tlm::tlm_generic_payload;
  void run();
  void copy(const Doorbell& doorbell);
  void access(tlm::tlm_command command, std::uint64_t address, void* data, unsigned bytes);
  tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void free(Payload* payload) override { payload->reset(); }

  std::uint64_t doorbell_;
  bool answered_ = false;
  sc_core::sc_event response_;
  std::array<std::uint8_t, kLineBytes> line_{};
};
