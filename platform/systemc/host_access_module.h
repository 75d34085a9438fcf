#pragma once

#include <tlm>

#include "rtl_models/pcie/host_bridge/host_bridge.h"

namespace warpline {

/// What is wrong about the shape of a payload for the bus of a PcieSystemModule; TLM_OK_RESPONSE: nothing.
[[nodiscard]] tlm::tlm_response_status shape_of(const tlm::tlm_generic_payload& payload);
/// Whether it is a posted write, which is not answered. Pre: its shape is right.
[[nodiscard]] bool is_posted(const tlm::tlm_generic_payload& payload);
/// Makes the access that a payload asks for, in cycle `at`; 0: it is not answered. Pre: its shape is right.
HostBridge::Ticket submit(HostBridge& bridge, const tlm::tlm_generic_payload& payload, Cycle at);
/// Puts the answer into the payload, its status too.
void answer(tlm::tlm_generic_payload& payload, const HostBridge::Answer& given);

}  // namespace warpline
