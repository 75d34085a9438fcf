#include "platform/programs/wls/token_reader.h"

#include <charconv>

#include "platform/programs/wls/program.h"
#include "rtl_models/base/text.h"

namespace warpline::wls {

void TokenReader::fail(Place place, std::string message, std::string hint) {
  faults_.add(place, std::move(message), std::move(hint));
  throw Failed{};
}

Token TokenReader::take() {
  const Token t = peek();
  if (t.kind != TokenKind::end) ++at_;
  return t;
}

bool TokenReader::take(char c) {
  if (!peek().is(c)) return false;
  ++at_;
  return true;
}

/// What is missing is missing where the last token ends.
void TokenReader::expect(char c, const char* where) {
  if (take(c)) return;
  Place place = peek().place();
  if (at_ != 0 && (peek().first_on_line || peek().kind == TokenKind::end)) {
    const Token& before = tokens_[at_ - 1];
    place = {before.offset + static_cast<std::uint32_t>(before.text.size()), 1};
  }
  fail(place, std::string("expected '") + c + "' " + where);
}

std::uint32_t TokenReader::number() {
  const Token t = peek();
  if (t.kind != TokenKind::number) fail(t.place(), "expected a number");
  take();
  const bool hex = t.text.size() > 2 && (t.text.substr(0, 2) == "0x" || t.text.substr(0, 2) == "0X");
  const char* const end = t.text.data() + t.text.size();
  std::uint32_t value = 0;
  const auto [stop, error] = std::from_chars(t.text.data() + (hex ? 2 : 0), end, value, hex ? 16 : 10);
  if (stop != end) fail(t.place(), text::quoted(t.text) + " is no number");
  if (error != std::errc{}) fail(t.place(), text::quoted(t.text) + " does not fit 32 bits");
  return value;
}

std::uint32_t TokenReader::signed_number() {
  const Token sign = peek();
  if (!take('-')) {
    static_cast<void>(take('+'));
    return number();
  }
  const std::uint32_t value = number();
  if (value > 0x8000'0000U) fail(sign.place(), "this number does not fit 32 bits");
  return 0U - value;
}

std::uint32_t TokenReader::offset() {
  const Token sign = take();
  const bool negative = sign.is('-') || take('-');
  const std::uint32_t value = number();
  if (value > (negative ? 0x8000'0000U : 0x7fff'ffffU))
    fail(sign.place(), "the offset does not fit its 32 signed bits");
  return negative ? 0U - value : value;
}

std::uint64_t TokenReader::whole(const char* what, std::uint64_t low, std::uint64_t high) {
  const Token t = peek();
  const std::uint32_t n = number();
  if (n < low || n > high)
    fail(t.place(), std::string(what) + " lies in " + std::to_string(low) + " to " + std::to_string(high));
  return n;
}

std::optional<std::uint8_t> register_named(std::string_view text) {
  if (text == "RZ") return kZero;
  if (text.size() < 2 || text.size() > 4 || text[0] != 'R' || (text[1] == '0' && text.size() > 2))
    return std::nullopt;
  const auto n = number_from<unsigned>(text.substr(1));
  if (!n || *n >= kMostRegisters) return std::nullopt;
  return static_cast<std::uint8_t>(*n);
}

}  // namespace warpline::wls
