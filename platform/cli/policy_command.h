#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace warpline {

/// `warpline policy`: cache-policy descriptors, as `createpolicy` makes and `.L2::cache_hint` takes them. The
/// first line printed is the descriptor, then come its fields, one `name: value` a line.
class PolicyCommand {
 public:
  /// Adds the command to `app`, which keeps referring to this object.
  explicit PolicyCommand(CLI::App& app);
  PolicyCommand(const PolicyCommand&) = delete;
  PolicyCommand& operator=(const PolicyCommand&) = delete;

  [[nodiscard]] bool parsed() const;
  /// Its exit status: kCheckFailed for a malformed descriptor. Pre: parsed().
  [[nodiscard]] int run() const;
  /// Every subcommand, for hints.
  [[nodiscard]] std::vector<const CLI::App*> apps() const;
  /// The names of the subcommands.
  [[nodiscard]] static const std::vector<std::string>& names();

 private:
  CLI::App* fractional_ = nullptr;
  CLI::App* range_ = nullptr;
  CLI::App* static_ = nullptr;
  CLI::App* decode_ = nullptr;
  std::string priorities_;
  std::string fraction_ = "1.0";
  std::string property_;
  std::string address_, primary_bytes_, total_bytes_;
  std::string value_, applied_address_;
};

}  // namespace warpline
