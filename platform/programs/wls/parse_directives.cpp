// Directives: what a program declares beside its instructions.
#include <algorithm>

#include "warpline/programs/wls/parser.h"

namespace warpline::wls {
namespace {

/// CUDA's limits on grids and blocks (CUDA C++ Programming Guide, "Technical Specifications").
constexpr std::uint64_t kMostCtas[] = {2147483647, 65535, 65535};
constexpr std::uint64_t kMostThreads[] = {1024, 1024, 64};
constexpr std::uint64_t kThreadsOfCta = 1024;
constexpr std::uint64_t kLargestVariable = std::uint64_t{16} << 20U;
constexpr std::uint64_t kLargestConstant = std::uint64_t{64} << 10U;
constexpr std::uint64_t kMostLocal = std::uint64_t{512} << 10U;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30U;
constexpr std::size_t kMostVariables = 4096;
constexpr std::size_t kMostParameters = 256;

/// Those that stand once come first.
constexpr std::string_view kDirectives[] = {".entry",  ".grid",     ".block", ".registers", ".local",
                                            ".global", ".constant", ".param", ".show",      ".expect"};
constexpr std::ptrdiff_t kOnce = 5;

}  // namespace

/// A number in [low, high].
std::uint64_t Parser::whole(const char* what, std::uint64_t low, std::uint64_t high) {
  const Token t = peek();
  const std::uint32_t n = number();
  if (n < low || n > high)
    fail(t.place(), std::string(what) + " lies in " + std::to_string(low) + " to " + std::to_string(high));
  return n;
}

void Parser::extents(Dim3& to, const std::uint64_t (&most)[3]) {
  to = {1, 1, 1};
  to.x = static_cast<std::uint32_t>(whole("this extent", 1, most[0]));
  const auto more = [this] { return peek().kind == TokenKind::number && !peek().first_on_line; };
  if (more()) to.y = static_cast<std::uint32_t>(whole("this extent", 1, most[1]));
  if (more()) to.z = static_cast<std::uint32_t>(whole("this extent", 1, most[2]));
}

void Parser::directive() {
  const Token d = take();
  const unsigned line = faults_.line_of(d.offset);
  const auto* const known = std::find(std::begin(kDirectives), std::end(kDirectives), d.text);
  if (known == std::end(kDirectives))
    fail(d.place(), ptx::quoted(d.text) + " is no directive that is known",
         ptx::suggestion(d.text, {std::begin(kDirectives), std::end(kDirectives)}));
  if (peek().first_on_line || peek().kind == TokenKind::end)
    fail(d.place(), ptx::quoted(d.text) + " wants something on its line");
  if (known - std::begin(kDirectives) < kOnce && !stated_.insert(d.text).second)
    fail(d.place(), ptx::quoted(d.text) + " stands here a second time");
  if (d.text == ".entry") {
    const Token name = take();
    if (name.kind != TokenKind::word) fail(name.place(), "expected the name of the kernel");
    program_.entry = name.text;
  } else if (d.text == ".grid") {
    extents(program_.grid, kMostCtas);
    program_.grid_line = line;
  } else if (d.text == ".block") {
    extents(program_.block, kMostThreads);
    program_.block_line = line;
    if (program_.block.count() > kThreadsOfCta) fail(d.place(), "a block has 1024 threads at most");
  } else if (d.text == ".registers") {
    registers_ = static_cast<unsigned>(whole("the number of registers", 1, kMostRegisters));
  } else if (d.text == ".local") {
    program_.local_bytes = (static_cast<std::uint32_t>(whole("local memory", 0, kMostLocal)) + 3U) & ~3U;
  } else if (d.text == ".global") {
    variable(false);
  } else if (d.text == ".constant") {
    variable(true);
  } else if (d.text == ".param") {
    parameter();
  } else if (d.text == ".show") {
    show();
  } else {
    check_value();
  }
  if (!peek().first_on_line && peek().kind != TokenKind::end)
    fail(peek().place(), "nothing else stands on the line of " + ptx::quoted(d.text));
}

/// A name that nothing has yet.
std::string Parser::new_name() {
  const Token t = take();
  if (t.kind != TokenKind::word || t.text.find('.') != std::string_view::npos)
    fail(t.place(), "expected a name");
  if (register_named(t.text)) fail(t.place(), ptx::quoted(t.text) + " is a register");
  const auto same = [&t](const auto& x) { return x.name == t.text; };
  if (std::any_of(program_.variables.begin(), program_.variables.end(), same) ||
      std::any_of(program_.parameters.begin(), program_.parameters.end(), same))
    fail(t.place(), ptx::quoted(t.text) + " is declared a second time");
  return std::string(t.text);
}

/// `NAME BYTES {= v0, v1, ...}`.
void Parser::variable(bool constant) {
  WordVariable v;
  v.constant = constant;
  const Token name = peek();
  v.name = new_name();
  if (program_.variables.size() == kMostVariables) fail(name.place(), "a program has 4096 variables at most");
  const Token size = peek();
  const std::uint64_t bytes =
      whole("the size of a variable", 4, constant ? kLargestConstant : kLargestVariable);
  if (bytes % 4 != 0) fail(size.place(), "a variable has whole words: a multiple of 4 bytes");
  variable_bytes_ += bytes;
  if (variable_bytes_ > kMostBytes) fail(size.place(), "the variables of a program have 1 GiB at most");
  v.words.resize(bytes / 4);
  if (take('=')) {
    std::size_t n = 0;
    do {
      const Token t = peek();
      if (n == v.words.size()) fail(t.place(), "the variable has " + std::to_string(n) + " words only");
      v.words[n++] = signed_number();
    } while (take(','));
  }
  program_.variables.push_back(std::move(v));
}

/// `NAME {4|8}`: parameters lie one behind the other, each at a multiple of its size.
void Parser::parameter() {
  WordParameter p;
  const Token at = peek();
  p.name = new_name();
  if (program_.parameters.size() == kMostParameters) fail(at.place(), "a kernel has 256 parameters at most");
  if (peek().kind == TokenKind::number && !peek().first_on_line) {
    const Token size = peek();
    p.bytes = number();
    if (p.bytes != 4 && p.bytes != 8) fail(size.place(), "a parameter has 4 or 8 bytes");
  }
  if (!program_.parameters.empty())
    p.offset = program_.parameters.back().offset + program_.parameters.back().bytes;
  p.offset = (p.offset + p.bytes - 1) / p.bytes * p.bytes;
  program_.parameters.push_back(std::move(p));
}

/// `NAME`, `NAME[i]`, `NAME[i..j]`; the same of a register.
void Parser::inspected(Inspected& what) {
  const Token t = take();
  if (t.kind != TokenKind::word) fail(t.place(), "expected a variable or a register");
  what.name = t.text;
  if (const auto reg = register_named(t.text)) {
    if (*reg == kZero) fail(t.place(), "RZ is always zero");
    what.is_register = true;
    what.reg = *reg;
    note_register(*reg, t.place());
  }
  what.whole = !take('[');
  if (what.whole) return;
  const Token first = peek();
  what.first = what.last = number();
  if (peek().kind == TokenKind::range) {
    take();
    what.last = number();
  }
  if (what.last < what.first) fail(first.place(), "this range runs backward");
  if (what.is_register && what.last >= kThreadsOfCta) fail(first.place(), "a CTA has threads 0 to 1023");
  expect(']', "behind an index");
}

void Parser::show() {
  const Token at = peek();
  Inspected what;
  inspected(what);
  if (!what.is_register || peek().kind != TokenKind::range) {
    program_.inspection.shown.push_back(what);
    inspections_.emplace_back(what, at.place());
    return;
  }
  take();
  const Token last = peek();
  const auto end = register_named(last.text);
  if (!end || *end == kZero || *end < what.reg) fail(last.place(), "expected the last register of the range");
  take();
  note_register(*end, last.place());
  for (unsigned r = what.reg; r <= *end; ++r) {
    Inspected one = what;
    one.reg = r;
    one.name = "R" + std::to_string(r);
    program_.inspection.shown.push_back(one);
    inspections_.emplace_back(one, at.place());
  }
}

void Parser::check_value() {
  const Token at = peek();
  InspectedValue v;
  inspected(v.what);
  expect('=', "before the value expected");
  v.value = signed_number();
  v.line = faults_.line_of(at.offset);
  program_.inspection.expected.push_back(v);
  inspections_.emplace_back(v.what, at.place());
}

}  // namespace warpline::wls
