// Thread instructions per second of CPU time, with data: arithmetic and coalesced loads of a V100 whose SMs
// are full, and the tiled matrix multiply of sw/kernels on preset mini; timed, and functionally.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "platform/config/load_gpu.h"
#include "platform/machine/gpu_platform.h"
#include "platform/programs/ptx/module.h"
#include "rtl_models/base/counter.h"
#include "tests/bench/arithmetic_kernel.h"
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

struct Case {
  const char* name;
  const char* gpu;
  std::string kernel, text;
  unsigned ctas, threads;
  std::vector<std::uint64_t> buffers;  ///< bytes of each, whose addresses are the first parameters
  std::uint32_t last;                  ///< parameter
  double timed_aim, functional_aim;    ///< million thread instructions a second; 0: none
};

/// Each thread sums every so many words of a buffer, four at a time of the loop.
const char* const kLoads = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry loads(.param .u64 in, .param .u64 out, .param .u32 n)
{
  .reg .b32 %r<8>;
  .reg .f32 %f<8>;
  .reg .b64 %d<8>;
  .reg .pred %p<2>;
  ld.param.u64 %d1, [in];
  ld.param.u64 %d2, [out];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mad.lo.u32 %r2, %r3, %r4, %r2;
  mov.u32 %r5, %nctaid.x;
  mul.lo.u32 %r5, %r5, %r4;
  mul.wide.u32 %d3, %r5, 4;
  mul.wide.u32 %d4, %r2, 4;
  add.u64 %d5, %d1, %d4;
  mov.f32 %f1, 0f00000000;
L:
  ld.global.f32 %f2, [%d5];
  fma.rn.f32 %f1, %f2, 0f3FC00000, %f1;
  add.u64 %d5, %d5, %d3;
  ld.global.f32 %f3, [%d5];
  fma.rn.f32 %f1, %f3, 0f3FC00000, %f1;
  add.u64 %d5, %d5, %d3;
  ld.global.f32 %f4, [%d5];
  fma.rn.f32 %f1, %f4, 0f3FC00000, %f1;
  add.u64 %d5, %d5, %d3;
  ld.global.f32 %f5, [%d5];
  fma.rn.f32 %f1, %f5, 0f3FC00000, %f1;
  add.u64 %d5, %d5, %d3;
  shl.b32 %r6, %r5, 2;
  add.u32 %r2, %r2, %r6;
  setp.lt.u32 %p1, %r2, %r1;
  @%p1 bra L;
  add.u64 %d6, %d2, %d4;
  st.global.f32 [%d6], %f1;
  ret;
}
)";

std::vector<Case> cases() {
  std::ifstream file(WARPLINE_SOURCE_DIR "/sw/kernels/matmul.sm_80.ptx");
  std::stringstream matmul;
  matmul << file.rdbuf();
  constexpr std::uint64_t kMatrix = 128 * 128 * 4;
  constexpr std::uint32_t kWords = 160 * 1024 * 32;
  // Timed arithmetic is to run at three times 127, which is what it did when functional runs came.
  return {
      {"arithmetic", "v100", "arithmetic", kArithmetic, 160, 1024, {4}, 100, 381, 1000},
      {"coalesced loads", "v100", "loads", kLoads, 160, 1024, {kWords * 4, 160 * 1024 * 4}, kWords, 0, 300},
      {"matrix multiply", "mini", "matmul", matmul.str(), 0, 0, {kMatrix, kMatrix, kMatrix}, 128, 40, 300}};
}

/// The best of three runs; negative: it did not end.
double millions_a_second(const Case& c, bool functional) {
  Result<std::unique_ptr<programs::Module>> module = ptx::parse(c.text, c.kernel);
  Result<GpuConfig> config = load_gpu(c.gpu, {});
  if (!module.ok() || !config.ok()) return -1;
  RunOptions options;
  options.functional = options.loose = functional;
  GpuPlatform platform(config.value(), options);
  std::vector<std::uint8_t> parameters;
  const auto add = [&parameters](const auto& value) {
    parameters.resize(parameters.size() + sizeof value);
    std::memcpy(parameters.data() + parameters.size() - sizeof value, &value, sizeof value);
  };
  for (const std::uint64_t bytes : c.buffers) add(platform.allocate("", bytes));
  add(c.last);
  const Dim3 grid = c.ctas == 0 ? Dim3{8, 8, 1} : Dim3{c.ctas, 1, 1};
  const Dim3 block = c.ctas == 0 ? Dim3{16, 16, 1} : Dim3{c.threads, 1, 1};
  double best = 0;
  for (int r = 0; r < 3; ++r) {
    const std::unique_ptr<Kernel> kernel = module.value()->make_kernel(c.kernel, grid, block, 0, parameters);
    ThreadInstructions before, after;
    platform.visit(before);
    const double start = cpu_seconds();
    if (platform.launch(*kernel).outcome != RunOutcome::quiescent) return -1;
    const double seconds = cpu_seconds() - start;
    platform.visit(after);
    best = std::max(best, 1e-6 * static_cast<double>(after.total - before.total) / seconds);
  }
  return best;
}

std::string text_of(double aim) {
  return aim == 0 ? "-" : std::to_string(static_cast<int>(aim));
}

int run() {
  std::printf(
      "Thread instructions of PTX, with data, in millions a second of one core\n%-16s %-5s %10s %8s %12s "
      "%8s\n",
      "kernel", "gpu", "timed", "aim", "functional", "aim");
  for (const Case& c : cases()) {
    const double timed = millions_a_second(c, false), functional = millions_a_second(c, true);
    if (timed < 0 || functional < 0) {
      std::fprintf(stderr, "%s did not run to its end\n", c.name);
      return 1;
    }
    std::printf("%-16s %-5s %10.0f %8s %12.0f %8s\n", c.name, c.gpu, timed, text_of(c.timed_aim).c_str(),
                functional, text_of(c.functional_aim).c_str());
  }
  return 0;
}

}  // namespace
}  // namespace warpline::bench

int main() {
  return warpline::bench::run();
}
