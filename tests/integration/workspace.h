#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

namespace warpline::test {

/// What a finished command left: its exit status (128 + N where signal N ended it), both its streams, and the
/// most memory that it had at a time.
struct Finished {
  int status = 0;
  std::string out;
  std::string err;
  std::uint64_t peak_bytes = 0;
};

/// A folder of its own for one test, removed afterwards, and the commands run in it.
class Workspace {
 public:
  Workspace();
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  /// Writes a file; returns its absolute path.
  std::string write(const std::string& name, const std::string& bytes) const;
  /// The same, from the bytes of `values` as they lie in (little-endian) memory.
  template <class T>
  std::string write_values(const std::string& name, const std::vector<T>& values) const {
    std::string bytes(values.size() * sizeof(T), '\0');
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return write(name, bytes);
  }
  /// Runs `warpline` with `arguments`, this folder being the current one.
  [[nodiscard]] Finished warpline(const std::vector<std::string>& arguments) const;
  /// The same with its stdout elsewhere: in the file or device `path`, or, where that is empty, in a pipe
  /// that nobody reads.
  [[nodiscard]] Finished with_output_to(const std::string& path,
                                        const std::vector<std::string>& arguments) const;
  /// The same for a user who is not root; of root, as nobody, to whom the folder is given.
  [[nodiscard]] Finished as_ordinary_user(const std::vector<std::string>& arguments) const;
  /// The same, sending it `signals`: the first when it takes that signal, each other one when `marker` is to
  /// be read on its stderr once more.
  [[nodiscard]] Finished signalled(const std::vector<std::string>& arguments, const std::vector<int>& signals,
                                   const std::string& marker) const;

 private:
  /// How a command is started: what becomes of stdout, and whether it runs as an ordinary user.
  struct Start {
    int out = -1;  ///< an open file for stdout; -1: one in this folder
    bool ordinary = false;
  };
  [[nodiscard]] pid_t start(const std::vector<std::string>& arguments, Start how) const;
  [[nodiscard]] pid_t start(const std::vector<std::string>& arguments) const { return start(arguments, {}); }
  [[nodiscard]] Finished wait_for(pid_t child) const;
  [[nodiscard]] Finished finished(int status, const rusage& used) const;
  std::filesystem::path folder_;
};

/// The bytes of a file; fails the test where it cannot be read.
[[nodiscard]] std::string read_file(const std::string& path);
/// A path below the project's top folder, absolute.
[[nodiscard]] std::string in_source(const std::string& relative);
/// `text` with every `from` replaced.
[[nodiscard]] std::string replaced(std::string text, const std::string& from, const std::string& to);

}  // namespace warpline::test
