#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace warpline {

/// The name by which a GPU knows the code of a program again (KernelInfo::code_name, with the entry's name
/// appended). It tells texts apart as well as files: a file may hold another program by the next launch.
[[nodiscard]] inline std::string code_name(std::string_view file, std::string_view text) {
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325;  // 64-bit FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01B3;
  return std::string(file) + ":" + std::to_string(hash) + ":";
}

}  // namespace warpline
