// The control socket of machines that are served.
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>
#include <random>

#include "platform/machine/device_log.h"
#include "platform/serve/control_client.h"
#include "platform/serve/control_server.h"
#include "rtl_models/registers/access_log.h"
#include "rtl_models/sim/engine.h"
#include "tests/platform/serve/served_peers.h"

namespace warpline {
namespace control_test {

using Kind = ControlRequest::Kind;
using test::ServedDriver;
using test::ServedPeers;
using ::testing::Contains;
using ::testing::HasSubstr;

ControlClient control_of(const ServedPeers& peers) {
  auto client = ControlClient::connect(peers.control());
  EXPECT_TRUE(client.ok());
  return std::move(client.value());
}

ControlRequest request(Kind kind, const std::string& name = {}, std::uint64_t value = 0) {
  ControlRequest out;
  out.kind = kind;
  out.name = name;
  out.value = value;
  return out;
}

ControlReply done(ControlClient& control, const ControlRequest& request) {
  auto reply = control.ask(request);
  EXPECT_TRUE(reply.ok()) << reply.faults().front().text();
  return reply.ok() ? reply.value() : ControlReply{};
}

std::string refusal(ControlClient& control, const ControlRequest& request) {
  const auto reply = control.ask(request);
  EXPECT_FALSE(reply.ok());
  return reply.ok() ? std::string() : reply.faults().front().message + "; " + reply.faults().front().hint;
}

ControlRequest looked_at(const std::string& name) {
  ControlRequest out = request(Kind::registers);
  out.names = {name};
  return out;
}

std::uint64_t look(ControlClient& control, const std::string& name) {
  const ControlReply reply = done(control, looked_at(name));
  EXPECT_EQ(reply.registers.size(), 1U);
  return reply.registers.empty() ? 0 : reply.registers.front().value;
}

/// A connection that says what it likes.
class Raw {
 public:
  explicit Raw(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(connect(socket_.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    const timeval patience{5, 0};
    setsockopt(socket_.number(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  void send(const std::string& bytes) const {
    static_cast<void>(::send(socket_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
  }
  /// Nothing: it is over.
  [[nodiscard]] std::string line() const {
    std::string out;
    for (char c = 0; recv(socket_.number(), &c, 1, 0) == 1 && c != '\n';) out += c;
    return out;
  }
  /// What is there of a line, as soon as something is.
  [[nodiscard]] std::string begin() const {
    char bytes[64];
    const ssize_t n = recv(socket_.number(), bytes, sizeof bytes, 0);
    return {bytes, static_cast<std::size_t>(n > 0 ? n : 0)};
  }
  /// It says nothing more, and listens.
  void half_close() const { shutdown(socket_.number(), SHUT_WR); }

 private:
  vfio_user::Descriptor socket_;
};

class ControlInEveryTime : public ::testing::TestWithParam<bool> {
 protected:
  ServedPeers peers{ServedPeers::Options{2, GetParam(), 0, {}}};
};
std::string name_of_time(const ::testing::TestParamInfo<bool>& info) {
  return info.param ? "Loose" : "Timed";
}
INSTANTIATE_TEST_SUITE_P(Control, ControlInEveryTime, ::testing::Bool(), name_of_time);

TEST_P(ControlInEveryTime, RegistersAreSeenAndWritten) {
  const auto client = peers.client();
  ASSERT_NE(client, nullptr);
  ServedDriver driver(*client);
  ControlClient control = control_of(peers);
  const ControlReply status = done(control, looked_at("peer[0].STATUS"));
  ASSERT_EQ(status.registers.size(), 1U);
  const ControlRegister& found = status.registers.front();
  EXPECT_EQ(found.function, "peer[0]");
  EXPECT_EQ(found.offset, 0x14U);
  ASSERT_FALSE(found.fields.empty());
  EXPECT_EQ(found.fields.front().name, "READY");
  EXPECT_EQ(found.fields.front().value, 1U);
  EXPECT_THAT(text_of(status), HasSubstr("peer[0]  0x0014  STATUS  0x00000001  READY=1"));

  const ControlReply written = done(control, request(Kind::write, "peer[0].SCRATCH[1]", 0xABCD));
  EXPECT_EQ(look(control, "peer[0].SCRATCH[1]"), 0xABCDU);
  EXPECT_EQ(look(control, "peer[1].SCRATCH[1]"), 0U);
  const ControlReply read = done(control, request(Kind::read, "peer[0].SCRATCH[1]"));
  ASSERT_EQ(read.registers.size(), 1U);
  EXPECT_EQ(read.registers.front().value, 0xABCDU);
  EXPECT_GE(read.cycle, written.cycle);
  // It came over the bus, as the log has it.
  EXPECT_THAT(done(control, request(Kind::log)).log, HasSubstr("SCRATCH[1]  0x0000abcd  from 00:00.0"));

  EXPECT_EQ(done(control, looked_at("SCRATCH*")).registers.size(),
            2 * done(control, looked_at("peer[0].SCRATCH*")).registers.size());
  EXPECT_GT(done(control, request(Kind::registers)).registers.size(), 100U);
}

TEST_P(ControlInEveryTime, LookingHasNoSideEffects) {
  const auto client = peers.client();
  ASSERT_NE(client, nullptr);
  ServedDriver driver(*client);
  ControlClient control = control_of(peers);
  // Software that reads where there is no register is told so by a bit that a 1 clears.
  std::uint32_t nothing = 0;
  ASSERT_EQ(client->connection().read(0, 0xFFC, &nothing, 4), 0);
  const std::uint64_t before = look(control, "peer[0].ERROR");
  EXPECT_NE(before, 0U);
  const auto accesses = [&] { return peers.within([&] { return peers.machine().counters().reads; }); };
  const std::uint64_t reads = accesses();
  for (unsigned i = 0; i < 3; ++i) static_cast<void>(done(control, request(Kind::registers)));
  EXPECT_EQ(accesses(), reads);
  EXPECT_EQ(look(control, "peer[0].ERROR"), before);
}

TEST_P(ControlInEveryTime, AnUnpluggedFunctionReadsAllOnesAndComesBackFresh) {
  const auto one = peers.client(0), other = peers.client(1);
  ASSERT_TRUE(one != nullptr && other != nullptr);
  ServedDriver driver(*one), others(*other);
  ControlClient control = control_of(peers);
  ASSERT_EQ(done(control, request(Kind::write, "peer[0].SCRATCH[0]", 7)).registers.size(), 1U);
  static_cast<void>(done(control, request(Kind::unplug, "peer[0]")));
  static_cast<void>(done(control, request(Kind::unplug, "peer[0]")));
  std::uint32_t identity = 0, vendor = 0, bar = 0, table = 0;
  ASSERT_EQ(one->connection().read(0, 0, &identity, 4), 0);
  ASSERT_EQ(one->connection().read(2, 0, &table, 4), 0);
  ASSERT_EQ(one->connection().read(vfio_user::kConfigRegion, 0, &vendor, 4), 0);
  ASSERT_EQ(one->connection().read(vfio_user::kConfigRegion, 0x10, &bar, 4), 0);
  for (const std::uint32_t value : {identity, table, vendor, bar}) EXPECT_EQ(value, 0xFFFF'FFFFU);
  const ControlReply functions = done(control, request(Kind::functions));
  ASSERT_EQ(functions.functions.size(), 2U);
  EXPECT_FALSE(functions.functions[0].present);
  EXPECT_TRUE(functions.functions[0].client);
  EXPECT_TRUE(functions.functions[1].present);
  // The other one does not notice.
  void* const theirs = other->allocate(128);
  EXPECT_EQ(others.copy(others.bus(theirs), others.bus(theirs) + 64, 64), WL_PEER_STATUS_CODE_OK);
  // A reset brings nothing back, and neither does a client that goes.
  ASSERT_EQ(one->connection().reset(), 0);
  ASSERT_EQ(one->connection().read(0, 0, &identity, 4), 0);
  EXPECT_EQ(identity, 0xFFFF'FFFFU);

  static_cast<void>(done(control, request(Kind::plug, "peer[0]")));
  EXPECT_EQ(look(control, "peer[0].SCRATCH[0]"), 0U);
  ASSERT_EQ(one->connection().read(vfio_user::kConfigRegion, 0x10, &bar, 4), 0);
  EXPECT_EQ(bar & ~0xFU, 0U);
  ASSERT_EQ(one->bring_up(), 0);
  ServedDriver again(*one);
  void* const memory = one->allocate(128);
  EXPECT_EQ(again.copy(again.bus(memory), again.bus(memory) + 64, 64), WL_PEER_STATUS_CODE_OK);
}

TEST_P(ControlInEveryTime, FunctionsAreUnpluggedInTheMiddleOfTheirWork) {
  ControlClient control = control_of(peers);
  for (unsigned round = 0; round < 6; ++round) {
    // Loosely timed, a client that is asked for its memory has to answer at once.
    const auto client = peers.client(0, {4U << 20U, round % 2 == 1 && !GetParam(), 0});
    ASSERT_NE(client, nullptr);
    {
      ServedDriver driver(*client);
      wl_peer_command command{};
      command.opcode = WL_PEER_OPCODE_COPY;
      command.length = 100'000;
      command.source = command.destination = driver.bus(client->allocate(command.length));
      for (unsigned i = 0; i < 8; ++i) ASSERT_EQ(wl_peer_submit(&driver.peer(), 0, &command), WL_OK);
      ASSERT_EQ(wl_peer_ring(&driver.peer(), 0), WL_OK);
      static_cast<void>(done(control, request(Kind::unplug, "peer[0]")));
      static_cast<void>(done(control, request(Kind::plug, "peer[0]")));
    }
    ASSERT_EQ(client->bring_up(), 0);
    ServedDriver driver(*client);
    void* const memory = client->allocate(128);
    ASSERT_EQ(driver.copy(driver.bus(memory), driver.bus(memory) + 64, 64), WL_PEER_STATUS_CODE_OK);
  }
}

TEST_P(ControlInEveryTime, TimeAndPaceAreSwitched) {
  const auto client = peers.client();
  ASSERT_NE(client, nullptr);
  ServedDriver driver(*client);
  void* const memory = client->allocate(40'000);
  ControlClient control = control_of(peers);
  bool loose = GetParam();
  for (unsigned round = 0; round < 6; ++round) {
    loose = !loose;
    ControlRequest timing = request(Kind::timing);
    timing.loose = loose;
    EXPECT_EQ(done(control, timing).loose, loose);
    EXPECT_EQ(done(control, request(Kind::timing)).loose, loose);
    ControlRequest pace = request(Kind::pace);
    pace.pace = round % 2 == 0 ? 1.0 : 0.0;
    EXPECT_EQ(done(control, pace).pace, *pace.pace);
    ASSERT_EQ(driver.copy(driver.bus(memory), driver.bus(memory) + 20'000, 20'000), WL_PEER_STATUS_CODE_OK);
  }
}

TEST(Control, SaysWhatIsMeantWhereThereIsNoSuchThing) {
  ServedPeers peers(ServedPeers::Options{2, true, 0, {}});
  ControlClient control = control_of(peers);
  EXPECT_EQ(refusal(control, looked_at("peer[0].STATSU")),
            "there is no register \"peer[0].STATSU\"; did you mean \"peer[0].STATUS\"?");
  EXPECT_EQ(refusal(control, request(Kind::write, "STATUS", 1)),
            "several functions have a register \"STATUS\"; peer[0].STATUS or peer[1].STATUS");
  EXPECT_EQ(refusal(control, request(Kind::unplug, "per[0]")),
            "there is no function \"per[0]\"; did you mean \"peer[0]\"?");
  EXPECT_THAT(refusal(control, request(Kind::write, "peer[0].CONTROL", 1ULL << 32U)), HasSubstr("4 bytes"));
  EXPECT_THAT(refusal(control, request(Kind::write, "peer[0].CONTROL", 1)), HasSubstr("decodes no memory"));
  static_cast<void>(done(control, request(Kind::unplug, "peer[0]")));
  EXPECT_THAT(refusal(control, request(Kind::read, "peer[0].CONTROL")), HasSubstr("peer[0] is unplugged"));
}

TEST(Control, WhatWasFoundIsTold) {
  ServedPeers peers;
  const auto client = peers.client();
  ASSERT_NE(client, nullptr);
  ServedDriver driver(*client);
  void* const to = client->allocate(64);
  std::uint32_t nothing = 0;
  ASSERT_EQ(client->connection().read(0, 0xFFC, &nothing, 4), 0);
  ASSERT_NE(driver.copy(0x1000, driver.bus(to), 64), WL_PEER_STATUS_CODE_OK);
  ControlClient control = control_of(peers);
  const ControlReply reply = done(control, request(Kind::findings));
  EXPECT_THAT(reply.findings, Contains(HasSubstr("no register")));
  EXPECT_THAT(reply.findings, Contains(HasSubstr("nobody")));
  EXPECT_THAT(text_of(done(control, request(Kind::counters))), HasSubstr("serve.peer[0].clients"));
  ControlRequest log = request(Kind::log);
  log.as_json = true;
  EXPECT_THAT(done(control, log).log, HasSubstr(R"("device":"peer[0]")"));
}

TEST(Control, TheSocketIsItsUsers) {
  ServedPeers peers;
  struct stat status {};
  ASSERT_EQ(stat(peers.control().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST(Control, MistakesAreToldAndHarmNothing) {
  ServedPeers peers;
  const auto client = peers.client();
  ASSERT_NE(client, nullptr);
  const Raw raw(peers.control());
  const auto said = [&](const std::string& line) {
    raw.send(line + "\n");
    return raw.line();
  };
  EXPECT_THAT(said(""), HasSubstr("it is no JSON"));
  EXPECT_THAT(said("{\"request\": \"functions\""), HasSubstr("it is no JSON"));
  EXPECT_THAT(said("[]"), HasSubstr("it is no JSON object"));
  EXPECT_THAT(said(std::string(20'000, '[')), HasSubstr("nested too deeply"));
  EXPECT_THAT(said("{}"), HasSubstr(R"(\"request\" is missing)"));
  EXPECT_THAT(said(R"({"request": "function"})"), HasSubstr(R"(did you mean \"functions\"?)"));
  EXPECT_THAT(said(R"({"request": "functions", "why": 1})"), HasSubstr(R"(has no \"why\")"));
  EXPECT_THAT(said(R"({"request": "write", "register": "peer[0].CONTROL", "value": -1})"),
              HasSubstr("is no number"));
  EXPECT_THAT(
      said(R"({"request": "inject", "function": "nvme[0]", "fault": "stuck", "namespace": 4294967296})"),
      HasSubstr(R"(\"namespace\" is above 4294967295)"));
  EXPECT_THAT(said(R"({"request": "pace", "factor": 1e99})"), HasSubstr("neither 0"));
  EXPECT_THAT(said("{\"request\": \"unplug\", \"function\": \"\xff\"}"), HasSubstr("it is no JSON"));
  EXPECT_THAT(said(R"({"request": "functions"})"), HasSubstr(R"("done":true)"));
  // Several at once are answered one after the other.
  raw.send("{\"request\": \"timing\", \"to\": \"timed\"}\n{\"request\": \"timing\"}\n");
  EXPECT_THAT(raw.line(), HasSubstr("timed"));
  EXPECT_THAT(raw.line(), HasSubstr("timed"));
  // One without end is cut off.
  raw.send(std::string(ControlServer::kLongestLine + 1, ' '));
  EXPECT_THAT(raw.line(), HasSubstr("bytes"));
  EXPECT_EQ(raw.line(), "");
  {
    std::vector<std::unique_ptr<Raw>> many;
    for (std::size_t i = 0; i < 3 * ControlServer::kMostClients; ++i)
      many.push_back(std::make_unique<Raw>(peers.control()));
    EXPECT_THAT(many[ControlServer::kMostClients]->line(), HasSubstr("others are being answered"));
  }
  // When they have gone, others are answered.
  std::string answer;
  for (unsigned tries = 0; tries < 1000 && answer.find("true") == std::string::npos; ++tries) {
    const Raw last(peers.control());
    last.send("{\"request\": \"functions\"}\n");
    answer = last.line();
  }
  EXPECT_THAT(answer, HasSubstr("peer[0]"));
  ServedDriver driver(*client);
}

TEST(Control, WhatIsNoRequestIsToldOnlyWhy) {
  const ServedPeers peers;
  const Raw raw(peers.control());
  raw.send("{}\n{\"request\": \"function\"}\n");
  EXPECT_EQ(raw.line(), R"({"done":false,"error":"\"request\" is missing"})");
  EXPECT_EQ(
      raw.line(),
      R"({"done":false,"error":"there is no request \"function\"","hint":"did you mean \"functions\"?"})");
}

TEST_P(ControlInEveryTime, WhoSaysNothingMoreStillHearsALateAnswer) {
  const auto client = peers.client();
  ASSERT_NE(client, nullptr);
  for (unsigned round = 0; round < 20; ++round) {
    const Raw raw(peers.control());
    raw.send("{\"request\": \"read\", \"register\": \"peer[0].IDENTITY\"}\n");
    raw.half_close();
    ASSERT_THAT(raw.line(), HasSubstr(R"("value":"0x574c5044")")) << round;
    ASSERT_EQ(raw.line(), "");
  }
  // Who goes altogether waits for nothing.
  for (unsigned i = 0; i < 3 * ControlServer::kMostClients; ++i)
    Raw(peers.control()).send("{\"request\": \"read\", \"register\": \"peer[0].IDENTITY\"}\n");
  ControlClient control = control_of(peers);
  EXPECT_EQ(done(control, request(Kind::read, "peer[0].IDENTITY")).registers.size(), 1U);
}

TEST(Control, ALogIsWrittenWhileOthersAreServed) {
  PcieSystemParameters parameters;
  parameters.peer.log_entries = 8192;
  ServedPeers peers(ServedPeers::Options{1, true, 0, parameters});
  const auto client = peers.client();
  ASSERT_NE(client, nullptr);
  const std::uint32_t value = 1;
  const auto write = [&](unsigned times) {
    for (unsigned i = 0; i < times; ++i) ASSERT_EQ(client->connection().post(0, 0x28, &value, 4), 0);
    std::uint32_t read = 0;
    ASSERT_EQ(client->connection().read(0, 0x28, &read, 4), 0);
  };
  const auto all = [&] { return peers.within([&] { return peers.system().access_log(0).total(); }); };
  write(10'000);
  const std::uint64_t before = all();
  const Raw raw(peers.control());
  raw.send("{\"request\": \"log\", \"json\": true}\n");
  // It is longer than what a connection holds: the end of it is not made yet when it begins to come.
  std::string line = raw.begin();
  write(10'000);
  line += raw.line();
  const auto reply = control_reply_from(line);
  ASSERT_TRUE(reply.ok()) << reply.faults().front().text();
  const std::string& log = reply.value().log;
  std::uint64_t entries = 0, forgotten = 0;
  unsigned stretches = 0;
  for (std::size_t at = 0; (at = log.find("{\"device\"", at)) != std::string::npos; ++at) {
    const std::string key = "\"forgotten\":";
    const std::size_t end = log.find('}', at), count = log.find(key, at);
    if (count < end) {
      forgotten += std::stoull(log.substr(count + key.size()));
      ++stretches;
    } else {
      ++entries;
    }
  }
  EXPECT_EQ(entries + forgotten, before);
  EXPECT_LT(entries, 8192U);
  EXPECT_GE(stretches, 1U);
  // As text, it is the same.
  ControlClient control = control_of(peers);
  const std::string text = done(control, request(Kind::log)).log;
  EXPECT_EQ(text, peers.within([&] { return device_log(peers.system(), {}, false); }));
}

TEST(Control, ALogNamesTheKeyThatSaysHowLongItIs) {
  PcieSystemParameters parameters;
  parameters.peer.log_entries = parameters.nvme.log_entries = 2;
  parameters.nvme.count = 1;
  const ServedPeers peers(ServedPeers::Options{1, true, 0, parameters});
  for (const unsigned port : {0U, 1U}) {
    const auto client = peers.client(port);
    ASSERT_NE(client, nullptr);
    std::uint32_t value = 0;
    for (unsigned i = 0; i < 5; ++i) ASSERT_EQ(client->connection().read(0, 8, &value, 4), 0);
  }
  ControlClient control = control_of(peers);
  const std::string log = done(control, request(Kind::log)).log;
  for (const std::string kind : {"peer", "nvme"})
    EXPECT_THAT(log,
                ::testing::ContainsRegex(kind + ".0.  [0-9]+ older accesses were forgotten .pcie_system." +
                                         kind + ".log_entries"));
}

/// Something that goes on for ever, as devices may that ring each other's doorbells.
class Restless final : public Component {
 public:
  explicit Restless(Engine& engine) : Component(engine, "restless") {}
  Cycle tick(Cycle now) override { return now + 1; }
  [[nodiscard]] bool busy() const override { return true; }
  void explain(std::vector<Wait>& /*waits*/) const override {}
};

/// A served machine that has it.
class RestlessPeers final : public test::ServingThread {
 public:
  explicit RestlessPeers(bool loose)
      : system_(parameters(), 1000, 1U << 20U),
        restless_(system_.engine()),
        machine_(system_),
        watches_(system_) {
    machine_.set_loose(loose);
    start(machine_, 1000, watches_);
    within([this] { restless_.wake(system_.engine().now() + 1); });
  }
  ~RestlessPeers() { stop(); }

 private:
  static PcieSystemParameters parameters() {
    PcieSystemParameters out;
    out.peers = 1;
    return out;
  }
  PcieSystem system_;
  Restless restless_;
  ServedMachine machine_;
  AccessWatches watches_;
};

TEST(Control, TimingStaysAsItWasWhereDevicesGoOnForEver) {
  for (const bool loose : {true, false}) {
    RestlessPeers restless(loose);
    auto connected = ControlClient::connect(restless.control());
    ASSERT_TRUE(connected.ok());
    ControlClient& control = connected.value();
    ControlRequest wish = request(Kind::timing);
    wish.loose = !loose;
    EXPECT_THAT(refusal(control, wish),
                HasSubstr("timing is as it was: something was still under way after 1 s"));
    wish.loose = std::nullopt;
    EXPECT_EQ(done(control, wish).loose, loose);
    // Accesses wait no longer.
    const auto client = restless.client(0);
    ASSERT_NE(client, nullptr);
    std::uint32_t value = 0;
    EXPECT_EQ(client->connection().read(0, 0, &value, 4), 0);
    EXPECT_EQ(value, WL_PEER_IDENTITY_VALUE);
  }
}

TEST(ControlMessages, ALongReplyIsALineOfPieces) {
  ControlReply reply;
  reply.to = Kind::log;
  unsigned left = 3;
  reply.more_log = [&left](std::string& out) {
    out += "a \"line\"\n";
    return --left != 0;
  };
  ControlReplyLine pieces(reply);
  std::string line;
  unsigned count = 0;
  for (std::string piece = pieces.next(); !piece.empty(); piece = pieces.next(), ++count) line += piece;
  EXPECT_EQ(count, 4U);
  const auto heard = control_reply_from(line);
  ASSERT_TRUE(heard.ok());
  EXPECT_EQ(heard.value().log, "a \"line\"\na \"line\"\na \"line\"\n");
  EXPECT_FALSE(heard.value().log_is_json);
}

TEST(Control, RandomBytesHarmNothing) {
  ServedPeers peers;
  std::mt19937 random(1);
  const std::vector<std::string> pieces = {"{",
                                           "}",
                                           "[",
                                           "]",
                                           "\"",
                                           ":",
                                           ",",
                                           "request",
                                           "\"registers\"",
                                           "\"names\"",
                                           "null",
                                           "-1",
                                           "1e400",
                                           "\\u0000",
                                           "\"write\"",
                                           "\"value\"",
                                           "\"register\"",
                                           "\n",
                                           "true",
                                           "\"peer[0].CONTROL\"",
                                           "\"unplug\"",
                                           "\xc3",
                                           " "};
  for (unsigned round = 0; round < 40; ++round) {
    const Raw raw(peers.control());
    std::string text;
    for (unsigned i = 0; i < 200; ++i) text += pieces[random() % pieces.size()];
    raw.send(text + "\n");
    EXPECT_THAT(raw.line(), HasSubstr("\"done\":"));
  }
}

TEST(ControlMessages, RequestsAndRepliesSurviveTheirLine) {
  for (unsigned k = 0; k <= static_cast<unsigned>(Kind::log); ++k) {
    ControlRequest asked;
    asked.kind = static_cast<Kind>(k);
    asked.names = {"peer[0].*", "\"\n"};
    asked.name = "peer[0]";
    asked.value = ~std::uint64_t{0};
    asked.loose = true;
    asked.pace = 0.5;
    const auto heard = control_request_from(to_line(asked));
    ASSERT_TRUE(heard.ok()) << heard.faults().front().text();
    EXPECT_EQ(heard.value().kind, asked.kind);
    EXPECT_EQ(to_line(heard.value()), to_line(asked));
    ControlReply reply;
    reply.to = asked.kind;
    reply.cycle = 1ULL << 60U;
    reply.functions = {{"peer[0]", true, true, 12}};
    reply.counters = {{"a.b", ~std::uint64_t{0}, "bytes", "of it"}};
    reply.registers = {
        {"peer[0]", "STATUS", 0, 20, 8, ~std::uint64_t{0}, "how", {{"READY", 0, 3, 15, "is"}}}};
    reply.loose = true;
    reply.pace = 2;
    reply.findings = {"one", "two"};
    reply.log = "a\nb\n";
    const auto came = control_reply_from(to_line(reply));
    ASSERT_TRUE(came.ok());
    EXPECT_EQ(to_line(came.value()), to_line(reply));
    EXPECT_EQ(text_of(came.value()), text_of(reply));
  }
  EXPECT_FALSE(control_reply_from(R"({"functions": [1]})").ok());
  EXPECT_TRUE(control_reply_from(R"({"done": true, "functions": [1], "registers": [{"fields": 3}]})").ok());
}

}  // namespace control_test
}  // namespace warpline
