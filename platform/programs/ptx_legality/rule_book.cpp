#include "platform/programs/ptx_legality/rule_book.h"

#include <algorithm>
#include <map>
#include <string>

#include "rtl_models/base/contract.h"

namespace warpline::ptx {
namespace {

WordSet any_of(std::string_view names) {
  WordSet out;
  for (std::size_t at = 0; at < names.size();) {
    const std::size_t end = std::min(names.find('|', at), names.size());
    out |= words_named(names.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

Condition condition_of(std::string_view text) {
  Condition out;
  for (std::string_view clause : names_in(text, ' ')) {
    const bool negated = clause[0] == '!';
    if (negated) clause.remove_prefix(1);
    out.push_back({any_of(clause), negated});
  }
  return out;
}

/// Every chapter, sorted by instruction.
class Book {
 public:
  Book() {
    const std::vector<Chapter> chapters = {load_store_chapter(), atomic_chapter(),  fence_chapter(),
                                           hint_chapter(),       address_chapter(), async_chapter(),
                                           bulk_chapter(),       texture_chapter()};
    for (const Chapter& c : chapters)
      for (const InstructionName& n : c.names) {
        InstructionRules r;
        r.name = &n;
        for (const std::string_view w : names_in(n.words, ' ')) r.words.push_back(*find_word(w));
        rules_.emplace(n.name, std::move(r));
      }
    for (const Chapter& c : chapters) add(c);
    for (const auto& [name, r] : rules_) {
      auto& list = by_opcode_[r.name->opcode];
      if (list.empty()) opcodes_.emplace_back(r.name->opcode);
      list.push_back(&r);
    }
    for (auto& [opcode, list] : by_opcode_)
      std::sort(list.begin(), list.end(), [](const InstructionRules* a, const InstructionRules* b) {
        return a->words.size() > b->words.size();
      });
  }

  std::map<std::string_view, InstructionRules> rules_;
  std::map<std::string_view, std::vector<const InstructionRules*>> by_opcode_;
  std::vector<std::string> opcodes_;

 private:
  void add(const Chapter& c) {
    for (const Rule& row : c.rules)
      for (const std::string_view name : names_in(row.on, ' ')) add(instruction(name), row);
    for (const Signature& row : c.signatures)
      for (const std::string_view name : names_in(row.on, ' '))
        instruction(name).signatures.push_back({&row, condition_of(row.when), names_in(row.operands, ' ')});
  }
  void add(InstructionRules& r, const Rule& row) {
    if (row.verb == Verb::takes) {
      r.taken |= any_of(row.what);
    } else if (row.verb == Verb::pairs) {
      const WordSet words = any_of(row.what);
      for (Word w = 0; w < kWordSpace; ++w)
        if (words.test(w)) r.paired.push_back(slot_of(w));
    } else {
      r.rules.push_back(
          {&row, condition_of(row.when), row.verb == Verb::differs ? WordSet{} : any_of(row.what)});
    }
  }
  InstructionRules& instruction(std::string_view name) {
    const auto found = rules_.find(name);
    WARPLINE_EXPECT(found != rules_.end(), "rules are on instructions that a chapter names");
    return found->second;
  }
};

/// Whether the qualifiers `words` of a statement with the right opcode make it instruction `r`.
bool names(const InstructionRules& r, const std::vector<std::optional<Word>>& words) {
  if (r.name->anywhere)
    return std::all_of(r.words.begin(), r.words.end(), [&](Word w) {
      return std::find(words.begin(), words.end(), std::optional<Word>(w)) != words.end();
    });
  return words.size() >= r.words.size() && std::equal(r.words.begin(), r.words.end(), words.begin());
}

const Book& book() {
  static const Book kBook;
  return kBook;
}

}  // namespace

std::size_t CompiledSignature::least() const {
  return static_cast<std::size_t>(
      std::count_if(operands.begin(), operands.end(), [](std::string_view o) { return o.back() != '?'; }));
}

const InstructionRules* find_instruction(std::string_view opcode,
                                         const std::vector<std::optional<Word>>& words) {
  const auto found = book().by_opcode_.find(opcode);
  if (found == book().by_opcode_.end()) return nullptr;
  for (const InstructionRules* r : found->second)
    if (names(*r, words)) return r;
  return nullptr;
}

bool is_judged(std::string_view opcode) {
  return book().by_opcode_.find(opcode) != book().by_opcode_.end();
}

const std::vector<std::string>& judged_opcodes() {
  return book().opcodes_;
}

}  // namespace warpline::ptx
