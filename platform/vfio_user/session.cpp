#include "platform/vfio_user/session.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "platform/vfio_user/local_connection.h"
#include "rtl_models/base/shared_bytes.h"

namespace warpline::vfio_user {
namespace {

constexpr std::uint16_t number_of(Command c) {
  return static_cast<std::uint16_t>(c);
}

/// Of the process at the other end; 0: the system does not tell.
int process_of(int socket) {
  ucred who{};
  socklen_t bytes = sizeof who;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &bytes) == 0 ? who.pid : 0;
}

}  // namespace

Session::Session(Socket socket, Function& function, std::shared_ptr<SessionOwner> owner,
                 std::chrono::milliseconds patience, bool is_looked_at)
    : socket_(std::move(socket)),
      function_(function),
      owner_(std::move(owner)),
      patience_(patience),
      process_(process_of(socket_.native_handle())),
      is_looked_at_(is_looked_at),
      interrupts_(function),
      timer_(socket_.get_executor()) {
  socket_.non_blocking(true);
}

void Session::end() {
  if (std::exchange(ended_, true)) return;
  const auto self = shared_from_this();
  boost::system::error_code ignored;
  timer_.cancel(ignored);
  socket_.close(ignored);
  for (auto& [id, transfer] : std::exchange(asked_, {})) finish(*transfer, DmaOutcome::unmapped);
  for (auto& transfer : std::exchange(to_ask_, {})) finish(*transfer, DmaOutcome::unmapped);
  memory_.clear();
  owner_->ended(*this);
  if (std::exchange(attached_, false)) function_.detach();
}

template <class F>
auto Session::while_it_lasts(F f) {
  return [session = weak_from_this(), f = std::move(f)](const auto&... values) {
    if (const auto self = session.lock(); self && !self->ended_) f(*self, values...);
  };
}

// Taking commands off the connection.

void Session::receive() {
  if (goes_on_ || std::exchange(receiving_, true)) return;
  const auto self = shared_from_this();
  const auto end = std::chrono::steady_clock::now() + kLongestTurn;
  unsigned pieces = 0;
  bool more = true;
  try {
    while ((more = !ended_ && take_a_piece()))
      if (++pieces >= kMostPieces || std::chrono::steady_clock::now() >= end) break;
  } catch (const std::bad_alloc&) {
    cut_off("what there is no memory for");
  }
  receiving_ = false;
  if (ended_) return;
  if (more) {
    goes_on_ = true;
    boost::asio::post(socket_.get_executor(), while_it_lasts([](Session& s) {
                        s.goes_on_ = false;
                        s.receive();
                      }));
  } else if (!listening_ && !resting_) {
    await_its_end();
  }
}

bool Session::look() {
  if (!std::exchange(resting_, false)) return false;
  const auto self = shared_from_this();
  const std::uint64_t before = taken_;
  receive();
  return ended_ || taken_ != before;
}

void Session::sleep() {
  if (std::exchange(resting_, false)) listen();
}

/// Carries out what has waited, if that may be, or takes something off the connection. False: there is
/// nothing to do now.
bool Session::take_a_piece() {
  if (may_carry_out() && !waiting_commands_.empty()) {
    Message next = std::move(waiting_commands_.front());
    waiting_commands_.pop_front();
    waiting_bytes_ -= weight_of(next);
    carry_out(next);
    return true;
  }
  return unsent_bytes_ < kMostWaiting && waiting_bytes_ < kMostWaiting && receive_some();
}

bool Session::may_carry_out() const {
  return under_way_ < kMostUnderWay && unsent_bytes_ + promised_bytes_ < kMostWaiting;
}

/// Descriptors weigh more than they take here: the process has a few hundred for all its clients.
std::size_t Session::weight_of(const Message& message) {
  return Header::kBytes + message.payload.size() + message.descriptors.size() * kDescriptorWeight;
}

/// Takes what is there of the next message, and handles it once it is whole. False: there is nothing more.
bool Session::receive_some() {
  if (head_got_ < head_.size()) {
    const std::uint64_t begin = taken_ - head_got_;
    if (!receive_bytes(head_.data(), head_.size(), head_got_)) return false;
    take_arrived(begin);
    if (ended_) return false;
    if (head_got_ < head_.size()) return true;
    if (!begin_payload()) return false;
  }
  if (payload_got_ < message_.payload.size()) {
    const std::uint64_t begin = taken_ - payload_got_ - head_.size();
    if (!receive_bytes(message_.payload.data(), message_.payload.size(), payload_got_)) return false;
    take_arrived(begin);
    if (ended_) return false;
    if (payload_got_ < message_.payload.size()) return true;
  }
  head_got_ = 0;
  handle(std::exchange(message_, {}));
  return true;
}

/// Descriptors that have come for the message that begins there are the one's that is being taken.
void Session::take_arrived(std::uint64_t begin) {
  if (arrived_.empty() || arrived_for_ != begin) return;
  std::move(arrived_.begin(), arrived_.end(), std::back_inserter(message_.descriptors));
  arrived_.clear();
  if (message_.descriptors.size() > kMostDescriptors) cut_off_for_descriptors();
}

bool Session::begin_payload() {
  message_.header = Header::of(head_.data());
  const std::uint32_t bytes = message_.header.bytes;
  if (bytes < Header::kBytes || bytes > kMostMessage) {
    cut_off(
        fmt::format("a message of {} bytes, where there are {} to {}", bytes, Header::kBytes, kMostMessage));
    return false;
  }
  message_.payload.assign(bytes - Header::kBytes, 0);
  payload_got_ = 0;
  return true;
}

/// Some of the bytes that are wanted, from the inbox, which is filled when it is empty. False: there is
/// nothing now.
bool Session::receive_bytes(std::uint8_t* to, std::size_t bytes, std::size_t& got) {
  if (inbox_begin_ == inbox_end_ && !fill_inbox()) return false;
  const std::size_t n = std::min(bytes - got, inbox_end_ - inbox_begin_);
  std::copy_n(inbox_.begin() + static_cast<std::ptrdiff_t>(inbox_begin_), n, to + got);
  inbox_begin_ += n;
  taken_ += n;
  got += n;
  return true;
}

void Session::cut_off_for_descriptors() {
  cut_off(fmt::format("more descriptors than {} in a message, or than there is room for", kMostDescriptors));
}

bool Session::fill_inbox() {
  // What was there before has been taken: another look would find nothing, or be told of by the reactor.
  if (std::exchange(drained_, false)) {
    await_more();
    return false;
  }
  std::vector<Descriptor> descriptors;
  const auto [n, is_cut] = receive_from(socket_.native_handle(), inbox_.data(), inbox_.size(), descriptors);
  if (n < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      await_more();
    } else {
      end();
    }
    return false;
  }
  inbox_begin_ = 0;
  inbox_end_ = static_cast<std::size_t>(n);
  if (n == 0) {
    end();
    return false;
  }
  if (is_cut || descriptors.size() > kMostDescriptors) {
    cut_off_for_descriptors();
    return false;
  }
  // Descriptors end what the kernel gives at once.
  drained_ = inbox_end_ < inbox_.size() && descriptors.empty();
  if (!descriptors.empty()) {
    arrived_ = std::move(descriptors);
    arrived_for_ = last_begun();
  }
  return true;
}

/// Where the message begins that came with descriptors: the last one that begins in what has come, as the
/// kernel gives nothing at once that follows on descriptors, and they come with a message's first byte. None
/// begins there: the one that is being taken.
std::uint64_t Session::last_begun() const {
  const std::uint64_t end = taken_ + (inbox_end_ - inbox_begin_);
  const auto bytes_at = [&](std::uint64_t at, std::uint8_t* to, std::size_t count) {
    std::copy_n(inbox_.begin() + static_cast<std::ptrdiff_t>(inbox_begin_ + (at - taken_)), count, to);
  };
  std::uint64_t last = taken_ - head_got_, next = last;
  if (head_got_ == head_.size()) next = taken_ + (message_.payload.size() - payload_got_);
  for (std::array<std::uint8_t, Header::kBytes> head = head_; next < end;) {
    last = next;
    const std::size_t got = next < taken_ ? head_got_ : 0;
    if (next + head.size() > end) break;
    bytes_at(next + got, head.data() + got, head.size() - got);
    const Header header = Header::of(head.data());
    if (header.bytes < Header::kBytes) break;
    next += header.bytes;
  }
  return last;
}

/// Another look would find nothing now.
void Session::await_more() {
  if (is_looked_at_ && attached_ && !listening_) {
    resting_ = true;
  } else {
    listen();
  }
}

void Session::listen() {
  if (std::exchange(listening_, true)) return;
  socket_.async_wait(Socket::wait_read,
                     while_it_lasts([](Session& s, const boost::system::error_code& error) {
                       s.listening_ = false;
                       if (!error) s.receive();
                     }));
}

/// A client that goes away while nothing is taken off the connection: the function may wait for it.
void Session::await_its_end() {
  if (std::exchange(watching_, true)) return;
  socket_.async_wait(Socket::wait_error,
                     while_it_lasts([](Session& s, const boost::system::error_code& error) {
                       s.watching_ = false;
                       pollfd client{s.socket_.native_handle(), 0, 0};
                       // What is being taken off the connection ends with its end.
                       if (error || s.listening_ || s.goes_on_ || poll(&client, 1, 0) != 1) return;
                       s.end();
                     }));
}

// Carrying them out.

void Session::handle(Message message) {
  const Header& header = message.header;
  if (header.is_reply()) {
    handle_reply(message);
    return;
  }
  if ((header.flags & Header::kTypes) != Header::kCommand) {
    cut_off(fmt::format("a message that is neither command nor reply (flags {:#x})", header.flags));
    return;
  }
  ++owner_->count().messages;
  if (!admitted_) {
    handle_version(message);
  } else if (!may_carry_out() || !waiting_commands_.empty()) {
    waiting_bytes_ += weight_of(message);
    waiting_commands_.push_back(std::move(message));
  } else {
    carry_out(message);
  }
}

void Session::handle_version(const Message& message) {
  const Header& header = message.header;
  if (header.command != number_of(Command::version)) {
    refuse(header, EINVAL);
    cut_off(fmt::format("command {} before a version was agreed on", header.command));
    return;
  }
  std::string why;
  const std::optional<Version> theirs = Version::of(message.payload, why);
  if (theirs && theirs->major != Version::kMajor)
    why = fmt::format("it is {}.{}", theirs->major, theirs->minor);
  if (!why.empty()) {
    refuse(header, EINVAL);
    cut_off(fmt::format("another version than {}.{}: {}", Version::kMajor, Version::kMinor, why));
    return;
  }
  if (!owner_->admit(*this)) {
    ++owner_->count().refused_clients;
    refuse(header, EBUSY);
    owner_->log("refused a client: there is one already");
    end();
    return;
  }
  version_ = *theirs;
  // Messages of ours carry no more than both sides take.
  version_.most_data = std::clamp<std::uint64_t>(version_.most_data, 1, kMostData);
  admitted_ = true;
  Version ours;
  ours.minor = std::min(theirs->minor, Version::kMinor);
  ours.most_descriptors = kMostDescriptors;
  ours.most_data = kMostData;
  ours.multiple_writes = theirs->multiple_writes;
  reply(header, ours.payload());
  if (ended_) return;  // it has not waited for that
  attached_ = true;
  function_.attach(*this);
}

void Session::carry_out(Message& message) {
  switch (static_cast<Command>(message.header.command)) {
    case Command::dma_map: map(message); return;
    case Command::dma_unmap: unmap(message); return;
    case Command::device_info:
      if (message.payload.size() < DeviceInfo{}.payload().size()) {
        refuse(message.header, EINVAL);
      } else {
        reply(message.header, DeviceInfo{}.payload());
      }
      return;
    case Command::region_info: tell_region(message); return;
    case Command::irq_info: tell_irq(message); return;
    case Command::set_irqs: set_irqs(message); return;
    case Command::region_read: read_region(message); return;
    case Command::region_write: write_region(message); return;
    case Command::region_write_multi: write_regions(message); return;
    case Command::reset: reset(message); return;
    case Command::version: refuse(message.header, EINVAL); return;
    case Command::region_io_fds:
    case Command::dma_read:
    case Command::dma_write: break;
  }
  refuse(message.header, ENOTSUP);
}

void Session::reset(const Message& message) {
  ++under_way_;
  function_.reset(while_it_lasts([header = message.header](Session& s) {
    s.reply(header, {});
    s.finished();
  }));
}

void Session::map(const Message& message) {
  const std::optional<DmaMap> window = DmaMap::of(message.payload);
  const Descriptor none;
  int error = EINVAL;
  if (window && message.descriptors.size() <= 1)
    error = memory_.map(*window, message.descriptors.empty() ? none : message.descriptors.front());
  answer(message.header, error, {});
}

void Session::unmap(const Message& message) {
  const std::optional<DmaUnmap> range = DmaUnmap::of(message.payload);
  const int error = range ? memory_.unmap(*range) : EINVAL;
  answer(message.header, error, error == 0 ? range->payload() : std::vector<std::uint8_t>{});
}

void Session::tell_region(const Message& message) {
  std::optional<RegionInfo> info = RegionInfo::of(message.payload);
  if (!info || info->index >= kRegions) {
    refuse(message.header, EINVAL);
    return;
  }
  const Function::Region region = function_.region(info->index);
  info->bytes = region.bytes;
  info->offset = 0;
  info->flags = 0;
  if (region.bytes != 0 && region.readable) info->flags |= RegionInfo::kReadable;
  if (region.bytes != 0 && region.writable) info->flags |= RegionInfo::kWritable;
  if (region.file >= 0) info->flags |= RegionInfo::kMappable;
  reply(message.header, info->payload(), region.file);
}

void Session::tell_irq(const Message& message) {
  const std::optional<IrqInfo> asked = IrqInfo::of(message.payload);
  if (!asked || asked->index >= kIrqKinds) {
    refuse(message.header, EINVAL);
  } else {
    reply(message.header, interrupts_.info(asked->index).payload());
  }
}

void Session::set_irqs(Message& message) {
  const std::optional<SetIrqs> request = SetIrqs::of(message.payload);
  answer(message.header, request ? interrupts_.set(*request, std::move(message.descriptors)) : EINVAL, {});
}

int Session::problem_of(const RegionAccess& access, bool writes) const {
  if (access.region >= kRegions) return EINVAL;
  const Function::Region region = function_.region(access.region);
  if (access.count == 0 || access.count > kMostData) return EINVAL;
  if (access.offset > region.bytes || access.count > region.bytes - access.offset) return EINVAL;
  if (!(writes ? region.writable : region.readable)) return EACCES;
  return 0;
}

void Session::read_region(const Message& message) {
  Reader r(message.payload);
  const RegionAccess access = RegionAccess::of(r);
  const int error = r.ended_well() ? problem_of(access, false) : EINVAL;
  if (error != 0) {
    refuse(message.header, error);
    return;
  }
  ++under_way_;
  promised_bytes_ += access.count;
  function_.read(access.region, access.offset, access.count,
                 while_it_lasts([header = message.header, access](Session& s, const std::uint8_t* data) {
                   s.promised_bytes_ -= access.count;
                   if (data == nullptr) {
                     s.refuse(header, EIO);
                   } else {
                     Writer w;
                     access.put(w);
                     s.reply(header, w.data(data, access.count).take());
                   }
                   s.finished();
                 }));
}

void Session::write_region(const Message& message) {
  Reader r(message.payload);
  const RegionAccess access = RegionAccess::of(r);
  const std::uint8_t* const data = r.take(access.count);
  const int error = r.ended_well() ? problem_of(access, true) : EINVAL;
  if (error != 0) {
    refuse(message.header, error);
    return;
  }
  ++under_way_;
  promised_bytes_ += access.count;
  function_.write(access.region, access.offset, data, access.count, !message.header.wants_reply(),
                  while_it_lasts([header = message.header, access](Session& s) {
                    s.promised_bytes_ -= access.count;
                    Writer w;
                    access.put(w);
                    s.reply(header, w.take());
                    s.finished();
                  }));
}

void Session::write_regions(const Message& message) {
  const std::optional<std::vector<SmallWrite>> writes = writes_of(message.payload);
  int error = writes && writes->size() <= kMostUnderWay ? 0 : EINVAL;
  if (writes)
    for (const SmallWrite& w : *writes)
      if (error == 0) error = problem_of(w.where, true);
  if (error != 0) {
    refuse(message.header, error);
    return;
  }
  if (writes->empty()) {
    reply(message.header, Writer().u64(0).take());
    return;
  }
  under_way_ += static_cast<unsigned>(writes->size());
  // The reply, if one is wanted, follows the last of them: they are done in their order.
  const auto left = std::make_shared<std::size_t>(writes->size());
  const auto one_less = while_it_lasts([header = message.header, left, count = writes->size()](Session& s) {
    if (--*left == 0) s.reply(header, Writer().u64(count).take());
    s.finished();
  });
  for (const SmallWrite& w : *writes)
    if (!ended_)
      function_.write(w.where.region, w.where.offset, w.data.data(), w.where.count,
                      !message.header.wants_reply(), one_less);
}

void Session::finished() {
  --under_way_;
  // What else may have come is looked for elsewhere.
  if (!waiting_commands_.empty() || (!listening_ && !resting_)) receive();
}

// Answers.

void Session::reply(const Header& to, const std::vector<std::uint8_t>& payload, int file) {
  if (!to.wants_reply()) return;
  Header header;
  header.id = to.id;
  header.command = to.command;
  header.flags = Header::kReply;
  send(header, payload, file);
}

void Session::answer(const Header& to, int error, const std::vector<std::uint8_t>& payload) {
  if (error != 0) {
    refuse(to, error);
  } else {
    reply(to, payload);
  }
}

void Session::refuse(const Header& to, int error) {
  ++owner_->count().refused_messages;
  if (!to.wants_reply()) {
    if (++unheard_ <= kMostUnheard)
      owner_->log(
          fmt::format("refused command {}, whose client does not listen: {}", to.command, strerror(error)));
    return;
  }
  Header header;
  header.id = to.id;
  header.command = to.command;
  header.flags = Header::kReply | Header::kError;
  header.error = static_cast<std::uint32_t>(error);
  send(header, {});
}

void Session::cut_off(const std::string& why) {
  if (ended_) return;
  ++owner_->count().broken_connections;
  owner_->log("cut a client off, which sent " + why);
  end();
}

void Session::send(Header header, const std::vector<std::uint8_t>& payload, int file) {
  if (ended_) return;
  header.bytes = static_cast<std::uint32_t>(Header::kBytes + payload.size());
  std::vector<std::uint8_t> message(header.bytes);
  header.put(message.data());
  std::copy(payload.begin(), payload.end(), message.begin() + Header::kBytes);
  unsent_bytes_ += message.size();
  unsent_.push_back({std::move(message), file});
  if (unsent_.size() == 1) send_more();
}

void Session::send_more() {
  while (!unsent_.empty()) {
    Unsent& first = unsent_.front();
    iovec part{first.bytes.data() + sent_, first.bytes.size() - sent_};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    std::vector<char> control;
    if (first.file >= 0) add_descriptors({first.file}, control, message);
    const ssize_t n = sendmsg(socket_.native_handle(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) {
        socket_.async_wait(Socket::wait_write,
                           while_it_lasts([](Session& s, const boost::system::error_code& error) {
                             if (error) return;
                             s.send_more();
                             if (!s.ended_) s.receive();
                           }));
      } else {
        end();
      }
      return;
    }
    sent_ += static_cast<std::size_t>(n);
    unsent_bytes_ -= static_cast<std::size_t>(n);
    first.file = -1;
    if (sent_ < first.bytes.size()) continue;
    unsent_.pop_front();
    sent_ = 0;
  }
}

// The function's own requests.

void Session::read(std::uint64_t address, std::uint32_t bytes, ReadDone done) {
  auto transfer = std::make_shared<Transfer>();
  transfer->address = address;
  transfer->data.resize(bytes);
  transfer->read_done = std::move(done);
  move(std::move(transfer));
}

void Session::write(std::uint64_t address, const std::uint8_t* data, std::uint32_t bytes, WriteDone done) {
  auto transfer = std::make_shared<Transfer>();
  transfer->address = address;
  transfer->data.assign(data, data + bytes);
  transfer->writes = true;
  transfer->write_done = std::move(done);
  move(std::move(transfer));
}

void* Session::word(std::uint64_t address, std::uint32_t bytes) {
  if (address % bytes != 0) return nullptr;
  const auto readable = memory_.piece(address, bytes, false), writable = memory_.piece(address, bytes, true);
  if (!readable || !writable || readable->bytes < bytes || writable->is_lost()) return nullptr;
  return writable->memory;
}

void Session::interrupt(IrqKind kind, unsigned vector) {
  if (interrupts_.raise(kind, vector)) ++owner_->count().interrupts;
}

/// Goes on with a transfer until it is done, or has to ask.
void Session::move(std::shared_ptr<Transfer> transfer) {
  const auto self = shared_from_this();
  Transfer& t = *transfer;
  while (!ended_ && t.moved < t.data.size()) {
    const std::size_t left = t.data.size() - t.moved;
    const auto piece = memory_.piece(t.address + t.moved, left, t.writes);
    if (!piece || piece->is_lost()) {
      finish(t, DmaOutcome::unmapped);
      return;
    }
    if (piece->memory == nullptr) {
      t.asked = static_cast<std::size_t>(std::min<std::uint64_t>(piece->bytes, version_.most_data));
      to_ask_.push_back(std::move(transfer));
      ask_more();
      return;
    }
    const auto bytes = static_cast<std::size_t>(piece->bytes);
    std::uint8_t* const data = t.data.data() + t.moved;
    if (t.writes) {
      copy_to_shared(piece->memory, data, bytes);
    } else {
      copy_from_shared(data, piece->memory, bytes);
    }
    if (piece->is_lost()) {
      owner_->log(
          fmt::format("memory at {:#x} is no longer in the file that the client gave for it", t.address));
      finish(t, DmaOutcome::unmapped);
      return;
    }
    t.moved += bytes;
    owner_->count().dma_bytes += bytes;
  }
  finish(t, ended_ ? DmaOutcome::unmapped : DmaOutcome::done);
}

void Session::ask_more() {
  while (!ended_ && !to_ask_.empty() && asked_.size() < kMostAsked) {
    const std::shared_ptr<Transfer> next = std::move(to_ask_.front());
    to_ask_.pop_front();
    ask(next);
  }
  await_answers();
}

void Session::ask(const std::shared_ptr<Transfer>& transfer) {
  Transfer& t = *transfer;
  while (asked_.count(next_id_) != 0) ++next_id_;
  Header header;
  header.id = next_id_++;
  header.command = number_of(t.writes ? Command::dma_write : Command::dma_read);
  Writer w;
  DmaAccess{t.address + t.moved, t.asked}.put(w);
  if (t.writes) w.data(t.data.data() + t.moved, t.asked);
  t.asked_at = std::chrono::steady_clock::now();
  asked_[header.id] = transfer;
  send(header, w.take());
}

void Session::handle_reply(const Message& message) {
  const Header& header = message.header;
  const auto at = asked_.find(header.id);
  const bool known = at != asked_.end();
  if (!known || header.command != number_of(at->second->writes ? Command::dma_write : Command::dma_read)) {
    cut_off(fmt::format("a reply to command {} with id {}, which was not asked", header.command, header.id));
    return;
  }
  const std::shared_ptr<Transfer> transfer = at->second;
  asked_.erase(at);
  take_reply(*transfer, message);
  if (transfer->asked == 0) move(transfer);
  ask_more();
}

/// Takes what a reply has: none of the transfer is asked for then, unless that is its end.
void Session::take_reply(Transfer& t, const Message& message) {
  if ((message.header.flags & Header::kError) != 0) {
    finish(t, DmaOutcome::failed);
    return;
  }
  Reader r(message.payload);
  const DmaAccess access = DmaAccess::of(r);
  const std::uint8_t* const data = t.writes ? nullptr : r.take(t.asked);
  if (!r.ended_well() || access.address != t.address + t.moved || access.count != t.asked) {
    finish(t, DmaOutcome::failed);
    cut_off("a reply to a DMA that is not what was asked");
    return;
  }
  if (data != nullptr) std::copy_n(data, t.asked, t.data.data() + t.moved);
  t.moved += t.asked;
  owner_->count().dma_bytes += t.asked;
  owner_->count().dma_message_bytes += t.asked;
  t.asked = 0;
}

void Session::finish(Transfer& transfer, DmaOutcome outcome) {
  if (outcome != DmaOutcome::done) ++owner_->count().refused_dma;
  if (transfer.writes) {
    transfer.write_done(outcome);
  } else {
    transfer.read_done(outcome, outcome == DmaOutcome::done ? transfer.data.data() : nullptr);
  }
}

/// A client that does not answer must not stop the function for ever.
void Session::await_answers() {
  if (ended_ || asked_.empty() || std::exchange(timing_, true)) return;
  timer_.expires_after(patience_ / 4);
  timer_.async_wait(while_it_lasts([](Session& s, const boost::system::error_code& error) {
    s.timing_ = false;
    if (error) return;
    const auto oldest = std::chrono::steady_clock::now() - s.patience_;
    for (const auto& [id, transfer] : s.asked_) {
      if (transfer->asked_at >= oldest) continue;
      s.cut_off("nothing, when its memory was asked for");
      return;
    }
    s.await_answers();
  }));
}

}  // namespace warpline::vfio_user
