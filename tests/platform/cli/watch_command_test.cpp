// What `watch` and `run --live` refuse before anything runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "platform/cli/exit_status.h"
#include "platform/cli/run_ranks.h"
#include "tests/support/command.h"
#include "tests/support/scratch_folder.h"

namespace warpline {
namespace watch_command_test {

using ::testing::HasSubstr;

void expect_refused(const std::vector<std::string>& words, const std::string& reason) {
  const test::Ended e = test::command(words);
  EXPECT_EQ(e.status, kBadInput);
  EXPECT_THAT(e.err, HasSubstr(reason));
}

TEST(WatchCommand, RefusesWhatItCannotDo) {
  const std::string nowhere = "http://127.0.0.1:1/0a/",
                    kernel = WARPLINE_SOURCE_DIR "/sw/kernels/vecadd.toml";
  expect_refused({"watch", "8080"}, "\"8080\" is no address of a run");
  expect_refused({"watch", nowhere}, "127.0.0.1:1 cannot connect: Connection refused");
  const ScratchFolder scratch;
  std::ofstream(scratch.path("said")) << "note: something\nlive: " << nowhere << "\n";
  std::ofstream(scratch.path("other")) << "note: something\n";
  expect_refused({"watch", scratch.path("said")}, "127.0.0.1:1 cannot connect: Connection refused");
  expect_refused({"watch", scratch.path("other")}, "there is no address of a run in it");
  expect_refused({"watch", nowhere, "--line", "0x1 HTTP/1.1"}, "\"0x1 HTTP/1.1\" is no address");
  expect_refused({"watch", nowhere, "--pause", "--once"}, "are for one at a time");
  expect_refused({"watch", nowhere, "--gpu", "1"}, "neither is given");
  expect_refused({"watch", nowhere, "--step-to", "soon"}, "\"soon\" is no whole number");
  expect_refused({"run", kernel, "--paused"}, "--live PORT is not given");
  expect_refused({"run", kernel, "--live", "70000"}, "\"70000\" is no port, a whole number from 0 to 65535");
  expect_refused({"exec", "--live", "0", "true"}, "exec becomes the program");
  RunRequest several;
  several.live = std::uint16_t{0};
  EXPECT_EQ(why_not_on_ranks(several, 2),
            "--live needs the whole platform in one process, and --mpi spreads it over 2");
}

}  // namespace watch_command_test
}  // namespace warpline
