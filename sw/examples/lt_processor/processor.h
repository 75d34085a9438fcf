#pragma once

#include <cstdint>
#include <functional>
#include <systemc>
#include <tlm>
// These leave the inclusion of SystemC to their users.
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/tlm_quantumkeeper.h>

/// A processor that runs a program natively: an instruction takes a nanosecond of its local time, which is
/// ahead of the simulation's by the global quantum at most; what is not its own is reached by b_transport.
class Processor final : public sc_core::sc_module {
 public:
  using Program = std::function<void(Processor&)>;
  Processor(const sc_core::sc_module_name& name, Program program);

  tlm_utils::simple_initiator_socket<Processor, 256> socket{"socket"};

  // For the program.
  /// Moves up to 128 bytes of one line. Counts what is refused.
  void read(std::uint64_t address, void* data, unsigned bytes);
  void write(std::uint64_t address, const void* data, unsigned bytes);
  /// Executes so many instructions that leave the processor alone.
  void work(unsigned instructions);
  /// The time at which the program is.
  [[nodiscard]] sc_core::sc_time now() const { return time_.get_current_time(); }

  // What was done.
  unsigned accesses = 0;
  unsigned refused = 0;
  unsigned syncs = 0;  ///< the quantum was used up
  bool done = false;

 private:
  void run();
  void access(tlm::tlm_command command, std::uint64_t address, void* data, unsigned bytes);
  void sync_if_needed();

  Program program_;
  tlm_utils::tlm_quantumkeeper time_;
};
