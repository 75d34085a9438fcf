#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "platform/launch/expression_node.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/document.h"

namespace warpline {
namespace {

using Op = ExpressionOp;

/// Deeper trees, chains of operators aside, would need more of the host's stack than is safe to ask for.
constexpr unsigned kMaxDepth = 400;

/// The functions of expressions.
struct Function {
  const char* name;
  Op op;
  unsigned terms;
  bool has_range;  ///< starts with a variable and two bounds
};
constexpr Function kFunctions[] = {
    {"sum", Op::sum, 1, true},       {"dot", Op::dot, 2, true},      {"fma", Op::fused, 3, false},
    {"min", Op::minimum, 2, false},  {"max", Op::maximum, 2, false}, {"sqrt", Op::square_root, 1, false},
    {"abs", Op::absolute, 1, false},
};

/// The binary operators, with C's precedence.
struct BinaryOperator {
  const char* text;
  Op op;
  unsigned precedence;  ///< higher binds tighter
};
/// Longer spellings before their prefixes.
constexpr BinaryOperator kBinary[] = {
    {"||", Op::logical_or, 1}, {"&&", Op::logical_and, 2},
    {"==", Op::equal, 6},      {"!=", Op::not_equal, 6},
    {"<<", Op::shift_left, 8}, {">>", Op::shift_right, 8},
    {"<=", Op::less_equal, 7}, {">=", Op::greater_equal, 7},
    {"|", Op::bit_or, 3},      {"^", Op::bit_xor, 4},
    {"&", Op::bit_and, 5},     {"<", Op::less, 7},
    {">", Op::greater, 7},     {"+", Op::add, 9},
    {"-", Op::subtract, 9},    {"*", Op::multiply, 10},
    {"/", Op::divide, 10},     {"%", Op::remainder, 10},
};

bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// A number as C writes it.
struct Literal {
  bool is_real = false;
  std::uint64_t integer = 0;
  double real = 0;         ///< rounded to f32 where the suffix f or the type of the expression asks for it
  std::size_t length = 1;  ///< characters, suffix included
  std::string fault;       ///< why it is none, or empty
};
/// No number that means anything is longer.
constexpr std::size_t kMaxDigits = 400;

Literal faulty(std::size_t length, std::string why) {
  Literal l;
  l.length = length;
  l.fault = std::move(why);
  return l;
}

/// Reads the number that `text` starts with, in an expression of type `type`.
Literal read_literal(std::string_view text, DataType type) {
  const std::string digits(text.substr(0, kMaxDigits));
  Literal l;
  char* stop = nullptr;
  errno = 0;
  l.integer = std::strtoull(digits.c_str(), &stop, 0);
  const bool overflow = errno == ERANGE;
  const auto integer_end = static_cast<std::size_t>(stop - digits.c_str());
  l.real = std::strtod(digits.c_str(), &stop);
  const auto real_end = static_cast<std::size_t>(stop - digits.c_str());
  if (real_end == 0) return faulty(1, "expected a number");

  const bool hexadecimal = digits.size() > 1 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
  const char* marks = hexadecimal ? ".pP" : ".eE";
  l.is_real = real_end > integer_end && digits.substr(0, real_end).find_first_of(marks) != std::string::npos;
  if (!l.is_real && real_end > integer_end)  // "09": the integer ends at the 9
    return faulty(real_end, "\"" + digits.substr(0, real_end) + "\" is no octal number");
  if (!l.is_real && overflow) return faulty(integer_end, "the integer does not fit 64 bits");

  bool narrow = false;
  l.length = l.is_real ? real_end : integer_end;
  while (l.length < digits.size() &&
         std::string_view("uUlLfF").find(digits[l.length]) != std::string_view::npos) {
    narrow = narrow || digits[l.length] == 'f' || digits[l.length] == 'F';
    ++l.length;
  }
  if (l.length < digits.size() &&
      (starts_name(digits[l.length]) || is_digit(digits[l.length]) || digits[l.length] == '.'))
    return faulty(l.length + 1, "malformed number");
  l.is_real = l.is_real || narrow;
  // Rounded once, from its digits: not to f64 first.
  if (narrow || type == DataType::f32) l.real = static_cast<double>(std::strtof(digits.c_str(), nullptr));
  return l;
}

/// Unwinds the parser to its entry at the first fault.
struct Stop {};

class Parser {
 public:
  Parser(std::string_view text, DataType type, const NamedArrays& arrays)
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
      const bool continues =
          node.operands == 0 && is_binary_operator(op) && is_binary_operator(out_.nodes[o].op);
      deepest = std::max(deepest, depth_[o] - (continues ? 1 : 0));
      node.operand[node.operands++] = o;
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
    const Literal l = read_literal(text_.substr(offset), type_);
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
    const std::string name(word);
    if (arrays_.number_of(name) != arrays_.size())
      fail(offset, word.size(), "\"" + name + "\" is a buffer", "write " + name + "[i]");
    std::vector<std::string> known = {"i"};
    known.insert(known.end(), variables_.begin(), variables_.end());
    fail(offset, word.size(), "unknown name \"" + std::string(word) + "\"", did_you_mean(word, known));
  }

  std::uint32_t element(std::string_view word, std::size_t offset) {
    const std::size_t array = arrays_.number_of(std::string(word));
    if (array == arrays_.size())
      fail(offset, word.size(), "no buffer is called \"" + std::string(word) + "\"",
           did_you_mean(word, names_of(arrays_.all())));
    ++at_;
    const std::uint32_t where = ternary();
    want(']', "to close the index");
    const std::uint32_t n = make(Op::element, offset, word.size(), {where});
    out_.nodes[n].slot = static_cast<std::uint32_t>(array);
    out_.nodes[n].type = arrays_[array].type;
    return n;
  }

  std::uint32_t call(std::string_view word, std::size_t offset) {
    for (const Function& f : kFunctions)
      if (word == f.name) return arguments(f, offset, word.size());
    fail(offset, word.size(), "no function is called \"" + std::string(word) + "\"",
         did_you_mean(word, names_of(kFunctions)));
  }

  std::uint32_t arguments(const Function& f, std::size_t offset, std::size_t length) {
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

  std::string range_variable(const Function& f) {
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
  const NamedArrays& arrays_;
  std::size_t at_ = 0;
  unsigned level_ = 0;
  std::vector<std::string> variables_;
  std::vector<unsigned> depth_;
  ParsedExpression out_;
};

}  // namespace

ParsedExpression parse_expression(std::string_view text, DataType type, const NamedArrays& arrays) {
  return Parser(text, type, arrays).run();
}

}  // namespace warpline
