// The driver API as programs call it: functions by the names that libcuda.so.1 exports.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "platform/config/load_gpu.h"
#include "platform/cuda/abi/driver.h"
#include "platform/cuda/abi/driver_types.h"
#include "platform/cuda/abi/runtime.h"
#include "platform/cuda/fat_binary.h"
#include "platform/cuda/fat_binary_source.h"
#include "platform/cuda/jit_options.h"
#include "platform/cuda/occupancy.h"
#include "platform/cuda/operation.h"
#include "platform/cuda/status.h"
#include "platform/cuda/virtual_memory.h"
#include "rtl_models/bulk_copy/tensor_map.h"

namespace warpline::cuda::test {
namespace {

template <class... P>
Status call(const char* name, P... parameters) {
  const Address function = driver_function(name);
  if (function == nullptr) {
    ADD_FAILURE() << name << " is not modelled";
    return Status::unknown;
  }
  return static_cast<Status>(reinterpret_cast<int (*)(P...)>(function)(parameters...));
}

constexpr const char* kText = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .const .align 4 .b32 factor = 3;
.visible .global .align 4 .b32 total = 100;
.visible .entry scale(.param .u64 out, .param .u16 add, .param .u32 by)
{
  .reg .b32 %r<8>;
  .reg .b16 %h;
  .reg .b64 %d<4>;
  mov.u32 %r1, %tid.x;
  ld.param.u16 %h, [add];
  cvt.u32.u16 %r2, %h;
  ld.param.u32 %r3, [by];
  ld.const.u32 %r4, [factor];
  mul.lo.u32 %r5, %r1, %r3;
  mad.lo.u32 %r5, %r5, %r4, %r2;
  ld.param.u64 %d1, [out];
  mul.wide.u32 %d2, %r1, 4;
  add.u64 %d3, %d1, %d2;
  st.global.u32 [%d3], %r5;
  ret;
}
.visible .entry nothing() { ret; }
)";

class DriverApi : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("WARPLINE_GPU", "mini", 1);
    setenv("WARPLINE_SET", "vidmem_bytes=67108864", 1);
  }
  /// With the primary context current.
  static void* begin() {
    void* context = nullptr;
    EXPECT_EQ(call("cuInit", 0U), Status::success);
    EXPECT_EQ(call("cuDevicePrimaryCtxRetain", &context, 0), Status::success);
    EXPECT_EQ(call("cuCtxSetCurrent", context), Status::success);
    return context;
  }
  static void* module() {
    void* module = nullptr;
    EXPECT_EQ(call("cuModuleLoadData", &module, static_cast<const void*>(kText)), Status::success);
    return module;
  }
  static std::uint64_t memory(std::size_t bytes) {
    std::uint64_t address = 0;
    EXPECT_EQ(call("cuMemAlloc_v2", &address, bytes), Status::success);
    return address;
  }
  static std::vector<std::uint32_t> words(std::uint64_t address, std::size_t count) {
    std::vector<std::uint32_t> found(count);
    EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(found.data()), address, count * 4), Status::success);
    return found;
  }
  static Status launch(void* function, unsigned threads, void** parameters, void** extra) {
    return call("cuLaunchKernel", function, 1U, 1U, 1U, threads, 1U, 1U, 0U, static_cast<void*>(nullptr),
                parameters, extra);
  }
};

TEST_F(DriverApi, WantsToBeInitialisedAndAContext) {
  int count = 0;
  std::uint64_t address = 0;
  EXPECT_EQ(call("cuDeviceGetCount", &count), Status::initialization_error);
  EXPECT_EQ(call("cuInit", 1U), Status::invalid_value);
  EXPECT_EQ(call("cuInit", 0U), Status::success);
  EXPECT_EQ(call("cuDeviceGetCount", &count), Status::success);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(call("cuMemAlloc_v2", &address, std::size_t{16}), Status::device_uninitialized);
  int device = 0;
  EXPECT_EQ(call("cuDeviceGet", &device, 1), Status::invalid_device);
}

TEST_F(DriverApi, NamesAreInOrderAndWhatIsNotModelledSaysSoOnce) {
  std::size_t modelled = 0;
  for (std::size_t n = 0; n < driver_names(); ++n) {
    if (n != 0) {
      EXPECT_LT(driver_name_at(n - 1), driver_name_at(n));
    }
    if (driver_function(driver_name_at(n)) != nullptr) ++modelled;
  }
  EXPECT_GE(driver_names(), 637U);
  EXPECT_GE(modelled, 250U);
  const auto function = [](std::string_view name) -> int (*)() {
    for (std::size_t n = 0; n < driver_names(); ++n)
      if (driver_name_at(n) == name) return reinterpret_cast<int (*)()>(driver_refusal(n));
    return nullptr;
  };
  ASSERT_NE(function("cuIpcGetMemHandle"), nullptr);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(function("cuIpcGetMemHandle")(), 801);
  EXPECT_EQ(function("cuIpcGetMemHandle")(), 801);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "warpline: cuIpcGetMemHandle is not modelled: it returns CUDA_ERROR_NOT_SUPPORTED\n");
}

/// Calls a function with zeros, and looks whether it returns an error that there is.
void call_with_zeros(Address function) {
  using Any =
      int (*)(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
              std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
              std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t);
  const int status = reinterpret_cast<Any>(function)(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  EXPECT_FALSE(runtime_name(static_cast<Status>(status)).empty()) << "status " << status;
}

TEST_F(DriverApi, NothingCrashesOnNullPointersAndHandles) {
  for (std::size_t n = 0; n < driver_names(); ++n) {
    const Address function = driver_function(driver_name_at(n));
    if (function == nullptr) continue;
    SCOPED_TRACE(driver_name_at(n));
    begin();
    call_with_zeros(function);
  }
  for (std::size_t n = 0; n < runtime_names(); ++n) {
    const std::string_view name = runtime_name_at(n);
    const Address function = runtime_function(name);
    // Of these, some return no status, and others are called by the compiler alone.
    const bool other = name.substr(0, 2) == "__" || name == "cudaGetErrorString" ||
                       name == "cudaGetErrorName" || name == "cudaCreateChannelDesc";
    if (function == nullptr || other) continue;
    SCOPED_TRACE(name);
    call_with_zeros(function);
  }
}

TEST_F(DriverApi, EachThreadHasAStackOfContexts) {
  void* const primary = begin();
  void *own = nullptr, *current = nullptr;
  ASSERT_EQ(call("cuCtxCreate_v2", &own, 0U, 0), Status::success);
  const auto now = [&current] {
    EXPECT_EQ(call("cuCtxGetCurrent", &current), Status::success);
    return current;
  };
  EXPECT_EQ(now(), own);
  std::thread([&] {
    void* there = own;
    EXPECT_EQ(call("cuCtxGetCurrent", &there), Status::success);
    EXPECT_EQ(there, nullptr);
  }).join();
  EXPECT_EQ(call("cuCtxPushCurrent_v2", primary), Status::success);
  EXPECT_EQ(now(), primary);
  EXPECT_EQ(call("cuCtxPopCurrent_v2", &current), Status::success);
  EXPECT_EQ(current, primary);
  EXPECT_EQ(now(), own);
  EXPECT_EQ(call("cuCtxDestroy_v2", own), Status::success);
  EXPECT_EQ(now(), primary);
  EXPECT_EQ(call("cuCtxDestroy_v2", own), Status::device_uninitialized);
  EXPECT_EQ(call("cuCtxDestroy_v2", primary), Status::device_uninitialized) << "it is not the program's";
  EXPECT_EQ(call("cuCtxPopCurrent_v2", &current), Status::success);
  EXPECT_EQ(call("cuCtxPopCurrent_v2", &current), Status::device_uninitialized);
}

TEST_F(DriverApi, KernelsGetParametersOneByOneOrAsABlock) {
  begin();
  void *function = nullptr, *none = nullptr;
  void* const loaded = module();
  ASSERT_EQ(call("cuModuleGetFunction", &function, loaded, "scale"), Status::success);
  EXPECT_EQ(call("cuModuleGetFunction", &none, loaded, "other"), Status::symbol_not_found);
  std::uint64_t out = memory(32 * 4);
  std::uint16_t add = 7;
  std::uint32_t by = 10;
  void* one_by_one[] = {&out, &add, &by};
  EXPECT_EQ(launch(function, 32, one_by_one, nullptr), Status::success);
  EXPECT_EQ(words(out, 32)[31], 31U * 10 * 3 + 7);

  struct {
    std::uint64_t out;
    std::uint16_t add;
    std::uint32_t by;
  } block{out, 1000, 2};
  std::size_t bytes = sizeof block;
  void* extra[] = {reinterpret_cast<void*>(1), &block, reinterpret_cast<void*>(2), &bytes, nullptr};
  EXPECT_EQ(launch(function, 32, nullptr, extra), Status::success);
  EXPECT_EQ(words(out, 32)[31], 31U * 2 * 3 + 1000);
  bytes = 14;
  EXPECT_EQ(launch(function, 32, nullptr, extra), Status::invalid_value) << "the block is too short";
  EXPECT_EQ(launch(function, 32, one_by_one, extra), Status::invalid_value);
  EXPECT_EQ(launch(function, 32, nullptr, nullptr), Status::invalid_value);
  one_by_one[1] = nullptr;
  EXPECT_EQ(launch(function, 32, one_by_one, nullptr), Status::invalid_value);
  EXPECT_EQ(launch(&by, 32, nullptr, nullptr), Status::invalid_resource_handle);
  EXPECT_EQ(call("cuModuleUnload", loaded), Status::success);
  EXPECT_EQ(launch(function, 32, one_by_one, nullptr), Status::invalid_resource_handle);
  EXPECT_EQ(call("cuModuleUnload", loaded), Status::invalid_resource_handle);
}

TEST_F(DriverApi, VariablesOfModulesHaveAddresses) {
  begin();
  void *function = nullptr, *const loaded = module();
  std::uint64_t factor = 0, total = 0, out = memory(8);
  std::size_t bytes = 0;
  ASSERT_EQ(call("cuModuleGetGlobal_v2", &factor, &bytes, loaded, "factor"), Status::success);
  EXPECT_EQ(bytes, 4U);
  ASSERT_EQ(call("cuModuleGetGlobal_v2", &total, static_cast<std::size_t*>(nullptr), loaded, "total"),
            Status::success);
  EXPECT_EQ(words(total, 1)[0], 100U);
  EXPECT_EQ(call("cuModuleGetGlobal_v2", &total, &bytes, loaded, "none"), Status::symbol_not_found);
  const std::uint32_t five = 5;
  EXPECT_EQ(call("cuMemcpyHtoD_v2", factor, static_cast<const void*>(&five), std::size_t{4}),
            Status::success);
  ASSERT_EQ(call("cuModuleGetFunction", &function, loaded, "scale"), Status::success);
  std::uint16_t add = 0;
  std::uint32_t by = 1;
  void* parameters[] = {&out, &add, &by};
  EXPECT_EQ(launch(function, 2, parameters, nullptr), Status::success);
  EXPECT_EQ(words(out, 2)[1], 5U);
}

TEST_F(DriverApi, AKernelKeepsWhatItPrefersOfTheStorageOfL1) {
  constexpr int kCarveout = 9;
  begin();
  void* function = nullptr;
  ASSERT_EQ(call("cuModuleGetFunction", &function, module(), "scale"), Status::success);
  int value = 0;
  const auto get = [&] {
    EXPECT_EQ(call("cuFuncGetAttribute", &value, kCarveout, function), Status::success);
    return value;
  };
  EXPECT_EQ(get(), -1) << "as the driver likes";
  EXPECT_EQ(call("cuFuncSetAttribute", function, kCarveout, 40), Status::success);
  EXPECT_EQ(get(), 40);
  EXPECT_EQ(call("cuFuncSetAttribute", function, kCarveout, 101), Status::invalid_value);
  EXPECT_EQ(call("cuFuncSetAttribute", function, kCarveout, -2), Status::invalid_value);
  EXPECT_EQ(get(), 40);
  EXPECT_EQ(call("cuFuncSetAttribute", function, kCarveout, -1), Status::success);
  EXPECT_EQ(get(), -1);
  EXPECT_EQ(call("cuFuncSetCacheConfig", function, 2), Status::success);
  EXPECT_EQ(call("cuFuncSetCacheConfig", function, 4), Status::invalid_value);
  EXPECT_EQ(carveout_of_preference(0), std::nullopt);
  EXPECT_EQ(carveout_of_preference(1), 100U);
  EXPECT_EQ(carveout_of_preference(2), 0U);
  EXPECT_EQ(carveout_of_preference(3), 50U);
}

TEST_F(DriverApi, WhatCannotBeLoadedSaysWhyInTheProgramsLog) {
  begin();
  char log[200] = "before";
  std::size_t room = 20;
  int options[] = {5, 6};
  void* values[] = {log, nullptr};
  void* loaded = nullptr;
  const auto load = [&](const void* image) {
    values[1] = reinterpret_cast<void*>(room);
    ::testing::internal::CaptureStderr();
    const Status status = call("cuModuleLoadDataEx", &loaded, image, 2U, static_cast<const int*>(options),
                               static_cast<void**>(values));
    ::testing::internal::GetCapturedStderr();
    return status;
  };
  EXPECT_EQ(load("no PTX at all"), Status::invalid_ptx);
  EXPECT_EQ(std::strlen(log), room - 1) << "as far as the buffer goes";
  EXPECT_EQ(reinterpret_cast<std::size_t>(values[1]), std::strlen(log));
  room = sizeof log;
  EXPECT_EQ(load("\177ELF and so on"), Status::no_kernel_image_for_device);
  EXPECT_NE(std::string(log).find("machine code"), std::string::npos) << log;
  EXPECT_EQ(load(kText), Status::success);
  EXPECT_EQ(std::string(log), "");
  options[0] = 99;
  EXPECT_EQ(load(kText), Status::invalid_value);
  EXPECT_EQ(load(""), Status::invalid_value) << "still with an unknown option";
}

TEST_F(DriverApi, LinkedTextsCanBeCopiedAndLoaded) {
  constexpr const char* kCaller = R"(
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) five();
.visible .entry caller(.param .u64 out)
{
  .reg .b32 %r1;
  .reg .b64 %d1;
  { .param .b32 v; call.uni (v), five; ld.param.b32 %r1, [v]; }
  ld.param.u64 %d1, [out];
  st.global.u32 [%d1], %r1;
  ret;
}
)";
  constexpr const char* kCallee = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .func (.param .b32 r) five() { .reg .b32 %r1; mov.u32 %r1, 5; st.param.b32 [r], %r1; ret; }
)";
  begin();
  void *state = nullptr, *image = nullptr, *loaded = nullptr, *function = nullptr;
  std::size_t bytes = 0;
  ASSERT_EQ(
      call("cuLinkCreate_v2", 0U, static_cast<const int*>(nullptr), static_cast<void**>(nullptr), &state),
      Status::success);
  EXPECT_EQ(call("cuLinkComplete", state, &image, &bytes), Status::invalid_value) << "of nothing";
  for (const char* text : {kCaller, kCallee})
    EXPECT_EQ(call("cuLinkAddData_v2", state, 1, static_cast<const void*>(text), std::strlen(text), "part",
                   0U, static_cast<const int*>(nullptr), static_cast<void**>(nullptr)),
              Status::success);
  ASSERT_EQ(call("cuLinkComplete", state, &image, &bytes), Status::success);
  const std::vector<char> copy(static_cast<char*>(image), static_cast<char*>(image) + bytes);
  EXPECT_EQ(call("cuLinkDestroy", state), Status::success);
  EXPECT_EQ(call("cuLinkDestroy", state), Status::invalid_resource_handle);
  ASSERT_EQ(call("cuModuleLoadData", &loaded, static_cast<const void*>(copy.data())), Status::success);
  ASSERT_EQ(call("cuModuleGetFunction", &function, loaded, "caller"), Status::success);
  std::uint64_t out = memory(4);
  void* parameters[] = {&out};
  EXPECT_EQ(launch(function, 1, parameters, nullptr), Status::success);
  EXPECT_EQ(words(out, 1)[0], 5U);
}

TEST_F(DriverApi, BlocksAreMappedWhereTheProgramLikes) {
  constexpr std::uint64_t kStep = VirtualMemory::kGranularity;
  begin();
  AllocationProperties properties{};
  properties.type = 1;
  properties.location = {1, 0};
  AccessDescription access{{1, 0}, 3};
  const auto reserve = [](std::uint64_t bytes) {
    std::uint64_t address = 0;
    EXPECT_EQ(
        call("cuMemAddressReserve", &address, bytes, std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{0}),
        Status::success);
    return address;
  };
  const auto map = [](std::uint64_t at, std::uint64_t bytes, std::uint64_t block) {
    return call("cuMemMap", at, bytes, std::uint64_t{0}, block, std::uint64_t{0});
  };
  const auto allow = [&access](std::uint64_t at, std::uint64_t bytes) {
    return call("cuMemSetAccess", at, bytes, static_cast<const AccessDescription*>(&access),
                std::uint64_t{1});
  };
  std::size_t before = 0, after = 0, total = 0;
  EXPECT_EQ(call("cuMemGetInfo_v2", &before, &total), Status::success);
  const std::uint64_t base = reserve(2 * kStep);
  std::uint64_t blocks[2] = {};
  for (std::uint64_t& block : blocks)
    EXPECT_EQ(call("cuMemCreate", &block, kStep, static_cast<const AllocationProperties*>(&properties),
                   std::uint64_t{0}),
              Status::success);
  EXPECT_EQ(map(base, kStep, blocks[0]), Status::success);
  EXPECT_EQ(map(base, kStep, blocks[1]), Status::invalid_value) << "there is one already";
  EXPECT_EQ(map(base + 2 * kStep, kStep, blocks[1]), Status::invalid_value) << "that is not reserved";
  EXPECT_EQ(call("cuMemsetD32_v2", base, 1U, std::size_t{4}), Status::invalid_value) << "no access yet";
  EXPECT_EQ(map(base + kStep, kStep, blocks[1]), Status::success);
  EXPECT_EQ(allow(base, 2 * kStep), Status::success);
  // Across both: a fill, a copy to the host, and back.
  EXPECT_EQ(call("cuMemsetD32_v2", base + kStep - 8, 0xAAU, std::size_t{4}), Status::success);
  EXPECT_EQ(words(base + kStep - 12, 6), (std::vector<std::uint32_t>{0, 0xAA, 0xAA, 0xAA, 0xAA, 0}));
  const std::uint32_t ours[] = {1, 2, 3, 4};
  EXPECT_EQ(call("cuMemcpyHtoD_v2", base + kStep - 4, static_cast<const void*>(ours), std::size_t{16}),
            Status::success);
  EXPECT_EQ(words(base + kStep - 8, 5), (std::vector<std::uint32_t>{0xAA, 1, 2, 3, 4}));
  // The second one alone at other addresses.
  EXPECT_EQ(call("cuMemUnmap", base, 2 * kStep), Status::success);
  EXPECT_EQ(call("cuMemUnmap", base, 2 * kStep), Status::invalid_value);
  const std::uint64_t other = reserve(kStep);
  EXPECT_EQ(map(other, kStep, blocks[1]), Status::success);
  EXPECT_EQ(allow(other, kStep), Status::success);
  EXPECT_EQ(words(other, 3), (std::vector<std::uint32_t>{2, 3, 4}));
  EXPECT_EQ(call("cuMemAddressFree", other, kStep), Status::invalid_value) << "something is mapped there";
  EXPECT_EQ(call("cuMemRelease", blocks[1]), Status::success);
  EXPECT_EQ(words(other, 1)[0], 2U) << "it stays as long as it is mapped";
  EXPECT_EQ(call("cuMemUnmap", other, kStep), Status::success);
  EXPECT_EQ(call("cuMemRelease", blocks[1]), Status::invalid_value);
  EXPECT_EQ(call("cuMemRelease", blocks[0]), Status::success);
  EXPECT_EQ(call("cuMemAddressFree", other, kStep), Status::success);
  EXPECT_EQ(call("cuMemAddressFree", base, kStep), Status::invalid_value);
  EXPECT_EQ(call("cuMemAddressFree", base, 2 * kStep), Status::success);
  EXPECT_EQ(call("cuMemGetInfo_v2", &after, &total), Status::success);
  EXPECT_EQ(after, before);
}

TEST_F(DriverApi, StreamsWriteValuesAndWaitForThem) {
  begin();
  std::uint32_t* host = nullptr;
  void* stream = nullptr;
  ASSERT_EQ(call("cuMemHostAlloc", reinterpret_cast<void**>(&host), std::size_t{64}, 0U), Status::success);
  ASSERT_EQ(call("cuStreamCreate", &stream, 1U), Status::success);
  const auto address = reinterpret_cast<std::uintptr_t>(host);
  auto& first = *reinterpret_cast<std::atomic<std::uint32_t>*>(host);
  first = 0xFFFFFFFF;
  host[1] = 0;
  // From -1 to 1 a counter has wrapped: it is at least 0 then.
  EXPECT_EQ(call("cuStreamWaitValue32_v2", stream, std::uint64_t{address}, 0U, 0U), Status::success);
  EXPECT_EQ(call("cuStreamWriteValue32_v2", stream, std::uint64_t{address + 4}, 5U, 0U), Status::success);
  EXPECT_EQ(call("cuStreamQuery", stream), Status::not_ready);
  first = 1;
  EXPECT_EQ(call("cuStreamSynchronize", stream), Status::success);
  EXPECT_EQ(host[1], 5U);
  EXPECT_EQ(call("cuStreamWaitValue32_v2", stream, std::uint64_t{address + 64}, 0U, 0U),
            Status::invalid_value);
  EXPECT_EQ(call("cuStreamWaitValue32_v2", stream, std::uint64_t{address}, 0U, 4U), Status::invalid_value);
}

TEST_F(DriverApi, NamesWithoutVersionMeanTheNewestOfAProgramsTime) {
  const auto found = [](const char* name, int version) {
    Address function = nullptr;
    return driver_entry_point(name, version, function) == EntryPoint::found ? function : nullptr;
  };
  EXPECT_EQ(found("cuMemAlloc", 12000), driver_function("cuMemAlloc_v2"));
  EXPECT_EQ(found("cuCtxCreate", 11000), driver_function("cuCtxCreate_v2"));
  EXPECT_EQ(found("cuCtxCreate", 11040), driver_function("cuCtxCreate_v3"));
  EXPECT_EQ(found("cuCtxCreate", 13000), driver_function("cuCtxCreate_v4"));
  EXPECT_EQ(found("cuLaunchKernel", 12000), driver_function("cuLaunchKernel_ptsz"));
  EXPECT_NE(found("cuGraphCreate", 12000), nullptr) << "one that refuses, at least";
  Address function = nullptr;
  EXPECT_EQ(driver_entry_point("cuNothing", 12000, function), EntryPoint::not_found);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(driver_entry_point("cuGetProcAddress", 11000, function), EntryPoint::too_new);
}

TEST_F(DriverApi, TensorMapsAreThoseThatCopiesGoBy) {
  alignas(64) std::array<std::uint8_t, TensorMap::kBytes> bytes{};
  const std::uint64_t shape[] = {100, 20}, strides[] = {400};
  const std::uint32_t box[] = {16, 8}, steps[] = {1, 2};
  auto* const tensor = reinterpret_cast<void*>(0x300000000000ULL);
  const auto encode = [&](int type, int interleave, int swizzle, void* to) {
    ::testing::internal::CaptureStderr();
    const Status status =
        call("cuTensorMapEncodeTiled", to, type, 2U, tensor, static_cast<const std::uint64_t*>(shape),
             static_cast<const std::uint64_t*>(strides), static_cast<const std::uint32_t*>(box),
             static_cast<const std::uint32_t*>(steps), interleave, swizzle, 2, 1);
    ::testing::internal::GetCapturedStderr();
    return status;
  };
  ASSERT_EQ(encode(7, 0, 2, bytes.data()), Status::success);
  const std::optional<TensorMap> map = TensorMap::decode(bytes);
  ASSERT_TRUE(map.has_value());
  EXPECT_EQ(map->type, DataType::f32);
  EXPECT_EQ(map->rank, 2U);
  EXPECT_EQ(map->address, 0x300000000000ULL);
  EXPECT_EQ(map->shape[0], 100U);
  EXPECT_EQ(map->shape[1], 20U);
  EXPECT_EQ(map->strides[1], 400U);
  EXPECT_EQ(map->box[1], 8U);
  EXPECT_EQ(map->element_strides[1], 2U);
  EXPECT_EQ(map->swizzle, TensorSwizzle::bytes_64);
  EXPECT_EQ(map->fill, TensorFill::nan);
  EXPECT_EQ(encode(7, 1, 0, bytes.data()), Status::not_supported) << "interleaved";
  EXPECT_EQ(encode(11, 0, 0, bytes.data()), Status::not_supported) << "tf32";
  EXPECT_EQ(encode(7, 0, 9, bytes.data()), Status::invalid_value);
  EXPECT_EQ(encode(7, 0, 1, bytes.data()), Status::invalid_value) << "a row of 64 bytes, swizzled over 32";
  EXPECT_EQ(encode(7, 0, 0, bytes.data() + 16), Status::invalid_value) << "not aligned";
  ASSERT_EQ(encode(7, 0, 0, bytes.data()), Status::success);
  EXPECT_EQ(call("cuTensorMapReplaceAddress", static_cast<void*>(bytes.data()),
                 reinterpret_cast<void*>(0x310000000000ULL)),
            Status::success);
  EXPECT_EQ(TensorMap::decode(bytes)->address, 0x310000000000ULL);
  bytes[125] ^= 1;
  EXPECT_EQ(call("cuTensorMapReplaceAddress", static_cast<void*>(bytes.data()), tensor),
            Status::invalid_value);
}

TEST_F(DriverApi, PointersTellWhatTheyLeadTo) {
  begin();
  const std::uint64_t address = memory(1000);
  std::uint32_t type = 0;
  std::uint64_t start = 0, bytes = 0;
  EXPECT_EQ(call("cuPointerGetAttribute", static_cast<void*>(&type), 2, address + 999), Status::success);
  EXPECT_EQ(type, 2U);
  const int attributes[] = {11, 12, 2};
  void* to[] = {&start, &bytes, &type};
  EXPECT_EQ(call("cuPointerGetAttributes", 3U, static_cast<const int*>(attributes), static_cast<void**>(to),
                 address + 5),
            Status::success);
  EXPECT_EQ(start, address);
  EXPECT_EQ(bytes, 1000U);
  EXPECT_EQ(call("cuPointerGetAttribute", static_cast<void*>(&type), 2, address + 1000),
            Status::invalid_value);
  EXPECT_EQ(call("cuPointerGetAttributes", 3U, static_cast<const int*>(attributes), static_cast<void**>(to),
                 reinterpret_cast<std::uintptr_t>(&start)),
            Status::success);
  EXPECT_EQ(bytes, 0U);
  EXPECT_EQ(type, 0U);
  EXPECT_EQ(call("cuMemFree_v2", address + 8), Status::invalid_value);
  EXPECT_EQ(call("cuMemFree_v2", address), Status::success);
}

/// Two GPUs, with the primary context of each; that of GPU 0 is current.
class DriverPeers : public DriverApi {
 protected:
  static void SetUpTestSuite() {
    setenv("WARPLINE_GPU", "mini", 1);
    setenv("WARPLINE_SET", "vidmem_bytes=67108864\ngpus=2", 1);
  }
  void SetUp() override {
    int count = 0;
    call("cuInit", 0U);
    for (int device = 0; device < 2; ++device)
      call("cuDevicePrimaryCtxRetain", &contexts_.at(static_cast<std::size_t>(device)), device);
    call("cuDeviceGetCount", &count);
    if (count != 2) GTEST_SKIP() << "the machine of this process was made by another test";
    use(0);
  }
  void use(std::size_t device) { EXPECT_EQ(call("cuCtxSetCurrent", contexts_.at(device)), Status::success); }
  /// A kernel of GPU 0 writes 1, 7, 13 ... from there on.
  Status number(std::uint64_t to) {
    void* function = nullptr;
    if (module_ == nullptr) module_ = module();
    EXPECT_EQ(call("cuModuleGetFunction", &function, module_, "scale"), Status::success);
    std::uint16_t add = 1;
    std::uint32_t by = 2;
    void* parameters[] = {&to, &add, &by};
    EXPECT_EQ(launch(function, 8, parameters, nullptr), Status::success);
    return call("cuCtxSynchronize");
  }
  std::array<void*, 2> contexts_{};
  void* module_ = nullptr;
};

TEST_F(DriverPeers, EachGpuHasAPciBusOfItsOwn) {
  for (int device = 0; device < 2; ++device) {
    int bus = 0;
    EXPECT_EQ(call("cuDeviceGetAttribute", &bus, 33, device), Status::success);
    EXPECT_EQ(bus, 1 + device);
    const auto of_runtime =
        reinterpret_cast<int (*)(int*, int, int)>(runtime_function("cudaDeviceGetAttribute"));
    EXPECT_EQ(of_runtime(&bus, 33, device), 0);
    EXPECT_EQ(bus, 1 + device);
    std::array<char, 16> text{};
    EXPECT_EQ(call("cuDeviceGetPCIBusId", text.data(), 16, device), Status::success);
    EXPECT_STREQ(text.data(), device == 0 ? "0000:01:00.0" : "0000:02:00.0");
    int found = -1;
    EXPECT_EQ(call("cuDeviceGetByPCIBusId", &found, static_cast<const char*>(text.data())), Status::success);
    EXPECT_EQ(found, device);
  }
}

TEST_F(DriverPeers, AccessIsEnabledOnceAndDisabledOnce) {
  const auto enable = [](void* peer, unsigned flags = 0) {
    return call("cuCtxEnablePeerAccess", peer, flags);
  };
  int value = 0;
  EXPECT_EQ(call("cuDeviceCanAccessPeer", &value, 0, 1), Status::success);
  EXPECT_EQ(value, 1);
  const std::array<int, 5> expected = {0, 1, 1, 1, 0};
  for (int attribute = 1; attribute <= 5; ++attribute) {
    EXPECT_EQ(call("cuDeviceGetP2PAttribute", &value, attribute, 1, 0), Status::success);
    EXPECT_EQ(value, expected.at(static_cast<std::size_t>(attribute) - 1)) << attribute;
  }
  EXPECT_EQ(call("cuDeviceGetP2PAttribute", &value, 6, 1, 0), Status::invalid_value);
  EXPECT_EQ(call("cuDeviceGetP2PAttribute", &value, 2, 1, 1), Status::invalid_device);
  EXPECT_EQ(enable(nullptr), Status::device_uninitialized);
  EXPECT_EQ(enable(contexts_[0]), Status::device_uninitialized) << "itself";
  EXPECT_EQ(enable(contexts_[1], 1), Status::invalid_value);
  EXPECT_EQ(call("cuCtxDisablePeerAccess", contexts_[1]), Status::peer_access_not_enabled);

  use(1);
  const std::uint64_t early = memory(64);
  use(0);
  EXPECT_EQ(enable(contexts_[1]), Status::success);
  EXPECT_EQ(enable(contexts_[1]), Status::peer_access_already_enabled);
  use(1);
  const std::uint64_t late = memory(64);
  std::uint32_t access = 9;
  EXPECT_EQ(call("cuPointerGetAttribute", static_cast<void*>(&access), 16, late), Status::success);
  EXPECT_EQ(access, 3U);
  use(0);
  for (const std::uint64_t at : {early, late}) {
    EXPECT_EQ(number(at), Status::success);
    EXPECT_EQ(words(at, 3), (std::vector<std::uint32_t>{1, 7, 13}));
    std::uint64_t address = 0;
    EXPECT_EQ(call("cuPointerGetAttribute", static_cast<void*>(&address), 3, at), Status::success);
    EXPECT_EQ(address, at);
  }
  EXPECT_EQ(call("cuCtxDisablePeerAccess", contexts_[1]), Status::success);
  EXPECT_EQ(call("cuCtxDisablePeerAccess", contexts_[1]), Status::peer_access_not_enabled);
  EXPECT_EQ(call("cuPointerGetAttribute", static_cast<void*>(&access), 16, late), Status::success);
  EXPECT_EQ(access, 0U);
  std::uint64_t address = 0;
  EXPECT_EQ(call("cuPointerGetAttribute", static_cast<void*>(&address), 3, late), Status::invalid_value);
  EXPECT_EQ(number(late), Status::illegal_address);
  EXPECT_EQ(call("cuDevicePrimaryCtxReset_v2", 0), Status::success);
  EXPECT_EQ(call("cuMemFree_v2", early), Status::success) << "it is the other GPU's";
}

TEST_F(DriverPeers, BlocksAndNodesAreOpenToWhomTheProgramSays) {
  constexpr std::uint64_t kStep = VirtualMemory::kGranularity;
  EXPECT_EQ(call("cuCtxEnablePeerAccess", contexts_[1], 0U), Status::success)
      << "which does not concern them";
  AllocationProperties properties{};
  properties.type = 1;
  properties.location = {1, 1};
  std::uint64_t at = 0, block = 0, flags = 9;
  EXPECT_EQ(call("cuMemAddressReserve", &at, kStep, std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{0}),
            Status::success);
  EXPECT_EQ(call("cuMemCreate", &block, kStep, static_cast<const AllocationProperties*>(&properties),
                 std::uint64_t{0}),
            Status::success);
  EXPECT_EQ(call("cuMemMap", at, kStep, std::uint64_t{0}, block, std::uint64_t{0}), Status::success);
  const auto allow = [&](int device, int access) {
    const AccessDescription description{{1, device}, access};
    return call("cuMemSetAccess", at, kStep, &description, std::uint64_t{1});
  };
  const auto access_of = [&](int device) {
    const MemoryLocation location{1, device};
    EXPECT_EQ(call("cuMemGetAccess", &flags, &location, at), Status::success);
    return flags;
  };
  EXPECT_EQ(allow(1, 3), Status::success);
  EXPECT_EQ(access_of(0), 0U);
  EXPECT_EQ(allow(0, 3), Status::success);
  EXPECT_EQ(access_of(0), 3U);
  EXPECT_EQ(access_of(1), 3U);
  EXPECT_EQ(number(at + 4096), Status::success);
  EXPECT_EQ(words(at + 4096, 3), (std::vector<std::uint32_t>{1, 7, 13}));
  EXPECT_EQ(call("cuCtxDisablePeerAccess", contexts_[1]), Status::success);
  EXPECT_EQ(number(at + 8192), Status::success) << "it stays open";
  EXPECT_EQ(words(at + 8192, 2), (std::vector<std::uint32_t>{1, 7}));

  void *graph = nullptr, *node = nullptr;
  AllocationNodeParameters parameters{};
  const PoolAccess readers[] = {{1, 0, 3}};
  parameters.pool.location = 1;
  parameters.bytes = 64;
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}}) {
    parameters.accesses = readers;
    parameters.access_count = count;
    EXPECT_EQ(call("cuGraphCreate", &graph, 0U), Status::success);
    EXPECT_EQ(reinterpret_cast<int (*)(void**, void*, void* const*, std::size_t, void*)>(
                  runtime_function("cudaGraphAddMemAllocNode"))(&node, graph, nullptr, 0, &parameters),
              0);
    std::uint32_t access = 9;
    EXPECT_EQ(call("cuPointerGetAttribute", static_cast<void*>(&access), 16,
                   reinterpret_cast<std::uint64_t>(parameters.address)),
              Status::success);
    EXPECT_EQ(access, 3 * count);
  }
  EXPECT_EQ(number(reinterpret_cast<std::uint64_t>(parameters.address)), Status::success);
  EXPECT_EQ(call("cuGraphDestroy", graph), Status::success);

  // Only the other GPU: copies are the owner's to do.
  EXPECT_EQ(allow(1, 0), Status::success);
  EXPECT_EQ(number(at), Status::success);
  EXPECT_EQ(allow(1, 3), Status::success);
  EXPECT_EQ(words(at, 2), (std::vector<std::uint32_t>{1, 7}));
  EXPECT_EQ(allow(0, 0), Status::success);
  EXPECT_EQ(number(at), Status::illegal_address);
  EXPECT_EQ(call("cuDevicePrimaryCtxReset_v2", 0), Status::success);
  EXPECT_EQ(call("cuMemUnmap", at, kStep), Status::success);
  EXPECT_EQ(call("cuMemRelease", block), Status::success);
}

TEST(Occupancy, IsLimitedByWhatABlockTakes) {
  const auto config = load_gpu("a100", {});
  ASSERT_TRUE(config.ok());
  const GpuConfig& a100 = config.value();
  EXPECT_EQ(blocks_per_sm(a100, {1024, 0, 0}), a100.sm.warp_slots / 32);
  EXPECT_EQ(blocks_per_sm(a100, {1, 0, 0}), a100.sm.cta_slots);
  EXPECT_EQ(blocks_per_sm(a100, {32, 40000, 0}), a100.sm.shared_bytes / 40000);
  EXPECT_EQ(blocks_per_sm(a100, {256, 0, 128}), a100.sm.registers / (128 * 256));
  EXPECT_EQ(blocks_per_sm(a100, {1025, 0, 0}), 0U);
  EXPECT_EQ(blocks_per_sm(a100, {32, a100.sm.shared_bytes + 1, 0}), 0U);
  EXPECT_EQ(blocks_per_sm(a100, {1024, 0, unlimiting_registers(a100)}), a100.sm.warp_slots / 32);
  for (unsigned blocks = 1; blocks < 20; ++blocks)
    EXPECT_GE(blocks_per_sm(a100, {32, shared_per_block(a100, blocks), 0}), blocks);
}

TEST(LinkedFatBinary, DamagedOnesAreNone) {
  const std::string whole = linked_fat_binary({"first", "and the second text"}, 80);
  const auto texts = texts_of_bytes(whole, 80, "image");
  ASSERT_TRUE(texts.ok());
  ASSERT_EQ(texts.value().size(), 2U);
  EXPECT_EQ(texts.value()[1].text, "and the second text");
  EXPECT_FALSE(texts_of_bytes(whole, 75, "image").ok()) << "it is for a newer GPU";
  std::mt19937 random(4);
  for (unsigned n = 0; n < 500; ++n) {
    std::string damaged = whole.substr(0, random() % whole.size());
    if (!damaged.empty()) damaged[random() % damaged.size()] ^= static_cast<char>(1U << random() % 8);
    const auto read = texts_of_bytes(damaged, 80, "image");
    if (read.ok()) {
      EXPECT_LE(read.value().size(), 2U);
    }
  }
}

TEST_F(DriverApi, GraphsAreMadeByHandAndChanged) {
  void* const context = begin();
  void *function = nullptr, *graph = nullptr, *exec = nullptr, *stream = nullptr;
  void *fill_node = nullptr, *kernel_node = nullptr, *copy_node = nullptr;
  ASSERT_EQ(call("cuModuleGetFunction", &function, module(), "scale"), Status::success);
  const std::uint64_t values = memory(64);
  ASSERT_EQ(call("cuGraphCreate", &graph, 0U), Status::success);
  const FillNodeParameters fill{reinterpret_cast<void*>(values), 0, 9, 4, 16, 1};
  ASSERT_EQ(call("cuGraphAddMemsetNode", &fill_node, graph, static_cast<void**>(nullptr), std::size_t{0},
                 &fill, context),
            Status::success);
  std::uint16_t add = 1;
  std::uint32_t by = 2;
  std::uint64_t to = values;
  void* arguments[] = {&to, &add, &by};
  DriverKernelNodeParameters kernel;
  kernel.plain.block.x = 8;
  kernel.plain.arguments = arguments;
  EXPECT_EQ(call("cuGraphAddKernelNode_v2", &kernel_node, graph, &fill_node, std::size_t{1}, &kernel),
            Status::invalid_resource_handle)
      << "neither a function nor a kernel";
  kernel.kernel = function;
  ASSERT_EQ(call("cuGraphAddKernelNode_v2", &kernel_node, graph, &fill_node, std::size_t{1}, &kernel),
            Status::success);
  std::array<std::uint32_t, 16> found{};
  Copy3d copy{};
  copy.from.type = MemoryType::device;
  copy.from.device = values;
  copy.to.type = MemoryType::host;
  copy.to.host = reinterpret_cast<std::uintptr_t>(found.data());
  copy.width_bytes = 64;
  copy.height = copy.depth = 1;
  ASSERT_EQ(call("cuGraphAddMemcpyNode", &copy_node, graph, &kernel_node, std::size_t{1}, &copy, context),
            Status::success);
  KernelNodeParameters seen;
  ASSERT_EQ(call("cuGraphKernelNodeGetParams", kernel_node, &seen), Status::success);
  EXPECT_EQ(seen.function, function);
  EXPECT_EQ(*static_cast<std::uint32_t*>(seen.arguments[2]), 2U);

  std::atomic<int> destroyed{0};
  void* object = nullptr;
  const auto destroy = +[](void* counter) { ++*static_cast<std::atomic<int>*>(counter); };
  EXPECT_EQ(call("cuUserObjectCreate", &object, static_cast<void*>(&destroyed), destroy, 1U, 0U),
            Status::invalid_value);
  ASSERT_EQ(call("cuUserObjectCreate", &object, static_cast<void*>(&destroyed), destroy, 1U, 1U),
            Status::success);
  ASSERT_EQ(call("cuGraphRetainUserObject", graph, object, 1U, 1U), Status::success);
  EXPECT_EQ(call("cuGraphRetainUserObject", graph, object, 1U, 1U), Status::invalid_value)
      << "the program has none any more";
  constexpr unsigned kTooMany = 0x80000000U;  // counts are those of an int
  EXPECT_EQ(call("cuUserObjectCreate", &object, static_cast<void*>(&destroyed), destroy, kTooMany, 1U),
            Status::invalid_value);
  EXPECT_EQ(call("cuUserObjectRetain", object, kTooMany), Status::invalid_value);
  EXPECT_EQ(call("cuUserObjectRelease", object, kTooMany), Status::invalid_value);
  EXPECT_EQ(call("cuGraphRetainUserObject", graph, object, kTooMany, 0U), Status::invalid_value);
  EXPECT_EQ(call("cuGraphReleaseUserObject", graph, object, kTooMany), Status::invalid_value);

  ASSERT_EQ(call("cuStreamCreate", &stream, 1U), Status::success);
  ASSERT_EQ(call("cuGraphInstantiateWithFlags", &exec, graph, 0ULL), Status::success);
  ASSERT_EQ(call("cuGraphLaunch", exec, stream), Status::success);
  ASSERT_EQ(call("cuStreamSynchronize", stream), Status::success);
  for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(found[i], i < 8 ? i * 2 * 3 + 1 : 9U) << i;
  add = 5;
  ASSERT_EQ(call("cuGraphExecKernelNodeSetParams_v2", exec, kernel_node, &kernel), Status::success);
  ASSERT_EQ(call("cuGraphDestroy", graph), Status::success);
  EXPECT_EQ(destroyed, 0);
  ASSERT_EQ(call("cuGraphLaunch", exec, stream), Status::success);
  ASSERT_EQ(call("cuStreamSynchronize", stream), Status::success);
  EXPECT_EQ(found[1], 11U);
  ASSERT_EQ(call("cuGraphExecDestroy", exec), Status::success);
  // A launch may hold it a little longer than the wait for it.
  while (destroyed == 0) std::this_thread::yield();
  EXPECT_EQ(call("cuUserObjectRetain", object, 1U), Status::invalid_value) << "it is gone";
}

TEST_F(DriverApi, BlocksOfParametersOfNodesAreThoseOfLaunches) {
  begin();
  void *function = nullptr, *graph = nullptr, *node = nullptr;
  ASSERT_EQ(call("cuModuleGetFunction", &function, module(), "scale"), Status::success);
  ASSERT_EQ(call("cuGraphCreate", &graph, 0U), Status::success);
  std::array<std::uint8_t, 16> block{};
  std::size_t bytes = block.size();
  void *const pointer = reinterpret_cast<void*>(1), *const size = reinterpret_cast<void*>(2);
  void* extra[] = {pointer, block.data(), size, &bytes, nullptr};
  const auto add = [&] {
    KernelNodeParameters kernel;
    kernel.function = function;
    kernel.extra = extra;
    return call("cuGraphAddKernelNode", &node, graph, static_cast<void**>(nullptr), std::size_t{0}, &kernel);
  };
  EXPECT_EQ(add(), Status::success);
  bytes = 4;
  EXPECT_EQ(add(), Status::invalid_value) << "it has three parameters";
  bytes = 40000;
  EXPECT_EQ(add(), Status::invalid_value) << "more than any kernel has";
  bytes = 16;
  extra[3] = nullptr;
  EXPECT_EQ(add(), Status::invalid_value) << "of no size";
  extra[3] = &bytes;
  extra[0] = reinterpret_cast<void*>(7);
  EXPECT_EQ(add(), Status::invalid_value) << "nothing is called 7";
  EXPECT_EQ(call("cuGraphDestroy", graph), Status::success);
}

TEST_F(DriverApi, GraphsOutliveTheModulesOfTheirKernels) {
  begin();
  void *function = nullptr, *graph = nullptr, *node = nullptr, *exec = nullptr, *outer = nullptr,
       *child = nullptr, *outer_exec = nullptr;
  void* const loaded = module();
  void** const none = nullptr;
  ASSERT_EQ(call("cuModuleGetFunction", &function, loaded, "nothing"), Status::success);
  ASSERT_EQ(call("cuGraphCreate", &graph, 0U), Status::success);
  ASSERT_EQ(call("cuGraphCreate", &outer, 0U), Status::success);
  KernelNodeParameters kernel;
  kernel.function = function;
  ASSERT_EQ(call("cuGraphAddKernelNode", &node, graph, none, std::size_t{0}, &kernel), Status::success);
  ASSERT_EQ(call("cuGraphAddChildGraphNode", &child, outer, none, std::size_t{0}, graph), Status::success);
  ASSERT_EQ(call("cuGraphInstantiateWithFlags", &exec, graph, 0ULL), Status::success);
  ASSERT_EQ(call("cuGraphInstantiateWithFlags", &outer_exec, outer, 0ULL), Status::success);
  void* const stream = nullptr;
  ASSERT_EQ(call("cuGraphLaunch", exec, stream), Status::success);
  ASSERT_EQ(call("cuModuleUnload", loaded), Status::success);
  EXPECT_EQ(call("cuGraphLaunch", exec, stream), Status::invalid_resource_handle);
  EXPECT_EQ(call("cuGraphLaunch", outer_exec, stream), Status::invalid_resource_handle);
  EXPECT_EQ(call("cuGraphKernelNodeGetParams", node, &kernel), Status::invalid_resource_handle);
  std::array<std::uint32_t, 16> cooperative{1};
  EXPECT_EQ(call("cuGraphKernelNodeSetAttribute", node, 2, static_cast<const void*>(cooperative.data())),
            Status::invalid_resource_handle);
  // Another kernel takes its place.
  ASSERT_EQ(call("cuModuleGetFunction", &function, module(), "nothing"), Status::success);
  kernel = {};
  kernel.function = function;
  ASSERT_EQ(call("cuGraphExecKernelNodeSetParams", exec, node, &kernel), Status::success);
  EXPECT_EQ(call("cuGraphLaunch", exec, stream), Status::success);
  EXPECT_EQ(call("cuCtxSynchronize"), Status::success);
  for (void* e : {exec, outer_exec}) EXPECT_EQ(call("cuGraphExecDestroy", e), Status::success);
  for (void* g : {graph, outer}) EXPECT_EQ(call("cuGraphDestroy", g), Status::success);
}

TEST_F(DriverApi, ChildrenAreExchangedForThoseOfTheirShapeWithTheirObjects) {
  begin();
  const std::uint64_t values = memory(64);
  void *outer = nullptr, *child = nullptr, *other = nullptr, *empty = nullptr, *node = nullptr,
       *nested = nullptr, *exec = nullptr, *object = nullptr;
  void** const none = nullptr;
  void* const context = begin();
  std::atomic<int> destroyed{0};
  const auto destroy = +[](void* counter) { ++*static_cast<std::atomic<int>*>(counter); };
  for (void** g : {&outer, &child, &other, &empty}) ASSERT_EQ(call("cuGraphCreate", g, 0U), Status::success);
  FillNodeParameters fill{reinterpret_cast<void*>(values), 0, 1, 4, 16, 1};
  const auto add_fill = [&](void* graph) {
    return call("cuGraphAddMemsetNode", &node, graph, none, std::size_t{0}, &fill, context);
  };
  ASSERT_EQ(add_fill(child), Status::success);
  fill.value = 2;
  ASSERT_EQ(add_fill(other), Status::success);
  ASSERT_EQ(call("cuUserObjectCreate", &object, static_cast<void*>(&destroyed), destroy, 1U, 1U),
            Status::success);
  ASSERT_EQ(call("cuGraphRetainUserObject", other, object, 1U, 1U), Status::success);
  ASSERT_EQ(call("cuGraphAddChildGraphNode", &nested, outer, none, std::size_t{0}, child), Status::success);
  ASSERT_EQ(call("cuGraphInstantiateWithFlags", &exec, outer, 0ULL), Status::success);
  EXPECT_EQ(call("cuGraphExecChildGraphNodeSetParams", exec, nested, empty), Status::invalid_value)
      << "of another shape";
  ASSERT_EQ(call("cuGraphExecChildGraphNodeSetParams", exec, nested, other), Status::success);
  ASSERT_EQ(call("cuGraphDestroy", other), Status::success);
  EXPECT_EQ(destroyed, 0) << "launches need it";
  ASSERT_EQ(call("cuGraphLaunch", exec, static_cast<void*>(nullptr)), Status::success);
  EXPECT_EQ(words(values, 1).front(), 2U);
  ASSERT_EQ(call("cuGraphExecChildGraphNodeSetParams", exec, nested, child), Status::success);
  // A launch may hold it a little longer than the wait for it.
  while (destroyed == 0) std::this_thread::yield();
  ASSERT_EQ(call("cuGraphExecDestroy", exec), Status::success);
  for (void* g : {outer, child, empty}) EXPECT_EQ(call("cuGraphDestroy", g), Status::success);
}

TEST_F(DriverApi, AdviceNeedsAContextAndIsNoConcernOfTheRuntimes) {
  begin();
  std::uint64_t address = 0;
  struct Place {
    int type, id;
  };
  const Place gpu{1, 0}, nowhere{9, 9};
  void* const stream = nullptr;
  const auto last = reinterpret_cast<int (*)()>(runtime_function("cudaGetLastError"));
  ASSERT_EQ(call("cuMemAllocManaged", &address, std::size_t{64}, 1U), Status::success);
  last();
  EXPECT_EQ(call("cuMemAdvise_v2", address, std::size_t{64}, 3, nowhere), Status::invalid_value);
  EXPECT_EQ(last(), 0);
  const auto all = [&] {
    return std::array{call("cuMemAdvise", address, std::size_t{64}, 1, 0),
                      call("cuMemAdvise_v2", address, std::size_t{64}, 3, gpu),
                      call("cuMemPrefetchAsync", address, std::size_t{64}, 0, stream),
                      call("cuMemPrefetchAsync_v2", address, std::size_t{64}, gpu, 0U, stream)};
  };
  for (const Status s : all()) EXPECT_EQ(s, Status::success);
  EXPECT_EQ(call("cuCtxSetCurrent", static_cast<void*>(nullptr)), Status::success);
  for (const Status s : all()) EXPECT_EQ(s, Status::device_uninitialized);
  begin();
  EXPECT_EQ(call("cuMemFree_v2", address), Status::success);
}

TEST_F(DriverApi, LaunchesAreGivenPieceByPiece) {
  begin();
  void* function = nullptr;
  ASSERT_EQ(call("cuModuleGetFunction", &function, module(), "scale"), Status::success);
  std::uint64_t values = memory(64);
  std::uint16_t add = 4;
  EXPECT_EQ(call("cuLaunch", function), Status::invalid_value) << "of no shape";
  EXPECT_EQ(call("cuFuncSetBlockShape", function, 0, 1, 1), Status::invalid_value);
  ASSERT_EQ(call("cuFuncSetBlockShape", function, 4, 1, 1), Status::success);
  ASSERT_EQ(call("cuParamSetv", function, 0, static_cast<const void*>(&values), 8U), Status::success);
  ASSERT_EQ(call("cuParamSetv", function, 8, static_cast<const void*>(&add), 2U), Status::success);
  ASSERT_EQ(call("cuParamSeti", function, 12, 1U), Status::success);
  EXPECT_EQ(call("cuParamSeti", function, 1 << 30, 1U), Status::invalid_value);
  EXPECT_EQ(call("cuLaunch", function), Status::invalid_value) << "of no parameters";
  ASSERT_EQ(call("cuParamSetSize", function, 16U), Status::success);
  ASSERT_EQ(call("cuLaunch", function), Status::success);
  EXPECT_EQ(words(values, 4), (std::vector<std::uint32_t>{4, 7, 10, 13}));
}

TEST_F(DriverApi, LibrariesTellTheirManagedVariables) {
  begin();
  constexpr const char* kManaged = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .attribute(.managed) .align 4 .b32 both = 6;
.visible .global .align 4 .b32 one = 7;
)";
  void* library = nullptr;
  ASSERT_EQ(call("cuLibraryLoadData", &library, static_cast<const void*>(kManaged),
                 static_cast<const int*>(nullptr), static_cast<void**>(nullptr), 0U,
                 static_cast<const int*>(nullptr), static_cast<void**>(nullptr), 0U),
            Status::success);
  std::uint64_t address = 0;
  std::size_t bytes = 0;
  EXPECT_EQ(call("cuLibraryGetManaged", &address, &bytes, library, "one"), Status::symbol_not_found);
  ASSERT_EQ(call("cuLibraryGetManaged", &address, &bytes, library, "both"), Status::success);
  EXPECT_EQ(bytes, 4U);
  EXPECT_EQ(*reinterpret_cast<const std::uint32_t*>(address), 6U) << "the host reads it where it lies";
  EXPECT_EQ(call("cuLibraryUnload", library), Status::success);
}

TEST_F(DriverApi, KernelsAskOfTheirGpuAndOfKernels) {
  begin();
  // Calls each function with where its answer goes, a kernel or a number, and the rest.
  constexpr const char* kAsking = R"(
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) __cudaCDP2DeviceGetAttribute(.param .b64 v, .param .b32 a, .param .b32 d);
.extern .func (.param .b32 r) __cudaCDP2DeviceGetLimit(.param .b64 v, .param .b32 l);
.extern .func (.param .b32 r) __cudaCDP2FuncGetAttributes(.param .b64 a, .param .b64 f);
.extern .func (.param .b32 r) __cudaCDP2OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
  .param .b64 n, .param .b64 f, .param .b32 t, .param .b64 s, .param .b32 w);
.visible .entry asked() .maxntid 96, 1, 1 { .shared .align 4 .b8 room[2000]; .reg .b32 %r; ld.shared.u32 %r, [room]; ret; }
.visible .entry ask(.param .u64 to, .param .u32 attribute, .param .u32 limit)
{
  .reg .b64 %d<5>;
  .reg .b32 %r<4>;
  ld.param.u64 %d1, [to];
  ld.param.u32 %r1, [attribute];
  ld.param.u32 %r2, [limit];
  mov.u64 %d2, asked;
  { .param .b64 p0; .param .b32 p1; .param .b32 p2; .param .b32 q;
    st.param.b64 [p0], %d1; st.param.b32 [p1], %r1; st.param.b32 [p2], 0;
    call (q), __cudaCDP2DeviceGetAttribute, (p0, p1, p2);
    ld.param.b32 %r3, [q]; st.global.u32 [%d1+4], %r3; }
  add.u64 %d3, %d1, 8;
  { .param .b64 p0; .param .b32 p1; .param .b32 q;
    st.param.b64 [p0], %d3; st.param.b32 [p1], %r2;
    call (q), __cudaCDP2DeviceGetLimit, (p0, p1);
    ld.param.b32 %r3, [q]; st.global.u32 [%d1+16], %r3; }
  add.u64 %d3, %d1, 20;
  { .param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b32 p4; .param .b32 q;
    st.param.b64 [p0], %d3; st.param.b64 [p1], %d2; st.param.b32 [p2], 96; st.param.b64 [p3], 1000;
    st.param.b32 [p4], 0;
    call (q), __cudaCDP2OccupancyMaxActiveBlocksPerMultiprocessorWithFlags, (p0, p1, p2, p3, p4);
    ld.param.b32 %r3, [q]; st.global.u32 [%d1+24], %r3; }
  add.u64 %d3, %d1, 32;
  { .param .b64 p0; .param .b64 p1; .param .b32 q;
    st.param.b64 [p0], %d3; st.param.b64 [p1], %d2;
    call (q), __cudaCDP2FuncGetAttributes, (p0, p1);
    ld.param.b32 %r3, [q]; st.global.u32 [%d1+28], %r3; }
  ret;
}
)";
  void *module = nullptr, *ask = nullptr, *asked = nullptr;
  ASSERT_EQ(call("cuModuleLoadData", &module, static_cast<const void*>(kAsking)), Status::success);
  ASSERT_EQ(call("cuModuleGetFunction", &ask, module, "ask"), Status::success);
  ASSERT_EQ(call("cuModuleGetFunction", &asked, module, "asked"), Status::success);
  std::uint64_t to = memory(256);
  int attribute = 16, limit = 2, sms = 0, blocks = 0;
  std::size_t heap = 0;
  void* arguments[] = {&to, &attribute, &limit};
  ASSERT_EQ(launch(ask, 1, arguments, nullptr), Status::success);
  const std::vector<std::uint32_t> found = words(to, 64);
  ASSERT_EQ(call("cuDeviceGetAttribute", &sms, attribute, 0), Status::success);
  ASSERT_EQ(call("cuCtxGetLimit", &heap, limit), Status::success);
  ASSERT_EQ(call("cuOccupancyMaxActiveBlocksPerMultiprocessor", &blocks, asked, 96, std::size_t{1000}),
            Status::success);
  EXPECT_EQ(found[0], static_cast<std::uint32_t>(sms));
  EXPECT_EQ(found[2] + (std::uint64_t{found[3]} << 32U), heap);
  EXPECT_EQ(found[5], static_cast<std::uint32_t>(blocks));
  for (const unsigned error : {1U, 4U, 6U, 7U}) EXPECT_EQ(found[error], 0U) << error;
  FunctionAttributes attributes;
  std::memcpy(static_cast<void*>(&attributes), &found[8], sizeof attributes);
  EXPECT_EQ(attributes.shared_bytes, 2000U);
  EXPECT_EQ(attributes.most_threads, 96);
  attribute = 159;
  limit = 77;
  ASSERT_EQ(launch(ask, 1, arguments, nullptr), Status::success);
  EXPECT_EQ(words(to, 64)[1], static_cast<std::uint32_t>(Status::invalid_value));
  EXPECT_EQ(words(to, 64)[4], static_cast<std::uint32_t>(Status::unsupported_limit));
}

/// Mappings come and go; a twin of single steps says what is where.
TEST(VirtualMemory, KeepsItsBooks) {
  constexpr std::uint64_t kStep = VirtualMemory::kGranularity;
  std::mt19937_64 random(8);
  VirtualMemory memory;
  constexpr unsigned kSteps = 16;
  const std::uint64_t base = memory.reserve(kSteps * kStep, 0, 0);
  ASSERT_NE(base, 0U);
  std::vector<MemoryBlock*> twin(kSteps, nullptr);  // that a step belongs to
  std::vector<unsigned> first(kSteps, 0);           // where it begins
  for (unsigned n = 0; n < 2000; ++n) {
    const auto at = static_cast<unsigned>(random() % kSteps);
    const auto steps = static_cast<unsigned>(1 + random() % 4);
    if (random() % 2 == 0) {
      MemoryBlock& block = memory.add_block({steps * kStep, 0, {}, 1});
      bool free = at + steps <= kSteps;
      for (unsigned i = at; free && i < at + steps; ++i) free = twin[i] == nullptr;
      ASSERT_EQ(memory.map(base + at * kStep, block), free);
      EXPECT_EQ(memory.let_go(block), !free) << "held by what it is mapped at";
      for (unsigned i = at; free && i < at + steps; ++i) {
        twin[i] = &block;
        first[i] = at;
      }
    } else {
      const unsigned end = std::min(at + steps, kSteps);
      bool whole = true;
      for (unsigned i = at; i < end; ++i) whole = whole && twin[i] != nullptr;
      whole = whole && first[at] == at && (end == kSteps || twin[end] == nullptr || first[end] == end);
      const auto found = memory.mappings_in(base + at * kStep, (end - at) * kStep);
      ASSERT_EQ(found.has_value(), whole);
      for (const std::uint64_t address : found.value_or(std::vector<std::uint64_t>{})) {
        MemoryBlock& block = *memory.mapped_at(address).block;
        const std::uint64_t bytes = block.bytes;
        memory.unmap(address);
        EXPECT_TRUE(memory.let_go(block));
        for (std::uint64_t i = (address - base) / kStep; i < (address - base + bytes) / kStep; ++i)
          twin[i] = nullptr;
      }
    }
    const auto* const here = memory.find(base + at * kStep + 5);
    EXPECT_EQ(here == nullptr ? nullptr : here->block, twin[at]);
  }
}

}  // namespace
}  // namespace warpline::cuda::test
