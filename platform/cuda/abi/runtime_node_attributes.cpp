// What kernel nodes have besides their parameters, and objects of the program that graphs keep.
#include <cstring>

#include "platform/cuda/abi/graph_calls.h"

namespace warpline::cuda::runtime {
namespace {

/// `cudaLaunchAttributeID`: those that nodes have. All but the first two are hints, which change no result.
enum KernelNodeAttribute : int {
  kCooperativeNode = 2,
  kClusterNode = 4,
  kAccessPolicyNode = 1,
  kClusterSchedulingNode = 5,
  kPriorityNode = 8,
  kDomainMapNode = 9,
  kDomainNode = 10,
  kPreferredClusterNode = 11,
  kUpdatableNode = 13,
  kCarveoutNode = 14,
  kLinkSchedulingNode = 16,
};
constexpr std::size_t kNodeAttributeBytes = 64;

bool is_hint(int attribute) {
  switch (attribute) {
    case kAccessPolicyNode:
    case kClusterSchedulingNode:
    case kPriorityNode:
    case kDomainMapNode:
    case kDomainNode:
    case kPreferredClusterNode:
    case kCarveoutNode:
    case kLinkSchedulingNode: return true;
    default: return false;
  }
}

int cudaGraphKernelNodeGetAttribute(void* node, int attribute, void* value) {
  return with_node_of(GraphNode::Kind::kernel, node, [&](Machine&, GraphNode& n) {
    if (value == nullptr) return Status::invalid_value;
    const GridShape& shape = std::get<Grid>(n.operation).shape;
    std::uint32_t words[kNodeAttributeBytes / 4] = {};
    if (attribute == kCooperativeNode) {
      words[0] = shape.cooperative ? 1 : 0;
    } else if (attribute == kClusterNode) {
      words[0] = shape.cluster.x;
      words[1] = shape.cluster.y;
      words[2] = shape.cluster.z;
    } else if (attribute == kUpdatableNode) {
      // Those of captured and added nodes alike cannot be updated by kernels here.
    } else if (is_hint(attribute)) {
      if (const auto found = n.attributes.find(attribute); found != n.attributes.end())
        std::memcpy(words, found->second.data(), sizeof words);
    } else {
      return Status::invalid_value;
    }
    std::memcpy(value, words, sizeof words);
    return Status::success;
  });
}

/// Gives a node's grid another shape, if it can be launched so.
Status reshape(Machine& m, GraphNode& n, const GridShape& shape) {
  const Grid& before = std::get<Grid>(n.operation);
  if (before.is_gone()) return Status::invalid_resource_handle;
  Grid grid;
  const Status s =
      m.prepare({before.function, shape, [&before](const programs::Entry&) { return before.parameters; }},
                before.device, grid);
  if (s == Status::success) n.operation = std::move(grid);
  return s;
}

int cudaGraphKernelNodeSetAttribute(void* node, int attribute, const void* value) {
  return with_node_of(GraphNode::Kind::kernel, node, [&](Machine& m, GraphNode& n) {
    if (value == nullptr) return Status::invalid_value;
    std::uint32_t words[3];
    std::memcpy(words, value, sizeof words);
    GridShape shape = std::get<Grid>(n.operation).shape;
    if (attribute == kCooperativeNode) {
      shape.cooperative = words[0] != 0;
      return reshape(m, n, shape);
    }
    if (attribute == kClusterNode) {
      shape.cluster = {words[0], words[1], words[2]};
      return shape.cluster.count() == 0 ? Status::invalid_value : reshape(m, n, shape);
    }
    if (attribute == kUpdatableNode) return words[0] == 0 ? Status::success : Status::not_supported;
    if (!is_hint(attribute)) return Status::invalid_value;
    std::memcpy(n.attributes[attribute].data(), value, kNodeAttributeBytes);
    return Status::success;
  });
}

int cudaGraphKernelNodeCopyAttributes(void* to, void* from) {
  return with_node_of(GraphNode::Kind::kernel, from, [&](Machine& m, GraphNode& source) {
    GraphNode* const target = Graph::node_of(to);
    if (target == nullptr || target->kind != GraphNode::Kind::kernel) return Status::invalid_value;
    GridShape shape = std::get<Grid>(target->operation).shape;
    shape.cooperative = std::get<Grid>(source.operation).shape.cooperative;
    shape.cluster = std::get<Grid>(source.operation).shape.cluster;
    const Status s = reshape(m, *target, shape);
    if (s == Status::success) target->attributes = source.attributes;
    return s;
  });
}

// ---- Objects of the program

/// Whether so many references can be meant: counts are those of an int.
bool is_count(unsigned n) {
  return n != 0 && n <= 0x7FFFFFFFU;
}

int cudaUserObjectCreate(void** object, void* pointer, UserObject::Destroy destroy, unsigned references,
                         unsigned flags) {
  constexpr unsigned kNoDestructorSync = 1;
  if (object == nullptr || destroy == nullptr || !is_count(references) || flags != kNoDestructorSync)
    return noted(Status::invalid_value);
  *object = &UserObject::create(pointer, destroy, references);
  return noted(Status::success);
}

int cudaUserObjectRetain(void* object, unsigned count) {
  return noted(is_count(count) && UserObject::retain(object, count) ? Status::success
                                                                    : Status::invalid_value);
}

int cudaUserObjectRelease(void* object, unsigned count) {
  return noted(is_count(count) && UserObject::release(object, count) ? Status::success
                                                                     : Status::invalid_value);
}

int cudaGraphRetainUserObject(void* graph, void* object, unsigned count, unsigned flags) {
  constexpr unsigned kMove = 1;  // the program's own references become the graph's
  return with_graph(graph, [&](Machine&, Graph& g) {
    const auto kept = UserObject::find(object);
    if (kept == nullptr || !is_count(count) || flags > kMove) return Status::invalid_value;
    if (flags == kMove && !UserObject::release(object, count)) return Status::invalid_value;
    g.objects().retain(kept, count);
    return Status::success;
  });
}

int cudaGraphReleaseUserObject(void* graph, void* object, unsigned count) {
  return with_graph(graph, [&](Machine&, Graph& g) {
    return is_count(count) && g.objects().release(object, count) ? Status::success : Status::invalid_value;
  });
}

}  // namespace

void add_node_attributes(Functions& f) {
  WARPLINE_ADD(f, cudaGraphKernelNodeGetAttribute);
  WARPLINE_ADD(f, cudaGraphKernelNodeSetAttribute);
  WARPLINE_ADD(f, cudaGraphKernelNodeCopyAttributes);
  WARPLINE_ADD(f, cudaUserObjectCreate);
  WARPLINE_ADD(f, cudaUserObjectRetain);
  WARPLINE_ADD(f, cudaUserObjectRelease);
  WARPLINE_ADD(f, cudaGraphRetainUserObject);
  WARPLINE_ADD(f, cudaGraphReleaseUserObject);
}

}  // namespace warpline::cuda::runtime
