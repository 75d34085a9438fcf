// Functions of the driver API that are the runtime's under another name: they take the same parameters, and
// structures of the same layout.
#include <iterator>

#include "platform/cuda/abi/driver_calls.h"
#include "platform/cuda/abi/runtime.h"

namespace warpline::cuda::driver {
namespace {

struct Shared {
  std::string_view driver, runtime;
  unsigned toolkit = kNewest;  ///< whose runtime's function it is
};
constexpr Shared kShared[] = {
    {"cuDeviceCanAccessPeer", "cudaDeviceCanAccessPeer"},
    {"cuDeviceGetByPCIBusId", "cudaDeviceGetByPCIBusId"},
    {"cuDeviceGetDefaultMemPool", "cudaDeviceGetDefaultMemPool"},
    {"cuDeviceGetGraphMemAttribute", "cudaDeviceGetGraphMemAttribute"},
    {"cuDeviceGetMemPool", "cudaDeviceGetMemPool"},
    {"cuDeviceGetP2PAttribute", "cudaDeviceGetP2PAttribute"},
    {"cuDeviceGetPCIBusId", "cudaDeviceGetPCIBusId"},
    {"cuDeviceGraphMemTrim", "cudaDeviceGraphMemTrim"},
    {"cuDeviceSetGraphMemAttribute", "cudaDeviceSetGraphMemAttribute"},
    {"cuDeviceSetMemPool", "cudaDeviceSetMemPool"},
    {"cuGraphAddChildGraphNode", "cudaGraphAddChildGraphNode"},
    {"cuGraphAddDependencies", "cudaGraphAddDependencies", 12},
    {"cuGraphAddDependencies_v2", "cudaGraphAddDependencies"},
    {"cuGraphAddEmptyNode", "cudaGraphAddEmptyNode"},
    {"cuGraphAddEventRecordNode", "cudaGraphAddEventRecordNode"},
    {"cuGraphAddEventWaitNode", "cudaGraphAddEventWaitNode"},
    {"cuGraphAddHostNode", "cudaGraphAddHostNode"},
    {"cuGraphAddMemAllocNode", "cudaGraphAddMemAllocNode"},
    {"cuGraphAddMemFreeNode", "cudaGraphAddMemFreeNode"},
    {"cuGraphChildGraphNodeGetGraph", "cudaGraphChildGraphNodeGetGraph"},
    {"cuGraphClone", "cudaGraphClone"},
    {"cuGraphCreate", "cudaGraphCreate"},
    {"cuGraphDebugDotPrint", "cudaGraphDebugDotPrint"},
    {"cuGraphDestroy", "cudaGraphDestroy"},
    {"cuGraphDestroyNode", "cudaGraphDestroyNode"},
    {"cuGraphEventRecordNodeGetEvent", "cudaGraphEventRecordNodeGetEvent"},
    {"cuGraphEventRecordNodeSetEvent", "cudaGraphEventRecordNodeSetEvent"},
    {"cuGraphEventWaitNodeGetEvent", "cudaGraphEventWaitNodeGetEvent"},
    {"cuGraphEventWaitNodeSetEvent", "cudaGraphEventWaitNodeSetEvent"},
    {"cuGraphExecChildGraphNodeSetParams", "cudaGraphExecChildGraphNodeSetParams"},
    {"cuGraphExecDestroy", "cudaGraphExecDestroy"},
    {"cuGraphExecEventRecordNodeSetEvent", "cudaGraphExecEventRecordNodeSetEvent"},
    {"cuGraphExecEventWaitNodeSetEvent", "cudaGraphExecEventWaitNodeSetEvent"},
    {"cuGraphExecGetFlags", "cudaGraphExecGetFlags"},
    {"cuGraphExecHostNodeSetParams", "cudaGraphExecHostNodeSetParams"},
    {"cuGraphExecUpdate", "cudaGraphExecUpdate", 11},
    {"cuGraphExecUpdate_v2", "cudaGraphExecUpdate"},
    {"cuGraphGetEdges", "cudaGraphGetEdges", 12},
    {"cuGraphGetEdges_v2", "cudaGraphGetEdges"},
    {"cuGraphGetNodes", "cudaGraphGetNodes"},
    {"cuGraphGetRootNodes", "cudaGraphGetRootNodes"},
    {"cuGraphHostNodeGetParams", "cudaGraphHostNodeGetParams"},
    {"cuGraphHostNodeSetParams", "cudaGraphHostNodeSetParams"},
    {"cuGraphInstantiate", "cudaGraphInstantiate", 11},
    {"cuGraphInstantiateWithFlags", "cudaGraphInstantiateWithFlags"},
    {"cuGraphInstantiateWithParams", "cudaGraphInstantiateWithParams"},
    {"cuGraphInstantiate_v2", "cudaGraphInstantiate", 11},
    {"cuGraphKernelNodeCopyAttributes", "cudaGraphKernelNodeCopyAttributes"},
    {"cuGraphKernelNodeGetAttribute", "cudaGraphKernelNodeGetAttribute"},
    {"cuGraphKernelNodeSetAttribute", "cudaGraphKernelNodeSetAttribute"},
    {"cuGraphLaunch", "cudaGraphLaunch"},
    {"cuGraphMemAllocNodeGetParams", "cudaGraphMemAllocNodeGetParams"},
    {"cuGraphMemFreeNodeGetParams", "cudaGraphMemFreeNodeGetParams"},
    {"cuGraphMemsetNodeGetParams", "cudaGraphMemsetNodeGetParams"},
    {"cuGraphMemsetNodeSetParams", "cudaGraphMemsetNodeSetParams"},
    {"cuGraphNodeFindInClone", "cudaGraphNodeFindInClone"},
    {"cuGraphNodeGetDependencies", "cudaGraphNodeGetDependencies", 12},
    {"cuGraphNodeGetDependencies_v2", "cudaGraphNodeGetDependencies"},
    {"cuGraphNodeGetDependentNodes", "cudaGraphNodeGetDependentNodes", 12},
    {"cuGraphNodeGetDependentNodes_v2", "cudaGraphNodeGetDependentNodes"},
    {"cuGraphNodeGetEnabled", "cudaGraphNodeGetEnabled"},
    {"cuGraphNodeGetType", "cudaGraphNodeGetType"},
    {"cuGraphNodeSetEnabled", "cudaGraphNodeSetEnabled"},
    {"cuGraphReleaseUserObject", "cudaGraphReleaseUserObject"},
    {"cuGraphRemoveDependencies", "cudaGraphRemoveDependencies", 12},
    {"cuGraphRemoveDependencies_v2", "cudaGraphRemoveDependencies"},
    {"cuGraphRetainUserObject", "cudaGraphRetainUserObject"},
    {"cuGraphUpload", "cudaGraphUpload"},
    {"cuMemAllocAsync", "cudaMallocAsync"},
    {"cuMemAllocFromPoolAsync", "cudaMallocFromPoolAsync"},
    {"cuMemDiscardAndPrefetchBatchAsync", "cudaMemDiscardAndPrefetchBatchAsync"},
    {"cuMemDiscardBatchAsync", "cudaMemDiscardBatchAsync"},
    {"cuMemFreeAsync", "cudaFreeAsync"},
    {"cuMemGetDefaultMemPool", "cudaMemGetDefaultMemPool"},
    {"cuMemGetMemPool", "cudaMemGetMemPool"},
    {"cuMemPoolCreate", "cudaMemPoolCreate"},
    {"cuMemPoolDestroy", "cudaMemPoolDestroy"},
    {"cuMemPoolGetAccess", "cudaMemPoolGetAccess"},
    {"cuMemPoolGetAttribute", "cudaMemPoolGetAttribute"},
    {"cuMemPoolSetAccess", "cudaMemPoolSetAccess"},
    {"cuMemPoolSetAttribute", "cudaMemPoolSetAttribute"},
    {"cuMemPoolTrimTo", "cudaMemPoolTrimTo"},
    {"cuMemPrefetchBatchAsync", "cudaMemPrefetchBatchAsync"},
    {"cuMemRangeGetAttribute", "cudaMemRangeGetAttribute"},
    {"cuMemRangeGetAttributes", "cudaMemRangeGetAttributes"},
    {"cuMemSetMemPool", "cudaMemSetMemPool"},
    {"cuMemcpy3DBatchAsync", "cudaMemcpy3DBatchAsync", 12},
    {"cuMemcpy3DBatchAsync_v2", "cudaMemcpy3DBatchAsync"},
    {"cuMemcpyBatchAsync", "cudaMemcpyBatchAsync", 12},
    {"cuMemcpyBatchAsync_v2", "cudaMemcpyBatchAsync"},
    {"cuStreamBeginCaptureToGraph", "cudaStreamBeginCaptureToGraph"},
    {"cuStreamBeginCapture_v2", "cudaStreamBeginCapture"},
    {"cuStreamCopyAttributes", "cudaStreamCopyAttributes"},
    {"cuStreamEndCapture", "cudaStreamEndCapture"},
    {"cuStreamGetAttribute", "cudaStreamGetAttribute"},
    {"cuStreamGetCaptureInfo", "cudaStreamGetCaptureInfo", 12},
    {"cuStreamGetCaptureInfo_v2", "cudaStreamGetCaptureInfo_v2", 12},
    {"cuStreamGetCaptureInfo_v3", "cudaStreamGetCaptureInfo"},
    {"cuStreamIsCapturing", "cudaStreamIsCapturing"},
    {"cuStreamSetAttribute", "cudaStreamSetAttribute"},
    {"cuStreamUpdateCaptureDependencies", "cudaStreamUpdateCaptureDependencies", 12},
    {"cuStreamUpdateCaptureDependencies_v2", "cudaStreamUpdateCaptureDependencies"},
    {"cuThreadExchangeStreamCaptureMode", "cudaThreadExchangeStreamCaptureMode"},
    {"cuUserObjectCreate", "cudaUserObjectCreate"},
    {"cuUserObjectRelease", "cudaUserObjectRelease"},
    {"cuUserObjectRetain", "cudaUserObjectRetain"},
};

}  // namespace

void add_shared(Functions& f) {
  for (const Shared& s : kShared)
    if (const Address function = runtime_function(s.runtime, s.toolkit); function != nullptr)
      f.add(s.driver, function);
}

}  // namespace warpline::cuda::driver
