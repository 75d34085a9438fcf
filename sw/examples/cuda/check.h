// What the examples have in common: each checks itself, prints PASSED and returns 0, or says what is wrong.
#pragma once

#include <cuda_runtime.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

// A call that must succeed.
#define CHECK(call)                                                                                   \
  do {                                                                                                \
    const cudaError_t error_ = (call);                                                                \
    if (error_ != cudaSuccess) {                                                                      \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_)); \
      std::exit(1);                                                                                   \
    }                                                                                                 \
  } while (false)

inline int& failures() {
  static int count = 0;
  return count;
}

// What must be so, and what to say if it is not, as for printf.
#define EXPECT(condition, ...) expect((condition), __FILE__, __LINE__, #condition, ##__VA_ARGS__)

inline void expect(bool holds, const char* file, int line, const char* condition, const char* format = "",
                   ...) {
  constexpr int kTold = 20;
  if (holds || ++failures() > kTold) return;
  std::fprintf(stderr, "%s:%d: not so: %s ", file, line, condition);
  std::va_list arguments;
  va_start(arguments, format);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  std::fputs("\n", stderr);
}

// The program's exit status.
inline int verdict() {
  CHECK(cudaDeviceSynchronize());
  std::puts(failures() == 0 ? "PASSED" : "FAILED");
  return failures() == 0 ? 0 : 1;
}
