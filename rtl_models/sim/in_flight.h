#pragma once

#include <string>
#include <vector>

#include "rtl_models/sim/request_list.h"
#include "rtl_models/sim/run_outcome.h"

namespace warpline {

/// Puts a listing into order, and names in `on` the holders of the requests whose answers are awaited.
void settle(Standstill& standstill);

/// Lists every request of `requests`, all of them at one place and for one reason: see InFlight.
void list_all(std::vector<InFlight>& rows, const RequestList& requests, const std::string& holder,
              const std::string& at, const std::string& why, const std::vector<std::string>& on,
              const Awaited& answers = {});

/// "read of 2 sectors at vidmem 0x1200, SM 0 warp 3", in words for people.
[[nodiscard]] std::string describe(const Request& request);

}  // namespace warpline
