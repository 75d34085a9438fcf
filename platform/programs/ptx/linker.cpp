#include "platform/programs/ptx/linker.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace warpline::ptx {
namespace {

using NewNames = std::map<std::string, std::string, std::less<>>;

/// Gives the names of module scope that a function's statements mean others.
class Renamer {
 public:
  Renamer(FunctionDecl& function, const NewNames& names) : f_(function), names_(names) {}
  void run() {
    for (Statement& s : f_.statements) {
      scope_ = s.scope;
      for (Operand& o : s.operands) rename(o);
    }
  }

 private:
  /// Whether the function itself declares what is called so where the statement stands.
  [[nodiscard]] bool is_own(const std::string& name) const {
    if (f_.labels.count(name) != 0 || f_.prototypes.count(name) != 0 || f_.target_lists.count(name) != 0)
      return true;
    for (int scope = scope_; scope >= 0;) {
      const BlockScope& s = f_.scopes[static_cast<std::size_t>(scope)];
      if (s.variables.count(name) != 0 || s.find_register(name).declaration != nullptr) return true;
      scope = s.parent;
    }
    return false;
  }
  void rename(Operand& o) {
    if (const auto found = names_.find(o.name); found != names_.end() && !is_own(o.name))
      o.name = found->second;
    for (Operand& e : o.elements) rename(e);
  }

  FunctionDecl& f_;
  const NewNames& names_;
  int scope_ = 0;
};

class Linker {
 public:
  Linker(std::vector<ModuleDecl> modules, FaultList& faults) : units_(std::move(modules)), faults_(faults) {}

  ModuleDecl run() {
    ModuleDecl& first = units_.front();
    out_.version = first.version;
    out_.target = first.target;
    out_.target_place = first.target_place;
    out_.independent_textures = first.independent_textures;
    for (const ModuleDecl& m : units_) {
      out_.units.push_back({m.version, m.target});
      out_.malformed |= m.malformed;
    }
    rename_internal();
    for (std::uint32_t n = 0; n < units_.size(); ++n) {
      for (VariableDecl& v : units_[n].variables) take(std::move(v));
      for (std::size_t at = 0; at < units_[n].functions.size(); ++at) {
        std::unique_ptr<FunctionDecl>& f = units_[n].functions[at];
        const auto named = units_[n].function_index.find(f->name);
        if (named->second != static_cast<int>(at)) continue;  // the name became another one's alias
        f->unit = n;
        take(std::move(f));
      }
    }
    // An alias is a second name of a function.
    for (const ModuleDecl& m : units_)
      for (const auto& [name, index] : m.function_index) alias(m, name, index);
    return std::move(out_);
  }

 private:
  struct Named {
    bool is_function = false;
    Linkage linkage = Linkage::internal;
  };
  static std::map<std::string, Named> names_of(const ModuleDecl& m) {
    std::map<std::string, Named> out;
    for (const auto& [name, index] : m.variable_index)
      out[name] = {false, m.variables[static_cast<std::size_t>(index)].linkage};
    for (const auto& [name, index] : m.function_index)
      out[name] = {true, m.functions[static_cast<std::size_t>(index)]->linkage};
    return out;
  }

  void rename_internal() {
    std::map<std::string, unsigned> uses;     // of modules that have the name
    std::set<std::string> shared_by_modules;  // names that are not internal somewhere
    for (const ModuleDecl& m : units_)
      for (const auto& [name, named] : names_of(m)) {
        ++uses[name];
        if (named.linkage != Linkage::internal) shared_by_modules.insert(name);
      }
    std::set<std::string> taken = shared_by_modules;
    for (std::size_t n = 0; n < units_.size(); ++n) {
      NewNames renamed;
      for (const auto& [name, named] : names_of(units_[n])) {
        if (named.linkage != Linkage::internal || uses[name] == 1) continue;
        // The first that is alone in being internal keeps its name, for those who look for it from outside.
        if (taken.insert(name).second) continue;
        renamed[name] = name + "@" + std::to_string(n + 1);
      }
      if (!renamed.empty()) rename(units_[n], renamed);
    }
  }

  static void rename(ModuleDecl& m, const NewNames& names) {
    const auto new_name = [&names](std::string& name) {
      if (const auto found = names.find(name); found != names.end()) name = found->second;
    };
    const auto in_index = [&](std::map<std::string, int, std::less<>>& index) {
      std::map<std::string, int, std::less<>> renamed;
      for (const auto& [name, at] : index) {
        std::string now = name;
        new_name(now);
        renamed.emplace(std::move(now), at);
      }
      index = std::move(renamed);
    };
    in_index(m.variable_index);
    in_index(m.function_index);
    for (VariableDecl& v : m.variables) {
      new_name(v.name);
      for (Relocation& r : v.relocations) new_name(r.symbol);
    }
    for (const auto& f : m.functions) {
      Renamer(*f, names).run();
      new_name(f->name);
    }
  }

  void clash(Place place, const std::string& message, Place other) {
    faults_.add(place, message + " " + faults_.place_text(other.offset));
  }

  void take(VariableDecl v) {
    if (const auto f = out_.function_index.find(v.name); f != out_.function_index.end())
      return clash(v.place, "variable " + quoted(v.name) + " has the name of the function at",
                   out_.functions[static_cast<std::size_t>(f->second)]->place);
    const auto [entry, fresh] = out_.variable_index.emplace(v.name, static_cast<int>(out_.variables.size()));
    if (fresh) {
      out_.variables.push_back(std::move(v));
      return;
    }
    VariableDecl& old = out_.variables[static_cast<std::size_t>(entry->second)];
    if (old.space != v.space)
      return clash(v.place, "variable " + quoted(v.name) + " lies in another state space than at", old.place);
    const bool both_common = old.linkage == Linkage::common && v.linkage == Linkage::common;
    const bool sized = old.bytes != 0 && v.bytes != 0;
    if (sized && old.bytes != v.bytes && !both_common)
      return clash(v.place,
                   "variable " + quoted(v.name) + " has " + std::to_string(v.bytes) + " bytes, and " +
                       std::to_string(old.bytes) + " at",
                   old.place);
    const std::uint64_t alignment = std::max(old.alignment, v.alignment);
    if (replaces(old.linkage, v.linkage) || (both_common && v.bytes > old.bytes)) {
      std::swap(old, v);
    } else if (is_strong(old.linkage) && is_strong(v.linkage)) {
      return clash(v.place, "variable " + quoted(v.name) + " is defined twice: here, and at", old.place);
    }
    old.alignment = alignment;
  }

  static bool is_strong(Linkage l) { return l == Linkage::visible || l == Linkage::internal; }
  /// Whether a definition comes in the place of another one, or of a declaration.
  static bool replaces(Linkage old, Linkage fresh) {
    const auto rank = [](Linkage l) {
      switch (l) {
        case Linkage::external: return 0;
        case Linkage::common: return 1;
        case Linkage::weak: return 2;
        default: return 3;
      }
    };
    return rank(fresh) > rank(old);
  }

  void take(std::unique_ptr<FunctionDecl> f) {
    if (const auto v = out_.variable_index.find(f->name); v != out_.variable_index.end())
      return clash(f->place, "function " + quoted(f->name) + " has the name of the variable at",
                   out_.variables[static_cast<std::size_t>(v->second)].place);
    const auto [entry, fresh] = out_.function_index.emplace(f->name, static_cast<int>(out_.functions.size()));
    if (fresh) {
      out_.functions.push_back(std::move(f));
      return;
    }
    std::unique_ptr<FunctionDecl>& old = out_.functions[static_cast<std::size_t>(entry->second)];
    if (old->is_entry != f->is_entry || old->bytes_of(old->parameters) != f->bytes_of(f->parameters) ||
        old->bytes_of(old->results) != f->bytes_of(f->results))
      return clash(f->place, "function " + quoted(f->name) + " has other parameters than at", old->place);
    if (!f->has_body) return;
    const bool weak = f->linkage == Linkage::weak;
    if (old->has_body && !weak && old->linkage != Linkage::weak)
      return clash(f->place, "function " + quoted(f->name) + " is defined twice: here, and at", old->place);
    if (!old->has_body || (!weak && old->linkage == Linkage::weak)) old = std::move(f);
  }

  /// Functions have gone to `out_`; their names are known by those that the index has of them.
  void alias(const ModuleDecl& m, const std::string& name, int index) {
    const auto known = out_.function_index.find(name);
    if (known != out_.function_index.end() &&
        out_.functions[static_cast<std::size_t>(known->second)]->has_body)
      return;
    for (const auto& [other, at] : m.function_index)
      if (at == index && other != name)
        if (const auto meant = out_.function_index.find(other); meant != out_.function_index.end()) {
          out_.function_index[name] = meant->second;
          return;
        }
  }

  std::vector<ModuleDecl> units_;
  FaultList& faults_;
  ModuleDecl out_;
};

}  // namespace

ModuleDecl link(std::vector<ModuleDecl> modules, FaultList& faults) {
  return Linker(std::move(modules), faults).run();
}

}  // namespace warpline::ptx
