#include "platform/programs/ptx_legality/judge.h"

#include <algorithm>
#include <array>

#include "platform/programs/ptx_legality/rule_book.h"
#include "platform/programs/ptx_legality/wording.h"

namespace warpline::ptx {
namespace {

/// One statement before the rules.
class Trial {
 public:
  Trial(const Statement& s, const Names& names, const Language& language)
      : s_(s), language_(language), wording_(s) {
    accessed_.names = &names;
  }

  Legality run() {
    read_qualifiers();
    rules_ = find_instruction(s_.opcode.text, words_);
    if (rules_ == nullptr) {
      fault(s_.opcode.place(), "PTX has no such form of " + quoted(s_.opcode.text));
      return std::move(out_);
    }
    judge_words();
    wrong_words_ = !out_.faults.empty();
    observe();
    for (const CompiledRule& r : rules_->rules) apply(r);
    judge_guard();
    judge_operands();
    return std::move(out_);
  }

 private:
  void read_qualifiers() {
    for (const Token& q : s_.qualifiers) {
      words_.push_back(find_word(q.text));
    }
  }

  /// Unknown words, words that the instruction does not take, two words of a slot.
  void judge_words() {
    std::array<int, kSlotCount> seen{};
    for (std::size_t n = 0; n < words_.size(); ++n) {
      const Token& q = s_.qualifiers[n];
      if (!words_[n]) {
        fault(q.place(), "unknown qualifier " + quoted(q.text), wording_.did_you_mean(q, rules_->taken));
        continue;
      }
      Word w = *words_[n];
      const Slot slot = slot_of(w);
      const bool alone = slot != Slot::operation;
      int& before = seen.at(static_cast<std::size_t>(slot));
      const bool paired =
          std::find(rules_->paired.begin(), rules_->paired.end(), slot) != rules_->paired.end();
      if (before == 1 && paired) {
        w = second(w);
      } else if ((alone && before > 0) || accessed_.words.test(w)) {
        fault(q.place(), wording_.too_many(q, slot));
        continue;
      }
      ++before;
      accessed_.words.set(w);
      wording_.place(w, q);
      // Of a pair, either word may stand where only its like is named without "2nd:".
      if (!rules_->taken.test(w) && !rules_->taken.test(w % kWordSpace))
        fault(q.place(), wording_.not_taken(*rules_->name, q, rules_->taken),
              wording_.instead(q, rules_->taken));
    }
  }

  /// What the words and operands amount to.
  void observe() {
    WordSet& words = accessed_.words;
    static const WordSet kSpaces = words_named("space"), kTypes = words_named("type"),
                         kVectors = words_named("vector");
    static const Word kGeneric = fact("generic"), kWide = fact("wide"), kOversize = fact("oversize"),
                      kFunction = fact("function"), kArch = fact("arch-target"),
                      kFamily = fact("family-target");
    if ((words & kSpaces).none()) words.set(kGeneric);
    for (std::size_t n = 0; n < words_.size(); ++n) {
      if (!words_[n]) continue;
      const Word w = *words_[n];
      const std::string_view text = s_.qualifiers[n].text;
      if (kSpaces.test(w))
        (accessed_.space == Space::generic ? accessed_.space : accessed_.second_space) =
            value_named<Space>(text.substr(1)).value_or(Space::param);
      if (kTypes.test(w))
        (accessed_.type == DataType::none ? accessed_.type : accessed_.second_type) = register_type(text);
      if (kVectors.test(w)) accessed_.vector = find_qualifier(text.substr(1))->value;
    }
    const unsigned bytes = size_of(accessed_.type) * accessed_.vector;
    if (bytes == 32 && accessed_.type != DataType::b128) words.set(kWide);
    if (bytes > 16) words.set(kOversize);
    if (!accessed_.names->in_entry()) words.set(kFunction);
    if (language_.feature == 'a') words.set(kArch);
    if (language_.feature == 'f') words.set(kFamily);
    for (const Operand& o : s_.operands) observe(o);
    constexpr std::array<const char*, 3> kCounts = {"2-operands", "3-operands", "4-operands"};
    const std::size_t count = s_.operands.size();
    if (count >= 2 && count <= 4) words.set(fact(kCounts.at(count - 2)));
    static const Word kUnified = fact("unified"), kIndexed = fact("name[n]");
    for (const Word w : {kUnified, kIndexed})
      if (words.test(w) && !rules_->taken.test(w))
        fault(wording_.place_of_first(WordSet().set(w)),
              quoted(rules_->name->name) + " does not take " + text_of(w));
  }

  void observe(const Operand& o) {
    static const Word kUnified = fact("unified"), kSymbol = fact("symbol-address"),
                      kInput = fact("input-parameter"), kResult = fact("return-parameter"),
                      k128 = fact("128-bit-register"), kSink = fact("sink"), kIndexed = fact("name[n]"),
                      kSpecial = fact("special-address"), kPredicate = fact("predicate"),
                      kNotGlobal = fact("variable-not-global");
    WordSet& words = accessed_.words;
    for (const Operand& e : o.elements) observe(e);
    if (o.kind == Operand::Kind::sink) words.set(kSink);
    if (o.unified.length != 0) {
      words.set(kUnified);
      wording_.place(kUnified, o.unified);
    }
    if (o.name.empty()) return;
    const Meaning m = accessed_.names->find(o.name);
    const auto mark = [&](Word w) {
      words.set(w);
      wording_.place(w, o.token.place());
    };
    if (o.indexed) mark(kIndexed);
    if (m.kind == Meaning::Kind::reg && m.type == DataType::b128) mark(k128);
    if (m.kind == Meaning::Kind::reg && m.type == DataType::pred) mark(kPredicate);
    if (o.kind != Operand::Kind::address) return;
    if (m.kind == Meaning::Kind::special_register) mark(kSpecial);
    if (m.kind != Meaning::Kind::variable) return;
    mark(kSymbol);
    if (m.space != Space::global) mark(kNotGlobal);
    if (m.formal == Meaning::Formal::input) mark(kInput);
    if (m.formal == Meaning::Formal::result) mark(kResult);
  }

  void apply(const CompiledRule& r) {
    const WordSet& words = accessed_.words;
    if (!holds(r.when, words)) return;
    switch (r.row->verb) {
      case Verb::needs:
        // A word that is wrong already may be the one that is missing here.
        if ((words & r.what).none() && !wrong_words_)
          fault(wording_.place_of(r, words), wording_.missing(*rules_->name, r, words));
        break;
      case Verb::excludes:
        if ((words & r.what).any())
          fault(wording_.place_of_first(words & r.what), wording_.conflict(*rules_->name, r, words));
        break;
      case Verb::since:
        if (language_.version < r.row->minimum.version || language_.target < r.row->minimum.target)
          fault(wording_.place_of(r, words), wording_.too_early(*rules_->name, r, words, language_));
        break;
      case Verb::differs:
        out_.notes.push_back({wording_.place_of(r, words), wording_.difference(r), {}});
        break;
      case Verb::takes:
      case Verb::pairs: break;
    }
  }

  void judge_guard() {
    if (s_.guard.empty()) return;
    const Meaning m = accessed_.names->find(s_.guard);
    if (m.kind != Meaning::Kind::reg || m.type != DataType::pred)
      fault(s_.guard_place, quoted(s_.guard) + " is no predicate register");
  }

  void judge_operands() {
    const CompiledSignature* chosen = nullptr;
    const CompiledSignature* other = nullptr;
    const std::size_t count = s_.operands.size();
    for (const CompiledSignature& c : rules_->signatures) {
      if (holds(c.when, accessed_.words)) {
        if (chosen == nullptr || c.operands.size() == count) chosen = &c;
      } else if (c.least() <= count && count <= c.operands.size()) {
        other = &c;
      }
    }
    if (chosen == nullptr) return;  // a rule says which word is missing
    if (count < chosen->least() || count > chosen->operands.size()) {
      fault(s_.opcode.place(), wording_.wrong_count(*rules_->name, *chosen, count),
            other != nullptr ? wording_.other_form(*other) : "");
      return;
    }
    if (accessed_.type == DataType::none) accessed_.type = DataType::b32;
    std::size_t spare = count - chosen->least();
    std::size_t n = 0;
    for (const std::string_view name : chosen->operands) {
      if (name.back() == '?' && spare == 0) continue;
      if (name.back() == '?') --spare;
      accessed_.before = n == 0 ? nullptr : &s_.operands[n - 1];
      judge_operand(name, s_.operands[n++], accessed_, out_.faults);
    }
  }

  void fault(Place place, std::string message, std::string hint = {}) {
    out_.faults.push_back({place, std::move(message), std::move(hint)});
  }

  const Statement& s_;
  const Language& language_;
  Wording wording_;
  Accessed accessed_;
  std::vector<std::optional<Word>> words_;  ///< of each qualifier
  const InstructionRules* rules_ = nullptr;
  bool wrong_words_ = false;
  Legality out_;
};

}  // namespace

bool is_memory_statement(const Statement& s) {
  return is_judged(s.opcode.text);
}

bool touches_memory(const Statement& s, const Names& names) {
  const auto is_variable = [&](const Operand& o) {
    return names.find(o.name).kind == Meaning::Kind::variable;
  };
  if (!is_memory_statement(s)) return false;
  return !s.opcode.is("mov") || std::any_of(s.operands.begin(), s.operands.end(), is_variable);
}

const std::vector<std::string>& memory_opcodes_judged() {
  return judged_opcodes();
}

Legality judge(const Statement& s, const Names& names, const Language& language) {
  return Trial(s, names, language).run();
}

}  // namespace warpline::ptx
