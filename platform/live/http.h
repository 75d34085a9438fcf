#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace warpline::live {

/// A request as it came, of which everything may be wrong but its form.
struct HttpRequest {
  std::string method;  ///< "GET"
  std::string target;  ///< path and query, not decoded
  std::vector<std::pair<std::string, std::string>> headers;

  /// The value of a header, whose name is compared without case; nothing has: an empty text. `times`: unless
  /// null, how often it is there.
  [[nodiscard]] std::string header(const std::string& name, unsigned* times = nullptr) const;
};

struct HttpReply {
  unsigned status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};  ///< besides
};

/// What of clients a server puts up with.
struct HttpLimits {
  unsigned connections = 32;                                     ///< at once; more are closed
  std::uint32_t header_bytes = 8192;                             ///< of a request, its first line among them
  std::uint64_t body_bytes = 1024;                               ///< bodies mean nothing here
  std::chrono::milliseconds first = std::chrono::seconds(2);     ///< for a connection's first request
  std::chrono::milliseconds request = std::chrono::seconds(20);  ///< for any other, idle time before it too
  std::chrono::milliseconds reply = std::chrono::seconds(10);    ///< for the client to take a reply
  std::chrono::milliseconds patience = std::chrono::seconds(2);  ///< for the handler to make one
  std::chrono::milliseconds farewell = std::chrono::milliseconds(300);  ///< for the last replies, at the end
};

/// A server of HTTP/1.1 on the loopback address alone, with one thread of its own, which takes no signals.
/// Nothing that a client sends, or does not send, does more than end that client's connection.
class HttpServer {
 public:
  using Send = std::function<void(HttpReply)>;
  /// Called by the server's thread for each request. It has `send` called once, by any thread, at any time.
  /// Returns what is sent in its place if that has not been done in HttpLimits::patience.
  using Handler = std::function<std::function<HttpReply()>(const HttpRequest&, Send send)>;

  HttpServer(Handler handler, HttpLimits limits = {});
  /// As stop().
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Serves on this port from now on; 0: on any that is free. Returns why it cannot, or nothing.
  [[nodiscard]] std::string start(std::uint16_t port);
  [[nodiscard]] std::uint16_t port() const;
  /// Takes nothing more, and closes all connections; what is being sent has HttpLimits::farewell to arrive.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// What a server said, or why it said nothing.
struct HttpAnswer {
  std::string failure;  ///< "cannot connect: Connection refused"; empty: there is an answer
  unsigned status = 0;
  std::string type, body;
};

/// Asks a server on the loopback address. Waits no longer than `most`.
[[nodiscard]] HttpAnswer ask_http(std::uint16_t port, const std::string& method, const std::string& target,
                                  const std::vector<std::pair<std::string, std::string>>& headers,
                                  std::chrono::milliseconds most);

}  // namespace warpline::live
