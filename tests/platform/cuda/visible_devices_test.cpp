#include "platform/cuda/visible_devices.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/platform/cuda/called_by_name.h"

namespace warpline::cuda {
namespace {

using Gpus = std::vector<unsigned>;

TEST(VisibleDevices, AreThoseOfTheListUpToTheFirstThatIsNone) {
  EXPECT_EQ(visible_devices("0", 4), (Gpus{0}));
  EXPECT_EQ(visible_devices("2,0", 4), (Gpus{2, 0}));
  EXPECT_EQ(visible_devices(" 3 ,\t1", 4), (Gpus{3, 1}));
  EXPECT_EQ(visible_devices("1,4,0", 4), (Gpus{1}));
  EXPECT_EQ(visible_devices("1,-1,0", 4), (Gpus{1}));
  EXPECT_EQ(visible_devices("1,,0", 4), (Gpus{1}));
  EXPECT_EQ(visible_devices("1,0,", 4), (Gpus{1, 0}));
  EXPECT_EQ(visible_devices("", 4), Gpus{});
  EXPECT_EQ(visible_devices("none", 4), Gpus{});
  EXPECT_EQ(visible_devices("99999999999999999999", 4), Gpus{});
  EXPECT_EQ(visible_devices("1,0,1", 4), Gpus{});
}

TEST(VisibleDevices, HaveUuids) {
  EXPECT_EQ(uuid_text(0), "GPU-57617270-6c69-6e65-2047-505520300000");
  EXPECT_EQ(visible_devices(uuid_text(3) + "," + uuid_text(0), 4), (Gpus{3, 0}));
  EXPECT_EQ(visible_devices("GPU-57617270-6c69-6e65-2047-50552032", 4), (Gpus{2}));
  EXPECT_EQ(visible_devices("GPU-5761", 4), Gpus{});
  EXPECT_EQ(visible_devices("GPU-5761", 1), Gpus{0});
  EXPECT_EQ(visible_devices("GPU-58", 1), Gpus{});
}

TEST(VisibleDevices, AreAllThatAProgramSees) {
  setenv("WARPLINE_GPU", "mini", 1);
  setenv("WARPLINE_SET", "gpus=4\nvidmem_bytes=16777216\nsysmem_bytes=16777216", 1);
  setenv("CUDA_VISIBLE_DEVICES", "2,0,7,1", 1);
  int count = 0;
  ASSERT_EQ(named<int(int*)>("cudaGetDeviceCount")(&count), 0);
  EXPECT_EQ(count, 2);
  EXPECT_EQ(named<int(int)>("cudaSetDevice")(2), 101);
  char bus[16] = "";
  int device = -1;
  EXPECT_EQ(named<int(char*, int, int)>("cudaDeviceGetPCIBusId")(bus, sizeof bus, 0), 0);
  EXPECT_STREQ(bus, "0000:03:00.0");
  EXPECT_EQ(named<int(int*, const char*)>("cudaDeviceGetByPCIBusId")(&device, "0000:01:00.0"), 0);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(named<int(int*, const char*)>("cudaDeviceGetByPCIBusId")(&device, "0000:02:00.0"), 1);
}

TEST(VisibleDevices, CanBeNone) {
  setenv("WARPLINE_GPU", "mini", 1);
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  int count = 5;
  EXPECT_EQ(named<int(int*)>("cudaGetDeviceCount")(&count), 100);
  EXPECT_EQ(count, 0);
  void* memory = nullptr;
  EXPECT_EQ(named<int(void**, std::size_t)>("cudaMalloc")(&memory, 16), 100);
}

}  // namespace
}  // namespace warpline::cuda
