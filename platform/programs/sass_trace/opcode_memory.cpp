#include <algorithm>
#include <array>

#include "platform/programs/sass_trace/opcode.h"
#include "rtl_models/isa/sass_words.h"

namespace warpline::sass {
namespace {

/// Words that change nothing the memory system could see: rounding, sign extension of registers,
/// the layout of matrices, zero fill, scaled register offsets.
constexpr std::array<std::string_view, 18> kSilent = {"U",     "X4",   "X8",   "X16", "FTZ",  "RN",
                                                      "RZ",    "RM",   "RP",   "M88", "MT88", "T",
                                                      "ZFILL", "SPIN", "WEAK", "IL",  "IS",   "ISL"};

/// Reads the modifiers of one memory opcode, word by word.
class ModifierReader {
 public:
  ModifierReader(std::string_view name, Opcode& out)
      : name_(name), out_(out), matrix_(name == "LDSM" || name == "STSM"), atomic_(out.mem.is_atomic()) {}

  void take(std::string_view word) {
    MemOp& m = out_.mem;
    if (matrix_ && (word == "1" || word == "2" || word == "4")) {
      matrices_ = static_cast<unsigned>(word[0] - '0');
    } else if (word == "E") {
      out_.wide_address = true;
    } else if (word == "STRONG") {
      strong_ = true;
    } else if (word == "MMIO" && (m.kind == MemKind::load || m.kind == MemKind::store) && reaches_devices()) {
      m.is_mmio = strong_ = true;
      scope_ = Scope::sys;
    } else if (const Scope* const scope = find_sass(kSassScopes, word)) {
      scope_ = *scope;
    } else if (word == "CONSTANT" && m.kind == MemKind::load) {
      m.is_noncoherent = true;
      m.proxy = Proxy::noncoherent;
    } else if (word == "LU") {
      m.cache_operator = CacheOperator::lu;
    } else if (const L1Eviction* const eviction = find_sass(kSassEvictions, word)) {
      m.l1_eviction = *eviction;
    } else if (word == "BYPASS") {
      m.bypass_l1 = true;
    } else if (const unsigned* const bytes = find_sass(kSassPrefetches, word)) {
      m.prefetch_bytes = static_cast<std::uint16_t>(*bytes);
    } else if (atomic_ && m.atomic == AtomicOperation::add && word == "INC") {
      // The second half of POPC.INC.
    } else if (const AtomicOperation* const atomic = atomic_ ? find_sass(kSassAtomics, word) : nullptr) {
      m.atomic = *atomic;
    } else if (!take_width(word) && std::find(kSilent.begin(), kSilent.end(), word) == kSilent.end()) {
      out_.unknown.push_back(std::string(name_) + "." + std::string(word));
    }
  }

  void finish() {
    MemOp& m = out_.mem;
    if (matrix_) {
      // Each lane names a row of 16 bytes; a matrix has eight rows.
      m.type = DataType::b32;
      m.vector = 4;
      out_.explicit_width = true;
      out_.address_lanes = matrices_ >= 4 ? 0xFFFFFFFFU : (LaneMask{1} << (8 * matrices_)) - 1;
    }
    // A load or store with a scope but without STRONG is how Volta writes a weak access. An unqualified
    // atom or red is .relaxed.gpu (PTX ISA, "atom").
    if (strong_ || atomic_) {
      m.semantics = Semantics::relaxed;
      m.scope = scope_ == Scope::none ? Scope::gpu : scope_;
    }
    if (m.is_mmio && m.vector > 1) {
      m.is_mmio = false;
      out_.unknown.push_back(std::string(name_) + ".MMIO of a vector");
    }
    if (atomic_ && m.atomic == AtomicOperation::none) {
      m.atomic = AtomicOperation::exchange;
      out_.unknown.push_back(std::string(name_) + " without an operation");
    }
    set_registers();
  }

 private:
  [[nodiscard]] bool reaches_devices() const {
    return out_.mem.space == Space::generic || out_.mem.space == Space::global;
  }
  bool take_width(std::string_view word) {
    const SassWidth* const width = find_sass(kSassWidths, word);
    // `.16` of a matrix load is the size of an element.
    if (width == nullptr || matrix_) return width != nullptr;
    out_.mem.type = width->type;
    out_.mem.vector = width->vector;
    return out_.explicit_width = true;
  }
  void set_registers() {
    const unsigned bytes = out_.mem.bytes_per_lane();
    const auto data = static_cast<std::uint8_t>(bytes <= 4 ? 1 : bytes / 4);
    const auto address = static_cast<std::uint8_t>(out_.wide_address ? 2 : 1);
    const auto moved = static_cast<std::uint8_t>(matrix_ ? matrices_ : data);
    out_.destination_registers = moved;
    if (out_.mem.kind == MemKind::async_copy)
      out_.source_registers = {1, address};  // where to in shared memory, where from
    else
      out_.source_registers = {address, moved};
  }

  std::string_view name_;
  Opcode& out_;
  bool matrix_, atomic_;
  bool strong_ = false;
  Scope scope_ = Scope::none;
  unsigned matrices_ = 1;
};

}  // namespace

bool decode_memory_opcode(std::string_view name, const std::vector<std::string_view>& words, Opcode& out) {
  const SassAccess* const access = find_sass(kSassAccesses, name);
  if (access == nullptr) return false;
  out.kind = InstructionKind::memory;
  out.mem.kind = access->kind;
  out.mem.space = access->space;
  out.mem.type = DataType::b32;
  if (access->kind == MemKind::async_copy) out.action = Action::async_copy;
  ModifierReader reader(name, out);
  for (const std::string_view w : words) reader.take(w);
  reader.finish();
  return true;
}

}  // namespace warpline::sass
