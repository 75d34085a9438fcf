#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace warpline::cuda {

/// What a program asked for and did not get. Programs often go on in silence, and end with wrong results or
/// none: so each thing is said once when it happens, and all are said again at the end.
class Shortcomings {
 public:
  static Shortcomings& instance();
  /// Counts `what`, a few words such as "cudaImportExternalMemory"; the first time, says `sentence` on
  /// stderr.
  void note(const std::string& what, const std::string& sentence);
  /// Lines for the end, by how often; empty: the program got all that it asked for.
  [[nodiscard]] std::string summary() const;
  /// How often, by what.
  [[nodiscard]] std::map<std::string, std::uint64_t> all() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t> counts_;
};

/// A line of Warpline's on stderr.
void say(const std::string& line);

}  // namespace warpline::cuda
