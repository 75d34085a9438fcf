#include "rtl_models/tlm/timed_calls.h"

#include <algorithm>

namespace warpline {

void TimedCalls::give_back(TimedCall& call) {
  under_way_.erase(std::find(under_way_.begin(), under_way_.end(), &call));
  call.foreign.reset();
  call.request = nullptr;
  free_.push_back(&call);
}

TimedCall* TimedCalls::find(const Request& r) const {
  const auto f = std::find_if(under_way_.begin(), under_way_.end(),
                              [&r](const TimedCall* c) { return c->request == &r; });
  return f != under_way_.end() ? *f : nullptr;
}

}  // namespace warpline
