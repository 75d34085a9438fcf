#pragma once

#include <string>

namespace warpline {

/// The name of a C++ function without its parameters, as programs write it, of one that the compiler has
/// mangled; another name as it is.
[[nodiscard]] std::string plain_name(const std::string& mangled);

}  // namespace warpline
