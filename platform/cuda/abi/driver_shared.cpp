// Functions of the driver API that are the runtime's under another name: they take the same parameters, and
// structures of the same layout.
#include <iterator>

#include "platform/cuda/abi/driver_calls.h"
#include "platform/cuda/abi/runtime.h"

namespace warpline::cuda::driver {
namespace {

struct Shared {
  std::string_view driver, runtime;
};
constexpr Shared kShared[] = {
    {"cuDeviceCanAccessPeer", "cudaDeviceCanAccessPeer"},
    {"cuDeviceGetByPCIBusId", "cudaDeviceGetByPCIBusId"},
    {"cuDeviceGetDefaultMemPool", "cudaDeviceGetDefaultMemPool"},
    {"cuDeviceGetP2PAttribute", "cudaDeviceGetP2PAttribute"},
    {"cuDeviceGetPCIBusId", "cudaDeviceGetPCIBusId"},
    {"cuDeviceGetMemPool", "cudaDeviceGetMemPool"},
    {"cuDeviceGraphMemTrim", "cudaDeviceGraphMemTrim"},
    {"cuDeviceSetMemPool", "cudaDeviceSetMemPool"},
    {"cuGraphAddChildGraphNode", "cudaGraphAddChildGraphNode"},
    {"cuGraphAddEmptyNode", "cudaGraphAddEmptyNode"},
    {"cuGraphAddEventRecordNode", "cudaGraphAddEventRecordNode"},
    {"cuGraphAddEventWaitNode", "cudaGraphAddEventWaitNode"},
    {"cuGraphAddHostNode", "cudaGraphAddHostNode"},
    {"cuGraphAddMemFreeNode", "cudaGraphAddMemFreeNode"},
    {"cuGraphChildGraphNodeGetGraph", "cudaGraphChildGraphNodeGetGraph"},
    {"cuGraphClone", "cudaGraphClone"},
    {"cuGraphCreate", "cudaGraphCreate"},
    {"cuGraphDebugDotPrint", "cudaGraphDebugDotPrint"},
    {"cuGraphDestroy", "cudaGraphDestroy"},
    {"cuGraphDestroyNode", "cudaGraphDestroyNode"},
    {"cuGraphExecChildGraphNodeSetParams", "cudaGraphExecChildGraphNodeSetParams"},
    {"cuGraphExecDestroy", "cudaGraphExecDestroy"},
    {"cuGraphExecGetFlags", "cudaGraphExecGetFlags"},
    {"cuGraphExecHostNodeSetParams", "cudaGraphExecHostNodeSetParams"},
    {"cuGraphGetNodes", "cudaGraphGetNodes"},
    {"cuGraphGetRootNodes", "cudaGraphGetRootNodes"},
    {"cuGraphHostNodeGetParams", "cudaGraphHostNodeGetParams"},
    {"cuGraphHostNodeSetParams", "cudaGraphHostNodeSetParams"},
    {"cuGraphInstantiateWithFlags", "cudaGraphInstantiateWithFlags"},
    {"cuGraphLaunch", "cudaGraphLaunch"},
    {"cuGraphNodeFindInClone", "cudaGraphNodeFindInClone"},
    {"cuGraphNodeGetEnabled", "cudaGraphNodeGetEnabled"},
    {"cuGraphNodeGetType", "cudaGraphNodeGetType"},
    {"cuGraphNodeSetEnabled", "cudaGraphNodeSetEnabled"},
    {"cuGraphUpload", "cudaGraphUpload"},
    {"cuMemAllocAsync", "cudaMallocAsync"},
    {"cuMemAllocFromPoolAsync", "cudaMallocFromPoolAsync"},
    {"cuMemFreeAsync", "cudaFreeAsync"},
    {"cuMemPoolCreate", "cudaMemPoolCreate"},
    {"cuMemPoolDestroy", "cudaMemPoolDestroy"},
    {"cuMemPoolGetAccess", "cudaMemPoolGetAccess"},
    {"cuMemPoolGetAttribute", "cudaMemPoolGetAttribute"},
    {"cuMemPoolSetAccess", "cudaMemPoolSetAccess"},
    {"cuMemPoolSetAttribute", "cudaMemPoolSetAttribute"},
    {"cuMemPoolTrimTo", "cudaMemPoolTrimTo"},
    {"cuStreamBeginCapture_v2", "cudaStreamBeginCapture"},
    {"cuStreamEndCapture", "cudaStreamEndCapture"},
    {"cuStreamIsCapturing", "cudaStreamIsCapturing"},
    {"cuThreadExchangeStreamCaptureMode", "cudaThreadExchangeStreamCaptureMode"},
};

}  // namespace

void add_shared(Functions& f) {
  for (const Shared& s : kShared)
    if (const Address function = runtime_function(s.runtime); function != nullptr) f.add(s.driver, function);
}

}  // namespace warpline::cuda::driver
