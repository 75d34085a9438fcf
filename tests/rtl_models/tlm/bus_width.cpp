// Binds one of our sockets to a target of WARPLINE_BUS_WIDTH bits: compiled by tests, not run.
#include "rtl_models/tlm/sockets.h"

void bind_to_target(warpline::InitiatorSocket& ours, tlm::tlm_target_socket<WARPLINE_BUS_WIDTH>& target) {
  ours.bind(target);
}
