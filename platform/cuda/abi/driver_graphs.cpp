// Graphs, where their calls differ from the runtime's (driver_shared.cpp has the others): functions are named
// by their handles, copies are described by other structures, and contexts say which GPU is meant.
#include "platform/cuda/abi/driver_calls.h"
#include "platform/cuda/abi/graph_calls.h"

namespace warpline::cuda::driver {
namespace {

using NodeKind = GraphNode::Kind;
using runtime::add_node;
using runtime::given_parameters;
using runtime::set_node;
using runtime::set_step;

/// Calls `f` with the GPU of a context; null: of the current one.
template <class F>
int with_gpu_of(void* handle, F&& f) {
  return with_machine([&](Machine&) {
    const Context* context = Contexts::current();
    if (handle != nullptr) context = Contexts::instance().find(handle);
    if (context == nullptr || Contexts::instance().find(context) == nullptr)
      return Status::device_uninitialized;  // CUDA_ERROR_INVALID_CONTEXT
    return static_cast<Status>(f(context->device));
  });
}

// ---- Kernels

/// The parameters of a kernel node, of whichever version.
KernelNodeParameters plain(const DriverKernelNodeParameters& p) {
  KernelNodeParameters known = p.plain;
  if (known.function == nullptr) known.function = p.kernel;
  return known;
}
KernelNodeParameters plain(const KernelNodeParameters& p) {
  return p;
}
void* context_of(const DriverKernelNodeParameters* p) {
  return p == nullptr || p->plain.function != nullptr ? nullptr : p->context;
}
void* context_of(const KernelNodeParameters*) {
  return nullptr;
}

/// Makes an operation of the parameters of a kernel node.
struct MakeGrid {
  unsigned device = 0;
  template <class Parameters>
  Status operator()(Machine& m, const Parameters& given, Operation& operation) const {
    const KernelNodeParameters p = plain(given);
    if (!m.is_function(p.function)) return Status::invalid_resource_handle;
    auto* const function = static_cast<Function*>(p.function);
    const programs::Entry* entry = nullptr;
    if (const Status s = m.entry_of(*function, device, entry); s != Status::success) return s;
    if (p.arguments != nullptr && p.extra != nullptr) return Status::invalid_value;
    for (std::size_t n = 0; p.arguments != nullptr && n < entry->parameters.size(); ++n)
      if (p.arguments[n] == nullptr) return Status::invalid_value;
    return runtime::operation_of(m, function, p, device, operation);
  }
};

template <class Parameters>
int cuGraphAddKernelNode(void** node, void* graph, void* const* after, std::size_t count,
                         const Parameters* p) {
  return with_gpu_of(context_of(p), [&](unsigned device) {
    return add_node(NodeKind::kernel, node, graph, after, count, p, MakeGrid{device});
  });
}

template <class Parameters>
int cuGraphKernelNodeSetParams(void* node, const Parameters* p) {
  return with_gpu_of(context_of(p),
                     [&](unsigned device) { return set_node(NodeKind::kernel, node, p, MakeGrid{device}); });
}

template <class Parameters>
int cuGraphExecKernelNodeSetParams(void* exec, void* node, const Parameters* p) {
  return with_gpu_of(context_of(p), [&](unsigned device) {
    return set_step(NodeKind::kernel, exec, node, p, MakeGrid{device});
  });
}

int cuGraphKernelNodeGetParams(void* node, KernelNodeParameters* p) {
  return runtime::with_node_of(NodeKind::kernel, node, [&](Machine&, GraphNode& n) {
    if (p == nullptr) return Status::invalid_value;
    return runtime::kernel_parameters_of(n, *p);
  });
}

int cuGraphKernelNodeGetParams_v2(void* node, DriverKernelNodeParameters* p) {
  return runtime::with_node_of(NodeKind::kernel, node, [&](Machine&, GraphNode& n) {
    if (p == nullptr) return Status::invalid_value;
    if (const Status s = runtime::kernel_parameters_of(n, p->plain); s != Status::success) return s;
    p->kernel = nullptr;
    p->context = &Contexts::instance().primary(std::get<Grid>(n.operation).device);
    return Status::success;
  });
}

// ---- Copies and fills

struct MakeCopy {
  Status operator()(Machine& m, const Copy3d& p, Operation& operation) const {
    CopyRequest c;
    if (const Status s = request_of(m, p, c); s != Status::success) return s;
    const Status s = m.check(c);
    operation = c;
    return s;
  }
};

int cuGraphAddMemcpyNode(void** node, void* graph, void* const* after, std::size_t count, const Copy3d* p,
                         void* context) {
  return with_gpu_of(
      context, [&](unsigned) { return add_node(NodeKind::copy, node, graph, after, count, p, MakeCopy{}); });
}

int cuGraphMemcpyNodeSetParams(void* node, const Copy3d* p) {
  return set_node(NodeKind::copy, node, p, MakeCopy{});
}

int cuGraphExecMemcpyNodeSetParams(void* exec, void* node, const Copy3d* p, void* context) {
  return with_gpu_of(context, [&](unsigned) { return set_step(NodeKind::copy, exec, node, p, MakeCopy{}); });
}

/// A side of a copy that was captured, or given to the runtime: memory, though it may be that of an array.
CopySide3d memory_side(bool device, std::uint64_t address, std::uint64_t pitch, std::uint64_t slice,
                       std::uint64_t rows) {
  CopySide3d side{};
  side.type = device ? MemoryType::device : MemoryType::host;
  (device ? side.device : side.host) = address;
  side.pitch = pitch;
  side.height = slice == 0 || pitch == 0 ? rows : slice / pitch;
  return side;
}

int cuGraphMemcpyNodeGetParams(void* node, Copy3d* p) {
  return given_parameters(NodeKind::copy, node, p, [](const Operation& operation, Copy3d& out) {
    const auto& c = std::get<CopyRequest>(operation);
    const bool to = c.kind == CopyKind::host_to_device || c.kind == CopyKind::device_to_device;
    const bool from = c.kind == CopyKind::device_to_host || c.kind == CopyKind::device_to_device;
    out.from = memory_side(from, c.from, c.from_pitch, c.from_slice_pitch, c.height);
    out.to = memory_side(to, c.to, c.to_pitch, c.to_slice_pitch, c.height);
    out.width_bytes = c.width;
    out.height = c.height;
    out.depth = c.depth;
    return Status::success;
  });
}

int cuGraphAddMemsetNode(void** node, void* graph, void* const* after, std::size_t count,
                         const FillNodeParameters* p, void* context) {
  return with_gpu_of(context,
                     [&](unsigned) { return add_node(NodeKind::fill, node, graph, after, count, p); });
}

int cuGraphExecMemsetNodeSetParams(void* exec, void* node, const FillNodeParameters* p, void* context) {
  return with_gpu_of(context, [&](unsigned) { return set_step(NodeKind::fill, exec, node, p); });
}

int cuGraphConditionalHandleCreate(unsigned long long* handle, void* graph, void* context, unsigned value,
                                   unsigned flags) {
  return with_gpu_of(
      context, [&](unsigned device) { return runtime::add_condition(handle, graph, device, value, flags); });
}

// ---- Nodes of any kind

/// The runtime's function, for kinds of nodes whose parameters are the same there.
template <class F>
F* of_runtime(std::string_view name) {
  return reinterpret_cast<F*>(runtime_function(name));
}

int cuGraphAddNode_v2(void** node, void* graph, void* const* after, const runtime::EdgeData* edges,
                      std::size_t count, DriverNodeParameters* p) {
  const bool own = p != nullptr && p->kind >= 0 && p->kind <= static_cast<int>(NodeKind::fill);
  using F = int(void**, void*, void* const*, const void*, std::size_t, void*);
  if (!own) return of_runtime<F>("cudaGraphAddNode")(node, graph, after, edges, count, p);
  if (!runtime::are_plain(edges, count))
    return result(refuse("cuGraphAddNode with edges that carry data is not modelled"));
  switch (static_cast<NodeKind>(p->kind)) {
    case NodeKind::kernel: return cuGraphAddKernelNode(node, graph, after, count, &p->kernel);
    case NodeKind::copy:
      return cuGraphAddMemcpyNode(node, graph, after, count, &p->copy.copy, p->copy.context);
    default: return cuGraphAddMemsetNode(node, graph, after, count, &p->fill.fill, p->fill.context);
  }
}

int cuGraphAddNode(void** node, void* graph, void* const* after, std::size_t count, DriverNodeParameters* p) {
  return cuGraphAddNode_v2(node, graph, after, nullptr, count, p);
}

int cuGraphNodeSetParams(void* node, const DriverNodeParameters* p) {
  if (p != nullptr && p->kind == static_cast<int>(NodeKind::kernel))
    return cuGraphKernelNodeSetParams(node, &p->kernel);
  if (p != nullptr && p->kind == static_cast<int>(NodeKind::copy))
    return cuGraphMemcpyNodeSetParams(node, &p->copy.copy);
  return of_runtime<int(void*, const void*)>("cudaGraphNodeSetParams")(node, p);
}

int cuGraphExecNodeSetParams(void* exec, void* node, const DriverNodeParameters* p) {
  if (p != nullptr && p->kind == static_cast<int>(NodeKind::kernel))
    return cuGraphExecKernelNodeSetParams(exec, node, &p->kernel);
  if (p != nullptr && p->kind == static_cast<int>(NodeKind::copy))
    return cuGraphExecMemcpyNodeSetParams(exec, node, &p->copy.copy, p->copy.context);
  return of_runtime<int(void*, void*, const void*)>("cudaGraphExecNodeSetParams")(exec, node, p);
}

/// Its first version, which had no modes.
int cuStreamBeginCapture(void* stream) {
  constexpr int kGlobal = 0;
  return of_runtime<int(void*, int)>("cudaStreamBeginCapture")(stream, kGlobal);
}

}  // namespace

void add_graphs(Functions& f) {
  f.add("cuGraphAddKernelNode", &cuGraphAddKernelNode<KernelNodeParameters>);
  f.add("cuGraphAddKernelNode_v2", &cuGraphAddKernelNode<DriverKernelNodeParameters>);
  f.add("cuGraphKernelNodeSetParams", &cuGraphKernelNodeSetParams<KernelNodeParameters>);
  f.add("cuGraphKernelNodeSetParams_v2", &cuGraphKernelNodeSetParams<DriverKernelNodeParameters>);
  f.add("cuGraphExecKernelNodeSetParams", &cuGraphExecKernelNodeSetParams<KernelNodeParameters>);
  f.add("cuGraphExecKernelNodeSetParams_v2", &cuGraphExecKernelNodeSetParams<DriverKernelNodeParameters>);
  WARPLINE_ADD(f, cuGraphKernelNodeGetParams);
  WARPLINE_ADD(f, cuGraphKernelNodeGetParams_v2);
  WARPLINE_ADD(f, cuGraphAddMemcpyNode);
  WARPLINE_ADD(f, cuGraphMemcpyNodeSetParams);
  WARPLINE_ADD(f, cuGraphMemcpyNodeGetParams);
  WARPLINE_ADD(f, cuGraphExecMemcpyNodeSetParams);
  WARPLINE_ADD(f, cuGraphAddMemsetNode);
  WARPLINE_ADD(f, cuGraphExecMemsetNodeSetParams);
  WARPLINE_ADD(f, cuGraphConditionalHandleCreate);
  WARPLINE_ADD(f, cuGraphAddNode);
  WARPLINE_ADD(f, cuGraphAddNode_v2);
  WARPLINE_ADD(f, cuGraphNodeSetParams);
  WARPLINE_ADD(f, cuGraphExecNodeSetParams);
  WARPLINE_ADD(f, cuStreamBeginCapture);
}

}  // namespace warpline::cuda::driver
