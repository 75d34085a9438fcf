// What the examples have in common: a call that must succeed, and the last word.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                             \
  do {                                                                                          \
    const cudaError_t check_status = (call);                                                          \
    if (check_status != cudaSuccess) {                                                                \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(check_status)); \
      std::exit(1);                                                                             \
    }                                                                                           \
  } while (false)

// A sentence for what is not as it should be; the number of them is the exit status.
inline int& failures() {
  static int count = 0;
  return count;
}

#define EXPECT(condition)                                                          \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      ++failures();                                                                \
    }                                                                              \
  } while (false)

inline int verdict() {
  std::puts(failures() == 0 ? "PASSED" : "FAILED");
  return failures() == 0 ? 0 : 1;
}
