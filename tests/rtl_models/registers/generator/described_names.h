#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "rtl_models/registers/register_map.h"

namespace warpline::test {

using Names = std::map<std::string, std::uint64_t>;

/// What was generated of one description, as compilers understand it.
struct Generated {
  Names macros;     ///< of the C header, by a compiler of C; those with an argument as "NAME(2)"
  Names constants;  ///< of the C++ table
  const RegisterMap* map = nullptr;
};
[[nodiscard]] Generated generated_of(const std::string& block);

}  // namespace warpline::test
