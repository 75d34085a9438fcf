// Functions of the program in the order of a stream.
#include <vector>

#include "check.h"

__global__ void store(int* to, int value) {
  *to = value;
}

static std::vector<int> seen;

static void note(void* value) {
  seen.push_back(*static_cast<int*>(value));
}

static void note_status(cudaStream_t, cudaError_t status, void*) {
  seen.push_back(static_cast<int>(status));
}

int main() {
  int* value = nullptr;
  CHECK(cudaMallocHost(&value, sizeof(int)));
  *value = 1;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaLaunchHostFunc(stream, note, value));
  store<<<1, 1, 0, stream>>>(value, 17);
  CHECK(cudaLaunchHostFunc(stream, note, value));
  CHECK(cudaStreamAddCallback(stream, note_status, nullptr, 0));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT((seen == std::vector<int>{1, 17, 0}));
  return verdict();
}
