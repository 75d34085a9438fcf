#include "tests/support/checked_binding.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace warpline::test {
namespace {

/// Never destroyed: the modules that the checkers are bound to may be gone by then.
std::vector<std::unique_ptr<ProtocolChecker>>& checkers() {
  static auto& all = *new std::vector<std::unique_ptr<ProtocolChecker>>;
  return all;
}

class NoViolations final : public ::testing::Environment {
 public:
  void TearDown() override {
    for (const auto& checker : checkers())
      for (const std::string& violation : checker->violations()) ADD_FAILURE() << violation;
  }
};
const ::testing::Environment* const kNoViolations =
    ::testing::AddGlobalTestEnvironment(new NoViolations);  // NOLINT: GoogleTest owns it

}  // namespace

ProtocolChecker& lasting_checker() {
  static_cast<void>(kNoViolations);
  return *checkers().emplace_back(
      std::make_unique<ProtocolChecker>(sc_core::sc_gen_unique_name("lasting_checker")));
}

}  // namespace warpline::test
