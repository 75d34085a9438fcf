#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

namespace warpline::vfio_user {

/// A file descriptor that is closed when nobody has it any more.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] explicit operator bool() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

/// Has `descriptors` go with a message; `control` keeps them until it has been sent. Pre: there are some.
inline void add_descriptors(const std::vector<int>& descriptors, std::vector<char>& control,
                            msghdr& message) {
  const std::size_t bytes = descriptors.size() * sizeof(int);
  control.assign(CMSG_SPACE(bytes), 0);
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const c = CMSG_FIRSTHDR(&message);
  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_RIGHTS;
  c->cmsg_len = CMSG_LEN(bytes);
  std::memcpy(CMSG_DATA(c), descriptors.data(), bytes);
}

}  // namespace warpline::vfio_user
