#include "platform/programs/ptx/decoder.h"

#include <algorithm>
#include <cstring>

#include "platform/programs/ptx/opcodes.h"
#include "platform/programs/ptx/pipes.h"
#include "platform/programs/ptx_legality/judge.h"
#include "platform/programs/ptx_syntax/special_registers.h"
#include "rtl_models/base/contract.h"
#include "rtl_models/sm/address_windows.h"

namespace warpline::ptx {
namespace {

/// Operations of one program: far above real kernels, far below what would not fit in memory.
constexpr std::size_t kMostOperations = 4U << 20;

enum class Family : std::uint8_t { bits, integer, real, predicate };

Family family_of(DataType t) {
  if (t == DataType::pred) return Family::predicate;
  if (t >= DataType::b8 && t <= DataType::b128) return Family::bits;
  return is_float(t) ? Family::real : Family::integer;
}

bool is_half(DataType t) {
  return t >= DataType::f16 && t <= DataType::bf16x2;
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

Decoder::Decoder(const ModuleDecl& module, FaultList& faults, FaultList& illegal)
    : module_(module), faults_(faults), illegal_(illegal) {
  for (const UnitDecl& u : module.units) languages_.push_back(language_of(u.version, u.target).language);
  if (module.units.empty()) languages_.push_back(language_of(module.version, module.target).language);
}

/// Whether the assembler takes `s`; what it has against it goes to the faults.
bool Decoder::is_legal(const Statement& s) {
  const std::optional<Language>& language = languages_[now_.declaration->unit];
  if (!language) return true;  // a fault of the module: there is nothing to judge by
  const Names names(module_, *now_.declaration, s.scope);
  std::vector<Remark> all = judge_special_registers(s, names, *language);
  if (all.empty()) all = judge_to_decode(s, names, *language);
  for (const Remark& r : all) illegal_.add(r.place, r.message, r.hint);
  return all.empty();
}

Program Decoder::decode(const FunctionDecl& entry) {
  program_.files = faults_.files();
  now_.declaration = &entry;
  for (const ReachedFunction& f : reached_functions(module_, entry)) create_image(f);
  if (entry.is_entry) {
    program_.parameter_bytes = parameter_offsets(entry).back();
    if (program_.parameter_bytes > Limits::kParameterBytes)
      faults_.add(entry.place, "the parameters of " + quoted(entry.name) + " take more than " +
                                   std::to_string(Limits::kParameterBytes) + " bytes");
  }
  for (std::size_t i = 0; i < program_.functions.size() && !faults_.full(); ++i) {
    const std::uint32_t begin = program_.file_bytes;
    decode_function(i);
    own_.push_back({begin, program_.file_bytes});
  }
  divide_file();
  program_.local_bytes = static_cast<std::uint32_t>(align_up(program_.local_bytes, 16));
  program_.file_bytes = static_cast<std::uint32_t>(align_up(program_.file_bytes, 64));
  for (const std::uint32_t op : stack_operations_) program_.ops[op].immediate = program_.thread_bytes();
  if (program_.shared_bytes > Limits::kWindowBytes || program_.local_bytes > Limits::kWindowBytes)
    faults_.add(entry.place,
                "the shared or local variables of " + quoted(entry.name) + " do not fit in their window");
  return std::move(program_);
}

void Decoder::divide_file() {
  // What a function took when it was decoded, and others have, too.
  std::vector<FileRange> shared;
  for (const SpecialSlot& s : program_.specials) {
    const auto begin = static_cast<std::uint32_t>(s.ref);
    shared.push_back({begin, begin + s.bytes * kWarpLanes});
  }
  if (stack_use_)
    shared.push_back({static_cast<std::uint32_t>(stack_use_->ref),
                      static_cast<std::uint32_t>(stack_use_->ref) + 8 * kWarpLanes});
  std::sort(shared.begin(), shared.end(),
            [](const FileRange& a, const FileRange& b) { return a.begin < b.begin; });
  const std::uint32_t warm = own_.empty() ? program_.file_bytes : own_.front().end;
  program_.cleared.push_back({0, warm});
  for (const FileRange& s : shared)
    if (s.begin >= warm) program_.cleared.push_back(s);
  for (std::size_t i = 1; i < own_.size(); ++i) {
    std::uint32_t at = own_[i].begin;
    const auto clear_to = [&](std::uint32_t end) {
      if (end > at) program_.functions[i].cleared.push_back({at, end});
    };
    for (const FileRange& s : shared) {
      if (s.begin < own_[i].begin || s.begin >= own_[i].end) continue;
      clear_to(s.begin);
      at = s.end;
    }
    clear_to(own_[i].end);
  }
}

void Decoder::begin_function(std::size_t image) {
  FunctionImage& f = program_.functions[image];
  now_ = {};
  now_.declaration = module_.functions[static_cast<std::size_t>(f.declaration)].get();
  now_.image = image;
  f.entry = next_op();
  if (f.recursive) {
    now_.frame = new_register(DataType::u64);
    f.local_base = now_.frame->ref;
  }
  const auto& statements = now_.declaration->statements;
  if (std::none_of(statements.begin(), statements.end(),
                   [](const Statement& s) { return s.opcode.is("alloca") || s.opcode.is("stackrestore"); }))
    return;
  if (!stack_use_) stack_use_ = new_register(DataType::u64);
  now_.stack = new_register(DataType::u64);
  copy_stack_use(*stack_use_, *now_.stack);
}

void Decoder::copy_stack_use(const Register& from, const Register& to) {
  Op op;
  op.run = [](const Op& copy, Frame& f) { f.write(copy.r[0], f.in<std::uint64_t>(copy.r[1])); };
  op.r[1] = reads(from);
  op.r[0] = writes(to);
  emit(op, 4);
}

void Decoder::take_stack(Op& op, std::size_t index, bool changes) {
  if (!stack_use_) stack_use_ = new_register(DataType::u64);
  program_.has_stack = true;
  stack_operations_.push_back(next_op());
  op.r.at(index) = reads(*stack_use_);
  if (changes) writes(*stack_use_);
}

void Decoder::decode_function(std::size_t image) {
  begin_function(image);
  for (const Statement& s : now_.declaration->statements) {
    now_.starts.push_back(next_op());
    if (program_.ops.size() > kMostOperations) {
      faults_.add(s.opcode.place(), "this kernel has too many instructions");
      break;
    }
    decode_statement(s);
    if (faults_.full()) return;
  }
  now_.starts.resize(now_.declaration->statements.size() + 1, next_op());
  statement_ = nullptr;
  emit_return();
  if (program_.functions[image].recursive) finish_recursive_function();
  patch_branches();
}

void Decoder::emit_return() {
  Op op;
  if (now_.stack) copy_stack_use(*now_.stack, *stack_use_);
  if (image().recursive) {
    op.flow = Flow::branch;
    now_.returns.push_back(next_op());
  } else {
    op.flow = Flow::back;
  }
  // The kernel's own returns end the thread, and pop nothing.
  emit(op, op.flow == Flow::back && now_.image != 0 ? InstructionKind::ret : InstructionKind::alu, 4);
}

void Decoder::emit_waits() {
  std::sort(now_.loaded.begin(), now_.loaded.end());
  now_.loaded.erase(std::unique(now_.loaded.begin(), now_.loaded.end()), now_.loaded.end());
  for (std::size_t i = 0; i < now_.loaded.size(); i += Instruction::kMaxRegisters) {
    const std::size_t end = std::min<std::size_t>(now_.loaded.size(), i + Instruction::kMaxRegisters);
    now_.read.assign(now_.loaded.begin() + static_cast<std::ptrdiff_t>(i),
                     now_.loaded.begin() + static_cast<std::ptrdiff_t>(end));
    emit(Op{}, 1);
  }
}

// A recursive function starts with a prologue behind its body: it waits until no load of an
// earlier activation is under way, then saves that activation's registers. Its returns meet in an
// epilogue that waits likewise and restores them.
void Decoder::finish_recursive_function() {
  FunctionImage& f = image();
  const std::uint32_t body = f.entry;
  f.entry = next_op();
  emit_waits();
  Op enter;
  enter.flow = Flow::branch;
  enter.mode = 1;  // save
  enter.target = body;
  emit(enter, 4);
  const auto epilogue = next_op();
  emit_waits();
  Op back;
  back.flow = Flow::back;
  emit(back, InstructionKind::ret, 4);
  for (const std::uint32_t r : now_.returns) program_.ops[r].target = epilogue;
  f.local_bytes = static_cast<std::uint32_t>(align_up(f.local_bytes, 16));
  for (const auto& [variable, block] : now_.blocks) f.blocks.push_back(block);
}

void Decoder::decode_statement(const Statement& s) {
  if (!is_legal(s)) return;
  statement_ = &s;
  left_.clear();
  now_.read.clear();
  now_.written.clear();
  for (const Token& q : s.qualifiers) left_.push_back(&q);
  try {
    const Opcode* const opcode = find_opcode(s.opcode.text);
    // What is in neither table was not read.
    (opcode != nullptr ? opcode : find_library_opcode(s.opcode.text))->decode(*this);
    if (const Token* q = take_any())
      fail(q->place(),
           "qualifier " + quoted(q->text) + " is not supported on " + quoted(s.opcode.text) + " here");
  } catch (const DecodeError&) {
  }
}

Op& Decoder::emit(Op op, InstructionKind kind, unsigned latency, const MemOp* mem) {
  Instruction i;
  if (statement_ != nullptr) resolve_guard(op);
  op.runs_ahead = kind == InstructionKind::alu && (op.flow == Flow::next || op.flow == Flow::branch ||
                                                   op.flow == Flow::exit || op.flow == Flow::converge);
  op.is_private = op.runs_ahead && (op.flow == Flow::next || op.flow == Flow::branch);
  i.kind = kind;
  i.latency = static_cast<std::uint8_t>(latency);
  if (mem != nullptr) i.mem = *mem;
  if (kind == InstructionKind::alu && statement_ != nullptr) assign_pipe(*statement_, i);
  const auto sort = [](std::vector<std::uint16_t>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    WARPLINE_EXPECT(list.size() <= 0xFF, "an instruction reads, or writes, at most 255 registers");
  };
  sort(now_.read);
  sort(now_.written);
  i.name_registers(now_.read, now_.written);
  if (kind == InstructionKind::memory)
    now_.loaded.insert(now_.loaded.end(), now_.written.begin(), now_.written.end());
  now_.read.clear();
  now_.written.clear();
  i.pc = static_cast<std::uint32_t>(program_.ops.size() << kPcShift);
  program_.instructions.push_back(i);
  program_.lines.push_back(statement_ != nullptr ? faults_.line_of(statement_->opcode.offset)
                                                 : faults_.line_of(now_.declaration->place.offset));
  program_.ops.push_back(op);
  return program_.ops.back();
}

const MatrixProduct* Decoder::keep(MatrixProduct product) {
  return program_.products.emplace_back(std::make_unique<const MatrixProduct>(std::move(product))).get();
}

const LoadedFragment* Decoder::keep(LoadedFragment fragment) {
  return program_.fragments.emplace_back(std::make_unique<const LoadedFragment>(std::move(fragment))).get();
}

Op& Decoder::emit_together(Op op, InstructionKind kind, unsigned latency, const MemOp* mem) {
  op.flow = Flow::converge;
  op.r[Op::kMask] = constant(~std::uint32_t{0}, 4);
  return emit(op, kind, latency, mem);
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
  now_.pending.push_back({next_op(), label.name, label.token.place(), statement_->scope});
  op.flow = Flow::branch;
}

std::uint32_t Decoder::branch_table(const std::string& name, Place place) {
  const auto list = now_.declaration->target_lists.find(name);
  if (list == now_.declaration->target_lists.end())
    fail(place, quoted(name) + " is not a list of '.branchtargets'");
  const auto index = static_cast<std::uint32_t>(program_.tables.size());
  program_.tables.emplace_back();
  // Targets are patched with the branches: `op` counts on from the table's own marker.
  for (const auto& [label, where] : list->second.labels) {
    const std::uint32_t slot = static_cast<std::uint32_t>(program_.tables.back().size());
    program_.tables.back().push_back(0);
    now_.pending.push_back({0x8000'0000U | (index << 12U) | slot, label, where, statement_->scope});
    if (slot == 4095) fail(place, "a list of '.branchtargets' has at most 4095 labels");
  }
  return index;
}

void Decoder::patch_branches() {
  for (const Pending& p : now_.pending) {
    const LabelDecl* const found = now_.declaration->find_label(p.label, p.scope);
    if (found == nullptr) {
      faults_.add(p.place,
                  "label " + quoted(p.label) + " is not defined in " + quoted(now_.declaration->name),
                  suggestion(p.label, label_names()));
      continue;
    }
    const std::uint32_t target = now_.starts[found->statement];
    if ((p.op & 0x8000'0000U) != 0)
      program_.tables[(p.op >> 12U) & 0x7FFFFU][p.op & 0xFFFU] = target;
    else
      program_.ops[p.op].target = target;
  }
}

std::vector<std::string> Decoder::label_names() const {
  std::vector<std::string> names;
  for (const auto& [name, label] : now_.declaration->labels) names.push_back(name);
  return names;
}

std::uint32_t Decoder::add_call(CallSite site) {
  program_.calls.push_back(std::move(site));
  return static_cast<std::uint32_t>(program_.calls.size() - 1);
}

bool Decoder::take(std::string_view text) {
  return take_one_of({text}).has_value();
}

std::optional<std::size_t> Decoder::take_one_of(std::initializer_list<std::string_view> names) {
  for (auto q = left_.begin(); q != left_.end(); ++q) {
    const auto found = std::find(names.begin(), names.end(), (*q)->text);
    if (found == names.end()) continue;
    left_.erase(q);
    return static_cast<std::size_t>(found - names.begin());
  }
  return std::nullopt;
}

std::size_t Decoder::need_one_of(std::initializer_list<std::string_view> names, const std::string& message) {
  const auto found = take_one_of(names);
  if (!found) fail(message);
  return *found;
}

bool Decoder::has(std::string_view text) const {
  const auto& all = statement_->qualifiers;
  return std::any_of(all.begin(), all.end(), [&](const Token& q) { return q.is(text); });
}

const Token* Decoder::take_any() {
  if (left_.empty()) return nullptr;
  const Token* q = left_.front();
  left_.erase(left_.begin());
  return q;
}

DataType Decoder::take_type(std::initializer_list<DataType> allowed) {
  const std::vector<const Token*> before = left_;
  const std::optional<DataType> type = take_value<DataType>();
  if (!type) {
    if (!left_.empty()) {
      std::vector<std::string> names;
      for (auto known = DataType::pred; known <= DataType::f64;
           known = static_cast<DataType>(static_cast<int>(known) + 1))
        names.push_back(type_text(known));
      const Token& q = *left_.front();
      fail(q.place(), quoted(q.text) + " is not a type that " + opcode() + " takes here",
           suggestion(q.text, names));
    }
    fail(opcode() + " needs a type");
  }
  if (allowed.size() == 0 || std::find(allowed.begin(), allowed.end(), *type) != allowed.end()) return *type;
  for (const Token* q : before)
    if (data_type_from(q->text.substr(1)) == *type)
      fail(q->place(), "type " + quoted(q->text) + " is not supported on " + opcode());
  fail("this type is not supported");
}

Rounding Decoder::take_rounding() {
  const auto r = take_one_of({".rn", ".rz", ".rm", ".rp"});
  return r ? static_cast<Rounding>(*r) : Rounding::nearest;
}

void Decoder::fail(Place place, const std::string& message, std::string hint) {
  faults_.add(place, message, std::move(hint));
  throw DecodeError{};
}

void Decoder::fail(const std::string& message, std::string hint) {
  fail(statement_->opcode.place(), message, std::move(hint));
}

void Decoder::need_operands(std::size_t low, std::size_t high) {
  const std::size_t n = operand_count();
  if (n >= low && n <= std::max(low, high)) return;
  const std::string range =
      high > low ? std::to_string(low) + " to " + std::to_string(high) : std::to_string(low);
  fail(opcode() + " takes " + range + " operands, not " + std::to_string(n));
}

std::vector<std::string> Decoder::register_names() const {
  std::vector<std::string> names = special_register_names();
  for (const BlockScope& s : now_.declaration->scopes) {
    for (const auto& [name, r] : s.registers) names.push_back(name);
    for (const auto& [name, r] : s.families) names.push_back(name + "0");
  }
  return names;
}

const Register* Decoder::find_register(const Operand& o) {
  if (o.kind != Operand::Kind::name || o.name.empty()) return nullptr;
  for (int scope = statement_ != nullptr ? statement_->scope : 0; scope >= 0;) {
    const BlockScope& s = now_.declaration->scopes[static_cast<std::size_t>(scope)];
    const auto key = std::make_pair(scope, o.name);
    if (const auto known = now_.registers.find(key); known != now_.registers.end()) return &known->second;
    const auto [declared, is_element] = s.find_register(o.name);
    // A vector is no operand, its elements are.
    if (declared != nullptr && (declared->count != 0 || (declared->vector > 1) == is_element))
      return &(now_.registers[key] = new_register(declared->type));
    scope = s.parent;
  }
  return nullptr;
}

Register Decoder::need_register(const Operand& o, const char* what) {
  if (o.kind != Operand::Kind::name) fail(o.token.place(), std::string("expected ") + what);
  const Register* r = find_register(o);
  if (r == nullptr)
    fail(o.token.place(), quoted(o.name) + " is not a register that is declared here",
         suggestion(o.name, register_names()));
  if (o.offset != 0) fail(o.token.place(), "an offset belongs into an address: write [" + o.name + "+n]");
  return *r;
}

std::uint32_t Decoder::take_file(std::uint32_t bytes, std::uint32_t alignment) {
  const std::uint64_t at = align_up(program_.file_bytes, alignment);
  if (at + bytes > (64U << 20)) fail(now_.declaration->place, "this function needs too many registers");
  program_.file_bytes = static_cast<std::uint32_t>(at + bytes);
  return static_cast<std::uint32_t>(at);
}

ParameterBlock Decoder::take_block(const VariableDecl& v) {
  const auto bytes = static_cast<std::uint32_t>(v.bytes);
  return {static_cast<Ref>(take_file(bytes * kWarpLanes, 32)), bytes};
}

Register Decoder::new_register(DataType type) {
  Register r;
  const unsigned bytes = size_of(type);
  if (program_.registers == 0xFFFF)
    fail(now_.declaration->place, "a kernel has at most 65535 registers in use");
  r.number = static_cast<std::uint16_t>(program_.registers++);
  r.type = type;
  const std::uint32_t all = type == DataType::pred ? 4 : bytes * kWarpLanes;
  r.ref = static_cast<Ref>(take_file(all, type == DataType::pred ? 4 : 32));
  program_.register_refs.push_back(r.ref);
  program_.register_bytes.push_back(static_cast<std::uint8_t>(type == DataType::pred ? 0 : bytes));
  image().registers.emplace_back(r.ref, static_cast<std::uint8_t>(bytes));
  return r;
}

void Decoder::take_carry(Op& op, std::size_t index, bool takes, bool leaves) {
  const auto [known, fresh] = now_.registers.emplace(std::make_pair(-1, std::string("carry")), Register{});
  if (fresh) known->second = new_register(DataType::pred);
  op.r.at(index) = known->second.ref;
  op.mode = static_cast<std::uint8_t>((takes ? 1U : 0U) | (leaves ? 2U : 0U));
  if (takes) reads(known->second);
  if (leaves) writes(known->second);
}

Ref Decoder::reads(const Register& r) {
  now_.read.push_back(r.number);
  return r.ref;
}
Ref Decoder::writes(const Register& r) {
  now_.written.push_back(r.number);
  return r.ref;
}

void Decoder::check_type(const Operand& o, const Register& r, DataType type, bool may_be_wider) {
  const Family want = family_of(type);
  const Family have = family_of(r.type);
  const bool predicate_clash = (want == Family::predicate) != (have == Family::predicate);
  // A half-precision value lives in a register of bits; two of them in 32 bits.
  const bool kind_clash = want != Family::bits && have != Family::bits && want != have &&
                          !(is_half(type) && !is_half(r.type)) && want != Family::predicate;
  const bool size_clash = may_be_wider ? size_of(r.type) < size_of(type) : size_of(r.type) != size_of(type);
  if (predicate_clash || kind_clash || size_clash)
    fail(o.token.place(), "register " + quoted(o.name) + " is " + type_text(r.type) +
                              ", the instruction wants " + type_text(type));
}

Ref Decoder::take_pool(std::size_t bytes) {
  const std::size_t at = align_up(program_.pool.size(), 64);
  program_.pool.resize(at + bytes);
  return static_cast<Ref>(static_cast<std::uint32_t>(at) | kPoolBit);
}

Ref Decoder::constant(std::uint64_t bits, unsigned bytes) {
  if (bytes < 8) bits &= (std::uint64_t{1} << (8 * bytes)) - 1;
  const auto [known, fresh] = constants_.emplace(std::make_pair(bits, bytes), kNoRef);
  if (fresh) {
    known->second = take_pool(std::size_t{bytes} * kWarpLanes);
    std::byte* const last = program_.pool.data() + program_.pool.size();
    const std::array<std::uint64_t, 2> value = {bits, 0};
    for (unsigned i = 1; i <= kWarpLanes; ++i)
      std::memcpy(last - std::size_t{i} * bytes, value.data(), bytes);
  }
  return known->second;
}

Ref Decoder::list(const std::vector<Ref>& refs) {
  const std::size_t bytes = refs.size() * sizeof(Ref);
  const Ref at = take_pool(bytes);
  std::memcpy(program_.pool.data() + program_.pool.size() - bytes, refs.data(), bytes);
  program_.lists.emplace_back(program_.pool.size() - bytes, refs.size());
  return at;
}

Ref Decoder::literal(const Operand& o, DataType type) {
  if (o.kind == Operand::Kind::integer) {
    if (is_float(type) && size_of(type) > 2)
      fail(o.token.place(), "expected a floating-point literal for " + type_text(type));
    return constant(o.bits, size_of(type));
  }
  if (size_of(type) == 8) {
    if (!o.single || !is_float(type)) return constant(o.bits, 8);
    const auto widened = static_cast<double>(bits_as<float>(static_cast<std::uint32_t>(o.bits)));
    return constant(bits_as<std::uint64_t>(widened), 8);
  }
  if (size_of(type) != 4) fail(o.token.place(), "a floating-point literal has 32 or 64 bits");
  if (o.single) return constant(o.bits, 4);
  return constant(bits_as<std::uint32_t>(static_cast<float>(bits_as<double>(o.bits))), 4);
}

Ref Decoder::special(const SpecialRegister& source, unsigned bytes) {
  const auto [known, fresh] = specials_.emplace(std::make_pair(&source, bytes), kNoRef);
  if (fresh) {
    known->second = static_cast<Ref>(take_file(bytes * kWarpLanes, 32));
    program_.specials.push_back({&source, static_cast<std::uint8_t>(bytes), known->second});
  }
  return known->second;
}

Register Decoder::typed_register(const Operand& o, const char* what, DataType type, bool may_be_wider) {
  const Register r = need_register(o, what);
  check_type(o, r, type, may_be_wider);
  return r;
}

Ref Decoder::source(const Operand& o, DataType type) {
  std::uint8_t bytes = 0;
  if (const Register* r = find_register(o)) {
    check_type(o, *r, type, false);
    if (o.negated) fail(o.token.place(), "only a predicate can be negated here");
  }
  return wide_source(o, type, bytes);
}

Ref Decoder::wide_source(const Operand& o, DataType type, std::uint8_t& register_bytes) {
  register_bytes = static_cast<std::uint8_t>(size_of(type));
  if (o.kind == Operand::Kind::integer || o.kind == Operand::Kind::real) return literal(o, type);
  if (o.kind == Operand::Kind::name && find_register(o) == nullptr && o.name[0] == '%') {
    if (clock_register(o.name)) fail(o.token.place(), quoted(o.name) + " can only be read by 'mov'");
    const auto rules = special_register_rules(o.name);
    const SpecialRegister* const source = special_register(o.name);
    if (rules && source == nullptr)
      fail(o.token.place(), "special register " + quoted(o.name) + " is not modelled in this version");
    if (rules && (rules->type == DataType::pred) != (type == DataType::pred))
      fail(o.token.place(),
           quoted(o.name) + (type == DataType::pred ? " is no predicate" : " is a predicate"));
    if (source != nullptr) return special(*source, type == DataType::pred ? 4 : size_of(type));
  }
  const Register r = typed_register(o, "a register or a constant", type, true);
  register_bytes = static_cast<std::uint8_t>(size_of(r.type));
  return reads(r);
}

Ref Decoder::destination(const Operand& o, DataType type) {
  return writes(typed_register(o, "a destination register", type, false));
}

Ref Decoder::wide_destination(const Operand& o, DataType type, std::uint8_t& register_bytes) {
  const Register r = typed_register(o, "a destination register", type, true);
  register_bytes = static_cast<std::uint8_t>(size_of(r.type));
  return writes(r);
}

Op Decoder::operands(DataType to, std::initializer_list<DataType> from) {
  need_operands(from.size() + 1);
  Op op;
  std::size_t n = 0;
  for (const DataType type : from) {
    ++n;
    op.r.at(n) = source(n, type);
  }
  op.r[0] = destination(0, to);
  return op;
}

Op Decoder::operands(DataType type, std::size_t sources) {
  need_operands(sources + 1);
  Op op;
  for (std::size_t n = 1; n <= sources; ++n) op.r.at(n) = source(n, type);
  op.r[0] = destination(0, type);
  return op;
}

Op Decoder::predicates(std::size_t sources) {
  need_operands(sources + 1);
  Op op;
  for (std::size_t n = 1; n <= sources; ++n) {
    op.r.at(n) = predicate_source(operand(n));
    if (operand(n).negated) op.mode |= static_cast<std::uint8_t>(1U << n);
  }
  op.r[0] = predicate_destination(operand(0));
  return op;
}

void Decoder::compute(Handler run, unsigned latency, DataType to, std::initializer_list<DataType> from) {
  Op op = operands(to, from);
  op.run = run;
  emit(op, latency);
}

void Decoder::need_handler(const Op& op, DataType type) {
  if (op.run == nullptr) fail("type " + type_text(type) + " is not supported here");
}

void Decoder::take_condition(Op& op, std::size_t index) {
  op.condition = predicate_source(operand(index));
  op.condition_negated = operand(index).negated;
}

Ref Decoder::predicate_source(const Operand& o) {
  if (o.kind == Operand::Kind::integer) return constant(o.bits != 0 ? ~std::uint64_t{0} : 0, 4);
  if (o.kind == Operand::Kind::name && find_register(o) == nullptr && special_register_rules(o.name)) {
    std::uint8_t bytes = 0;
    return wide_source(o, DataType::pred, bytes);
  }
  return reads(typed_register(o, "a predicate register", DataType::pred, false));
}

Ref Decoder::predicate_destination(const Operand& o) {
  if (o.kind == Operand::Kind::sink) return kNoRef;
  return writes(typed_register(o, "a predicate register", DataType::pred, false));
}

void Decoder::create_image(const ReachedFunction& reached) {
  const FunctionDecl& f = *module_.functions[static_cast<std::size_t>(reached.declaration)];
  FunctionImage image;
  image.declaration = reached.declaration;
  image.recursive = reached.recursive;
  program_.recursive |= reached.recursive;
  if (!f.is_entry) {
    const auto block = [&](int v) {
      return image.blocks.emplace_back(take_block(f.variables[static_cast<std::size_t>(v)]));
    };
    for (const int v : f.results) image.results.push_back(block(v));
    for (const int v : f.parameters) image.parameters.push_back(block(v));
  }
  images_[reached.declaration] = static_cast<int>(program_.functions.size());
  program_.functions.push_back(std::move(image));
}

std::optional<Symbol> Decoder::find_symbol(const std::string& name) {
  const auto named = resolve_symbol(name);
  if (named && !named->declaration->unsupported.empty())
    fail("variable " + quoted(name) + " cannot be used: " + named->declaration->unsupported);
  return named;
}

std::optional<Symbol> Decoder::resolve_symbol(const std::string& name) const {
  const FunctionDecl& f = *now_.declaration;
  for (int scope = statement_->scope; scope >= 0;) {
    const BlockScope& s = f.scopes[static_cast<std::size_t>(scope)];
    if (const auto v = s.variables.find(name); v != s.variables.end()) {
      const auto n = static_cast<std::size_t>(v->second);
      return Symbol{&f.variables[n], v->second, false, f.is_entry && n < f.parameters.size()};
    }
    scope = s.parent;
  }
  const auto v = module_.variable_index.find(name);
  if (v == module_.variable_index.end()) return std::nullopt;
  return Symbol{&module_.variables[static_cast<std::size_t>(v->second)], v->second, true, false};
}

const Register* Decoder::local_frame() const {
  return now_.frame ? &*now_.frame : nullptr;
}

std::uint32_t Decoder::local_offset(const Symbol& s) {
  const VariableDecl& v = *s.declaration;
  const auto place_in = [&v](std::uint32_t& end) {
    const auto at = static_cast<std::uint32_t>(align_up(end, v.alignment));
    end = static_cast<std::uint32_t>(std::min<std::uint64_t>(at + v.bytes, 2 * Limits::kWindowBytes));
    return at;
  };
  if (now_.frame && !s.of_module) {
    const auto [known, fresh] = now_.locals.emplace(s.variable, 0);
    if (fresh) {
      std::uint32_t& end = image().local_bytes;
      known->second = place_in(end);
    }
    return known->second;
  }
  const int owner = s.of_module ? -1 : image().declaration;
  const auto [known, fresh] = static_locals_.emplace(std::make_pair(owner, s.variable), 0);
  if (fresh) known->second = place_in(program_.local_bytes);
  return known->second;
}

std::uint32_t Decoder::kernel_parameter_offset(const Symbol& s) const {
  return parameter_offsets(*now_.declaration)[static_cast<std::size_t>(s.variable)];
}

ParameterBlock Decoder::parameter_block(const Symbol& s) {
  const auto index = static_cast<std::size_t>(s.variable);
  // The formals come first among a function's variables, its results before its parameters.
  if (!now_.declaration->is_entry && index < image().blocks.size()) return image().blocks[index];
  const auto [known, fresh] = now_.blocks.emplace(s.variable, ParameterBlock{});
  if (fresh) known->second = take_block(*s.declaration);
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
      const int owner = s.of_module ? -1 : image().declaration;
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
        fail("variable " + quoted(v.name) + " is '.extern' and defined nowhere in " + modules_text(v.place),
             link_hint());
      fix.variable = s.variable;
      if (generic && v.space == Space::constant)
        fix.addend = AddressWindows::to_generic(Space::constant, addend);
  }
  const auto [known, fresh] = addresses_.emplace(std::make_tuple(fix.variable, fix.addend, bytes), kNoRef);
  if (fresh) {
    known->second = take_pool(std::size_t{bytes} * kWarpLanes);
    fix.offset = static_cast<std::uint32_t>(known->second) & ~kPoolBit;
    program_.fixes.push_back(fix);
  }
  return known->second;
}

/// Where something that is declared at `place` was looked for.
std::string Decoder::modules_text(Place place) const {
  if (module_.units.empty()) return "this module";
  return "any of these modules (it is declared at " + faults_.place_text(place.offset) + ")";
}

std::string Decoder::link_hint() const {
  return module_.units.empty() ? "a launch file's modules = [...] links several" : "";
}

bool Decoder::is_function(const std::string& name) const {
  return module_.function_index.count(name) != 0;
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
    fail(place,
         "function " + quoted(name) + " has no body in " + modules_text(f.place) + " and cannot be called",
         link_hint());
  return image->second;
}

}  // namespace warpline::ptx
