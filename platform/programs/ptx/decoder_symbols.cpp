#include <algorithm>

#include "warpline/programs/ptx/decoder.h"
#include "warpline/sm/address_windows.h"

namespace warpline::ptx {

Decoder::Edges Decoder::edges_of(const FunctionDecl& f) const {
  Edges e;
  const auto index_of = [this](const std::string& name) {
    const auto found = module_.function_index.find(name);
    return found == module_.function_index.end() ? -1 : found->second;
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
  return e;
}

void Decoder::create_image(int declaration) {
  const FunctionDecl& f = *module_.functions[static_cast<std::size_t>(declaration)];
  FunctionImage image;
  image.declaration = declaration;
  if (!f.is_entry) {
    const auto block = [&](int v) {
      const auto bytes = static_cast<std::uint32_t>(f.variables[static_cast<std::size_t>(v)].bytes);
      const ParameterBlock b{static_cast<Ref>(take_file(bytes * kWarpLanes, 32)), bytes};
      image.blocks.push_back(b);
      return b;
    };
    for (const int v : f.results) image.results.push_back(block(v));
    for (const int v : f.parameters) image.parameters.push_back(block(v));
  }
  images_[declaration] = static_cast<int>(program_.functions.size());
  program_.functions.push_back(std::move(image));
}

void Decoder::collect_functions(const FunctionDecl& entry) {
  function_ = &entry;
  std::map<int, Edges> graph;
  std::set<int> taken;
  for (const VariableDecl& v : module_.variables)
    for (const Relocation& r : v.relocations)
      if (const auto f = module_.function_index.find(r.symbol); f != module_.function_index.end())
        taken.insert(f->second);
  std::vector<int> order;
  std::vector<int> work = {module_.function_index.find(entry.name)->second};
  bool indirect = false;
  while (!work.empty()) {
    const int at = work.back();
    work.pop_back();
    if (graph.count(at) != 0) continue;
    const FunctionDecl& f = *module_.functions[static_cast<std::size_t>(at)];
    const Edges& e = graph[at] = edges_of(f);
    if (!f.has_body) continue;
    order.push_back(at);
    work.insert(work.end(), e.called.begin(), e.called.end());
    taken.insert(e.address_taken.begin(), e.address_taken.end());
    indirect |= e.indirect;
    if (indirect) work.insert(work.end(), taken.begin(), taken.end());
  }
  for (const int f : order) create_image(f);
  for (auto& [f, e] : graph)
    if (e.indirect) e.called.insert(taken.begin(), taken.end());
  mark_recursion(graph);
}

void Decoder::mark_recursion(std::map<int, Edges>& graph) {
  for (FunctionImage& image : program_.functions) {
    std::set<int> reached;
    std::vector<int> work = {image.declaration};
    while (!work.empty() && !image.recursive) {
      const int at = work.back();
      work.pop_back();
      for (const int next : graph[at].called) {
        image.recursive |= next == image.declaration;
        if (reached.insert(next).second) work.push_back(next);
      }
    }
    program_.recursive |= image.recursive;
  }
}

std::optional<Symbol> Decoder::find_symbol(const std::string& name) const {
  for (int scope = statement_->scope; scope >= 0;) {
    const BlockScope& s = function_->scopes[static_cast<std::size_t>(scope)];
    if (const auto v = s.variables.find(name); v != s.variables.end()) {
      Symbol symbol;
      symbol.declaration = &function_->variables[static_cast<std::size_t>(v->second)];
      symbol.variable = v->second;
      symbol.of_kernel =
          function_->is_entry && static_cast<std::size_t>(v->second) < function_->parameters.size();
      return symbol;
    }
    scope = s.parent;
  }
  const auto v = module_.variable_index.find(name);
  if (v == module_.variable_index.end()) return std::nullopt;
  Symbol symbol;
  symbol.declaration = &module_.variables[static_cast<std::size_t>(v->second)];
  symbol.variable = v->second;
  symbol.of_module = true;
  return symbol;
}

const Register* Decoder::local_frame() const {
  return frame_ ? &*frame_ : nullptr;
}

std::uint32_t Decoder::local_offset(const Symbol& s) {
  const VariableDecl& v = *s.declaration;
  const auto place_in = [&v](std::uint32_t& end) {
    const auto at = static_cast<std::uint32_t>(align_up(end, v.alignment));
    end = static_cast<std::uint32_t>(std::min<std::uint64_t>(at + v.bytes, 2 * Limits::kWindowBytes));
    return at;
  };
  if (frame_ && !s.of_module) {
    const auto [known, fresh] = locals_.emplace(s.variable, 0);
    if (fresh) {
      std::uint32_t& end = program_.functions[image_].local_bytes;
      known->second = place_in(end);
    }
    return known->second;
  }
  const int owner = s.of_module ? -1 : program_.functions[image_].declaration;
  const auto [known, fresh] = static_locals_.emplace(std::make_pair(owner, s.variable), 0);
  if (fresh) known->second = place_in(program_.local_bytes);
  return known->second;
}

std::uint32_t Decoder::kernel_parameter_offset(const Symbol& s) const {
  return parameter_offsets(*function_)[static_cast<std::size_t>(s.variable)];
}

ParameterBlock Decoder::parameter_block(const Symbol& s) {
  const FunctionImage& image = program_.functions[image_];
  const auto index = static_cast<std::size_t>(s.variable);
  if (!function_->is_entry && index < image.results.size()) return image.results[index];
  if (!function_->is_entry && index < image.results.size() + image.parameters.size())
    return image.parameters[index - image.results.size()];
  const auto [known, fresh] = blocks_.emplace(s.variable, ParameterBlock{});
  if (fresh) {
    const auto bytes = static_cast<std::uint32_t>(s.declaration->bytes);
    known->second = {static_cast<Ref>(take_file(bytes * kWarpLanes, 32)), bytes};
  }
  return known->second;
}

Ref Decoder::symbol_address(const Symbol& s, std::uint64_t addend, unsigned bytes, bool generic) {
  const VariableDecl& v = *s.declaration;
  PoolFix fix;
  fix.bytes = static_cast<std::uint8_t>(bytes);
  fix.addend = addend;
  switch (v.space) {
    case Space::param:
      if (!s.of_kernel) fail("the address of parameter " + quoted(v.name) + " cannot be taken");
      return constant(kernel_parameter_offset(s) + addend, bytes);
    case Space::local: {
      const std::uint64_t at = local_offset(s) + addend;
      return constant(generic ? AddressWindows::to_generic(Space::local, at) : at, bytes);
    }
    case Space::shared: {
      if (generic) fix.addend = AddressWindows::to_generic(Space::shared, addend);
      if (v.bytes == 0) {
        program_.dynamic_alignment =
            std::max(program_.dynamic_alignment, static_cast<std::uint32_t>(v.alignment));
        break;
      }
      const int owner = s.of_module ? -1 : program_.functions[image_].declaration;
      const auto [known, fresh] = shared_.emplace(std::make_pair(owner, s.variable), 0);
      if (fresh) {
        known->second = static_cast<std::uint32_t>(align_up(program_.shared_bytes, v.alignment));
        program_.shared_bytes = static_cast<std::uint32_t>(known->second + v.bytes);
        if (program_.shared_bytes > Limits::kWindowBytes) fail(v.place, "shared memory has room for 16 MiB");
      }
      return constant(known->second + fix.addend, bytes);
    }
    default:
      if (v.is_extern)
        fail("variable " + quoted(v.name) + " is '.extern' and defined nowhere in this module");
      fix.variable = s.variable;
  }
  const auto [known, fresh] = addresses_.emplace(std::make_tuple(fix.variable, fix.addend, bytes), kNoRef);
  if (fresh) {
    const std::size_t at = align_up(program_.pool.size(), 64);
    program_.pool.resize(at + std::size_t{bytes} * kWarpLanes);
    fix.offset = static_cast<std::uint32_t>(at);
    program_.fixes.push_back(fix);
    known->second = static_cast<Ref>(static_cast<std::uint32_t>(at) | kPoolBit);
  }
  return known->second;
}

bool Decoder::is_function(const std::string& name) const {
  const auto f = module_.function_index.find(name);
  return f != module_.function_index.end() &&
         !module_.functions[static_cast<std::size_t>(f->second)]->is_entry;
}

std::uint64_t Decoder::function_address(const std::string& name) const {
  return kFunctionBase + 16 * static_cast<std::uint64_t>(module_.function_index.find(name)->second);
}

const FunctionDecl& Decoder::callee(const std::string& name, Place place) {
  const auto f = module_.function_index.find(name);
  if (f == module_.function_index.end()) {
    std::vector<std::string> names;
    for (const auto& [known, index] : module_.function_index) names.push_back(known);
    fail(place, "function " + quoted(name) + " is not declared", suggestion(name, names));
  }
  return *module_.functions[static_cast<std::size_t>(f->second)];
}

int Decoder::function_image(const std::string& name, Place place) {
  const FunctionDecl& f = callee(name, place);
  if (f.is_entry) fail(place, quoted(name) + " is a kernel entry: device code cannot call it");
  const auto image = images_.find(module_.function_index.find(name)->second);
  if (image == images_.end())
    fail(place, "function " + quoted(name) + " has no body in this module and cannot be called");
  return image->second;
}

}  // namespace warpline::ptx
