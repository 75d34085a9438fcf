#pragma once

#include <vector>

namespace warpline {

/// The presets in gpus/, as the build puts them into the library: no file is looked up at run time.
struct PresetText {
  const char* name;
  const char* text;
};
/// The default, `mini`, first.
[[nodiscard]] const std::vector<PresetText>& preset_texts();
/// The memories in dram/, as well.
[[nodiscard]] const std::vector<PresetText>& dram_standard_texts();

}  // namespace warpline
