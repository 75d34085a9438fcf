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

  /// Writes a file of his. False, and the test fails: it cannot be written.
  bool write(const std::string& name, const std::string& bytes) const;
  /// Runs `warpline` with these words.
  [[nodiscard]] Ended run(const std::vector<std::string>& words) const {
    return run(words, {}, {""}).front();
  }
  /// The same with each of `contents` in file `name`, one after the other, in one process as long as that
  /// lives. The status is 128 + N where signal N ended it; what takes 300 seconds of processor time is ended
  /// so.
  [[nodiscard]] std::vector<Ended> run(const std::vector<std::string>& words, const std::string& name,
                                       const std::vector<std::string>& contents) const;

 private:
  void become() const;
  std::filesystem::path folder_;
};

}  // namespace warpline::test
