#include "platform/programs/ptx_legality/vocabulary.h"

#include <algorithm>
#include <unordered_map>

#include "rtl_models/base/contract.h"
#include "rtl_models/base/text.h"

namespace warpline::ptx {
namespace {

struct SlotName {
  Slot slot;
  const char* name;  ///< in rules
  const char* noun;  ///< in diagnostics
};

constexpr SlotName kSlots[] = {
    {Slot::operation, "operation", "a kind"},
    {Slot::semantics, "semantics", "an ordering"},
    {Slot::mmio, "mmio", "'.mmio'"},
    {Slot::scope, "scope", "a scope such as '.gpu'"},
    {Slot::space, "space", "a state space"},
    {Slot::cache_operator, "operator", "a cache operator"},
    {Slot::l1_eviction, "L1-eviction", "an L1 eviction priority"},
    {Slot::l2_eviction, "L2-eviction", "an L2 eviction priority"},
    {Slot::cache_hint, "hint", "'.L2::cache_hint'"},
    {Slot::prefetch_size, "prefetch-size", "a prefetch size"},
    {Slot::vector, "vector", "a vector"},
    {Slot::type, "type", "a type"},
    {Slot::arithmetic, "arithmetic", "an operation"},
    {Slot::level, "level", "a level"},
    {Slot::restriction, "restriction", "a restriction"},
    {Slot::completion, "completion", "a completion mechanism"},
    {Slot::geometry, "geometry", "a geometry"},
    {Slot::bounds, "bounds", "a mode for what lies outside"},
    {Slot::load_mode, "load-mode", "a mode such as '.tile'"},
    {Slot::cta_group, "cta-group", "a group of CTAs"},
};

struct Fact {
  const char* name;  ///< in rules
  const char* noun;  ///< in diagnostics
};
constexpr Fact kFacts[] = {
    {"generic", "a generic address"},
    {"wide", "an access of 32 bytes"},
    {"oversize", "an access of more than 16 bytes"},
    {"unified", "'.unified'"},
    {"128-bit-register", "a .b128 register"},
    {"function", "a device function"},
    {"arch-target", "a target for one architecture"},
    {"family-target", "a target for one family"},
    {"sm_10x-target", "a target such as sm_100a or sm_103f"},
    {"input-parameter", "a parameter that the function takes"},
    {"return-parameter", "a parameter that the function returns"},
    {"symbol-address", "the address of a variable"},
    {"sink", "'_'"},
    {"name[n]", "an address written name[n]"},
    {"predicate", "a predicate operand"},
    {"special-address", "a special register as address"},
    {"variable-not-global", "a variable that is not .global"},
    {"bare-handle", "a handle without brackets"},
    {"2-operands", "two operands"},
    {"3-operands", "three operands"},
    {"4-operands", "four operands"},
};

struct Set {
  const char* name;
  const char* noun;
  const char* words;
};
/// Words that several rules name together.
constexpr Set kSets[] = {
    {"half", "a half-precision type", ".f16 .f16x2 .bf16 .bf16x2"},
    {"32-bit", "a type of 32 bits", ".b32 .u32 .s32 .f32"},
    {"8-bit-float", "an 8-bit floating-point type", ".e4m3 .e5m2 .e4m3x2 .e5m2x2 .e4m3x4 .e5m2x4"},
    {"64-bit", "a type of 64 bits", ".b64 .u64 .s64 .f64"},
    {"plain-type", "a type", ".b8 .b16 .b32 .b64 .b128 .u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64 .f32 .f64"},
    {"strong", "a strong access", ".volatile .relaxed .acquire .release .acq_rel .sc"},
    {"shared", "shared memory", ".shared .shared::cta .shared::cluster"},
    {"offsets", "a mode with offsets", ".im2col .im2col::w .im2col::w::128"},
    {"dimension", "a dimension such as '.2d'", ".1d .2d .3d .4d .5d"},
    {"param", "a parameter", ".param .param::entry .param::func"},
    {"global", "the global state space", "generic .global"},
};

/// The qualifiers of PTX and the tables above, by number and by name.
class Vocabulary {
 public:
  Vocabulary() {
    for (const Qualifier& q : kQualifiers) {
      words_.emplace(q.word, static_cast<Word>(texts_.size()));
      add("'." + std::string(q.word) + "'", q.slot);
    }
    for (const SlotName& s : kSlots) {
      WordSet all;
      for (std::size_t w = 0; w < slots_.size(); ++w)
        if (slots_[w] == s.slot) all.set(w);
      sets_.emplace(s.name, all);
      nouns_.emplace(s.name, s.noun);
    }
    for (const Fact& f : kFacts) {
      facts_.emplace(f.name, static_cast<Word>(texts_.size()));
      add(f.noun, Slot::none);
    }
    for (const Set& s : kSets) {
      WordSet all;
      for (const std::string_view name : names_in(s.words, ' ')) all |= named(name);
      sets_.emplace(s.name, all);
      nouns_.emplace(s.name, s.noun);
    }
  }

  [[nodiscard]] std::optional<Word> find_word(std::string_view text) const {
    if (text.empty() || text[0] != '.') return std::nullopt;
    const auto found = words_.find(text.substr(1));
    return found == words_.end() ? std::nullopt : std::optional(found->second);
  }

  [[nodiscard]] WordSet named(std::string_view name) const {
    WordSet out;
    if (const auto w = find_word(name)) return out.set(*w);
    if (const auto f = facts_.find(name); f != facts_.end()) return out.set(f->second);
    const auto s = sets_.find(name);
    WARPLINE_EXPECT(s != sets_.end(), "rules name words, facts, slots and sets");
    return s->second;
  }

  std::unordered_map<std::string_view, Word> words_, facts_;
  std::unordered_map<std::string_view, WordSet> sets_;
  std::unordered_map<std::string_view, std::string_view> nouns_;
  std::vector<std::string> texts_;
  std::vector<Slot> slots_;

 private:
  void add(std::string text, Slot slot) {
    WARPLINE_EXPECT(texts_.size() < kWordSpace, "the words fit their space");
    texts_.push_back(std::move(text));
    slots_.push_back(slot);
  }
};

const Vocabulary& vocabulary() {
  static const Vocabulary kVocabulary;
  return kVocabulary;
}

}  // namespace

std::vector<std::string_view> names_in(std::string_view list, char separator) {
  std::vector<std::string_view> names;
  if (list.empty()) return names;
  // The rules are read at every start: no vector grows.
  names.reserve(1 + static_cast<std::size_t>(std::count(list.begin(), list.end(), separator)));
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(separator, at), list.size());
    names.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

std::optional<Word> find_word(std::string_view text) {
  return vocabulary().find_word(text);
}

Slot slot_of(Word w) {
  return vocabulary().slots_[w % kWordSpace];
}

std::string text_of(Word w) {
  return vocabulary().texts_[w % kWordSpace] + (w < kWordSpace ? "" : " in second place");
}

Word fact(std::string_view name) {
  const auto found = vocabulary().facts_.find(name);
  WARPLINE_EXPECT(found != vocabulary().facts_.end(), "there is a fact of this name");
  return found->second;
}

WordSet words_named(std::string_view name) {
  constexpr std::string_view kSecond = "2nd:";
  if (name.substr(0, kSecond.size()) == kSecond)
    return vocabulary().named(name.substr(kSecond.size())) << kWordSpace;
  return vocabulary().named(name);
}

std::string_view noun_of(std::string_view name) {
  const auto found = vocabulary().nouns_.find(name);
  return found == vocabulary().nouns_.end() ? std::string_view{} : found->second;
}

std::vector<std::string> texts_of(const WordSet& words) {
  std::vector<std::string> out;
  const Vocabulary& v = vocabulary();
  for (std::size_t w = 0; w < v.texts_.size(); ++w)
    if ((words.test(w) || words.test(w + kWordSpace)) && v.slots_[w] != Slot::none)
      out.push_back(v.texts_[w].substr(1, v.texts_[w].size() - 2));
  return out;
}

}  // namespace warpline::ptx
