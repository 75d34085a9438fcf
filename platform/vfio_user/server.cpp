#include "platform/vfio_user/server.h"

#include <deque>
#include <memory>
#include <utility>

#include "platform/vfio_user/listener.h"
#include "platform/vfio_user/session.h"

namespace warpline::vfio_user {
namespace {

/// Connections that have not said their version yet: the oldest goes when one more comes.
constexpr std::size_t kMostStrangers = 8;

/// What a server does. Its sessions share it, so that it is there when one of them ends with the server.
class Service final : public SessionOwner, public std::enable_shared_from_this<Service> {
 public:
  Service(std::unique_ptr<Listener> listener, Function& function, Server::Options options)
      : listener_(std::move(listener)), function_(function), options_(std::move(options)) {}

  /// Takes clients from now on.
  void accept() {
    listener_->accept(
        [service = weak_from_this()](Listener::Socket socket) {
          if (const auto self = service.lock()) self->take(std::move(socket));
        },
        [service = weak_from_this()](const std::string& sentence) {
          if (const auto self = service.lock()) self->log(sentence);
        });
  }
  /// Ends all that is under way. Nothing is done, called or logged after that.
  void close() {
    if (std::exchange(closed_, true)) return;
    disconnect();
    while (!strangers_.empty()) strangers_.front()->end();
    listener_->close();
    options_.log = nullptr;
  }
  void disconnect() {
    if (const auto client = client_) client->end();
  }
  [[nodiscard]] bool has_client() const { return client_ != nullptr; }
  /// Null: there is none.
  [[nodiscard]] Session* client() const { return client_.get(); }

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
  void take(Listener::Socket socket) {
    if (strangers_.size() >= kMostStrangers) strangers_.front()->end();
    auto session = std::make_shared<Session>(std::move(socket), function_, shared_from_this(),
                                             options_.patience, options_.is_looked_at);
    strangers_.push_back(session);
    session->start();
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

  const std::unique_ptr<Listener> listener_;
  Function& function_;
  Server::Options options_;
  bool closed_ = false;
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
  bool look() override {
    Session* const client = service_->client();
    return client != nullptr && client->look();
  }
  void sleep() override {
    if (Session* const client = service_->client(); client != nullptr) client->sleep();
  }
  void disconnect() override { service_->disconnect(); }
  [[nodiscard]] const ServerCounters& counters() const override { return service_->count(); }

 private:
  const std::shared_ptr<Service> service_;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::listen(boost::asio::io_context& io, std::string path,
                                               Function& function, Options options) {
  // Without it no event that a client gives would be known for one (Interrupts).
  if (access("/proc/self/fd", X_OK) != 0)
    return Diagnostic::about(path, "this process cannot look at its own descriptors in /proc/self/fd",
                             "is /proc mounted, and that of this PID namespace?");
  auto listener = Listener::at(io, path);
  if (!listener.ok()) return listener.faults();
  return std::unique_ptr<Server>(std::make_unique<SocketServer>(
      std::make_shared<Service>(std::move(listener.value()), function, std::move(options))));
}

}  // namespace warpline::vfio_user
