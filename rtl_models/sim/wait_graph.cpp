#include "rtl_models/sim/wait_graph.h"

#include <algorithm>
#include <deque>
#include <unordered_map>

namespace warpline {
namespace {

using Node = std::size_t;
constexpr Node kNone = ~Node{0};

/// Who waits for whom. Only those who wait are nodes.
class Graph {
 public:
  struct Edge {
    Node to = kNone;
    const Wait* why = nullptr;  ///< null: a component waits with its part
  };

  explicit Graph(const Standstill& s) {
    for (const InFlight& row : s.in_flight) waits_.push_back(&row.wait);
    for (const Wait& w : s.waits) waits_.push_back(&w);
    for (const Wait* w : waits_) {
      add(w->who);
      add(component_of(w->who));
    }
    edges_.resize(names_.size());
    for (const Wait* w : waits_) add_edges(*w);
    for (Node n = 0; n < names_.size(); ++n)
      if (const std::string whole = component_of(names_[n]); whole != names_[n])
        edges_[find(whole)].push_back({n, nullptr});
  }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] const std::vector<Edge>& edges(Node n) const { return edges_[n]; }
  [[nodiscard]] const std::vector<const Wait*>& waits() const { return waits_; }
  [[nodiscard]] Node find(const std::string& name) const {
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? kNone : found->second;
  }

 private:
  static std::string component_of(const std::string& name) { return name.substr(0, name.find(' ')); }
  void add(const std::string& name) {
    if (numbers_.try_emplace(name, names_.size()).second) names_.push_back(name);
  }
  void add_edges(const Wait& w) {
    const Node from = find(w.who);
    for (const std::string& on : w.on) {
      const Node to = find(on);
      // A part may wait for itself: lanes of one warp at two barriers.
      const bool itself = to == from && component_of(w.who) == w.who;
      if (to == kNone || itself) continue;
      const auto same = [to](const Edge& e) { return e.to == to; };
      if (std::none_of(edges_[from].begin(), edges_[from].end(), same)) edges_[from].push_back({to, &w});
    }
  }
  std::vector<const Wait*> waits_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, Node> numbers_;
  std::vector<std::vector<Edge>> edges_;
};

/// Whether each node's waits lead to a circle: what is left when those that wait for nobody are taken away.
std::vector<bool> leads_to_circle(const Graph& g) {
  const std::size_t count = g.names().size();
  std::vector<std::vector<Node>> waiters(count);
  std::vector<std::size_t> left(count, 0);
  std::deque<Node> free;
  for (Node n = 0; n < count; ++n) {
    left[n] = g.edges(n).size();
    for (const Graph::Edge& e : g.edges(n)) waiters[e.to].push_back(n);
    if (left[n] == 0) free.push_back(n);
  }
  std::vector<bool> out(count, true);
  for (; !free.empty(); free.pop_front()) {
    out[free.front()] = false;
    for (const Node w : waiters[free.front()])
      if (--left[w] == 0) free.push_back(w);
  }
  return out;
}

/// The shortest way from `start` back to it.
std::vector<WaitEdge> way_back(const Graph& g, Node start) {
  struct Step {
    Node from = kNone;
    const Graph::Edge* edge = nullptr;
  };
  std::vector<Step> reached(g.names().size());
  std::deque<Node> next = {start};
  for (; !next.empty() && reached[start].edge == nullptr; next.pop_front()) {
    for (const Graph::Edge& e : g.edges(next.front())) {
      if (reached[e.to].edge != nullptr) continue;
      reached[e.to] = {next.front(), &e};
      if (e.to == start) break;
      next.push_back(e.to);
    }
  }
  std::vector<WaitEdge> way;
  Node at = start;
  do {
    const Step& s = reached[at];
    way.push_back(
        {g.names()[s.from], g.names()[at], s.edge->why == nullptr ? "its part" : s.edge->why->what});
    at = s.from;
  } while (at != start);
  std::reverse(way.begin(), way.end());
  return way;
}

}  // namespace

std::vector<WaitEdge> circle_of(const Standstill& standstill) {
  const Graph g(standstill);
  const std::vector<bool> leads = leads_to_circle(g);
  const auto first = std::find(leads.begin(), leads.end(), true);
  if (first == leads.end()) return {};
  // Going on among those that lead to one must come to a node for the second time.
  std::vector<bool> seen(leads.size(), false);
  auto at = static_cast<Node>(first - leads.begin());
  while (!seen[at]) {
    seen[at] = true;
    const auto& edges = g.edges(at);
    at = std::find_if(edges.begin(), edges.end(), [&](const Graph::Edge& e) { return leads[e.to]; })->to;
  }
  return way_back(g, at);
}

std::vector<Wait> ends_of(const Standstill& standstill) {
  const Graph g(standstill);
  std::vector<Wait> ends;
  const auto told = [&ends](const Wait& w) {
    return std::any_of(ends.begin(), ends.end(),
                       [&w](const Wait& e) { return e.who == w.who && e.what == w.what; });
  };
  for (const Wait* w : g.waits())
    if (g.edges(g.find(w->who)).empty() && !told(*w)) ends.push_back(*w);
  return ends;
}

std::string to_text(const std::vector<WaitEdge>& circle) {
  std::string out;
  for (const WaitEdge& e : circle) out += e.from + " -> ";
  return circle.empty() ? out : out + circle.front().from;
}

}  // namespace warpline
