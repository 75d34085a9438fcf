// `regs` and `control`, against devices that are served by this process.
#include <gmock/gmock.h>

#include "platform/cli/exit_status.h"
#include "tests/platform/serve/served_peers.h"
#include "tests/support/command.h"

namespace warpline {
namespace control_command_test {

using test::command;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string result(const std::vector<std::string>& words) {
  const test::Ended e = command(words);
  EXPECT_EQ(e.status, kDone) << e.err;
  return e.out;
}

void expect_refused(const std::vector<std::string>& words, const std::string& reason) {
  const test::Ended e = command(words);
  EXPECT_EQ(e.status, kBadInput);
  EXPECT_THAT(e.err, HasSubstr(reason));
}

TEST(RegsCommand, ShowsAndWritesRegisters) {
  const test::ServedPeers peers(test::ServedPeers::Options{2, true, 0, {}});
  const std::string at = peers.control();
  const auto client = peers.client(0), other = peers.client(1);
  ASSERT_TRUE(client != nullptr && other != nullptr);
  EXPECT_EQ(result({"regs", at, "peer[0].SCRATCH[1]=0x1f", "*.SCRATCH[?]", "peer[1].CONTROL"}),
            "peer[0]  0x002c  SCRATCH[1]  0x0000001f\n"
            "peer[0]  0x0028  SCRATCH[0]  0x00000000\n"
            "peer[0]  0x002c  SCRATCH[1]  0x0000001f\n"
            "peer[1]  0x0028  SCRATCH[0]  0x00000000\n"
            "peer[1]  0x002c  SCRATCH[1]  0x00000000\n"
            "peer[1]  0x0010  CONTROL     0x00000000  ENABLE=0 RESET=0\n");
  EXPECT_THAT(result({"regs", at, "--bus", "peer[0].SCRATCH[1]"}), HasSubstr("0x0000001f"));
  EXPECT_THAT(result({"regs", at, "--json", "peer[1].CONTROL"}), HasSubstr(R"("name":"CONTROL")"));
  EXPECT_THAT(result({"regs", at}), StartsWith("peer[0]  0x0000  IDENTITY "));
  expect_refused({"regs", at, "peer[0].SCRATCH[2]"}, "did you mean \"peer[0].SCRATCH[");
  expect_refused({"regs", at, "peer[0].CONTROL=on"}, "\"on\" is no number");
  expect_refused({"regs", at, "IDENTITY=1"}, "peer[0].IDENTITY or peer[1].IDENTITY");
}

TEST(ControlCommand, AsksAndChangesWhatIsServed) {
  const test::ServedPeers peers;
  const std::string at = peers.control();
  EXPECT_EQ(result({"control", at, "functions"}), "peer[0]  plugged in  no client\n");
  EXPECT_EQ(result({"control", at, "timed"}), "timed\n");
  EXPECT_EQ(result({"control", at, "timing"}), "timed\n");
  EXPECT_EQ(result({"control", at, "pace"}), "as fast as it can\n");
  EXPECT_EQ(result({"control", at, "pace", "0.5"}), "0.5 s of model time a second\n");
  EXPECT_EQ(result({"control", at, "pace", "0"}), "as fast as it can\n");
  EXPECT_EQ(result({"control", at, "unplug", "peer[0]"}), "");
  EXPECT_EQ(result({"control", at, "functions"}), "peer[0]  unplugged  no client\n");
  EXPECT_EQ(result({"control", at, "plug", "peer[0]"}), "");
  EXPECT_THAT(result({"control", at, "counters"}), HasSubstr("host.configurations"));
  // What is there is how the server has set up the table of interrupts.
  EXPECT_THAT(result({"control", at, "log"}), StartsWith("peer[0] "));
  EXPECT_EQ(result({"control", at, "findings"}), "");
  EXPECT_THAT(result({"control", at, "log", "--json"}), HasSubstr(R"("log":[{)"));
  expect_refused({"control", at, "unplugg", "peer[0]"}, "did you mean \"unplug\"?");
  expect_refused({"control", at, "unplug"}, "unplug which function?");
  expect_refused({"control", at, "unplug", "peer[1]"}, "did you mean \"peer[0]\"?");
  expect_refused({"control", at, "pace", "fast"}, "\"fast\" is no pace");
  expect_refused({"control", at, "timed", "now"}, "\"now\" follows \"timed\"");
  expect_refused({"control", at, "inject", "peer[0]"}, "inject what, and where?");
  expect_refused({"control", at, "inject", "peer[0]", "stuck"}, "and peer[0] is none");
  expect_refused({"control", at, "forget", "peer[0]"}, "and peer[0] is none");
  expect_refused({"control", at, "forget"}, "forget which function?");
  expect_refused({"control", at, "inject", "nvme[0]", "stuk"}, "there is no fault \"stuk\"");
  expect_refused({"control", at, "inject", "nvme[0]", "stuck", "cuont=1"}, "did you mean \"count=\"?");
  expect_refused({"control", at, "inject", "nvme[0]", "stuck", "count=x"}, "has no number");
  expect_refused({"control", at, "inject", "nvme[0]", "stuck", "blocks=7-6"}, "has no number");
  expect_refused({"control", at + "x", "timed"}, "warpline serve --control");
}

TEST(ControlCommand, HasCommandsOfADiskFail) {
  PcieSystemParameters with_disk;
  with_disk.nvme.count = 1;
  const test::ServedPeers served(test::ServedPeers::Options{1, true, 0, with_disk});
  const std::string at = served.control();
  EXPECT_EQ(result({"control", at, "inject", "nvme[0]", "read-error", "blocks=8-0xf", "namespace=1",
                    "after=2", "count=3"}),
            "");
  EXPECT_EQ(result({"control", at, "inject", "nvme[0]", "stuck"}), "");
  EXPECT_EQ(result({"control", at, "forget", "nvme[0]"}), "");
}

}  // namespace control_command_test
}  // namespace warpline
