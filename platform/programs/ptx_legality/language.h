#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace warpline::ptx {

/// The PTX version and target that a module is written for.
struct Language {
  unsigned version = 60;  ///< times ten
  unsigned target = 50;   ///< the number of sm_NN
  char feature = ' ';     ///< 'a' of sm_90a, 'f' of sm_100f
};

/// The first PTX version (times ten) and target (the number of sm_NN) that know something.
struct Minimum {
  unsigned version = 60;
  unsigned target = 10;
};

[[nodiscard]] inline bool has(const Language& language, const Minimum& minimum) {
  return language.version >= minimum.version && language.target >= minimum.target;
}
/// "WHAT is right since PTX ISA 8.0 and sm_90; this module is for PTX ISA 7.8 and sm_80". Pre: one of them is
/// too early.
[[nodiscard]] std::string since_text(const std::string& what, const Minimum& minimum,
                                     const Language& language);

/// A module's language; with no value, what is wrong with it.
struct LanguageOrFault {
  std::optional<Language> language;
  std::string fault;
  bool is_known = true;  ///< false: some later PTX may have the target
};
/// From "7.4" and "sm_80": a target that PTX had by that version.
[[nodiscard]] LanguageOrFault language_of(unsigned version, std::string_view target);
/// "7.4" of 74.
[[nodiscard]] std::string version_text(unsigned version);

}  // namespace warpline::ptx
