#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "platform/vfio_user/descriptor.h"
#include "rtl_models/base/problem.h"

namespace warpline::vfio_user {

/// A connection to the UNIX socket at `path`, which blocks. A fault names the socket and says why there is
/// none; with `hint`, where nobody serves there.
[[nodiscard]] Result<Descriptor> connect_to(const std::string& path, const std::string& hint);

/// What has come over a connection.
struct Received {
  ssize_t bytes = 0;    ///< 0: the other side has ended it; negative: errno says why there are none
  bool is_cut = false;  ///< descriptors that came with them had no room
};
/// Takes up to `bytes` without waiting, and appends the descriptors that come with them.
[[nodiscard]] Received receive_from(int socket, std::uint8_t* to, std::size_t bytes,
                                    std::vector<Descriptor>& descriptors);

}  // namespace warpline::vfio_user
