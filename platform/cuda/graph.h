#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "platform/cuda/operation.h"
#include "platform/cuda/user_objects.h"

namespace warpline::cuda {

class Graph;

/// A value in a GPU's memory that kernels set, and that conditional nodes look at. Programs name it by its
/// address.
struct Condition {
  std::uint64_t address = 0;
  std::optional<std::uint32_t> initial;  ///< that each launch of the graph begins with
  std::shared_ptr<void> memory;          ///< gives it back
};

/// A piece of work in a graph, which programs name by the object's address.
struct GraphNode {
  /// As programs call it (CUDA Runtime API, "cudaGraphNodeType").
  enum class Kind : std::uint8_t {
    kernel,
    copy,
    fill,
    host,
    child,
    empty,
    wait_event,
    record_event,
    allocate = 10,
    free = 11,
    conditional = 13
  };
  /// What a conditional node does (CUDA Runtime API, "cudaGraphConditionalNodeType").
  enum class Choice : std::uint8_t {
    if_else,  ///< the first body if the value is not 0, the second one, if there is one, otherwise
    loop,     ///< the body as long as the value is not 0
    select    ///< the body that the value numbers, if there is one
  };
  Kind kind = Kind::empty;
  Operation operation;
  std::vector<GraphNode*> after;  ///< what it waits for, of the same graph, each once
  std::unique_ptr<Graph> child;
  Choice choice = Choice::if_else;
  std::shared_ptr<const Condition> condition;  ///< of a conditional node
  std::vector<std::unique_ptr<Graph>> bodies;  ///< likewise
  std::vector<void*> body_handles;             ///< likewise, to be handed out
  std::uint64_t address = 0, bytes = 0;        ///< of memory that it allocates, or frees
  std::shared_ptr<void> memory;                ///< gives that back
  std::optional<std::uint64_t> was;            ///< number of the node that it is a copy of
  std::uint64_t number = 0;                    ///< that no other node of the process has
  Graph* owner = nullptr;
  std::shared_ptr<const void> steps;  ///< of a graph that was launched in a capture: GraphExec::Steps
  std::vector<std::uint8_t> given;    ///< parameters as the program gave them, to be handed back
  /// Of a kernel, by number, those that are hints: others are in its shape.
  std::map<int, std::array<std::uint8_t, 64>> attributes;
  std::vector<void*> arguments;  ///< of a kernel, where its parameters lie, to be handed back
};

/// Work in an order that is only as strict as the program says (CUDA C++ Programming Guide, "CUDA Graphs").
class Graph {
 public:
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// Pre: those that it waits for are nodes of this graph.
  GraphNode& add(GraphNode::Kind kind, Operation operation, const std::vector<GraphNode*>& after);
  /// Its edges go with it.
  void remove(const GraphNode& node);
  /// Whether a handle is that of any graph, one inside a node or under capture included.
  [[nodiscard]] static bool exists(const void* handle);
  /// A node of any graph by its handle; null: it is none.
  [[nodiscard]] static GraphNode* node_of(void* handle);
  /// The graph has it from now on.
  void add(const std::shared_ptr<const Condition>& condition);
  /// That which a program means by an address; null: no graph has such a one.
  [[nodiscard]] static std::shared_ptr<const Condition> condition_of(std::uint64_t address);
  /// Whether it, or a graph inside it, has conditional nodes: there are no copies of such graphs.
  [[nodiscard]] bool has_conditions() const;
  /// Whether it can be launched: no nodes wait for each other, here and in graphs inside it, and the bodies
  /// of conditional nodes have what they may have (CUDA Runtime API, "cudaConditionalNodeParams").
  [[nodiscard]] bool can_be_launched() const;
  [[nodiscard]] const std::vector<std::unique_ptr<GraphNode>>& nodes() const { return nodes_; }
  /// Each node behind all that it waits for. Empty of a graph that has nodes: some wait for each other.
  [[nodiscard]] std::vector<GraphNode*> in_order() const;
  /// A graph of the same nodes, each of which knows whose copy it is. Pre: it has no conditional nodes.
  [[nodiscard]] std::unique_ptr<Graph> clone() const;
  /// What the program has it refer to.
  [[nodiscard]] HeldObjects& objects() { return objects_; }
  [[nodiscard]] const HeldObjects& objects() const { return objects_; }

 private:
  [[nodiscard]] bool fits_a_body() const;

  std::vector<std::unique_ptr<GraphNode>> nodes_;  ///< as they were added
  std::vector<std::shared_ptr<const Condition>> conditions_;
  HeldObjects objects_;
};

/// A graph as it is launched: a copy of what it was when it was instantiated, which later changes of the
/// graph leave as it is. Launches that are under way keep what they began with.
class GraphExec {
 public:
  struct Step {
    GraphNode::Kind kind = GraphNode::Kind::empty;
    Operation operation;
    std::vector<std::size_t> after;  ///< steps
    bool enabled = true;
    std::shared_ptr<void> memory;
    std::shared_ptr<const std::vector<Step>> child;
    GraphNode::Choice choice = GraphNode::Choice::if_else;
    std::shared_ptr<const Condition> condition;
    std::vector<std::shared_ptr<const std::vector<Step>>> bodies;
    HeldObjects objects;  ///< that child and bodies refer to themselves
  };
  using Steps = std::vector<Step>;

  /// Pre: no nodes of the graph wait for each other.
  explicit GraphExec(const Graph& graph);
  [[nodiscard]] std::shared_ptr<const Steps> steps() const { return steps_; }
  /// What launches hold as long as they are under way, besides the steps: the graph's own.
  [[nodiscard]] std::shared_ptr<const HeldObjects> objects() const { return objects_; }
  /// The step of a node of the graph; null: it has none.
  [[nodiscard]] const Step* find(const GraphNode& node) const;
  /// Changes the step of a node. Pre: it has one.
  void change(const GraphNode& node, const std::function<void(Step&)>& change);
  /// Has the step of a node do what another graph does, if that is of the shape of the one before. Pre: it
  /// has one. False: it is not, or cannot be launched.
  bool change_child(const GraphNode& node, const Graph& child);
  /// Takes what nodes of another graph do, if that has the same shape. The first node that is not as here;
  /// null: it was done.
  const GraphNode* update(const Graph& graph, bool& same_shape);

  std::uint64_t flags = 0;

 private:
  [[nodiscard]] const std::size_t* step_of(const GraphNode& node) const;

  std::map<std::uint64_t, std::size_t> by_node_;  ///< by the node's number
  std::shared_ptr<const HeldObjects> objects_;
  std::shared_ptr<Steps> steps_;  ///< changed only while no launch has them
};

}  // namespace warpline::cuda
