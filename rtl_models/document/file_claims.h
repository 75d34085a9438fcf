#pragma once

#include <map>
#include <string>

namespace warpline {

/// The files of one piece of work, which are to be different ones however their paths are spelt.
class FileClaims {
 public:
  /// `path` is read, or written by others; `what` names it in messages: "the module of launch.toml".
  void add(const std::string& path, const std::string& what);
  /// `path` is to be written, alone. Returns why it cannot be, a sentence, and is not added then: it is what
  /// another one is, or lies below the folder that another one would have to be, or the reverse. Devices,
  /// FIFOs and open files of processes that are no plain files are anybody's.
  [[nodiscard]] std::string claim(const std::string& path, const std::string& what);

 private:
  std::map<std::string, std::string> files_;    ///< what each is, by identity
  std::map<std::string, std::string> folders_;  ///< missing ones, and what leads through them
};

}  // namespace warpline
