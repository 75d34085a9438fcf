#include "platform/consistency/memory_opcode.h"

#include <algorithm>
#include <array>

#include "rtl_models/base/text.h"
#include "rtl_models/isa/qualifiers.h"

namespace warpline::litmus {
namespace {

/// Opcodes are PTX's own, but for accesses by texture, surface and constant: `tld`, `suld`, `sust` and
/// `cold`.
struct Base {
  std::string_view word;
  MemKind kind;
  Space space;
  Proxy proxy;
};
constexpr std::array<Base, 8> kBases = {{{"ld", MemKind::load, Space::generic, Proxy::generic},
                                         {"st", MemKind::store, Space::generic, Proxy::generic},
                                         {"atom", MemKind::atomic, Space::generic, Proxy::generic},
                                         {"red", MemKind::reduction, Space::generic, Proxy::generic},
                                         {"tld", MemKind::texture_load, Space::texture, Proxy::texture},
                                         {"suld", MemKind::surface_load, Space::surface, Proxy::surface},
                                         {"sust", MemKind::surface_store, Space::surface, Proxy::surface},
                                         {"cold", MemKind::load, Space::constant, Proxy::constant}}};

/// SASS's cache control of lines that no program's value depends on.
constexpr std::array<CctlOperation, 4> kControls = {CctlOperation::invalidate, CctlOperation::write_back,
                                                    CctlOperation::prefetch_l1,
                                                    CctlOperation::invalidate_all};

/// Reads the words of one opcode into a MemOp.
class OpcodeReader {
 public:
  OpcodeReader(const Token& opcode, Instruction& i, FaultList& faults)
      : opcode_(opcode), words_(split(opcode.text, '.')), instruction_(i), faults_(faults) {}

  std::optional<MemOp> run() {
    const std::string_view base = words_.front();
    if (base == "CCTL" && cache_control()) return op_;
    if (base == "cp") return async_copy();
    if (base == "mbarrier") return mbarrier();
    if (base == "barrier") return cluster_barrier();
    instruction_.kind = InstructionKind::fence;
    if (base == "membar") return membar();
    if (base == "fence") return fence();
    instruction_.kind = InstructionKind::memory;
    const auto* const b =
        std::find_if(kBases.begin(), kBases.end(), [base](const Base& x) { return x.word == base; });
    if (b == kBases.end()) {
      std::vector<std::string> names;
      for (const Base& known : kBases) names.emplace_back(known.word);
      names.insert(names.end(),
                   {"fence", "membar", "bar", "goto", "beq", "bne", "mov", "add", "sub", "setp"});
      return nothing(text::quoted(opcode_.text) + " is no instruction of litmus tests",
                     text::suggestion(base, names));
    }
    op_.kind = b->kind;
    op_.space = b->space;
    op_.proxy = b->proxy;
    asynchronous_ = words_.size() > 1 && words_[1] == "async" && (base == "st" || base == "red");
    for (std::size_t n = asynchronous_ ? 2 : 1; n < words_.size(); ++n)
      if (!modifier(words_[n])) return std::nullopt;
    return finish() ? std::optional(op_) : std::nullopt;
  }

 private:
  bool fail(std::string message, std::string hint = {}) {
    faults_.add(opcode_.place, std::move(message), std::move(hint));
    return false;
  }

  std::nullopt_t nothing(std::string message, std::string hint = {}) {
    fail(std::move(message), std::move(hint));
    return std::nullopt;
  }

  bool cache_control() {
    const auto operation = words_.size() == 2 ? cctl_operation_named(words_[1]) : std::nullopt;
    if (!operation || std::find(kControls.begin(), kControls.end(), *operation) == kControls.end())
      return false;
    instruction_.kind = InstructionKind::cache_control;
    Cctl c;
    c.operation = *operation;
    op_.kind = MemKind::cache_control;
    op_.cache_target = target_of(c);
    op_.cache_operation = *operation;
    return true;
  }

  static MemOp on_mbarrier(Semantics semantics, bool waits) {
    MemOp op;
    op.kind = waits ? MemKind::load : MemKind::atomic;
    op.space = Space::shared;
    if (!waits) op.atomic = AtomicOperation::add;
    op.semantics = semantics;
    op.scope = Scope::cta;
    return op;
  }

  /// `mbarrier.arrive`, `.expect_tx`, `.complete_tx`, `.test_wait` and `.try_wait`, with `.parity`; arrivals
  /// release and waits acquire, at the scope of the CTA, unless they say otherwise; the others are relaxed.
  std::optional<MemOp> mbarrier() {
    struct Way {
      std::string_view word;
      MbarrierUse use;
      Semantics semantics;
    };
    constexpr std::array<Way, 5> kWays = {{{"arrive", MbarrierUse::arrive, Semantics::release},
                                           {"expect_tx", MbarrierUse::expect, Semantics::relaxed},
                                           {"complete_tx", MbarrierUse::complete, Semantics::relaxed},
                                           {"test_wait", MbarrierUse::test_wait, Semantics::acquire},
                                           {"try_wait", MbarrierUse::test_wait, Semantics::acquire}}};
    instruction_.kind = InstructionKind::memory;
    const std::string_view word = words_.size() > 1 ? words_[1] : std::string_view{};
    const auto* const way =
        std::find_if(kWays.begin(), kWays.end(), [word](const Way& w) { return w.word == word; });
    if (way == kWays.end())
      return nothing(text::quoted(opcode_.text) + " is no operation on mbarriers of litmus tests",
                     "mbarrier.arrive, .expect_tx, .complete_tx, .test_wait or .try_wait");
    op_ = on_mbarrier(way->semantics, waits_for_phase(way->use));
    instruction_.mbarrier = way->use;
    instruction_.suspends = word == "try_wait";
    for (std::size_t n = 2; n < words_.size(); ++n) {
      if (waits_for_phase(way->use) && words_[n] == "parity") {
        instruction_.mbarrier = MbarrierUse::parity_wait;
        continue;
      }
      if (way->use == MbarrierUse::arrive && words_[n] == "expect_tx") {
        instruction_.mbarrier = MbarrierUse::arrive_expect;
        continue;
      }
      const bool fits = order(words_[n]) &&
                        (op_.semantics == Semantics::relaxed || op_.semantics == way->semantics) &&
                        (op_.scope == Scope::cta || op_.scope == Scope::cluster);
      if (!fits) return nothing("." + std::string(words_[n]) + " says nothing of an mbarrier");
    }
    return op_;
  }

  /// `cp.async.ca` and `.cg`, in whose words a size is no qualifier, and bulk copies.
  std::optional<MemOp> async_copy() {
    const std::string_view words = opcode_.text;
    op_.kind = MemKind::async_copy;
    op_.space = Space::global;
    if (words == "cp.async.bulk") {
      op_.kind = MemKind::bulk_copy;
      op_.proxy = Proxy::async;
      op_.type = DataType::b32;
    } else if (words == "cp.async.bulk.commit_group") {
      instruction_.kind = InstructionKind::commit_bulk;
      return op_;
    } else if (words == "cp.async.bulk.wait_group" || words == "cp.async.bulk.wait_group.read") {
      instruction_.kind = InstructionKind::wait_bulk;
      instruction_.reads_only = words != "cp.async.bulk.wait_group";
      return op_;
    } else if (words == "cp.async.ca") {
      op_.cache_operator = CacheOperator::ca;
    } else if (words == "cp.async.cg") {
      op_.cache_operator = CacheOperator::cg;
      op_.bypass_l1 = true;
    } else if (words == "cp.async.mbarrier.arrive.noinc") {
      op_ = on_mbarrier(Semantics::release, false);
      instruction_.mbarrier = MbarrierUse::copies_arrive;
    } else if (words == "cp.async.commit_group") {
      instruction_.kind = InstructionKind::commit_copies;
      return op_;
    } else if (words == "cp.async.wait_group" || words == "cp.async.wait_all") {
      instruction_.kind = InstructionKind::wait_copies;
      instruction_.waits = words == "cp.async.wait_group";
      return op_;
    } else {
      return nothing(text::quoted(words) + " is no asynchronous copy",
                     "cp.async.ca, .cg, .commit_group, .wait_group, .wait_all, or cp.async.bulk and its "
                     ".commit_group, .wait_group, .wait_group.read");
    }
    instruction_.kind = InstructionKind::memory;
    return op_;
  }

  /// `barrier.cluster.arrive`, with `.release` or `.relaxed`, and `.wait`, with `.acquire`.
  std::optional<MemOp> cluster_barrier() {
    const bool arrives = words_.size() > 2 && words_[2] == "arrive";
    const std::string_view order = words_.size() > 3 ? words_[3] : std::string_view{};
    const bool right =
        words_.size() < 5 && words_.size() > 2 && (arrives || words_[2] == "wait") &&
        (order.empty() || (arrives ? order == "release" || order == "relaxed" : order == "acquire"));
    if (!right)
      return nothing(text::quoted(opcode_.text) + " is no barrier of a cluster",
                     "barrier.cluster.arrive, .arrive.release, .arrive.relaxed, .wait or .wait.acquire");
    instruction_.kind = arrives ? InstructionKind::cluster_arrive : InstructionKind::cluster_wait;
    op_.kind = MemKind::fence;
    op_.scope = Scope::cluster;
    op_.semantics = !arrives             ? Semantics::acquire
                    : order == "relaxed" ? Semantics::relaxed
                                         : Semantics::release;
    return op_;
  }

  std::optional<MemOp> membar() {
    op_.kind = MemKind::fence;
    op_.semantics = Semantics::sc;
    auto scope = words_.size() == 2 ? membar_scope(words_[1]) : std::nullopt;
    if (words_.size() == 2 && value_named<Scope>(words_[1]) == Scope::gpu) scope = Scope::gpu;
    if (!scope)
      return nothing(text::quoted(opcode_.text) + " has no level", "membar.cta, membar.gl or membar.sys");
    op_.scope = *scope;
    return op_;
  }

  std::optional<MemOp> fence() {
    op_.kind = MemKind::fence;
    op_.semantics = Semantics::acq_rel;
    if (words_.size() > 1 && words_[1] == "proxy") {
      const auto proxy = words_.size() > 2 ? proxy_named(words_[2]) : std::nullopt;
      const std::string_view space = words_.size() == 4 ? words_[3] : std::string_view{};
      const bool of_space = space == "global" || space == "shared::cta" || space == "shared::cluster";
      if (!proxy || proxy == Proxy::tensormap || words_.size() > 4 ||
          (words_.size() == 4 && (proxy != Proxy::async || !of_space)))
        return nothing(
            text::quoted(opcode_.text) + " names no proxy",
            "alias, texture, surface, constant or async, the last also with .global, .shared::cta or "
            ".shared::cluster");
      if (of_space) op_.space = space == "global" ? Space::global : Space::shared;
      op_.kind = MemKind::proxy_fence;
      op_.proxy = *proxy;
      op_.semantics = Semantics::weak;
      return op_;
    }
    for (std::size_t n = 1; n < words_.size(); ++n)
      if (!order(words_[n])) return nothing("." + std::string(words_[n]) + " says nothing of a fence");
    if (op_.scope == Scope::none || op_.semantics == Semantics::weak || op_.semantics == Semantics::relaxed)
      return nothing(text::quoted(opcode_.text) + " is no fence",
                     "fence.acq_rel.gpu or fence.sc.sys, for instance");
    return op_;
  }

  /// A word that says semantics or scope.
  bool order(std::string_view word) {
    const Qualifier* const q = find_qualifier(word);
    if (q == nullptr || !(value_of<Semantics>(*q) || q->slot == Slot::scope)) return false;
    ordered_ = ordered_ || q->slot == Slot::semantics;
    return apply(*q, op_);
  }

  /// Whether `q` says something of such an access, as far as litmus tests write it.
  [[nodiscard]] bool takes(const Qualifier& q) const {
    const bool atomic = op_.is_atomic();
    const bool generic = op_.proxy == Proxy::generic;
    const bool load = op_.kind == MemKind::load;
    switch (q.slot) {
      case Slot::operation: return q.word == "nc" && load && generic;
      case Slot::semantics:
      case Slot::mmio: return generic && !atomic;
      case Slot::space: return generic && (q.word == "global" || q.word == "shared");
      case Slot::arithmetic: {
        const auto o = value_of<AtomicOperation>(q);
        return atomic && o != AtomicOperation::increment && o != AtomicOperation::decrement;
      }
      case Slot::cache_operator: {
        const auto o = *value_of<CacheOperator>(q);
        return generic && !atomic && (load ? is_of_loads(o) : is_of_stores(o));
      }
      case Slot::type: {
        const DataType type = value_of<DataType>(q).value_or(DataType::none);
        return !is_float(type) && size_of(type) != 0 &&
               (size_of(type) <= Test::kBytes || (type == DataType::b128 && atomic));
      }
      case Slot::vector: return generic && !atomic;
      default: return false;
    }
  }

  bool modifier(std::string_view word) {
    if (order(word)) return true;
    if (word == "sub" && op_.is_atomic()) {
      op_.atomic = AtomicOperation::add;
      return instruction_.subtracts = true;
    }
    if (const Qualifier* const q = find_qualifier(word); q != nullptr && takes(*q) && apply(*q, op_)) {
      if (q->slot == Slot::arithmetic) instruction_.subtracts = false;
      if (op_.is_noncoherent) op_.space = Space::global;
      return true;
    }
    return fail("." + std::string(word) + " says nothing of a " + text::quoted(words_.front()));
  }

  /// `st.async` is weak, `red.async` relaxed at the scope of the cluster, whether they say so or not.
  bool finish_asynchronous() {
    const bool atomic = op_.is_atomic();
    const bool wide = op_.type == DataType::none || size_of(op_.type) >= Test::kDefaultBytes;
    if (op_.vector > 1 || op_.type == DataType::b128 || !wide)
      return fail("asynchronous stores of litmus tests have 4 or 8 bytes, and are no vectors");
    if (ordered_ && op_.semantics != (atomic ? Semantics::relaxed : Semantics::weak))
      return fail(text::quoted(opcode_.text) + " takes no such order",
                  atomic ? "red.async is relaxed" : "st.async is weak");
    if (op_.scope != Scope::none && (!atomic || op_.scope != Scope::cluster))
      return fail(text::quoted(opcode_.text) + " takes no such scope");
    if (op_.cache_operator != CacheOperator::none || op_.is_volatile || op_.is_mmio)
      return fail(text::quoted(opcode_.text) + " says more than an asynchronous store does");
    op_.space = Space::shared;
    op_.semantics = atomic ? Semantics::relaxed : Semantics::weak;
    op_.scope = atomic ? Scope::cluster : Scope::none;
    instruction_.completes = 0;  // the parser says which
    return true;
  }

  bool finish() {
    const bool atomic = op_.is_atomic();
    if (atomic && op_.atomic == AtomicOperation::none)
      return fail("an atomic says what it does", ".add, for instance");
    const unsigned size = op_.type == DataType::none ? Test::kDefaultBytes : size_of(op_.type);
    const bool swaps_half = op_.atomic == AtomicOperation::compare_and_swap && size == 2;
    if (atomic && size < Test::kDefaultBytes && !swaps_half)
      return fail("atomics of litmus tests have 4 or 8 bytes, and .cas also 2");
    if (asynchronous_) return finish_asynchronous();
    if (op_.type == DataType::b128) {
      const bool swaps = op_.kind == MemKind::atomic && (op_.atomic == AtomicOperation::compare_and_swap ||
                                                         op_.atomic == AtomicOperation::exchange);
      if (!swaps || op_.vector > 1) return fail("of 128 bits there are atom.cas and atom.exch");
    } else if (size * op_.vector > Test::kBytes) {
      return fail("an access of litmus tests has at most 8 bytes");
    }
    if (op_.vector > 1 && op_.is_mmio) return fail("mmio accesses are no vectors");
    if (atomic && ordered_ && !op_.is_strong()) return fail("an atomic is not weak", "relaxed, for instance");
    // Of mmio PTX wants ".relaxed.sys" to be written.
    if (op_.is_mmio && ordered_ && op_.semantics == Semantics::relaxed) ordered_ = false;
    if (op_.is_mmio && op_.scope == Scope::sys) op_.scope = Scope::none;
    if ((op_.is_volatile || op_.is_mmio) &&
        (ordered_ || op_.scope != Scope::none || op_.cache_operator != CacheOperator::none))
      return fail(text::quoted(opcode_.text) + " says its order twice",
                  "volatile and mmio accesses are relaxed, at the scope of the system");
    op_ = with_default_order(op_);
    if (op_.semantics != Semantics::weak && op_.scope == Scope::none)
      return fail(text::quoted(opcode_.text) + " has no scope", ".cta, .cluster, .gpu or .sys");
    if (op_.semantics == Semantics::weak && op_.scope != Scope::none)
      return fail("a weak access has no scope");
    if (op_.semantics != Semantics::weak &&
        (op_.proxy != Proxy::generic || op_.cache_operator != CacheOperator::none))
      return fail(text::quoted(opcode_.text) + " can only be weak");
    const bool reads = op_.reads(), writes = op_.writes();
    if (op_.semantics == Semantics::sc || (op_.acquires() && !reads && !atomic) ||
        (op_.releases() && !writes))
      return fail("." + std::string(op_.kind == MemKind::load ? "release" : "acquire") +
                  " and wider orders are not for " + text::quoted(words_.front()));
    return true;
  }

  const Token& opcode_;
  std::vector<std::string_view> words_;
  Instruction& instruction_;
  FaultList& faults_;
  MemOp op_;
  bool ordered_ = false;
  bool asynchronous_ = false;  ///< `st.async`, `red.async`
};

}  // namespace

std::optional<MemOp> operation_of(const Token& opcode, Instruction& i, FaultList& faults) {
  return OpcodeReader(opcode, i, faults).run();
}

}  // namespace warpline::litmus
