// Thread instructions per second of CPU time: the tiled matrix multiply of sw/kernels on preset mini, with
// data.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "platform/config/load_gpu.h"
#include "platform/machine/gpu_platform.h"
#include "platform/programs/ptx/module.h"
#include "rtl_models/base/counter.h"
#include "tests/bench/cpu_time.h"

namespace warpline::bench {
namespace {

class ThreadInstructions final : public CounterVisitor {
 public:
  void counter(std::string_view, std::string_view name, std::uint64_t value, std::string_view,
               std::string_view) override {
    if (name == "thread_instructions") total += value;
  }
  std::uint64_t total = 0;
};

int run(const std::string& path) {
  constexpr std::uint32_t kSize = 128, kTile = 16;
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  Result<std::unique_ptr<programs::Module>> module = ptx::parse(text.str(), path);
  Result<GpuConfig> config = load_gpu("mini", {});
  if (!module.ok() || !config.ok()) {
    std::fprintf(stderr, "cannot load %s or preset mini\n", path.c_str());
    return 2;
  }
  GpuPlatform platform(config.value(), {});
  std::vector<std::uint8_t> parameters;
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t address = platform.allocate("", std::uint64_t{kSize} * kSize * 4);
    parameters.resize(parameters.size() + sizeof address);
    std::memcpy(parameters.data() + parameters.size() - sizeof address, &address, sizeof address);
  }
  parameters.resize(parameters.size() + sizeof kSize);
  std::memcpy(parameters.data() + parameters.size() - sizeof kSize, &kSize, sizeof kSize);
  double best = 1e99;
  std::uint64_t instructions = 0;
  for (int r = 0; r < 5; ++r) {
    const std::unique_ptr<Kernel> kernel = module.value()->make_kernel(
        "matmul", {kSize / kTile, kSize / kTile, 1}, {kTile, kTile, 1}, 0, parameters);
    ThreadInstructions before, after;
    platform.visit(before);
    const double start = cpu_seconds();
    if (platform.launch(*kernel).outcome != RunOutcome::quiescent) return 1;
    best = std::min(best, cpu_seconds() - start);
    platform.visit(after);
    instructions = after.total - before.total;
  }
  std::printf(
      "PTX with data: matrix multiply of %u x %u on mini, %.2f M thread instructions: %.0f M per second (aim "
      "40)\n",
      kSize, kSize, 1e-6 * static_cast<double>(instructions),
      1e-6 * static_cast<double>(instructions) / best);
  return 0;
}

}  // namespace
}  // namespace warpline::bench

int main() {
  return warpline::bench::run(WARPLINE_SOURCE_DIR "/sw/kernels/matmul.sm_80.ptx");
}
