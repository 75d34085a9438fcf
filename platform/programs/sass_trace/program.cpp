#include "platform/programs/sass_trace/program.h"

#include <algorithm>

namespace warpline::sass {
namespace {

const std::string kOthers = "others";
constexpr unsigned kZeroRegister = 255;  ///< RZ reads as zero and is never waited for

/// Collects register numbers without repetition, sources first.
class RegisterList {
 public:
  explicit RegisterList(Instruction& instruction) : instruction_(instruction) {}
  void source(unsigned first, unsigned count) { add(first, count, instruction_.source_count, 0); }
  void destination(unsigned first, unsigned count) {
    add(first, count, instruction_.destination_count, instruction_.source_count);
  }
  /// A register that is no R0 to R254.
  void pseudo(std::uint8_t& counter, unsigned number) { push(counter, number); }

 private:
  void add(unsigned first, unsigned count, std::uint8_t& counter, unsigned from) {
    if (first == kZeroRegister) return;
    for (unsigned r = first; r < std::min(first + count, kZeroRegister); ++r) {
      const auto begin = instruction_.registers.begin() + from;
      if (std::find(begin, begin + counter, r) == begin + counter) push(counter, r);
    }
  }
  /// Registers beyond the room an instruction has are those of the widest matrix operations; the
  /// first ones of each operand already carry the dependence.
  void push(std::uint8_t& counter, unsigned number) {
    const unsigned used = instruction_.source_count + instruction_.destination_count;
    if (used < Instruction::kMaxRegisters) {
      instruction_.registers[used] = static_cast<std::uint16_t>(number);
      ++counter;
    }
  }
  Instruction& instruction_;
};

DataType type_of_width(unsigned bytes, std::uint8_t& vector) {
  vector = static_cast<std::uint8_t>(bytes > 8 ? bytes / 4 : 1);
  switch (bytes) {
    case 1: return DataType::b8;
    case 2: return DataType::b16;
    case 8: return DataType::b64;
    default: return DataType::b32;
  }
}

/// How many registers source `i` of `n` names.
unsigned source_width(const Opcode& opcode, unsigned i, unsigned n) {
  const std::vector<std::uint8_t>& widths = opcode.source_registers;
  const bool stores = opcode.kind == InstructionKind::memory && opcode.mem.kind != MemKind::load;
  // With the address in a uniform register only the data is listed.
  if (stores && n == 1) return widths.back();
  return widths[std::min<std::size_t>(i, widths.size() - 1)];
}

Instruction make_instruction(const Operands& o, const Opcode& opcode) {
  Instruction i;
  i.kind = opcode.kind;
  i.latency = opcode.latency;
  i.pipe = opcode.pipe;
  i.mem = opcode.mem;
  i.pc = o.pc;
  RegisterList list(i);
  for (unsigned s = 0; s < o.source_count; ++s)
    list.source(o.sources[s], source_width(opcode, s, o.source_count));
  for (unsigned d = 0; d < o.destination_count; ++d)
    list.destination(o.destinations[d], d == 0 ? opcode.destination_registers : 1);
  return i;
}

/// Whether active lanes must say where they go.
bool needs_addresses(const Instruction& i) {
  return i.kind == InstructionKind::memory &&
         (i.mem.kind != MemKind::cache_control || i.mem.cache_target == CctlTarget::data_line);
}

}  // namespace

const StaticOp* Program::add_op(const StaticOp& op) {
  ops_.push_back(op);
  ops_.back().instruction.note_few_registers();
  return &ops_.back();
}

Program::Entry& Program::add(std::string_view text, const Operands& operands) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Opcode opcode = decode_opcode(operands.opcode);
  Entry e;
  Special special;
  for (const std::string& name : opcode.unknown) special.unknown.push_back(unknown_index(name));
  special.illegal = opcode.illegal;
  special.hint = opcode.hint;
  if (opcode.control) {
    Cctl c = *opcode.control;
    e.acts_on_all = c.acts_on_all();
    if (operands.source_count != 0) c.address_register = operands.sources[0];
    if (const std::optional<CctlFault> broken = judge(c)) special.illegal = rule_of(*broken);
    if (opcode.mem.controls_lines() && operands.width == 0 && operands.source_count == 0) {
      special.illegal = "an address is missing";
      special.hint = "as in " + std::string(operands.opcode) + " [R2]";
    }
  }
  if (opcode.kind == InstructionKind::memory) {
    if (opcode.mem.controls_lines() && operands.width == 0) {
      // Which lines it controls is not known.
      special.unknown.push_back(unknown_index(std::string(operands.opcode) + " without an address"));
      opcode = Opcode{};
    } else if (opcode.mem.space == Space::constant && operands.width == 0) {
      // Constant loads carry no address in most traces: an instruction of fixed latency.
      const std::uint8_t registers = opcode.destination_registers;
      opcode = Opcode{};
      opcode.latency = static_cast<std::uint8_t>(alu_latency("LDC"));
      opcode.destination_registers = registers;
    } else if (!opcode.explicit_width && operands.width != 0) {
      opcode.mem.type = type_of_width(operands.width, opcode.mem.vector);
    }
  }
  StaticOp op;
  op.instruction = make_instruction(operands, opcode);
  op.action = e.action = opcode.action;
  op.address_lanes = opcode.address_lanes;
  e.op = add_op(op);
  e.addressed = operands.width != 0 || needs_addresses(op.instruction);
  if (opcode.kind == InstructionKind::memory && opcode.mem.space == Space::generic) {
    StaticOp global = op;
    global.instruction.mem.space = Space::global;
    e.as_global = add_op(global);
  } else if (opcode.kind != InstructionKind::memory && opcode.kind != InstructionKind::alu) {
    StaticOp idle;
    idle.instruction = op.instruction;
    idle.instruction.kind = InstructionKind::alu;
    idle.instruction.mem = MemOp{};
    e.idle = add_op(idle);
  }
  e.text = text;
  e.number = static_cast<unsigned>(entries_.size());
  e.pc = operands.pc;
  e.width = static_cast<std::uint8_t>(operands.width);
  const bool has_twins = e.action == Action::async_copy || e.action == Action::async_wait;
  if (!special.unknown.empty() || !special.illegal.empty() || has_twins)
    e.special = std::make_unique<Special>(std::move(special));
  e.usual = e.action == Action::none && e.special == nullptr && e.idle == nullptr && e.as_global == nullptr;
  entries_.push_back(std::move(e));
  Entry& added = entries_.back();
  const auto [chunk, place] = place_of(added.number);
  if (by_number_[chunk] == nullptr) by_number_[chunk] = std::make_unique<Entry*[]>(kFirstChunk << chunk);
  by_number_[chunk][place] = &added;
  size_.store(entries_.size(), std::memory_order_release);
  known_.emplace(Line{operands.pc, added.text}, &added);
  return added;
}

const StaticOp*& Program::twin_of(Entry& entry, unsigned twin) {
  std::vector<const StaticOp*>& twins = entry.special->twins;
  if (twins.empty()) twins.resize(kRegisters - kFirstCopyRegister);
  return twins[twin];
}

const StaticOp* Program::copy_of(Entry& entry, unsigned group, unsigned copy) {
  const unsigned twin = group % kCopyGroups * kCopiesPerGroup + copy % kCopiesPerGroup;
  const std::lock_guard<std::mutex> lock(mutex_);
  const StaticOp*& made = twin_of(entry, twin);
  if (made == nullptr) {
    StaticOp op = *entry.op;
    RegisterList(op.instruction).pseudo(op.instruction.destination_count, kFirstCopyRegister + twin);
    made = add_op(op);
  }
  return made;
}

const StaticOp* Program::wait_for(Entry& entry, unsigned group) {
  const unsigned twin = group % kCopyGroups;
  const std::lock_guard<std::mutex> lock(mutex_);
  const StaticOp*& made = twin_of(entry, twin);
  if (made == nullptr) {
    StaticOp op = *entry.op;
    Instruction& i = op.instruction;
    i.source_count = i.destination_count = 0;
    // The newest groups that must have landed, as many as an instruction has room to name. Older
    // ones were issued before them and waited for by earlier DEPBARs.
    for (unsigned r = 0; r < Instruction::kMaxRegisters; ++r) {
      const unsigned bank = (group + kCopyGroups - r / kCopiesPerGroup) % kCopyGroups;
      RegisterList(i).pseudo(i.source_count,
                             kFirstCopyRegister + bank * kCopiesPerGroup + r % kCopiesPerGroup);
    }
    made = add_op(op);
  }
  return made;
}

unsigned Program::unknown_index(const std::string& name) {
  // A garbled file may hold any number of kinds; after so many, what more there is goes as one.
  constexpr std::size_t kMaxKinds = 500;
  const std::string& kind = unknown_names_.size() < kMaxKinds ? name : kOthers;
  const auto found = std::find(unknown_names_.begin(), unknown_names_.end(), kind);
  if (found != unknown_names_.end()) return static_cast<unsigned>(found - unknown_names_.begin());
  unknown_names_.push_back(kind);
  unknown_counts_.push_back(0);
  return static_cast<unsigned>(unknown_names_.size() - 1);
}

void Program::count_unknown(const std::string& name) {
  ++unknown_counts_[unknown_index(name)];
}

std::vector<std::string> Program::unknown() const {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < unknown_names_.size(); ++i)
    if (unknown_counts_[i] != 0) out.push_back(unknown_names_[i] + ": " + std::to_string(unknown_counts_[i]));
  return out;
}

}  // namespace warpline::sass
