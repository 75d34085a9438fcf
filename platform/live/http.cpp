#include "platform/live/http.h"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <csignal>
#include <optional>
#include <set>
#include <thread>

namespace warpline::live {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;

constexpr std::uint64_t kMostAnswerBytes = std::uint64_t{64} << 20U;

class Session;

/// What the sessions of a server share.
struct Shared : std::enable_shared_from_this<Shared> {
  HttpServer::Handler handler;
  HttpLimits limits;
  std::set<Session*> sessions;
  bool stops = false;
  asio::io_context io{1};
  asio::steady_timer farewell{io};
};

/// A connection: one request after the other.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Shared& shared, tcp::socket socket)
      : shared_(shared),
        stream_(std::move(socket)),
        timer_(shared.io),
        buffer_(shared.limits.header_bytes + 4096) {
    shared_.sessions.insert(this);
  }
  ~Session() {
    shared_.sessions.erase(this);
    if (shared_.sessions.empty()) shared_.farewell.cancel();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void read() {
    if (shared_.stops) return;
    parser_.emplace();
    parser_->header_limit(shared_.limits.header_bytes);
    parser_->body_limit(shared_.limits.body_bytes);
    stream_.expires_after(requests_ == 0 ? shared_.limits.first : shared_.limits.request);
    reads_ = true;
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](beast::error_code error, std::size_t /*bytes*/) {
                       self->was_read(error);
                     });
  }
  /// No further request is read; what is being answered still is.
  void stop() {
    if (reads_) close();
  }
  void close() {
    timer_.cancel();
    beast::error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.close();
  }

 private:
  void was_read(beast::error_code error) {
    reads_ = false;
    keeps_ = false;
    if (error == http::error::header_limit) return write({431, "text/plain", "the header is too long\n"});
    if (error == http::error::body_limit) return write({413, "text/plain", "the body is too long\n"});
    if (error.category() == http::make_error_code(http::error::bad_target).category() &&
        error != http::error::end_of_stream && error != http::error::partial_message)
      return write({400, "text/plain", "this is no request\n"});
    if (error) return close();
    const auto& message = parser_->get();
    // A reply to HEAD would have to leave its body out.
    keeps_ = message.keep_alive() && !shared_.stops && message.method() != http::verb::head;
    HttpRequest request{std::string(message.method_string()), std::string(message.target()), {}};
    for (const auto& field : message)
      request.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
    const auto number = ++requests_;
    // The answer may come from any thread, and after this session has ended.
    const auto send = [shared = shared_.shared_from_this(), weak = weak_from_this(),
                       number](HttpReply reply) {
      asio::post(shared->io, [weak, number, reply = std::move(reply)]() mutable {
        const auto self = weak.lock();
        if (self == nullptr || self->answered_ == number) return;
        self->timer_.cancel();
        self->answered_ = number;
        self->write(std::move(reply));
      });
    };
    timer_.expires_after(shared_.limits.patience);
    auto otherwise = shared_.handler(request, send);
    timer_.async_wait(
        [self = shared_from_this(), number, otherwise = std::move(otherwise)](beast::error_code e) {
          if (e || self->answered_ == number || self->requests_ != number) return;
          self->answered_ = number;
          self->write(otherwise());
        });
  }
  void write(HttpReply reply) {
    auto response = std::make_shared<http::response<http::string_body>>();
    response->version(11);
    response->result(reply.status);
    response->set(http::field::content_type, reply.type);
    for (const auto& [name, value] : reply.headers) response->set(name, value);
    response->keep_alive(keeps_);
    response->body() = std::move(reply.body);
    response->prepare_payload();
    stream_.expires_after(shared_.limits.reply);
    http::async_write(stream_, *response,
                      [self = shared_from_this(), response](beast::error_code error, std::size_t /*bytes*/) {
                        if (error || !self->keeps_) return self->close();
                        self->read();
                      });
  }
  Shared& shared_;
  beast::tcp_stream stream_;
  asio::steady_timer timer_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  bool reads_ = false, keeps_ = false;
  std::uint64_t requests_ = 0, answered_ = 0;
};

/// Signals are for the run's thread.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

std::string HttpRequest::header(const std::string& name, unsigned* times) const {
  std::string value;
  unsigned found = 0;
  for (const auto& [n, v] : headers)
    if (beast::iequals(n, name) && found++ == 0) value = v;
  if (times != nullptr) *times = found;
  return value;
}

struct HttpServer::State {
  std::shared_ptr<Shared> together = std::make_shared<Shared>();
  Shared& shared = *together;
  tcp::acceptor acceptor{shared.io};
  asio::steady_timer pause{shared.io};
  std::thread thread;

  void accept() {
    acceptor.async_accept([this](beast::error_code error, tcp::socket socket) {
      if (!acceptor.is_open()) return;
      if (error) {
        // Such as too many open files: which pass.
        pause.expires_after(std::chrono::milliseconds(100));
        pause.async_wait([this](beast::error_code stopped) {
          if (!stopped) accept();
        });
        return;
      }
      if (shared.sessions.size() < shared.limits.connections)
        std::make_shared<Session>(shared, std::move(socket))->read();
      accept();
    });
  }
};

HttpServer::HttpServer(Handler handler, HttpLimits limits) : state_(std::make_unique<State>()) {
  state_->shared.handler = std::move(handler);
  state_->shared.limits = limits;
}

HttpServer::~HttpServer() {
  stop();
}

std::string HttpServer::start(std::uint16_t port) {
  State& s = *state_;
  beast::error_code error;
  const tcp::endpoint at(asio::ip::address_v4::loopback(), port);
  s.acceptor.open(at.protocol(), error);
  if (!error) s.acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) s.acceptor.bind(at, error);
  if (!error) s.acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    beast::error_code ignored;
    s.acceptor.close(ignored);
    return error.message();
  }
  s.accept();
  const SignalsBlocked blocked;
  s.thread = std::thread([&s] {
    // What one connection cannot be given, such as memory, is no reason to end the others, or the run.
    for (bool over = false; !over;) {
      try {
        s.shared.io.run();
        over = true;
      } catch (const std::exception&) {
      }
    }
  });
  return {};
}

std::uint16_t HttpServer::port() const {
  beast::error_code ignored;
  return state_->acceptor.local_endpoint(ignored).port();
}

void HttpServer::stop() {
  State& s = *state_;
  if (!s.thread.joinable()) return;
  asio::post(s.shared.io, [&s] {
    beast::error_code ignored;
    s.shared.stops = true;
    s.acceptor.close(ignored);
    s.pause.cancel();
    const std::set<Session*> sessions = s.shared.sessions;
    for (Session* session : sessions) session->stop();
    if (s.shared.sessions.empty()) return;
    s.shared.farewell.expires_after(s.shared.limits.farewell);
    s.shared.farewell.async_wait([&s](beast::error_code all_gone) {
      if (all_gone) return;
      const std::set<Session*> left = s.shared.sessions;
      for (Session* session : left) session->close();
    });
  });
  s.thread.join();
}

HttpAnswer ask_http(std::uint16_t port, const std::string& method, const std::string& target,
                    const std::vector<std::pair<std::string, std::string>>& headers,
                    std::chrono::milliseconds most) {
  asio::io_context io{1};
  beast::tcp_stream stream(io);
  beast::error_code failed;
  beast::flat_buffer buffer;
  http::request<http::empty_body> request;
  http::response_parser<http::string_body> parser;
  parser.body_limit(kMostAnswerBytes);
  request.method_string(method);
  request.target(target);
  request.version(11);
  request.set(http::field::host, "127.0.0.1:" + std::to_string(port));
  for (const auto& [name, value] : headers) request.set(name, value);
  request.keep_alive(false);
  request.prepare_payload();
  std::string step = "cannot connect";
  stream.expires_after(most);
  stream.async_connect(tcp::endpoint(asio::ip::address_v4::loopback(), port), [&](beast::error_code error) {
    failed = error;
    if (error) return;
    step = "cannot be asked";
    http::async_write(stream, request, [&](beast::error_code e, std::size_t /*bytes*/) {
      failed = e;
      if (e) return;
      step = "gives no answer";
      http::async_read(stream, buffer, parser,
                       [&](beast::error_code last, std::size_t /*bytes*/) { failed = last; });
    });
  });
  io.run();
  if (failed) return {step + ": " + failed.message(), 0, {}, {}};
  const auto& message = parser.get();
  return {{}, message.result_int(), std::string(message[http::field::content_type]), message.body()};
}

}  // namespace warpline::live
