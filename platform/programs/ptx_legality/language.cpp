#include "platform/programs/ptx_legality/language.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "platform/programs/fault_list.h"
#include "rtl_models/base/text.h"

namespace warpline::ptx {
namespace {

struct Target {
  std::string_view name;
  unsigned since;  ///< PTX version, times ten
};
/// Every target that ptxas 13.0 reads, and since which version it does: PTX ISA, ".target", but for sm_82 and
/// sm_88, which that does not list. No version before 6.0 is read.
constexpr std::array<Target, 45> kTargets = {{
    {"sm_10", 60},  {"sm_11", 60},   {"sm_12", 60},   {"sm_13", 60},  {"sm_20", 60},   {"sm_21", 60},
    {"sm_30", 60},  {"sm_32", 60},   {"sm_35", 60},   {"sm_37", 60},  {"sm_50", 60},   {"sm_52", 60},
    {"sm_53", 60},  {"sm_60", 60},   {"sm_61", 60},   {"sm_62", 60},  {"sm_70", 60},   {"sm_72", 61},
    {"sm_75", 63},  {"sm_80", 70},   {"sm_82", 62},   {"sm_86", 71},  {"sm_87", 74},   {"sm_88", 73},
    {"sm_89", 78},  {"sm_90", 78},   {"sm_90a", 80},  {"sm_100", 86}, {"sm_100a", 86}, {"sm_100f", 88},
    {"sm_101", 86}, {"sm_101a", 86}, {"sm_101f", 88}, {"sm_103", 88}, {"sm_103a", 88}, {"sm_103f", 88},
    {"sm_110", 90}, {"sm_110a", 90}, {"sm_110f", 90}, {"sm_120", 87}, {"sm_120a", 87}, {"sm_120f", 88},
    {"sm_121", 88}, {"sm_121a", 88}, {"sm_121f", 88},
}};

}  // namespace

std::string version_text(unsigned version) {
  return std::to_string(version / 10) + "." + std::to_string(version % 10);
}

std::string since_text(const std::string& what, const Minimum& minimum, const Language& language) {
  std::vector<std::string> wanted, given;
  if (language.version < minimum.version) {
    wanted.push_back("PTX ISA " + version_text(minimum.version));
    given.push_back("PTX ISA " + version_text(language.version));
  }
  if (language.target < minimum.target) {
    wanted.push_back("sm_" + std::to_string(minimum.target));
    given.push_back("sm_" + std::to_string(language.target));
  }
  return what + " is right since " + joined(wanted, ", ", " and ") + "; this module is for " +
         joined(given, ", ", " and ");
}

LanguageOrFault language_of(unsigned version, std::string_view target) {
  const auto* const known =
      std::find_if(kTargets.begin(), kTargets.end(), [&](const Target& t) { return t.name == target; });
  if (known == kTargets.end()) {
    std::vector<std::string> names;
    for (const Target& t : kTargets) names.emplace_back(t.name);
    const std::string hint = text::suggestion(target, names);
    return {std::nullopt, "unknown target " + text::quoted(target) + (hint.empty() ? "" : "; " + hint),
            false};
  }
  if (version < known->since)
    return {std::nullopt, "target " + text::quoted(target) + " is known since PTX ISA " +
                              version_text(known->since) + ", not in " + version_text(version)};
  Language l;
  l.version = version;
  if (!is_digit(target.back())) {
    l.feature = target.back();
    target.remove_suffix(1);
  }
  l.target = *number_from<unsigned>(target.substr(3));
  return {l, {}};
}

}  // namespace warpline::ptx
