#pragma once

#include <array>

namespace warpline {

/// The presets in gpus/, as the build puts them into the library: no file is looked up at run time.
struct PresetText {
  const char* name;
  const char* text;
};
extern const std::array<PresetText, 4> kPresetTexts;  ///< mini, v100, a100, h100
/// The memories in dram/, as well.
extern const std::array<PresetText, 5> kDramStandardTexts;

}  // namespace warpline
