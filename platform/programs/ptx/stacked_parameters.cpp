#include "platform/programs/ptx/stacked_parameters.h"

#include <algorithm>
#include <array>
#include <map>

namespace warpline::ptx {
namespace {

/// Names that no program can have declared.
constexpr const char* kOnStack = " on the stack";
constexpr const char* kParts = " parts of parameters";

/// Copies of parameters go in pieces: four words, one word, one byte.
struct Piece {
  unsigned bytes;
  unsigned elements;
  const char* type;
};
constexpr std::array<Piece, 3> kPieces = {{{16, 4, ".b32"}, {4, 1, ".b32"}, {1, 1, ".b8"}}};

/// One function, while its parameters are put onto the stack.
class Stacking {
 public:
  explicit Stacking(FunctionDecl& function) : f_(function) {}

  void run() {
    for (const Statement& s : f_.statements)
      if (const std::string* p = address_taken(s)) stacked_.emplace(*p, s.opcode);
    if (stacked_.empty()) return;
    f_.scopes[0].families[kParts] = {DataType::b32, 4, 1, f_.place};
    for (Statement& s : f_.statements) rename(s);
    std::vector<Statement> copies;
    for (const auto& [name, at] : stacked_) declare(name, at, copies);
    for (auto& [name, label] : f_.labels) label.statement += static_cast<std::uint32_t>(copies.size());
    f_.statements.insert(f_.statements.begin(), std::make_move_iterator(copies.begin()),
                         std::make_move_iterator(copies.end()));
  }

 private:
  /// Whether `name` means a parameter of the function there.
  [[nodiscard]] bool is_parameter(const std::string& name, int scope) const {
    for (int at = scope; at >= 0; at = f_.scopes[static_cast<std::size_t>(at)].parent) {
      const BlockScope& block = f_.scopes[static_cast<std::size_t>(at)];
      if (block.find_register(name).declaration != nullptr) return false;
      if (const auto v = block.variables.find(name); v != block.variables.end())
        return at == 0 &&
               std::find(f_.parameters.begin(), f_.parameters.end(), v->second) != f_.parameters.end();
    }
    return false;
  }
  [[nodiscard]] const std::string* address_taken(const Statement& s) const {
    if (!s.opcode.is("mov") || s.operands.size() != 2) return nullptr;
    const Operand& o = s.operands[1];
    return o.kind == Operand::Kind::name && is_parameter(o.name, s.scope) ? &o.name : nullptr;
  }
  /// What takes the parameter's address, or loads from it, means the stack.
  void rename(Statement& s) const {
    if (s.operands.size() != 2) return;
    Operand& o = s.operands[1];
    if (stacked_.count(o.name) == 0 || !is_parameter(o.name, s.scope)) return;
    if (s.opcode.is("ld") && o.kind == Operand::Kind::address) {
      for (Token& q : s.qualifiers)
        if (q.is(".param") || q.is(".param::func")) q.text = ".local";
    } else if (!s.opcode.is("mov") || o.kind != Operand::Kind::name) {
      return;
    }
    o.name += kOnStack;
  }

  void declare(const std::string& name, const Token& at, std::vector<Statement>& copies) {
    const int index = f_.scopes[0].variables.find(name)->second;
    VariableDecl v = f_.variables[static_cast<std::size_t>(index)];
    v.name += kOnStack;
    v.space = Space::local;
    v.alignment = std::max<std::uint64_t>(v.alignment, kPieces[0].bytes);
    for (std::uint64_t done = 0; done < v.bytes;) {
      const Piece& piece = *std::find_if(kPieces.begin(), kPieces.end(),
                                         [&](const Piece& p) { return p.bytes <= v.bytes - done; });
      copies.push_back(move(at, piece, true, name, done));
      copies.push_back(move(at, piece, false, v.name, done));
      done += piece.bytes;
    }
    f_.scopes[0].variables[v.name] = static_cast<int>(f_.variables.size());
    f_.variables.push_back(std::move(v));
  }

  /// `ld.param.v4.b32 {...}, [name+done];` or `st.local.v4.b32 [name+done], {...};`
  static Statement move(const Token& at, const Piece& piece, bool loads, const std::string& name,
                        std::uint64_t done) {
    const auto token = [&at](TokenKind kind, std::string_view text) { return Token{kind, text, at.offset}; };
    Statement s;
    s.opcode = token(TokenKind::word, loads ? "ld" : "st");
    s.qualifiers.push_back(token(TokenKind::dotted, loads ? ".param" : ".local"));
    if (piece.elements == 4) s.qualifiers.push_back(token(TokenKind::dotted, ".v4"));
    s.qualifiers.push_back(token(TokenKind::dotted, piece.type));
    Operand memory;
    memory.kind = Operand::Kind::address;
    memory.token = at;
    memory.name = name;
    memory.offset = static_cast<std::int64_t>(done);
    Operand data;
    data.kind = piece.elements == 1 ? Operand::Kind::name : Operand::Kind::vector;
    data.token = at;
    for (unsigned e = 0; e < piece.elements; ++e) {
      Operand part;
      part.token = at;
      part.name = kParts + std::to_string(e);
      if (piece.elements == 1)
        data = part;
      else
        data.elements.push_back(part);
    }
    s.operands = loads ? std::vector<Operand>{data, memory} : std::vector<Operand>{memory, data};
    return s;
  }

  FunctionDecl& f_;
  std::map<std::string, Token> stacked_;  ///< by name, and what takes the address
};

}  // namespace

void stack_parameters(ModuleDecl& module) {
  for (const auto& f : module.functions)
    if (!f->is_entry && f->has_body) Stacking(*f).run();
}

}  // namespace warpline::ptx
