#include "platform/cuda/graph.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_set>

namespace warpline::cuda {
namespace {

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

/// All graphs, and their nodes.
struct Handles {
  std::mutex mutex;
  std::unordered_set<const void*> nodes, graphs;
  std::map<std::uint64_t, std::weak_ptr<const Condition>> conditions;  ///< by address
};

Handles& handles() {
  static auto* const all = new Handles;  // graphs may outlive statics
  return *all;
}

std::shared_ptr<GraphExec::Steps> steps_of(const Graph& graph,
                                           std::map<std::uint64_t, std::size_t>* by_node) {
  auto steps = std::make_shared<GraphExec::Steps>();
  std::map<const GraphNode*, std::size_t> index;
  for (const GraphNode* node : graph.in_order()) {
    GraphExec::Step step;
    step.kind = node->kind;
    step.operation = node->operation;
    step.memory = node->memory;
    for (const GraphNode* before : node->after) step.after.push_back(index.at(before));
    if (node->child != nullptr) {
      step.child = steps_of(*node->child, nullptr);
      step.objects.add(std::as_const(*node->child).objects());
    }
    step.choice = node->choice;
    step.condition = node->condition;
    for (const auto& body : node->bodies) {
      step.bodies.push_back(steps_of(*body, nullptr));
      step.objects.add(std::as_const(*body).objects());
    }
    if (node->steps != nullptr) step.child = std::static_pointer_cast<const GraphExec::Steps>(node->steps);
    index[node] = steps->size();
    if (by_node != nullptr) (*by_node)[node->number] = steps->size();
    steps->push_back(std::move(step));
  }
  return steps;
}

bool have_conditions(const GraphExec::Steps& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const GraphExec::Step& step) {
    return step.condition != nullptr || (step.child != nullptr && have_conditions(*step.child));
  });
}

/// Whether launches of one may take the work of the other.
bool are_alike(const GraphExec::Steps& a, const GraphExec::Steps& b);

bool are_alike(const GraphExec::Step& a, const GraphExec::Step& b) {
  if (a.kind != b.kind || a.after != b.after || a.choice != b.choice ||
      (a.condition == nullptr) != (b.condition == nullptr) || a.bodies.size() != b.bodies.size() ||
      (a.child == nullptr) != (b.child == nullptr))
    return false;
  if (a.child != nullptr && !are_alike(*a.child, *b.child)) return false;
  for (std::size_t n = 0; n < a.bodies.size(); ++n)
    if (!are_alike(*a.bodies[n], *b.bodies[n])) return false;
  return true;
}

bool are_alike(const GraphExec::Steps& a, const GraphExec::Steps& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t n = 0; n < a.size(); ++n)
    if (!are_alike(a[n], b[n])) return false;
  return true;
}

}  // namespace

Graph::Graph() {
  Handles& all = handles();
  const std::lock_guard lock(all.mutex);
  all.graphs.insert(this);
}

bool Graph::exists(const void* handle) {
  Handles& all = handles();
  const std::lock_guard lock(all.mutex);
  return all.graphs.count(handle) != 0;
}

Graph::~Graph() {
  Handles& all = handles();
  const std::lock_guard lock(all.mutex);
  all.graphs.erase(this);
  for (const auto& node : nodes_) all.nodes.erase(node.get());
}

GraphNode& Graph::add(GraphNode::Kind kind, Operation operation, const std::vector<GraphNode*>& after) {
  auto node = std::make_unique<GraphNode>();
  node->kind = kind;
  node->operation = std::move(operation);
  node->number = next_number();
  node->owner = this;
  for (GraphNode* before : after)
    if (std::find(node->after.begin(), node->after.end(), before) == node->after.end())
      node->after.push_back(before);
  Handles& all = handles();
  const std::lock_guard lock(all.mutex);
  all.nodes.insert(node.get());
  nodes_.push_back(std::move(node));
  return *nodes_.back();
}

void Graph::remove(const GraphNode& node) {
  for (const auto& other : nodes_)
    other->after.erase(std::remove(other->after.begin(), other->after.end(), &node), other->after.end());
  {
    Handles& all = handles();
    const std::lock_guard lock(all.mutex);
    all.nodes.erase(&node);
  }
  const auto is_it = [&node](const auto& n) { return n.get() == &node; };
  nodes_.erase(std::remove_if(nodes_.begin(), nodes_.end(), is_it), nodes_.end());
}

GraphNode* Graph::node_of(void* handle) {
  Handles& all = handles();
  const std::lock_guard lock(all.mutex);
  return all.nodes.count(handle) == 0 ? nullptr : static_cast<GraphNode*>(handle);
}

void Graph::add(const std::shared_ptr<const Condition>& condition) {
  conditions_.push_back(condition);
  Handles& all = handles();
  const std::lock_guard lock(all.mutex);
  all.conditions[condition->address] = condition;
}

std::shared_ptr<const Condition> Graph::condition_of(std::uint64_t address) {
  Handles& all = handles();
  const std::lock_guard lock(all.mutex);
  const auto found = all.conditions.find(address);
  return found == all.conditions.end() ? nullptr : found->second.lock();
}

bool Graph::has_conditions() const {
  return std::any_of(nodes_.begin(), nodes_.end(), [](const auto& node) {
    return node->condition != nullptr || (node->child != nullptr && node->child->has_conditions()) ||
           (node->steps != nullptr &&
            have_conditions(*std::static_pointer_cast<const GraphExec::Steps>(node->steps)));
  });
}

bool Graph::can_be_launched() const {
  if (in_order().empty() && !nodes_.empty()) return false;
  return std::all_of(nodes_.begin(), nodes_.end(), [](const auto& node) {
    if (node->child != nullptr && !node->child->can_be_launched()) return false;
    return std::all_of(node->bodies.begin(), node->bodies.end(),
                       [](const auto& body) { return body->can_be_launched() && body->fits_a_body(); });
  });
}

bool Graph::fits_a_body() const {
  return std::all_of(nodes_.begin(), nodes_.end(), [](const auto& node) {
    switch (node->kind) {
      case GraphNode::Kind::kernel:
      case GraphNode::Kind::copy:
      case GraphNode::Kind::fill:
      case GraphNode::Kind::empty:
      case GraphNode::Kind::conditional: return true;
      case GraphNode::Kind::child: return node->child == nullptr || node->child->fits_a_body();
      default: return false;
    }
  });
}

std::vector<GraphNode*> Graph::in_order() const {
  std::vector<GraphNode*> order;
  std::map<const GraphNode*, std::vector<GraphNode*>> behind;
  std::map<const GraphNode*, std::size_t> waits;
  for (const auto& node : nodes_) {
    waits[node.get()] = node->after.size();
    for (const GraphNode* before : node->after) behind[before].push_back(node.get());
    if (node->after.empty()) order.push_back(node.get());
  }
  for (std::size_t i = 0; i < order.size(); ++i)
    for (GraphNode* next : behind[order[i]])
      if (--waits[next] == 0) order.push_back(next);
  if (order.size() != nodes_.size()) order.clear();
  return order;
}

std::unique_ptr<Graph> Graph::clone() const {
  auto copy = std::make_unique<Graph>();
  copy->objects_ = objects_;
  std::map<const GraphNode*, GraphNode*> copies;
  for (const auto& node : nodes_) {
    GraphNode& c = copy->add(node->kind, node->operation, {});
    c.address = node->address;
    c.bytes = node->bytes;
    c.memory = node->memory;
    c.steps = node->steps;
    c.given = node->given;
    c.attributes = node->attributes;
    c.was = node->number;
    if (node->child != nullptr) c.child = node->child->clone();
    copies[node.get()] = &c;
  }
  for (const auto& node : nodes_)
    for (const GraphNode* before : node->after) copies[node.get()]->after.push_back(copies[before]);
  return copy;
}

GraphExec::GraphExec(const Graph& graph)
    : objects_(std::make_shared<HeldObjects>(graph.objects())), steps_(steps_of(graph, &by_node_)) {}

const std::size_t* GraphExec::step_of(const GraphNode& node) const {
  auto found = by_node_.find(node.number);
  if (found == by_node_.end() && node.was) found = by_node_.find(*node.was);
  return found == by_node_.end() ? nullptr : &found->second;
}

const GraphExec::Step* GraphExec::find(const GraphNode& node) const {
  const std::size_t* const step = step_of(node);
  return step == nullptr ? nullptr : &(*steps_)[*step];
}

void GraphExec::change(const GraphNode& node, const std::function<void(Step&)>& change) {
  if (steps_.use_count() != 1) steps_ = std::make_shared<Steps>(*steps_);
  // The launch that gave them back last has read them on the executor's thread.
  std::atomic_thread_fence(std::memory_order_acquire);
  change((*steps_)[*step_of(node)]);
}

bool GraphExec::change_child(const GraphNode& node, const Graph& child) {
  if (!child.can_be_launched()) return false;
  const auto steps = steps_of(child, nullptr);
  const Step& before = *find(node);
  if (before.child == nullptr || !are_alike(*before.child, *steps)) return false;
  change(node, [&](Step& step) {
    step.child = steps;
    step.objects = child.objects();
  });
  return true;
}

const GraphNode* GraphExec::update(const Graph& graph, bool& same_shape) {
  const std::vector<GraphNode*> order = graph.in_order();
  same_shape = order.size() == steps_->size();
  if (!same_shape) return nullptr;
  const auto changed = steps_of(graph, nullptr);
  for (std::size_t n = 0; n < order.size(); ++n) {
    same_shape = are_alike((*steps_)[n], (*changed)[n]);
    if (!same_shape) return order[n];
  }
  for (std::size_t n = 0; n < order.size(); ++n) by_node_[order[n]->number] = n;
  steps_ = changed;
  objects_ = std::make_shared<HeldObjects>(graph.objects());
  return nullptr;
}

}  // namespace warpline::cuda
