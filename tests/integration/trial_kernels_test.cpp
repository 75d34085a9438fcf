// Kernels that strangers wrote, with everything that CUDA 13 has, as the compiler makes them of their
// sources. Skipped where the sources or the compiler are not there.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/integration/workspace.h"

namespace warpline::test {
namespace trial_kernels_test {

constexpr const char* kNvcc = "/usr/local/cuda/bin/nvcc";

/// Compiles a source of the trials for a target, as "NAME.ptx" in the workspace.
class TrialKernels : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(sources_)) GTEST_SKIP() << sources_ << " is not there";
    if (!std::filesystem::exists(kNvcc)) GTEST_SKIP() << kNvcc << " is not there";
  }
  /// Runs `launch` on `gpu`, once its module "NAME.ptx" is there.
  [[nodiscard]] Finished run(const std::string& name, const std::string& target, const std::string& gpu,
                             const std::string& launch, const std::string& flags = "") {
    const std::string command = std::string(kNvcc) + " -std=c++17 -ptx -arch=" + target + " " + flags +
                                " -I/usr/local/cuda/include/cccl -o " + workspace_.path(name + ".ptx") + " " +
                                sources_ + "/" + name + ".cu 2> " + workspace_.path("nvcc.err");
    EXPECT_EQ(std::system(command.c_str()), 0) << read_file(workspace_.path("nvcc.err"));
    const bool several = launch.find("[[launch]]") != launch.npos;
    workspace_.write("launch.toml", several ? launch : "module = \"" + name + ".ptx\"\n" + launch);
    return workspace_.warpline({"run", "launch.toml", "--gpu", gpu});
  }
  void expect_right(const std::string& name, const std::string& target, const std::string& gpu,
                    const std::string& launch, const std::string& flags = "") {
    const Finished f = run(name, target, gpu, launch, flags);
    EXPECT_EQ(f.status, 0) << f.out << f.err;
    EXPECT_EQ(f.err.find("fault"), std::string::npos) << f.err;
  }
  const std::string sources_ = in_source("../shared/trials/kernels");
  Workspace workspace_;
};

TEST_F(TrialKernels, Barrier) {
  expect_right("barrier", "sm_80", "a100", R"toml(kernel = "barr"
grid = [1]
block = [128]
argument = [{ buffer = "x", type = "s32", count = 128, init = { iota = {} }, expect = { expression = "i + 2 * ((i + 1) % 128) + (i + 2) % 128" } },
            { scalar = 2, type = "s32" }]
)toml");
}

TEST_F(TrialKernels, WarpSpecialised) {
  expect_right("wspec", "sm_90", "h100", R"toml(kernel = "wspec"
grid = [1]
block = [96]
argument = [{ buffer = "in", type = "s32", count = 448, init = { iota = { start = -70, step = 3 } } },
            { buffer = "out", type = "s32", count = 64, expect = { expression = "sum(k, 0, 7, in[k * 64 + i] * (k + 1))" } },
            { scalar = 7, type = "s32" }]
)toml");
}

/// Integers below 8 in binary16, so that every sum of products is exact in binary32.
constexpr const char* kGemmArguments = R"toml(
argument = [{ buffer = "A", type = "f16", count = 8192, init = { file = "A.bin" } },
            { buffer = "B", type = "f16", count = 8192, init = { file = "B.bin" } },
            { buffer = "C", type = "f32", count = 16384, expect = { expression = "sum(k, 0, 64, A[i / 128 * 64 + k] * B[i % 128 * 64 + k])" } },
            { scalar = 128, type = "s32" }, { scalar = 128, type = "s32" }, { scalar = 64, type = "s32" }]
)toml";

void write_integers(const Workspace& workspace, const char* name, unsigned factor) {
  constexpr std::uint16_t kHalf[] = {0x0000, 0x3C00, 0x4000, 0x4200, 0xC400, 0xBC00, 0x4600, 0xC700};
  std::vector<std::uint16_t> values(8192);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = kHalf[i * factor / 7 % 8];
  workspace.write_values(name, values);
}

TEST_F(TrialKernels, ProductsOfMatrices) {
  write_integers(workspace_, "A.bin", 3);
  write_integers(workspace_, "B.bin", 5);
  expect_right("gemm_mma", "sm_80", "a100",
               std::string("kernel = \"gemm\"\ngrid = [2, 2]\nblock = [128]") + kGemmArguments);
  expect_right("gemm_wmma", "sm_80", "a100",
               std::string("kernel = \"gemm\"\ngrid = [8, 8]\nblock = [32]") + kGemmArguments);
}

TEST_F(TrialKernels, Wgmma) {
  // Both matrices are zeros of shared memory: descriptors of offsets 0 and 2048, strides of 128 and 256
  // bytes.
  expect_right("wgmma", "sm_90a", "h100", R"toml(kernel = "wg"
grid = [1]
block = [128]
shared_bytes = 16384
argument = [{ buffer = "o", type = "f32", count = 128, init = { value = 5.0 }, expect = { value = 0.0 } },
            { scalar = 68719542272, type = "u64" }, { scalar = 68719542400, type = "u64" }]
)toml");
}

TEST_F(TrialKernels, BulkCopies) {
  expect_right("tma_bulk", "sm_90", "h100", R"toml(kernel = "bulk"
grid = [4]
block = [128]
argument = [{ buffer = "in", type = "s32", count = 4096, init = { iota = { start = -9, step = 7 } } },
            { buffer = "out", type = "s32", count = 4096, expect = { expression = "3 * in[i]" } },
            { scalar = 4096, type = "s32" }]
)toml");
}

TEST_F(TrialKernels, TensorMaps) {
  expect_right("tma_tensor", "sm_90", "h100", R"toml(kernel = "tt"
grid = [1]
block = [256]
[[argument]]
tensor_map = { buffer = "in", shape = [32, 32], strides = [128], box = [16, 16] }
type = "s32"
count = 1024
init = { iota = { start = 4, step = 3 } }
[[argument]]
buffer = "out"
type = "s32"
count = 256
expect = { expression = "in[i / 16 * 32 + i % 16]" }
)toml");
}

TEST_F(TrialKernels, Clusters) {
  expect_right("cluster", "sm_90", "h100", R"toml(kernel = "cl"
grid = [6]
block = [128]
cluster = [2, 1, 1]
argument = [{ buffer = "in", type = "s32", count = 768, init = { iota = { start = 1, step = 5 } } },
            { buffer = "out", type = "s32", count = 768, expect = { expression = "in[(i / 128 ^ 1) * 128 + 127 - i % 128]" } }]
)toml");
}

TEST_F(TrialKernels, DependentLaunch) {
  expect_right("elect", "sm_90", "h100", R"toml(
[[launch]]
module = "elect.ptx"
kernel = "pdl"
grid = [1]
block = [64]
argument = [{ buffer = "a", type = "s32", count = 64, init = { iota = {} }, expect = { expression = "i + 2" } }]
[[launch]]
module = "elect.ptx"
kernel = "pdl"
grid = [1]
block = [64]
dependent = true
argument = [{ buffer = "a" }]
)toml");
}

TEST_F(TrialKernels, CooperativeGrid) {
  expect_right("coop", "sm_80", "a100", R"toml(kernel = "coop"
grid = [4]
block = [64]
cooperative = true
argument = [{ buffer = "in", type = "s32", count = 1000, init = { iota = {} } }, { buffer = "part", type = "s32", count = 4 },
            { buffer = "out", type = "s32", count = 1, expect = { value = 499500 } }, { scalar = 1000, type = "s32" }]
)toml");
}

TEST_F(TrialKernels, Printf) {
  const Finished f = run("printf", "sm_80", "a100", R"toml(kernel = "pr"
grid = [1]
block = [32]
argument = [{ buffer = "a", type = "s32", count = 32, init = { iota = { start = 4 } }, expect = { expression = "i + 7" } },
            { scalar = 3, type = "s32" }]
)toml");
  EXPECT_EQ(f.status, 0) << f.out << f.err;
  EXPECT_NE((f.out + f.err).find("n=3 a0=4 1.500000\n"), std::string::npos) << f.out << f.err;
}

TEST_F(TrialKernels, AssertionsThatFailStopTheGrid) {
  const Finished f = run("printf", "sm_80", "a100", R"toml(kernel = "pr"
grid = [1]
block = [32]
argument = [{ buffer = "a", type = "s32", count = 32 }, { scalar = -1, type = "s32" }]
)toml");
  EXPECT_EQ(f.status, 1);
  EXPECT_NE(f.err.find("n>0"), std::string::npos) << f.out << f.err;
}

TEST_F(TrialKernels, MixOfPrintingAndPlain) {
  expect_right("mix", "sm_80", "a100", R"toml(kernel = "plain"
grid = [1]
block = [32]
argument = [{ buffer = "a", type = "s32", count = 32, expect = { expression = "i" } }]
)toml");
}

TEST_F(TrialKernels, DeviceSideLaunch) {
  expect_right("cdp", "sm_80", "a100", R"toml(kernel = "parent"
grid = [1]
block = [32]
argument = [{ buffer = "a", type = "s32", count = 32, init = { iota = {} }, expect = { expression = "2 * (i + 1)" } }]
)toml",
               "-rdc=true");
}

TEST_F(TrialKernels, DeviceAlgorithms) {
  expect_right("cub_dev", "sm_80", "a100", R"toml(kernel = "thr"
grid = [1]
block = [4]
argument = [{ buffer = "a", type = "s32", count = 32, init = { iota = { start = 31, step = -1 } }, expect = { expression = "24 - i / 8 * 8 + i % 8" } },
            { buffer = "f", type = "f32", count = 32 }, { scalar = 8, type = "s32" }]
)toml");
}

TEST_F(TrialKernels, NarrowFloats) {
  for (const auto& [target, gpu] : {std::pair{"sm_80", "a100"}, std::pair{"sm_90", "h100"}})
    expect_right("fp8", target, gpu, R"toml(kernel = "f8"
grid = [1]
block = [32]
argument = [{ buffer = "a", type = "f32", count = 8, init = { iota = {} } }, { buffer = "o", type = "u8", count = 8 },
            { buffer = "b", type = "f32", count = 8, expect = { expression = "2 * i" } }, { scalar = 8, type = "s32" }]
)toml");
}

TEST_F(TrialKernels, ThoseOfOrdinaryInstructions) {
  expect_right("uni", "sm_80", "a100", R"toml(kernel = "uni"
grid = [1]
block = [128]
argument = [{ buffer = "a", type = "f32", count = 256, init = { value = 1.0 } },
            { buffer = "o", type = "f32", count = 128, expect = { value = 2.0 } }]
)toml");
  for (const auto& [source, kernel] : {std::pair{"hoist", "cp"}, {"hoist", "cpr"}, {"hoist2", "cph"}})
    expect_right(source, "sm_80", "a100", std::string("kernel = \"") + kernel + R"toml("
grid = [8]
block = [256]
argument = [{ buffer = "a", type = "f32", count = 16384, init = { value = 1.0 } },
            { buffer = "b", type = "f32", count = 16384, expect = { value = 2.0 } }, { scalar = 2048, type = "s32" }]
)toml");
}

}  // namespace trial_kernels_test
}  // namespace warpline::test
