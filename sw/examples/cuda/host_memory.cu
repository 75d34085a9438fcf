// Pinned, mapped and registered memory of the host; kernels that wait for the host, and the host for kernels.
#include <cstring>
#include <vector>

#include "check.h"

__global__ void add_one(int* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) ++values[i];
}

__global__ void answer(volatile int* question, volatile int* answer) {
  while (*question == 0) {
  }
  *answer = 2 * *question;
}

int main() {
  constexpr int kValues = 3000;
  int* mapped = nullptr;
  CHECK(cudaHostAlloc(&mapped, kValues * sizeof(int), cudaHostAllocMapped));
  int* on_device = nullptr;
  CHECK(cudaHostGetDevicePointer(&on_device, mapped, 0));
  for (int i = 0; i < kValues; ++i) mapped[i] = i;
  add_one<<<12, 256>>>(on_device, kValues);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < kValues; ++i) EXPECT(mapped[i] == i + 1);

  // Memory of the program's own, which stays where it is.
  std::vector<int> own(1 << 16);
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = static_cast<int>(3 * i);
  CHECK(cudaHostRegister(own.data(), own.size() * sizeof(int), cudaHostRegisterMapped));
  EXPECT(cudaHostRegister(own.data(), 16, 0) == cudaErrorHostMemoryAlreadyRegistered);
  EXPECT(cudaGetLastError() == cudaErrorHostMemoryAlreadyRegistered);
  CHECK(cudaHostGetDevicePointer(&on_device, own.data(), 0));
  add_one<<<256, 256>>>(on_device, static_cast<int>(own.size()));
  CHECK(cudaDeviceSynchronize());
  for (std::size_t i = 0; i < own.size(); ++i) EXPECT(own[i] == static_cast<int>(3 * i) + 1);
  CHECK(cudaHostUnregister(own.data()));
  for (std::size_t i = 0; i < own.size(); ++i) EXPECT(own[i] == static_cast<int>(3 * i) + 1);
  EXPECT(cudaHostUnregister(own.data()) == cudaErrorHostMemoryNotRegistered);

  // While a kernel runs.
  volatile int* flags = nullptr;
  CHECK(cudaHostAlloc(const_cast<int**>(&flags), 2 * sizeof(int), cudaHostAllocDefault));
  flags[0] = flags[1] = 0;
  answer<<<1, 1>>>(flags, flags + 1);
  flags[0] = 21;
  while (flags[1] == 0) {
  }
  EXPECT(flags[1] == 42);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFreeHost(const_cast<int*>(flags)));
  CHECK(cudaFreeHost(mapped));
  return verdict();
}
