#pragma once

#include "rtl_models/sim/receiving_port.h"
#include "rtl_models/sim/sending_port.h"

namespace warpline {

/// Binds two ports by the direct carrier. Pre: neither is bound, the parameters have no problems.
template <class M>
void connect(Out<M>& from, In<M>& to, const ChannelParameters& parameters) {
  WARPLINE_EXPECT(!from.bound() && !to.bound(), "a port is bound once");
  from.binding_.direct = &to;
  to.sender_ = &from;
  to.prepare(parameters, from.owner().domain());
}

/// Has what lies behind `out` perform `r`, sent in cycle `at`, loosely timed. Returns the cycle in which
/// the owner of the two ports has the answer.
inline Cycle perform_through(Out<RequestMessage>& out, In<ResponseMessage>& in, Request& r, Cycle at) {
  out.binding().perform({&r}, at);
  return in.owner().domain().align(in.arrival_of(at, {&r}));
}

}  // namespace warpline
