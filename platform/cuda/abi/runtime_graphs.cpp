#include <fmt/format.h>

#include <algorithm>

#include "platform/cuda/abi/graph_calls.h"
#include "platform/cuda/abi/runtime_launches.h"
#include "platform/cuda/arrays.h"
#include "platform/cuda/shortcomings.h"
#include "rtl_models/document/files.h"

// Edges carry no data here: all of them wait for the whole node. Where a function takes edge data, null or
// zeros are fine.
namespace warpline::cuda::runtime {

std::optional<std::vector<GraphNode*>> nodes_of(const Graph& graph, void* const* handles, std::size_t count) {
  std::vector<GraphNode*> nodes;
  if (count != 0 && handles == nullptr) return std::nullopt;
  for (std::size_t n = 0; n < count; ++n) {
    GraphNode* const node = Graph::node_of(handles[n]);
    if (node == nullptr || node->owner != &graph) return std::nullopt;
    nodes.push_back(node);
  }
  return nodes;
}

Status operation_of(Machine& m, Function* function, const KernelNodeParameters& p, unsigned device,
                    Operation& operation) {
  if (function == nullptr) return Status::invalid_device_function;
  GridShape shape = shape_of(p.grid, p.block, p.shared_bytes);
  if (const auto* const before = std::get_if<Grid>(&operation)) {
    shape.cooperative = before->shape.cooperative;
    shape.cluster = before->shape.cluster;
    shape.dependent = before->shape.dependent;
  }
  Grid grid;
  const Status s = m.prepare(
      {function, shape, p.extra == nullptr ? laid_out(p.arguments) : laid_out_whole(p.extra)}, device, grid);
  operation = std::move(grid);
  return s;
}

Status operation_of(Machine& m, const KernelNodeParameters& p, Operation& operation) {
  return operation_of(m, Process::instance().function_of(p.function), p, this_thread().device, operation);
}

Status operation_of(Machine& m, const CopyParameters& p, Operation& operation) {
  CopyRequest c;
  if (const Status s = m.arrays().copy_of(p, c); s != Status::success) return s;
  const Status s = m.check(c);
  operation = c;
  return s;
}

Status operation_of(Machine& m, const FillNodeParameters& p, Operation& operation) {
  if (p.element_bytes != 1 && p.element_bytes != 2 && p.element_bytes != 4) return Status::invalid_value;
  const FillRequest f{address_of(p.to), p.value, p.element_bytes, p.width, p.height, p.pitch};
  operation = f;
  return m.check(f);
}

Status operation_of(Machine&, const HostNodeParameters& p, Operation& operation) {
  if (p.function == nullptr) return Status::invalid_value;
  operation = HostCall{[p] { p.function(p.data); }};
  return Status::success;
}

Status kernel_parameters_of(GraphNode& node, KernelNodeParameters& p) {
  auto& grid = std::get<Grid>(node.operation);
  if (grid.is_gone()) return Status::invalid_resource_handle;
  node.arguments.clear();
  for (const programs::Parameter& parameter : grid.entry->parameters)
    node.arguments.push_back(grid.parameters.data() + parameter.offset);
  p = {};
  p.function = grid.function;
  p.grid = AbiDim3(grid.shape.grid);
  p.block = AbiDim3(grid.shape.block);
  p.shared_bytes = grid.shape.shared_bytes;
  p.arguments = node.arguments.data();
  return Status::success;
}

Status parameters_of(const Operation& operation, CopyParameters& p) {
  const auto& c = std::get<CopyRequest>(operation);
  p = {};
  const auto rows = [&c](std::uint64_t slice, std::uint64_t pitch) {
    return slice == 0 || pitch == 0 ? c.height : slice / pitch;
  };
  p.to = {reinterpret_cast<void*>(c.to), c.to_pitch, c.width, rows(c.to_slice_pitch, c.to_pitch)};
  p.from = {reinterpret_cast<void*>(c.from), c.from_pitch, c.width, rows(c.from_slice_pitch, c.from_pitch)};
  p.extent = {c.width, c.height, c.depth};
  p.kind = static_cast<std::int32_t>(c.kind);
  return Status::success;
}

Status parameters_of(const Operation& operation, FillNodeParameters& p) {
  const auto& f = std::get<FillRequest>(operation);
  p = {reinterpret_cast<void*>(f.to), f.pitch, f.value, f.element_bytes, f.width, f.height};
  return Status::success;
}

Status parameters_of(const Operation&, HostNodeParameters&) {
  return Status::not_supported;
}

int add_condition(unsigned long long* handle, void* graph, unsigned device, unsigned value, unsigned flags) {
  constexpr unsigned kAssign = 1;
  return with_graph(graph, [&](Machine& m, Graph& g) {
    if (handle == nullptr || flags > kAssign) return Status::invalid_value;
    std::uint64_t address = 0;
    const Status s =
        m.add_condition(g, device, flags == kAssign ? std::optional(value) : std::nullopt, address);
    if (s == Status::success) *handle = address;
    return s;
  });
}

namespace {

CopyParameters copy_of_bytes(void* to, const void* from, std::size_t bytes, int direction) {
  CopyParameters p;
  p.to = {to, bytes, bytes, 1};
  p.from = {const_cast<void*>(from), bytes, bytes, 1};
  p.extent = {bytes, 1, 1};
  p.kind = direction;
  return p;
}

/// The address of byte `offset` of a variable, of which `bytes` bytes from there on are its own.
Status address_of_symbol(const void* symbol, std::size_t bytes, std::size_t offset, void*& address) {
  ModuleOnDevice::Variable v;
  const Status s = Process::instance().variable_of(symbol, this_thread().device, v);
  if (s != Status::success) return s;
  if (offset > v.bytes || bytes > v.bytes - offset) return Status::invalid_value;
  address = reinterpret_cast<void*>(v.address + offset);
  return Status::success;
}

/// Adds a node without parameters.
int add_plain(GraphNode::Kind kind, void** made, void* graph, void* const* after, std::size_t count,
              const Operation& operation) {
  return with_graph(graph, [&](Machine&, Graph& g) {
    const auto before = nodes_of(g, after, count);
    if (!before || made == nullptr) return Status::invalid_value;
    *made = &g.add(kind, operation, *before);
    return Status::success;
  });
}

/// Hands out handles: how many there are, and as many as there is room for; the rest of the room is null.
template <class Nodes>
Status hand_out(const Nodes& nodes, void** out, std::size_t* count) {
  if (count == nullptr) return Status::invalid_value;
  if (out != nullptr) {
    for (std::size_t n = 0; n < *count; ++n) out[n] = n < nodes.size() ? nodes[n] : nullptr;
    *count = std::min(*count, nodes.size());
  } else {
    *count = nodes.size();
  }
  return Status::success;
}

// ---- Graphs

int cudaGraphCreate(void** graph, unsigned flags) {
  return with_machine([&](Machine& m) {
    if (graph == nullptr || flags != 0) return Status::invalid_value;
    *graph = &m.add_graph(std::make_unique<Graph>());
    return Status::success;
  });
}

int cudaGraphDestroy(void* graph) {
  return with_graph(graph, [](Machine& m, Graph& g) {
    m.remove_graph(g);
    return Status::success;
  });
}

int cudaGraphClone(void** clone, void* graph) {
  return with_graph(graph, [&](Machine& m, Graph& g) {
    if (clone == nullptr || g.has_conditions()) return Status::invalid_value;
    *clone = &m.add_graph(g.clone());
    return Status::success;
  });
}

int cudaGraphNodeFindInClone(void** found, void* original, void* clone) {
  return with_graph(clone, [&](Machine&, Graph& g) {
    const GraphNode* const node = Graph::node_of(original);
    if (node == nullptr || found == nullptr) return Status::invalid_value;
    for (const auto& n : g.nodes())
      if (n->was == node->number) {
        *found = n.get();
        return Status::success;
      }
    return Status::invalid_value;
  });
}

int cudaGraphAddKernelNode(void** node, void* graph, void* const* after, std::size_t count,
                           const KernelNodeParameters* p) {
  return add_node(GraphNode::Kind::kernel, node, graph, after, count, p);
}

int cudaGraphKernelNodeGetParams(void* node, KernelNodeParameters* p) {
  return with_node_of(GraphNode::Kind::kernel, node, [&](Machine&, GraphNode& n) {
    if (p == nullptr) return Status::invalid_value;
    if (const Status s = kernel_parameters_of(n, *p); s != Status::success) return s;
    const void* const stub = Process::instance().stub_of(static_cast<const Function*>(p->function));
    if (stub != nullptr) p->function = const_cast<void*>(stub);
    return Status::success;
  });
}

int cudaGraphKernelNodeSetParams(void* node, const KernelNodeParameters* p) {
  return set_node(GraphNode::Kind::kernel, node, p);
}

int cudaGraphExecKernelNodeSetParams(void* exec, void* node, const KernelNodeParameters* p) {
  return set_step(GraphNode::Kind::kernel, exec, node, p);
}

int cudaGraphAddMemcpyNode(void** node, void* graph, void* const* after, std::size_t count,
                           const CopyParameters* p) {
  return add_node(GraphNode::Kind::copy, node, graph, after, count, p);
}

int cudaGraphAddMemcpyNode1D(void** node, void* graph, void* const* after, std::size_t count, void* to,
                             const void* from, std::size_t bytes, int direction) {
  const CopyParameters p = copy_of_bytes(to, from, bytes, direction);
  return add_node(GraphNode::Kind::copy, node, graph, after, count, &p);
}

int cudaGraphAddMemcpyNodeToSymbol(void** node, void* graph, void* const* after, std::size_t count,
                                   const void* symbol, const void* from, std::size_t bytes,
                                   std::size_t offset, int direction) {
  void* to = nullptr;
  if (const Status s = address_of_symbol(symbol, bytes, offset, to); s != Status::success) return noted(s);
  return cudaGraphAddMemcpyNode1D(node, graph, after, count, to, from, bytes, direction);
}

int cudaGraphAddMemcpyNodeFromSymbol(void** node, void* graph, void* const* after, std::size_t count,
                                     void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                     int direction) {
  void* from = nullptr;
  if (const Status s = address_of_symbol(symbol, bytes, offset, from); s != Status::success) return noted(s);
  return cudaGraphAddMemcpyNode1D(node, graph, after, count, to, from, bytes, direction);
}

int cudaGraphMemcpyNodeGetParams(void* node, CopyParameters* p) {
  return given_parameters(GraphNode::Kind::copy, node, p);
}

int cudaGraphMemcpyNodeSetParams(void* node, const CopyParameters* p) {
  return set_node(GraphNode::Kind::copy, node, p);
}

int cudaGraphMemcpyNodeSetParams1D(void* node, void* to, const void* from, std::size_t bytes, int direction) {
  const CopyParameters p = copy_of_bytes(to, from, bytes, direction);
  return set_node(GraphNode::Kind::copy, node, &p);
}

int cudaGraphExecMemcpyNodeSetParams(void* exec, void* node, const CopyParameters* p) {
  return set_step(GraphNode::Kind::copy, exec, node, p);
}

int cudaGraphExecMemcpyNodeSetParams1D(void* exec, void* node, void* to, const void* from, std::size_t bytes,
                                       int direction) {
  const CopyParameters p = copy_of_bytes(to, from, bytes, direction);
  return set_step(GraphNode::Kind::copy, exec, node, &p);
}

int cudaGraphMemcpyNodeSetParamsToSymbol(void* node, const void* symbol, const void* from, std::size_t bytes,
                                         std::size_t offset, int direction) {
  void* to = nullptr;
  if (const Status s = address_of_symbol(symbol, bytes, offset, to); s != Status::success) return noted(s);
  return cudaGraphMemcpyNodeSetParams1D(node, to, from, bytes, direction);
}

int cudaGraphMemcpyNodeSetParamsFromSymbol(void* node, void* to, const void* symbol, std::size_t bytes,
                                           std::size_t offset, int direction) {
  void* from = nullptr;
  if (const Status s = address_of_symbol(symbol, bytes, offset, from); s != Status::success) return noted(s);
  return cudaGraphMemcpyNodeSetParams1D(node, to, from, bytes, direction);
}

int cudaGraphExecMemcpyNodeSetParamsToSymbol(void* exec, void* node, const void* symbol, const void* from,
                                             std::size_t bytes, std::size_t offset, int direction) {
  void* to = nullptr;
  if (const Status s = address_of_symbol(symbol, bytes, offset, to); s != Status::success) return noted(s);
  return cudaGraphExecMemcpyNodeSetParams1D(exec, node, to, from, bytes, direction);
}

int cudaGraphExecMemcpyNodeSetParamsFromSymbol(void* exec, void* node, void* to, const void* symbol,
                                               std::size_t bytes, std::size_t offset, int direction) {
  void* from = nullptr;
  if (const Status s = address_of_symbol(symbol, bytes, offset, from); s != Status::success) return noted(s);
  return cudaGraphExecMemcpyNodeSetParams1D(exec, node, to, from, bytes, direction);
}

int cudaGraphAddMemsetNode(void** node, void* graph, void* const* after, std::size_t count,
                           const FillNodeParameters* p) {
  return add_node(GraphNode::Kind::fill, node, graph, after, count, p);
}

int cudaGraphMemsetNodeGetParams(void* node, FillNodeParameters* p) {
  return given_parameters(GraphNode::Kind::fill, node, p);
}

int cudaGraphMemsetNodeSetParams(void* node, const FillNodeParameters* p) {
  return set_node(GraphNode::Kind::fill, node, p);
}

int cudaGraphExecMemsetNodeSetParams(void* exec, void* node, const FillNodeParameters* p) {
  return set_step(GraphNode::Kind::fill, exec, node, p);
}

int cudaGraphAddHostNode(void** node, void* graph, void* const* after, std::size_t count,
                         const HostNodeParameters* p) {
  return add_node(GraphNode::Kind::host, node, graph, after, count, p);
}

int cudaGraphHostNodeGetParams(void* node, HostNodeParameters* p) {
  return given_parameters(GraphNode::Kind::host, node, p);
}

int cudaGraphHostNodeSetParams(void* node, const HostNodeParameters* p) {
  return set_node(GraphNode::Kind::host, node, p);
}

int cudaGraphExecHostNodeSetParams(void* exec, void* node, const HostNodeParameters* p) {
  return set_step(GraphNode::Kind::host, exec, node, p);
}

int cudaGraphAddChildGraphNode(void** node, void* graph, void* const* after, std::size_t count, void* child) {
  return with_graph(graph, [&](Machine& m, Graph& g) {
    const auto before = nodes_of(g, after, count);
    if (!before || !m.is_graph(child) || child == graph || node == nullptr ||
        static_cast<Graph*>(child)->has_conditions())
      return Status::invalid_value;
    GraphNode& added = g.add(GraphNode::Kind::child, Nothing{}, *before);
    added.child = static_cast<Graph*>(child)->clone();
    *node = &added;
    return Status::success;
  });
}

int cudaGraphExecChildGraphNodeSetParams(void* exec, void* node, void* child) {
  return with_exec(exec, [&](Machine& m, GraphExec& e) {
    const GraphNode* const n = Graph::node_of(node);
    if (n == nullptr || n->kind != GraphNode::Kind::child || !m.is_graph(child) || e.find(*n) == nullptr)
      return Status::invalid_value;
    return e.change_child(*n, *static_cast<Graph*>(child)) ? Status::success : Status::invalid_value;
  });
}

int cudaGraphAddEmptyNode(void** node, void* graph, void* const* after, std::size_t count) {
  return add_plain(GraphNode::Kind::empty, node, graph, after, count, Nothing{});
}

/// What a node does that records or waits for an event.
Status event_operation(Machine& m, GraphNode::Kind kind, void* event, Operation& operation) {
  if (!m.is_event(event)) return Status::invalid_resource_handle;
  const std::shared_ptr<Event> kept = m.kept(*static_cast<Event*>(event));
  if (kind == GraphNode::Kind::record_event) {
    operation = RecordEvent{kept};
  } else {
    operation = WaitForEvent{kept};
  }
  return Status::success;
}

int add_event_node(GraphNode::Kind kind, void** node, void* graph, void* const* after, std::size_t count,
                   void* event) {
  return add_node(kind, node, graph, after, count, &event,
                  [kind](Machine& m, void* e, Operation& o) { return event_operation(m, kind, e, o); });
}

int event_of_node(GraphNode::Kind kind, void* node, void** event) {
  return with_node_of(kind, node, [&](Machine&, GraphNode& n) {
    if (event == nullptr) return Status::invalid_value;
    *event = kind == GraphNode::Kind::record_event ? std::get<RecordEvent>(n.operation).event.get()
                                                   : std::get<WaitForEvent>(n.operation).event.get();
    return Status::success;
  });
}

int set_event_of_node(GraphNode::Kind kind, void* node, void* event) {
  return set_node(kind, node, &event,
                  [kind](Machine& m, void* e, Operation& o) { return event_operation(m, kind, e, o); });
}

int set_event_of_step(GraphNode::Kind kind, void* exec, void* node, void* event) {
  return set_step(kind, exec, node, &event,
                  [kind](Machine& m, void* e, Operation& o) { return event_operation(m, kind, e, o); });
}

int cudaGraphEventRecordNodeGetEvent(void* node, void** event) {
  return event_of_node(GraphNode::Kind::record_event, node, event);
}

int cudaGraphEventRecordNodeSetEvent(void* node, void* event) {
  return set_event_of_node(GraphNode::Kind::record_event, node, event);
}

int cudaGraphExecEventRecordNodeSetEvent(void* exec, void* node, void* event) {
  return set_event_of_step(GraphNode::Kind::record_event, exec, node, event);
}

int cudaGraphEventWaitNodeGetEvent(void* node, void** event) {
  return event_of_node(GraphNode::Kind::wait_event, node, event);
}

int cudaGraphEventWaitNodeSetEvent(void* node, void* event) {
  return set_event_of_node(GraphNode::Kind::wait_event, node, event);
}

int cudaGraphExecEventWaitNodeSetEvent(void* exec, void* node, void* event) {
  return set_event_of_step(GraphNode::Kind::wait_event, exec, node, event);
}

int cudaGraphAddEventRecordNode(void** node, void* graph, void* const* after, std::size_t count,
                                void* event) {
  return add_event_node(GraphNode::Kind::record_event, node, graph, after, count, event);
}

int cudaGraphAddEventWaitNode(void** node, void* graph, void* const* after, std::size_t count, void* event) {
  return add_event_node(GraphNode::Kind::wait_event, node, graph, after, count, event);
}

int cudaGraphAddMemAllocNode(void** node, void* graph, void* const* after, std::size_t count,
                             AllocationNodeParameters* p) {
  return with_graph(graph, [&](Machine& m, Graph& g) {
    const auto before = nodes_of(g, after, count);
    if (!before || p == nullptr || node == nullptr) return Status::invalid_value;
    if (p->pool.location < 0 || static_cast<unsigned>(p->pool.location) >= m.devices())
      return Status::invalid_value;
    const unsigned device = static_cast<unsigned>(p->pool.location);
    for (std::size_t n = 0; n < p->access_count; ++n) {
      if (p->accesses == nullptr) return Status::invalid_value;
      const int other = p->accesses[n].location;
      if (other < 0 || static_cast<unsigned>(other) >= m.devices()) return Status::invalid_device;
      if (static_cast<unsigned>(other) != device && !m.can_reach(static_cast<unsigned>(other), device))
        return Status::peer_access_unsupported;
    }
    GraphNode* added = nullptr;
    if (const Status s = m.allocate_in_graph(g, *before, device, p->bytes, added); s != Status::success)
      return s;
    for (std::size_t n = 0; n < p->access_count; ++n)
      if (p->accesses[n].flags != 0)
        m.share_with_peer(*added, static_cast<unsigned>(p->accesses[n].location));
    p->address = reinterpret_cast<void*>(added->address);
    added->given = bytes_of_parameters(*p);
    *node = added;
    return Status::success;
  });
}

int cudaGraphMemAllocNodeGetParams(void* node, AllocationNodeParameters* p) {
  return with_node_of(GraphNode::Kind::allocate, node, [&](Machine&, GraphNode& n) {
    if (p == nullptr) return Status::invalid_value;
    *p = {};
    if (n.given.size() == sizeof *p) std::memcpy(static_cast<void*>(p), n.given.data(), sizeof *p);
    p->bytes = n.bytes;
    p->address = reinterpret_cast<void*>(n.address);
    return Status::success;
  });
}

int cudaGraphAddMemFreeNode(void** node, void* graph, void* const* after, std::size_t count, void* pointer) {
  const int status = add_plain(GraphNode::Kind::free, node, graph, after, count, Nothing{});
  if (status == 0) static_cast<GraphNode*>(*node)->address = address_of(pointer);
  return status;
}

int cudaGraphMemFreeNodeGetParams(void* node, void* pointer) {
  return with_node_of(GraphNode::Kind::free, node, [&](Machine&, GraphNode& n) {
    if (pointer == nullptr) return Status::invalid_value;
    std::memcpy(pointer, &n.address, sizeof n.address);
    return Status::success;
  });
}

int cudaGraphConditionalHandleCreate(unsigned long long* handle, void* graph, unsigned value,
                                     unsigned flags) {
  return add_condition(handle, graph, this_thread().device, value, flags);
}

int add_conditional_node(void** node, void* graph, void* const* after, std::size_t count,
                         ConditionalNodeParameters& p) {
  return with_graph(graph, [&](Machine&, Graph& g) {
    const auto before = nodes_of(g, after, count);
    const auto condition = Graph::condition_of(p.condition);
    if (!before || condition == nullptr || p.choice < 0 || p.choice > 2) return Status::invalid_value;
    const auto choice = static_cast<GraphNode::Choice>(p.choice);
    constexpr unsigned kMostBodies = 1U << 16U;  // a bound of ours: CUDA names none
    const unsigned most = choice == GraphNode::Choice::loop      ? 1
                          : choice == GraphNode::Choice::if_else ? 2
                                                                 : kMostBodies;
    if (p.bodies == 0 || p.bodies > most) return Status::invalid_value;
    GraphNode& added = g.add(GraphNode::Kind::conditional, Nothing{}, *before);
    added.choice = choice;
    added.condition = condition;
    for (unsigned n = 0; n < p.bodies; ++n) {
      added.bodies.push_back(std::make_unique<Graph>());
      added.body_handles.push_back(added.bodies.back().get());
    }
    p.body_handles = added.body_handles.data();
    *node = &added;
    return Status::success;
  });
}

/// Says that something of a general function is not modelled.
int refuse(const std::string& what) {
  Shortcomings::instance().note(what, what + " is not modelled: it returns cudaErrorNotSupported");
  return noted(Status::not_supported);
}

/// `cudaGraphNodeType`s that have no part in GraphNode::Kind are those between.
bool is_kind(const NodeParameters& p) {
  return p.kind >= 0 && p.kind <= static_cast<int>(GraphNode::Kind::conditional);
}

int cudaGraphAddNode(void** node, void* graph, void* const* after, const EdgeData* edges, std::size_t count,
                     NodeParameters* p) {
  if (node == nullptr || p == nullptr || !is_kind(*p)) return noted(Status::invalid_value);
  if (!are_plain(edges, count)) return refuse("cudaGraphAddNode with edges that carry data");
  switch (static_cast<GraphNode::Kind>(p->kind)) {
    case GraphNode::Kind::kernel: return cudaGraphAddKernelNode(node, graph, after, count, &p->kernel);
    case GraphNode::Kind::copy: return cudaGraphAddMemcpyNode(node, graph, after, count, &p->copy.copy);
    case GraphNode::Kind::fill: return cudaGraphAddMemsetNode(node, graph, after, count, &p->fill);
    case GraphNode::Kind::host: return cudaGraphAddHostNode(node, graph, after, count, &p->host);
    case GraphNode::Kind::child:
      if (p->child.is_moved != 0) return refuse("cudaGraphAddNode of a graph that is moved into another");
      return cudaGraphAddChildGraphNode(node, graph, after, count, p->child.graph);
    case GraphNode::Kind::empty: return cudaGraphAddEmptyNode(node, graph, after, count);
    case GraphNode::Kind::wait_event: return cudaGraphAddEventWaitNode(node, graph, after, count, p->event);
    case GraphNode::Kind::record_event:
      return cudaGraphAddEventRecordNode(node, graph, after, count, p->event);
    case GraphNode::Kind::allocate: return cudaGraphAddMemAllocNode(node, graph, after, count, &p->allocate);
    case GraphNode::Kind::free: return cudaGraphAddMemFreeNode(node, graph, after, count, p->free);
    case GraphNode::Kind::conditional: return add_conditional_node(node, graph, after, count, p->conditional);
  }
  return refuse(fmt::format("cudaGraphAddNode of kind {}", p->kind));
}

int cudaGraphNodeSetParams(void* node, const NodeParameters* p) {
  if (p == nullptr || !is_kind(*p)) return noted(Status::invalid_value);
  switch (static_cast<GraphNode::Kind>(p->kind)) {
    case GraphNode::Kind::kernel: return cudaGraphKernelNodeSetParams(node, &p->kernel);
    case GraphNode::Kind::copy: return cudaGraphMemcpyNodeSetParams(node, &p->copy.copy);
    case GraphNode::Kind::fill: return cudaGraphMemsetNodeSetParams(node, &p->fill);
    case GraphNode::Kind::host: return cudaGraphHostNodeSetParams(node, &p->host);
    case GraphNode::Kind::wait_event: return cudaGraphEventWaitNodeSetEvent(node, p->event);
    case GraphNode::Kind::record_event: return cudaGraphEventRecordNodeSetEvent(node, p->event);
    default: return refuse(fmt::format("cudaGraphNodeSetParams of kind {}", p->kind));
  }
}

int cudaGraphExecNodeSetParams(void* exec, void* node, const NodeParameters* p) {
  if (p == nullptr || !is_kind(*p)) return noted(Status::invalid_value);
  switch (static_cast<GraphNode::Kind>(p->kind)) {
    case GraphNode::Kind::kernel: return cudaGraphExecKernelNodeSetParams(exec, node, &p->kernel);
    case GraphNode::Kind::copy: return cudaGraphExecMemcpyNodeSetParams(exec, node, &p->copy.copy);
    case GraphNode::Kind::fill: return cudaGraphExecMemsetNodeSetParams(exec, node, &p->fill);
    case GraphNode::Kind::host: return cudaGraphExecHostNodeSetParams(exec, node, &p->host);
    case GraphNode::Kind::child: return cudaGraphExecChildGraphNodeSetParams(exec, node, p->child.graph);
    case GraphNode::Kind::wait_event: return cudaGraphExecEventWaitNodeSetEvent(exec, node, p->event);
    case GraphNode::Kind::record_event: return cudaGraphExecEventRecordNodeSetEvent(exec, node, p->event);
    default: return refuse(fmt::format("cudaGraphExecNodeSetParams of kind {}", p->kind));
  }
}

/// `cudaGraphMemAttributeType`. What nodes have is what is reserved: it is there as long as the graph is.
enum GraphMemoryAttribute : int { kUsedNow, kUsedMost, kReservedNow, kReservedMost };

int cudaDeviceGetGraphMemAttribute(int device, int attribute, void* value) {
  return with_device(device, [&](Machine& m) {
    if (value == nullptr || attribute < kUsedNow || attribute > kReservedMost) return Status::invalid_value;
    std::uint64_t now = 0, most = 0;
    m.graph_memory(static_cast<unsigned>(device), now, most);
    std::memcpy(value, attribute == kUsedNow || attribute == kReservedNow ? &now : &most, sizeof now);
    return Status::success;
  });
}

int cudaDeviceSetGraphMemAttribute(int device, int attribute, const void* value) {
  return with_device(device, [&](Machine& m) {
    std::uint64_t given = 0;
    if (value != nullptr) std::memcpy(&given, value, sizeof given);
    if (value == nullptr || given != 0 || (attribute != kUsedMost && attribute != kReservedMost))
      return Status::invalid_value;
    m.forget_most_graph_memory(static_cast<unsigned>(device));
    return Status::success;
  });
}

int cudaDeviceGraphMemTrim(int device) {
  return with_device(device, [](Machine&) { return Status::success; });
}

int cudaGraphNodeGetType(void* node, int* type) {
  return with_node(node, [&](Machine&, GraphNode& n) {
    if (type == nullptr) return Status::invalid_value;
    *type = static_cast<int>(n.kind);
    return Status::success;
  });
}

int cudaGraphChildGraphNodeGetGraph(void* node, void** graph) {
  return with_node_of(GraphNode::Kind::child, node, [&](Machine&, GraphNode& n) {
    if (graph == nullptr) return Status::invalid_value;
    if (n.child == nullptr) return Status::not_supported;  // it was launched, and has no nodes of its own
    *graph = n.child.get();
    return Status::success;
  });
}

int cudaGraphGetNodes(void* graph, void** nodes, std::size_t* count) {
  return with_graph(graph, [&](Machine&, Graph& g) {
    std::vector<GraphNode*> all;
    for (const auto& n : g.nodes()) all.push_back(n.get());
    return hand_out(all, nodes, count);
  });
}

int cudaGraphGetRootNodes(void* graph, void** nodes, std::size_t* count) {
  return with_graph(graph, [&](Machine&, Graph& g) {
    std::vector<GraphNode*> roots;
    for (const auto& n : g.nodes())
      if (n->after.empty()) roots.push_back(n.get());
    return hand_out(roots, nodes, count);
  });
}

int cudaGraphGetEdges(void* graph, void** from, void** to, EdgeData* edges, std::size_t* count) {
  return with_graph(graph, [&](Machine&, Graph& g) {
    std::vector<GraphNode*> begins, ends;
    for (const auto& n : g.nodes())
      for (GraphNode* before : n->after) {
        begins.push_back(before);
        ends.push_back(n.get());
      }
    if (count == nullptr) return Status::invalid_value;
    std::size_t room = *count;
    if (from != nullptr) (void)hand_out(begins, from, &room);
    if (edges != nullptr) std::fill_n(edges, std::min(*count, begins.size()), EdgeData{});
    return hand_out(ends, to, count);
  });
}

int cudaGraphNodeGetDependencies(void* node, void** nodes, EdgeData* edges, std::size_t* count) {
  return with_node(node, [&](Machine&, GraphNode& n) {
    if (edges != nullptr && count != nullptr)
      std::fill_n(edges, std::min(*count, n.after.size()), EdgeData{});
    return hand_out(n.after, nodes, count);
  });
}

int cudaGraphNodeGetDependentNodes(void* node, void** nodes, EdgeData* edges, std::size_t* count) {
  return with_node(node, [&](Machine&, GraphNode& n) {
    std::vector<GraphNode*> behind;
    for (const auto& other : n.owner->nodes())
      if (std::find(other->after.begin(), other->after.end(), &n) != other->after.end())
        behind.push_back(other.get());
    if (edges != nullptr && count != nullptr) std::fill_n(edges, std::min(*count, behind.size()), EdgeData{});
    return hand_out(behind, nodes, count);
  });
}

int cudaGraphAddDependencies(void* graph, void* const* from, void* const* to, const EdgeData* edges,
                             std::size_t count) {
  return with_graph(graph, [&](Machine&, Graph& g) {
    const auto begins = nodes_of(g, from, count), ends = nodes_of(g, to, count);
    if (!begins || !ends) return Status::invalid_value;
    if (!are_plain(edges, count)) return Status::not_supported;
    for (std::size_t n = 0; n < count; ++n) {
      auto& after = (*ends)[n]->after;
      if (std::find(after.begin(), after.end(), (*begins)[n]) != after.end()) return Status::invalid_value;
      after.push_back((*begins)[n]);
    }
    return Status::success;
  });
}

int cudaGraphRemoveDependencies(void* graph, void* const* from, void* const* to, const EdgeData*,
                                std::size_t count) {
  return with_graph(graph, [&](Machine&, Graph& g) {
    const auto begins = nodes_of(g, from, count), ends = nodes_of(g, to, count);
    if (!begins || !ends) return Status::invalid_value;
    for (std::size_t n = 0; n < count; ++n) {
      auto& after = (*ends)[n]->after;
      const auto found = std::find(after.begin(), after.end(), (*begins)[n]);
      if (found == after.end()) return Status::invalid_value;
      after.erase(found);
    }
    return Status::success;
  });
}

int cudaGraphDestroyNode(void* node) {
  return with_node(node, [](Machine&, GraphNode& n) {
    n.owner->remove(n);
    return Status::success;
  });
}

int cudaGraphDebugDotPrint(void* graph, const char* path, unsigned) {
  if (path == nullptr) return noted(Status::invalid_value);
  return with_graph(graph, [&](Machine& m, Graph& g) {
    static constexpr const char* kKinds[] = {"kernel", "memcpy", "memset", "host",       "graph",
                                             "empty",  "wait",   "record", "",           "",
                                             "alloc",  "free",   "",       "conditional"};
    std::string text = "digraph graph_of_cuda {\n";
    for (const auto& n : g.nodes()) {
      const auto* const grid = std::get_if<Grid>(&n->operation);
      text += fmt::format(
          "  n{} [label=\"{}\"];\n", n->number,
          grid == nullptr || grid->is_gone() ? kKinds[static_cast<unsigned>(n->kind)] : grid->entry->name);
      for (const GraphNode* before : n->after)
        text += fmt::format("  n{} -> n{};\n", before->number, n->number);
    }
    const std::string why = write_file_atomically(path, text + "}\n");
    if (why.empty()) return Status::success;
    m.tell(std::string(path) + ": " + why);
    return Status::operating_system;
  });
}

// ---- Graphs as they are launched

int cudaGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long flags) {
  return with_graph(graph, [&](Machine& m, Graph& g) {
    if (exec == nullptr) return Status::invalid_value;
    if (!g.can_be_launched()) return Status::invalid_value;
    GraphExec& made = m.add_exec(g);
    made.flags = flags;
    *exec = &made;
    return Status::success;
  });
}

int cudaGraphInstantiate(void** exec, void* graph, unsigned long long flags) {
  return cudaGraphInstantiateWithFlags(exec, graph, flags);
}

/// `cudaGraphInstantiateParams`.
struct InstantiateParameters {
  unsigned long long flags = 0;
  void* upload_stream = nullptr;
  void* error_node = nullptr;
  std::int32_t result = 0;
};

int cudaGraphInstantiateWithParams(void** exec, void* graph, InstantiateParameters* p) {
  if (p == nullptr) return noted(Status::invalid_value);
  const int status = cudaGraphInstantiateWithFlags(exec, graph, p->flags);
  p->error_node = nullptr;
  p->result = status == 0 ? 0 : 1;
  return status;
}

int cudaGraphExecDestroy(void* exec) {
  return with_exec(exec, [](Machine& m, GraphExec& e) {
    m.remove_exec(e);
    return Status::success;
  });
}

int cudaGraphExecGetFlags(void* exec, unsigned long long* flags) {
  return with_exec(exec, [&](Machine&, GraphExec& e) {
    if (flags == nullptr) return Status::invalid_value;
    *flags = e.flags;
    return Status::success;
  });
}

/// `cudaGraphExecUpdateResultInfo`.
struct UpdateResult {
  std::int32_t result = 0;
  void* node = nullptr;
  void* from = nullptr;
};

int cudaGraphExecUpdate(void* exec, void* graph, UpdateResult* result) {
  constexpr std::int32_t kOtherShape = 2, kOtherKind = 3;
  return with_exec(exec, [&](Machine& m, GraphExec& e) {
    if (!m.is_graph(graph)) return Status::invalid_value;
    bool same_shape = false;
    const GraphNode* const node = e.update(*static_cast<Graph*>(graph), same_shape);
    if (result != nullptr)
      *result = {same_shape        ? 0
                 : node != nullptr ? kOtherKind
                                   : kOtherShape,
                 const_cast<GraphNode*>(node), nullptr};
    return same_shape ? Status::success : Status::graph_exec_update_failure;
  });
}

int cudaGraphNodeSetEnabled(void* exec, void* node, unsigned enabled) {
  return with_exec(exec, [&](Machine&, GraphExec& e) {
    const GraphNode* const n = Graph::node_of(node);
    if (n == nullptr || e.find(*n) == nullptr ||
        (n->kind != GraphNode::Kind::kernel && n->kind != GraphNode::Kind::copy &&
         n->kind != GraphNode::Kind::fill))
      return Status::invalid_value;
    e.change(*n, [&](GraphExec::Step& step) { step.enabled = enabled != 0; });
    return Status::success;
  });
}

int cudaGraphNodeGetEnabled(void* exec, void* node, unsigned* enabled) {
  return with_exec(exec, [&](Machine&, GraphExec& e) {
    const GraphNode* const n = Graph::node_of(node);
    const GraphExec::Step* const step = n == nullptr ? nullptr : e.find(*n);
    if (step == nullptr || enabled == nullptr) return Status::invalid_value;
    *enabled = step->enabled ? 1 : 0;
    return Status::success;
  });
}

int cudaGraphUpload(void* exec, void* stream) {
  return with_exec(exec, [&](Machine& m, GraphExec&) {
    return stream_of(m, stream) == nullptr ? Status::invalid_resource_handle : Status::success;
  });
}

int cudaGraphLaunch(void* exec, void* stream) {
  return with_exec(exec, [&](Machine& m, GraphExec& e) {
    Stream* const s = stream_of(m, stream);
    return s == nullptr ? Status::invalid_resource_handle : m.launch(e, *s);
  });
}

// ---- Capture

int cudaStreamBeginCapture(void* stream, int mode) {
  if (mode < 0 || mode > 2) return noted(Status::invalid_value);
  return with_stream(stream, [&](Machine& m, Stream& s) { return m.begin_capture(s, mode, nullptr, {}); });
}

int cudaStreamBeginCaptureToGraph(void* stream, void* graph, void* const* after, const EdgeData* edges,
                                  std::size_t count, int mode) {
  if (mode < 0 || mode > 2) return noted(Status::invalid_value);
  return with_graph(graph, [&](Machine& m, Graph& g) {
    Stream* const s = stream_of(m, stream);
    const auto before = nodes_of(g, after, count);
    if (s == nullptr || !before) return Status::invalid_value;
    return are_plain(edges, count) ? m.begin_capture(*s, mode, &g, *before) : Status::not_supported;
  });
}

int cudaStreamEndCapture(void* stream, void** graph) {
  return with_stream(stream, [&](Machine& m, Stream& s) {
    Graph* made = nullptr;
    const Status status = m.end_capture(s, made);
    if (graph != nullptr) *graph = made;
    return status;
  });
}

/// As programs call it: 0 it does not capture, 1 it does, 2 the capture cannot end well.
int capture_status(const Stream& s) {
  return s.capture == nullptr ? 0 : s.capture->invalid ? 2 : 1;
}

int cudaStreamIsCapturing(void* stream, int* status) {
  return with_stream(stream, [&](Machine&, Stream& s) {
    if (status == nullptr) return Status::invalid_value;
    *status = capture_status(s);
    return Status::success;
  });
}

int cudaStreamGetCaptureInfo(void* stream, int* status, unsigned long long* id, void** graph,
                             void* const** nodes, const EdgeData** edges, std::size_t* count) {
  return with_stream(stream, [&](Machine&, Stream& s) {
    if (status == nullptr) return Status::invalid_value;
    *status = capture_status(s);
    if (s.capture == nullptr) return Status::success;
    if (id != nullptr) *id = s.capture->id;
    if (graph != nullptr) *graph = s.capture->graph;
    if (nodes != nullptr) *nodes = reinterpret_cast<void* const*>(s.frontier.data());
    if (edges != nullptr) *edges = nullptr;
    if (count != nullptr) *count = s.frontier.size();
    return Status::success;
  });
}

int cudaStreamUpdateCaptureDependencies(void* stream, void** nodes, const EdgeData* edges, std::size_t count,
                                        unsigned flags) {
  return with_stream(stream, [&](Machine&, Stream& s) {
    if (s.capture == nullptr) return Status::illegal_state;
    const auto given = nodes_of(*s.capture->graph, nodes, count);
    if (!given || flags > 1) return Status::invalid_value;
    if (!are_plain(edges, count)) return Status::not_supported;
    if (flags == 1) s.frontier.clear();
    for (GraphNode* node : *given)
      if (std::find(s.frontier.begin(), s.frontier.end(), node) == s.frontier.end())
        s.frontier.push_back(node);
    return Status::success;
  });
}

int cudaThreadExchangeStreamCaptureMode(int* mode) {
  if (mode == nullptr || *mode < 0 || *mode > 2) return noted(Status::invalid_value);
  std::swap(this_thread().capture_mode, *mode);
  return noted(Status::success);
}

}  // namespace

void add_graphs(Functions& f) {
  WARPLINE_ADD(f, cudaGraphCreate);
  WARPLINE_ADD(f, cudaGraphDestroy);
  WARPLINE_ADD(f, cudaGraphClone);
  WARPLINE_ADD(f, cudaGraphNodeFindInClone);
  WARPLINE_ADD(f, cudaGraphAddKernelNode);
  WARPLINE_ADD(f, cudaGraphKernelNodeGetParams);
  WARPLINE_ADD(f, cudaGraphKernelNodeSetParams);
  WARPLINE_ADD(f, cudaGraphExecKernelNodeSetParams);
  WARPLINE_ADD(f, cudaGraphAddMemcpyNode);
  WARPLINE_ADD(f, cudaGraphAddMemcpyNode1D);
  WARPLINE_ADD(f, cudaGraphAddMemcpyNodeToSymbol);
  WARPLINE_ADD(f, cudaGraphAddMemcpyNodeFromSymbol);
  WARPLINE_ADD(f, cudaGraphMemcpyNodeGetParams);
  WARPLINE_ADD(f, cudaGraphMemcpyNodeSetParams);
  WARPLINE_ADD(f, cudaGraphMemcpyNodeSetParams1D);
  WARPLINE_ADD(f, cudaGraphExecMemcpyNodeSetParams);
  WARPLINE_ADD(f, cudaGraphExecMemcpyNodeSetParams1D);
  WARPLINE_ADD(f, cudaGraphMemcpyNodeSetParamsToSymbol);
  WARPLINE_ADD(f, cudaGraphMemcpyNodeSetParamsFromSymbol);
  WARPLINE_ADD(f, cudaGraphExecMemcpyNodeSetParamsToSymbol);
  WARPLINE_ADD(f, cudaGraphExecMemcpyNodeSetParamsFromSymbol);
  WARPLINE_ADD(f, cudaGraphAddMemsetNode);
  WARPLINE_ADD(f, cudaGraphMemsetNodeGetParams);
  WARPLINE_ADD(f, cudaGraphMemsetNodeSetParams);
  WARPLINE_ADD(f, cudaGraphExecMemsetNodeSetParams);
  WARPLINE_ADD(f, cudaGraphAddHostNode);
  WARPLINE_ADD(f, cudaGraphHostNodeGetParams);
  WARPLINE_ADD(f, cudaGraphHostNodeSetParams);
  WARPLINE_ADD(f, cudaGraphExecHostNodeSetParams);
  WARPLINE_ADD(f, cudaGraphAddChildGraphNode);
  WARPLINE_ADD(f, cudaGraphExecChildGraphNodeSetParams);
  WARPLINE_ADD(f, cudaGraphAddEmptyNode);
  WARPLINE_ADD(f, cudaGraphAddEventRecordNode);
  WARPLINE_ADD(f, cudaGraphAddEventWaitNode);
  WARPLINE_ADD(f, cudaGraphEventRecordNodeGetEvent);
  WARPLINE_ADD(f, cudaGraphEventRecordNodeSetEvent);
  WARPLINE_ADD(f, cudaGraphExecEventRecordNodeSetEvent);
  WARPLINE_ADD(f, cudaGraphEventWaitNodeGetEvent);
  WARPLINE_ADD(f, cudaGraphEventWaitNodeSetEvent);
  WARPLINE_ADD(f, cudaGraphExecEventWaitNodeSetEvent);
  WARPLINE_ADD(f, cudaGraphAddMemAllocNode);
  WARPLINE_ADD(f, cudaGraphMemAllocNodeGetParams);
  WARPLINE_ADD(f, cudaGraphAddMemFreeNode);
  WARPLINE_ADD(f, cudaGraphMemFreeNodeGetParams);
  WARPLINE_ADD(f, cudaGraphConditionalHandleCreate);
  WARPLINE_ADD(f, cudaGraphAddNode);
  WARPLINE_ADD(f, cudaGraphNodeSetParams);
  WARPLINE_ADD(f, cudaGraphExecNodeSetParams);
  WARPLINE_ADD(f, cudaDeviceGetGraphMemAttribute);
  WARPLINE_ADD(f, cudaDeviceSetGraphMemAttribute);
  WARPLINE_ADD(f, cudaDeviceGraphMemTrim);
  WARPLINE_ADD(f, cudaGraphNodeGetType);
  WARPLINE_ADD(f, cudaGraphChildGraphNodeGetGraph);
  WARPLINE_ADD(f, cudaGraphGetNodes);
  WARPLINE_ADD(f, cudaGraphGetRootNodes);
  WARPLINE_ADD(f, cudaGraphGetEdges);
  WARPLINE_ADD(f, cudaGraphNodeGetDependencies);
  WARPLINE_ADD(f, cudaGraphNodeGetDependentNodes);
  WARPLINE_ADD(f, cudaGraphAddDependencies);
  WARPLINE_ADD(f, cudaGraphRemoveDependencies);
  WARPLINE_ADD(f, cudaGraphDestroyNode);
  WARPLINE_ADD(f, cudaGraphDebugDotPrint);
  WARPLINE_ADD(f, cudaGraphInstantiateWithFlags);
  WARPLINE_ADD(f, cudaGraphInstantiate);
  WARPLINE_ADD(f, cudaGraphInstantiateWithParams);
  WARPLINE_ADD(f, cudaGraphExecDestroy);
  WARPLINE_ADD(f, cudaGraphExecGetFlags);
  WARPLINE_ADD(f, cudaGraphExecUpdate);
  WARPLINE_ADD(f, cudaGraphNodeSetEnabled);
  WARPLINE_ADD(f, cudaGraphNodeGetEnabled);
  WARPLINE_ADD(f, cudaGraphUpload);
  WARPLINE_ADD(f, cudaGraphLaunch);
  WARPLINE_ADD(f, cudaStreamBeginCapture);
  WARPLINE_ADD(f, cudaStreamBeginCaptureToGraph);
  WARPLINE_ADD(f, cudaStreamEndCapture);
  WARPLINE_ADD(f, cudaStreamIsCapturing);
  WARPLINE_ADD(f, cudaStreamGetCaptureInfo);
  WARPLINE_ADD(f, cudaStreamUpdateCaptureDependencies);
  WARPLINE_ADD(f, cudaThreadExchangeStreamCaptureMode);
}

}  // namespace warpline::cuda::runtime
