#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "platform/serve/control.h"
#include "rtl_models/base/problem.h"

namespace boost::asio {
class io_context;
}

namespace warpline {

/// Answers requests (control_messages.h) at a UNIX socket, which is its user's alone: a line each, and a line
/// back, in order. What is no request gets an error, and changes nothing.
class ControlServer {
 public:
  /// Of a request.
  static constexpr std::size_t kLongestLine = 64 * 1024;
  /// At a time; one more is told so, and cut off.
  static constexpr std::size_t kMostClients = 16;

  /// As vfio_user::Listener; `io` outlives it. `log`, unless null, hears what goes wrong.
  [[nodiscard]] static Result<std::unique_ptr<ControlServer>> listen(
      boost::asio::io_context& io, const std::string& path, Control control,
      std::function<void(const std::string&)> log);
  virtual ~ControlServer() = default;
};

}  // namespace warpline
