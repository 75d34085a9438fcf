// Graphs that choose: what kernels find decides which bodies of a graph run, and how often.
#include "check.h"

__global__ void choose(cudaGraphConditionalHandle condition, const int* value) {
  cudaGraphSetConditional(condition, static_cast<unsigned>(*value));
}

__global__ void count_down(cudaGraphConditionalHandle condition, int* left, int* rounds) {
  ++*rounds;
  cudaGraphSetConditional(condition, --*left > 0 ? 1 : 0);
}

__global__ void add(int* to, int n) {
  *to += n;
}

cudaError_t add_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, std::size_t count,
                     cudaGraphNodeParams* p) {
#if CUDART_VERSION >= 13000
  return cudaGraphAddNode(node, graph, after, nullptr, count, p);
#else
  return cudaGraphAddNode(node, graph, after, count, p);
#endif
}

cudaGraphNode_t kernel_node(cudaGraph_t graph, const cudaGraphNode_t* after, std::size_t count, void* kernel,
                            void** arguments) {
  cudaGraphNodeParams p = {};
  p.type = cudaGraphNodeTypeKernel;
  p.kernel.func = kernel;
  p.kernel.gridDim = p.kernel.blockDim = dim3(1);
  p.kernel.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  CHECK(add_node(&node, graph, after, count, &p));
  return node;
}

cudaGraphNodeParams conditional(cudaGraphConditionalHandle condition, cudaGraphConditionalNodeType type, unsigned bodies) {
  cudaGraphNodeParams p = {};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = condition;
  p.conditional.type = type;
  p.conditional.size = bodies;
  return p;
}

int main() {
  int* numbers = nullptr;  // 0: what is chosen; 1: how many rounds are left; 2: rounds; 3 and on: sums
  CHECK(cudaMallocManaged(&numbers, 8 * sizeof(int)));
  for (int n = 0; n < 8; ++n) numbers[n] = 0;
  cudaGraph_t graph = nullptr;
  CHECK(cudaGraphCreate(&graph, 0));

  // A choice of three, an else, and a loop whose value each launch sets to 1.
  cudaGraphConditionalHandle which = 0, whether = 0, more = 0;
  CHECK(cudaGraphConditionalHandleCreate(&which, graph));
  CHECK(cudaGraphConditionalHandleCreate(&whether, graph));
  CHECK(cudaGraphConditionalHandleCreate(&more, graph, 1, cudaGraphCondAssignDefault));
  void* which_arguments[] = {&which, &numbers};
  void* whether_arguments[] = {&whether, &numbers};
  const cudaGraphNode_t choosing[] = {
      kernel_node(graph, nullptr, 0, reinterpret_cast<void*>(choose), which_arguments),
      kernel_node(graph, nullptr, 0, reinterpret_cast<void*>(choose), whether_arguments)};

  cudaGraphNode_t node = nullptr;
  cudaGraphNodeParams choice = conditional(which, cudaGraphCondTypeSwitch, 3);
  CHECK(add_node(&node, graph, choosing, 2, &choice));
  cudaGraphNodeType type;
  CHECK(cudaGraphNodeGetType(node, &type));
  EXPECT(type == cudaGraphNodeTypeConditional);
  for (int body = 0; body < 3; ++body) {
    int* to = numbers + 3;
    int much = 1 << (4 * body);
    void* arguments[] = {&to, &much};
    kernel_node(choice.conditional.phGraph_out[body], nullptr, 0, reinterpret_cast<void*>(add), arguments);
  }
  cudaGraphNodeParams either = conditional(whether, cudaGraphCondTypeIf, 2);
  CHECK(add_node(&node, graph, choosing, 2, &either));
  for (int body = 0; body < 2; ++body) {
    int* to = numbers + 4 + body;
    int one = 1;
    void* arguments[] = {&to, &one};
    kernel_node(either.conditional.phGraph_out[body], nullptr, 0, reinterpret_cast<void*>(add), arguments);
  }
  cudaGraphNodeParams loop = conditional(more, cudaGraphCondTypeWhile, 1);
  CHECK(add_node(&node, graph, choosing, 2, &loop));
  // The loop's body is what a stream is given.
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCaptureToGraph(stream, loop.conditional.phGraph_out[0], nullptr, nullptr, 0,
                                      cudaStreamCaptureModeGlobal));
  count_down<<<1, 1, 0, stream>>>(more, numbers + 1, numbers + 2);
  CHECK(cudaStreamEndCapture(stream, nullptr));

  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (const int chosen : {0, 1, 2, 3, 1}) {
    numbers[0] = chosen;
    numbers[1] = 5;
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
  }
  EXPECT(numbers[2] == 25);
  EXPECT(numbers[3] == 0x121);
  EXPECT(numbers[4] == 4 && numbers[5] == 1);

  cudaGraph_t copy = nullptr;
  EXPECT(cudaGraphClone(&copy, graph) != cudaSuccess);
  cudaGraphNodeParams none = conditional(12345, cudaGraphCondTypeIf, 1);
  EXPECT(add_node(&node, graph, nullptr, 0, &none) == cudaErrorInvalidValue);
  return verdict();
}
