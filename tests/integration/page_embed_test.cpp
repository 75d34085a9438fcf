// The examples of docs/embedding.md, docs/threads.md and docs/checkpoints.md: they compile, and they run.
#include <gtest/gtest.h>

#include <future>
#include <sstream>

#include "platform/machine/checkpoint.h"
#include "tests/integration/workspace.h"

// What the page shows.
#include <cstring>
#include <string>
#include <vector>

#include "platform/config/load_gpu.h"
#include "platform/machine/gpu_platform.h"
#include "platform/programs/ptx/module.h"

std::vector<float> add_on_gpu(const std::string& ptx, const std::vector<float>& a,
                              const std::vector<float>& b) {
  // A preset, changed as `--set` would. On a fault, faults() says where and why instead.
  warpline::GpuPlatform gpu(warpline::load_gpu("mini", {"l2.slices=4"}).value(), {});

  const std::size_t bytes = a.size() * sizeof(float);
  const std::uint64_t in_a = gpu.allocate("a", bytes), in_b = gpu.allocate("b", bytes),
                      out = gpu.allocate("c", bytes);
  gpu.write(in_a, a.data(), bytes);
  gpu.write(in_b, b.data(), bytes);

  // The parameter block, laid out as the kernel's signature says: three pointers and a count.
  std::vector<std::uint8_t> parameters(28);
  const auto count = static_cast<std::uint32_t>(a.size());
  std::memcpy(&parameters[0], &in_a, 8);
  std::memcpy(&parameters[8], &in_b, 8);
  std::memcpy(&parameters[16], &out, 8);
  std::memcpy(&parameters[24], &count, 4);

  const auto module = std::move(warpline::ptx::parse(ptx, "vecadd.ptx").value());
  const auto kernel = module->make_kernel("vecadd", {2, 1, 1}, {128, 1, 1}, 0, parameters);
  gpu.launch(*kernel);  // its result tells the cycles, and who waits for whom if it got stuck

  std::vector<float> sums(a.size());
  gpu.read(out, sums.data(), bytes);
  return sums;
}

bool save(warpline::GpuPlatform& gpu, std::ostream& out) {
  return gpu.save(out, "a note of my own").empty();
}

bool restore(warpline::GpuPlatform& gpu, std::istream& in) {
  const auto checkpoint = warpline::Checkpoint::read(in);
  return checkpoint.ok() && gpu.restore(checkpoint.value()).empty();
}

namespace warpline::test {
namespace page_embed_test {

TEST(PageCheckpoints, ItsFunctionsSaveAndRestore) {
  GpuPlatform first(load_gpu("mini", {}).value(), {}), second(load_gpu("mini", {}).value(), {});
  const std::uint64_t at = first.allocate("a", 4);
  const std::uint32_t wanted = 42;
  first.write(at, &wanted, 4);
  std::stringstream file;
  ASSERT_TRUE(save(first, file));
  ASSERT_TRUE(restore(second, file));
  std::uint32_t got = 0;
  second.read(at, &got, 4);
  EXPECT_EQ(got, wanted);
  std::istringstream nothing;
  EXPECT_FALSE(restore(second, nothing));
}

TEST(PageEmbed, ItsFunctionAdds) {
  const std::vector<float> a(1000, 0.25F), b(1000, 0.5F);
  EXPECT_EQ(add_on_gpu(read_file(in_source("sw/kernels/vecadd.sm_80.ptx")), a, b),
            std::vector<float>(1000, 0.75F));
}

/// Adds vectors, as add_on_gpu() does, for the time that it takes.
Cycle add_on(GpuPlatform& gpu) {
  std::vector<std::uint8_t> parameters(28);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::uint64_t buffer = gpu.allocate("", 4096);
    std::memcpy(&parameters[8 * i], &buffer, 8);
  }
  const std::uint32_t count = 1024;
  std::memcpy(&parameters[24], &count, 4);
  const auto module =
      std::move(ptx::parse(read_file(in_source("sw/kernels/vecadd.sm_80.ptx")), "vecadd.ptx").value());
  const auto kernel = module->make_kernel("vecadd", {8, 1, 1}, {128, 1, 1}, 0, parameters);
  return gpu.launch(*kernel).cycles;
}

TEST(PageThreads, ConfigurationsRunAtOnce) {
  // As many configurations at once as there are in the list, each on a platform of its own.
  std::vector<std::future<warpline::Cycle>> runs;
  for (const char* slices : {"l2.slices=2", "l2.slices=4", "l2.slices=8"})
    runs.push_back(std::async(std::launch::async, [slices] {
      warpline::GpuPlatform gpu(warpline::load_gpu("mini", {{slices}}).value(), {});
      return add_on(gpu);  // allocates, launches, and tells the cycles
    }));
  for (auto& run : runs) EXPECT_GT(run.get(), 100U);
}

}  // namespace page_embed_test
}  // namespace warpline::test
