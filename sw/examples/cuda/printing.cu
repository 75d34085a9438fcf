// Kernels that print, and take memory from the GPU's heap.
#include "check.h"

__global__ void hello(int what) {
  if (threadIdx.x < 2) printf("block %d, thread %d: %s %.2f\n", blockIdx.x, threadIdx.x, "pi times", 3.14159 * what);
}

struct Node {
  int value;
  Node* next;
};

__global__ void list(int n, int* sum) {
  Node* first = nullptr;
  for (int i = 0; i < n; ++i) {
    Node* const node = static_cast<Node*>(malloc(sizeof(Node)));
    node->value = i;
    node->next = first;
    first = node;
  }
  int all = 0;
  while (first != nullptr) {
    Node* const next = first->next;
    all += first->value;
    free(first);
    first = next;
  }
  atomicAdd(sum, all);
}

int main() {
  CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20));
  std::size_t limit = 0;
  CHECK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
  EXPECT(limit == 1 << 20);
  hello<<<2, 32>>>(2);
  int* sum = nullptr;
  CHECK(cudaMallocManaged(&sum, sizeof(int)));
  *sum = 0;
  list<<<1, 8>>>(20, sum);
  CHECK(cudaDeviceSynchronize());
  EXPECT(*sum == 8 * 190);
  return verdict();
}
