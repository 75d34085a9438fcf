#include "platform/consistency/parser.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "platform/consistency/lexer.h"
#include "platform/consistency/memory_opcode.h"
#include "rtl_models/base/text.h"

namespace warpline::litmus {
namespace {

/// The offset of the first brace that begins a line: the text before it is a description, in free form.
std::size_t body_of(std::string_view text, std::size_t line) {
  while (line < text.size()) {
    const std::size_t first = text.find_first_not_of(" \t", line + 1);
    if (first != std::string_view::npos && text[first] == '{') return first;
    line = text.find('\n', line + 1);
  }
  return std::string_view::npos;
}

struct Branch {
  std::string_view word;
  Comparison comparison;
};
constexpr std::array<Branch, 6> kComparisons = {{{"setp.eq", Comparison::equal},
                                                 {"setp.ne", Comparison::not_equal},
                                                 {"setp.lt", Comparison::less},
                                                 {"setp.le", Comparison::less_equal},
                                                 {"setp.gt", Comparison::greater},
                                                 {"setp.ge", Comparison::greater_equal}}};
constexpr std::array<Branch, 6> kBranches = {{{"beq", Comparison::equal},
                                              {"bne", Comparison::not_equal},
                                              {"blt", Comparison::less},
                                              {"ble", Comparison::less_equal},
                                              {"bgt", Comparison::greater},
                                              {"bge", Comparison::greater_equal}}};

/// "P0" and "0" name thread 0; kNoThread: it names none.
constexpr unsigned kNoThread = ~0U;
unsigned thread_number(const Token& name) {
  constexpr unsigned kMostThreads = 64;
  std::string_view digits = name.text;
  if (name.kind == TokenKind::word && digits.size() > 1 && digits[0] == 'P') digits.remove_prefix(1);
  const auto n = number_from<unsigned>(digits);
  return n && *n < kMostThreads ? *n : kNoThread;
}

/// The number of the first of `list` that fits; the size of the list if none does.
template <class T, class F>
unsigned index_of(const std::vector<T>& list, const F& fits) {
  return static_cast<unsigned>(std::find_if(list.begin(), list.end(), fits) - list.begin());
}

/// Reads one test: the initial state, the threads with their instructions, what is held back, the condition.
class Parser {
 public:
  Parser(std::vector<Token> tokens, FaultList& faults) : tokens_(std::move(tokens)), faults_(faults) {}
  /// Everything behind the first line.
  void run(Test& test) {
    test_ = &test;
    initial_state();
    threads();
    holds();
    condition();
  }

 private:
  // Tokens
  [[nodiscard]] const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  const Token& take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool accept(std::string_view text) {
    if (!peek().is(text)) return false;
    take();
    return true;
  }

  /// Takes `text`, or says that it is missing.
  bool expect(std::string_view text) {
    if (accept(text)) return true;
    const std::string found =
        peek().kind == TokenKind::end ? "the text ends" : text::quoted(peek().text) + " stands";
    return fail(peek(), "\"" + std::string(text) + "\" is missing: here " + found);
  }

  std::optional<std::int64_t> number() {
    const bool negative = accept("-");
    const Token& t = peek();
    if (t.kind != TokenKind::number) {
      fail(t, "a number is missing");
      return std::nullopt;
    }
    take();
    const auto magnitude = number_with_prefix<std::uint64_t>(t.text);
    constexpr std::uint64_t kLeast = std::uint64_t{1} << 63U;
    if (!magnitude || (negative && *magnitude > kLeast)) {
      fail(t, text::quoted(t.text) + " is no number of at most 64 bits");
      return std::nullopt;
    }
    return static_cast<std::int64_t>(negative ? 0 - *magnitude : *magnitude);
  }

  bool fail(const Token& at, std::string message, std::string hint = {}) {
    faults_.add(at.place, std::move(message), std::move(hint));
    return false;
  }

  /// Goes on behind the next of `end`s, or before the end of the file.
  void recover(std::initializer_list<std::string_view> ends) {
    while (peek().kind != TokenKind::end)
      if (const Token& t = take(); std::any_of(ends.begin(), ends.end(), [&](auto e) { return t.is(e); }))
        return;
  }

  // Parts
  void initial_state() {
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

  bool initial_statement() {
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
  bool initial_value(const Token& name, std::int64_t value) {
    const unsigned memory = test_->locations[location_named(name.text)].memory;
    if (test_->memories[memory].arrivals != 0) {
      constexpr std::int64_t kMost = (1U << 20U) - 1;  // PTX ISA, "mbarrier.init"
      if (value < 1 || value > kMost) return fail(name, "a phase of an mbarrier has 1 to 1048575 arrivals");
      test_->memories[memory].arrivals = static_cast<std::uint32_t>(value);
      return true;
    }
    const auto [at, fresh] = initial_memories_.try_emplace(memory, value);
    if (!fresh && at->second != value)
      return fail(name, text::quoted(name.text) + " begins as " + std::to_string(value) + " here, and as " +
                            std::to_string(at->second) + " before");
    test_->memories[memory].initial = value;
    return true;
  }

  /// Behind "name @": where it lies, of shared memory also whose, or what it is another name of.
  bool alias(const Token& name) {
    struct Way {
      std::string_view word;
      Proxy proxy;
      Home home;
      bool aliases;
    };
    static const std::vector<Way> kWays = {
        {"generic", Proxy::generic, Home::unsaid, true},  {"texture", Proxy::texture, Home::unsaid, true},
        {"surface", Proxy::surface, Home::unsaid, true},  {"constant", Proxy::constant, Home::unsaid, true},
        {"vidmem", Proxy::generic, Home::vidmem, false},  {"sysmem", Proxy::generic, Home::sysmem, false},
        {"peer", Proxy::generic, Home::peer, false},      {"shared", Proxy::generic, Home::shared, false},
        {"mbarrier", Proxy::generic, Home::shared, false}};
    const Token& word = take();
    const auto way = std::find_if(kWays.begin(), kWays.end(), [&](const Way& w) { return word.is(w.word); });
    if (way == kWays.end()) {
      std::vector<std::string> words;
      for (const Way& w : kWays) words.emplace_back(w.word);
      return fail(
          word, text::quoted(word.text) + " is neither a proxy nor a memory",
          "one of generic, texture, surface, constant (with \"aliases\"), vidmem, sysmem, peer, shared" +
              (text::suggestion(word.text, words).empty() ? "" : "; " + text::suggestion(word.text, words)));
    }
    const std::size_t known = test_->locations.size();
    const unsigned number = location_named(name.text);
    if (number < known) return fail(name, text::quoted(name.text) + " is declared twice");
    Location& own = test_->locations[number];
    own.home = way->home;
    if (word.is("mbarrier")) test_->memories[own.memory].arrivals = 1;
    if (own.home == Home::shared && accept("of")) {
      const Token whose = take();
      if (thread_number(whose) == kNoThread) return fail(whose, "a thread is named P0 to P63");
      owners_.push_back({whose, number});
    }
    if (!way->aliases) return true;
    if (!expect("aliases")) return false;
    const Token& of = take();
    if (of.kind != TokenKind::word) return fail(of, "the location that it is another name of is missing");
    const unsigned target = location_named(of.text);
    if (target >= number) return fail(of, text::quoted(of.text) + " is declared nowhere before");
    Location& l = test_->locations[number];
    const Location& t = test_->locations[target];
    if (l.memory + 1 == test_->memories.size()) test_->memories.pop_back();
    l.memory = t.memory;
    l.home = t.home;
    l.proxy = way->proxy;
    if (l.proxy != Proxy::generic) {
      if (t.proxy != Proxy::generic) return fail(of, text::quoted(of.text) + " is no generic address");
      if (t.home == Home::shared) return fail(of, "shared memory is reached by no other proxy");
      l.address = t.address;
    }
    return true;
  }

  void threads() {
    do {
      Thread thread;
      const Token name = peek();
      if (name.kind != TokenKind::word || thread_number(name) == kNoThread) {
        fail(name, "a thread is missing", "threads begin as \"P0@cta 0, gpu 0 | P1@cta 1, gpu 0 ;\"");
        return recover({"exists", "forall"});
      }
      take();
      if (thread_named(name) != kNone) fail(name, "thread " + std::string(name.text) + " stands here twice");
      thread.name = name.text;
      if (accept("@") && !placement(thread)) return recover({"exists", "forall"});
      test_->threads.push_back(std::move(thread));
    } while (accept("|"));
    if (!expect(";")) return recover({"exists", "forall"});
    for (const InitialRegister& r : initial_registers_) {
      const unsigned n = thread_named(r.thread);
      if (n == kNone) {
        fail(r.thread, "there is no thread " + std::string(r.thread.text));
        continue;
      }
      Thread& t = test_->threads[n];
      const std::size_t known = t.registers.size();
      const unsigned number = register_named(t, r.name.text);
      if (number < known && t.initial[number] != r.value)
        fail(r.name, text::quoted(r.name.text) + " begins as " + std::to_string(r.value) + " here, and as " +
                         std::to_string(t.initial[number]) + " before");
      t.initial[number] = r.value;
    }
    for (const Owner& o : owners_) {
      test_->locations[o.location].owner = thread_named(o.thread);
      if (test_->locations[o.location].owner == kNone)
        fail(o.thread, "there is no thread " + std::string(o.thread.text));
    }
    rows();
    resolve_labels();
  }

  /// "cta 0, cluster 0, gpu 0" in any order.
  bool placement(Thread& thread) {
    bool has_cluster = false;
    do {
      const Token& level = take();
      const auto value = number();
      if (!value) return false;
      constexpr std::int64_t kMost = 63;
      if (*value < 0 || *value > kMost) return fail(level, "CTAs, clusters and GPUs are numbered 0 to 63");
      const auto n = static_cast<unsigned>(*value);
      if (level.is("cta")) {
        thread.place.cta = n;
      } else if (level.is("gpu")) {
        thread.place.gpu = n;
      } else if (level.is("cluster")) {
        thread.place.cluster = n;
        has_cluster = true;
      } else {
        return fail(level, text::quoted(level.text) + " is no place of a thread", "cta, cluster or gpu");
      }
    } while (accept(","));
    // A CTA without a cluster is one of its own (PTX ISA, "Cluster of Cooperative Thread Arrays").
    constexpr unsigned kImplicit = 64;
    if (!has_cluster) thread.place.cluster = kImplicit + thread.place.cta;
    return true;
  }

  void rows() {
    const auto at_end = [this] {
      for (const char* const next : {"hold", "exists", "~", "forall"})
        if (peek().is(next)) return true;
      return peek().kind == TokenKind::end;
    };
    while (!at_end()) {
      unsigned n = 0;
      do {
        if (n == test_->threads.size()) {
          fail(peek(), "this row has more columns than there are threads");
          return recover({";"});
        }
        cell(n++);
      } while (accept("|"));
      if (!expect(";")) recover({";"});
    }
  }

  void cell(unsigned thread) {
    thread_ = thread;
    Thread& t = test_->threads[thread];
    const auto at_end = [&] { return peek().is("|") || peek().is(";") || peek().kind == TokenKind::end; };
    while (peek().kind == TokenKind::word && peek(1).is(":")) {
      const Token label = take();
      take();
      for (const Label& l : labels_)
        if (l.thread == thread && l.name == label.text) fail(label, "this label stands in its thread twice");
      labels_.push_back({thread, label.text, static_cast<unsigned>(t.code.size())});
    }
    if (at_end()) return;
    if (instruction(t) && !at_end()) fail(peek(), text::quoted(peek().text) + " is one operand too many");
    while (!at_end()) take();
  }

  bool instruction(Thread& thread) {
    Instruction i;
    const Token guard = peek();
    if (!guarded(i, thread)) return false;
    const Token opcode = take();
    if (opcode.kind != TokenKind::word) return fail(opcode, "an instruction is missing");
    if (i.guard != Instruction::kNoRegister)
      i.text = (i.guard_negated ? "@!" : "@") + thread.registers[i.guard] + " ";
    i.text += opcode.text;
    const std::string_view base = opcode.text.substr(0, opcode.text.find('.'));
    const std::size_t first = at_;
    bool good = false;
    if (base == "bar" || (base == "barrier" && opcode.text.rfind("barrier.cluster", 0) != 0)) {
      good = barrier(i, thread, opcode);
    } else if (base == "goto" || std::any_of(kBranches.begin(), kBranches.end(),
                                             [&](const Branch& b) { return b.word == base; })) {
      good = branch(i, thread, opcode);
    } else if (opcode.is("mov") || opcode.is("add") || opcode.is("sub")) {
      i.kind = opcode.is("mov")   ? InstructionKind::move
               : opcode.is("add") ? InstructionKind::add
                                  : InstructionKind::subtract;
      good = arithmetic(i, thread);
    } else if (base == "setp") {
      good = comparison(i, thread, opcode);
    } else {
      const auto op = operation_of(opcode, i, faults_);
      if (!op) return false;
      i.op = *op;
      const bool bare = i.kind == InstructionKind::fence || i.kind == InstructionKind::commit_copies ||
                        i.kind == InstructionKind::commit_bulk || i.kind == InstructionKind::cluster_arrive ||
                        i.kind == InstructionKind::cluster_wait;
      const bool waits = i.kind == InstructionKind::wait_copies || i.kind == InstructionKind::wait_bulk;
      good = bare || (waits ? wait_for_copies(i) : access(i, thread));
    }
    const bool may_be_left_out = i.kind == InstructionKind::memory || i.kind == InstructionKind::move ||
                                 i.kind == InstructionKind::compare || i.kind == InstructionKind::add ||
                                 i.kind == InstructionKind::subtract || i.kind == InstructionKind::branch ||
                                 i.kind == InstructionKind::jump;
    if (good && i.guard != Instruction::kNoRegister && !may_be_left_out)
      good = fail(guard, "predicates are for accesses, arithmetic and branches", "branch around it");
    for (std::size_t n = first; n < at_; ++n)
      i.text += (n == first || tokens_[n - 1].is(",") ? " " : "") + std::string(tokens_[n].text);
    if (good) thread.code.push_back(std::move(i));
    return good;
  }

  /// "@p" or "@!p", if it stands there.
  bool guarded(Instruction& i, Thread& thread) {
    if (!accept("@")) return true;
    i.guard_negated = accept("!");
    const Token name = take();
    if (name.kind != TokenKind::word) return fail(name, "the predicate is missing");
    i.guard = register_named(thread, name.text);
    return true;
  }

  /// `setp.eq p, a, b`
  bool comparison(Instruction& i, Thread& thread, const Token& opcode) {
    i.kind = InstructionKind::compare;
    const auto* const c = std::find_if(kComparisons.begin(), kComparisons.end(),
                                       [&](const Branch& b) { return opcode.is(b.word); });
    if (c == kComparisons.end())
      return fail(opcode, text::quoted(opcode.text) + " is no comparison",
                  "setp.eq, .ne, .lt, .le, .gt, .ge");
    i.comparison = c->comparison;
    return arithmetic(i, thread);
  }

  /// An element, or "{e, e}" of as many as the vector has.
  template <class F>
  bool elements(const Instruction& i, F&& element) {
    if (i.op.vector == 1) return element(true);
    if (!expect("{")) return false;
    for (unsigned e = 0; e < i.op.vector; ++e)
      if ((e != 0 && !expect(",")) || !element(e == 0)) return false;
    return expect("}");
  }

  bool destinations(Instruction& i, Thread& thread) {
    return elements(i, [&](bool first) {
      const unsigned kept = i.destination;
      if (!destination(i, thread)) return false;
      if (first) return true;
      i.more_destinations.push_back(i.destination);
      i.destination = kept;
      return true;
    });
  }

  bool values(Instruction& i, Thread& thread) {
    return elements(i,
                    [&](bool first) { return operand(first ? i.a : i.more_values.emplace_back(), thread); });
  }

  bool wait_for_copies(Instruction& i) {
    if (!i.waits) return true;
    const Token at = peek();
    const auto groups = number();
    if (groups && (*groups < 0 || *groups > 64))
      return fail(at, "a thread waits until 0 to 64 groups are left");
    i.a.value = groups.value_or(0);
    return groups.has_value();
  }

  /// `cp.async.ca s, x, 4`: where it goes, where from, how many bytes.
  bool copy(Instruction& i, Thread& thread) {
    const Token to = peek();
    Instruction target;
    target.kind = InstructionKind::memory;
    target.op = i.op;
    target.op.space = Space::generic;
    if (!address(target, thread) || !expect(",")) return false;
    if (test_->locations[target.location].home != Home::shared || target.index != Instruction::kNoRegister)
      return fail(to, "an asynchronous copy goes to shared memory", "declare it: \"s @ shared;\"");
    const Token from = peek();
    if (!address(i, thread) || !expect(",")) return false;
    if (i.op.space == Space::shared) return fail(from, "an asynchronous copy comes from global memory");
    const Token size = peek();
    const auto bytes = number();
    if (!bytes) return false;
    if ((*bytes != 4 && *bytes != 8) || (i.op.bypass_l1))
      return fail(size, i.op.bypass_l1 ? "cp.async.cg copies 16 bytes, which no location has"
                                       : "copies of litmus tests have 4 or 8 bytes");
    i.op.type = *bytes == 4 ? DataType::b32 : DataType::b64;
    for (const std::uint32_t offset : {i.offset, target.offset})
      if (offset % *bytes != 0 || offset + *bytes > Test::kBytes)
        return fail(size, "a copy lies in the 8 bytes of its locations, aligned to its size");
    i.copy_to = target.location;
    i.copy_offset = target.offset;
    return true;
  }

  /// `mbarrier.arrive r, b`, of which `_` stands for no register, `mbarrier.arrive.expect_tx r, b, 16`,
  /// `mbarrier.expect_tx b, 16`, `mbarrier.test_wait p, b, r`, `cp.async.mbarrier.arrive.noinc b`.
  bool mbarrier(Instruction& i, Thread& thread) {
    const bool waits = waits_for_phase(i.mbarrier);
    const bool arrives = i.mbarrier == MbarrierUse::arrive || i.mbarrier == MbarrierUse::arrive_expect;
    if (waits || arrives) {
      const bool none = arrives && accept("_");
      if ((!none && !destination(i, thread)) || !expect(",")) return false;
    }
    const Token name = peek();
    if (!address(i, thread)) return false;
    if (i.offset != 0 || i.index != Instruction::kNoRegister)
      return fail(name, "an mbarrier object is named without an offset");
    if (waits) return expect(",") && operand(i.a, thread);
    if (arrives && i.mbarrier == MbarrierUse::arrive) return true;
    return i.mbarrier == MbarrierUse::copies_arrive || (expect(",") && transactions(i));
  }

  /// Bytes of transactions, which are the same in every execution.
  bool transactions(Instruction& i) {
    const Token at = peek();
    const auto bytes = number();
    constexpr std::int64_t kMost = 1024;
    if (bytes && (*bytes < 0 || *bytes > kMost))
      return fail(at, "transactions of litmus tests have 0 to 1024 bytes");
    i.b.value = bytes.value_or(0);
    return bytes.has_value();
  }

  /// The mbarrier object that an asynchronous operation tells of its end, behind a comma.
  bool told(Instruction& i, Thread& thread) {
    if (!expect(",")) return false;
    Instruction object;
    object.kind = InstructionKind::memory;
    object.mbarrier = MbarrierUse::complete;
    const Token name = peek();
    if (!address(object, thread)) return false;
    if (object.offset != 0 || object.index != Instruction::kNoRegister)
      return fail(name, "an mbarrier object is named without an offset");
    i.completes = object.location;
    return true;
  }

  /// A location of a bulk copy.
  bool bulk_side(unsigned& location, Thread& thread, bool& shared) {
    Instruction side;
    side.kind = InstructionKind::memory;
    side.op.kind = MemKind::bulk_copy;
    side.op.type = DataType::b128;
    const Token at = peek();
    if (!address(side, thread)) return false;
    if (side.offset != 0 || side.index != Instruction::kNoRegister)
      return fail(at, "a bulk copy takes all 16 bytes of its locations");
    location = side.location;
    shared = test_->locations[location].home == Home::shared;
    return true;
  }

  /// `cp.async.bulk s, x, 16, b`, `cp.async.bulk x, s, 16`: where it goes, where from, how many bytes; to
  /// shared memory also the mbarrier object that is told.
  bool bulk_copy(Instruction& i, Thread& thread) {
    bool to_shared = false, from_shared = false;
    const Token to = peek();
    if (!bulk_side(i.copy_to, thread, to_shared) || !expect(",") ||
        !bulk_side(i.location, thread, from_shared) || !expect(","))
      return false;
    if (!to_shared && !from_shared)
      return fail(to, "a bulk copy goes to shared memory, or comes from there",
                  "declare it: \"s @ shared;\"");
    const Token size = peek();
    const auto bytes = number();
    if (bytes && *bytes != Test::kBulkBytes) return fail(size, "bulk copies of litmus tests have 16 bytes");
    i.op.bulk = !to_shared    ? BulkDirection::to_global
                : from_shared ? BulkDirection::to_cluster
                              : BulkDirection::to_shared;
    i.op.space = to_shared && from_shared ? Space::shared : Space::global;
    return bytes && (!to_shared || told(i, thread));
  }

  /// `{r0, r1}, x, {a, b}`, and of a compare-and-swap another pair.
  bool wide_atomic(Instruction& i, Thread& thread) {
    const auto pair = [&](auto&& first, auto&& second) {
      return expect("{") && first() && expect(",") && second() && expect("}");
    };
    const auto more = [&] { return operand(i.more_values.emplace_back(), thread); };
    const bool results = pair([&] { return destination(i, thread); },
                              [&] {
                                const unsigned low = i.destination;
                                const bool good = destination(i, thread);
                                i.more_destinations.push_back(i.destination);
                                i.destination = low;
                                return good;
                              });
    const Token at = peek(1);
    if (!results || !expect(",") || !address(i, thread) || !expect(",")) return false;
    if (i.index != Instruction::kNoRegister) return fail(at, "an access of 16 bytes takes no register here");
    if (!pair([&] { return operand(i.a, thread); }, more)) return false;
    return i.op.atomic != AtomicOperation::compare_and_swap ||
           (expect(",") && pair([&] { return operand(i.b, thread); }, more));
  }

  bool access(Instruction& i, Thread& thread) {
    if (i.mbarrier != MbarrierUse::none) return mbarrier(i, thread);
    if (i.op.kind == MemKind::async_copy) return copy(i, thread);
    if (i.op.kind == MemKind::bulk_copy) return bulk_copy(i, thread);
    if (i.op.type == DataType::b128) return wide_atomic(i, thread);
    if (i.kind == InstructionKind::cache_control && !i.op.controls_lines()) return true;
    if (i.op.reads() && (!destinations(i, thread) || !expect(","))) return false;
    // A load of a number: the register gets it, and no memory is accessed.
    if (i.op.kind == MemKind::load && i.op.vector == 1 &&
        (peek().is("-") || peek().kind == TokenKind::number)) {
      i.kind = InstructionKind::move;
      i.op = {};
      return operand(i.a, thread);
    }
    if (!address(i, thread)) return false;
    if (i.op.writes() && (!expect(",") || !values(i, thread))) return false;
    if (i.completes != Instruction::kNoLocation) return told(i, thread);
    return i.op.atomic != AtomicOperation::compare_and_swap || (expect(",") && operand(i.b, thread));
  }

  /// `bar.cta.sync id`, `bar.cta.sync instance, id` or `bar.cta.sync instance, id, threads`. Which instance
  /// of the instruction it is means nothing to hardware: barriers meet by their id.
  bool barrier(Instruction& i, Thread& thread, const Token& opcode) {
    i.kind = InstructionKind::barrier;
    const std::string_view rest = opcode.text.substr(std::min(opcode.text.find('.'), opcode.text.size()));
    i.waits = rest == ".sync" || rest == ".cta.sync";
    if (!i.waits && rest != ".arrive" && rest != ".cta.arrive")
      return fail(opcode, text::quoted(opcode.text) + " is no barrier", "bar.cta.sync or bar.cta.arrive");
    const Token first = peek();
    if (!operand(i.a, thread)) return false;
    if (accept(",") && !operand(i.a, thread)) return false;
    if (accept(",")) {
      i.counts = true;
      if (!operand(i.b, thread)) return false;
    }
    constexpr std::int64_t kBarriers = 16;
    if (!i.a.is_register && (i.a.value < 0 || i.a.value >= kBarriers))
      return fail(first, "a CTA has barriers 0 to 15");
    if (i.counts && !i.b.is_register && (i.b.value < 1 || i.b.value > kBarriers * 2))
      return fail(first, "1 to 32 threads meet at a barrier");
    return true;
  }

  bool branch(Instruction& i, Thread& thread, const Token& opcode) {
    i.kind = InstructionKind::jump;
    for (const Branch& b : kBranches) {
      if (!opcode.is(b.word)) continue;
      i.kind = InstructionKind::branch;
      i.comparison = b.comparison;
      if (!operand(i.a, thread) || !expect(",") || !operand(i.b, thread) || !expect(",")) return false;
    }
    const Token label = take();
    if (label.kind != TokenKind::word) return fail(label, "a label is missing");
    jumps_.push_back({thread_, static_cast<unsigned>(thread.code.size()), label});
    return true;
  }

  bool arithmetic(Instruction& i, Thread& thread) {
    if (!destination(i, thread) || !expect(",") || !operand(i.a, thread)) return false;
    return i.kind == InstructionKind::move || (expect(",") && operand(i.b, thread));
  }

  bool operand(Operand& o, Thread& thread) {
    if (peek().kind == TokenKind::word) {
      o.is_register = true;
      o.number = register_named(thread, take().text);
      return true;
    }
    const auto value = number();
    o.value = value.value_or(0);
    return value.has_value();
  }

  bool destination(Instruction& i, Thread& thread) {
    const Token& name = take();
    if (name.kind != TokenKind::word) return fail(name, "the register that it writes is missing");
    i.destination = register_named(thread, name.text);
    return true;
  }

  /// "x", "x+4", "x+r0", "x+r0+4", each also in brackets. The proxy follows from the opcode.
  bool address(Instruction& i, Thread& thread) {
    const bool bracket = accept("[");
    const Token name = take();
    if (name.kind != TokenKind::word) return fail(name, "a location is missing");
    i.location = location_named(name.text);
    if (peek().is("+") && peek(1).kind == TokenKind::word) {
      take();
      const Token index = take();
      if (i.kind != InstructionKind::memory)
        return fail(index, "only accesses take a register behind the location");
      i.index = register_named(thread, index.text);
    }
    if (accept("+")) {
      const auto offset = number();
      if (!offset) return false;
      const std::int64_t size = i.all_bytes();
      if (*offset < 0 || *offset > std::max<std::int64_t>(size, Test::kBytes) - size || *offset % size != 0)
        return fail(name, "an access lies in the 8 bytes of its location, aligned to its size");
      i.offset = static_cast<std::uint32_t>(*offset);
    }
    if (bracket && !expect("]")) return false;
    const Location& l = test_->locations[i.location];
    if ((test_->memories[l.memory].arrivals != 0) != (i.mbarrier != MbarrierUse::none))
      return fail(
          name,
          text::quoted(name.text) + (i.mbarrier != MbarrierUse::none
                                         ? " is no mbarrier object"
                                         : " is an mbarrier object, which only mbarrier operations access"),
          "declare it: \"b @ mbarrier = 2;\", of two arrivals a phase");
    if (l.home == Home::shared) {
      if (i.op.space == Space::global || i.op.is_mmio || i.op.proxy != Proxy::generic)
        return fail(name, text::quoted(name.text) + " lies in shared memory");
      i.op.space = Space::shared;
    } else if (i.op.space == Space::shared) {
      return fail(name, text::quoted(name.text) + " does not lie in shared memory",
                  "declare it: \"" + std::string(name.text) + " @ shared;\"");
    }
    return true;
  }

  void resolve_labels() {
    for (const Jump& j : jumps_) {
      const auto at = std::find_if(labels_.begin(), labels_.end(), [&](const Label& l) {
        return l.thread == j.thread && l.name == j.label.text;
      });
      if (at == labels_.end())
        fail(j.label, "there is no label " + text::quoted(j.label.text) + " in this thread");
      else
        test_->threads[j.thread].code[j.instruction].target = at->at;
    }
  }

  void holds() {
    while (accept("hold"))
      if (!hold() || !expect(";")) recover({";"});
  }

  /// Behind "hold": "fill x of P1 until P2:1"; without "of" it is one for each thread.
  bool hold() {
    Hold h;
    if (accept("write")) {
      h.what = Hold::What::write;
    } else if (!accept("fill")) {
      return fail(peek(), text::quoted(peek().text) + " cannot be held", "fill or write");
    }
    const Token name = take();
    if (!known_location(name, h.location)) return false;
    if (test_->locations[h.location].home == Home::shared)
      return fail(name, text::quoted(name.text) + " lies in shared memory, which no queue leads to");
    const bool of_one = accept("of");
    if (of_one && !known_thread(h.thread)) return false;
    if (!expect("until") || !known_thread(h.until_thread) || !expect(":")) return false;
    const Token at = peek();
    const auto instruction = number();
    if (!instruction) return false;
    const std::size_t count = test_->threads[h.until_thread].code.size();
    if (*instruction < 0 || static_cast<std::uint64_t>(*instruction) >= count)
      return fail(at, "thread " + test_->threads[h.until_thread].name + " has no instruction " +
                          std::to_string(*instruction) + ": they are numbered from 0, and it has " +
                          std::to_string(count));
    h.until_instruction = static_cast<unsigned>(*instruction);
    const unsigned first = of_one ? h.thread : 0;
    const unsigned end = of_one ? h.thread + 1 : static_cast<unsigned>(test_->threads.size());
    for (h.thread = first; h.thread < end; ++h.thread) test_->holds.push_back(h);
    return true;
  }

  bool known_location(const Token& name, unsigned& number) {
    number = index_of(test_->locations, [&](const Location& l) { return l.name == name.text; });
    return number < test_->locations.size() || fail(name, "there is no location " + text::quoted(name.text));
  }

  bool known_thread(unsigned& thread) {
    const Token name = take();
    thread = thread_named(name);
    return thread != kNone || fail(name, "there is no thread " + text::quoted(name.text));
  }

  void condition() {
    const bool negated = accept("~");
    Condition& c = test_->condition;
    if (accept("exists")) {
      c.kind = negated ? Condition::Kind::not_exists : Condition::Kind::exists;
    } else if (!negated && accept("forall")) {
      c.kind = Condition::Kind::forall;
    } else {
      fail(peek(), "a condition is missing", "exists, ~exists or forall");
      return;
    }
    const std::size_t first = at_;
    if (!disjunction(c.proposition)) return;
    for (std::size_t n = first; n < at_; ++n) {
      const std::string_view text = tokens_[n].text;
      const bool spaced = text == "==" || text == "=" || text == "!=" || text == "/\\" || text == "\\/";
      c.text += spaced ? " " + std::string(text) + " " : std::string(text);
    }
    if (peek().kind != TokenKind::end)
      fail(peek(), text::quoted(peek().text) + " stands behind the end of the condition");
  }

  bool disjunction(Proposition& p) {
    p.kind = Proposition::Kind::disjunction;
    do {
      if (!conjunction(p.parts.emplace_back())) return false;
    } while (accept("\\/"));
    return true;
  }

  bool conjunction(Proposition& p) {
    p.kind = Proposition::Kind::conjunction;
    do {
      if (!negation(p.parts.emplace_back())) return false;
    } while (accept("/\\"));
    return true;
  }

  bool negation(Proposition& p) {
    const bool negated = accept("~");
    if (!negated && !accept("(")) return comparison(p);
    // A limit for hostile texts: real conditions nest a few levels.
    constexpr unsigned kDeepest = 200;
    if (++depth_ > kDeepest) return fail(peek(), "this condition nests too deep");
    if (negated) p.kind = Proposition::Kind::negation;
    const bool good = negated ? negation(p.parts.emplace_back()) : disjunction(p) && expect(")");
    --depth_;
    return good;
  }

  bool comparison(Proposition& p) {
    if (!term(p.left)) return false;
    if (accept("!=")) {
      p.kind = Proposition::Kind::not_equal;
    } else if (accept("==") || accept("=")) {
      p.kind = Proposition::Kind::equal;
    } else {
      return fail(peek(), "a comparison is missing", "== or !=");
    }
    return term(p.right);
  }

  bool term(Term& t) {
    const Token first = peek();
    if (peek(1).is(":")) {
      take();
      take();
      const Token reg = take();
      t.kind = Term::Kind::reg;
      t.thread = thread_named(first);
      if (t.thread == kNone) return fail(first, "there is no thread " + text::quoted(first.text));
      const auto& names = test_->threads[t.thread].registers;
      t.number = index_of(names, [&](const std::string& n) { return n == reg.text; });
      if (t.number < names.size()) return true;
      return fail(reg,
                  "no instruction of thread " + test_->threads[t.thread].name + " names register " +
                      text::quoted(reg.text),
                  text::suggestion(reg.text, names));
    }
    if (first.kind == TokenKind::word || first.is("[")) {
      const bool bracket = accept("[");
      const Token name = take();
      t.kind = Term::Kind::location;
      if (!known_location(name, t.number) || (bracket && !expect("]"))) return false;
      return test_->memories[test_->locations[t.number].memory].arrivals == 0 ||
             fail(name,
                  text::quoted(name.text) + " is an mbarrier object, whose bytes tell a program nothing");
    }
    const auto value = number();
    t.value = value.value_or(0);
    return value.has_value();
  }

  // Names
  unsigned thread_named(const Token& name) const {
    for (unsigned n = 0; n < test_->threads.size(); ++n)
      if (thread_number(name) == thread_number({TokenKind::word, test_->threads[n].name, {}})) return n;
    return kNone;
  }

  unsigned location_named(std::string_view name) {
    auto& all = test_->locations;
    const unsigned number = index_of(all, [&](const Location& l) { return l.name == name; });
    if (number < all.size()) return number;
    all.push_back({std::string(name), Proxy::generic, static_cast<unsigned>(test_->memories.size()), number,
                   Home::unsaid});
    test_->memories.emplace_back();
    return number;
  }

  unsigned register_named(Thread& thread, std::string_view name) {
    auto& all = thread.registers;
    const unsigned number = index_of(all, [&](const std::string& n) { return n == name; });
    if (number < all.size()) return number;
    all.emplace_back(name);
    thread.initial.push_back(0);
    return number;
  }

  /// Shared memory of a thread's CTA, before the thread is known.
  struct Owner {
    Token thread;
    unsigned location = 0;
  };
  struct Label {
    unsigned thread = 0;
    std::string_view name;
    unsigned at = 0;
  };
  struct Jump {
    unsigned thread = 0;
    unsigned instruction = 0;
    Token label;
  };
  static constexpr unsigned kNone = ~0U;

  std::vector<Token> tokens_;
  FaultList& faults_;
  std::size_t at_ = 0;
  Test* test_ = nullptr;
  unsigned thread_ = 0;  ///< whose cell is being read
  unsigned depth_ = 0;   ///< of parentheses and negations in the condition
  std::vector<Label> labels_;
  std::vector<Jump> jumps_;
  /// Registers given a value before their thread is known: by its name.
  struct InitialRegister {
    Token thread, name;
    std::int64_t value = 0;
  };
  std::vector<InitialRegister> initial_registers_;
  std::vector<Owner> owners_;
  std::map<unsigned, std::int64_t> initial_memories_;  ///< those given a value
};

/// How many bytes of each memory are looked at. A bulk copy takes as many as are looked at where it goes.
void find_extents(Test& test) {
  const auto memory = [&test](unsigned location) -> Memory& {
    return test.memories[test.locations[location].memory];
  };
  const auto reach = [&](unsigned location, unsigned end) {
    const unsigned bytes = end > Test::kBytes ? Test::kBulkBytes : Test::kBytes;
    if (end > Test::kDefaultBytes) memory(location).bytes = std::max(memory(location).bytes, bytes);
  };
  std::vector<Instruction*> bulk;
  for (Thread& t : test.threads)
    for (Instruction& i : t.code) {
      if (i.kind != InstructionKind::memory) continue;
      if (i.op.kind == MemKind::bulk_copy) {
        bulk.push_back(&i);
        continue;
      }
      const bool anywhere = i.index != Instruction::kNoRegister;
      reach(i.location, anywhere ? Test::kBytes : i.offset + i.all_bytes());
      if (i.op.kind == MemKind::async_copy) reach(i.copy_to, i.copy_offset + i.bytes());
    }
  // A copy may bring what another one takes on.
  for (std::size_t pass = 0; pass < bulk.size(); ++pass)
    for (Instruction* i : bulk) {
      i->copied = memory(i->copy_to).bytes;
      reach(i->location, i->copied);
    }
}

}  // namespace

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
  const std::string_view description = text.substr(line, body - line);
  constexpr std::string_view kAround = " \t\r\n\"";
  const std::size_t begin = description.find_first_not_of(kAround);
  if (begin != std::string_view::npos)
    test.description = description.substr(begin, description.find_last_not_of(kAround) + 1 - begin);
  Parser(tokenize(text, static_cast<std::uint32_t>(body), faults), faults).run(test);
  if (!faults.empty()) return faults.take();
  find_extents(test);
  return test;
}

}  // namespace warpline::litmus
