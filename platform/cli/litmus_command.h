#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/consistency/machine.h"

namespace CLI {
class App;
}

namespace warpline {

/// `warpline litmus`: what litmus tests show on the platform, and what the memory model says of it.
class LitmusCommand {
 public:
  /// Adds the command to `app`, which keeps referring to this object.
  explicit LitmusCommand(CLI::App& app);
  LitmusCommand(const LitmusCommand&) = delete;
  LitmusCommand& operator=(const LitmusCommand&) = delete;

  [[nodiscard]] bool parsed() const;
  /// Its exit status: kCheckFailed where a forbidden outcome was seen. Pre: parsed().
  [[nodiscard]] int run() const;
  [[nodiscard]] const CLI::App* app() const { return app_; }

 private:
  CLI::App* app_ = nullptr;
  std::vector<std::string> inputs_;
  std::uint64_t runs_ = 1000;
  std::uint64_t seed_ = 1;
  std::uint64_t max_cycles_ = litmus::Machine::kMostCycles;
  unsigned unroll_ = 3;
  std::string gpu_ = "mini";
  std::vector<std::string> sets_;
  std::string transport_ = "fast";
  std::vector<std::string> pins_;
  std::string model_ = "ptx75";
  std::string dot_;
  bool json_ = false;
};

}  // namespace warpline
