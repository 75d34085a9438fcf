#pragma once

#include <memory>

#include "platform/host/host.h"

namespace warpline {

/// The eight functions by which a driver reaches device `device` of a host, which outlives them.
[[nodiscard]] std::shared_ptr<const wl_port> make_driver_port(Host& host, unsigned device);

}  // namespace warpline
