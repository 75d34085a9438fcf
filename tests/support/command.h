#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "platform/cli/command_line.h"

namespace warpline::test {

/// How a command ended, and what it wrote.
struct Ended {
  int status = 0;
  std::string out, err;
};

/// Runs `warpline` with these words, in this process.
inline Ended command(const std::vector<std::string>& words) {
  std::vector<const char*> argv{"warpline"};
  for (const std::string& w : words) argv.push_back(w.c_str());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  Ended ended;
  ended.status = run_command_line(static_cast<int>(argv.size()), argv.data());
  std::fflush(stdout);
  ended.out = ::testing::internal::GetCapturedStdout();
  ended.err = ::testing::internal::GetCapturedStderr();
  return ended;
}

}  // namespace warpline::test
