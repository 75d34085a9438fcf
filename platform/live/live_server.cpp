#include "platform/live/live_server.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>

#include "platform/live/live_page.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/document.h"

namespace warpline::live {
namespace {

constexpr std::size_t kTokenBytes = 16;

/// Nobody guesses it. Empty: the system has no random numbers to give.
std::string random_token() {
  std::array<unsigned char, kTokenBytes> bytes{};
  for (std::size_t have = 0; have < bytes.size();) {
    const ssize_t got = getrandom(bytes.data() + have, bytes.size() - have, 0);
    if (got < 0 && errno != EINTR) return {};
    if (got > 0) have += static_cast<std::size_t>(got);
  }
  std::string out;
  for (const unsigned char b : bytes) {
    out += "0123456789abcdef"[b >> 4U];
    out += "0123456789abcdef"[b & 15U];
  }
  return out;
}

/// Whether two texts are equal, in a time that does not tell where they differ.
bool same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned differs = 0;
  for (std::size_t n = 0; n < a.size(); ++n)
    differs |= static_cast<unsigned>(static_cast<unsigned char>(a[n]) ^ static_cast<unsigned char>(b[n]));
  return differs == 0;
}

/// %41 as "A". False: the text is not well formed.
bool decode(std::string_view text, std::string& out) {
  const auto digit = [](char c) {
    return is_digit(c)            ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  };
  for (std::size_t n = 0; n < text.size(); ++n) {
    if (text[n] != '%') {
      out += text[n] == '+' ? ' ' : text[n];
      continue;
    }
    if (n + 2 >= text.size() || digit(text[n + 1]) < 0 || digit(text[n + 2]) < 0) return false;
    out += static_cast<char>(digit(text[n + 1]) * 16 + digit(text[n + 2]));
    n += 2;
  }
  return true;
}

struct Endpoint {
  const char* name;
  Question::Kind kind;
  std::vector<std::string> parameters;
};

const std::vector<Endpoint>& endpoints() {
  using Kind = Question::Kind;
  static const std::vector<Endpoint> kEndpoints = {
      {"state", Kind::state, {}},
      {"counters", Kind::counters, {"match", "since", "top"}},
      {"queues", Kind::queues, {"match", "top"}},
      {"waits", Kind::waits, {"top"}},
      {"line", Kind::line, {"address", "gpu"}},
      {"memory", Kind::memory, {"gpu"}},
      {"pause", Kind::pause, {}},
      {"resume", Kind::resume, {}},
      {"step", Kind::step, {"by", "to"}},
  };
  return kEndpoints;
}

Diagnostic fault(const std::string& sentence) {
  return Diagnostic::about("", sentence);
}

/// Sets what a parameter says. Returns what is wrong with it, or nothing.
std::string set(Question& q, const std::string& name, const std::string& value) {
  if (name == "match") {
    q.match = value;
    return value.empty() ? "match is empty" : "";
  }
  if (name == "address") {
    const std::string digits = value.rfind("0x", 0) == 0 || value.rfind("0X", 0) == 0 ? value.substr(2) : "";
    const auto number =
        digits.empty() ? number_from<std::uint64_t>(value) : number_from<std::uint64_t>(digits, 16);
    if (!number) return "address is no number: 0x7f00, or 32512";
    q.address = *number;
    return {};
  }
  const auto number = number_from<std::uint64_t>(value);
  if (!number) return name + " is no whole number";
  if (name == "since") q.since = *number;
  if (name == "top") q.top = static_cast<std::size_t>(*number);
  if (name == "gpu") {
    if (*number > std::numeric_limits<unsigned>::max()) return "there is no such GPU";
    q.gpu = static_cast<unsigned>(*number);
  }
  if (name == "to" || name == "by") {
    q.cycles = *number;
    q.relative = name == "by";
  }
  return {};
}

HttpReply as_reply(Answer answer) {
  return {answer.status, "application/json", std::move(answer.json) + "\n"};
}

/// What every reply says to browsers: nothing of it is for others, and nothing is kept.
HttpReply guarded(HttpReply reply) {
  reply.headers.emplace_back("Cache-Control", "no-store");
  reply.headers.emplace_back("X-Content-Type-Options", "nosniff");
  reply.headers.emplace_back("Referrer-Policy", "no-referrer");
  reply.headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
  if (reply.type != "text/html; charset=utf-8")
    reply.headers.emplace_back("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
  return reply;
}

}  // namespace

Result<Question> question_of(const std::string& method, const std::string& rest) {
  const std::size_t mark = rest.find('?');
  const std::string name = rest.substr(0, mark);
  const Endpoint* endpoint = nullptr;
  for (const Endpoint& e : endpoints())
    if (name == e.name) endpoint = &e;
  if (endpoint == nullptr) return fault("nothing is called so");
  Question question;
  question.kind = endpoint->kind;
  if (method != (question.is_wish() ? "POST" : "GET"))
    return fault(name + " is asked by " + (question.is_wish() ? "POST" : "GET"));
  std::vector<std::string> given;
  if (mark != std::string::npos && mark + 1 < rest.size()) {
    for (const std::string_view pair : split(std::string_view(rest).substr(mark + 1), '&')) {
      const std::size_t equals = pair.find('=');
      std::string key, value;
      if (equals == std::string_view::npos || !decode(pair.substr(0, equals), key) ||
          !decode(pair.substr(equals + 1), value))
        return fault("parameters are NAME=VALUE, with & between");
      const auto& known = endpoint->parameters;
      if (std::find(known.begin(), known.end(), key) == known.end())
        return fault(name + (known.empty() ? " has no parameters"
                                           : " has no such parameter: it has " + joined(known)));
      if (std::find(given.begin(), given.end(), key) != given.end()) return fault(key + " is there twice");
      given.push_back(key);
      if (const std::string wrong = set(question, key, value); !wrong.empty()) return fault(wrong);
    }
  }
  if (question.kind == Question::Kind::line &&
      std::find(given.begin(), given.end(), "address") == given.end())
    return fault("line needs an address");
  if (question.kind == Question::Kind::step && given.size() != 1)
    return fault("step needs the cycle to stop at (to), or how many to go on (by)");
  return question;
}

LiveServer::LiveServer(LiveRun& run, HttpLimits limits)
    : run_(run),
      token_(random_token()),
      http_([this](const HttpRequest& request,
                   HttpServer::Send send) { return handle(request, std::move(send)); },
            limits) {}

std::string LiveServer::start(std::uint16_t port) {
  if (token_.empty()) return "the system gives no random numbers";
  page_ = live_page();
  return http_.start(port);
}

std::string LiveServer::address() const {
  return "http://127.0.0.1:" + std::to_string(http_.port()) + "/" + token_ + "/";
}

std::function<HttpReply()> LiveServer::handle(const HttpRequest& request, HttpServer::Send send) {
  const auto reply = [&send](HttpReply r) {
    send(guarded(std::move(r)));
    return nullptr;
  };
  // Whoever has another name for this machine may be a page that means to reach it by that name.
  const std::string port = std::to_string(http_.port());
  unsigned hosts = 0;
  const std::string host = request.header("Host", &hosts);
  const auto is_own = [&](const std::string& name) {  // 80 is left out by who asks for it
    return host == name + ":" + port || (port == "80" && host == name);
  };
  const bool is_here = hosts == 1 && (is_own("127.0.0.1") || is_own("localhost"));
  const std::string prefix = "/" + token_ + "/";
  if (!is_here || !same(request.target.substr(0, prefix.size()), prefix))
    return reply({404, "text/plain", "there is nothing here\n"});
  unsigned origins = 0;
  const std::string origin = request.header("Origin", &origins);
  if (origins > 1 || (!origin.empty() && origin != "http://" + host))
    return reply({403, "text/plain", "not for other pages\n"});
  const std::string rest = request.target.substr(prefix.size());
  if (rest.empty()) {
    if (request.method != "GET") return reply({405, "text/plain", "the page is asked by GET\n"});
    HttpReply page{200, "text/html; charset=utf-8", page_};
    page.headers.emplace_back("Content-Security-Policy", live_page_policy());
    return reply(std::move(page));
  }
  const Result<Question> question = question_of(request.method, rest);
  if (!question.ok()) {
    const std::string& sentence = question.faults().front().message;
    const unsigned status = sentence == "nothing is called so"                    ? 404
                            : sentence.find(" is asked by ") != std::string::npos ? 405
                                                                                  : 400;
    return reply(as_reply(refusal(status, sentence)));
  }
  if (question.value().is_wish() && request.header(kWishHeader).empty())
    return reply(as_reply(refusal(403, std::string("a wish needs the header ") + kWishHeader)));
  run_.ask(question.value(),
           [send = std::move(send)](Answer answer) { send(guarded(as_reply(std::move(answer)))); });
  const bool is_state = question.value().kind == Question::Kind::state;
  return [this, is_state] {
    return guarded(as_reply(
        is_state ? run_.last_state()
                 : refusal(503, "the run is busy, and answers when it comes to a point between cycles")));
  };
}

}  // namespace warpline::live
