#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <functional>
#include <memory>
#include <string>

#include "rtl_models/base/problem.h"

namespace warpline::vfio_user {

/// Listens at a UNIX socket that is its user's alone (mode 0600). The file goes when it ends.
class Listener {
 public:
  using Socket = boost::asio::local::stream_protocol::socket;
  /// A socket at `path` that nobody serves any more is replaced; one that somebody does, or a file that is
  /// none, is a fault. `io` outlives it; all its work is done within `io`.
  [[nodiscard]] static Result<std::unique_ptr<Listener>> at(boost::asio::io_context& io,
                                                            const std::string& path);
  virtual ~Listener() = default;

  /// Takes who connects, from now on. A connection that cannot be taken is tried again, and `log` hears a
  /// sentence of the first such one in a row. Called once; neither is called when it has been closed.
  virtual void accept(std::function<void(Socket)> taken, std::function<void(const std::string&)> log) = 0;
  virtual void close() = 0;
};

}  // namespace warpline::vfio_user
