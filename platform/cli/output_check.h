#pragma once

#include <functional>
#include <map>
#include <string>

#include "rtl_models/base/problem.h"
#include "rtl_models/document/file_claims.h"

namespace warpline {

/// Looks, before a command begins its work, whether it can write each of its files: that the file can be
/// created or replaced, and that it is none that the command reads, none of its other files, and not where
/// its standard streams go, however their paths are spelt, nor a folder on the way to another.
class OutputCheck {
 public:
  /// Makes a fault of a message and a hint.
  using Fault = std::function<Diagnostic(const std::string& message, const std::string& hint)>;

  OutputCheck();
  /// The command reads `path`; `what` names it in messages: "the module of launch.toml".
  void add_input(const std::string& path, const std::string& what);
  /// The command is to write `path`, which `what` names in messages about others; empty: it is not.
  void add_output(const std::string& path, const std::string& what, const Fault& fault);
  /// The same of an option with a path.
  void add_output(const char* option, const std::string& path);
  /// What is wrong with the outputs, in their order.
  [[nodiscard]] const Diagnostics& faults() const { return faults_; }

 private:
  FileClaims files_;
  std::map<std::string, std::string> streams_;  ///< plain files that streams go to, by identity
  Diagnostics faults_;
};

}  // namespace warpline
