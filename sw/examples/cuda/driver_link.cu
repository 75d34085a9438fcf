// exec: | nvcc: -x c++ -lcuda
// Two texts in PTX that become one module: one calls a function of the other, and has its variable.
#include <cstring>
#include <string>
#include <vector>

#include "driver_check.h"

static const char* const kKernel = R"(
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) twice(.param .b32 a);
.extern .global .align 4 .b32 offset;
.visible .entry apply(.param .u64 out)
{
  .reg .b32 %r<5>;
  .reg .b64 %d<4>;
  mov.u32 %r1, %tid.x;
  {
    .param .b32 a0;
    .param .b32 r0;
    st.param.b32 [a0], %r1;
    call.uni (r0), twice, (a0);
    ld.param.b32 %r2, [r0];
  }
  ld.global.u32 %r3, [offset];
  add.u32 %r4, %r2, %r3;
  ld.param.u64 %d1, [out];
  mul.wide.u32 %d2, %r1, 4;
  add.u64 %d3, %d1, %d2;
  st.global.u32 [%d3], %r4;
  ret;
}
)";
static const char* const kFunction = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .b32 offset = 1000;
.visible .func (.param .b32 r) twice(.param .b32 a)
{
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [a];
  add.u32 %r2, %r1, %r1;
  st.param.b32 [r], %r2;
  ret;
}
)";

int main() {
  first_context();
  char errors[1024] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {errors, reinterpret_cast<void*>(sizeof errors)};
  CUlinkState state;
  void* cubin = nullptr;
  size_t bytes = 0;

  // Without the other half it lacks a function.
  CHECK(cuLinkCreate(2, options, values, &state));
  CHECK(cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(kKernel), std::strlen(kKernel) + 1, "kernel",
                      0, nullptr, nullptr));
  EXPECT(cuLinkComplete(state, &cubin, &bytes) != CUDA_SUCCESS);
  EXPECT(std::strstr(errors, "twice") != nullptr);
  CHECK(cuLinkDestroy(state));

  values[1] = reinterpret_cast<void*>(sizeof errors);
  CHECK(cuLinkCreate(2, options, values, &state));
  for (const char* text : {kKernel, kFunction})
    CHECK(cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(text), std::strlen(text) + 1, "part", 0,
                        nullptr, nullptr));
  EXPECT(cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>("nonsense"), 9, "wrong", 0, nullptr,
                       nullptr) == CUDA_ERROR_INVALID_PTX);
  CHECK(cuLinkComplete(state, &cubin, &bytes));
  const std::vector<char> kept(static_cast<char*>(cubin), static_cast<char*>(cubin) + bytes);
  CHECK(cuLinkDestroy(state));

  CUmodule module;
  CUfunction apply;
  CUdeviceptr out;
  CHECK(cuModuleLoadData(&module, kept.data()));
  CHECK(cuModuleGetFunction(&apply, module, "apply"));
  CHECK(cuMemAlloc(&out, 32 * 4));
  void* parameters[] = {&out};
  CHECK(cuLaunchKernel(apply, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr));
  unsigned found[32];
  CHECK(cuMemcpyDtoH(found, out, sizeof found));
  for (unsigned i = 0; i < 32; ++i) EXPECT(found[i] == 2 * i + 1000);
  CHECK(cuMemFree(out));
  CHECK(cuModuleUnload(module));
  std::puts("PASSED");
}
