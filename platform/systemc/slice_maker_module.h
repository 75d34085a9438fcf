#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <tlm>
#include <vector>

#include "rtl_models/base/visibility.h"
#include "rtl_models/tlm/idle_sockets.h"

namespace warpline {

/// Where a foreign L2 slice is to stand in a GPU.
struct WARPLINE_PUBLIC SliceSite {
  unsigned index = 0;
  std::string name;                ///< for the module: "l2_3"
  unsigned dram_channels = 1;      ///< that hold the slice's lines: line n mod slices, round robin
  unsigned slices = 1;             ///< of this GPU
  unsigned mhz = 1000;             ///< clock of crossbar and L2
  std::uint8_t* vidmem = nullptr;  ///< bytes of video memory, address 0 first; null in a run without data
  std::uint64_t vidmem_bytes = 0;
};

/// The sockets of such a slice: base protocol, and of any class derived from these.
///
/// `from_crossbar` receives one request at a time (BEGIN_REQ to END_REQ), any number in flight, each
/// within one 128-byte line: reads and writes by physical address, system memory from 2 << 60 on. Atomics,
/// reductions and maintenance come as TLM_IGNORE_COMMAND with a RequestExtension, and end in an error report
/// unless the slice acts on it and sets `accepted`. The host and other slices look at `vidmem` whenever no
/// request is in flight: by then it must hold what was written.
struct WARPLINE_PUBLIC SliceSockets {
  tlm::tlm_base_target_socket_b<256>* from_crossbar = nullptr;
  /// As many as SliceSite::dram_channels, bound to our DRAM, which keeps time and no bytes; or none.
  std::vector<tlm::tlm_base_initiator_socket_b<256>*> to_dram;
  /// Bound to our PCIe link, which keeps the bytes of system memory; may be null.
  tlm::tlm_base_initiator_socket_b<256>* to_pcie = nullptr;
};

/// Makes the slice for a site. Its module is made within, and outlives the simulation; its maker keeps it.
using SliceMaker = std::function<SliceSockets(const SliceSite&)>;

/// Where a foreign DRAM channel is to stand in a GPU.
struct WARPLINE_PUBLIC DramSite {
  unsigned index = 0;
  std::string name;                ///< for the module: "dram_3"
  unsigned inputs = 1;             ///< L2 slices that use it, a socket each
  unsigned mhz = 1000;             ///< clock of DRAM
  std::uint8_t* vidmem = nullptr;  ///< bytes of video memory, address 0 first; null in a run without data
  std::uint64_t vidmem_bytes = 0;
};

/// The sockets of such a channel: base protocol, and of any class derived from these; as many as
/// DramSite::inputs.
///
/// Each receives one request at a time (BEGIN_REQ to END_REQ), any number in flight, each within one 128-byte
/// line: reads, and writes, which carry their bytes with byte enables. Data and time are apart:
/// - Time: when a read is answered is when the line is there, and when a write is, it is done. An error is an
///   uncorrectable one: it reaches who asked.
/// - Data: the writes, in their order, are what is to be stored; of what L2 holds dirty it has not heard.
///   Whose bytes kernels and hosts see is `keeps_bytes`'s to say.
struct WARPLINE_PUBLIC DramSockets {
  std::vector<tlm::tlm_base_target_socket_b<256>*> from_l2;
  /// False: bytes are in `vidmem`, for L2 and hosts, whatever a read is answered with. True: L2 has them from
  /// here, by transport_dbg of these sockets when it has a sector fetched, and what a host has written comes
  /// by transport_dbg before each launch; `vidmem` is then what L2 knows of them. Of all channels or none,
  /// and behind our slices only.
  bool keeps_bytes = false;
};

/// Makes the channel for a site. Its module is made within, and outlives the simulation; its maker keeps it.
using DramMaker = std::function<DramSockets(const DramSite&)>;

}  // namespace warpline
