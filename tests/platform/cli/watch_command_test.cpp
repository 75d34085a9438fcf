// What `watch` and `run --live` refuse before anything runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/cli/exit_status.h"
#include "platform/cli/run_ranks.h"
#include "tests/support/command.h"

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
