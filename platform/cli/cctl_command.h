#pragma once

#include <string>

namespace CLI {
class App;
}

namespace warpline {

/// `warpline cctl`: one CCTL or CCTLL instruction, as text or as its encoding: what it does to which cache,
/// or why it is illegal.
class CctlCommand {
 public:
  /// Adds the command to `app`, which keeps referring to this object.
  explicit CctlCommand(CLI::App& app);
  CctlCommand(const CctlCommand&) = delete;
  CctlCommand& operator=(const CctlCommand&) = delete;

  [[nodiscard]] bool parsed() const;
  /// Its exit status: kCheckFailed for an illegal instruction. Pre: parsed().
  [[nodiscard]] int run() const;
  [[nodiscard]] const CLI::App* app() const { return app_; }

 private:
  CLI::App* app_ = nullptr;
  std::string text_;
};

}  // namespace warpline
