#pragma once

#include <string>

#include "platform/serve/control_messages.h"
#include "platform/vfio_user/descriptor.h"
#include "rtl_models/base/problem.h"

namespace warpline {

/// Asks a served machine at its control socket, and waits for the answers.
class ControlClient {
 public:
  /// A fault names the socket, and says why it cannot be asked.
  [[nodiscard]] static Result<ControlClient> connect(const std::string& path);

  /// What was asked for; or a fault: what the machine says against it, or that it has gone.
  [[nodiscard]] Result<ControlReply> ask(const ControlRequest& request);

 private:
  ControlClient(std::string path, vfio_user::Descriptor socket)
      : path_(std::move(path)), socket_(std::move(socket)) {}
  [[nodiscard]] bool send(const std::string& line) const;
  [[nodiscard]] bool receive(std::string& line);

  std::string path_;
  vfio_user::Descriptor socket_;
  std::string more_;  ///< that came after the last line
};

/// For people, aligned: a line for each function, counter, finding or access; of registers, function, offset,
/// name, value, and what their fields hold.
[[nodiscard]] std::string text_of(const ControlReply& reply);

}  // namespace warpline
