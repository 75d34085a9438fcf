#include "platform/vfio_user/server.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <memory>
#include <utility>

#include "platform/vfio_user/session.h"

namespace warpline::vfio_user {
namespace {

using boost::asio::local::stream_protocol;

/// Connections that have not said their version yet: the oldest goes when one more comes.
constexpr std::size_t kMostStrangers = 8;

/// After this time a connection that could not be taken is tried again.
constexpr std::chrono::milliseconds kAcceptAgain{100};

/// What a server does. Its sessions share it, so that it is there when one of them ends with the server.
class Service final : public SessionOwner, public std::enable_shared_from_this<Service> {
 public:
  Service(stream_protocol::acceptor acceptor, std::string path, Function& function, Server::Options options)
      : acceptor_(std::move(acceptor)),
        accept_again_(acceptor_.get_executor()),
        path_(std::move(path)),
        function_(function),
        options_(std::move(options)) {
    if (stat(path_.c_str(), &file_) != 0) file_ = {};
  }

  /// Takes clients from now on.
  void accept() {
    acceptor_.async_accept(
        [service = weak_from_this()](const boost::system::error_code& error, stream_protocol::socket socket) {
          if (const auto self = service.lock(); self && !self->closed_) self->take(error, std::move(socket));
        });
  }
  /// Ends all that is under way. Nothing is done, called or logged after that.
  void close() {
    if (std::exchange(closed_, true)) return;
    disconnect();
    while (!strangers_.empty()) strangers_.front()->end();
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    accept_again_.cancel(ignored);
    struct stat now {};
    if (stat(path_.c_str(), &now) == 0 && now.st_ino == file_.st_ino && now.st_dev == file_.st_dev)
      unlink(path_.c_str());
    options_.log = nullptr;
  }
  void disconnect() {
    if (const auto client = client_) client->end();
  }
  [[nodiscard]] bool has_client() const { return client_ != nullptr; }

  [[nodiscard]] bool admit(Session& session) override {
    if (client_ || closed_) return false;
    client_ = take(session);
    ++counters_.clients;
    return true;
  }
  void ended(Session& session) override {
    if (client_.get() == &session) {
      client_ = nullptr;
    } else {
      static_cast<void>(take(session));
    }
  }
  [[nodiscard]] ServerCounters& count() override { return counters_; }
  void log(const std::string& sentence) override {
    if (options_.log) options_.log(sentence);
  }

 private:
  void take(const boost::system::error_code& error, stream_protocol::socket socket) {
    if (!error) {
      failed_ = false;
      if (strangers_.size() >= kMostStrangers) strangers_.front()->end();
      auto session =
          std::make_shared<Session>(std::move(socket), function_, shared_from_this(), options_.patience);
      strangers_.push_back(session);
      session->start();
      if (!closed_) accept();
      return;
    }
    // The connection is still there: no descriptor is left for it, say.
    if (!std::exchange(failed_, true)) log("cannot take a client: " + error.message());
    accept_again_.expires_after(kAcceptAgain);
    accept_again_.async_wait([service = weak_from_this()](const boost::system::error_code& cancelled) {
      if (const auto self = service.lock(); self && !cancelled && !self->closed_) self->accept();
    });
  }

  /// Takes one out of the strangers.
  std::shared_ptr<Session> take(Session& session) {
    for (auto at = strangers_.begin(); at != strangers_.end(); ++at) {
      if (at->get() != &session) continue;
      const std::shared_ptr<Session> found = *at;
      strangers_.erase(at);
      return found;
    }
    return nullptr;
  }

  stream_protocol::acceptor acceptor_;
  boost::asio::steady_timer accept_again_;
  std::string path_;
  Function& function_;
  Server::Options options_;
  struct stat file_ {};  ///< the socket's
  bool closed_ = false;
  bool failed_ = false;  ///< to take the last one, which was logged
  std::shared_ptr<Session> client_;
  std::deque<std::shared_ptr<Session>> strangers_;
  ServerCounters counters_;
};

class SocketServer final : public Server {
 public:
  explicit SocketServer(std::shared_ptr<Service> service) : service_(std::move(service)) {
    service_->accept();
  }
  ~SocketServer() override { service_->close(); }
  SocketServer(const SocketServer&) = delete;
  SocketServer& operator=(const SocketServer&) = delete;

  [[nodiscard]] bool has_client() const override { return service_->has_client(); }
  void disconnect() override { service_->disconnect(); }
  [[nodiscard]] const ServerCounters& counters() const override { return service_->count(); }

 private:
  const std::shared_ptr<Service> service_;
};

/// Whether somebody serves at a socket: nobody does (ECONNREFUSED), or it is no socket of this kind, gives an
/// errno. One with more connections than it takes is served (EAGAIN).
int answer_at(const std::string& path) {
  const Descriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const stream_protocol::endpoint address(path);
  return connect(probe.number(), address.data(), static_cast<socklen_t>(address.size())) == 0 ? 0 : errno;
}

}  // namespace

Result<std::unique_ptr<Server>> Server::listen(boost::asio::io_context& io, std::string path,
                                               Function& function, Options options) {
  const auto fault = [&](const std::string& message, const std::string& hint = {}) {
    return Diagnostic::about(path, message, hint);
  };
  constexpr std::size_t kLongest = sizeof(sockaddr_un::sun_path) - 1;
  if (path.empty() || path.size() > kLongest)
    return fault(
        fmt::format("the path of a socket has 1 to {} bytes, and this one has {}", kLongest, path.size()),
        "choose a shorter one, in $XDG_RUNTIME_DIR or /tmp");
  struct stat status {};
  if (lstat(path.c_str(), &status) == 0) {
    if (!S_ISSOCK(status.st_mode)) return fault("there is a file there that is no socket");
    if (answer_at(path) != ECONNREFUSED) return fault("somebody serves there already", "choose another path");
    if (unlink(path.c_str()) != 0) return fault(fmt::format("cannot replace it: {}", strerror(errno)));
  }
  boost::system::error_code error;
  stream_protocol::acceptor acceptor(io);
  acceptor.open(stream_protocol(), error);
  bool bound = false;
  if (!error) {
    acceptor.bind(stream_protocol::endpoint(path), error);
    bound = !error;
  }
  // Nobody can connect before it listens.
  if (!error && chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0)
    error = boost::system::error_code(errno, boost::system::system_category());
  if (!error) acceptor.listen(stream_protocol::acceptor::max_listen_connections, error);
  if (error) {
    if (bound) unlink(path.c_str());
    return fault("cannot listen there: " + error.message());
  }
  return std::unique_ptr<Server>(std::make_unique<SocketServer>(
      std::make_shared<Service>(std::move(acceptor), std::move(path), function, std::move(options))));
}

}  // namespace warpline::vfio_user
