#pragma once

#include <string>

namespace warpline {

/// The value of SHA-256 as policies of pages write it (Content-Security-Policy): "sha256-...".
[[nodiscard]] std::string policy_hash(const std::string& text);

}  // namespace warpline
