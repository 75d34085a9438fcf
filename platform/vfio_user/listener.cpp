#include "platform/vfio_user/listener.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "platform/vfio_user/descriptor.h"

namespace warpline::vfio_user {
namespace {

using boost::asio::local::stream_protocol;

/// After this time a connection that could not be taken is tried again.
constexpr std::chrono::milliseconds kAcceptAgain{100};

/// What a listener does. What it has under way in `io` does not keep it.
class Accepting final : public std::enable_shared_from_this<Accepting> {
 public:
  Accepting(stream_protocol::acceptor acceptor, std::string path)
      : acceptor_(std::move(acceptor)), again_(acceptor_.get_executor()), path_(std::move(path)) {
    if (stat(path_.c_str(), &file_) != 0) file_ = {};
  }
  void start(std::function<void(Listener::Socket)> taken, std::function<void(const std::string&)> log) {
    taken_ = std::move(taken);
    log_ = std::move(log);
    accept();
  }
  void close() {
    if (std::exchange(closed_, true)) return;
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    again_.cancel(ignored);
    struct stat now {};
    if (stat(path_.c_str(), &now) == 0 && now.st_ino == file_.st_ino && now.st_dev == file_.st_dev)
      unlink(path_.c_str());
  }

 private:
  void accept() {
    acceptor_.async_accept(
        [weak = weak_from_this()](const boost::system::error_code& error, stream_protocol::socket socket) {
          if (const auto self = weak.lock(); self && !self->closed_) self->take(error, std::move(socket));
        });
  }
  void take(const boost::system::error_code& error, stream_protocol::socket socket) {
    if (!error) {
      failed_ = false;
      taken_(std::move(socket));
      if (!closed_) accept();
      return;
    }
    // The connection is still there: no descriptor is left for it, say.
    if (!std::exchange(failed_, true)) log_("cannot take a client: " + error.message());
    again_.expires_after(kAcceptAgain);
    again_.async_wait([weak = weak_from_this()](const boost::system::error_code& cancelled) {
      if (const auto self = weak.lock(); self && !cancelled && !self->closed_) self->accept();
    });
  }

  stream_protocol::acceptor acceptor_;
  boost::asio::steady_timer again_;
  std::string path_;
  struct stat file_ {};  ///< the socket's
  std::function<void(Listener::Socket)> taken_;
  std::function<void(const std::string&)> log_;
  bool closed_ = false;
  bool failed_ = false;  ///< to take the last one, which was logged
};

class SocketListener final : public Listener {
 public:
  explicit SocketListener(std::shared_ptr<Accepting> accepting) : accepting_(std::move(accepting)) {}
  ~SocketListener() override { accepting_->close(); }
  SocketListener(const SocketListener&) = delete;
  SocketListener& operator=(const SocketListener&) = delete;

  void accept(std::function<void(Socket)> taken, std::function<void(const std::string&)> log) override {
    accepting_->start(std::move(taken), std::move(log));
  }
  void close() override { accepting_->close(); }

 private:
  const std::shared_ptr<Accepting> accepting_;
};

/// Whether somebody serves at a socket: nobody does (ECONNREFUSED), or it is no socket of this kind, gives an
/// errno. One with more connections than it takes is served (EAGAIN).
int answer_at(const std::string& path) {
  const Descriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const stream_protocol::endpoint address(path);
  return connect(probe.number(), address.data(), static_cast<socklen_t>(address.size())) == 0 ? 0 : errno;
}

}  // namespace

Result<std::unique_ptr<Listener>> Listener::at(boost::asio::io_context& io, const std::string& path) {
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
  return std::unique_ptr<Listener>(
      std::make_unique<SocketListener>(std::make_shared<Accepting>(std::move(acceptor), path)));
}

}  // namespace warpline::vfio_user
