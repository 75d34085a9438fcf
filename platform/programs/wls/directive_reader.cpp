#include "platform/programs/wls/directive_reader.h"

#include <algorithm>

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

void DirectiveReader::extents(Dim3& to, const std::uint64_t (&most)[3]) {
  to = {1, 1, 1};
  to.x = static_cast<std::uint32_t>(tokens_.whole("this extent", 1, most[0]));
  const auto more = [this] {
    return tokens_.peek().kind == TokenKind::number && !tokens_.peek().first_on_line;
  };
  if (more()) to.y = static_cast<std::uint32_t>(tokens_.whole("this extent", 1, most[1]));
  if (more()) to.z = static_cast<std::uint32_t>(tokens_.whole("this extent", 1, most[2]));
}

void DirectiveReader::directive() {
  const Token d = tokens_.take();
  const unsigned line = tokens_.faults().line_of(d.offset);
  const auto* const known = std::find(std::begin(kDirectives), std::end(kDirectives), d.text);
  if (known == std::end(kDirectives))
    tokens_.fail(d.place(), text::quoted(d.text) + " is no directive that is known",
                 text::suggestion(d.text, {std::begin(kDirectives), std::end(kDirectives)}));
  if (tokens_.peek().first_on_line || tokens_.peek().kind == TokenKind::end)
    tokens_.fail(d.place(), text::quoted(d.text) + " wants something on its line");
  if (known - std::begin(kDirectives) < kOnce && !stated_.insert(d.text).second)
    tokens_.fail(d.place(), text::quoted(d.text) + " stands here a second time");
  if (d.text == ".entry") {
    const Token name = tokens_.take();
    if (name.kind != TokenKind::word) tokens_.fail(name.place(), "expected the name of the kernel");
    draft_.program.entry = name.text;
  } else if (d.text == ".grid") {
    extents(draft_.program.grid, kMostCtas);
    draft_.program.grid_line = line;
  } else if (d.text == ".block") {
    extents(draft_.program.block, kMostThreads);
    draft_.program.block_line = line;
    if (draft_.program.block.count() > kThreadsOfCta)
      tokens_.fail(d.place(), "a block has 1024 threads at most");
  } else if (d.text == ".registers") {
    draft_.registers = static_cast<unsigned>(tokens_.whole("the number of registers", 1, kMostRegisters));
  } else if (d.text == ".local") {
    draft_.program.local_bytes =
        (static_cast<std::uint32_t>(tokens_.whole("local memory", 0, kMostLocal)) + 3U) & ~3U;
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
  if (!tokens_.peek().first_on_line && tokens_.peek().kind != TokenKind::end)
    tokens_.fail(tokens_.peek().place(), "nothing else stands on the line of " + text::quoted(d.text));
}

/// A name that nothing has yet.
std::string DirectiveReader::new_name() {
  const Token t = tokens_.take();
  if (t.kind != TokenKind::word || t.text.find('.') != std::string_view::npos)
    tokens_.fail(t.place(), "expected a name");
  if (register_named(t.text)) tokens_.fail(t.place(), text::quoted(t.text) + " is a register");
  const auto same = [&t](const auto& x) { return x.name == t.text; };
  if (std::any_of(draft_.program.variables.begin(), draft_.program.variables.end(), same) ||
      std::any_of(draft_.program.parameters.begin(), draft_.program.parameters.end(), same))
    tokens_.fail(t.place(), text::quoted(t.text) + " is declared a second time");
  return std::string(t.text);
}

/// `NAME BYTES {= v0, v1, ...}`.
void DirectiveReader::variable(bool constant) {
  WordVariable v;
  v.constant = constant;
  const Token name = tokens_.peek();
  v.name = new_name();
  if (draft_.program.variables.size() == kMostVariables)
    tokens_.fail(name.place(), "a program has 4096 variables at most");
  const Token size = tokens_.peek();
  const std::uint64_t bytes =
      tokens_.whole("the size of a variable", 4, constant ? kLargestConstant : kLargestVariable);
  if (bytes % 4 != 0) tokens_.fail(size.place(), "a variable has whole words: a multiple of 4 bytes");
  variable_bytes_ += bytes;
  if (variable_bytes_ > kMostBytes)
    tokens_.fail(size.place(), "the variables of a program have 1 GiB at most");
  v.words.resize(bytes / 4);
  if (tokens_.take('=')) {
    std::size_t n = 0;
    do {
      const Token t = tokens_.peek();
      if (n == v.words.size())
        tokens_.fail(t.place(), "the variable has " + std::to_string(n) + " words only");
      v.words[n++] = tokens_.signed_number();
    } while (tokens_.take(','));
  }
  draft_.program.variables.push_back(std::move(v));
}

/// `NAME {4|8}`: parameters lie one behind the other, each at a multiple of its size.
void DirectiveReader::parameter() {
  WordParameter p;
  const Token at = tokens_.peek();
  p.name = new_name();
  if (draft_.program.parameters.size() == kMostParameters)
    tokens_.fail(at.place(), "a kernel has 256 parameters at most");
  if (tokens_.peek().kind == TokenKind::number && !tokens_.peek().first_on_line) {
    const Token size = tokens_.peek();
    p.bytes = tokens_.number();
    if (p.bytes != 4 && p.bytes != 8) tokens_.fail(size.place(), "a parameter has 4 or 8 bytes");
  }
  if (!draft_.program.parameters.empty())
    p.offset = draft_.program.parameters.back().offset + draft_.program.parameters.back().bytes;
  p.offset = (p.offset + p.bytes - 1) / p.bytes * p.bytes;
  draft_.program.parameters.push_back(std::move(p));
}

/// `NAME`, `NAME[i]`, `NAME[i..j]`; the same of a register.
void DirectiveReader::inspected(Inspected& what) {
  const Token t = tokens_.take();
  if (t.kind != TokenKind::word) tokens_.fail(t.place(), "expected a variable or a register");
  what.name = t.text;
  if (const auto reg = register_named(t.text)) {
    if (*reg == kZero) tokens_.fail(t.place(), "RZ is always zero");
    what.is_register = true;
    what.reg = *reg;
    draft_.note_register(*reg, t.place());
  }
  what.whole = !tokens_.take('[');
  if (what.whole) return;
  const Token first = tokens_.peek();
  what.first = what.last = tokens_.number();
  if (tokens_.peek().kind == TokenKind::range) {
    tokens_.take();
    what.last = tokens_.number();
  }
  if (what.last < what.first) tokens_.fail(first.place(), "this range runs backward");
  if (what.is_register && what.last >= kThreadsOfCta)
    tokens_.fail(first.place(), "a CTA has threads 0 to 1023");
  tokens_.expect(']', "behind an index");
}

void DirectiveReader::show() {
  const Token at = tokens_.peek();
  Inspected what;
  inspected(what);
  if (!what.is_register || tokens_.peek().kind != TokenKind::range) {
    draft_.program.inspection.shown.push_back(what);
    draft_.inspections.emplace_back(what, at.place());
    return;
  }
  tokens_.take();
  const Token last = tokens_.peek();
  const auto end = register_named(last.text);
  if (!end || *end == kZero || *end < what.reg)
    tokens_.fail(last.place(), "expected the last register of the range");
  tokens_.take();
  draft_.note_register(*end, last.place());
  for (unsigned r = what.reg; r <= *end; ++r) {
    Inspected one = what;
    one.reg = r;
    one.name = "R" + std::to_string(r);
    draft_.program.inspection.shown.push_back(one);
    draft_.inspections.emplace_back(one, at.place());
  }
}

void DirectiveReader::check_value() {
  const Token at = tokens_.peek();
  InspectedValue v;
  inspected(v.what);
  tokens_.expect('=', "before the value expected");
  v.value = tokens_.signed_number();
  v.line = tokens_.faults().line_of(at.offset);
  draft_.program.inspection.expected.push_back(v);
  draft_.inspections.emplace_back(v.what, at.place());
}

}  // namespace warpline::wls
