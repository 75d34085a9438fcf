#include "platform/serve/control_server.h"

#include <poll.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "platform/vfio_user/listener.h"

namespace warpline {
namespace {

using vfio_user::Listener;

class ControlSession;

/// Whom a session tells that it is over.
class ControlOwner {
 public:
  virtual void ended(ControlSession& session) = 0;

 protected:
  ~ControlOwner() = default;
};

/// One connection: takes a line, has it done, sends the reply, and takes the next. Its owner keeps it, and so
/// does what it has under way in the io_context.
class ControlSession final : public std::enable_shared_from_this<ControlSession> {
 public:
  ControlSession(Listener::Socket socket, Control& control, ControlOwner& owner)
      : socket_(std::move(socket)), control_(control), owner_(owner) {}

  void start() { receive(); }
  /// Says why, and ends.
  void turn_away(const std::string& error) {
    over_ = true;
    refuse(Diagnostic::about({}, error));
  }
  /// It calls nobody any more.
  void close() {
    ended_ = true;
    boost::system::error_code ignored;
    socket_.close(ignored);
  }

 private:
  void end() {
    if (ended_) return;
    const auto self = shared_from_this();
    close();
    owner_.ended(*this);
  }
  void receive() {
    boost::asio::async_read_until(
        socket_, boost::asio::dynamic_buffer(text_, ControlServer::kLongestLine), '\n',
        [self = shared_from_this()](const boost::system::error_code& error, std::size_t bytes) {
          if (self->ended_) return;
          if (error == boost::asio::error::not_found)
            return self->turn_away("a request has fewer than " + std::to_string(ControlServer::kLongestLine) +
                                   " bytes");
          if (error) return self->end();
          const std::string line = self->text_.substr(0, bytes - 1);
          self->text_.erase(0, bytes);
          self->perform(line);
        });
  }
  void perform(const std::string& line) {
    const Result<ControlRequest> request = control_request_from(line);
    if (!request.ok()) return refuse(request.faults().front());
    waits_ = true;
    // The machine may keep it for longer than the client stays.
    control_.perform(request.value(), [weak = weak_from_this()](ControlReply reply) {
      const auto self = weak.lock();
      if (!self || self->ended_) return;
      self->waits_ = false;
      self->line_.emplace(std::move(reply));
      self->send_more();
    });
    if (waits_) await_its_end();
  }
  /// While the machine has its request. Who sends no more may still listen.
  void await_its_end() {
    if (std::exchange(watching_, true)) return;
    socket_.async_wait(Listener::Socket::wait_error,
                       [self = shared_from_this()](const boost::system::error_code& error) {
                         self->watching_ = false;
                         if (self->ended_ || !self->waits_) return;
                         pollfd client{self->socket_.native_handle(), 0, 0};
                         if (error || ::poll(&client, 1, 0) == 1) return self->end();
                         self->await_its_end();
                       });
  }
  void refuse(const Diagnostic& why) { send(to_line(why) + "\n"); }
  /// A reply, piece by piece: a long one is made while others are served.
  void send_more() {
    std::string piece = line_->next();
    if (piece.empty()) {
      line_.reset();
      piece = "\n";
    }
    send(std::move(piece));
  }
  void send(std::string text) {
    sending_ = std::move(text);
    boost::asio::async_write(
        socket_, boost::asio::buffer(sending_),
        [self = shared_from_this()](const boost::system::error_code& error, std::size_t /*bytes*/) {
          if (self->ended_) return;
          if (error) return self->end();
          if (self->line_) return self->send_more();
          self->over_ ? self->end() : self->receive();
        });
  }

  Listener::Socket socket_;
  Control& control_;
  ControlOwner& owner_;
  std::string text_;                      ///< that came, and is no line yet
  std::optional<ControlReplyLine> line_;  ///< the reply on its way
  std::string sending_;                   ///< of it, or of a refusal
  bool waits_ = false;                    ///< for the machine
  bool watching_ = false;                 ///< for the client's end
  bool over_ = false;                     ///< after the reply on its way
  bool ended_ = false;
};

class SocketControlServer final : public ControlServer, public ControlOwner {
 public:
  SocketControlServer(std::unique_ptr<Listener> listener, Control control,
                      std::function<void(const std::string&)> log)
      : control_(control), listener_(std::move(listener)) {
    listener_->accept([this](Listener::Socket socket) { take(std::move(socket)); },
                      [log = std::move(log)](const std::string& sentence) {
                        if (log) log(sentence);
                      });
  }
  ~SocketControlServer() override {
    listener_->close();
    for (const auto& session : sessions_) session->close();
  }
  SocketControlServer(const SocketControlServer&) = delete;
  SocketControlServer& operator=(const SocketControlServer&) = delete;

 private:
  void take(Listener::Socket socket) {
    const auto session = std::make_shared<ControlSession>(std::move(socket), control_, *this);
    const bool full = sessions_.size() >= kMostClients;
    // Those that are turned away go when they have been told, if they listen.
    if (sessions_.size() >= 2 * kMostClients) return session->close();
    sessions_.push_back(session);
    if (full) return session->turn_away(std::to_string(kMostClients) + " others are being answered");
    session->start();
  }
  void ended(ControlSession& session) override {
    sessions_.erase(std::remove_if(sessions_.begin(), sessions_.end(),
                                   [&session](const auto& one) { return one.get() == &session; }),
                    sessions_.end());
  }

  Control control_;
  const std::unique_ptr<Listener> listener_;
  std::vector<std::shared_ptr<ControlSession>> sessions_;
};

}  // namespace

Result<std::unique_ptr<ControlServer>> ControlServer::listen(boost::asio::io_context& io,
                                                             const std::string& path, Control control,
                                                             std::function<void(const std::string&)> log) {
  auto listener = Listener::at(io, path);
  if (!listener.ok()) return listener.faults();
  return std::unique_ptr<ControlServer>(
      std::make_unique<SocketControlServer>(std::move(listener.value()), control, std::move(log)));
}

}  // namespace warpline
