#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rtl_models/base/problem.h"

namespace warpline {

/// The longest text that is read: a file without end (/dev/zero) must not take the host's memory.
constexpr std::uint64_t kMostTextBytes = std::uint64_t{64} << 20U;

/// The bytes of a file of at most `most` bytes. A fault names the file and says why it cannot be read
/// (missing, a folder, no permission, too large).
[[nodiscard]] Result<std::string> read_file(const std::string& path, std::uint64_t most = kMostTextBytes);

/// Writes a file in one step, so that nobody ever sees half of it; see OutputFile. Returns why it failed, or
/// an empty string.
[[nodiscard]] std::string write_file_atomically(const std::string& path, std::string_view bytes);

/// `path` as seen from the folder of `file`; an absolute path is itself.
[[nodiscard]] std::string resolve_beside(const std::string& file, const std::string& path);

}  // namespace warpline
