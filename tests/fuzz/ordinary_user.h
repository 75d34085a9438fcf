#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/command.h"

namespace warpline::test {

/// A user who is not root, in a folder of his own, which is removed afterwards. The commands that he types
/// are processes without a program of their own: to start one, sanitizers included, takes longer than what
/// most commands do.
class OrdinaryUser {
 public:
  OrdinaryUser();
  ~OrdinaryUser();
  OrdinaryUser(const OrdinaryUser&) = delete;
  OrdinaryUser& operator=(const OrdinaryUser&) = delete;

  void write(const std::string& name, const std::string& bytes) const;
  /// Runs `warpline` with these words. The status is 128 + N where signal N ended it; a command that takes
  /// 300 seconds of processor time is ended so.
  [[nodiscard]] Ended run(const std::vector<std::string>& words) const;

 private:
  [[noreturn]] void become(const std::vector<std::string>& words, int out, int err) const;
  std::filesystem::path folder_;
};

}  // namespace warpline::test
