#include "rtl_models/document/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "rtl_models/document/output_file.h"

namespace warpline {

Result<std::string> read_file(const std::string& path, std::uint64_t most) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return Diagnostic::about(path, "is a folder, not a file");
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return Diagnostic::about(path, std::string("cannot be opened: ") + std::strerror(errno));
  std::string bytes;
  constexpr std::size_t kStep = std::size_t{1} << 20U;
  for (;;) {
    const std::size_t before = bytes.size();
    bytes.resize(before + kStep);
    const ssize_t n = ::read(file, &bytes[before], kStep);
    bytes.resize(before + (n > 0 ? static_cast<std::size_t>(n) : 0));
    if (n == 0) break;
    if (n < 0 && errno != EINTR) {
      const std::string why = std::strerror(errno);
      ::close(file);
      return Diagnostic::about(path, "cannot be read: " + why);
    }
    if (bytes.size() > most) {
      ::close(file);
      return Diagnostic::about(path, "has more than " + std::to_string(most) + " bytes");
    }
  }
  ::close(file);
  return bytes;
}

std::string write_file_atomically(const std::string& path, std::string_view bytes) {
  OutputFile file;
  if (std::string failure = file.open(path); !failure.empty()) return failure;
  file.write(bytes);
  return file.close();
}

std::string resolve_beside(const std::string& file, const std::string& path) {
  return (std::filesystem::path(file).parent_path() / path).lexically_normal().string();
}

}  // namespace warpline
