#pragma once

#include <functional>
#include <string>
#include <tlm>

#include "rtl_models/base/visibility.h"

namespace warpline {

/// A hop of a GPU into which a foreign module can be put.
struct WARPLINE_PUBLIC HopSite {
  /// The path of the port that receives the requests, as in waves and for `--pins`: "l2[0].from_crossbar".
  std::string name;
  std::string sender;       ///< the path of the port that sends them: "crossbar.to_l2[0]"
  std::string module_name;  ///< for the module, as SystemC wants it: "l2_0_from_crossbar"

  /// Whether a pattern fits either path, as for `--pins`: `*` stands for any characters, `?` for one.
  [[nodiscard]] bool matches(const std::string& pattern) const;
};

/// The sockets of what stands in a hop: base protocol, and of any class derived from these; both null where
/// nothing does.
///
/// `from_initiator` receives what the block at one end sends, `to_target` asks the block at the other. A
/// monitor hands everything on as it comes, the payload itself, without a wait, answers and calls for direct
/// memory access included: then every cycle and counter is as without it. What adds time is part of the
/// machine. A payload's RequestExtension must reach the target, in a copy too: atomics and maintenance come
/// as TLM_IGNORE_COMMAND, and only it says which.
struct WARPLINE_PUBLIC HopSockets {
  tlm::tlm_base_target_socket_b<256>* from_initiator = nullptr;
  tlm::tlm_base_initiator_socket_b<256>* to_target = nullptr;
};

/// Makes what is to stand in a hop, or returns no sockets to leave the hop alone. Its module is made within,
/// and outlives the simulation; its maker keeps it. It is asked once for each hop, and binds nothing.
using Interposer = std::function<HopSockets(const HopSite&)>;

/// The site of a hop from the paths of its ports.
WARPLINE_PUBLIC [[nodiscard]] HopSite hop_site(const std::string& receiver, const std::string& sender);

/// Binds two sockets of any classes.
WARPLINE_PUBLIC void bind_sockets(tlm::tlm_base_initiator_socket_b<256>& initiator,
                                  tlm::tlm_base_target_socket_b<256>& target);

/// Binds what `interpose` (which may be null) makes for a hop between the hop's ends. Returns false, with
/// nothing bound, if it leaves the hop alone. Throws std::invalid_argument, which names the hop, where one
/// of the two sockets is missing.
WARPLINE_PUBLIC [[nodiscard]] bool bind_interposed(const Interposer& interpose, const HopSite& site,
                                                   tlm::tlm_base_initiator_socket_b<256>& initiator,
                                                   tlm::tlm_base_target_socket_b<256>& target);

}  // namespace warpline
