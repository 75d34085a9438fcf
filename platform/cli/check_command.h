#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace warpline {

/// `warpline check`: which memory instructions of PTX the assembler accepts, and why not the others.
class CheckCommand {
 public:
  /// Adds the command to `app`, which keeps referring to this object.
  explicit CheckCommand(CLI::App& app);
  CheckCommand(const CheckCommand&) = delete;
  CheckCommand& operator=(const CheckCommand&) = delete;

  [[nodiscard]] bool parsed() const;
  /// Its exit status: kCheckFailed where a module has a rejected instruction. Pre: parsed().
  [[nodiscard]] int run() const;
  [[nodiscard]] const CLI::App* app() const { return app_; }

 private:
  [[nodiscard]] int check_files() const;
  [[nodiscard]] int check_table() const;
  CLI::App* app_ = nullptr;
  std::vector<std::string> files_;
  std::string table_;
};

}  // namespace warpline
