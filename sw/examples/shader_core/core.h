#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <systemc>
#include <tlm>
#include <vector>
// These leave the inclusion of SystemC to their users.
#include <tlm_utils/peq_with_cb_and_phase.h>
#include <tlm_utils/simple_initiator_socket.h>

/// A shader core that computes y = a * x + y: a number of warps, each of which loads a line of x and one of
/// y, computes, stores y, and takes the next lines. One request at a time is on its way into the memory
/// (BEGIN_REQ to END_REQ), any number is in flight.
class ShaderCore final : public sc_core::sc_module, private tlm::tlm_mm_interface {
 public:
  using Payload = tlm::tlm_generic_payload;
  struct Work {
    float a = 1;
    std::uint64_t x = 0, y = 0;  ///< addresses, multiples of 128
    unsigned lines = 0;          ///< of 32 elements
  };
  struct Parameters {
    unsigned warps = 8;
    sc_core::sc_time compute{20, sc_core::SC_NS};  ///< from the last operand to the store
    /// Qualifies a load of x before it is sent; null: it is a plain access.
    std::function<void(Payload&)> qualify;
  };
  ShaderCore(const sc_core::sc_module_name& name, const Work& work, Parameters parameters);

  tlm_utils::simple_initiator_socket<ShaderCore, 256> socket{"socket"};

  unsigned finished = 0;   ///< lines
  unsigned refused = 0;    ///< accesses
  unsigned in_flight = 0;  ///< accesses, now and at most
  unsigned most_in_flight = 0;
  sc_core::sc_time done;  ///< when the last line was stored

 private:
  static constexpr unsigned kLanes = 32, kLineBytes = 128;
  /// One access of a warp.
  struct Access {
    explicit Access(tlm::tlm_mm_interface* memory) : payload(memory) {}
    Payload payload;
    std::array<float, kLanes> lanes{};
    unsigned warp = 0;
  };
  struct Warp {
    std::deque<Access> accesses;  ///< x, y, and the store
    unsigned line = 0;
    unsigned loaded = 0;  ///< operands
  };
  void start();
  void next_line(unsigned warp);
  void issue(Access& access, tlm::tlm_command command, std::uint64_t address);
  void send();
  void finish(Access& access);
  void compute(Warp& warp);
  void step(Payload& payload, const tlm::tlm_phase& phase);
  tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void free(Payload* payload) override { payload->reset(); }
  [[nodiscard]] Access& access_of(Payload& payload);

  Work work_;
  Parameters parameters_;
  unsigned begun_ = 0;  ///< lines
  std::vector<Warp> warps_;
  std::deque<Access*> queue_;      ///< for the request channel
  Payload* requesting_ = nullptr;  ///< its END_REQ is awaited
  tlm_utils::peq_with_cb_and_phase<ShaderCore> steps_;
};
