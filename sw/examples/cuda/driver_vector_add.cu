// exec: | nvcc: -x c++ -lcuda
// A sum of vectors by the driver API alone: the kernel is PTX in a string.
#include <cstring>
#include <vector>

#include "driver_check.h"

static const char* const kText = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)
{
  .reg .pred %p;
  .reg .b32 %r<5>;
  .reg .f32 %f<4>;
  .reg .b64 %d<8>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  ld.param.u32 %r4, [n];
  setp.ge.u32 %p, %r1, %r4;
  @%p ret;
  ld.param.u64 %d1, [a];
  ld.param.u64 %d2, [b];
  ld.param.u64 %d3, [c];
  mul.wide.u32 %d4, %r1, 4;
  add.u64 %d5, %d1, %d4;
  add.u64 %d6, %d2, %d4;
  add.u64 %d7, %d3, %d4;
  ld.global.f32 %f1, [%d5];
  ld.global.f32 %f2, [%d6];
  add.f32 %f3, %f1, %f2;
  st.global.f32 [%d7], %f3;
  ret;
}
)";

int main() {
  CHECK(cuInit(0));
  int version = 0, count = 0, sms = 0;
  CHECK(cuDriverGetVersion(&version));
  CHECK(cuDeviceGetCount(&count));
  EXPECT(count >= 1 && version >= 11000);
  CUdevice device;
  CHECK(cuDeviceGet(&device, 0));
  char name[64];
  CHECK(cuDeviceGetName(name, sizeof name, device));
  CHECK(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
  size_t bytes = 0;
  CHECK(cuDeviceTotalMem(&bytes, device));
  EXPECT(std::strlen(name) > 0 && sms > 0 && bytes > 0);
  CUdeviceptr none;
  EXPECT(cuMemAlloc(&none, 16) == CUDA_ERROR_INVALID_CONTEXT);

  CUcontext context;
#if CUDA_VERSION >= 13000
  CHECK(cuCtxCreate(&context, nullptr, 0, device));
#else
  CHECK(cuCtxCreate(&context, 0, device));
#endif
  CUmodule module;
  CUfunction add;
  CHECK(cuModuleLoadData(&module, kText));
  CHECK(cuModuleGetFunction(&add, module, "add"));
  EXPECT(cuModuleGetFunction(&add, module, "sub") == CUDA_ERROR_NOT_FOUND);

  constexpr unsigned kCount = 5000;
  std::vector<float> a(kCount), b(kCount), c(kCount);
  for (unsigned i = 0; i < kCount; ++i) {
    a[i] = float(i);
    b[i] = 0.5f * float(i % 7);
  }
  CUdeviceptr da, db, dc;
  for (CUdeviceptr* p : {&da, &db, &dc}) CHECK(cuMemAlloc(p, kCount * sizeof(float)));
  CHECK(cuMemcpyHtoD(da, a.data(), kCount * sizeof(float)));
  CHECK(cuMemcpyHtoD(db, b.data(), kCount * sizeof(float)));

  for (const bool by_block : {false, true}) {
    CHECK(cuMemsetD32(dc, 0, kCount));
    unsigned n = kCount;
    void* parameters[] = {&da, &db, &dc, &n};
    struct {
      CUdeviceptr a, b, c;
      unsigned n;
    } block = {da, db, dc, n};
    size_t block_bytes = 28;
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE, &block_bytes,
                     CU_LAUNCH_PARAM_END};
    CHECK(cuLaunchKernel(add, (kCount + 255) / 256, 1, 1, 256, 1, 1, 0, nullptr,
                         by_block ? nullptr : parameters, by_block ? extra : nullptr));
    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyDtoH(c.data(), dc, kCount * sizeof(float)));
    for (unsigned i = 0; i < kCount; ++i) EXPECT(c[i] == a[i] + b[i]);
  }
  for (CUdeviceptr p : {da, db, dc}) CHECK(cuMemFree(p));
  CHECK(cuModuleUnload(module));
  CHECK(cuCtxDestroy(context));
  std::puts("PASSED");
}
