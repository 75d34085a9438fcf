#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/tlm_quantumkeeper.h>

#include <cstdint>
#include <functional>
#include <systemc>
#include <tlm>
#include <vector>

/// What boots a board: a loosely timed initiator. It puts an image into RAM, copies it to video memory,
/// compares, and then lets the timed part begin.
class Software final : public sc_core::sc_module {
 public:
  struct Parameters {
    std::uint64_t ram = 0;           ///< where the image goes
    std::uint64_t video_memory = 0;  ///< where its copy goes
    unsigned bytes = 64 * 1024;      ///< of the image, a multiple of 128
  };
  Software(const sc_core::sc_module_name& name, const Parameters& parameters);

  tlm_utils::simple_initiator_socket<Software, 256> socket{"socket"};
  /// Called when all is copied; no access is under way then.
  std::function<void()> when_booted;

  unsigned calls = 0;       ///< of b_transport
  unsigned wrong = 0;       ///< bytes that are not those of the image, however looked at
  bool granted = false;     ///< whether video memory was given as a pointer
  bool withdrawn = false;   ///< and that was taken back
  sc_core::sc_time booted;  ///< when that was

  /// Reads by debug access, which takes no time and disturbs nothing. Returns the bytes that could be read.
  std::vector<std::uint8_t> look(std::uint64_t address, unsigned bytes);

 private:
  void run();
  void access(tlm::tlm_command command, std::uint64_t address, std::uint8_t* data);
  void compare(const std::uint8_t* copy, std::size_t bytes);
  void compare_directly();
  void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end);
  unsigned debug(tlm::tlm_command command, std::uint64_t address, std::uint8_t* data, unsigned bytes);

  Parameters parameters_;
  std::vector<std::uint8_t> image_;
  tlm_utils::tlm_quantumkeeper time_;
};
