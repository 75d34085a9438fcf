#pragma once

#include <gtest/gtest.h>

#include <string>

#include "platform/config/load_gpu.h"
#include "platform/consistency/parser.h"
#include "platform/consistency/runner.h"

namespace warpline::test {

/// A litmus test from its text. A fault in it fails the test.
inline litmus::Test litmus_test(const std::string& text) {
  auto parsed = litmus::parse("PTX test\n" + text, "test");
  if (!parsed.ok()) {
    ADD_FAILURE() << parsed.faults().front().text();
    return {};
  }
  return std::move(parsed.value());
}

inline GpuConfig litmus_gpu(const std::string& name = "mini") {
  return load_gpu(name, {}).value();
}

/// Runs in which the outcome in question was seen, of `runs`.
inline std::uint64_t times_seen(const std::string& text, std::uint64_t runs = 2000) {
  const litmus::Test test = litmus_test(text);
  litmus::Machine machine(litmus_gpu());
  for (const std::string& why : machine.refusals(test)) {
    ADD_FAILURE() << why;
    return 0;
  }
  const litmus::RunReport report = litmus::run(machine, test, {runs, 7});
  EXPECT_EQ(report.stuck, 0U) << text;
  EXPECT_EQ(report.runs, runs);
  return report.in_question;
}

}  // namespace warpline::test
