#include "tests/fuzz/mutator.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace warpline::test {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
}

/// The word that covers `at`, as [first, last).
std::pair<std::size_t, std::size_t> word_at(const std::string& text, std::size_t at) {
  std::size_t first = at, last = at;
  while (first > 0 && is_word(text[first - 1])) --first;
  while (last < text.size() && is_word(text[last])) ++last;
  return {first, last};
}

}  // namespace

std::string Mutator::awkward_word() {
  static const std::array<const char*, 36> kWords = {"0",
                                                     "-1",
                                                     "1",
                                                     "2147483648",
                                                     "4294967296",
                                                     "18446744073709551615",
                                                     "99999999999999999999",
                                                     "1e308",
                                                     "-0.0",
                                                     "nan",
                                                     "inf",
                                                     "0x",
                                                     "0xffffffffffffffff",
                                                     "true",
                                                     "[]",
                                                     "{}",
                                                     "[[[[[[",
                                                     "\"",
                                                     "\"\"\"",
                                                     "'",
                                                     "%r99",
                                                     "%tid.q",
                                                     "$L__BB0_99",
                                                     ".v4",
                                                     ".global",
                                                     "ret;",
                                                     "sum(",
                                                     "i / 0",
                                                     "a[-1]",
                                                     "\xff\xfe",
                                                     "#",
                                                     "vecadd",
                                                     "\"\\u001b]0;x\\u0007\"",
                                                     "\"\\u009b31m\"",
                                                     "\r\x1b[2J",
                                                     "\xe2\x80\xae"};
  return kWords[random_.below(kWords.size())];
}

std::string Mutator::nested() {
  static const std::array<const char*, 13> kPieces = {
      "(", "[", "{", "[[", "-", "!", "~(", "a.", "x={a=", "1+", "sum(k,0,1,", "\x1b[31m", "/*"};
  const std::string piece = kPieces[random_.below(kPieces.size())];
  std::string out;
  for (std::uint64_t n = std::uint64_t{1} << random_.below(17); n != 0; --n) out += piece;
  return out;
}

void Mutator::mutate_once(std::string& text) {
  const std::size_t at = place(text.size());
  const std::size_t length = std::min<std::size_t>(text.size() - at, random_.below(40));
  switch (random_.below(17)) {
    case 0: text.resize(at); break;
    case 16: text.insert(at, nested()); break;
    case 1:
    case 9:
      if (!text.empty()) text[at] = static_cast<char>(text[at] ^ static_cast<char>(1U << random_.below(8)));
      break;
    case 2:
    case 10: text.erase(at, length); break;
    case 3:
    case 11: text.insert(place(text.size()), text.substr(at, length)); break;
    case 4:
    case 12: text.insert(at, awkward_word()); break;
    case 5:
    case 13:
    case 14:
    case 6: {
      const auto [first, last] = word_at(text, at);
      text.replace(first, last - first, awkward_word());
      break;
    }
    default: {  // two words exchanged
      const auto [first, last] = word_at(text, at);
      const std::string word = text.substr(first, last - first);
      const auto [other_first, other_last] = word_at(text, place(text.size()));
      const std::string other = text.substr(other_first, other_last - other_first);
      text.replace(other_first, other.size(), word);
      if (other_first > last) text.replace(first, word.size(), other);
    }
  }
}

std::string Mutator::mutate(std::string text) {
  for (std::uint64_t n = 1 + random_.below(3); n != 0; --n) mutate_once(text);
  return text;
}

}  // namespace warpline::test
