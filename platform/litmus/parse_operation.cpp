// Opcodes: the words between their dots.
#include <algorithm>
#include <array>
#include <optional>

#include "warpline/litmus/opcode_words.h"
#include "warpline/litmus/parser_state.h"

namespace warpline::litmus {
namespace {

template <class Table>
auto find(const Table& table, std::string_view word) {
  const auto at = std::find_if(table.begin(), table.end(), [&](const auto& x) { return x.word == word; });
  return at == table.end() ? nullptr : &*at;
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> out;
  while (true) {
    const std::size_t dot = text.find('.');
    out.push_back(text.substr(0, dot));
    if (dot == std::string_view::npos) return out;
    text.remove_prefix(dot + 1);
  }
}

/// Reads the words of one opcode into a MemOp.
class OpcodeReader {
 public:
  OpcodeReader(const Token& opcode, Instruction& i, FaultList& faults)
      : opcode_(opcode), words_(split(opcode.text)), instruction_(i), faults_(faults) {}

  std::optional<MemOp> run() {
    const std::string_view base = words_.front();
    if (const auto* c = find(kControls, opcode_.text)) return cache_control(*c);
    instruction_.kind = InstructionKind::fence;
    if (base == "membar") return membar();
    if (base == "fence") return fence();
    instruction_.kind = InstructionKind::memory;
    const auto* b = find(kBases, base);
    if (b == nullptr) {
      std::vector<std::string> names;
      for (const Base& known : kBases) names.emplace_back(known.word);
      names.insert(names.end(), {"fence", "membar", "bar", "goto", "beq", "bne", "mov", "add", "sub"});
      fail(ptx::quoted(opcode_.text) + " is no instruction of litmus tests", ptx::suggestion(base, names));
      return std::nullopt;
    }
    op_.kind = b->kind;
    op_.space = b->space;
    op_.proxy = b->proxy;
    for (std::size_t n = 1; n < words_.size(); ++n)
      if (!modifier(words_[n])) return std::nullopt;
    return finish() ? std::optional(op_) : std::nullopt;
  }

 private:
  bool fail(std::string message, std::string hint = {}) {
    faults_.add(opcode_.place, std::move(message), std::move(hint));
    return false;
  }

  std::optional<MemOp> cache_control(const ControlWord& c) {
    instruction_.kind = InstructionKind::cache_control;
    op_.kind = MemKind::cache_control;
    op_.cache_target = c.target;
    op_.cache_operation = c.operation;
    return op_;
  }

  std::optional<MemOp> membar() {
    op_.kind = MemKind::fence;
    op_.semantics = Semantics::sc;
    const auto* s = words_.size() == 2 ? find(kScopes, words_[1]) : nullptr;
    if (s == nullptr || s->scope == Scope::cluster) {
      fail(ptx::quoted(opcode_.text) + " has no level", "membar.cta, membar.gl or membar.sys");
      return std::nullopt;
    }
    op_.scope = s->scope;
    return op_;
  }

  std::optional<MemOp> fence() {
    op_.kind = MemKind::fence;
    op_.semantics = Semantics::acq_rel;
    if (words_.size() > 1 && words_[1] == "proxy") {
      const auto* p = words_.size() == 3 ? find(kProxies, words_[2]) : nullptr;
      if (p == nullptr) {
        fail(ptx::quoted(opcode_.text) + " names no proxy", "alias, texture, surface or constant");
        return std::nullopt;
      }
      op_.kind = MemKind::proxy_fence;
      op_.proxy = p->proxy;
      op_.semantics = Semantics::weak;
      return op_;
    }
    for (std::size_t n = 1; n < words_.size(); ++n)
      if (!order(words_[n])) {
        fail("." + std::string(words_[n]) + " says nothing of a fence");
        return std::nullopt;
      }
    if (op_.scope == Scope::none || op_.semantics == Semantics::weak || op_.semantics == Semantics::relaxed) {
      fail(ptx::quoted(opcode_.text) + " is no fence", "fence.acq_rel.gpu or fence.sc.sys, for instance");
      return std::nullopt;
    }
    return op_;
  }

  /// A word that says semantics or scope.
  bool order(std::string_view word) {
    if (const auto* s = find(kSemantics, word)) {
      op_.semantics = s->semantics;
      ordered_ = true;
      return true;
    }
    const auto* scope = find(kScopes, word);
    if (scope == nullptr || word == "gl") return false;
    op_.scope = scope->scope;
    return true;
  }

  bool modifier(std::string_view word) {
    const bool atomic = op_.is_atomic();
    const bool generic = op_.proxy == Proxy::generic;
    if (order(word)) return true;
    if (word == "volatile" && generic && !atomic) return op_.is_volatile = true;
    if (word == "mmio" && generic && !atomic) return op_.is_mmio = true;
    if (word == "global" && generic) return op_.space = Space::global, true;
    if (word == "shared" && generic) return op_.space = Space::shared, true;
    if (word == "nc" && op_.kind == MemKind::load && generic) {
      op_.space = Space::global;
      op_.proxy = Proxy::noncoherent;
      return op_.is_noncoherent = true;
    }
    if (const auto* a = find(kAtomics, word); a != nullptr && atomic) {
      op_.atomic = a->operation;
      instruction_.subtracts = word == "sub";
      return true;
    }
    for (const OperatorWord& o : kOperators)
      if (o.word == word && generic && !atomic && o.loads == (op_.kind == MemKind::load)) {
        op_.cache_operator = o.cache_operator;
        return true;
      }
    if (const DataType type = data_type_from(word);
        type != DataType::none && !is_float(type) && size_of(type) != 0 && size_of(type) <= Test::kBytes) {
      op_.type = type;
      return true;
    }
    return fail("." + std::string(word) + " says nothing of a " + ptx::quoted(words_.front()));
  }

  bool finish() {
    const bool atomic = op_.is_atomic();
    if (atomic && op_.atomic == AtomicOperation::none)
      return fail("an atomic says what it does", ".add, for instance");
    if (atomic && op_.type != DataType::none && size_of(op_.type) < Test::kDefaultBytes)
      return fail("atomics of litmus tests have 4 or 8 bytes");
    if (atomic && ordered_ && !op_.is_strong()) return fail("an atomic is not weak", "relaxed, for instance");
    // Of mmio PTX wants ".relaxed.sys" to be written.
    if (op_.is_mmio && ordered_ && op_.semantics == Semantics::relaxed) ordered_ = false;
    if (op_.is_mmio && op_.scope == Scope::sys) op_.scope = Scope::none;
    if ((op_.is_volatile || op_.is_mmio) &&
        (ordered_ || op_.scope != Scope::none || op_.cache_operator != CacheOperator::none))
      return fail(ptx::quoted(opcode_.text) + " says its order twice",
                  "volatile and mmio accesses are relaxed, at the scope of the system");
    op_ = with_default_order(op_);
    if (op_.semantics != Semantics::weak && op_.scope == Scope::none)
      return fail(ptx::quoted(opcode_.text) + " has no scope", ".cta, .cluster, .gpu or .sys");
    if (op_.semantics == Semantics::weak && op_.scope != Scope::none)
      return fail("a weak access has no scope");
    if (op_.semantics != Semantics::weak &&
        (op_.proxy != Proxy::generic || op_.cache_operator != CacheOperator::none))
      return fail(ptx::quoted(opcode_.text) + " can only be weak");
    const bool reads = op_.reads(), writes = op_.writes();
    if (op_.semantics == Semantics::sc || (op_.acquires() && !reads && !atomic) ||
        (op_.releases() && !writes))
      return fail("." + std::string(op_.kind == MemKind::load ? "release" : "acquire") +
                  " and wider orders are not for " + ptx::quoted(words_.front()));
    return true;
  }

  const Token& opcode_;
  std::vector<std::string_view> words_;
  Instruction& instruction_;
  FaultList& faults_;
  MemOp op_;
  bool ordered_ = false;
};

}  // namespace

std::optional<MemOp> operation_of(const Token& opcode, Instruction& i, FaultList& faults) {
  return OpcodeReader(opcode, i, faults).run();
}

}  // namespace warpline::litmus
