// What clients may send: the right thing is answered, and nothing else does any harm.
#include "platform/live/live_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "platform/live/live_client.h"
#include "platform/live/live_page.h"
#include "rtl_models/base/random.h"
#include "tests/platform/machine/two_gpus.h"

namespace warpline::live {
namespace live_server_test {

/// A connection as anybody may open it.
class Line {
 public:
  explicit Line(std::uint16_t port) : file_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    open_ = connect(file_, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0;
  }
  ~Line() { close(file_); }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  void say(const std::string& text) const {
    static_cast<void>(::send(file_, text.data(), text.size(), MSG_NOSIGNAL));
  }
  void end() const { shutdown(file_, SHUT_WR); }
  /// All that comes until the other side ends, or nothing comes for so long.
  [[nodiscard]] std::string hear(int milliseconds = 3000) const {
    std::string out;
    char buffer[4096];
    pollfd comes{file_, POLLIN, 0};
    while (poll(&comes, 1, milliseconds) > 0) {
      const ssize_t got = recv(file_, buffer, sizeof buffer, 0);
      if (got <= 0) break;
      out.append(buffer, static_cast<std::size_t>(got));
    }
    return out;
  }

 private:
  int file_;
  bool open_ = false;
};

class LiveServers : public ::testing::Test {
 protected:
  LiveServers() : live_({"0", "mini", 2, {"k.toml"}, 1}, true), server_(live_, limits()) {
    gpus_.platform().build();
    live_.watch(gpus_.platform());
    EXPECT_EQ(server_.start(0), "");
    // The run pauses for as long as the test takes.
    runs_ = std::thread([this] {
      live_.launch(0, "k");
      static_cast<void>(live_.look(0, [this] { return !over_; }));
    });
  }
  ~LiveServers() override {
    over_ = true;
    runs_.join();
  }
  static HttpLimits limits() {
    HttpLimits l;
    l.connections = 8;
    l.request = l.first = std::chrono::milliseconds(400);
    return l;
  }
  /// The first line of what is answered to a request with these parts.
  std::string status(const std::string& method, const std::string& target, const std::string& host,
                     const std::string& more = "") {
    const Line line(server_.port());
    line.say(method + " " + target + " HTTP/1.1\r\n" + (host.empty() ? "" : "Host: " + host + "\r\n") + more +
             "Connection: close\r\n\r\n");
    const std::string all = line.hear();
    return all.substr(0, all.find('\r')).substr(0, 12);
  }
  std::string here() { return "127.0.0.1:" + std::to_string(server_.port()); }
  std::string path(const std::string& rest) { return "/" + server_.token() + "/" + rest; }
  LiveClient client() { return LiveClient(place_of(server_.address()).value()); }

  test::TwoGpus gpus_;
  LiveRun live_;
  LiveServer server_;
  std::thread runs_;
  std::atomic<bool> over_{false};
};

TEST_F(LiveServers, AnswerWhoHasTheToken) {
  EXPECT_EQ(status("GET", path(""), here()), "HTTP/1.1 200");
  EXPECT_EQ(status("GET", path("state"), "localhost:" + std::to_string(server_.port())), "HTTP/1.1 200");
  for (const char* question : {"counters", "counters?match=l2*&top=3&since=0", "queues?top=5", "waits?top=5"})
    EXPECT_EQ(status("GET", path(question), here()), "HTTP/1.1 200") << question;
  const auto state = client().get("state");
  ASSERT_TRUE(state.ok());
  EXPECT_TRUE(facts_of(state.value()).value().paused);
  EXPECT_EQ(server_.token().size(), 32U);
}

TEST_F(LiveServers, AnswerNobodyElse) {
  const std::string not_found = "HTTP/1.1 404";
  std::string wrong = server_.token();
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  EXPECT_EQ(status("GET", "/", here()), not_found);
  EXPECT_EQ(status("GET", "/state", here()), not_found);
  EXPECT_EQ(status("GET", "/" + wrong + "/state", here()), not_found);
  EXPECT_EQ(status("GET", "/" + server_.token(), here()), not_found);
  EXPECT_EQ(status("GET", path("nothing"), here()), not_found);
  // By another name, as a page would come that had it lead here.
  EXPECT_EQ(status("GET", path("state"), "example.org:" + std::to_string(server_.port())), not_found);
  EXPECT_EQ(status("GET", path("state"), "127.0.0.1"), not_found);
  EXPECT_EQ(status("GET", path("state"), ""), not_found);
  EXPECT_EQ(status("GET", path("state"), here(), "Host: example.org\r\n").substr(9, 1), "4");
  EXPECT_EQ(status("GET", path("state"), here(), "Origin: http://example.org\r\n"), "HTTP/1.1 403");
  // A wish takes a header that no other page can send.
  EXPECT_EQ(status("POST", path("resume"), here()), "HTTP/1.1 403");
  EXPECT_EQ(status("GET", path("resume"), here()), "HTTP/1.1 405");
  EXPECT_EQ(status("POST", path("state"), here()), "HTTP/1.1 405");
  EXPECT_EQ(status("OPTIONS", path("resume"), here()), "HTTP/1.1 405");
  EXPECT_TRUE(facts_of(client().get("state").value()).value().paused);
}

TEST_F(LiveServers, ThePageHasAStrictPolicy) {
  const Line line(server_.port());
  line.say("GET " + path("") + " HTTP/1.1\r\nHost: " + here() + "\r\nConnection: close\r\n\r\n");
  const std::string all = line.hear();
  EXPECT_NE(all.find("Content-Security-Policy: default-src 'none'; style-src 'sha256-"), std::string::npos);
  EXPECT_EQ(live_page().find("http://"), std::string::npos);
  EXPECT_EQ(live_page().find("https://"), std::string::npos);
  EXPECT_EQ(live_page().find(" style="), std::string::npos);
}

TEST_F(LiveServers, BoundWhatTheyTake) {
  EXPECT_EQ(status("GET", path(std::string(20'000, 'x')), here()), "HTTP/1.1 431");
  EXPECT_EQ(status("GET", path("state"), here(), "X: " + std::string(20'000, 'x') + "\r\n"), "HTTP/1.1 431");
  EXPECT_EQ(status("POST", path("pause"), here(), "X-Warpline: a\r\nContent-Length: 1000000\r\n"),
            "HTTP/1.1 413");
  EXPECT_EQ(status("GET", path("state"), here(), "Content-Length: x\r\n"), "HTTP/1.1 400");
  // Who says half of it, and who says nothing.
  const Line slow(server_.port()), silent(server_.port());
  slow.say("GET " + path("state") + " HTTP/1.1\r\nHo");
  EXPECT_EQ(slow.hear(2000), "");
  EXPECT_EQ(silent.hear(2000), "");
  // More than it has room for.
  {
    std::vector<std::unique_ptr<Line>> lines;
    for (unsigned n = 0; n < 40; ++n) lines.push_back(std::make_unique<Line>(server_.port()));
    EXPECT_EQ(lines.back()->hear(1000), "");
  }
  for (unsigned n = 0; n < 50; ++n) {
    if (client().get("state").ok()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ADD_FAILURE() << "it does not recover";
}

TEST_F(LiveServers, SurviveDamagedRequests) {
  const std::string whole =
      "GET " + path("line?address=0x100&gpu=0") + " HTTP/1.1\r\nHost: " + here() +
      "\r\nAccept: */*\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\nabcde\r\n0\r\n\r\n";
  for (unsigned seed = 0; seed < 150; ++seed) {
    Random random(seed);
    std::string damaged = whole;
    for (std::uint64_t n = 1 + random.below(6); n != 0; --n) {
      const std::size_t at = random.below(damaged.size());
      switch (random.below(4)) {
        case 0: damaged[at] = static_cast<char>(random.below(256)); break;
        case 1: damaged.erase(at, 1 + random.below(20)); break;
        case 2: damaged.insert(at, damaged.substr(random.below(damaged.size()), random.below(40))); break;
        default: damaged.resize(at + 1); break;
      }
    }
    const Line line(server_.port());
    line.say(damaged);
    line.end();
    static_cast<void>(line.hear(seed % 10 == 0 ? 100 : 0));
  }
  for (unsigned n = 0; n < 50; ++n) {
    if (client().get("state").ok()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ADD_FAILURE() << "it does not recover";
}

/// Whom nobody has answered does not hold up the end.
TEST(LiveServer, EndsWithQuestionsOpen) {
  HttpLimits patient;
  patient.patience = patient.reply = patient.request = std::chrono::minutes(60);
  patient.farewell = std::chrono::milliseconds(20);
  std::atomic<bool> asked{false};
  HttpServer server(
      [&](const HttpRequest&, HttpServer::Send) {
        asked = true;
        return [] { return HttpReply{}; };
      },
      patient);
  ASSERT_EQ(server.start(0), "");
  const Line line(server.port());
  line.say("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  while (!asked) std::this_thread::yield();
  server.stop();
  EXPECT_EQ(line.hear(), "");
}

TEST(LiveClients, ReadNothingThatIsDeeperThanARunSays) {
  const std::string deep(200'000, '[');
  const std::string answer = R"({"phase": "running", "caches": [{"cache": "l2", "present": true, "valid": )" +
                             deep + std::string(deep.size(), ']') + "}]}";
  EXPECT_NE(line_text(answer).find("l2"), std::string::npos);
  EXPECT_FALSE(facts_of(answer).value().ended);
}

TEST(LiveClients, KnowWhetherARunStepsOn) {
  EXPECT_TRUE(facts_of(R"({"phase": "running", "step_to": 5})").value().steps);
  EXPECT_FALSE(facts_of(R"({"phase": "running", "paused": true, "step_to": null})").value().steps);
}

TEST(LiveQuestions, AreReadOrRefused) {
  const auto q = [](const std::string& method, const std::string& rest) { return question_of(method, rest); };
  const auto why = [](const std::string& rest, const std::string& method = "GET") {
    const auto question = question_of(method, rest);
    return question.ok() ? std::string() : question.faults().front().message;
  };
  EXPECT_EQ(q("GET", "line?address=0x7F00&gpu=2").value().address, 0x7F00U);
  EXPECT_EQ(q("GET", "line?address=32512").value().address, 32512U);
  EXPECT_EQ(q("GET", "counters?match=l2%5B0%5D.*").value().match, "l2[0].*");
  EXPECT_EQ(*q("GET", "counters?since=12").value().since, 12U);
  EXPECT_TRUE(q("POST", "step?by=12").value().relative);
  EXPECT_FALSE(q("POST", "step?to=12").value().relative);
  EXPECT_EQ(why("state?x=1"), "state has no parameters");
  EXPECT_EQ(why("queues?tops=1"), "queues has no such parameter: it has match, top");
  EXPECT_EQ(why("queues?top=1&top=2"), "top is there twice");
  EXPECT_EQ(why("queues?top"), "parameters are NAME=VALUE, with & between");
  EXPECT_EQ(why("queues?match=%zz"), "parameters are NAME=VALUE, with & between");
  EXPECT_EQ(why("queues?match=%4"), "parameters are NAME=VALUE, with & between");
  EXPECT_EQ(why("queues?top=-1"), "top is no whole number");
  EXPECT_EQ(why("line"), "line needs an address");
  EXPECT_EQ(why("line?address=0x"), "address is no number: 0x7f00, or 32512");
  EXPECT_EQ(why("line?address=1&gpu=99999999999"), "there is no such GPU");
  EXPECT_EQ(why("step", "POST"), "step needs the cycle to stop at (to), or how many to go on (by)");
  EXPECT_EQ(why("step?to=1&by=2", "POST"), "step needs the cycle to stop at (to), or how many to go on (by)");
  EXPECT_EQ(why("lines"), "nothing is called so");
}

TEST(LiveClients, SayWhatIsWrong) {
  const auto why = [](const std::string& address) {
    const auto place = place_of(address);
    return place.ok() ? std::string() : place.faults().front().message;
  };
  EXPECT_EQ(why("http://127.0.0.1:8080/0123456789abcdef/"), "");
  EXPECT_EQ(why("localhost:8080/0a"), "");
  EXPECT_EQ(why("8080"), "\"8080\" is no address of a run");
  EXPECT_EQ(why("http://example.org:80/0a/"),
            "runs are watched on their own machine, and \"example.org\" is another name");
  EXPECT_EQ(why("http://127.0.0.1:x/0a/"), "\"http://127.0.0.1:x/0a/\" has no port");
  EXPECT_EQ(why("http://127.0.0.1:80/"), "\"http://127.0.0.1:80/\" has no token behind its port");
  EXPECT_EQ(why("http://127.0.0.1:80/../x"), "\"http://127.0.0.1:80/../x\" has no token behind its port");

  HttpServer other([](const HttpRequest&, const HttpServer::Send& send) {
    send({200, "text/html", "<p>hello</p>"});
    return std::function<HttpReply()>();
  });
  ASSERT_EQ(other.start(0), "");
  const std::uint16_t port = other.port();
  const auto failure = [port](const char* target) {
    return LiveClient({port, "0a"}).get(target).faults().front().message;
  };
  const std::string where = "127.0.0.1:" + std::to_string(port);
  EXPECT_EQ(failure("state"), where + " is no Warpline: it answers with something else");
  other.stop();
  EXPECT_EQ(failure("state"), where + " cannot connect: Connection refused");
}

}  // namespace live_server_test
}  // namespace warpline::live
