#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rtl_models/base/random.h"
#include "tests/integration/workspace.h"

namespace warpline::test {

/// A launch file under construction, for kernels whose results a test computes itself. Buffers become
/// files beside it, so that inputs and results pass unchanged to the last bit.
class LaunchFile {
 public:
  LaunchFile(const Workspace& workspace, std::string module)
      : workspace_(workspace), module_(std::move(module)) {}

  /// Starts the next launch; the arguments that follow are its own.
  void launch(const std::string& kernel, const std::string& grid, const std::string& block) {
    text_ += "[[launch]]\nmodule = \"" + module_ + "\"\nkernel = \"" + kernel + "\"\ngrid = " + grid +
             "\nblock = " + block + "\n";
  }
  /// A buffer of `values`, which the kernel must leave as they are.
  template <class T>
  void input(const std::string& name, const std::string& type, const std::vector<T>& values) {
    buffer(name, type, values.size(),
           "init = { file = \"" + workspace_.write_values(name + ".in", values) + "\" }\n");
    expect(name, values);
  }
  /// A buffer that starts as zeros and must end as `values`.
  template <class T>
  void output(const std::string& name, const std::string& type, const std::vector<T>& values) {
    buffer(name, type, values.size(), "");
    expect(name, values);
  }
  /// A buffer that starts as `before` and must end as `after`.
  template <class T>
  void changed(const std::string& name, const std::string& type, const std::vector<T>& before,
               const std::vector<T>& after) {
    buffer(name, type, before.size(),
           "init = { file = \"" + workspace_.write_values(name + ".in", before) + "\" }\n");
    expect(name, after);
  }
  /// A buffer whose end is not checked.
  void unchecked(const std::string& name, const std::string& type, std::size_t count) {
    buffer(name, type, count, "");
  }
  /// A buffer declared by an earlier argument.
  void again(const std::string& name) { text_ += "[[launch.argument]]\nbuffer = \"" + name + "\"\n"; }
  void scalar(const std::string& type, std::uint64_t value) {
    text_ += "[[launch.argument]]\nscalar = " + std::to_string(value) + "\ntype = \"" + type + "\"\n";
  }
  /// A module variable that must end as `value`.
  void symbol(const std::string& name, std::uint64_t value) {
    symbols_ += "[[symbol]]\nname = \"" + name + "\"\nexpect = { value = " + std::to_string(value) + " }\n";
  }

  /// Runs it; `warpline` itself compares the results.
  [[nodiscard]] Finished run(const std::string& gpu = "mini") const {
    workspace_.write("launch.toml", text_ + symbols_);
    return workspace_.warpline({"run", "launch.toml", "--gpu", gpu});
  }

 private:
  void buffer(const std::string& name, const std::string& type, std::size_t count, const std::string& init) {
    text_ += "[[launch.argument]]\nbuffer = \"" + name + "\"\ntype = \"" + type +
             "\"\ncount = " + std::to_string(count) + "\n" + init;
  }
  template <class T>
  void expect(const std::string& name, const std::vector<T>& values) {
    text_ += "expect = { file = \"" + workspace_.write_values(name + ".out", values) + "\" }\n";
  }

  const Workspace& workspace_;
  std::string module_;
  std::string text_, symbols_;
};

/// `count` values made by `f(0)`, `f(1)`, ...
template <class F>
auto generate(std::size_t count, F f) {
  std::vector<decltype(f(std::size_t{0}))> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(f(i));
  return values;
}

/// Floats in [-1, 1) with 24 significant bits, so that sums and products round.
inline std::vector<float> rounding_floats(std::uint64_t seed, std::size_t count) {
  return generate(count, [=](std::size_t i) {
    return static_cast<float>(splitmix64(seed * 1000003 + i) >> 40U) * 0x1p-23F - 1.0F;
  });
}

}  // namespace warpline::test
