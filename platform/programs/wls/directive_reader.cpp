#include "platform/programs/wls/directive_reader.h"

#include <algorithm>

#include "rtl_models/base/bits.h"

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

/// Reads one directive.
class DirectiveReader {
 public:
  DirectiveReader(TokenReader& tokens, Draft& draft)
      : tokens_(tokens), draft_(draft), program_(draft.program), word_(tokens.take()) {}

  void run() {
    const Directive& directive = directive_named(word_.text);
    if (line_ends()) fail(text::quoted(word_.text) + " wants something on its line");
    if (directive.once && !draft_.stated.insert(word_.text).second)
      fail(text::quoted(word_.text) + " stands here a second time");
    (this->*directive.read)();
    if (!line_ends())
      tokens_.fail(tokens_.peek().place(), "nothing else stands on the line of " + text::quoted(word_.text));
  }

 private:
  struct Directive {
    std::string_view name;
    void (DirectiveReader::*read)();
    bool once;  ///< a program has one of them
  };

  [[nodiscard]] const Directive& directive_named(std::string_view name) {
    using R = DirectiveReader;
    static constexpr Directive kDirectives[] = {
        {".entry", &R::entry, true},         {".grid", &R::grid, true},    {".block", &R::block, true},
        {".registers", &R::registers, true}, {".local", &R::local, true},  {".global", &R::global, false},
        {".constant", &R::constant, false},  {".param", &R::param, false}, {".show", &R::show, false},
        {".expect", &R::expect, false}};
    const auto* const found = std::find_if(std::begin(kDirectives), std::end(kDirectives),
                                           [&](const Directive& d) { return d.name == name; });
    if (found != std::end(kDirectives)) return *found;
    std::vector<std::string> names;
    for (const Directive& d : kDirectives) names.emplace_back(d.name);
    fail(text::quoted(name) + " is no directive that is known", text::suggestion(name, names));
  }

  /// A fault of the directive's own word.
  [[noreturn]] void fail(std::string message, std::string hint = {}) {
    tokens_.fail(word_.place(), std::move(message), std::move(hint));
  }
  [[nodiscard]] bool line_ends() const {
    return tokens_.peek().first_on_line || tokens_.peek().kind == TokenKind::end;
  }
  [[nodiscard]] bool more_numbers() const {
    return tokens_.peek().kind == TokenKind::number && !tokens_.peek().first_on_line;
  }
  [[nodiscard]] unsigned line_of(const Token& t) const { return tokens_.faults().line_of(t.offset); }

  void entry() {
    const Token name = tokens_.take();
    if (name.kind != TokenKind::word) tokens_.fail(name.place(), "expected the name of the kernel");
    program_.entry = name.text;
  }

  void extents(Dim3& to, const std::uint64_t (&most)[3]) {
    to = {1, 1, 1};
    to.x = static_cast<std::uint32_t>(tokens_.whole("this extent", 1, most[0]));
    if (more_numbers()) to.y = static_cast<std::uint32_t>(tokens_.whole("this extent", 1, most[1]));
    if (more_numbers()) to.z = static_cast<std::uint32_t>(tokens_.whole("this extent", 1, most[2]));
  }
  void grid() {
    extents(program_.grid, kMostCtas);
    program_.grid_line = line_of(word_);
  }
  void block() {
    extents(program_.block, kMostThreads);
    program_.block_line = line_of(word_);
    if (program_.block.count() > kThreadsOfCta) fail("a block has 1024 threads at most");
  }

  void registers() {
    draft_.registers = static_cast<unsigned>(tokens_.whole("the number of registers", 1, kMostRegisters));
  }
  void local() {
    program_.local_bytes =
        static_cast<std::uint32_t>(align_up(tokens_.whole("local memory", 0, kMostLocal), 4));
  }

  /// A name that nothing has yet.
  std::string new_name() {
    const Token t = tokens_.take();
    if (t.kind != TokenKind::word || t.text.find('.') != std::string_view::npos)
      tokens_.fail(t.place(), "expected a name");
    if (register_named(t.text)) tokens_.fail(t.place(), text::quoted(t.text) + " is a register");
    const auto same = [&t](const auto& x) { return x.name == t.text; };
    if (std::any_of(program_.variables.begin(), program_.variables.end(), same) ||
        std::any_of(program_.parameters.begin(), program_.parameters.end(), same))
      tokens_.fail(t.place(), text::quoted(t.text) + " is declared a second time");
    return std::string(t.text);
  }

  /// `NAME BYTES {= v0, v1, ...}`.
  void variable(bool constant, std::uint64_t largest) {
    WordVariable v;
    v.constant = constant;
    const Token name = tokens_.peek();
    v.name = new_name();
    if (program_.variables.size() == kMostVariables)
      tokens_.fail(name.place(), "a program has 4096 variables at most");
    const Token size = tokens_.peek();
    const std::uint64_t bytes = tokens_.whole("the size of a variable", 4, largest);
    if (bytes % 4 != 0) tokens_.fail(size.place(), "a variable has whole words: a multiple of 4 bytes");
    draft_.variable_bytes += bytes;
    if (draft_.variable_bytes > kMostBytes)
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
    program_.variables.push_back(std::move(v));
  }
  void global() { variable(false, kLargestVariable); }
  void constant() { variable(true, kLargestConstant); }

  /// `NAME {4|8}`: parameters lie one behind the other, each at a multiple of its size.
  void param() {
    WordParameter p;
    const Token at = tokens_.peek();
    p.name = new_name();
    if (program_.parameters.size() == kMostParameters)
      tokens_.fail(at.place(), "a kernel has 256 parameters at most");
    if (more_numbers()) {
      const Token size = tokens_.peek();
      p.bytes = tokens_.number();
      if (p.bytes != 4 && p.bytes != 8) tokens_.fail(size.place(), "a parameter has 4 or 8 bytes");
    }
    if (!program_.parameters.empty()) {
      const WordParameter& before = program_.parameters.back();
      p.offset = static_cast<std::uint32_t>(align_up(before.offset + before.bytes, p.bytes));
    }
    program_.parameters.push_back(std::move(p));
  }

  /// `NAME`, `NAME[i]`, `NAME[i..j]`; the same of a register.
  Inspected inspected() {
    Inspected what;
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
    if (what.whole) return what;
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
    return what;
  }

  void show() {
    const Token at = tokens_.peek();
    const Inspected what = inspected();
    std::vector<Inspected> all = {what};
    if (what.is_register && tokens_.peek().kind == TokenKind::range) {
      tokens_.take();
      const Token last = tokens_.peek();
      const auto end = register_named(last.text);
      if (!end || *end == kZero || *end < what.reg)
        tokens_.fail(last.place(), "expected the last register of the range");
      tokens_.take();
      draft_.note_register(*end, last.place());
      while (all.back().reg < *end) {
        Inspected next = all.back();
        next.name = "R" + std::to_string(++next.reg);
        all.push_back(next);
      }
    }
    for (const Inspected& one : all) {
      program_.inspection.shown.push_back(one);
      draft_.inspections.emplace_back(one, at.place());
    }
  }

  void expect() {
    const Token at = tokens_.peek();
    InspectedValue v;
    v.what = inspected();
    tokens_.expect('=', "before the value expected");
    v.value = tokens_.signed_number();
    v.line = line_of(at);
    program_.inspection.expected.push_back(v);
    draft_.inspections.emplace_back(v.what, at.place());
  }

  TokenReader& tokens_;
  Draft& draft_;
  Program& program_;
  Token word_;
};

}  // namespace

void read_directive(TokenReader& tokens, Draft& draft) {
  DirectiveReader(tokens, draft).run();
}

}  // namespace warpline::wls
