#include <algorithm>

#include "platform/launch/expression_grammar.h"
#include "platform/launch/expression_node.h"
#include "rtl_models/document/document.h"

namespace warpline {
namespace {

using Op = ExpressionOp;

/// Deeper trees would need more of the host's stack than is safe to ask for.
constexpr unsigned kMaxDepth = 400;

/// Unwinds the parser to its entry at the first fault.
struct Stop {};

class Parser {
 public:
  Parser(std::string_view text, DataType type, const std::vector<NamedArray>& arrays)
      : text_(text), type_(type), arrays_(arrays) {}

  ParsedExpression run() {
    try {
      out_.root = ternary();
      skip_blanks();
      if (at_ < text_.size())
        fail(at_, 1, "expected an operator, found \"" + std::string(1, text_[at_]) + "\"");
    } catch (const Stop&) {
      // the fault is in out_
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(std::size_t offset, std::size_t length, std::string message, std::string hint = {}) {
    out_.faults.push_back({offset, length, std::move(message), std::move(hint)});
    throw Stop{};
  }

  void skip_blanks() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      ++at_;
  }
  [[nodiscard]] char peek() {
    skip_blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  void want(char c, const char* why) {
    if (!take(c)) fail(at_, 1, std::string("expected \"") + c + "\" " + why);
  }
  std::string_view name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (starts_name(text_[at_]) || is_digit(text_[at_]))) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  std::uint32_t make(Op op, std::size_t offset, std::size_t length,
                     const std::vector<std::uint32_t>& operands = {}) {
    ExpressionNode node;
    node.op = op;
    node.offset = static_cast<std::uint32_t>(offset);
    node.length = static_cast<std::uint32_t>(length);
    unsigned deepest = 0;
    for (const std::uint32_t o : operands) {
      node.operand[node.operands++] = o;
      deepest = std::max(deepest, depth_[o]);
    }
    if (deepest + 1 > kMaxDepth) fail(offset, length, "the expression is nested too deeply");
    out_.nodes.push_back(node);
    depth_.push_back(deepest + 1);
    return static_cast<std::uint32_t>(out_.nodes.size() - 1);
  }

  /// Counts the parser's own recursion.
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) {
      if (++parser_.level_ > kMaxDepth) parser_.fail(parser_.at_, 1, "the expression is nested too deeply");
    }
    ~Level() { --parser_.level_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Parser& parser_;
  };

  std::uint32_t ternary() {
    const Level level(*this);
    const std::uint32_t condition = binary(1);
    if (peek() != '?') return condition;
    const std::size_t offset = at_++;
    const std::uint32_t yes = ternary();
    want(':', "of the \"?\" before it");
    const std::uint32_t no = ternary();
    return make(Op::choose, offset, 1, {condition, yes, no});
  }

  [[nodiscard]] const BinaryOperator* binary_operator() {
    skip_blanks();
    const std::string_view rest = text_.substr(at_);
    for (const BinaryOperator& b : kBinary)
      if (rest.substr(0, std::string_view(b.text).size()) == b.text) return &b;
    return nullptr;
  }

  std::uint32_t binary(unsigned lowest) {
    std::uint32_t left = unary();
    for (;;) {
      const BinaryOperator* b = binary_operator();
      if (b == nullptr || b->precedence < lowest) return left;
      const std::size_t offset = at_;
      const std::size_t length = std::string_view(b->text).size();
      at_ += length;
      const std::uint32_t right = binary(b->precedence + 1);
      left = make(b->op, offset, length, {left, right});
    }
  }

  std::uint32_t unary() {
    const Level level(*this);
    const char c = peek();
    const std::size_t offset = at_;
    if (c == '+' || c == '-' || c == '!' || c == '~') {
      ++at_;
      const std::uint32_t operand = unary();
      if (c == '+') return operand;
      return make(c == '-' ? Op::negate : c == '!' ? Op::logical_not : Op::bit_not, offset, 1, {operand});
    }
    return primary();
  }

  std::uint32_t primary() {
    const char c = peek();
    const std::size_t offset = at_;
    if (take('(')) {
      const std::uint32_t inside = ternary();
      want(')', "to close the parenthesis");
      return inside;
    }
    if (is_digit(c) || c == '.') return literal();
    if (starts_name(c)) return named();
    if (offset >= text_.size()) fail(offset, 1, "the expression ends where a value is expected");
    fail(offset, 1, "expected a value, found \"" + std::string(1, c) + "\"");
  }

  std::uint32_t literal() {
    const std::size_t offset = at_;
    const ExpressionLiteral l = read_literal(text_.substr(offset), type_);
    if (!l.fault.empty()) fail(offset, l.length, l.fault);
    at_ += l.length;
    const std::uint32_t n = make(l.is_real ? Op::real : Op::integer, offset, l.length);
    out_.nodes[n].integer = l.integer;
    out_.nodes[n].real = l.real;
    return n;
  }

  std::uint32_t named() {
    const std::size_t offset = at_;
    const std::string_view word = name();
    const char next = peek();
    if (next == '(') return call(word, offset);
    if (next == '[') return element(word, offset);
    if (word == "i") return make(Op::index, offset, 1);
    for (std::size_t v = variables_.size(); v-- > 0;)
      if (variables_[v] == word) {
        const std::uint32_t n = make(Op::variable, offset, word.size());
        out_.nodes[n].slot = static_cast<std::uint32_t>(v);
        return n;
      }
    for (const NamedArray& a : arrays_)
      if (a.name == word)
        fail(offset, word.size(), "\"" + a.name + "\" is a buffer", "write " + a.name + "[i]");
    std::vector<std::string> known = {"i"};
    known.insert(known.end(), variables_.begin(), variables_.end());
    fail(offset, word.size(), "unknown name \"" + std::string(word) + "\"", did_you_mean(word, known));
  }

  std::uint32_t element(std::string_view word, std::size_t offset) {
    for (std::size_t a = 0; a < arrays_.size(); ++a) {
      if (arrays_[a].name != word) continue;
      ++at_;
      const std::uint32_t where = ternary();
      want(']', "to close the index");
      const std::uint32_t n = make(Op::element, offset, word.size(), {where});
      out_.nodes[n].slot = static_cast<std::uint32_t>(a);
      out_.nodes[n].type = arrays_[a].type;
      return n;
    }
    fail(offset, word.size(), "no buffer is called \"" + std::string(word) + "\"",
         did_you_mean(word, names_of(arrays_)));
  }

  std::uint32_t call(std::string_view word, std::size_t offset) {
    for (const ExpressionFunction& f : kFunctions)
      if (word == f.name) return arguments(f, offset, word.size());
    fail(offset, word.size(), "no function is called \"" + std::string(word) + "\"",
         did_you_mean(word, names_of(kFunctions)));
  }

  std::uint32_t arguments(const ExpressionFunction& f, std::size_t offset, std::size_t length) {
    ++at_;
    std::vector<std::uint32_t> operands;
    const auto comma = [&] { want(',', (std::string("between the arguments of ") + f.name).c_str()); };
    const auto slot = static_cast<std::uint32_t>(variables_.size());
    if (f.has_range) {
      const std::string variable = range_variable(f);
      for (unsigned bound = 0; bound < 2; ++bound) {
        comma();
        operands.push_back(ternary());
      }
      comma();
      variables_.push_back(variable);
    }
    for (unsigned t = 0; t < f.terms; ++t) {
      if (t != 0) comma();
      operands.push_back(ternary());
    }
    want(')', (std::string("after the arguments of ") + f.name).c_str());
    if (f.has_range) variables_.pop_back();
    const std::uint32_t made = make(f.op, offset, length, operands);
    out_.nodes[made].slot = slot;
    return made;
  }

  std::string range_variable(const ExpressionFunction& f) {
    skip_blanks();
    const std::size_t offset = at_;
    if (!starts_name(peek())) fail(offset, 1, std::string(f.name) + " starts with the name of its variable");
    std::string variable(name());
    const bool taken =
        variable == "i" || std::find(variables_.begin(), variables_.end(), variable) != variables_.end();
    if (taken) fail(offset, variable.size(), "\"" + variable + "\" already means something here");
    if (variables_.size() == ExpressionNode::kMaxVariables)
      fail(offset, variable.size(), "too many sums inside each other");
    return variable;
  }

  std::string_view text_;
  DataType type_;
  const std::vector<NamedArray>& arrays_;
  std::size_t at_ = 0;
  unsigned level_ = 0;
  std::vector<std::string> variables_;
  std::vector<unsigned> depth_;
  ParsedExpression out_;
};

}  // namespace

ParsedExpression parse_expression(std::string_view text, DataType type,
                                  const std::vector<NamedArray>& arrays) {
  return Parser(text, type, arrays).run();
}

}  // namespace warpline
