#pragma once

#include <string>
#include <string_view>

#include "warpline/base/problem.h"

namespace warpline {

/// The bytes of a file. A fault names the file and says why it cannot be read (missing, a folder,
/// no permission).
[[nodiscard]] Result<std::string> read_file(const std::string& path);

/// Writes a file in one step: under another name beside it first, then renamed, so that nobody
/// ever sees half of it. Returns why it failed, or an empty string.
[[nodiscard]] std::string write_file_atomically(const std::string& path, std::string_view bytes);

/// `path` as seen from the folder of `file`; an absolute path is itself.
[[nodiscard]] std::string resolve_beside(const std::string& file, const std::string& path);

}  // namespace warpline
