#include "platform/programs/ptx_syntax/token_stream.h"

#include "rtl_models/base/types.h"

namespace warpline::ptx {

bool TokenStream::accept(char c) {
  if (!peek().is(c)) return false;
  take();
  return true;
}

bool TokenStream::accept(std::string_view word) {
  if (!peek().is(word)) return false;
  take();
  return true;
}

const Token& TokenStream::expect(char c, const char* where) {
  if (!peek().is(c)) {
    const std::string found = peek().kind == TokenKind::end ? "the end of the file" : quoted(peek().text);
    fail(peek(), std::string("expected '") + c + "' " + where + ", found " + found);
  }
  return take();
}

const Token& TokenStream::expect_word(const char* what) {
  if (peek().kind != TokenKind::word) fail(peek(), std::string("expected ") + what);
  return take();
}

bool TokenStream::accept_word() {
  if (peek().kind != TokenKind::word) return false;
  take();
  return true;
}

void TokenStream::fail(const Token& at, const std::string& message, std::string hint) {
  fail(at.place(), message, std::move(hint));
}

void TokenStream::fail(Place at, const std::string& message, std::string hint) {
  faults_.add(at, message, std::move(hint));
  throw SyntaxError{};
}

void TokenStream::fail_unsupported(const Token& at, const std::string& message) {
  faults_.add_unsupported(at.place(), message);
  throw SyntaxError{};
}

void TokenStream::skip_statement() {
  unsigned depth = 0;  // of vector operands
  while (peek().kind != TokenKind::end && !peek().is(';')) {
    const bool closes_vector = peek().is('}') && (depth > 0 || peek(1).is(',') || peek(1).is(';'));
    if (peek().is('}') && !closes_vector) return;
    if (peek().is('{')) ++depth;
    if (closes_vector && depth > 0) --depth;
    take();
  }
  accept(';');
}

void TokenStream::skip_braces() {
  unsigned depth = 0;
  do {
    if (peek().is('{')) ++depth;
    if (peek().is('}') && depth > 0) --depth;
    take();
  } while (depth > 0 && peek().kind != TokenKind::end);
}

void TokenStream::skip_top_level() {
  while (peek().kind != TokenKind::end) {
    if (accept(';')) return;
    if (peek().is('{')) {
      skip_braces();
      return;
    }
    take();
  }
}

std::uint64_t TokenStream::constant() {
  bool minus = false;
  while (accept('-')) minus = !minus;
  const Token& t = peek();
  if (accept("WARP_SZ")) return minus ? std::uint64_t{0} - kWarpLanes : kWarpLanes;
  const Number n = read_number(t.text);
  if (t.kind != TokenKind::number || !n.ok || n.is_float)
    fail(t, "expected an integer, found " + quoted(t.text));
  take();
  return minus ? std::uint64_t{0} - n.integer : n.integer;
}

std::uint64_t TokenStream::count() {
  if (peek().is('-')) fail(peek(), "expected a number without a sign");
  return constant();
}

std::int64_t TokenStream::offset(bool* subtracts) {
  std::uint64_t sum = 0;
  while (peek().is('+') || peek().is('-')) {
    const bool minus = take().is('-');
    if (minus && subtracts != nullptr) *subtracts = true;
    const std::uint64_t term = constant();
    sum += minus ? std::uint64_t{0} - term : term;
  }
  return static_cast<std::int64_t>(sum);
}

}  // namespace warpline::ptx
