#include <array>
#include <optional>
#include <utility>

#include "warpline/programs/sass_trace/opcode.h"

// Names of opcodes: CUDA Binary Utilities, "Instruction Set Reference" (Volta to Blackwell).
namespace warpline::sass {
namespace {

struct MemoryName {
  std::string_view name;
  MemKind kind;
  Space space;
};

constexpr std::array<MemoryName, 19> kNames = {{
    {"LDG", MemKind::load, Space::global},       {"STG", MemKind::store, Space::global},
    {"LD", MemKind::load, Space::generic},       {"ST", MemKind::store, Space::generic},
    {"LDL", MemKind::load, Space::local},        {"STL", MemKind::store, Space::local},
    {"LDS", MemKind::load, Space::shared},       {"STS", MemKind::store, Space::shared},
    {"LDSM", MemKind::load, Space::shared},      {"STSM", MemKind::store, Space::shared},
    {"LDC", MemKind::load, Space::constant},     {"LDGSTS", MemKind::async_copy, Space::global},
    {"ATOM", MemKind::atomic, Space::generic},   {"ATOMG", MemKind::atomic, Space::global},
    {"ATOMS", MemKind::atomic, Space::shared},   {"RED", MemKind::reduction, Space::generic},
    {"REDG", MemKind::reduction, Space::global}, {"REDS", MemKind::reduction, Space::shared},
    {"LDU", MemKind::load, Space::generic},
}};

struct Width {
  std::string_view word;
  DataType type;
  std::uint8_t vector;
};

constexpr std::array<Width, 26> kWidths = {{
    {"U8", DataType::u8, 1},         {"S8", DataType::s8, 1},         {"U16", DataType::u16, 1},
    {"S16", DataType::s16, 1},       {"8", DataType::b8, 1},          {"16", DataType::b16, 1},
    {"32", DataType::b32, 1},        {"64", DataType::b64, 1},        {"128", DataType::b32, 4},
    {"256", DataType::b32, 8},       {"U32", DataType::u32, 1},       {"S32", DataType::s32, 1},
    {"U64", DataType::u64, 1},       {"S64", DataType::s64, 1},       {"F32", DataType::f32, 1},
    {"F64", DataType::f64, 1},       {"F16", DataType::f16, 1},       {"F16x2", DataType::f16x2, 1},
    {"F16X2", DataType::f16x2, 1},   {"F16_V2", DataType::f16x2, 1},  {"BF16", DataType::bf16, 1},
    {"BF16x2", DataType::bf16x2, 1}, {"BF16X2", DataType::bf16x2, 1}, {"BF16_V2", DataType::bf16x2, 1},
    {"U128", DataType::b32, 4},      {"B128", DataType::b32, 4},
}};

constexpr std::array<std::pair<std::string_view, AtomicOperation>, 13> kAtomics = {{
    {"ADD", AtomicOperation::add},
    {"MIN", AtomicOperation::min},
    {"MAX", AtomicOperation::max},
    {"INC", AtomicOperation::increment},
    {"DEC", AtomicOperation::decrement},
    {"AND", AtomicOperation::bit_and},
    {"OR", AtomicOperation::bit_or},
    {"XOR", AtomicOperation::bit_xor},
    {"EXCH", AtomicOperation::exchange},
    {"CAS", AtomicOperation::compare_and_swap},
    {"CAST", AtomicOperation::compare_and_swap},
    {"SAFEADD", AtomicOperation::add},
    {"POPC", AtomicOperation::add},  // POPC.INC: adds the number of lanes that take part
}};

constexpr std::array<std::pair<std::string_view, Scope>, 7> kScopes = {{
    {"CTA", Scope::cta},
    {"SM", Scope::cta},
    {"CLUSTER", Scope::cluster},
    {"GPU", Scope::gpu},
    {"GL", Scope::gpu},
    {"VC", Scope::gpu},
    {"SYS", Scope::sys},
}};

constexpr std::array<std::pair<std::string_view, L1Eviction>, 5> kEvictions = {{
    {"EF", L1Eviction::first},
    {"EL", L1Eviction::last},
    {"EU", L1Eviction::unchanged},
    {"NA", L1Eviction::no_allocate},
    {"EN", L1Eviction::normal},
}};

/// Words that change nothing the memory system could see: rounding, sign extension of registers,
/// the layout of matrices, zero fill, scaled register offsets.
constexpr std::array<std::string_view, 18> kSilent = {"U",     "X4",   "X8",   "X16", "FTZ",  "RN",
                                                      "RZ",    "RM",   "RP",   "M88", "MT88", "T",
                                                      "ZFILL", "SPIN", "WEAK", "IL",  "IS",   "ISL"};

template <class Table>
auto look_up(const Table& table, std::string_view word) -> std::optional<decltype(table[0].second)> {
  for (const auto& row : table)
    if (row.first == word) return row.second;
  return std::nullopt;
}

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
    } else if (const auto scope = look_up(kScopes, word)) {
      scope_ = *scope;
    } else if (word == "CONSTANT" && m.kind == MemKind::load) {
      m.is_noncoherent = true;
      m.proxy = Proxy::noncoherent;
    } else if (word == "LU") {
      m.cache_operator = CacheOperator::lu;
    } else if (const auto eviction = look_up(kEvictions, word)) {
      m.l1_eviction = *eviction;
    } else if (word == "BYPASS") {
      m.bypass_l1 = true;
    } else if (word == "LTC64B" || word == "LTC128B" || word == "LTC256B") {
      m.prefetch_bytes = static_cast<std::uint16_t>(word == "LTC64B" ? 64 : word == "LTC128B" ? 128 : 256);
    } else if (atomic_ && m.atomic == AtomicOperation::add && word == "INC") {
      // The second half of POPC.INC.
    } else if (const auto atomic = atomic_ ? look_up(kAtomics, word) : std::nullopt) {
      m.atomic = *atomic;
    } else if (!take_width(word) && !is_silent(word)) {
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
    if (atomic_ && m.atomic == AtomicOperation::none) {
      m.atomic = AtomicOperation::exchange;
      out_.unknown.push_back(std::string(name_) + " without an operation");
    }
    set_registers();
  }

 private:
  bool take_width(std::string_view word) {
    for (const Width& w : kWidths) {
      if (w.word != word) continue;
      // `.16` of a matrix load is the size of an element.
      if (matrix_) return true;
      out_.mem.type = w.type;
      out_.mem.vector = w.vector;
      out_.explicit_width = true;
      return true;
    }
    return false;
  }
  static bool is_silent(std::string_view word) {
    for (const std::string_view s : kSilent)
      if (s == word) return true;
    return false;
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
  for (const MemoryName& n : kNames) {
    if (n.name != name) continue;
    out.kind = InstructionKind::memory;
    out.mem.kind = n.kind;
    out.mem.space = n.space;
    out.mem.type = DataType::b32;
    if (n.kind == MemKind::async_copy) out.action = Action::async_copy;
    ModifierReader reader(name, out);
    for (const std::string_view w : words) reader.take(w);
    reader.finish();
    return true;
  }
  return false;
}

}  // namespace warpline::sass
