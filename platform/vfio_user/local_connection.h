#pragma once

#include <string>

#include "platform/vfio_user/descriptor.h"
#include "rtl_models/base/problem.h"

namespace warpline::vfio_user {

/// A connection to the UNIX socket at `path`, which blocks. A fault names the socket and says why there is
/// none; with `hint`, where nobody serves there.
[[nodiscard]] Result<Descriptor> connect_to(const std::string& path, const std::string& hint);

}  // namespace warpline::vfio_user
