#include "platform/vfio_user/connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "platform/vfio_user/local_connection.h"

namespace warpline::vfio_user {
namespace {

/// How long a client looks for an answer before it sleeps.
constexpr std::chrono::microseconds kAwake{50};

}  // namespace

Result<std::unique_ptr<Connection>> Connection::to(const std::string& path, const Version& version) {
  auto socket = connect_to(path, "is `warpline serve` running?");
  if (!socket.ok()) return socket.faults();
  std::unique_ptr<Connection> made(new Connection(std::move(socket.value())));
  const int error = made->say_version(version);
  if (error == EBUSY) return Diagnostic::about(path, "somebody is connected there already");
  if (error != 0) return Diagnostic::about(path, std::string("the server refuses: ") + strerror(error));
  return made;
}

Connection::~Connection() = default;

int Connection::say_version(const Version& version) {
  Version mine = version;
  mine.most_descriptors = std::max<std::uint64_t>(mine.most_descriptors, kMostDescriptors);
  std::vector<std::uint8_t> answer;
  if (const int error = ask(Command::version, mine.payload(), &answer); error != 0) return error;
  std::string why;
  const std::optional<Version> theirs = Version::of(answer, why);
  if (!theirs) return EPROTO;
  version_ = *theirs;
  return 0;
}

int Connection::send_raw(const void* bytes, std::size_t count, const std::vector<int>& descriptors) {
  const auto* at = static_cast<const std::uint8_t*>(bytes);
  std::vector<char> control;
  bool with_descriptors = !descriptors.empty();
  while (count > 0) {
    iovec part{const_cast<std::uint8_t*>(at), count};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (with_descriptors) add_descriptors(descriptors, control, message);
    const ssize_t n = sendmsg(socket_.number(), &message, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EPIPE ? ECONNRESET : errno;
    at += n;
    count -= static_cast<std::size_t>(n);
    with_descriptors = false;
  }
  return 0;
}

int Connection::receive_bytes(std::uint8_t* to, std::size_t bytes, int milliseconds) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now(), end = begin + std::chrono::milliseconds(milliseconds);
  while (bytes > 0) {
    const ssize_t n = receive_from(socket_.number(), to, bytes, arrived_).bytes;
    if (n > 0) {
      to += n;
      bytes -= static_cast<std::size_t>(n);
      continue;
    }
    if (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) return ECONNRESET;
    // An answer often comes at once, and a processor that sleeps takes long to wake.
    if (const auto now = Clock::now(); now < begin + kAwake && now < end) {
      std::this_thread::yield();
      continue;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd waited{socket_.number(), POLLIN, 0};
    const int ready = poll(&waited, 1, static_cast<int>(std::max<long>(left, 0)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return ready == 0 ? ETIMEDOUT : errno;
  }
  return 0;
}

int Connection::receive(Header& header, std::vector<std::uint8_t>& payload, int milliseconds) {
  std::array<std::uint8_t, Header::kBytes> head;
  arrived_.clear();
  if (const int error = receive_bytes(head.data(), head.size(), milliseconds); error != 0) return error;
  header = Header::of(head.data());
  if (header.bytes < Header::kBytes || header.bytes > kMostMessage) return EPROTO;
  payload.resize(header.bytes - Header::kBytes);
  return receive_bytes(payload.data(), payload.size(), patience_ms_);
}

int Connection::send(Command command, std::uint32_t flags, const std::vector<std::uint8_t>& payload,
                     const std::vector<int>& descriptors, std::uint16_t& id) {
  Header header;
  header.id = id = next_id_++;
  header.command = static_cast<std::uint16_t>(command);
  header.bytes = static_cast<std::uint32_t>(Header::kBytes + payload.size());
  header.flags = flags;
  std::vector<std::uint8_t> message(header.bytes);
  header.put(message.data());
  std::copy(payload.begin(), payload.end(), message.begin() + Header::kBytes);
  return send_raw(message.data(), message.size(), descriptors);
}

int Connection::ask(Command command, const std::vector<std::uint8_t>& payload,
                    std::vector<std::uint8_t>* answer, const std::vector<int>& descriptors) {
  std::uint16_t id = 0;
  if (const int error = send(command, Header::kCommand, payload, descriptors, id); error != 0) return error;
  while (true) {
    Header header;
    std::vector<std::uint8_t> got;
    if (const int error = receive(header, got, patience_ms_); error != 0) return error;
    if (!header.is_reply()) {
      if (const int error = serve(header, got); error != 0) return error;
      continue;
    }
    if (header.id != id || header.command != static_cast<std::uint16_t>(command)) return EPROTO;
    if ((header.flags & Header::kError) != 0) return header.error == 0 ? EIO : static_cast<int>(header.error);
    if (answer != nullptr) *answer = std::move(got);
    return 0;
  }
}

/// Answers a command of the server's.
int Connection::serve(const Header& header, std::vector<std::uint8_t>& payload) {
  const bool writes = header.command == static_cast<std::uint16_t>(Command::dma_write);
  if (!writes && header.command != static_cast<std::uint16_t>(Command::dma_read)) return EPROTO;
  Reader r(payload);
  const DmaAccess access = DmaAccess::of(r);
  if (r.failed() || access.count > kMostData || r.left() != (writes ? access.count : 0)) return EPROTO;
  payload.resize(DmaAccess::kBytes + access.count);
  Header answer = header;
  answer.flags = Header::kReply;
  if (!memory_ || !memory_(access.address, payload.data() + DmaAccess::kBytes, access.count, writes)) {
    answer.flags |= Header::kError;
    answer.error = EFAULT;
    payload.clear();
  } else if (writes) {
    payload.resize(DmaAccess::kBytes);
  }
  answer.bytes = static_cast<std::uint32_t>(Header::kBytes + payload.size());
  std::vector<std::uint8_t> message(Header::kBytes);
  answer.put(message.data());
  message.insert(message.end(), payload.begin(), payload.end());
  return send_raw(message.data(), message.size());
}

int Connection::listen(int milliseconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::milliseconds(milliseconds);
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return 0;
    Header header;
    std::vector<std::uint8_t> payload;
    int error = receive(header, payload, static_cast<int>(left));
    if (error == ETIMEDOUT) return 0;
    if (error == 0) error = header.is_reply() ? EPROTO : serve(header, payload);
    if (error != 0) return error;
  }
}

int Connection::region(unsigned index, RegionInfo& info, Descriptor* file) {
  RegionInfo asked;
  asked.index = index;
  std::vector<std::uint8_t> answer;
  if (const int error = ask(Command::region_info, asked.payload(), &answer); error != 0) return error;
  const std::optional<RegionInfo> got = RegionInfo::of(answer);
  if (!got) return EPROTO;
  info = *got;
  const bool mappable = (info.flags & RegionInfo::kMappable) != 0;
  if (mappable != (arrived_.size() == 1)) return EPROTO;
  if (mappable && file != nullptr) *file = std::move(arrived_.front());
  return 0;
}

int Connection::irq(IrqKind kind, IrqInfo& info) {
  IrqInfo asked;
  asked.index = static_cast<std::uint32_t>(kind);
  std::vector<std::uint8_t> answer;
  if (const int error = ask(Command::irq_info, asked.payload(), &answer); error != 0) return error;
  const std::optional<IrqInfo> got = IrqInfo::of(answer);
  if (!got) return EPROTO;
  info = *got;
  return 0;
}

int Connection::read(unsigned region, std::uint64_t offset, void* data, std::uint32_t bytes) {
  Writer w;
  RegionAccess{offset, region, bytes}.put(w);
  std::vector<std::uint8_t> answer;
  if (const int error = ask(Command::region_read, w.take(), &answer); error != 0) return error;
  if (answer.size() != RegionAccess::kBytes + bytes) return EPROTO;
  std::copy_n(answer.begin() + RegionAccess::kBytes, bytes, static_cast<std::uint8_t*>(data));
  return 0;
}

int Connection::write(unsigned region, std::uint64_t offset, const void* data, std::uint32_t bytes) {
  Writer w;
  RegionAccess{offset, region, bytes}.put(w);
  return ask(Command::region_write, w.data(data, bytes).take());
}

int Connection::post(unsigned region, std::uint64_t offset, const void* data, std::uint32_t bytes) {
  Writer w;
  RegionAccess{offset, region, bytes}.put(w);
  std::uint16_t id = 0;
  return send(Command::region_write, Header::kCommand | Header::kNoReply, w.data(data, bytes).take(), {}, id);
}

int Connection::write(const std::vector<SmallWrite>& writes) {
  Writer w;
  w.u64(writes.size());
  for (const SmallWrite& one : writes) {
    one.where.put(w);
    w.data(one.data.data(), one.data.size());
  }
  return ask(Command::region_write_multi, w.take());
}

int Connection::map(const DmaMap& window, int file) {
  return ask(Command::dma_map, window.payload(), nullptr,
             file < 0 ? std::vector<int>{} : std::vector<int>{file});
}

int Connection::unmap(const DmaUnmap& range) {
  return ask(Command::dma_unmap, range.payload());
}

int Connection::set_irqs(const SetIrqs& request, const std::vector<int>& events) {
  return ask(Command::set_irqs, request.payload(), nullptr, events);
}

int Connection::reset() {
  return ask(Command::reset, {});
}

}  // namespace warpline::vfio_user
