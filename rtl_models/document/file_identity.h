#pragma once

#include <filesystem>
#include <string>

namespace warpline {

/// The folder that `path` lies in, "." where it names none.
[[nodiscard]] std::filesystem::path folder_of(const std::filesystem::path& path);

/// `path` with the links that its last part is followed to what they point at, whether or not that exists.
/// Stops at names of open files of processes (/dev/stdout, /proc/self/fd/3), which are no paths.
/// Empty where links lead round in a circle.
[[nodiscard]] std::string links_followed(const std::string& path);

/// Whether `path` is the name of an open file of a process, as the system lists them below /proc.
[[nodiscard]] bool is_open_file(const std::string& path);

/// Which plain file a path means, however it is spelt: equal texts are the same file; also of files that do
/// not exist yet. Empty for what nobody's contents lie in, such as devices and FIFOs.
[[nodiscard]] std::string identity_of(const std::string& path);
/// The same of an open file.
[[nodiscard]] std::string identity_of(int file);

}  // namespace warpline
