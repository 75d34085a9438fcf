// memcpy and the like.
#include "library.h"

extern "C" {

__device__ __attribute__((weak)) void* library_memcpy(void* to, const void* from, size_t bytes) {
  const Word alike = reinterpret_cast<Word>(to) | reinterpret_cast<Word>(from) | bytes;
  if (alike % 8 == 0) {
    for (size_t i = 0; i < bytes / 8; ++i)
      static_cast<volatile Word*>(to)[i] = static_cast<const Word*>(from)[i];
  } else {
    for (size_t i = 0; i < bytes; ++i)
      static_cast<volatile char*>(to)[i] = static_cast<const char*>(from)[i];
  }
  return to;
}

__device__ __attribute__((weak)) void* library_memmove(void* to, const void* from, size_t bytes) {
  if (to <= from || static_cast<char*>(to) >= static_cast<const char*>(from) + bytes) {
    for (size_t i = 0; i < bytes; ++i)
      static_cast<volatile char*>(to)[i] = static_cast<const volatile char*>(from)[i];
  } else {
    for (size_t i = bytes; i-- != 0;)
      static_cast<volatile char*>(to)[i] = static_cast<const volatile char*>(from)[i];
  }
  return to;
}

__device__ __attribute__((weak)) void* library_memset(void* to, int value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) static_cast<volatile char*>(to)[i] = static_cast<char>(value);
  return to;
}

__device__ __attribute__((weak)) int library_memcmp(const void* a, const void* b, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    const int x = static_cast<const volatile unsigned char*>(a)[i];
    const int y = static_cast<const volatile unsigned char*>(b)[i];
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

}  // extern "C"
