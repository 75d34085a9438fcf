// exec: | nvcc: -x c++ -lcuda -Xcompiler -Wno-deprecated-declarations
// Graphs by the driver API: made by hand, changed, captured, with events, attributes and objects of the program;
// and launches whose parameters are given one by one.
#include <cstring>
#include <vector>

#include "driver_check.h"

static const char* const kText = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 values, .param .u32 what)
{
  .reg .b32 %r<6>;
  .reg .b64 %d<4>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r1, %r2, %r3, %r1;
  mul.wide.u32 %d1, %r1, 4;
  ld.param.u64 %d2, [values];
  add.u64 %d2, %d2, %d1;
  ld.param.u32 %r4, [what];
  ld.global.u32 %r5, [%d2];
  add.u32 %r5, %r5, %r4;
  st.global.u32 [%d2], %r5;
  ret;
}
)";

static int calls = 0, destroyed = 0;

static void destroy(void* counter) {
  ++*static_cast<int*>(counter);
}

int main() {
  const CUcontext context = first_context();
  CUmodule module;
  CUfunction add;
  CHECK(cuModuleLoadData(&module, kText));
  CHECK(cuModuleGetFunction(&add, module, "add"));
  constexpr unsigned kValues = 64;
  CUdeviceptr values;
  CHECK(cuMemAlloc(&values, kValues * sizeof(unsigned)));
  std::vector<unsigned> host(kValues);
  CUstream stream;
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));

  // fill -> kernel -> copy -> host function, and a child.
  CUgraph graph, child;
  CHECK(cuGraphCreate(&graph, 0));
  CHECK(cuGraphCreate(&child, 0));
  CUDA_MEMSET_NODE_PARAMS fill = {};
  fill.dst = values;
  fill.value = 7;
  fill.elementSize = 4;
  fill.width = kValues;
  fill.height = 1;
  unsigned what = 5;
  void* parameters[] = {&values, &what};
  CUDA_KERNEL_NODE_PARAMS kernel = {};
  kernel.func = add;
  kernel.gridDimX = 2;
  kernel.gridDimY = kernel.gridDimZ = kernel.blockDimY = kernel.blockDimZ = 1;
  kernel.blockDimX = 32;
  kernel.kernelParams = parameters;
  CUDA_MEMCPY3D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = values;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = host.data();
  copy.WidthInBytes = kValues * sizeof(unsigned);
  copy.Height = copy.Depth = 1;
  CUDA_HOST_NODE_PARAMS call = {[](void* p) { ++*static_cast<int*>(p); }, &calls};
  CUgraphNode filled, added, copied, called, inner, nested, joined;
  CHECK(cuGraphAddMemsetNode(&filled, graph, nullptr, 0, &fill, context));
  CHECK(cuGraphAddKernelNode(&added, graph, &filled, 1, &kernel));
  what = 100;
  kernel.func = nullptr;  // a kernel of a library is named so
  kernel.kern = reinterpret_cast<CUkernel>(add);
  CHECK(cuGraphAddKernelNode(&inner, child, nullptr, 0, &kernel));
  CHECK(cuGraphAddChildGraphNode(&nested, graph, &added, 1, child));
  CHECK(cuGraphAddMemcpyNode(&copied, graph, &nested, 1, &copy, context));
  CHECK(cuGraphAddHostNode(&called, graph, &copied, 1, &call));
  CHECK(cuGraphAddEmptyNode(&joined, graph, &called, 1));
  size_t count = 0;
  CHECK(cuGraphGetNodes(graph, nullptr, &count));
  EXPECT(count == 6);
  CHECK(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
  EXPECT(count == 5);
  CUgraphNode root;
  count = 1;
  CHECK(cuGraphGetRootNodes(graph, &root, &count));
  EXPECT(count == 1 && root == filled);
  CUgraphNodeType type;
  CHECK(cuGraphNodeGetType(copied, &type));
  EXPECT(type == CU_GRAPH_NODE_TYPE_MEMCPY);
  CUDA_KERNEL_NODE_PARAMS seen;
  CHECK(cuGraphKernelNodeGetParams(added, &seen));
  EXPECT(seen.func == add && seen.blockDimX == 32 && *static_cast<unsigned*>(seen.kernelParams[1]) == 5);
  CUDA_MEMCPY3D seen_copy;
  CHECK(cuGraphMemcpyNodeGetParams(copied, &seen_copy));
  EXPECT(seen_copy.srcDevice == values && seen_copy.dstHost == host.data());
  CUDA_MEMSET_NODE_PARAMS seen_fill;
  CHECK(cuGraphMemsetNodeGetParams(filled, &seen_fill));
  EXPECT(seen_fill.dst == values && seen_fill.value == 7 && seen_fill.width == kValues);

  CUgraphExec exec;
  CHECK(cuGraphInstantiate(&exec, graph, 0));
  CHECK(cuGraphLaunch(exec, stream));
  CHECK(cuStreamSynchronize(stream));
  EXPECT(host[0] == 7 + 5 + 100 && host[kValues - 1] == 112 && calls == 1);
  what = 1000;
  CHECK(cuGraphExecKernelNodeSetParams(exec, added, &kernel));
  fill.value = 1;
  CHECK(cuGraphExecMemsetNodeSetParams(exec, filled, &fill, context));
  CHECK(cuGraphLaunch(exec, stream));
  CHECK(cuStreamSynchronize(stream));
  EXPECT(host[5] == 1 + 1000 + 100 && calls == 2);
  // A graph of that shape with other parameters takes its place.
  what = 3;
  CHECK(cuGraphKernelNodeSetParams(added, &kernel));
  CUgraphExecUpdateResultInfo updated;
  CHECK(cuGraphExecUpdate(exec, graph, &updated));
  EXPECT(updated.result == CU_GRAPH_EXEC_UPDATE_SUCCESS);
  CHECK(cuGraphLaunch(exec, stream));
  CHECK(cuStreamSynchronize(stream));
  EXPECT(host[5] == 7 + 3 + 100);
  kernel.kern = reinterpret_cast<CUkernel>(&host);
  EXPECT(cuGraphAddKernelNode(&inner, child, nullptr, 0, &kernel) == CUDA_ERROR_INVALID_HANDLE);
  kernel.kern = reinterpret_cast<CUkernel>(add);

  // Nodes of any kind by one call; the kernel is cooperative by an attribute, which its copy takes over.
  CUgraph any;
  CHECK(cuGraphCreate(&any, 0));
  CUgraphNodeParams node = {};
  node.type = CU_GRAPH_NODE_TYPE_MEMSET;
  node.memset.dst = values;
  node.memset.value = 2;
  node.memset.elementSize = 4;
  node.memset.width = kValues;
  node.memset.height = 1;
  CHECK(cuGraphAddNode(&filled, any, nullptr, nullptr, 0, &node));
  node = {};
  node.type = CU_GRAPH_NODE_TYPE_KERNEL;
  node.kernel.func = add;
  node.kernel.gridDimX = 2;
  node.kernel.gridDimY = node.kernel.gridDimZ = node.kernel.blockDimY = node.kernel.blockDimZ = 1;
  node.kernel.blockDimX = 32;
  node.kernel.kernelParams = parameters;
  CUgraphNode second;
  CHECK(cuGraphAddNode(&added, any, &filled, nullptr, 1, &node));
  CHECK(cuGraphAddNode(&second, any, &added, nullptr, 1, &node));
  node = {};
  node.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  node.memcpy.copyCtx = context;
  node.memcpy.copyParams = copy;
  CHECK(cuGraphAddNode(&copied, any, &second, nullptr, 1, &node));
  CUlaunchAttributeValue value = {};
  CHECK(cuGraphKernelNodeGetAttribute(added, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
  EXPECT(value.cooperative == 0);
  value.cooperative = 1;
  CHECK(cuGraphKernelNodeSetAttribute(added, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
  value.priority = -2;
  CHECK(cuGraphKernelNodeSetAttribute(added, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  CHECK(cuGraphKernelNodeCopyAttributes(second, added));
  CHECK(cuGraphKernelNodeGetAttribute(second, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  EXPECT(value.priority == -2);
  CHECK(cuGraphKernelNodeSetParams(second, &kernel));  // the attributes stay
  CHECK(cuGraphKernelNodeGetAttribute(second, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
  EXPECT(value.cooperative == 1);
  EXPECT(cuGraphKernelNodeGetAttribute(filled, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value) ==
         CUDA_ERROR_INVALID_VALUE);

  // Objects of the program live as long as graphs and launches have them.
  CUuserObject object;
  CHECK(cuUserObjectCreate(&object, &destroyed, destroy, 2, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  CHECK(cuGraphRetainUserObject(any, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  CHECK(cuUserObjectRelease(object, 1));
  EXPECT(cuUserObjectRelease(object, 1) == CUDA_ERROR_INVALID_VALUE && destroyed == 0);
  CUgraph clone;
  CUgraphExec last;
  CHECK(cuGraphClone(&clone, any));
  CHECK(cuGraphInstantiateWithFlags(&last, clone, 0));
  CHECK(cuGraphDestroy(any));
  CHECK(cuGraphReleaseUserObject(clone, object, 1));
  EXPECT(cuGraphReleaseUserObject(clone, object, 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuGraphDestroy(clone));
  EXPECT(destroyed == 0);
  CHECK(cuGraphLaunch(last, stream));
  CHECK(cuGraphExecDestroy(last));
  CHECK(cuStreamSynchronize(stream));
  EXPECT(host[9] == 2 + 3 + 3);
  CHECK(cuCtxSynchronize());
  while (*static_cast<volatile int*>(&destroyed) == 0) {
  }
  EXPECT(destroyed == 1);

  // Captured from a stream, with events that become nodes.
  CUevent begin, end, other;
  CHECK(cuEventCreate(&begin, CU_EVENT_DEFAULT));
  CHECK(cuEventCreate(&end, CU_EVENT_DEFAULT));
  CHECK(cuEventCreate(&other, CU_EVENT_DEFAULT));
  EXPECT(cuEventRecordWithFlags(begin, stream, CU_EVENT_RECORD_EXTERNAL) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  CHECK(cuEventRecordWithFlags(begin, stream, CU_EVENT_RECORD_EXTERNAL));
  CHECK(cuLaunchKernel(add, 2, 1, 1, 32, 1, 1, 0, stream, parameters, nullptr));
  CHECK(cuStreamWaitEvent(stream, other, CU_EVENT_WAIT_EXTERNAL));
  CHECK(cuEventRecordWithFlags(other, stream, CU_EVENT_RECORD_EXTERNAL));
  CUstreamCaptureStatus status;
  CUgraph under_way;
  const CUgraphNode* frontier;
  CHECK(cuStreamGetCaptureInfo(stream, &status, nullptr, &under_way, &frontier, nullptr, &count));
  EXPECT(status == CU_STREAM_CAPTURE_STATUS_ACTIVE && count == 1);
  CHECK(cuGraphNodeGetType(frontier[0], &type));
  EXPECT(type == CU_GRAPH_NODE_TYPE_EVENT_RECORD);
  const CUgraphNode recorder = frontier[0];
  CUgraph captured;
  CHECK(cuStreamEndCapture(stream, &captured));
  EXPECT(captured == under_way);
  CHECK(cuGraphGetNodes(captured, nullptr, &count));
  EXPECT(count == 4);
  CUevent found;
  CHECK(cuGraphEventRecordNodeGetEvent(recorder, &found));
  EXPECT(found == other);
  CHECK(cuGraphEventRecordNodeSetEvent(recorder, end));
  CHECK(cuGraphInstantiate(&last, captured, 0));
  CHECK(cuGraphLaunch(last, stream));
  CHECK(cuEventSynchronize(end));
  float ms = 0;
  CHECK(cuEventElapsedTime(&ms, begin, end));
  EXPECT(ms > 0);
  EXPECT(cuEventElapsedTime(&ms, begin, other) == CUDA_ERROR_INVALID_HANDLE);  // never recorded
  CHECK(cuGraphExecEventRecordNodeSetEvent(last, recorder, other));
  CHECK(cuGraphLaunch(last, stream));
  CHECK(cuEventSynchronize(other));
  CHECK(cuEventElapsedTime(&ms, end, other));
  EXPECT(ms > 0);
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  CHECK(cuThreadExchangeStreamCaptureMode(&mode));
  EXPECT(mode == CU_STREAM_CAPTURE_MODE_GLOBAL);

  // As programs of the first toolkits launch.
  CHECK(cuMemsetD32(values, 0, kValues));
  EXPECT(cuLaunch(add) == CUDA_ERROR_INVALID_VALUE);  // of no shape yet
  CHECK(cuFuncSetBlockShape(add, 16, 1, 1));
  CHECK(cuFuncSetSharedSize(add, 256));
  CHECK(cuParamSetv(add, 0, &values, sizeof values));
  CHECK(cuParamSeti(add, sizeof values, 40));
  CHECK(cuParamSetSize(add, sizeof values));
  EXPECT(cuLaunch(add) == CUDA_ERROR_INVALID_VALUE);  // too few parameters
  CHECK(cuParamSetSize(add, sizeof values + sizeof(int)));
  CHECK(cuLaunch(add));
  CHECK(cuLaunchGrid(add, 2, 1));
  CHECK(cuParamSetf(add, sizeof values, 0.0f));
  CHECK(cuLaunchGridAsync(add, 2, 1, nullptr));
  EXPECT(cuParamSeti(add, -4, 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemcpyDtoH(host.data(), values, kValues * sizeof(unsigned)));
  EXPECT(host[0] == 80 && host[16] == 40 && host[32] == 0);
  CHECK(cuGraphExecDestroy(last));
  CHECK(cuGraphExecDestroy(exec));
  CHECK(cuGraphDestroy(captured));
  CHECK(cuGraphDestroy(graph));
  CHECK(cuGraphDestroy(child));
  CHECK(cuModuleUnload(module));
  std::puts("PASSED");
}
