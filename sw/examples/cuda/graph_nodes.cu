// A graph made node by node: kernels, copies, fills, host functions, a child, memory of its own.
#include "check.h"

__global__ void add(int* values, int n, int what) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] += what;
}

__device__ int first_value, second_value;

static int calls = 0;

int main() {
  constexpr int kValues = 512;
  int *device, *host, *other;
  CHECK(cudaMalloc(&device, kValues * sizeof(int)));
  CHECK(cudaMalloc(&other, kValues * sizeof(int)));
  CHECK(cudaMallocHost(&host, kValues * sizeof(int)));
  cudaGraph_t graph, child;
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphCreate(&child, 0));

  cudaMemsetParams fill = {};
  fill.dst = device;
  fill.value = 7;
  fill.elementSize = 4;
  fill.width = kValues;
  fill.height = 1;
  cudaGraphNode_t filled, added, copied, called, inner, nested;
  CHECK(cudaGraphAddMemsetNode(&filled, graph, nullptr, 0, &fill));

  int n = kValues, what = 5;
  void* arguments[] = {&device, &n, &what};
  cudaKernelNodeParams kernel = {};
  kernel.func = reinterpret_cast<void*>(add);
  kernel.gridDim = dim3(2);
  kernel.blockDim = dim3(256);
  kernel.kernelParams = arguments;
  CHECK(cudaGraphAddKernelNode(&added, graph, &filled, 1, &kernel));
  what = 100;  // was copied
  CHECK(cudaGraphAddKernelNode(&inner, child, nullptr, 0, &kernel));
  CHECK(cudaGraphAddChildGraphNode(&nested, graph, &added, 1, child));
  CHECK(cudaGraphAddMemcpyNode1D(&copied, graph, &nested, 1, host, device, kValues * sizeof(int),
                                 cudaMemcpyDeviceToHost));
  cudaHostNodeParams call = {[](void* counter) { ++*static_cast<int*>(counter); }, &calls};
  CHECK(cudaGraphAddHostNode(&called, graph, &copied, 1, &call));
  cudaGraphNodeType type;
  CHECK(cudaGraphNodeGetType(nested, &type));
  EXPECT(type == cudaGraphNodeTypeGraph);
  cudaGraphNode_t from[8], to[8];
  std::size_t edges = 8;
  CHECK(cudaGraphGetEdges(graph, from, to, nullptr, &edges));
  EXPECT(edges == 4);

  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  for (int i = 0; i < kValues; ++i) EXPECT(host[i] == 7 + 5 + 100);
  EXPECT(calls == 1);

  what = 1000;
  CHECK(cudaGraphExecKernelNodeSetParams(exec, added, &kernel));
  CHECK(cudaGraphNodeSetEnabled(exec, filled, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  for (int i = 0; i < kValues; ++i) EXPECT(host[i] == 112 + 1000 + 100);
  EXPECT(calls == 2);

  cudaKernelNodeParams seen = {};
  CHECK(cudaGraphKernelNodeGetParams(added, &seen));
  EXPECT(seen.func == reinterpret_cast<void*>(add) && seen.blockDim.x == 256 &&
         *static_cast<int*>(seen.kernelParams[2]) == 5);

  // Events that nodes record are recorded by the launch.
  cudaEvent_t before, behind;
  CHECK(cudaEventCreate(&before));
  CHECK(cudaEventCreate(&behind));
  cudaGraph_t timed;
  cudaGraphNode_t first, second, last;
  CHECK(cudaGraphCreate(&timed, 0));
  CHECK(cudaGraphAddEventRecordNode(&first, timed, nullptr, 0, before));
  CHECK(cudaGraphAddKernelNode(&second, timed, &first, 1, &kernel));
  CHECK(cudaGraphAddEventRecordNode(&last, timed, &second, 1, behind));
  cudaGraphExec_t timing;
  CHECK(cudaGraphInstantiate(&timing, timed, 0));
  CHECK(cudaGraphLaunch(timing, stream));
  CHECK(cudaEventSynchronize(behind));
  float ms = 0;
  CHECK(cudaEventElapsedTime(&ms, before, behind));
  EXPECT(ms > 0, "%f ms", ms);
  CHECK(cudaGraphExecDestroy(timing));
  cudaMemAllocNodeParams none_of_it = {};
  none_of_it.poolProps.location.type = cudaMemLocationTypeDevice;
  EXPECT(cudaGraphAddMemAllocNode(&last, timed, nullptr, 0, &none_of_it) == cudaErrorInvalidValue);
  (void)cudaGetLastError();

  // Events that a capture is told to keep are nodes, too; the graph does not wait for them to be captured.
  cudaGraph_t kept;
  cudaEvent_t outside;
  CHECK(cudaEventCreate(&outside));
  CHECK(cudaEventRecord(outside, stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaStreamWaitEvent(stream, outside, cudaEventWaitExternal));
  add<<<2, 256, 0, stream>>>(device, kValues, 1);
  CHECK(cudaEventRecordWithFlags(behind, stream, cudaEventRecordExternal));
  CHECK(cudaStreamEndCapture(stream, &kept));
  cudaGraphNode_t nodes[3];
  std::size_t count = 3;
  CHECK(cudaGraphGetNodes(kept, nodes, &count));
  EXPECT(count == 3);
  CHECK(cudaGraphNodeGetType(nodes[0], &type));
  EXPECT(type == cudaGraphNodeTypeWaitEvent);
  cudaEvent_t waited;
  CHECK(cudaGraphEventWaitNodeGetEvent(nodes[0], &waited));
  EXPECT(waited == outside);
  CHECK(cudaGraphNodeGetType(nodes[2], &type));
  EXPECT(type == cudaGraphNodeTypeEventRecord);
  CHECK(cudaGraphInstantiate(&timing, kept, 0));
  CHECK(cudaGraphExecEventWaitNodeSetEvent(timing, nodes[0], before));
  CHECK(cudaGraphLaunch(timing, stream));
  CHECK(cudaEventSynchronize(behind));
  CHECK(cudaEventElapsedTime(&ms, outside, behind));
  EXPECT(ms > 0, "%f ms", ms);
  EXPECT(cudaStreamWaitEvent(stream, outside, cudaEventWaitExternal) == cudaErrorInvalidValue);
  (void)cudaGetLastError();
  CHECK(cudaGraphExecDestroy(timing));

  // Copies to and from variables, before and after the graph is instantiated.
  cudaGraph_t symbols;
  cudaGraphNode_t into, out_of;
  int seven = 7, eight = 8, got[2] = {};
  CHECK(cudaGraphCreate(&symbols, 0));
  CHECK(cudaGraphAddMemcpyNodeToSymbol(&into, symbols, nullptr, 0, first_value, &seven, sizeof(int), 0,
                                       cudaMemcpyHostToDevice));
  CHECK(cudaGraphAddMemcpyNodeFromSymbol(&out_of, symbols, &into, 1, got, first_value, sizeof(int), 0,
                                         cudaMemcpyDeviceToHost));
  CHECK(cudaGraphMemcpyNodeSetParamsToSymbol(into, second_value, &seven, sizeof(int), 0, cudaMemcpyHostToDevice));
  CHECK(cudaGraphMemcpyNodeSetParamsFromSymbol(out_of, got, second_value, sizeof(int), 0, cudaMemcpyDeviceToHost));
  CHECK(cudaGraphInstantiate(&timing, symbols, 0));
  CHECK(cudaGraphLaunch(timing, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaGraphExecMemcpyNodeSetParamsToSymbol(timing, into, first_value, &eight, sizeof(int), 0,
                                                 cudaMemcpyHostToDevice));
  CHECK(cudaGraphExecMemcpyNodeSetParamsFromSymbol(timing, out_of, got + 1, first_value, sizeof(int), 0,
                                                   cudaMemcpyDeviceToHost));
  CHECK(cudaGraphLaunch(timing, stream));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(got[0] == 7 && got[1] == 8, "%d, %d", got[0], got[1]);
  EXPECT(cudaGraphMemcpyNodeSetParamsToSymbol(into, first_value, &seven, sizeof(int), 4, cudaMemcpyHostToDevice) ==
         cudaErrorInvalidValue);
  (void)cudaGetLastError();
  CHECK(cudaGraphExecDestroy(timing));

  // Nodes that wait for each other make no graph.
  CHECK(cudaGraphAddDependencies(graph, &called, &filled, nullptr, 1));
  cudaGraphExec_t none;
  EXPECT(cudaGraphInstantiate(&none, graph, 0) == cudaErrorInvalidValue);
  (void)cudaGetLastError();

  // Memory that lives in a graph.
  cudaGraph_t own;
  CHECK(cudaGraphCreate(&own, 0));
  cudaMemAllocNodeParams memory = {};
  memory.poolProps.allocType = cudaMemAllocationTypePinned;
  memory.poolProps.location.type = cudaMemLocationTypeDevice;
  memory.bytesize = kValues * sizeof(int);
  cudaGraphNode_t allocated, freed;
  CHECK(cudaGraphAddMemAllocNode(&allocated, own, nullptr, 0, &memory));
  fill.dst = memory.dptr;
  CHECK(cudaGraphAddMemsetNode(&filled, own, &allocated, 1, &fill));
  CHECK(cudaGraphAddMemcpyNode1D(&copied, own, &filled, 1, host, memory.dptr, kValues * sizeof(int),
                                 cudaMemcpyDeviceToHost));
  CHECK(cudaGraphAddMemFreeNode(&freed, own, &copied, 1, memory.dptr));
  CHECK(cudaGraphInstantiate(&none, own, 0));
  CHECK(cudaGraphLaunch(none, stream));
  CHECK(cudaStreamSynchronize(stream));
  for (int i = 0; i < kValues; ++i) EXPECT(host[i] == 7);
  unsigned long long now = 0, most = 0;
  CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &now));
  EXPECT(now >= kValues * sizeof(int));
  CHECK(cudaGraphExecDestroy(none));
  CHECK(cudaGraphDestroy(own));
  CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &most));
  CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &now));
  EXPECT(most >= kValues * sizeof(int) && now == 0);
  now = 0;
  CHECK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &now));
  CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &most));
  EXPECT(most == 0);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaGraphDestroy(child));
  return verdict();
}
