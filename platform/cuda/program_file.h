#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "rtl_models/base/problem.h"

namespace warpline::cuda {

/// A function that a program file has, by the address at which the file wants to be loaded.
struct FileFunction {
  std::string name;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

/// An executable or library in ELF for x86-64, as far as it matters here (System V ABI, "Object Files").
struct ProgramFile {
  std::vector<std::string> needed;      ///< libraries that it asks the loader for
  bool dynamic = false;                 ///< a loader starts it, so that libraries can be put before its own
  bool has_symbols = false;             ///< it was not stripped
  bool registers_code = false;          ///< code for GPUs, with a CUDA runtime
  std::vector<FileFunction> functions;  ///< those of its symbol table that were asked for

  /// The library of CUDA's runtime that it asks for, "libcudart.so.12"; empty: none.
  [[nodiscard]] std::string runtime_library() const;
};

/// Reads a file; of its functions, those for which `wanted` is true. A fault: it cannot be read, or is no
/// such file, or damaged.
[[nodiscard]] Result<ProgramFile> read_program_file(const std::string& path,
                                                    const std::function<bool(std::string_view)>& wanted);

/// Whether bytes are those of a host's object file, or an archive of some.
[[nodiscard]] bool is_object_code(std::string_view bytes);
/// The fat binaries in such a file, which are part of `bytes`; `name` is what messages call it. A fault: it
/// is damaged.
[[nodiscard]] Result<std::vector<std::string_view>> fat_binaries_of(std::string_view bytes,
                                                                    const std::string& name);

}  // namespace warpline::cuda
