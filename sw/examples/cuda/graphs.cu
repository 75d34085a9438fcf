// Work that is captured from streams as a graph, launched many times, updated and cloned.
#include <cstring>
#include <vector>

#include "check.h"

__global__ void add(int* values, int n, int what) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] += what;
}

__global__ void multiply(const int* from, int* to, int n, int by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i] * by;
}

constexpr int kValues = 1000;

// Two streams: one adds, the other one multiplies in between, and comes back.
cudaGraph_t captured(cudaStream_t main, cudaStream_t side, cudaEvent_t forked, cudaEvent_t joined, int* a, int* b,
                     int* host, int what) {
  cudaGraph_t graph;
  CHECK(cudaStreamBeginCapture(main, cudaStreamCaptureModeGlobal));
  add<<<4, 256, 0, main>>>(a, kValues, what);
  CHECK(cudaEventRecord(forked, main));
  CHECK(cudaStreamWaitEvent(side, forked, 0));
  multiply<<<4, 256, 0, side>>>(a, b, kValues, 3);
  CHECK(cudaEventRecord(joined, side));
  CHECK(cudaStreamWaitEvent(main, joined, 0));
  CHECK(cudaMemcpyAsync(host, b, kValues * sizeof(int), cudaMemcpyDeviceToHost, main));
  cudaStreamCaptureStatus status;
  CHECK(cudaStreamIsCapturing(side, &status));
  EXPECT(status == cudaStreamCaptureStatusActive);
  CHECK(cudaStreamEndCapture(main, &graph));
  CHECK(cudaStreamIsCapturing(side, &status));
  EXPECT(status == cudaStreamCaptureStatusNone);
  return graph;
}

int main() {
  int *a, *b, *host;
  CHECK(cudaMalloc(&a, kValues * sizeof(int)));
  CHECK(cudaMalloc(&b, kValues * sizeof(int)));
  CHECK(cudaMallocHost(&host, kValues * sizeof(int)));
  CHECK(cudaMemset(a, 0, kValues * sizeof(int)));
  cudaStream_t main, side;
  cudaEvent_t forked, joined;
  CHECK(cudaStreamCreate(&main));
  CHECK(cudaStreamCreate(&side));
  CHECK(cudaEventCreate(&forked));
  CHECK(cudaEventCreate(&joined));
  cudaGraph_t graph = captured(main, side, forked, joined, a, b, host, 1);
  std::size_t nodes = 0, roots = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(cudaGraphGetRootNodes(graph, nullptr, &roots));
  EXPECT(nodes == 3 && roots == 1);
  std::memset(host, 0xFF, kValues * sizeof(int));
  EXPECT(host[0] == -1);  // nothing was done yet
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int n = 1; n <= 5; ++n) {
    CHECK(cudaGraphLaunch(exec, main));
    CHECK(cudaStreamSynchronize(main));
    for (int i = 0; i < kValues; ++i) EXPECT(host[i] == 3 * n);
  }
  // The same shape with other parameters.
  cudaGraph_t other = captured(main, side, forked, joined, a, b, host, 10);
  cudaGraphExecUpdateResultInfo result;
  CHECK(cudaGraphExecUpdate(exec, other, &result));
  EXPECT(result.result == cudaGraphExecUpdateSuccess);
  CHECK(cudaGraphLaunch(exec, main));
  CHECK(cudaStreamSynchronize(main));
  for (int i = 0; i < kValues; ++i) EXPECT(host[i] == 3 * 15);
  cudaGraph_t clone;
  CHECK(cudaGraphClone(&clone, graph));
  CHECK(cudaGraphDestroy(graph));
  cudaGraphExec_t second;
  CHECK(cudaGraphInstantiate(&second, clone, 0));
  CHECK(cudaGraphLaunch(second, side));
  CHECK(cudaStreamSynchronize(side));
  for (int i = 0; i < kValues; ++i) EXPECT(host[i] == 3 * 16);
  // A graph that is launched while a stream is captured becomes a part of what is captured.
  cudaGraph_t whole;
  CHECK(cudaStreamBeginCapture(main, cudaStreamCaptureModeRelaxed));
  CHECK(cudaGraphLaunch(exec, main));
  add<<<4, 256, 0, main>>>(a, kValues, 1);
  EXPECT(cudaStreamQuery(main) == cudaErrorStreamCaptureUnsupported);  // and the capture is invalid
  EXPECT(cudaStreamEndCapture(main, &whole) == cudaErrorStreamCaptureInvalidated);
  (void)cudaGetLastError();
  CHECK(cudaStreamBeginCapture(main, cudaStreamCaptureModeRelaxed));
  CHECK(cudaGraphLaunch(exec, main));
  add<<<4, 256, 0, main>>>(a, kValues, 1);
  CHECK(cudaStreamEndCapture(main, &whole));
  cudaGraphExec_t third;
  CHECK(cudaGraphInstantiate(&third, whole, 0));
  CHECK(cudaGraphLaunch(third, main));
  CHECK(cudaStreamSynchronize(main));
  for (int i = 0; i < kValues; ++i) EXPECT(host[i] == 3 * 26);
  // One that nobody joined again leaves nothing behind, memory neither.
  void* memory = nullptr;
  CHECK(cudaStreamBeginCapture(main, cudaStreamCaptureModeRelaxed));
  CHECK(cudaMallocAsync(&memory, 1 << 20, main));
  CHECK(cudaEventRecord(forked, main));
  CHECK(cudaStreamWaitEvent(side, forked, 0));
  multiply<<<4, 256, 0, side>>>(a, b, kValues, 3);
  EXPECT(cudaStreamEndCapture(main, &whole) == cudaErrorStreamCaptureUnjoined);
  (void)cudaGetLastError();
  CHECK(cudaGraphExecDestroy(third));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphExecDestroy(second));
  CHECK(cudaGraphDestroy(clone));
  CHECK(cudaGraphDestroy(other));
  return verdict();
}
