#include "platform/programs/ptx_legality/judge.h"

#include <algorithm>
#include <array>

#include "platform/programs/ptx_legality/form_book.h"
#include "platform/programs/ptx_legality/rule_book.h"
#include "platform/programs/ptx_syntax/special_registers.h"
#include "rtl_models/base/contract.h"
#include "rtl_models/base/text.h"

namespace warpline::ptx {
namespace {

std::vector<std::string> all_texts(const WordSet& words) {
  std::vector<std::string> out;
  for (std::size_t w = 0; w < words.size(); ++w)
    if (words.test(w)) out.push_back(text_of(static_cast<Word>(w)));
  return out;
}

/// "'.cta', '.gpu' or '.sys'", or the noun of a set where the rule names one.
std::string choice(const CompiledRule& r) {
  std::vector<std::string> list;
  for (const std::string_view name : names_in(r.row->what, '|')) {
    if (const std::string_view noun = noun_of(name); !noun.empty()) {
      list.emplace_back(noun);
    } else {
      const std::vector<std::string> texts = all_texts(words_named(name));
      list.insert(list.end(), texts.begin(), texts.end());
    }
  }
  return joined(list, ", ", " or ");
}

/// Puts the judgements on one statement into words, and finds the place that each is about.
class Wording {
 public:
  /// Pre: `s` outlives it.
  explicit Wording(const Statement& s) : s_(s) {}

  /// Word `w` of the statement stands at `q`.
  void place(Word w, const Token& q) { places_.emplace_back(w, q.place()); }
  void place(Word w, Place p) { places_.emplace_back(w, p); }
  [[nodiscard]] Place place_of_first(const WordSet& words) const {
    for (const auto& [w, p] : places_)
      if (words.test(w)) return p;
    return s_.opcode.place();
  }

  /// Of the last word that makes the rule hold, or the opcode.
  [[nodiscard]] Place place_of(const CompiledRule& r, const WordSet& words) const {
    for (const Clause& c : r.when) {
      if (c.negated) continue;
      for (const auto& [w, p] : places_)
        if (c.any.test(w) && words.test(w)) return p;
    }
    return s_.opcode.place();
  }

  [[nodiscard]] std::string did_you_mean(const Token& q, const WordSet& taken) const {
    if (q.text.size() > 40) return {};
    const std::string near = near_miss(q.text, texts_of(taken));
    if (near.empty()) return {};
    // The first qualifier reads best with its opcode: "did you mean ld.global?".
    const bool first = !s_.qualifiers.empty() && s_.qualifiers[0].offset == q.offset;
    return "did you mean " + (first ? std::string(s_.opcode.text) + near : near) + "?";
  }

  [[nodiscard]] std::string not_taken(const InstructionName& i, const Token& q, const WordSet& taken) const {
    const auto w = find_word(q.text);
    if (w && taken.test(second(*w)))
      return quoted(i.name) + " takes " + quoted(q.text) + " in second place only";
    return quoted(i.name) + " takes no " + quoted(q.text);
  }

  /// What the instruction takes in place of `q`.
  [[nodiscard]] std::string instead(const Token& q, const WordSet& taken) const {
    const auto w = find_word(q.text);
    if (!w || slot_of(*w) == Slot::operation || taken.test(second(*w))) return {};
    std::vector<std::string> same;
    for (const std::string& text : texts_of(taken))
      if (const auto other = find_word(text); other && slot_of(*other) == slot_of(*w)) same.push_back(text);
    if (same.empty()) return {};
    return "it takes " + joined(same, ", ", " or ");
  }

  [[nodiscard]] std::string too_many(const Token& q, Slot slot) const {
    for (const auto& [w, p] : places_)
      if (slot_of(w) == slot && text_of(w) != "'" + std::string(q.text) + "'")
        return quoted(q.text) + " does not go with " + text_of(w);
    return quoted(q.text) + " is said twice";
  }

  [[nodiscard]] std::string missing(const InstructionName& i, const CompiledRule& r,
                                    const WordSet& words) const {
    return subject(i, r, words) + " needs " + choice(r);
  }

  [[nodiscard]] std::string conflict(const InstructionName& i, const CompiledRule& r,
                                     const WordSet& words) const {
    return subject(i, r, words) + " does not go with " + joined(all_texts(words & r.what), ", ", " and ");
  }

  [[nodiscard]] std::string too_early(const InstructionName& i, const CompiledRule& r, const WordSet& words,
                                      const Language& language) const {
    return since_text(subject(i, r, words), r.row->minimum, language);
  }

  [[nodiscard]] std::string difference(const CompiledRule& r) const {
    return "PTX ISA does not list " + std::string(r.row->what) + "; " + r.row->source + " takes it";
  }

  [[nodiscard]] std::string wrong_count(const InstructionName& i, const CompiledSignature& c,
                                        std::size_t count) const {
    const std::size_t least = c.least();
    const std::size_t most = c.operands.size();
    return quoted(i.name) + " takes " + std::to_string(least) +
           (most > least ? " to " + std::to_string(most) : std::string()) +
           (most == 1 ? " operand" : " operands") + " here, not " + std::to_string(count);
  }

  [[nodiscard]] std::string other_form(const CompiledSignature& c) const {
    std::vector<std::string> list;
    for (const Clause& clause : c.when)
      if (!clause.negated)
        for (const std::string& text : all_texts(clause.any)) list.push_back(text);
    if (list.empty() || list.size() > 3) return {};
    return "with " + joined(list, ", ", " and ") + " it takes that many";
  }

 private:
  /// The words of the statement that make the rule hold: "'.mmio' and '.b128'"; or the instruction.
  [[nodiscard]] std::string subject(const InstructionName& i, const CompiledRule& r,
                                    const WordSet& words) const {
    WordSet present;
    for (const Clause& c : r.when)
      if (!c.negated) present |= c.any & words;
    const std::vector<std::string> list = all_texts(present);
    return list.empty() ? quoted(i.name) : joined(list, ", ", " with ");
  }

  const Statement& s_;
  std::vector<std::pair<Word, Place>> places_;
};

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
      } else if (q.is(".sync") && accessed_.words.test(w)) {
        continue;  // the assembler reads it over
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
    // Those of data centres: sm_120 and its family lack what these have.
    if (language_.feature != ' ' && language_.target >= 100 && language_.target < 120)
      words.set(fact("sm_10x-target"));
    for (const Operand& o : s_.operands) observe(o);
    static const Word kHandle = fact("bare-handle");
    if (s_.operands.size() > 1 && s_.operands[1].kind == Operand::Kind::name) words.set(kHandle);
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
        if (!has(language_, r.row->minimum))
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
    const bool readable = m.kind == Meaning::Kind::reg || m.kind == Meaning::Kind::special_register;
    if (!readable || m.type != DataType::pred)
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

struct DatedWord {
  std::string_view word;
  Minimum minimum;
};
/// Since when declarations may say it. PTX ISA, ".attribute", ".alias", ".abi_preserve" and "Fundamental
/// Types"; ptxas 13.0 has '.unified' from version 8.0 on.
constexpr std::array<DatedWord, 7> kDated = {{
    {".managed", {60, 30}},
    {".unified", {80, 90}},
    {".samplerref", {60, 10}},
    {".alias", {63, 30}},
    {".b128", {83, 70}},
    {".abi_preserve", {90, 80}},
    {".abi_preserve_control", {90, 80}},
}};

// PTX ISA, "Cluster Dimension Directives", and ptxas 13.0.
std::vector<Remark> judge_clusters(const FunctionDecl& function, const Language& language) {
  std::vector<Remark> out;
  const std::vector<Token>& all = function.cluster_directives;
  const auto says = [&all](std::string_view word) {
    return std::any_of(all.begin(), all.end(), [&](const Token& t) { return t.is(word); });
  };
  for (const Token& t : all) {
    const Minimum minimum = {t.is(".blocksareclusters") ? 90U : 78U, 90};
    if (!has(language, minimum))
      out.push_back({t.place(), since_text(quoted(t.text), minimum, language), {}});
    else if (t.is(".maxclusterrank") && says(".reqnctapercluster"))
      out.push_back({t.place(), "'.maxclusterrank' does not go with '.reqnctapercluster'", {}});
    else if (t.is(".blocksareclusters") && (!says(".reqnctapercluster") || !function.required_block))
      out.push_back({t.place(), "'.blocksareclusters' needs '.reqntid' and '.reqnctapercluster'", {}});
  }
  return out;
}

}  // namespace

bool is_memory_statement(const Statement& s) {
  const FormFamily* const forms = find_forms(s);
  return forms != nullptr ? forms->touches_memory : is_judged(s.opcode.text);
}

bool is_judged_statement(const Statement& s) {
  return find_forms(s) != nullptr || is_judged(s.opcode.text);
}

bool is_judged(const Statement& s, const Names& names) {
  const auto is_variable = [&](const Operand& o) {
    return names.find(o.name).kind == Meaning::Kind::variable;
  };
  if (!is_judged_statement(s)) return false;
  return !s.opcode.is("mov") || std::any_of(s.operands.begin(), s.operands.end(), is_variable);
}

bool touches_memory(const Statement& s, const Names& names) {
  return is_memory_statement(s) && is_judged(s, names);
}

const std::vector<std::string>& memory_opcodes_judged() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names = judged_opcodes();
    for (std::string& name : memory_opcodes_with_forms()) names.push_back(std::move(name));
    return names;
  }();
  return kNames;
}

Legality judge(const Statement& s, const Names& names, const Language& language) {
  if (const FormFamily* const forms = find_forms(s)) return {judge_forms(*forms, s, names, language), {}};
  return Trial(s, names, language).run();
}

std::vector<Remark> judge_to_decode(const Statement& s, const Names& names, const Language& language) {
  if (const FormFamily* const forms = find_forms(s))
    return forms->plain ? std::vector<Remark>{} : judge_forms(*forms, s, names, language);
  return is_judged(s, names) ? Trial(s, names, language).run().faults : std::vector<Remark>{};
}

std::vector<Remark> judge_special_registers(const Statement& s, const Names& names,
                                            const Language& language) {
  std::vector<Remark> out;
  const auto look = [&](std::string_view name, Place place) {
    const auto rules = special_register_rules(name);
    if (!rules) return;
    const Meaning::Kind kind = names.find(name).kind;
    const bool shadowed = kind != Meaning::Kind::nothing && kind != Meaning::Kind::special_register;
    const Minimum minimum = {rules->version, rules->target};
    if (!shadowed && !has(language, minimum))
      out.push_back({place, since_text(quoted(name), minimum, language), {}});
  };
  const auto look_in = [&](const auto& self, const std::vector<Operand>& operands) -> void {
    for (const Operand& o : operands) {
      look(o.name, o.token.place());
      look(o.index, o.token.place());
      self(self, o.elements);
    }
  };
  look(s.guard, s.guard_place);
  look_in(look_in, s.operands);
  return out;
}

std::vector<Remark> judge_declarations(const ModuleDecl& module, const Language& language) {
  std::vector<Remark> out;
  for (const Token& t : module.dated) {
    const auto* const known =
        std::find_if(kDated.begin(), kDated.end(), [&](const DatedWord& d) { return t.is(d.word); });
    WARPLINE_EXPECT(known != kDated.end(), "every word that the parser dates has its date");
    if (!has(language, known->minimum))
      out.push_back({t.place(), since_text(quoted(t.text), known->minimum, language), {}});
    else if (t.is(".samplerref") && !module.independent_textures)
      out.push_back({t.place(), "'.samplerref' needs '.target texmode_independent'", {}});
  }
  for (const auto& f : module.functions) {
    const std::vector<Remark> of_function = judge_clusters(*f, language);
    out.insert(out.end(), of_function.begin(), of_function.end());
  }
  return out;
}

}  // namespace warpline::ptx
