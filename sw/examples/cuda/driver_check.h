// What the examples of the driver API have in common.
#pragma once

#include <cuda.h>

#include <cstdio>
#include <cstdlib>

inline void check(CUresult result, const char* what, int line) {
  if (result == CUDA_SUCCESS) return;
  const char* name = nullptr;
  cuGetErrorName(result, &name);
  std::printf("line %d: %s returns %s\nFAILED\n", line, what, name == nullptr ? "an unknown error" : name);
  std::exit(1);
}
#define CHECK(call) check(call, #call, __LINE__)

inline void expect(bool holds, const char* what, int line) {
  if (holds) return;
  std::printf("line %d: not so: %s\nFAILED\n", line, what);
  std::exit(1);
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)

/// The first GPU, with a context that is current.
inline CUcontext first_context() {
  CUdevice device = 0;
  CUcontext context = nullptr;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  return context;
}
