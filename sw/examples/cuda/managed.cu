// Memory that host and GPU share at one address: allocated, as a variable, advised and prefetched.
#include "check.h"

__managed__ int counter = 5;
__managed__ float table[3] = {1, 10, 100};

__global__ void scale(float* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] *= table[i % 3];
  if (i == 0) ++counter;
}

__global__ void count(unsigned* shared, int rounds) {
  for (int i = 0; i < rounds; ++i) atomicAdd_system(shared, 1u);
}

int main() {
  constexpr int kValues = 1000;
  float* values = nullptr;
  CHECK(cudaMallocManaged(&values, kValues * sizeof(float)));
  for (int i = 0; i < kValues; ++i) values[i] = static_cast<float>(i);
  table[2] = 1000;
  scale<<<4, 256>>>(values, kValues);
  CHECK(cudaDeviceSynchronize());
  EXPECT(counter == 6);
  const float factors[3] = {1, 10, 1000};
  for (int i = 0; i < kValues; ++i) EXPECT(values[i] == static_cast<float>(i) * factors[i % 3]);
  for (int i = 0; i < kValues; ++i) values[i] = 1;
  scale<<<4, 256>>>(values, kValues);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < kValues; ++i) EXPECT(values[i] == factors[i % 3]);
  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, values + 1));
  EXPECT(attributes.type == cudaMemoryTypeManaged && attributes.devicePointer == values + 1 &&
         attributes.hostPointer == values + 1);
  // What was advised is told of ranges, page by page.
  constexpr std::size_t kPage = 4096;
  char* range = nullptr;
  CHECK(cudaMallocManaged(&range, 5 * kPage));
  char* const pages = range + (kPage - reinterpret_cast<std::size_t>(range) % kPage) % kPage;
  cudaMemLocation gpu = {}, host = {};
  gpu.type = cudaMemLocationTypeDevice;
  host.type = cudaMemLocationTypeHost;
  const auto of_range = [&](cudaMemRangeAttribute attribute, std::size_t first, std::size_t count) {
    int value = -9;
    CHECK(cudaMemRangeGetAttribute(&value, sizeof value, attribute, pages + first * kPage, count * kPage));
    return value;
  };
  CHECK(cudaMemAdvise(pages, 2 * kPage, cudaMemAdviseSetReadMostly, gpu));
  CHECK(cudaMemAdvise(pages, 4 * kPage, cudaMemAdviseSetPreferredLocation, gpu));
  CHECK(cudaMemAdvise(pages + 3 * kPage, kPage, cudaMemAdviseSetPreferredLocation, host));
  CHECK(cudaMemAdvise(pages, 4 * kPage, cudaMemAdviseSetAccessedBy, gpu));
  CHECK(cudaMemAdvise(pages, 1, cudaMemAdviseSetAccessedBy, host));
  EXPECT(of_range(cudaMemRangeAttributeReadMostly, 0, 2) == 1);
  EXPECT(of_range(cudaMemRangeAttributeReadMostly, 1, 2) == 0);
  EXPECT(of_range(cudaMemRangeAttributePreferredLocation, 0, 3) == 0);
  EXPECT(of_range(cudaMemRangeAttributePreferredLocation, 3, 1) == cudaCpuDeviceId);
  EXPECT(of_range(cudaMemRangeAttributePreferredLocation, 2, 2) == cudaInvalidDeviceId);
  EXPECT(of_range(cudaMemRangeAttributePreferredLocationType, 3, 1) == cudaMemLocationTypeHost);
  EXPECT(of_range(cudaMemRangeAttributeLastPrefetchLocation, 0, 4) == cudaInvalidDeviceId);
  CHECK(cudaMemPrefetchAsync(pages, 4 * kPage, gpu, 0, nullptr));
  CHECK(cudaMemPrefetchAsync(pages, kPage, host, 0, nullptr));
  int last = 0, who[3] = {};
  void* data[] = {&last, who};
  std::size_t sizes[] = {sizeof last, sizeof who};
  cudaMemRangeAttribute which[] = {cudaMemRangeAttributeLastPrefetchLocation, cudaMemRangeAttributeAccessedBy};
  CHECK(cudaMemRangeGetAttributes(data, sizes, which, 2, pages, kPage));
  EXPECT(last == cudaCpuDeviceId && who[0] == cudaCpuDeviceId && who[1] == 0 && who[2] == cudaInvalidDeviceId);
  CHECK(cudaMemRangeGetAttributes(data, sizes, which, 2, pages + kPage, 3 * kPage));
  EXPECT(last == 0 && who[0] == 0 && who[1] == cudaInvalidDeviceId);
  void* parts[] = {pages, pages + 2 * kPage, pages + 3 * kPage};
  std::size_t bytes[] = {kPage, kPage, kPage}, first[] = {0, 1};
  cudaMemLocation there[] = {gpu, host};
  CHECK(cudaMemPrefetchBatchAsync(parts, bytes, 3, there, first, 2, 0, nullptr));
  EXPECT(of_range(cudaMemRangeAttributeLastPrefetchLocation, 0, 2) == 0);
  EXPECT(of_range(cudaMemRangeAttributeLastPrefetchLocation, 2, 2) == cudaCpuDeviceId);
  CHECK(cudaMemDiscardBatchAsync(parts, bytes, 3, 0, nullptr));
  EXPECT(cudaMemRangeGetAttribute(&last, 8, which[0], pages, kPage) == cudaErrorInvalidValue);
  EXPECT(cudaMemRangeGetAttribute(&last, 4, which[0], pages, 6 * kPage) == cudaErrorInvalidValue);
  (void)cudaGetLastError();
  CHECK(cudaFree(range));
  // Neighbours in a page come and go: what was advised of it stays as long as one is there.
  char *first_one = nullptr, *second_one = nullptr;
  CHECK(cudaMallocManaged(&first_one, 64));
  CHECK(cudaMemAdvise(first_one, 64, cudaMemAdviseSetReadMostly, gpu));
  CHECK(cudaMallocManaged(&second_one, 64));
  CHECK(cudaMemRangeGetAttribute(&last, 4, cudaMemRangeAttributeReadMostly, first_one, 64));
  EXPECT(last == 1);
  CHECK(cudaFree(second_one));
  CHECK(cudaMemRangeGetAttribute(&last, 4, cudaMemRangeAttributeReadMostly, first_one, 64));
  EXPECT(last == 1);
  CHECK(cudaFree(first_one));
  // Host and kernel count together.
  unsigned* shared = nullptr;
  CHECK(cudaMallocManaged(&shared, sizeof(unsigned)));
  *shared = 0;
  count<<<4, 64>>>(shared, 20);
  unsigned mine = 0;
  while (cudaStreamQuery(nullptr) == cudaErrorNotReady)
    for (int i = 0; i < 100; ++i, ++mine) __sync_fetch_and_add(shared, 1u);
  CHECK(cudaDeviceSynchronize());
  EXPECT(*shared == mine + 4 * 64 * 20);
  CHECK(cudaFree(shared));
  CHECK(cudaFree(values));
  return verdict();
}
