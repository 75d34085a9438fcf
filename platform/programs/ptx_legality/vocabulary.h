#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rtl_models/isa/qualifiers.h"

namespace warpline::ptx {

/// A qualifier, or a fact about a statement that no qualifier says.
using Word = std::uint16_t;

/// Words that a statement has, or that a rule asks for. The second half holds the second word of a pair.
inline constexpr std::size_t kWordSpace = 256;
using WordSet = std::bitset<2 * kWordSpace>;
[[nodiscard]] constexpr Word second(Word w) {
  return static_cast<Word>(w + kWordSpace);
}

/// The names in a list of them, as rules have it.
[[nodiscard]] std::vector<std::string_view> names_in(std::string_view list, char separator);
/// The qualifier spelled `text` (".global"), or nothing.
[[nodiscard]] std::optional<Word> find_word(std::string_view text);
/// `Slot::none` of a fact. An instruction has at most one qualifier of a slot, unless its rules say that it
/// takes a pair.
[[nodiscard]] Slot slot_of(Word w);
/// As a diagnostic names it: '.global', or "a generic address".
[[nodiscard]] std::string text_of(Word w);
/// A fact by its name in the rules. Pre: there is one.
[[nodiscard]] Word fact(std::string_view name);
/// What a name in a rule stands for: a word, a fact, all of a slot ("scope"), or a named set ("half").
/// "2nd:x" is x as second of a pair. Pre: there is such a name.
[[nodiscard]] WordSet words_named(std::string_view name);
/// How a diagnostic names the whole of a set that rules have a name for: "a scope"; empty where none is.
[[nodiscard]] std::string_view noun_of(std::string_view name);
/// The qualifiers among `words`, as they are written.
[[nodiscard]] std::vector<std::string> texts_of(const WordSet& words);

}  // namespace warpline::ptx
