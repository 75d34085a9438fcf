#include "platform/vfio_user/local_connection.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "platform/vfio_user/messages.h"

namespace warpline::vfio_user {
namespace {

/// Appends the descriptors that came with a message.
void take_descriptors(msghdr& message, std::vector<Descriptor>& out) {
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(c) + i * sizeof number, sizeof number);
      out.emplace_back(number);
    }
  }
}

}  // namespace

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

Received receive_from(int socket, std::uint8_t* to, std::size_t bytes, std::vector<Descriptor>& descriptors) {
  iovec where{to, bytes};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostDescriptors * sizeof(int))> control;
  msghdr message{};
  message.msg_iov = &where;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  Received out;
  do {
    out.bytes = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (out.bytes < 0 && errno == EINTR);
  if (out.bytes < 0) return out;
  take_descriptors(message, descriptors);
  out.is_cut = (message.msg_flags & MSG_CTRUNC) != 0;
  return out;
}

}  // namespace warpline::vfio_user
