#include "platform/vfio_user/local_connection.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace warpline::vfio_user {

Result<Descriptor> connect_to(const std::string& path, const std::string& hint) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path)
    return Diagnostic::about(path, "this is no path of a socket: it is empty or too long");
  std::copy(path.begin(), path.end(), address.sun_path);
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket || connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return Diagnostic::about(path, std::string("cannot connect: ") + std::strerror(errno),
                             errno == ECONNREFUSED || errno == ENOENT ? hint : "");
  return socket;
}

}  // namespace warpline::vfio_user
