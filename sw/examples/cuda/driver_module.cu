// exec: | nvcc: -x c++ -lcuda
// Modules of the driver API: globals, constants, compilers' logs, lists of kernels, libraries without context,
// attributes of kernels, occupancy.
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "driver_check.h"

static const char* const kText = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .const .align 4 .b32 factor[4] = {1, 2, 3, 4};
.visible .global .align 4 .b32 table[4] = {10, 20, 30, 40};
.visible .entry scale(.param .u64 out)
{
  .reg .b32 %r<6>;
  .reg .b64 %d<8>;
  .shared .align 4 .b8 room[512];
  mov.u32 %r1, %tid.x;
  st.shared.u32 [room], %r1;
  mul.wide.u32 %d1, %r1, 4;
  mov.u64 %d2, factor;
  add.u64 %d2, %d2, %d1;
  ld.const.u32 %r2, [%d2];
  mov.u64 %d3, table;
  add.u64 %d3, %d3, %d1;
  ld.global.u32 %r3, [%d3];
  mul.lo.u32 %r4, %r2, %r3;
  mov.u32 %r5, room;
  st.shared.u32 [%r5], %r4;
  ld.param.u64 %d4, [out];
  add.u64 %d4, %d4, %d1;
  st.global.u32 [%d4], %r4;
  add.u32 %r5, %r3, 1;
  st.global.u32 [%d3], %r5;
  ret;
}
.visible .entry other() { ret; }
)";

int main() {
  first_context();
  char errors[512] = "", information[64] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {errors, reinterpret_cast<void*>(sizeof errors), information,
                    reinterpret_cast<void*>(sizeof information)};
  CUmodule module;
  EXPECT(cuModuleLoadDataEx(&module, "this is no PTX", 4, options, values) == CUDA_ERROR_INVALID_PTX);
  EXPECT(std::strlen(errors) > 0 && reinterpret_cast<size_t>(values[1]) == std::strlen(errors));
  EXPECT(cuModuleLoad(&module, "there is no such file") == CUDA_ERROR_FILE_NOT_FOUND);

  CHECK(cuModuleLoadDataEx(&module, kText, 0, nullptr, nullptr));
  unsigned count = 0;
  CHECK(cuModuleGetFunctionCount(&count, module));
  EXPECT(count == 2);
  std::vector<CUfunction> functions(count);
  CHECK(cuModuleEnumerateFunctions(functions.data(), count, module));
  CUfunction scale;
  CHECK(cuModuleGetFunction(&scale, module, "scale"));
  EXPECT(functions[0] == scale || functions[1] == scale);
  const char* name = nullptr;
  CHECK(cuFuncGetName(&name, scale));
  EXPECT(std::string(name) == "scale");
  CUmodule owner;
  CHECK(cuFuncGetModule(&owner, scale));
  EXPECT(owner == module);
  size_t offset = 1, size = 0;
  CHECK(cuFuncGetParamInfo(scale, 0, &offset, &size));
  EXPECT(offset == 0 && size == 8 && cuFuncGetParamInfo(scale, 1, &offset, &size) == CUDA_ERROR_INVALID_VALUE);

  CUdeviceptr factor, table, out, none;
  CHECK(cuModuleGetGlobal(&factor, &size, module, "factor"));
  EXPECT(size == 16);
  CHECK(cuModuleGetGlobal(&table, &size, module, "table"));
  EXPECT(size == 16 && cuModuleGetGlobal(&none, &size, module, "nothing") == CUDA_ERROR_NOT_FOUND);
  CHECK(cuMemAlloc(&out, 16));
  unsigned found[4];
  const auto run = [&](CUfunction f) {
    void* parameters[] = {&out};
    CHECK(cuLaunchKernel(f, 1, 1, 1, 4, 1, 1, 0, nullptr, parameters, nullptr));
    CHECK(cuMemcpyDtoH(found, out, sizeof found));
  };
  run(scale);
  for (unsigned i = 0; i < 4; ++i) EXPECT(found[i] == (i + 1) * (i + 1) * 10);
  const unsigned factors[] = {7, 7, 7, 7};
  CHECK(cuMemcpyHtoD(factor, factors, sizeof factors));
  run(scale);
  for (unsigned i = 0; i < 4; ++i) EXPECT(found[i] == 7 * ((i + 1) * 10 + 1));
  CHECK(cuMemcpyDtoH(found, table, sizeof found));
  EXPECT(found[0] == 12 && found[3] == 42);

  int value = 0;
  CHECK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, scale));
  EXPECT(value == 512);
  CHECK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, scale));
  EXPECT(value == 1024);
  int blocks = 0, grid = 0, block = 0, sms = 0, threads = 0;
  CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 1024, 0));
  CHECK(cuDeviceGetAttribute(&threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 0));
  CHECK(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  EXPECT(blocks >= 1 && blocks <= threads / 1024);
  CHECK(cuOccupancyMaxPotentialBlockSize(&grid, &block, scale, nullptr, 0, 0));
  EXPECT(grid % sms == 0 && block > 0 && block <= 1024);
  EXPECT(cuLaunchKernel(scale, 1, 1, 1, 2048, 1, 1, 0, nullptr, nullptr, nullptr) != CUDA_SUCCESS);
  CHECK(cuModuleUnload(module));

  // The same from a file, as a library.
  const std::string path = "driver_module.ptx";
  std::ofstream(path) << kText;
  CUlibrary library;
  CUkernel kernel;
  CUfunction function;
  CHECK(cuLibraryLoadFromFile(&library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  std::remove(path.c_str());
  CHECK(cuLibraryGetKernel(&kernel, library, "scale"));
  CHECK(cuKernelGetFunction(&function, kernel));
  run(function);
  for (unsigned i = 0; i < 4; ++i) EXPECT(found[i] == (i + 1) * (i + 1) * 10);
  run(reinterpret_cast<CUfunction>(kernel));
  EXPECT(found[0] == 11);
  CHECK(cuLibraryUnload(library));
  CHECK(cuMemFree(out));
  std::puts("PASSED");
}
