#include "warpline/programs/ptx/legality/vocabulary.h"

#include <algorithm>
#include <unordered_map>

#include "warpline/base/contract.h"

namespace warpline::ptx {
namespace {

struct SlotWords {
  Slot slot;
  const char* name;   ///< in rules
  const char* noun;   ///< in diagnostics
  const char* words;  ///< separated by blanks
};

/// PTX ISA 9.0: every qualifier of the instructions that touch memory.
constexpr SlotWords kSlots[] = {
    {Slot::operation, "operation", "a kind",
     ".nc .async .bulk .tensor .reduce .prefetch .commit_group .wait_group .wait_all .mbarrier .arrive "
     ".noinc "
     ".fractional .range .cvt .to .proxy .mbarrier_init .ld_reduce .st .red .noftz .read .b .p .sync "
     ".aligned "
     ".multicast::cluster .ignore_oob .cp_mask .tile .im2col .noftz .cta_group::1 .cta_group::2 .warp "
     ".wait .base .level .acc::f32 .acc::f16"},
    {Slot::semantics, "semantics", "an ordering", ".weak .volatile .relaxed .acquire .release .acq_rel .sc"},
    {Slot::mmio, "mmio", "'.mmio'", ".mmio"},
    {Slot::scope, "scope", "a scope such as '.gpu'", ".cta .cluster .gpu .sys"},
    {Slot::space, "space", "a state space",
     ".global .shared .shared::cta .shared::cluster .local .const .param .param::entry .param::func .reg"},
    {Slot::cache_operator, "operator", "a cache operator", ".ca .cg .cs .lu .cv .wb .wt"},
    {Slot::l1_eviction, "L1-eviction", "an L1 eviction priority",
     ".L1::evict_normal .L1::evict_unchanged .L1::evict_first .L1::evict_last .L1::no_allocate"},
    {Slot::l2_eviction, "L2-eviction", "an L2 eviction priority",
     ".L2::evict_normal .L2::evict_first .L2::evict_last .L2::evict_unchanged .L2::no_allocate"},
    {Slot::cache_hint, "hint", "'.L2::cache_hint'", ".L2::cache_hint"},
    {Slot::prefetch_size, "prefetch-size", "a prefetch size", ".L2::64B .L2::128B .L2::256B"},
    {Slot::vector, "vector", "a vector", ".v2 .v4 .v8"},
    {Slot::type, "type", "a type",
     ".b8 .b16 .b32 .b64 .b128 .u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64 .f16 .f16x2 .bf16 .bf16x2 .f32 .f64 "
     ".pred .tf32 .e4m3 .e5m2 .e4m3x2 .e5m2x2 .e4m3x4 .e5m2x4"},
    {Slot::arithmetic, "arithmetic", "an operation",
     ".and .or .xor .cas .exch .add .inc .dec .min .max .popc"},
    {Slot::level, "level", "a level", ".L1 .L2 .gl .tensormap"},
    {Slot::restriction, "restriction", "a restriction",
     ".sync_restrict::shared::cta .sync_restrict::shared::cluster"},
    {Slot::completion, "completion", "a completion mechanism",
     ".mbarrier::complete_tx::bytes .bulk_group .alias .async::generic .alias::generic .generic::async "
     ".tensormap::generic .mbarrier::arrive::expect_tx"},
    {Slot::geometry, "geometry", "a geometry", ".1d .2d .3d .4d .5d .a1d .a2d .cube .acube .2dms .a2dms"},
    {Slot::bounds, "bounds", "a mode for what lies outside", ".trap .clamp .zero"},
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
    {"input-parameter", "a parameter that the function takes"},
    {"return-parameter", "a parameter that the function returns"},
    {"symbol-address", "the address of a variable"},
    {"sink", "'_'"},
    {"name[n]", "an address written name[n]"},
    {"predicate", "a predicate operand"},
    {"special-address", "a special register as address"},
    {"variable-not-global", "a variable that is not .global"},
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
    {"param", "a parameter", ".param .param::entry .param::func"},
    {"global", "the global state space", "generic .global"},
};

template <class F>
void split(std::string_view list, F&& each) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (end != 0) each(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

/// The tables, by number and by name.
class Vocabulary {
 public:
  Vocabulary() {
    for (const SlotWords& s : kSlots) {
      WordSet all;
      split(s.words, [&](std::string_view text) {
        const auto [entry, fresh] = words_.emplace(text, static_cast<Word>(texts_.size()));
        if (fresh) add("'" + std::string(text) + "'", s.slot);
        all.set(entry->second);
      });
      sets_.emplace(s.name, all);
      nouns_.emplace(s.name, s.noun);
    }
    for (const Fact& f : kFacts) {
      facts_.emplace(f.name, static_cast<Word>(texts_.size()));
      add(f.noun, Slot::fact);
    }
    for (const Set& s : kSets) {
      WordSet all;
      split(s.words, [&](std::string_view name) { all |= named(name); });
      sets_.emplace(s.name, all);
      nouns_.emplace(s.name, s.noun);
    }
  }

  [[nodiscard]] WordSet named(std::string_view name) const {
    WordSet out;
    if (const auto w = words_.find(name); w != words_.end()) return out.set(w->second);
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

std::optional<Word> find_word(std::string_view text) {
  const auto found = vocabulary().words_.find(text);
  if (found == vocabulary().words_.end()) return std::nullopt;
  return found->second;
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
    if ((words.test(w) || words.test(w + kWordSpace)) && v.slots_[w] != Slot::fact)
      out.push_back(v.texts_[w].substr(1, v.texts_[w].size() - 2));
  return out;
}

}  // namespace warpline::ptx
