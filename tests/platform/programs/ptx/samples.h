#pragma once

#include <string>
#include <vector>

namespace warpline::ptx::test {

/// The text of one of the modules beside the tests.
[[nodiscard]] std::string sample(const std::string& name);
/// All of them.
[[nodiscard]] std::vector<std::string> sample_modules();

}  // namespace warpline::ptx::test
