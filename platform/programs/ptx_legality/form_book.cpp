#include "platform/programs/ptx_legality/form_book.h"

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>

#include "rtl_models/base/contract.h"
#include "rtl_models/base/text.h"

namespace warpline::ptx {
namespace {

struct NamedChoice {
  std::string_view name;
  std::string_view words;
};
constexpr NamedChoice kChoices[] = {
    {"rnd", "rn|rz|rm|rp"},
    {"cta", "shared|shared::cta"},
    {"shared", "shared|shared::cta|shared::cluster"},
    {"place", "shared|shared::cta|global"},
    {"scope", "cta|cluster"},
    {"f8", "e4m3|e5m2"},
    {"f864", "e4m3|e5m2|e3m2|e2m3|e2m1"},
    {"i8", "s8|u8"},
    {"i4", "s4|u4"},
    {"i32", "s32|u32"},
    // Types that the assembler reads over: behind the others, or anywhere.
    {"tail", "s4|u4|b1|bf16|tf32|bf16x2"},
    {"extra", "s4|u4|b1|bf16|tf32|bf16x2"},
    {"brain", "bf16"},
    {"padding", "b8x16|b6x16_p32|b4x16_p64"},
    {"compare", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"},
    {"order", "eq|ne|lt|le|gt|ge"},
    {"unsigned", "eq|ne|lt|le|gt|ge|lo|ls|hi|hs"},
    {"bool", "and|or|xor"},
};

std::string_view choice_of(std::string_view element) {
  if (element.empty() || element[0] != '$') return element;
  for (const NamedChoice& c : kChoices)
    if (c.name == element.substr(1)) return c.words;
  WARPLINE_EXPECT(false, "forms name choices that there are");
  return {};
}

/// Words that may be said twice: they only set something.
bool is_flag(std::string_view word) {
  constexpr std::array<std::string_view, 8> kFlags = {"sync", "NaN",    "sat",      "satfinite",
                                                      "relu", "approx", "shiftamt", "uni"};
  return std::find(kFlags.begin(), kFlags.end(), word) != kFlags.end();
}

/// Words of one class keep their order: types are one, layouts another.
enum class Class : std::uint8_t { none, type, layout, count };
Class class_of(std::string_view word) {
  if (word == "b1024") return Class::none;
  if (word == "row" || word == "col") return Class::layout;
  if (word == "pred") return Class::type;
  if (word == "popc" || word == "and" || word == "xor") return Class::count;
  const std::size_t digit = word.find_first_of("0123456789");
  if (digit == std::string_view::npos || digit == 0) return Class::none;
  const std::string_view head = word.substr(0, digit);
  constexpr std::array<std::string_view, 8> kHeads = {"b", "u", "s", "f", "bf", "tf", "e", "ue"};
  return std::find(kHeads.begin(), kHeads.end(), head) != kHeads.end() ? Class::type : Class::none;
}

/// The number that `word` has where a word of a form has '#': columns of a matrix, a multiple
/// of 8 up to 256; '##': one of 16, but for 8 and 24. 0: none.
unsigned columns_of(std::string_view word, std::string_view pattern) {
  const std::size_t mark = pattern.find('#');
  const bool fewer = pattern[mark + 1] == '#';
  const std::string_view tail = pattern.substr(mark + (fewer ? 2 : 1));
  if (word.size() <= mark + tail.size() || word.substr(0, mark) != pattern.substr(0, mark) ||
      word.substr(word.size() - tail.size()) != tail)
    return 0;
  const auto n = number_from<unsigned>(word.substr(mark, word.size() - tail.size() - mark));
  if (!n || *n % 8 != 0 || *n > 256) return 0;
  return fewer && *n > 24 && *n % 16 != 0 ? 0 : *n;
}

/// Of a form: one qualifier, or its absence.
struct Element {
  std::vector<std::string_view> words;
  Class order = Class::none;
  bool optional = false;
  bool fixed = false;
  bool loose = false;  ///< a type out of order
  [[nodiscard]] bool takes(std::string_view word) const {
    return std::any_of(words.begin(), words.end(), [&](std::string_view w) {
      return w == word || (w.find('#') != std::string_view::npos && columns_of(word, w) != 0);
    });
  }
};

struct Compiled {
  const Form* form = nullptr;
  std::vector<Element> elements;
  std::vector<std::string_view> operands;
  std::size_t fewest = 0;  ///< operands
};

Compiled compile(const Form& form) {
  Compiled c;
  c.form = &form;
  for (std::string_view text : names_in(form.words, ' ')) {
    Element e;
    e.fixed = text[0] == '^';
    if (e.fixed) text.remove_prefix(1);
    e.optional = text.back() == '?';
    if (e.optional) text.remove_suffix(1);
    e.loose = text == "$extra" || text == "$padding" || text == "$brain";
    for (const std::string_view part : warpline::split(text, '|'))
      for (const std::string_view word : warpline::split(choice_of(part), '|')) e.words.push_back(word);
    e.order = class_of(e.words[0]);
    c.elements.push_back(std::move(e));
  }
  c.operands = names_in(form.operands, ' ');
  for (const std::string_view o : c.operands) c.fewest += o.back() == '?' ? 0 : 1;
  return c;
}

/// A form, which is compiled when the first statement that it may fit is judged.
class Entry {
 public:
  explicit Entry(const Form& form) : form_(&form) {}
  [[nodiscard]] const Form& form() const { return *form_; }
  [[nodiscard]] const Compiled& compiled() {
    std::call_once(once_, [this] { compiled_ = compile(*form_); });
    return compiled_;
  }
  /// Whether each qualifier of `s` stands somewhere in the form's text: no other statement fits it.
  [[nodiscard]] bool may_fit(const Statement& s) const {
    const std::string_view words = form_->words;
    const auto names = [&](std::string_view word) {
      if (words.find(word) != std::string_view::npos || words.find('#') != std::string_view::npos)
        return true;
      for (std::size_t at = 0; (at = words.find('$', at)) != std::string_view::npos; ++at)
        if (choice_of(words.substr(at, words.find_first_of("? |", at) - at)).find(word) !=
            std::string_view::npos)
          return true;
      return is_flag(word);
    };
    return std::all_of(s.qualifiers.begin(), s.qualifiers.end(),
                       [&](const Token& q) { return names(q.text.substr(1)); });
  }

 private:
  const Form* form_;
  std::once_flag once_;
  Compiled compiled_;
};

/// A family, whose forms are listed when the first statement of it is judged.
struct Shelf : FormFamily {
  explicit Shelf(const FormFamily& f) : FormFamily(f) {}
  [[nodiscard]] std::deque<Entry>& entries() const {
    std::call_once(once_, [this] {
      for (const Form& form : forms) entries_.emplace_back(form);
    });
    return entries_;
  }

 private:
  mutable std::once_flag once_;
  mutable std::deque<Entry> entries_;
};

class Library {
 public:
  Library() {
    by_opcode_.reserve(160);
    for (auto* const chapter : {&matrix_forms, &synchronization_forms, &arithmetic_forms, &integer_forms,
                                &video_forms, &image_forms})
      for (const FormFamily& f : chapter()) {
        const Shelf& shelf = shelves_.emplace_back(f);
        const std::string_view opcodes = f.opcodes;
        for (std::size_t at = 0; at < opcodes.size();) {
          const std::size_t end = std::min(opcodes.find(' ', at), opcodes.size());
          by_opcode_.push_back({opcodes.substr(at, end - at), &shelf});
          at = end + 1;
        }
      }
    // Of families of one opcode the first comes first.
    std::stable_sort(by_opcode_.begin(), by_opcode_.end(), is_before);
  }
  [[nodiscard]] const Shelf* find(const Statement& s) const {
    const auto first =
        std::lower_bound(by_opcode_.begin(), by_opcode_.end(), Row{s.opcode.text, nullptr}, is_before);
    for (auto row = first; row != by_opcode_.end() && row->opcode == s.opcode.text; ++row)
      if (belongs(*row->shelf, s)) return row->shelf;
    return nullptr;
  }
  [[nodiscard]] const std::deque<Shelf>& shelves() const { return shelves_; }

 private:
  struct Row {
    std::string_view opcode;
    const Shelf* shelf;
  };
  static bool is_before(const Row& a, const Row& b) { return a.opcode < b.opcode; }
  static bool belongs(const FormFamily& f, const Statement& s) {
    const std::string_view when = f.when;
    if (when.empty()) return true;
    for (const Token& q : s.qualifiers)
      for (std::size_t at = 0; (at = when.find(q.text.substr(1), at)) != std::string_view::npos; ++at) {
        const std::size_t end = at + q.text.size() - 1;
        if ((at == 0 || when[at - 1] == ' ') && (end == when.size() || when[end] == ' ')) return true;
      }
    return false;
  }

  std::deque<Shelf> shelves_;
  std::vector<Row> by_opcode_;
};

const Library& library() {
  static const Library kLibrary;
  return kLibrary;
}

/// How a statement's qualifiers fit a form.
struct Fit {
  const Token* strange = nullptr;    ///< the first qualifier that the form has no place for
  const Element* missing = nullptr;  ///< the first that the form needs and the statement has not
  std::size_t faults = 0;
};

Fit fit(const Compiled& c, const Statement& s) {
  Fit out;
  std::array<bool, 24> taken{};
  const auto strange = [&out](const Token& q) {
    if (out.strange == nullptr) out.strange = &q;
    ++out.faults;
  };
  for (std::size_t n = 0; n < s.qualifiers.size(); ++n) {
    const Token& q = s.qualifiers[n];
    const std::string_view word = q.text.substr(1);
    const Class order = class_of(word);
    std::size_t at = c.elements.size();
    bool again = false;
    for (std::size_t e = 0; e < c.elements.size() && at == c.elements.size(); ++e) {
      const Element& element = c.elements[e];
      if (taken.at(e)) {
        again = again || (is_flag(word) && element.takes(word));
        continue;
      }
      if (element.fixed && e != n) continue;
      if (element.takes(word))
        at = e;
      else if (order != Class::none && element.order == order && !element.optional)
        break;
    }
    for (std::size_t e = 0; e < c.elements.size() && at == c.elements.size(); ++e)
      if (c.elements[e].loose && !taken.at(e) && c.elements[e].takes(word)) at = e;
    if (at < c.elements.size())
      taken.at(at) = true;
    else if (!again)
      strange(q);
  }
  for (std::size_t e = 0; e < c.elements.size(); ++e)
    if (!taken.at(e) && !c.elements[e].optional) {
      if (out.missing == nullptr) out.missing = &c.elements[e];
      ++out.faults;
    }
  return out;
}

std::string words_text(const Element& e) {
  std::vector<std::string> list;
  for (const std::string_view w : e.words) list.push_back("'." + std::string(w) + "'");
  return joined(list, ", ", " or ");
}

/// Judges operands against a form that the qualifiers fit.
class OperandTrial {
 public:
  OperandTrial(const Statement& s, const Names& names, std::vector<Remark>& faults) : s_(s), faults_(faults) {
    accessed_.names = &names;
    static const WordSet kSpaces = words_named("space");
    for (const Token& q : s.qualifiers) {
      const auto w = find_word(q.text);
      if (!w) continue;
      accessed_.words.set(*w);
      if (kSpaces.test(*w)) accessed_.space = value_named<Space>(q.text.substr(1)).value_or(Space::generic);
      if (slot_of(*w) == Slot::type)
        (accessed_.type == DataType::none ? accessed_.type : accessed_.second_type) = register_type(q.text);
      if (slot_of(*w) == Slot::vector) accessed_.vector = find_qualifier(q.text.substr(1))->value;
    }
  }

  void run(const Compiled& c) {
    for (const Element& e : c.elements)
      for (const std::string_view w : e.words)
        for (const Token& q : s_.qualifiers)
          if (w.find('#') != std::string_view::npos && columns_of(q.text.substr(1), w) != 0)
            columns_ = columns_of(q.text.substr(1), w);
    const std::size_t count = s_.operands.size();
    if (count < c.fewest || count > c.operands.size()) {
      const std::string range =
          std::to_string(c.fewest) +
          (c.operands.size() > c.fewest ? " to " + std::to_string(c.operands.size()) : std::string());
      return fault(s_.opcode.place(), quoted(s_.opcode.text) + " takes " + range + " operands here, not " +
                                          std::to_string(count));
    }
    std::size_t spare = count - c.fewest;
    std::size_t n = 0;
    for (std::string_view name : c.operands) {
      if (name.back() == '?') {
        if (spare == 0) continue;
        --spare;
        name.remove_suffix(1);
      }
      accessed_.before = n == 0 ? nullptr : &s_.operands[n - 1];
      either(name, s_.operands[n++]);
    }
  }

 private:
  void either(std::string_view names, const Operand& o) {
    std::vector<Remark> first;
    bool fresh = true;
    for (const std::string_view name : warpline::split(names, '|')) {
      std::vector<Remark> here;
      one(name, o, here);
      if (here.empty()) return;
      if (fresh) first = std::move(here);
      fresh = false;
    }
    faults_.insert(faults_.end(), first.begin(), first.end());
  }

  void one(std::string_view name, const Operand& o, std::vector<Remark>& faults) {
    const auto wrong = [&](const std::string& message) { faults.push_back({o.token.place(), message, {}}); };
    if (name[0] == '=') return judge_operand(name.substr(1), o, accessed_, faults);
    if (name == "_") return o.kind == Operand::Kind::sink ? void() : wrong("expected '_'");
    if (name.substr(0, 3) == "int") {
      if (o.kind != Operand::Kind::integer) return wrong("expected an integer literal");
      const auto limit = name.size() > 4 ? number_from<std::uint64_t>(name.substr(4)) : std::nullopt;
      if (limit && o.bits >= *limit) wrong("expected a literal below " + std::string(name.substr(4)));
      return;
    }
    if (const std::size_t slash = name.find('/'); slash != std::string_view::npos) {
      if (o.kind != Operand::Kind::pair) return wrong("expected a result and a predicate, 'd|p'");
      for (const Operand& e : o.elements)
        if (e.kind != Operand::Kind::name && e.kind != Operand::Kind::sink)
          return wrong("expected registers");
      const std::string_view value = name.substr(0, slash);
      if (o.elements[0].kind != Operand::Kind::sink) one(value, o.elements[0], faults);
      if (o.elements[1].kind != Operand::Kind::sink || name.substr(slash + 1) == ">pred")
        one(name.substr(slash + 1), o.elements[1], faults);
      return;
    }
    const bool written = name[0] == '>';
    if (written) name.remove_prefix(1);
    const bool register_only = name.back() == '!';
    if (register_only) name.remove_suffix(1);
    if (register_only && o.kind != Operand::Kind::name) return wrong("expected a register");
    const bool or_wider = name.back() == '+';
    if (or_wider) name.remove_suffix(1);
    const bool sinks = name.back() == '_';
    if (sinks) name.remove_suffix(1);
    const std::size_t star = name.find_first_of("*#~@");
    std::size_t count =
        star == std::string_view::npos ? 0 : number_from<std::size_t>(name.substr(star + 1)).value_or(0);
    if (star != std::string_view::npos && name[star] == '#') count = columns_ / count;
    const DataType type = data_type_from(name.substr(0, star));
    const bool with_predicates =
        star != std::string_view::npos && (name[star] == '~' || (name[star] == '#' && type != DataType::f32));
    WARPLINE_EXPECT(type != DataType::none, "forms name operands that there are");
    // The assembler has no registers of bfloat16, and moves such operands: vectors of one, too.
    const bool brain = type == DataType::bf16 || type == DataType::bf16x2;
    if (brain && !register_only && count == 0 && o.kind == Operand::Kind::vector && o.elements.size() == 1)
      count = 1;
    const bool each = star != std::string_view::npos && name[star] == '@';
    Operand some = o;
    if (sinks && o.kind == Operand::Kind::vector && o.elements.size() == count) {
      some.elements.erase(std::remove_if(some.elements.begin(), some.elements.end(),
                                         [](const Operand& e) { return e.kind == Operand::Kind::sink; }),
                          some.elements.end());
      if (some.elements.empty()) return wrong("one element at least must be a register");
      count = some.elements.size();
    }
    judge_values(some, type, count, {written, with_predicates, or_wider, each}, accessed_, faults);
  }

  void fault(Place place, std::string message) { faults_.push_back({place, std::move(message), {}}); }

  const Statement& s_;
  Accessed accessed_;
  std::vector<Remark>& faults_;
  std::size_t columns_ = 0;  ///< of a matrix whose shape says so
};

/// Whether `language` is one of the targets of `only`, or any where that is empty.
bool is_target(const Language& language, std::string_view only) {
  if (only.empty()) return true;
  const std::string own =
      std::to_string(language.target) + (language.feature == ' ' ? "" : std::string(1, language.feature));
  const std::vector<std::string_view> names = names_in(only, ' ');
  return std::find(names.begin(), names.end(), own) != names.end();
}

/// Words that are younger than forms with them.
struct DatedChoice {
  std::string_view word;
  unsigned version;
};
constexpr DatedChoice kYoungWords[] = {
    {".shared::cta", 78}, {".shared::cluster", 78}, {".sp::ordered_metadata", 85}};

/// What keeps a form from version and target of the module.
void judge_language(const Compiled& c, const Statement& s, const Language& language,
                    std::vector<Remark>& faults) {
  const Form& f = *c.form;
  std::string what(s.opcode.text);
  for (const Token& q : s.qualifiers) what += q.text;
  if (!is_target(language, f.only)) {
    std::vector<std::string> names;
    for (const std::string_view n : names_in(f.only, ' ')) names.push_back("sm_" + std::string(n));
    faults.push_back({s.opcode.place(),
                      quoted(what) + " is right on " + joined(names, ", ", " and ") + " only" +
                          (language.version < f.version ? ", since PTX ISA " + version_text(f.version) : ""),
                      {}});
    return;
  }
  Minimum minimum = {f.version, f.only[0] == '\0' ? f.target : 0};
  for (const Token& q : s.qualifiers)
    for (const DatedChoice& young : kYoungWords)
      if (q.is(young.word)) minimum.version = std::max(minimum.version, young.version);
  if (!has(language, minimum))
    faults.push_back({s.opcode.place(), since_text(quoted(what), minimum, language), {}});
}

Remark misfit(const Fit& best, const FormFamily& family, std::deque<Entry>& forms, const Statement& s) {
  if (best.strange != nullptr) {
    const std::string_view word = best.strange->text.substr(1);
    const bool known = std::any_of(forms.begin(), forms.end(), [&](Entry& entry) {
      const std::vector<Element>& elements = entry.compiled().elements;
      return std::any_of(elements.begin(), elements.end(), [&](const Element& e) { return e.takes(word); });
    });
    std::string hint;
    if (best.missing != nullptr) {
      hint = "it takes " + words_text(*best.missing) + " there";
    } else if (!known) {
      std::vector<std::string> all;
      for (Entry& entry : forms)
        for (const Element& e : entry.compiled().elements)
          for (const std::string_view w : e.words) all.push_back("." + std::string(w));
      hint = suggestion(best.strange->text, all);
    }
    return {best.strange->place(),
            quoted(s.opcode.text) + (known ? " does not take " : " takes no ") + quoted(best.strange->text) +
                (known ? " with the others" : ""),
            hint};
  }
  if (best.missing != nullptr)
    return {s.opcode.place(), quoted(s.opcode.text) + " needs " + words_text(*best.missing), {}};
  return {
      s.opcode.place(), "PTX has no such form of " + quoted(s.opcode.text) + " (" + family.source + ")", {}};
}

}  // namespace

const FormFamily* find_forms(const Statement& s) {
  return library().find(s);
}

std::vector<std::string> memory_opcodes_with_forms() {
  std::vector<std::string> names;
  for (const Shelf& shelf : library().shelves())
    if (shelf.touches_memory)
      for (const std::string_view opcode : names_in(shelf.opcodes, ' ')) names.emplace_back(opcode);
  return names;
}

std::vector<Remark> judge_forms(const FormFamily& family, const Statement& s, const Names& names,
                                const Language& language) {
  std::deque<Entry>& forms = static_cast<const Shelf&>(family).entries();
  std::vector<Remark> least;
  unsigned nearest = 0;  // the target of the row that `least` is about
  bool fits = false;
  for (Entry& entry : forms) {
    if (language.target >= entry.form().before || !entry.may_fit(s)) continue;
    const Compiled& c = entry.compiled();
    if (fit(c, s).faults != 0) continue;
    std::vector<Remark> faults;
    OperandTrial(s, names, faults).run(c);
    judge_language(c, s, language, faults);
    if (!s.guard.empty()) {
      const Meaning m = names.find(s.guard);
      if ((m.kind != Meaning::Kind::reg && m.kind != Meaning::Kind::special_register) ||
          m.type != DataType::pred)
        faults.push_back({s.guard_place, quoted(s.guard) + " is no predicate register", {}});
    }
    if (faults.empty()) return {};
    if (!fits || faults.size() < least.size() ||
        (faults.size() == least.size() && c.form->target < nearest)) {
      least = std::move(faults);
      nearest = c.form->target;
    }
    fits = true;
  }
  if (fits) return least;
  Fit best;
  best.faults = ~std::size_t{0};
  for (Entry& entry : forms) {
    if (language.target >= entry.form().before) continue;
    const Fit here = fit(entry.compiled(), s);
    if (here.faults < best.faults) best = here;
  }
  return {misfit(best, family, forms, s)};
}

}  // namespace warpline::ptx
