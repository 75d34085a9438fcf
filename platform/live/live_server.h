#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "platform/live/http.h"
#include "platform/live/live_run.h"
#include "rtl_models/base/problem.h"

namespace warpline::live {

/// What a request asks, by the part of its target behind the token: "state", "step?to=1000".
/// A fault: nothing is called so, or a parameter is none of its own, or not what it has to be.
[[nodiscard]] Result<Question> question_of(const std::string& method, const std::string& rest);

/// The header that a client sends with every wish, which a page of somebody else's cannot.
inline constexpr const char* kWishHeader = "X-Warpline";

/// Serves a run to clients on this machine: a page, and what it and `warpline watch` ask, as JSON
/// (docs/live.md). All of it lies behind a random token, without which nothing is found.
class LiveServer {
 public:
  /// `run` outlives it.
  explicit LiveServer(LiveRun& run, HttpLimits limits = {});
  /// Serves on this port from now on; 0: on any that is free. Returns why it cannot, or nothing.
  [[nodiscard]] std::string start(std::uint16_t port);
  /// "http://127.0.0.1:8080/0f3a.../". Pre: it has started.
  [[nodiscard]] std::string address() const;
  [[nodiscard]] std::uint16_t port() const { return http_.port(); }
  [[nodiscard]] const std::string& token() const { return token_; }
  void stop() { http_.stop(); }

 private:
  std::function<HttpReply()> handle(const HttpRequest& request, HttpServer::Send send);

  LiveRun& run_;
  std::string token_, page_;
  HttpServer http_;
};

}  // namespace warpline::live
