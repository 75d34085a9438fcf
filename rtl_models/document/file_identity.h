#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace warpline {

/// The folder that `path` lies in, "." where it names none.
[[nodiscard]] std::filesystem::path folder_of(const std::filesystem::path& path);

/// Whether `path` is the name of an open file of a process, as the system lists them below /proc.
[[nodiscard]] bool is_open_file(const std::string& path);

/// Where a path leads.
struct FilePlace {
  /// What is there, or where it will be when the folders that the path lacks are made: links that point at
  /// nothing yet are followed, and what leaves a folder that is missing (`gone/../x`) need not enter it. Its
  /// last part is no link, but may be the name of an open file of a process (/dev/stdout,
  /// /proc/self/fd/3), which is no path. Ends with `/` where only a folder can be meant. Empty where links
  /// lead round in a circle.
  std::filesystem::path path;
  /// The folders that the path names and that are not there, such as `gone`.
  std::vector<std::filesystem::path> missing;
};
[[nodiscard]] FilePlace file_place(const std::string& path);

/// Which plain file a path means, however it is spelt, and whether or not it exists.
struct FileIdentity {
  /// Equal texts are the same file. Empty for what nobody's contents lie in, such as devices and FIFOs.
  std::string file;
  /// The same of the missing folders that the path goes through: none of them can be a file beside it.
  std::vector<std::string> folders;
};
[[nodiscard]] FileIdentity identity_of(const std::string& path);
/// `file` of an open file.
[[nodiscard]] std::string identity_of(int file);

}  // namespace warpline
