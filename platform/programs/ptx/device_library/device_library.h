#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpline::ptx {

/// Functions that nvcc leaves to the driver, as a PTX module to be linked with those that call them. Where
/// its variables point, who runs the program says (DeviceMemory).
struct LibraryPart {
  std::string_view text;
  std::string name;                         ///< what fault records call its file
  std::vector<std::string_view> functions;  ///< that programs may call
  [[nodiscard]] bool has(std::string_view function) const;
};
[[nodiscard]] const std::vector<LibraryPart>& device_library();

}  // namespace warpline::ptx
