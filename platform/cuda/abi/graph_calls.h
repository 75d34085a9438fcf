#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "platform/cuda/abi/runtime_calls.h"

// What the calls of graphs of both APIs have in common.
namespace warpline::cuda::runtime {

/// `cudaGraphEdgeData`.
struct EdgeData {
  std::uint8_t from_port = 0, to_port = 0, type = 0;
  std::uint8_t reserved[5] = {};
};

/// Whether edges carry no data, as they are where `edges` is null.
inline bool are_plain(const EdgeData* edges, std::size_t count) {
  return edges == nullptr || std::all_of(edges, edges + count, [](const EdgeData& e) {
           return e.from_port == 0 && e.to_port == 0 && e.type == 0;
         });
}

template <class F>
int with_graph(void* handle, F&& f) {
  return with_machine([&](Machine& m) {
    return m.is_graph(handle) ? f(m, *static_cast<Graph*>(handle)) : Status::invalid_value;
  });
}

template <class F>
int with_exec(void* handle, F&& f) {
  return with_machine([&](Machine& m) {
    return m.is_exec(handle) ? f(m, *static_cast<GraphExec*>(handle)) : Status::invalid_value;
  });
}

template <class F>
int with_node(void* handle, F&& f) {
  return with_machine([&](Machine& m) {
    GraphNode* const node = Graph::node_of(handle);
    return node == nullptr ? Status::invalid_value : f(m, *node);
  });
}

/// Calls `f` with a node if it is of this kind.
template <class F>
int with_node_of(GraphNode::Kind kind, void* handle, F&& f) {
  return with_node(handle, [&](Machine& m, GraphNode& node) {
    return node.kind == kind ? f(m, node) : Status::invalid_value;
  });
}

/// The nodes that handles name; nothing: one of them is no node of this graph.
[[nodiscard]] std::optional<std::vector<GraphNode*>> nodes_of(const Graph& graph, void* const* handles,
                                                              std::size_t count);

// ---- What programs give, as operations. `operation` is what a node did before, if there is one.

/// A kernel on a GPU. What its attributes say stays (CUDA Runtime API, "cudaGraphKernelNodeSetAttribute").
Status operation_of(Machine& m, Function* function, const KernelNodeParameters& p, unsigned device,
                    Operation& operation);
Status operation_of(Machine& m, const KernelNodeParameters& p, Operation& operation);
Status operation_of(Machine& m, const CopyParameters& p, Operation& operation);
Status operation_of(Machine& m, const FillNodeParameters& p, Operation& operation);
Status operation_of(Machine& m, const HostNodeParameters& p, Operation& operation);

template <class Parameters>
std::vector<std::uint8_t> bytes_of_parameters(const Parameters& p) {
  const auto* const first = reinterpret_cast<const std::uint8_t*>(&p);
  return {first, first + sizeof p};
}

struct MakeOperation {
  template <class Parameters>
  Status operator()(Machine& m, const Parameters& p, Operation& operation) const {
    return operation_of(m, p, operation);
  }
};

/// Adds a node that does what the parameters say, which `make` makes an operation of.
template <class Parameters, class Make = MakeOperation>
int add_node(GraphNode::Kind kind, void** made, void* graph, void* const* after, std::size_t count,
             const Parameters* p, Make&& make = {}) {
  return with_graph(graph, [&](Machine& m, Graph& g) {
    const auto before = nodes_of(g, after, count);
    if (!before || p == nullptr || made == nullptr) return Status::invalid_value;
    Operation operation;
    if (const Status s = make(m, *p, operation); s != Status::success) return s;
    GraphNode& node = g.add(kind, std::move(operation), *before);
    node.given = bytes_of_parameters(*p);
    *made = &node;
    return Status::success;
  });
}

/// Changes what a node does.
template <class Parameters, class Make = MakeOperation>
int set_node(GraphNode::Kind kind, void* node, const Parameters* p, Make&& make = {}) {
  return with_node_of(kind, node, [&](Machine& m, GraphNode& n) {
    if (p == nullptr) return Status::invalid_value;
    Operation operation = n.operation;
    if (const Status s = make(m, *p, operation); s != Status::success) return s;
    n.operation = std::move(operation);
    n.given = bytes_of_parameters(*p);
    return Status::success;
  });
}

/// Changes what a node does in a graph that was instantiated.
template <class Parameters, class Make = MakeOperation>
int set_step(GraphNode::Kind kind, void* exec, void* node, const Parameters* p, Make&& make = {}) {
  return with_exec(exec, [&](Machine& m, GraphExec& e) {
    const GraphNode* const n = Graph::node_of(node);
    const GraphExec::Step* const step = n == nullptr ? nullptr : e.find(*n);
    if (step == nullptr || p == nullptr || n->kind != kind) return Status::invalid_value;
    Operation operation = step->operation;
    if (const Status s = make(m, *p, operation); s != Status::success) return s;
    e.change(*n, [&](GraphExec::Step& changed) { changed.operation = std::move(operation); });
    return Status::success;
  });
}

// ---- What programs would have given for a piece of work that was captured

/// The function is named by its handle. The node has what the arguments lead to.
Status kernel_parameters_of(GraphNode& node, KernelNodeParameters& p);
Status parameters_of(const Operation& operation, CopyParameters& p);
Status parameters_of(const Operation& operation, FillNodeParameters& p);
Status parameters_of(const Operation& operation, HostNodeParameters& p);

struct ParametersOf {
  template <class Parameters>
  Status operator()(const Operation& operation, Parameters& p) const {
    return parameters_of(operation, p);
  }
};

/// Hands the parameters of a node back as they were given, or as `tell` says if they were given otherwise.
template <class Parameters, class Tell = ParametersOf>
int given_parameters(GraphNode::Kind kind, void* node, Parameters* p, Tell&& tell = {}) {
  return with_node_of(kind, node, [&](Machine&, GraphNode& n) {
    if (p == nullptr) return Status::invalid_value;
    if (n.given.size() == sizeof *p) {
      std::memcpy(static_cast<void*>(p), n.given.data(), sizeof *p);
      return Status::success;
    }
    return tell(n.operation, *p);
  });
}

/// A value that kernels on a GPU set and conditional nodes look at (cudaGraphConditionalHandleCreate).
int add_condition(unsigned long long* handle, void* graph, unsigned device, unsigned value, unsigned flags);

}  // namespace warpline::cuda::runtime
