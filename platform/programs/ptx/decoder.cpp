#include "warpline/programs/ptx/decoder.h"

#include <algorithm>

#include "warpline/base/contract.h"
#include "warpline/programs/ptx/legality/judge.h"
#include "warpline/programs/ptx/opcodes.h"

namespace warpline::ptx {
namespace {

/// Operations of one program: far above real kernels, far below what would not fit in memory.
constexpr std::size_t kMostOperations = 4U << 20;

/// Whether the assembler takes `s`; what it has against it goes to `faults`.
bool is_legal(const ModuleDecl& module, const FunctionDecl& function, const Statement& s, FaultList& faults) {
  const Names names(module, function, s.scope);
  if (!touches_memory(s, names)) return true;
  const LanguageOrFault language = language_of(module.version, module.target);
  if (!language.language) return true;  // a fault of the module: there is nothing to judge by
  const Judgement j = judge(s, names, *language.language);
  for (const Remark& r : j.faults) faults.add(r.place, r.message, r.hint);
  return j.faults.empty();
}

}  // namespace

std::vector<std::uint32_t> parameter_offsets(const FunctionDecl& entry) {
  std::vector<std::uint32_t> offsets;
  std::uint64_t at = 0;
  for (const int p : entry.parameters) {
    const VariableDecl& v = entry.variables[static_cast<std::size_t>(p)];
    at = align_up(at, v.alignment);
    offsets.push_back(static_cast<std::uint32_t>(at));
    at += v.bytes;
  }
  offsets.push_back(static_cast<std::uint32_t>(at));
  return offsets;
}

Decoder::Decoder(const ModuleDecl& module, FaultList& faults) : module_(module), faults_(faults) {}

Program Decoder::decode(const FunctionDecl& entry) {
  program_.file = faults_.file();
  collect_functions(entry);
  if (entry.is_entry) {
    program_.parameter_bytes = parameter_offsets(entry).back();
    if (program_.parameter_bytes > Limits::kParameterBytes)
      faults_.add(entry.place, "the parameters of " + quoted(entry.name) + " take more than " +
                                   std::to_string(Limits::kParameterBytes) + " bytes");
  }
  for (std::size_t i = 0; i < program_.functions.size() && !faults_.full(); ++i) decode_function(i);
  program_.local_bytes = static_cast<std::uint32_t>(align_up(program_.local_bytes, 16));
  program_.file_bytes = static_cast<std::uint32_t>(align_up(program_.file_bytes, 64));
  if (program_.shared_bytes > Limits::kWindowBytes || program_.local_bytes > Limits::kWindowBytes)
    faults_.add(entry.place,
                "the shared or local variables of " + quoted(entry.name) + " do not fit in their window");
  return std::move(program_);
}

void Decoder::begin_function(std::size_t image) {
  image_ = image;
  const int declaration = program_.functions[image].declaration;
  function_ = module_.functions[static_cast<std::size_t>(declaration)].get();
  starts_.clear();
  pending_.clear();
  registers_.clear();
  blocks_.clear();
  locals_.clear();
  loaded_.clear();
  returns_.clear();
  frame_.reset();
  read_.clear();
  written_.clear();
  program_.functions[image].entry = static_cast<std::uint32_t>(program_.ops.size());
  if (program_.functions[image].recursive) {
    frame_ = allocate(DataType::u64, true);
    program_.functions[image].local_base = frame_->ref;
  }
}

void Decoder::decode_function(std::size_t image) {
  begin_function(image);
  for (const Statement& s : function_->statements) {
    starts_.push_back(static_cast<std::uint32_t>(program_.ops.size()));
    if (program_.ops.size() > kMostOperations) {
      faults_.add(s.opcode.place(), "this kernel has too many instructions");
      break;
    }
    decode_statement(s);
    if (faults_.full()) return;
  }
  starts_.resize(function_->statements.size() + 1, static_cast<std::uint32_t>(program_.ops.size()));
  statement_ = nullptr;
  emit_return();
  if (program_.functions[image].recursive) finish_recursive_function();
  patch_branches();
}

void Decoder::emit_return() {
  Op op;
  if (program_.functions[image_].recursive) {
    op.flow = Flow::branch;
    returns_.push_back(static_cast<std::uint32_t>(program_.ops.size()));
  } else {
    op.flow = Flow::back;
  }
  // The kernel's own returns end the thread, and pop nothing.
  emit(op, op.flow == Flow::back && image_ != 0 ? InstructionKind::ret : InstructionKind::alu, 4);
}

void Decoder::emit_waits() {
  std::sort(loaded_.begin(), loaded_.end());
  loaded_.erase(std::unique(loaded_.begin(), loaded_.end()), loaded_.end());
  for (std::size_t i = 0; i < loaded_.size(); i += Instruction::kMaxRegisters) {
    const std::size_t end = std::min<std::size_t>(loaded_.size(), i + Instruction::kMaxRegisters);
    read_.assign(loaded_.begin() + static_cast<std::ptrdiff_t>(i),
                 loaded_.begin() + static_cast<std::ptrdiff_t>(end));
    emit(Op{}, 1);
  }
}

// A recursive function starts with a prologue behind its body: it waits until no load of an
// earlier activation is under way, then saves that activation's registers. Its returns meet in an
// epilogue that waits likewise and restores them.
void Decoder::finish_recursive_function() {
  FunctionImage& f = program_.functions[image_];
  const std::uint32_t body = f.entry;
  f.entry = static_cast<std::uint32_t>(program_.ops.size());
  emit_waits();
  Op enter;
  enter.flow = Flow::branch;
  enter.mode = 1;  // save
  enter.target = body;
  emit(enter, 4);
  const auto epilogue = static_cast<std::uint32_t>(program_.ops.size());
  emit_waits();
  Op back;
  back.flow = Flow::back;
  emit(back, InstructionKind::ret, 4);
  for (const std::uint32_t r : returns_) program_.ops[r].target = epilogue;
  f.local_bytes = static_cast<std::uint32_t>(align_up(f.local_bytes, 16));
  for (const auto& [variable, block] : blocks_) f.blocks.push_back(block);
}

void Decoder::decode_statement(const Statement& s) {
  if (!is_legal(module_, *function_, s, faults_)) return;
  statement_ = &s;
  left_.clear();
  read_.clear();
  written_.clear();
  for (const Token& q : s.qualifiers) left_.push_back(&q);
  try {
    find_opcode(s.opcode.text)->decode(*this);
    if (const Token* q = take_any())
      fail(q->place(),
           "qualifier " + quoted(q->text) + " is not supported on " + quoted(s.opcode.text) + " here");
  } catch (const DecodeError&) {
  }
}

Op& Decoder::emit(Op op, InstructionKind kind, unsigned latency, const MemOp* mem) {
  Instruction i;
  if (statement_ != nullptr) resolve_guard(op);
  i.kind = kind;
  i.latency = static_cast<std::uint8_t>(latency);
  if (mem != nullptr) i.mem = *mem;
  const auto put = [&i](std::vector<std::uint16_t>& list, std::uint8_t& count) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    for (const std::uint16_t r : list) {
      const std::size_t at = std::size_t{i.source_count} + i.destination_count;
      WARPLINE_EXPECT(at < i.registers.size(), "an instruction names at most kMaxRegisters registers");
      i.registers[at] = r;
      ++count;
    }
  };
  put(read_, i.source_count);
  put(written_, i.destination_count);
  if (kind == InstructionKind::memory) loaded_.insert(loaded_.end(), written_.begin(), written_.end());
  read_.clear();
  written_.clear();
  i.pc = static_cast<std::uint32_t>(program_.ops.size() << kPcShift);
  program_.instructions.push_back(i);
  program_.lines.push_back(statement_ != nullptr ? faults_.line_of(statement_->opcode.offset)
                                                 : faults_.line_of(function_->place.offset));
  program_.ops.push_back(op);
  return program_.ops.back();
}

void Decoder::resolve_guard(Op& op) {
  if (statement_->guard.empty()) return;
  Operand o;
  o.name = statement_->guard;
  o.token.offset = statement_->guard_place.offset;
  o.token.text = statement_->guard;
  op.guard = predicate_source(o);
  op.guarded = true;
  op.guard_negated = statement_->guard_negated;
}

void Decoder::branch_to(Op& op, const Operand& label) {
  if (label.kind != Operand::Kind::name) fail(label.token.place(), "expected a label");
  pending_.push_back({static_cast<std::uint32_t>(program_.ops.size()), label.name, label.token.place()});
  op.flow = Flow::branch;
}

std::uint32_t Decoder::branch_table(const std::string& name, Place place) {
  const auto list = function_->target_lists.find(name);
  if (list == function_->target_lists.end()) fail(place, quoted(name) + " is not a list of '.branchtargets'");
  const auto index = static_cast<std::uint32_t>(program_.tables.size());
  program_.tables.emplace_back();
  // Targets are patched with the branches: `op` counts on from the table's own marker.
  for (const auto& [label, where] : list->second.labels) {
    const std::uint32_t slot = static_cast<std::uint32_t>(program_.tables.back().size());
    program_.tables.back().push_back(0);
    pending_.push_back({0x8000'0000U | (index << 12U) | slot, label, where});
    if (slot == 4095) fail(place, "a list of '.branchtargets' has at most 4095 labels");
  }
  return index;
}

void Decoder::patch_branches() {
  for (const Pending& p : pending_) {
    const auto found = function_->labels.find(p.label);
    if (found == function_->labels.end()) {
      faults_.add(p.place, "label " + quoted(p.label) + " is not defined in " + quoted(function_->name),
                  suggestion(p.label, label_names()));
      continue;
    }
    const std::uint32_t target = starts_[found->second.statement];
    if ((p.op & 0x8000'0000U) != 0)
      program_.tables[(p.op >> 12U) & 0x7FFFFU][p.op & 0xFFFU] = target;
    else
      program_.ops[p.op].target = target;
  }
}

std::vector<std::string> Decoder::label_names() const {
  std::vector<std::string> names;
  for (const auto& [name, label] : function_->labels) names.push_back(name);
  return names;
}

std::uint32_t Decoder::add_call(CallSite site) {
  program_.calls.push_back(std::move(site));
  return static_cast<std::uint32_t>(program_.calls.size() - 1);
}

}  // namespace warpline::ptx
