#include "warpline/litmus/parser.h"

#include <algorithm>
#include <charconv>

#include "warpline/litmus/parser_state.h"

namespace warpline::litmus {
namespace {

/// Where the first line that begins with a brace does so: before it people write what they like.
std::size_t body_of(std::string_view text, std::size_t line) {
  while (line < text.size()) {
    const std::size_t first = text.find_first_not_of(" \t", line + 1);
    if (first != std::string_view::npos && text[first] == '{') return first;
    line = text.find('\n', line + 1);
  }
  return std::string_view::npos;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\"";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

}  // namespace

unsigned thread_number(const Token& name) {
  constexpr unsigned kMostThreads = 64;
  std::string_view digits = name.text;
  if (name.kind == TokenKind::word && digits.size() > 1 && digits[0] == 'P') digits.remove_prefix(1);
  unsigned n = 0;
  const char* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, n);
  return read.ec == std::errc{} && read.ptr == end && n < kMostThreads ? n : kNoThread;
}

bool Parser::accept(std::string_view text) {
  if (!peek().is(text)) return false;
  take();
  return true;
}

bool Parser::fail(const Token& at, std::string message, std::string hint) {
  faults_.add(at.place, std::move(message), std::move(hint));
  return false;
}

bool Parser::expect(std::string_view text) {
  if (accept(text)) return true;
  const std::string found =
      peek().kind == TokenKind::end ? "the text ends" : ptx::quoted(peek().text) + " stands";
  return fail(peek(), "\"" + std::string(text) + "\" is missing: here " + found);
}

void Parser::recover(std::initializer_list<std::string_view> ends) {
  while (peek().kind != TokenKind::end)
    if (const Token& t = take(); std::any_of(ends.begin(), ends.end(), [&](auto e) { return t.is(e); }))
      return;
}

std::optional<std::int64_t> Parser::number() {
  const bool negative = accept("-");
  const Token& t = peek();
  if (t.kind != TokenKind::number) {
    fail(t, "a number is missing");
    return std::nullopt;
  }
  take();
  const bool hex = t.text.size() > 2 && t.text[0] == '0' && (t.text[1] == 'x' || t.text[1] == 'X');
  const char* const begin = t.text.data() + (hex ? 2 : 0);
  const char* const end = t.text.data() + t.text.size();
  std::uint64_t magnitude = 0;
  const auto read = std::from_chars(begin, end, magnitude, hex ? 16 : 10);
  constexpr std::uint64_t kLeast = std::uint64_t{1} << 63U;
  if (read.ec != std::errc{} || read.ptr != end || (negative && magnitude > kLeast)) {
    fail(t, ptx::quoted(t.text) + " is no number of at most 64 bits");
    return std::nullopt;
  }
  return static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
}

unsigned Parser::thread_named(const Token& name) const {
  for (unsigned n = 0; n < test_->threads.size(); ++n)
    if (thread_number(name) == thread_number({TokenKind::word, test_->threads[n].name, {}})) return n;
  return kNone;
}

unsigned Parser::location_named(std::string_view name) {
  auto& all = test_->locations;
  const auto known = std::find_if(all.begin(), all.end(), [&](const Location& l) { return l.name == name; });
  if (known != all.end()) return static_cast<unsigned>(known - all.begin());
  const auto number = static_cast<unsigned>(all.size());
  all.push_back({std::string(name), Proxy::generic, static_cast<unsigned>(test_->memories.size()), number,
                 Home::unsaid});
  test_->memories.emplace_back();
  return number;
}

unsigned Parser::register_named(Thread& thread, std::string_view name) {
  auto& all = thread.registers;
  const auto known = std::find(all.begin(), all.end(), name);
  if (known != all.end()) return static_cast<unsigned>(known - all.begin());
  all.emplace_back(name);
  thread.initial.push_back(0);
  return static_cast<unsigned>(all.size() - 1);
}

void Parser::run(Test& test) {
  test_ = &test;
  initial_state();
  threads();
  holds();
  condition();
}

void Parser::initial_state() {
  if (!expect("{")) return recover({"}"});
  while (!accept("}")) {
    if (peek().kind == TokenKind::end) {
      expect("}");
      return;
    }
    if (accept(";")) continue;
    if (!initial_statement()) {
      recover({";"});
    } else if (!peek().is("}") && !expect(";")) {
      recover({";"});
    }
  }
}

bool Parser::initial_statement() {
  const Token name = take();
  if (accept(":")) {
    const Token reg = take();
    if (thread_number(name) == kNoThread) return fail(name, "a thread is named P0 to P63");
    if (reg.kind != TokenKind::word) return fail(reg, "a register is missing");
    if (!expect("=")) return false;
    const auto value = number();
    if (value) initial_registers_.push_back({name, reg, *value});
    return value.has_value();
  }
  if (name.kind != TokenKind::word) return fail(name, "a location or a register is missing");
  if (accept("@") && !alias(name)) return false;
  if (!accept("=")) return true;
  const auto value = number();
  return value && initial_value(name, *value);
}

/// A memory begins with one value, by whatever name.
bool Parser::initial_value(const Token& name, std::int64_t value) {
  const unsigned memory = test_->locations[location_named(name.text)].memory;
  const auto [at, fresh] = initial_memories_.try_emplace(memory, value);
  if (!fresh && at->second != value)
    return fail(name, ptx::quoted(name.text) + " begins as " + std::to_string(value) + " here, and as " +
                          std::to_string(at->second) + " before");
  test_->memories[memory].initial = value;
  return true;
}

/// Behind "name @": where it lies, or what it is another name of.
bool Parser::alias(const Token& name) {
  struct Way {
    std::string_view word;
    Proxy proxy;
    Home home;
    bool aliases;
  };
  static const std::vector<Way> kWays = {
      {"generic", Proxy::generic, Home::unsaid, true}, {"texture", Proxy::texture, Home::unsaid, true},
      {"surface", Proxy::surface, Home::unsaid, true}, {"constant", Proxy::constant, Home::unsaid, true},
      {"vidmem", Proxy::generic, Home::vidmem, false}, {"sysmem", Proxy::generic, Home::sysmem, false},
      {"peer", Proxy::generic, Home::peer, false},     {"shared", Proxy::generic, Home::shared, false}};
  const Token& word = take();
  const auto way = std::find_if(kWays.begin(), kWays.end(), [&](const Way& w) { return word.is(w.word); });
  if (way == kWays.end()) {
    std::vector<std::string> words;
    for (const Way& w : kWays) words.emplace_back(w.word);
    return fail(
        word, ptx::quoted(word.text) + " is neither a proxy nor a memory",
        "one of generic, texture, surface, constant (with \"aliases\"), vidmem, sysmem, peer, shared" +
            (ptx::suggestion(word.text, words).empty() ? "" : "; " + ptx::suggestion(word.text, words)));
  }
  const std::size_t known = test_->locations.size();
  const unsigned number = location_named(name.text);
  if (number < known) return fail(name, ptx::quoted(name.text) + " is declared twice");
  Location& own = test_->locations[number];
  own.home = way->home;
  if (!way->aliases) return true;
  if (!expect("aliases")) return false;
  const Token& of = take();
  if (of.kind != TokenKind::word) return fail(of, "the location that it is another name of is missing");
  const unsigned target = location_named(of.text);
  if (target >= number) return fail(of, ptx::quoted(of.text) + " is declared nowhere before");
  Location& l = test_->locations[number];
  const Location& t = test_->locations[target];
  if (l.memory + 1 == test_->memories.size()) test_->memories.pop_back();
  l.memory = t.memory;
  l.home = t.home;
  l.proxy = way->proxy;
  if (l.proxy != Proxy::generic) {
    if (t.proxy != Proxy::generic) return fail(of, ptx::quoted(of.text) + " is no generic address");
    if (t.home == Home::shared) return fail(of, "shared memory is reached by no other proxy");
    l.address = t.address;
  }
  return true;
}

Result<Test> parse(std::string_view text, const std::string& file) {
  FaultList faults(text, file);
  Test test;
  const std::size_t line = std::min(text.find('\n'), text.size());
  std::string_view first = text.substr(0, line);
  while (!first.empty() && (first.back() == '\r' || first.back() == ' ')) first.remove_suffix(1);
  if (first.rfind("PTX", 0) != 0 || (first.size() > 3 && first[3] != ' ')) {
    faults.add({0, 1}, "a litmus test begins with \"PTX\" and its name");
    return faults.take();
  }
  test.name = first.size() > 4 ? first.substr(4) : std::string_view{};
  const std::size_t body = body_of(text, line);
  if (body == std::string_view::npos) {
    faults.add({static_cast<std::uint32_t>(line), 1}, "no line begins with \"{\", as the initial state does");
    return faults.take();
  }
  test.description = trimmed(text.substr(line, body - line));
  Parser(tokenize(text, static_cast<std::uint32_t>(body), faults), faults).run(test);
  if (!faults.empty()) return faults.take();
  for (const Thread& t : test.threads)
    for (const Instruction& i : t.code)
      if (i.kind == InstructionKind::memory) {
        Memory& m = test.memories[test.locations[i.location].memory];
        m.bytes = std::max(m.bytes, i.offset + i.bytes() > Test::kDefaultBytes ? Test::kBytes : m.bytes);
      }
  return test;
}

}  // namespace warpline::litmus
