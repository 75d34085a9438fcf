#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace warpline {

/// `warpline explain`: what a memory instruction does at each cache of a GPU, in words.
class ExplainCommand {
 public:
  /// Adds the command to `app`, which keeps referring to this object.
  explicit ExplainCommand(CLI::App& app);
  ExplainCommand(const ExplainCommand&) = delete;
  ExplainCommand& operator=(const ExplainCommand&) = delete;

  [[nodiscard]] bool parsed() const;
  /// Its exit status: kCheckFailed where the assembler refuses the instruction. Pre: parsed().
  [[nodiscard]] int run() const;
  [[nodiscard]] const CLI::App* app() const { return app_; }

 private:
  CLI::App* app_ = nullptr;
  std::string instruction_;
  std::string gpu_ = "mini";
  std::vector<std::string> sets_;
};

}  // namespace warpline
