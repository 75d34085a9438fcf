// Registers, numbers, addresses.
#include <charconv>
#include <limits>

#include "warpline/programs/wls/parser.h"
#include "warpline/sm/address_windows.h"

namespace warpline::wls {

/// The number of "R12" or "RZ".
std::optional<std::uint8_t> Parser::register_named(std::string_view text) {
  if (text == "RZ") return kZero;
  if (text.size() < 2 || text.size() > 4 || text[0] != 'R' || (text[1] == '0' && text.size() > 2))
    return std::nullopt;
  unsigned n = 0;
  for (const char c : text.substr(1)) {
    if (c < '0' || c > '9') return std::nullopt;
    n = n * 10 + static_cast<unsigned>(c - '0');
  }
  if (n >= kMostRegisters) return std::nullopt;
  return static_cast<std::uint8_t>(n);
}

/// A register that holds data, of which `words` in a row are meant.
std::uint8_t Parser::data_register(const char* what, unsigned words) {
  const Token t = peek();
  const auto reg = register_named(t.text);
  if (t.kind != TokenKind::word || !reg)
    fail(t.place(), std::string("expected ") + what + ", a register", "R0 to R254, or RZ");
  take();
  if (*reg == kZero) return kZero;
  if (*reg + words > kMostRegisters)
    fail(t.place(), std::to_string(words) + " registers from " + std::string(t.text) + " on go beyond R254");
  note_register(*reg + words - 1, t.place());
  return *reg;
}

void Parser::note_register(unsigned reg, Place place) {
  highest_ = std::max(highest_, reg + 1);
  uses_.push_back({reg, place});
}

/// The upper half of an address in R254 is RZ, which is no register of the thread.
void Parser::note_address_register(const Op& op) {
  if (op.a == kZero) return;
  highest_ = std::max(highest_, std::min(op.a + (op.extended ? 2U : 1U), kMostRegisters));
}

std::uint8_t Parser::predicate_register(bool destination) {
  const Token t = take();
  if (t.text == "PT") return kAlways;
  if (t.kind == TokenKind::word && t.text.size() == 2 && t.text[0] == 'P' && t.text[1] >= '0' &&
      t.text[1] <= '6')
    return static_cast<std::uint8_t>(t.text[1] - '0');
  fail(t.place(), ptx::quoted(t.text) + " is no predicate",
       destination ? "P0 to P6, or PT for none" : "P0 to P6, or PT");
}

/// An unsigned number of 32 bits.
std::uint32_t Parser::number() {
  const Token t = peek();
  if (t.kind != TokenKind::number) fail(t.place(), "expected a number");
  take();
  const bool hex = t.text.size() > 2 && (t.text.substr(0, 2) == "0x" || t.text.substr(0, 2) == "0X");
  const char* const end = t.text.data() + t.text.size();
  std::uint32_t value = 0;
  const auto [stop, error] = std::from_chars(t.text.data() + (hex ? 2 : 0), end, value, hex ? 16 : 10);
  if (stop != end) fail(t.place(), ptx::quoted(t.text) + " is no number");
  if (error != std::errc{}) fail(t.place(), ptx::quoted(t.text) + " does not fit 32 bits");
  return value;
}

/// The same, with a sign if it likes.
std::uint32_t Parser::signed_number() {
  const Token sign = peek();
  if (!take('-')) {
    static_cast<void>(take('+'));
    return number();
  }
  const std::uint32_t value = number();
  if (value > 0x8000'0000U) fail(sign.place(), "this number does not fit 32 bits");
  return 0U - value;
}

/// `+ imm`, `- imm` or `+ -imm` behind an address register: 32 signed bits, as CCTL has them.
std::uint32_t Parser::offset() {
  const Token sign = take();
  const bool negative = sign.is('-') || take('-');
  const std::uint32_t value = number();
  if (value > (negative ? 0x8000'0000U : 0x7fff'ffffU))
    fail(sign.place(), "the offset does not fit its 32 signed bits");
  return negative ? 0U - value : value;
}

/// A register, a number, or the half of an address: NAME.lo, NAME.hi.
Operand Parser::operand() {
  Operand o;
  const Token t = peek();
  if (t.kind != TokenKind::word) {
    if (t.kind != TokenKind::number && !t.is('-') && !t.is('+'))
      fail(t.place(), "expected a register, a number, or NAME.lo or NAME.hi");
    o.constant = signed_number();
    return o;
  }
  if (register_named(t.text)) {
    o.is_register = true;
    o.reg = data_register("an operand");
    return o;
  }
  take();
  const std::size_t dot = std::min(t.text.find('.'), t.text.size());
  const std::string_view half = t.text.substr(dot);
  if (half != ".lo" && half != ".hi")
    fail(t.place(), ptx::quoted(t.text) + " is neither a register nor half of an address",
         "R0 to R254, RZ, or NAME.lo and NAME.hi of a variable");
  o.high = half == ".hi";
  Token name = t;
  name.text = t.text.substr(0, dot);
  symbols_.push_back({program_.ops.size(), name});
  return o;
}

/// `[Ra + imm]`, `[Ra]`, `[imm]`.
void Parser::address(Op& op) {
  expect('[', "before an address");
  const Token t = peek();
  const auto reg = register_named(t.text);
  if (t.kind == TokenKind::word) {
    if (!reg) fail(t.place(), "expected an address register or a number", "[R2 + 4], [R2] or [0x40]");
    take();
    op.a = *reg;
    note_address_register(op);
    if (peek().is('+') || peek().is('-')) op.b.constant = offset();
  } else {
    if (t.is('-')) fail(t.place(), "an absolute address is unsigned");
    op.b.constant = number();
  }
  expect(']', "behind an address");
}

/// `c[slot][Ra + imm]`, or by name `c[NAME]` and `c[NAME][Ra + imm]`.
void Parser::constant_address(Op& op) {
  const Token c = take();
  if (c.text != "c") fail(c.place(), "expected a constant address", "c[slot][Ra + imm] or c[NAME]");
  expect('[', "before a constant slot");
  if (peek().kind == TokenKind::word) {
    symbols_.push_back({program_.ops.size(), take()});
    expect(']', "behind the name of a constant");
    if (peek().is('[')) address(op);
    return;
  }
  const auto slot = whole("a constant slot", 0, ConstantBanks::kBanks - 1);
  expect(']', "behind a constant slot");
  address(op);
  op.b.constant += static_cast<std::uint32_t>(ConstantBanks::address(static_cast<unsigned>(slot), 0));
}

void Parser::comma() {
  expect(',', "between operands");
}

}  // namespace warpline::wls
