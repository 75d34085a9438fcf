#include "platform/vfio_user/server.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <utility>

#include "platform/vfio_user/session.h"

namespace warpline::vfio_user {
namespace {

using boost::asio::local::stream_protocol;

/// Connections that have not said their version yet: the oldest goes when one more comes.
constexpr std::size_t kMostStrangers = 8;

class SocketServer final : public Server, private SessionOwner {
 public:
  SocketServer(stream_protocol::acceptor acceptor, std::string path, Function& function, Options options)
      : acceptor_(std::move(acceptor)),
        path_(std::move(path)),
        function_(function),
        options_(std::move(options)) {
    struct stat status {};
    if (stat(path_.c_str(), &status) == 0) inode_ = status.st_ino;
    accept();
  }
  ~SocketServer() override {
    disconnect();
    while (!strangers_.empty()) strangers_.front()->end();
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    struct stat status {};
    if (stat(path_.c_str(), &status) == 0 && status.st_ino == inode_) unlink(path_.c_str());
  }
  SocketServer(const SocketServer&) = delete;
  SocketServer& operator=(const SocketServer&) = delete;

  [[nodiscard]] bool has_client() const override { return client_ != nullptr; }
  void disconnect() override {
    if (client_) client_->end();
  }
  [[nodiscard]] const ServerCounters& counters() const override { return counters_; }

 private:
  void accept() {
    acceptor_.async_accept([this](const boost::system::error_code& error, stream_protocol::socket socket) {
      if (error == boost::asio::error::operation_aborted) return;
      if (error) {
        log("cannot take a client: " + error.message());
      } else {
        if (strangers_.size() >= kMostStrangers) strangers_.front()->end();
        auto session = std::make_shared<Session>(std::move(socket), function_,
                                                 static_cast<SessionOwner&>(*this), options_.patience);
        strangers_.push_back(session);
        session->start();
      }
      accept();
    });
  }

  [[nodiscard]] bool admit(Session& session) override {
    if (client_) return false;
    client_ = take(session);
    ++counters_.clients;
    return true;
  }
  void ended(Session& session) override {
    if (client_.get() != &session) {
      static_cast<void>(take(session));
      return;
    }
    const std::shared_ptr<Session> gone = std::exchange(client_, nullptr);
    function_.detach();
  }
  [[nodiscard]] ServerCounters& count() override { return counters_; }
  void log(const std::string& sentence) override {
    if (options_.log) options_.log(sentence);
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
  std::string path_;
  Function& function_;
  Options options_;
  ino_t inode_ = 0;
  std::shared_ptr<Session> client_;
  std::deque<std::shared_ptr<Session>> strangers_;
  ServerCounters counters_;
};

/// Whether somebody serves at a socket: nobody does, or it is no socket of this kind, gives an errno.
int answer_at(boost::asio::io_context& io, const std::string& path) {
  boost::system::error_code error;
  stream_protocol::socket probe(io);
  probe.connect(stream_protocol::endpoint(path), error);
  return error.value();
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
    if (answer_at(io, path) != ECONNREFUSED)
      return fault("somebody serves there already", "choose another path");
    if (unlink(path.c_str()) != 0) return fault(fmt::format("cannot replace it: {}", strerror(errno)));
  }
  boost::system::error_code error;
  stream_protocol::acceptor acceptor(io);
  acceptor.open(stream_protocol(), error);
  if (!error) acceptor.bind(stream_protocol::endpoint(path), error);
  // Nobody can connect before it listens.
  if (!error && chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0)
    error = boost::system::error_code(errno, boost::system::system_category());
  if (!error) acceptor.listen(stream_protocol::acceptor::max_listen_connections, error);
  if (error) return fault("cannot listen there: " + error.message());
  return std::unique_ptr<Server>(
      std::make_unique<SocketServer>(std::move(acceptor), std::move(path), function, std::move(options)));
}

}  // namespace warpline::vfio_user
