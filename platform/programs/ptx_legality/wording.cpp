#include "platform/programs/ptx_legality/wording.h"

#include <algorithm>

namespace warpline::ptx {
namespace {

std::string joined(const std::vector<std::string>& list, const char* last) {
  std::string out;
  for (std::size_t n = 0; n < list.size(); ++n) {
    if (n != 0) out += n + 1 == list.size() ? last : ", ";
    out += list[n];
  }
  return out;
}

/// "'.cta', '.gpu' or '.sys'", or the noun of a set where the rule names one.
std::string choice(const CompiledRule& r) {
  std::vector<std::string> list;
  std::string_view names = r.row->what;
  while (!names.empty()) {
    const std::size_t end = std::min(names.find('|'), names.size());
    const std::string_view name = names.substr(0, end);
    const std::string_view noun = noun_of(name);
    if (!noun.empty()) {
      list.emplace_back(noun);
    } else {
      const WordSet one = words_named(name);
      for (std::size_t w = 0; w < one.size(); ++w)
        if (one.test(w)) list.push_back(text_of(static_cast<Word>(w)));
    }
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return joined(list, " or ");
}

std::vector<std::string> all_texts(const WordSet& words) {
  std::vector<std::string> out;
  for (std::size_t w = 0; w < words.size(); ++w)
    if (words.test(w)) out.push_back(text_of(static_cast<Word>(w)));
  return out;
}

}  // namespace

Place Wording::place_of_first(const WordSet& words) const {
  for (const auto& [w, p] : places_)
    if (words.test(w)) return p;
  return s_.opcode.place();
}

Place Wording::place_of(const CompiledRule& r, const WordSet& words) const {
  for (const Clause& c : r.when) {
    if (c.negated) continue;
    for (const auto& [w, p] : places_)
      if (c.any.test(w) && words.test(w)) return p;
  }
  return s_.opcode.place();
}

std::string Wording::did_you_mean(const Token& q, const WordSet& taken) const {
  if (q.text.size() > 40) return {};
  const std::string near = near_miss(q.text, texts_of(taken));
  if (near.empty()) return {};
  // The first qualifier reads best with its opcode: "did you mean ld.global?".
  const bool first = !s_.qualifiers.empty() && s_.qualifiers[0].offset == q.offset;
  return "did you mean " + (first ? std::string(s_.opcode.text) + near : near) + "?";
}

std::string Wording::not_taken(const InstructionName& i, const Token& q, const WordSet& taken) const {
  const auto w = find_word(q.text);
  if (w && taken.test(second(*w)))
    return quoted(i.name) + " takes " + quoted(q.text) + " in second place only";
  return quoted(i.name) + " takes no " + quoted(q.text);
}

std::string Wording::instead(const Token& q, const WordSet& taken) const {
  const auto w = find_word(q.text);
  if (!w || slot_of(*w) == Slot::operation || taken.test(second(*w))) return {};
  std::vector<std::string> same;
  for (const std::string& text : texts_of(taken))
    if (const auto other = find_word(text); other && slot_of(*other) == slot_of(*w)) same.push_back(text);
  if (same.empty()) return {};
  return "it takes " + joined(same, " or ");
}

std::string Wording::too_many(const Token& q, Slot slot) const {
  for (const auto& [w, p] : places_)
    if (slot_of(w) == slot && text_of(w) != "'" + std::string(q.text) + "'")
      return quoted(q.text) + " does not go with " + text_of(w);
  return quoted(q.text) + " is said twice";
}

std::string Wording::subject(const InstructionName& i, const CompiledRule& r, const WordSet& words) const {
  WordSet present;
  for (const Clause& c : r.when)
    if (!c.negated) present |= c.any & words;
  const std::vector<std::string> list = all_texts(present);
  return list.empty() ? quoted(i.name) : joined(list, " with ");
}

std::string Wording::missing(const InstructionName& i, const CompiledRule& r, const WordSet& words) const {
  return subject(i, r, words) + " needs " + choice(r);
}

std::string Wording::conflict(const InstructionName& i, const CompiledRule& r, const WordSet& words) const {
  return subject(i, r, words) + " does not go with " + joined(all_texts(words & r.what), " and ");
}

std::string Wording::too_early(const InstructionName& i, const CompiledRule& r, const WordSet& words,
                               const Language& language) const {
  std::vector<std::string> wanted, given;
  if (language.version < r.row->minimum.version) {
    wanted.push_back("PTX ISA " + version_text(r.row->minimum.version));
    given.push_back("PTX ISA " + version_text(language.version));
  }
  if (language.target < r.row->minimum.target) {
    wanted.push_back("sm_" + std::to_string(r.row->minimum.target));
    given.push_back("sm_" + std::to_string(language.target));
  }
  return subject(i, r, words) + " is right since " + joined(wanted, " and ") + "; this module is for " +
         joined(given, " and ");
}

std::string Wording::difference(const CompiledRule& r) const {
  return "PTX ISA does not list " + std::string(r.row->what) + "; " + r.row->source + " takes it";
}

std::string Wording::wrong_count(const InstructionName& i, const CompiledSignature& c,
                                 std::size_t count) const {
  const std::size_t least = c.least();
  const std::size_t most = c.operands.size();
  return quoted(i.name) + " takes " + std::to_string(least) +
         (most > least ? " to " + std::to_string(most) : std::string()) +
         (most == 1 ? " operand" : " operands") + " here, not " + std::to_string(count);
}

std::string Wording::other_form(const CompiledSignature& c) const {
  std::vector<std::string> list;
  for (const Clause& clause : c.when)
    if (!clause.negated)
      for (const std::string& text : all_texts(clause.any)) list.push_back(text);
  if (list.empty() || list.size() > 3) return {};
  return "with " + joined(list, " and ") + " it takes that many";
}

}  // namespace warpline::ptx
