#include "platform/programs/ptx/call_graph.h"

#include <map>
#include <set>

namespace warpline::ptx {
namespace {

/// What a function's statements lead to.
struct Edges {
  std::set<int> called;
  std::set<int> address_taken;
  bool indirect = false;  ///< calls through a register
};

Edges edges_of(const ModuleDecl& module, const FunctionDecl& f) {
  Edges e;
  const auto index_of = [&module](const std::string& name) {
    const auto found = module.function_index.find(name);
    return found == module.function_index.end() ? -1 : found->second;
  };
  for (const Statement& s : f.statements) {
    bool named = false;
    for (const Operand& o : s.operands) {
      const int callee = o.kind == Operand::Kind::name ? index_of(o.name) : -1;
      if (callee < 0) continue;
      named = true;
      (s.opcode.is("call") ? e.called : e.address_taken).insert(callee);
    }
    e.indirect |= s.opcode.is("call") && !named;
  }
  for (const auto& [name, list] : f.call_targets)
    for (const auto& [function, place] : list.labels)
      if (const int callee = index_of(function); callee >= 0) e.address_taken.insert(callee);
  return e;
}

bool leads_back(std::map<int, Edges>& graph, int declaration) {
  std::set<int> reached;
  std::vector<int> work = {declaration};
  while (!work.empty()) {
    const int at = work.back();
    work.pop_back();
    for (const int next : graph[at].called) {
      if (next == declaration) return true;
      if (reached.insert(next).second) work.push_back(next);
    }
  }
  return false;
}

/// Those of a call graph that may lie on a circle: what is left when functions that nobody who is left calls
/// are taken out, one after the other.
std::set<int> behind_circles(const std::map<int, Edges>& graph) {
  std::map<int, std::size_t> callers;
  for (const auto& [f, e] : graph)
    for (const int called : e.called) ++callers[called];
  std::set<int> left;
  std::vector<int> uncalled;
  for (const auto& [f, e] : graph) {
    left.insert(f);
    if (callers[f] == 0) uncalled.push_back(f);
  }
  while (!uncalled.empty()) {
    const int f = uncalled.back();
    uncalled.pop_back();
    left.erase(f);
    for (const int called : graph.at(f).called)
      if (--callers[called] == 0) uncalled.push_back(called);
  }
  return left;
}

}  // namespace

std::vector<ReachedFunction> reached_functions(const ModuleDecl& module, const FunctionDecl& entry) {
  std::map<int, Edges> graph;
  std::set<int> taken;
  for (const VariableDecl& v : module.variables)
    for (const Relocation& r : v.relocations)
      if (const auto f = module.function_index.find(r.symbol); f != module.function_index.end())
        taken.insert(f->second);
  std::vector<ReachedFunction> reached;
  std::vector<int> work = {module.function_index.find(entry.name)->second};
  bool indirect = false;
  while (!work.empty()) {
    const int at = work.back();
    work.pop_back();
    if (graph.count(at) != 0) continue;
    const FunctionDecl& f = *module.functions[static_cast<std::size_t>(at)];
    const Edges& e = graph[at] = edges_of(module, f);
    if (!f.has_body) continue;
    reached.push_back({at});
    work.insert(work.end(), e.called.begin(), e.called.end());
    taken.insert(e.address_taken.begin(), e.address_taken.end());
    indirect |= e.indirect;
    if (indirect) work.insert(work.end(), taken.begin(), taken.end());
  }
  for (auto& [f, e] : graph)
    if (e.indirect) e.called.insert(taken.begin(), taken.end());
  const std::set<int> circling = behind_circles(graph);
  for (ReachedFunction& f : reached)
    f.recursive = circling.count(f.declaration) != 0 && leads_back(graph, f.declaration);
  return reached;
}

}  // namespace warpline::ptx
