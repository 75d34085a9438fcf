// exec: --gpu mini --set gpus=2 | timed
// Kernels of one GPU in the memory of another one.
#include <vector>

#include "check.h"

constexpr int kValues = 5000;
__device__ int announced;

__global__ void twice(const int* __restrict__ from, int* to) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < kValues) to[i] = 2 * from[i];
}

// What is written is read back in the same grid, past L1 and by whatever way the compiler likes.
__global__ void increment(int* at, int* wrong) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= kValues) return;
  const int before = at[i];
  at[i] = before + 1;
  if (at[i] != before + 1 || *static_cast<volatile int*>(at + i) != before + 1) atomicAdd(wrong, 1);
}

struct Sums {
  unsigned added, most, swaps;
  float sum;
  unsigned long long all;
};

__global__ void tally(Sums* s) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd_system(&s->added, i);
  atomicMax(&s->most, i);
  atomicAdd(&s->sum, 0.5F);
  atomicAdd_system(&s->all, (1ULL << 32) + i);
  for (unsigned seen = *static_cast<volatile unsigned*>(&s->swaps), now = 0; now != seen + 1;) {
    const unsigned old = atomicCAS_system(&s->swaps, seen, seen + 1);
    now = old == seen ? seen + 1 : 0;
    if (now == 0) seen = old;
  }
}

__global__ void announce(int value) {
  announced = value;
}

__global__ void fetch(const int* from, int* to) {
  *to = *from;
}

__global__ void sample(cudaTextureObject_t texture, int* to) {
  *to = tex2D<int>(texture, 3.5F, 2.5F);
}

float launch_ms(const int* from, int* to) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  CHECK(cudaEventRecord(begin));
  twice<<<(kValues + 255) / 256, 256>>>(from, to);
  CHECK(cudaEventRecord(end));
  CHECK(cudaDeviceSynchronize());
  float ms = 0;
  CHECK(cudaEventElapsedTime(&ms, begin, end));
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  return ms;
}

void enable_both() {
  CHECK(cudaSetDevice(1));
  CHECK(cudaDeviceEnablePeerAccess(0, 0));
  CHECK(cudaSetDevice(0));
  CHECK(cudaDeviceEnablePeerAccess(1, 0));
}

int* memory_of(int device, std::size_t values) {
  int* memory = nullptr;
  CHECK(cudaSetDevice(device));
  CHECK(cudaMalloc(&memory, values * sizeof(int)));
  CHECK(cudaMemset(memory, 0, values * sizeof(int)));
  return memory;
}

void calls() {
  int count = 0, value = 0;
  CHECK(cudaGetDeviceCount(&count));
  EXPECT(count == 2);
  for (int device = 0; device < 2; ++device) {
    CHECK(cudaDeviceCanAccessPeer(&value, device, 1 - device));
    EXPECT(value == 1);
    CHECK(cudaDeviceCanAccessPeer(&value, device, device));
    EXPECT(value == 0);
  }
  EXPECT(cudaDeviceCanAccessPeer(&value, 0, 2) == cudaErrorInvalidDevice);
  CHECK(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 1));
  EXPECT(value == 1);
  CHECK(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrNativeAtomicSupported, 1, 0));
  EXPECT(value == 1);
  CHECK(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrPerformanceRank, 0, 1));
  EXPECT(value == 0);
  EXPECT(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0) == cudaErrorInvalidDevice);
  EXPECT(cudaDeviceGetP2PAttribute(&value, static_cast<cudaDeviceP2PAttr>(9), 0, 1) == cudaErrorInvalidValue);
  EXPECT(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorInvalidDevice);
  EXPECT(cudaDeviceEnablePeerAccess(2, 0) == cudaErrorInvalidDevice);
  EXPECT(cudaDeviceEnablePeerAccess(1, 1) == cudaErrorInvalidValue);
  EXPECT(cudaDeviceDisablePeerAccess(1) == cudaErrorPeerAccessNotEnabled);
  enable_both();
  EXPECT(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorPeerAccessAlreadyEnabled);
  CHECK(cudaDeviceDisablePeerAccess(1));
  EXPECT(cudaDeviceDisablePeerAccess(1) == cudaErrorPeerAccessNotEnabled);
  CHECK(cudaDeviceEnablePeerAccess(1, 0));
  cudaGetLastError();
}

// From GPU 0 to GPU 1 and back, by copies and by kernels; `first` was there before access was enabled.
void ping_pong(int* first) {
  int* const second = memory_of(1, kValues);
  std::vector<int> values(kValues);
  for (int i = 0; i < kValues; ++i) values[static_cast<std::size_t>(i)] = i;
  CHECK(cudaMemcpy(first, values.data(), kValues * sizeof(int), cudaMemcpyDefault));
  for (int n = 0; n < 2; ++n) {
    CHECK(cudaSetDevice(1));  // reads the other's memory
    twice<<<(kValues + 255) / 256, 256>>>(first, second);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpyPeer(first, 0, second, 1, kValues * sizeof(int)));
    twice<<<(kValues + 255) / 256, 256>>>(second, first);  // writes the other's
    CHECK(cudaDeviceSynchronize());
  }
  int* const wrong = memory_of(0, 1);
  increment<<<(kValues + 255) / 256, 256>>>(second, wrong);
  CHECK(cudaMemcpy(values.data(), second, kValues * sizeof(int), cudaMemcpyDefault));
  int is_wrong = 1;
  CHECK(cudaMemcpy(&is_wrong, wrong, sizeof is_wrong, cudaMemcpyDefault));
  EXPECT(is_wrong == 0);
  for (int i = 0; i < kValues; ++i) EXPECT(values[static_cast<std::size_t>(i)] == 8 * i + 1, "at %d", i);

  int* const own = memory_of(0, kValues);
  const float near_ms = launch_ms(first, own), far_ms = launch_ms(second, own);
  EXPECT(far_ms > 2 * near_ms, "%f and %f ms", near_ms, far_ms);
  CHECK(cudaFree(own));
  CHECK(cudaFree(second));
  CHECK(cudaFree(wrong));
}

void atomics() {
  Sums* const sums = reinterpret_cast<Sums*>(memory_of(1, sizeof(Sums)));
  constexpr unsigned kThreads = 256;
  for (int device = 0; device < 2; ++device) {
    CHECK(cudaSetDevice(device));
    tally<<<4, 64>>>(sums);
    CHECK(cudaDeviceSynchronize());
  }
  Sums back;
  CHECK(cudaMemcpy(&back, sums, sizeof back, cudaMemcpyDefault));
  EXPECT(back.added == kThreads * (kThreads - 1), "%u", back.added);
  EXPECT(back.most == kThreads - 1);
  EXPECT(back.sum == kThreads);
  EXPECT(back.swaps == 2 * kThreads);
  EXPECT(back.all == (2ULL * kThreads << 32) + kThreads * (kThreads - 1));
  CHECK(cudaFree(sums));
}

cudaTextureObject_t texture;  // of an array of GPU 1

void variables_arrays_and_pools() {
  int *out = memory_of(0, 1), back = 0;
  CHECK(cudaSetDevice(1));
  announce<<<1, 1>>>(77);
  void* there = nullptr;
  CHECK(cudaGetSymbolAddress(&there, announced));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaSetDevice(0));
  void* here = nullptr;
  CHECK(cudaGetSymbolAddress(&here, announced));
  EXPECT(here != there);
  fetch<<<1, 1>>>(static_cast<int*>(there), out);
  CHECK(cudaMemcpy(&back, out, sizeof back, cudaMemcpyDefault));
  EXPECT(back == 77);

  CHECK(cudaSetDevice(1));
  std::vector<int> texels(64);
  for (int i = 0; i < 64; ++i) texels[static_cast<std::size_t>(i)] = i;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaArray_t array;
  CHECK(cudaMallocArray(&array, &format, 8, 8));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, texels.data(), 32, 32, 8, cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description = {};
  CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  CHECK(cudaSetDevice(0));
  sample<<<1, 1>>>(texture, out);
  CHECK(cudaMemcpy(&back, out, sizeof back, cudaMemcpyDefault));
  EXPECT(back == 19);

  cudaMemPool_t pool;
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 1));
  CHECK(cudaSetDevice(1));
  int* pooled = nullptr;
  CHECK(cudaMallocAsync(&pooled, sizeof(int), nullptr));
  CHECK(cudaMemset(pooled, 1, sizeof(int)));
  CHECK(cudaSetDevice(0));
  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, pooled));
  EXPECT(attributes.device == 1 && attributes.devicePointer == nullptr);
  cudaMemAccessDesc access = {};
  access.location = {cudaMemLocationTypeDevice, 0};
  access.flags = cudaMemAccessFlagsProtReadWrite;
  CHECK(cudaMemPoolSetAccess(pool, &access, 1));
  cudaMemAccessFlags flags = cudaMemAccessFlagsProtNone;
  CHECK(cudaMemPoolGetAccess(&flags, pool, &access.location));
  EXPECT(flags == cudaMemAccessFlagsProtReadWrite);
  CHECK(cudaPointerGetAttributes(&attributes, pooled));
  EXPECT(attributes.device == 1 && attributes.devicePointer == pooled);
  fetch<<<1, 1>>>(pooled, out);
  CHECK(cudaMemcpy(&back, out, sizeof back, cudaMemcpyDefault));
  EXPECT(back == 0x01010101);
  CHECK(cudaFree(pooled));
  CHECK(cudaFree(out));
}

// What came from a pool stays open to whom the pool was, until it is freed.
void a_pool_that_is_destroyed() {
  int *out = memory_of(0, 1), back = 0;
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 1};
  cudaMemPool_t pool;
  CHECK(cudaMemPoolCreate(&pool, &properties));
  CHECK(cudaSetDevice(1));
  int* pooled = nullptr;
  CHECK(cudaMallocFromPoolAsync(&pooled, sizeof(int), pool, nullptr));
  CHECK(cudaMemset(pooled, 2, sizeof(int)));
  CHECK(cudaSetDevice(0));
  cudaMemAccessDesc access[2] = {};
  for (cudaMemAccessDesc& a : access) a.flags = cudaMemAccessFlagsProtReadWrite;
  access[0].location = {cudaMemLocationTypeDevice, 0};
  access[1].location = {cudaMemLocationTypeDevice, 9};
  EXPECT(cudaMemPoolSetAccess(pool, access, 2) == cudaErrorInvalidDevice);
  cudaMemAccessFlags flags = cudaMemAccessFlagsProtReadWrite;
  CHECK(cudaMemPoolGetAccess(&flags, pool, &access[0].location));
  EXPECT(flags == cudaMemAccessFlagsProtNone);
  CHECK(cudaMemPoolSetAccess(pool, access, 1));
  CHECK(cudaMemPoolDestroy(pool));
  CHECK(cudaDeviceDisablePeerAccess(1));
  fetch<<<1, 1>>>(pooled, out);
  CHECK(cudaMemcpy(&back, out, sizeof back, cudaMemcpyDefault));
  EXPECT(back == 0x02020202);
  CHECK(cudaDeviceEnablePeerAccess(1, 0));
  CHECK(cudaFree(pooled));
  CHECK(cudaFree(out));
}

int main() {
  int* const first = memory_of(0, kValues);
  calls();
  ping_pong(first);
  atomics();
  variables_arrays_and_pools();
  a_pool_that_is_destroyed();

  // What is closed again is a fault, and a reset closes it, too.
  int *const far_one = memory_of(1, 1), *const out = memory_of(0, 1);
  fetch<<<1, 1>>>(far_one, out);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaDeviceDisablePeerAccess(1));
  fetch<<<1, 1>>>(far_one, out);
  EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  CHECK(cudaDeviceReset());
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceEnablePeerAccess(1, 0));
  int* const again = memory_of(0, 1);
  fetch<<<1, 1>>>(far_one, again);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaDeviceDisablePeerAccess(1));
  sample<<<1, 1>>>(texture, again);
  EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  CHECK(cudaDeviceReset());

  CHECK(cudaDeviceEnablePeerAccess(1, 0));
  CHECK(cudaFree(far_one));
  fetch<<<1, 1>>>(far_one, nullptr);
  EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  CHECK(cudaDeviceReset());
  return verdict();
}
