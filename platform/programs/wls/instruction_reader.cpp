#include "platform/programs/wls/instruction_reader.h"

#include <algorithm>

#include "platform/programs/wls/lower.h"
#include "rtl_models/base/text.h"
#include "rtl_models/isa/qualifiers.h"
#include "rtl_models/isa/sass_cctl_text.h"
#include "rtl_models/isa/sass_words.h"
#include "rtl_models/sm/address_windows.h"

namespace warpline::wls {
namespace {

bool begins_statement(const Token& t) {
  return t.kind == TokenKind::word || t.kind == TokenKind::directive || t.is('@');
}

/// The widths that programs write, among those of SASS.
constexpr std::string_view kSizes[] = {"U8", "S8", "8", "U16", "S16", "16", "32", "64", "128"};

/// Reads one instruction.
class InstructionReader {
 public:
  InstructionReader(std::string_view plain, TokenReader& tokens, Draft& draft)
      : plain_(plain), tokens_(tokens), draft_(draft) {}

  void run() {
    const std::size_t start = tokens_.taken();
    if (tokens_.take('@')) {
      op_.unless = tokens_.take('!');
      op_.predicate = predicate_register(false);
    }
    word_ = tokens_.peek();
    if (word_.kind != TokenKind::word) fail("an instruction, a label or a directive is expected here");
    const std::string_view name = word_.text.substr(0, word_.text.find('.'));
    if (name == "CCTL" || name == "CCTLL") {
      tokens_.go_to(start);
      return cache_control();
    }
    tokens_.take();
    for (std::size_t at = name.size(); at < word_.text.size();) {
      Token m = word_;
      m.text = word_.text.substr(at, word_.text.find('.', at + 1) - at);
      m.offset = word_.offset + static_cast<std::uint32_t>(at);
      modifiers_.push_back(m);
      at += m.text.size();
    }
    const Opcode& opcode = opcode_named(name);
    op_.code = opcode.code;
    mem_.space = opcode.space;
    if (opcode.read != nullptr) (this->*opcode.read)();
    if (!modifiers_.empty())
      tokens_.fail(modifiers_.front().place(),
                   text::quoted(name) + " takes no " + text::quoted(modifiers_.front().text) + " here");
    controls();
    tokens_.expect(';', "at the end of an instruction");
    append(word_);
  }

 private:
  struct Opcode {
    std::string_view name;
    Code code;
    void (InstructionReader::*read)() = nullptr;  ///< its modifiers and operands; null: it has none
    Space space = Space::generic;                 ///< of an access
  };

  [[nodiscard]] const Opcode& opcode_named(std::string_view name) {
    using R = InstructionReader;
    static constexpr Opcode kOpcodes[] = {
        {"NOP", Code::nop},
        {"RET", Code::ret},
        {"EXIT", Code::exit},
        {"MOV", Code::move, &R::move},
        {"IADD", Code::add, &R::binary},
        {"SHL", Code::shift_left, &R::binary},
        {"SHR", Code::shift_right, &R::shift_right},
        {"IMAD", Code::multiply_add, &R::multiply},
        {"LOP", Code::logic_and, &R::logic},
        {"ISETP", Code::compare, &R::compare},
        {"S2R", Code::special, &R::special},
        {"BRA", Code::branch, &R::jump},
        {"CAL", Code::call, &R::jump},
        {"BAR", Code::barrier, &R::barrier},
        {"MEMBAR", Code::fence, &R::fence},
        {"SETCRSPTR", Code::set_stack, &R::set_stack},
        {"GETCRSPTR", Code::get_stack, &R::destination},
        {"LD", Code::load, &R::load},
        {"LDG", Code::load, &R::load, Space::global},
        {"LDL", Code::load, &R::load, Space::local},
        {"LDC", Code::load, &R::load, Space::constant},
        {"ST", Code::store, &R::store},
        {"STG", Code::store, &R::store, Space::global},
        {"STL", Code::store, &R::store, Space::local},
    };
    const auto* const found = std::find_if(std::begin(kOpcodes), std::end(kOpcodes),
                                           [&](const Opcode& o) { return o.name == name; });
    if (found != std::end(kOpcodes)) return *found;
    std::vector<std::string> names = {"CCTL", "CCTLL"};
    for (const Opcode& o : kOpcodes) names.emplace_back(o.name);
    tokens_.fail({word_.offset, static_cast<std::uint32_t>(name.size())},
                 text::quoted(name) + " is no instruction that is known",
                 text::suggestion(upper(name), names));
  }

  /// A fault of the opcode.
  [[noreturn]] void fail(std::string message, std::string hint = {}) {
    tokens_.fail(word_.place(), std::move(message), std::move(hint));
  }

  /// CCTL and CCTLL have a parser of their own, which gets the statement's text.
  void cache_control() {
    const Token first = tokens_.peek();
    do tokens_.take();
    while (!tokens_.peek().is(';') && !(tokens_.peek().first_on_line && begins_statement(tokens_.peek())) &&
           tokens_.peek().kind != TokenKind::end);
    tokens_.expect(';', "at the end of an instruction");
    const std::uint32_t end = tokens_.previous().offset + 1;
    const auto parsed = parse_cctl(plain_.substr(first.offset, end - first.offset));
    if (!parsed.ok()) {
      const Diagnostic& d = parsed.faults().front();
      tokens_.fail({first.offset + d.column - 1, d.length}, d.message, d.hint);
    }
    const Cctl& c = parsed.value();
    op_.cctl = c;
    op_.predicate = c.predicate;
    op_.unless = c.unless;
    op_.a = c.address_register;
    op_.extended = c.extended;
    instruction_.required = c.required;
    instruction_.wait = c.wait;
    instruction_.read_counter = c.read_scoreboard;
    mem_.kind = MemKind::cache_control;
    mem_.space = c.local ? Space::local : Space::generic;
    mem_.cache_operation = c.operation;
    mem_.cache_target = target_of(c);
    switch (mem_.cache_target) {
      case CctlTarget::call_return_stack: op_.code = Code::flush_stack; break;
      case CctlTarget::constants: op_.code = Code::invalidate_constants; break;
      case CctlTarget::instructions: op_.code = Code::invalidate_instructions; break;
      default: op_.code = Code::cache_control;
    }
    note_address_register();
    append(first);
  }

  /// `&req=0xNN`, `&rd=N`, `&wr=N` and `?WAITn`, each once, in any order.
  void controls() {
    std::vector<std::string_view> seen;
    const auto once = [&](const Token& name, std::string_view field) {
      if (std::find(seen.begin(), seen.end(), field) != seen.end())
        tokens_.fail(name.place(), text::quoted(name.text) + " stands here a second time");
      seen.push_back(field);
    };
    const auto counter = [&] {
      tokens_.expect('=', "behind the name of a scoreboard");
      return static_cast<std::uint8_t>(tokens_.whole("a scoreboard", 0, DependenceCounters::kCounters - 1));
    };
    for (;;) {
      if (tokens_.take('?')) {
        const Token name = tokens_.take();
        once(name, "WAIT");
        const bool waits = name.text.substr(0, 4) == "WAIT" && name.text.size() <= 6;
        const auto n = waits ? number_from<std::uint8_t>(name.text.substr(4)) : std::nullopt;
        if (!n || *n == 0 || *n > Cctl::kLongestWait)
          tokens_.fail(name.place(), "a schedule is written ?WAIT1 to ?WAIT15");
        instruction_.wait = *n;
        continue;
      }
      if (!tokens_.take('&')) return;
      const Token name = tokens_.take();
      if (name.text == "req") {
        once(name, name.text);
        tokens_.expect('=', "behind &req");
        instruction_.required =
            static_cast<std::uint8_t>(tokens_.whole("&req", 0, (1U << DependenceCounters::kCounters) - 1));
      } else if (name.text == "rd") {
        once(name, name.text);
        if (op_.code != Code::load && op_.code != Code::store)
          tokens_.fail(name.place(),
                       "&rd belongs to loads, stores and cache control: they read their operands late");
        instruction_.read_counter = counter();
      } else if (name.text == "wr") {
        once(name, name.text);
        if (op_.code != Code::load)
          tokens_.fail(name.place(), "&wr belongs to loads: their results come late");
        instruction_.write_counter = counter();
      } else {
        tokens_.fail(name.place(), text::quoted(name.text) + " is no scoreboard field",
                     text::suggestion(name.text, {"req", "rd", "wr"}));
      }
    }
  }

  bool take_modifier(std::string_view name) {
    const auto found =
        std::find_if(modifiers_.begin(), modifiers_.end(), [name](const Token& t) { return t.text == name; });
    if (found == modifiers_.end()) return false;
    modifiers_.erase(found);
    return true;
  }
  /// Which of `names` is a modifier, if one is.
  template <std::size_t kCount>
  std::optional<std::size_t> take_one(const std::string_view (&names)[kCount]) {
    for (std::size_t n = 0; n < kCount; ++n)
      if (take_modifier(names[n])) return n;
    return std::nullopt;
  }

  void destination() { op_.d = data_register("the destination"); }

  void move() {
    destination();
    comma();
    op_.b = operand();
  }

  void sources() {
    comma();
    op_.a = data_register("the first operand");
    comma();
    op_.b = operand();
  }

  void binary() {
    destination();
    sources();
  }

  void shift_right() {
    op_.is_unsigned = take_modifier(".U32");
    binary();
  }

  void multiply() {
    const bool wide = take_modifier(".WIDE");
    if (wide) op_.code = Code::multiply_wide;
    if (wide) op_.is_unsigned = take_modifier(".U32");
    op_.d = data_register("the destination", wide ? 2 : 1);
    comma();
    op_.a = data_register("the first factor");
    comma();
    op_.b = operand();
    comma();
    op_.c = data_register("what is added", wide ? 2 : 1);
  }

  void logic() {
    constexpr Code kCodes[] = {Code::logic_and, Code::logic_or, Code::logic_xor};
    const auto operation = take_one({".AND", ".OR", ".XOR"});
    if (!operation) fail("'LOP' needs an operation", "LOP.AND, LOP.OR or LOP.XOR");
    op_.code = kCodes[*operation];
    binary();
  }

  void compare() {
    const auto comparison = take_one({".EQ", ".NE", ".LT", ".LE", ".GT", ".GE"});
    if (!comparison) fail("'ISETP' needs a comparison", ".EQ, .NE, .LT, .LE, .GT or .GE");
    op_.comparison = static_cast<Comparison>(*comparison);
    op_.is_unsigned = take_modifier(".U32");
    op_.d = predicate_register(true);
    sources();
  }

  void special() {
    static const std::vector<std::string> kNames = {
        "SR_TID.X",  "SR_TID.Y",  "SR_TID.Z",       "SR_CTAID.X",  "SR_CTAID.Y",  "SR_CTAID.Z",
        "SR_NTID.X", "SR_NTID.Y", "SR_NTID.Z",      "SR_NCTAID.X", "SR_NCTAID.Y", "SR_NCTAID.Z",
        "SR_LANEID", "SR_WARPID", "SR_VIRTUALSMID", "SR_CLOCKLO"};
    destination();
    comma();
    const Token name = tokens_.take();
    const auto found = std::find(kNames.begin(), kNames.end(), name.text);
    if (found == kNames.end()) {
      std::string hint = text::suggestion(name.text, kNames);
      if (hint.empty()) hint = "there are " + joined(kNames);
      tokens_.fail(name.place(), text::quoted(name.text) + " is no special register", hint);
    }
    op_.special = static_cast<Special>(found - kNames.begin());
  }

  void jump() {
    const Token name = tokens_.take();
    if (name.kind != TokenKind::word) tokens_.fail(name.place(), "expected a label");
    draft_.jumps.push_back({draft_.program.ops.size(), name});
  }

  void barrier() {
    if (!take_modifier(".SYNC")) fail("'BAR' needs '.SYNC'");
    if (tokens_.peek().kind == TokenKind::number)
      op_.b.constant = static_cast<std::uint32_t>(tokens_.whole("a barrier's number", 0, 15));
  }

  void fence() {
    constexpr Scope kScopes[] = {Scope::cta, Scope::gpu, Scope::sys};
    const auto scope = take_one({".CTA", ".GL", ".SYS"});
    if (!scope) fail("'MEMBAR' needs a scope", ".CTA, .GL or .SYS");
    mem_.kind = MemKind::fence;
    mem_.semantics = Semantics::sc;
    mem_.scope = kScopes[*scope];
  }

  void set_stack() { op_.b = operand(); }

  /// `{.E}{.cache}{.size}`; PTX ISA, "Cache Operators", says what each cache operator is for.
  void memory_modifiers(bool store) {
    if (mem_.space != Space::local && mem_.space != Space::constant) op_.extended = take_modifier(".E");
    std::vector<std::string> names;
    for (const std::string_view size : kSizes) {
      const std::string& modifier = names.emplace_back("." + std::string(size));
      if (mem_.type != DataType::none || !take_modifier(modifier)) continue;
      const SassWidth& width = *find_sass(kSassWidths, size);
      mem_.type = width.type;
      mem_.vector = width.vector;
    }
    if (mem_.type == DataType::none) mem_.type = DataType::b32;
    for (const auto& [word, value] : kSassCacheOperators) {
      if (store ? !is_of_stores(value) : !is_of_loads(value)) continue;
      const std::string& modifier = names.emplace_back("." + std::string(word));
      if (mem_.space != Space::constant && mem_.cache_operator == CacheOperator::none &&
          take_modifier(modifier))
        mem_.cache_operator = value;
    }
    if (modifiers_.empty()) return;
    const Token& first = modifiers_.front();
    tokens_.fail(first.place(),
                 text::quoted(first.text) + " is no modifier of this instruction, or one too many",
                 text::suggestion(first.text, names));
  }

  void load() {
    mem_.kind = MemKind::load;
    memory_modifiers(false);
    op_.d = data_register("the destination", words_of(mem_));
    comma();
    if (mem_.space == Space::constant)
      constant_address();
    else
      address();
  }

  void store() {
    mem_.kind = MemKind::store;
    memory_modifiers(true);
    address();
    comma();
    op_.d = data_register("what is stored", words_of(mem_));
  }

  /// A register that holds data, of which `words` in a row are meant.
  std::uint8_t data_register(const char* what, unsigned words = 1) {
    const Token t = tokens_.peek();
    const auto reg = register_named(t.text);
    if (t.kind != TokenKind::word || !reg)
      tokens_.fail(t.place(), std::string("expected ") + what + ", a register", "R0 to R254, or RZ");
    tokens_.take();
    if (*reg == kZero) return kZero;
    if (*reg + words > kMostRegisters)
      tokens_.fail(t.place(),
                   std::to_string(words) + " registers from " + std::string(t.text) + " on go beyond R254");
    draft_.note_register(*reg + words - 1, t.place());
    return *reg;
  }

  /// The upper half of an address in R254 is RZ, which is no register of the thread.
  void note_address_register() {
    if (op_.a == kZero) return;
    draft_.highest = std::max(draft_.highest, std::min(op_.a + (op_.extended ? 2U : 1U), kMostRegisters));
  }

  std::uint8_t predicate_register(bool destination) {
    const Token t = tokens_.take();
    if (t.text == "PT") return kAlways;
    if (t.kind == TokenKind::word && t.text.size() == 2 && t.text[0] == 'P' && t.text[1] >= '0' &&
        t.text[1] <= '6')
      return static_cast<std::uint8_t>(t.text[1] - '0');
    tokens_.fail(t.place(), text::quoted(t.text) + " is no predicate",
                 destination ? "P0 to P6, or PT for none" : "P0 to P6, or PT");
  }

  /// A register, a number, or the half of an address: NAME.lo, NAME.hi.
  Operand operand() {
    Operand o;
    const Token t = tokens_.peek();
    if (t.kind != TokenKind::word) {
      if (t.kind != TokenKind::number && !t.is('-') && !t.is('+'))
        tokens_.fail(t.place(), "expected a register, a number, or NAME.lo or NAME.hi");
      o.constant = tokens_.signed_number();
      return o;
    }
    if (register_named(t.text)) {
      o.is_register = true;
      o.reg = data_register("an operand");
      return o;
    }
    tokens_.take();
    const std::size_t dot = std::min(t.text.find('.'), t.text.size());
    const std::string_view half = t.text.substr(dot);
    if (half != ".lo" && half != ".hi")
      tokens_.fail(t.place(), text::quoted(t.text) + " is neither a register nor half of an address",
                   "R0 to R254, RZ, or NAME.lo and NAME.hi of a variable");
    o.high = half == ".hi";
    Token name = t;
    name.text = t.text.substr(0, dot);
    draft_.symbols.push_back({draft_.program.ops.size(), name});
    return o;
  }

  /// `[Ra + imm]`, `[Ra]`, `[imm]`.
  void address() {
    tokens_.expect('[', "before an address");
    const Token t = tokens_.peek();
    if (t.kind == TokenKind::word) {
      const auto reg = register_named(t.text);
      if (!reg)
        tokens_.fail(t.place(), "expected an address register or a number", "[R2 + 4], [R2] or [0x40]");
      tokens_.take();
      op_.a = *reg;
      note_address_register();
      if (tokens_.peek().is('+') || tokens_.peek().is('-')) op_.b.constant = tokens_.offset();
    } else {
      if (t.is('-')) tokens_.fail(t.place(), "an absolute address is unsigned");
      op_.b.constant = tokens_.number();
    }
    tokens_.expect(']', "behind an address");
  }

  /// `c[slot][Ra + imm]`, or by name `c[NAME]` and `c[NAME][Ra + imm]`.
  void constant_address() {
    const Token c = tokens_.take();
    if (c.text != "c") tokens_.fail(c.place(), "expected a constant address", "c[slot][Ra + imm] or c[NAME]");
    tokens_.expect('[', "before a constant slot");
    if (tokens_.peek().kind == TokenKind::word) {
      draft_.symbols.push_back({draft_.program.ops.size(), tokens_.take()});
      tokens_.expect(']', "behind the name of a constant");
      if (tokens_.peek().is('[')) address();
      return;
    }
    const auto slot = tokens_.whole("a constant slot", 0, ConstantBanks::kBanks - 1);
    tokens_.expect(']', "behind a constant slot");
    address();
    op_.b.constant += static_cast<std::uint32_t>(ConstantBanks::address(static_cast<unsigned>(slot), 0));
  }

  void comma() { tokens_.expect(',', "between operands"); }

  void append(const Token& first) {
    draft_.append(op_, instruction_, tokens_.faults().line_of(first.offset));
  }

  std::string_view plain_;
  TokenReader& tokens_;
  Draft& draft_;
  Token word_;                    ///< the opcode with its modifiers
  std::vector<Token> modifiers_;  ///< those not understood yet
  Op op_;
  Instruction instruction_;  ///< its schedule and counters, and what it does to memory
  MemOp& mem_ = instruction_.mem;
};

}  // namespace

void read_instruction(std::string_view plain, TokenReader& tokens, Draft& draft) {
  InstructionReader(plain, tokens, draft).run();
}

}  // namespace warpline::wls
