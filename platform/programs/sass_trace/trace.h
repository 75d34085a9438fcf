#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/sm/kernel.h"

namespace warpline::sass {

/// What a `kernelslist.g` asks for, in order.
struct WARPLINE_PUBLIC ListEntry {
  bool is_copy = false;       ///< MemcpyHtoD; else a kernel trace
  std::uint64_t address = 0;  ///< of a copy
  std::uint64_t bytes = 0;
  std::string path;  ///< of a kernel trace, resolved against the list's folder
};

/// Reads a trace list. A named trace may lie beside it with a further `.xz` or `.gz`. Lines of
/// unknown kinds are reported once per kind in `warnings`, with a count.
WARPLINE_PUBLIC [[nodiscard]] Result<std::vector<ListEntry>> read_list(const std::string& path,
                                                                       std::vector<std::string>& warnings);

/// Whether `path` looks like a kernel trace (`.traceg`, `.traceg.xz`, `.traceg.gz`).
WARPLINE_PUBLIC [[nodiscard]] bool is_trace_path(const std::string& path);

/// Whether `path` looks like what the tracer writes before post-processing: a list `kernelslist`, or a
/// kernel's instructions in the order in which they ran (`.trace`, `.trace.xz`, `.trace.gz`).
WARPLINE_PUBLIC [[nodiscard]] bool is_raw_trace_path(const std::string& path);
/// What to do with such a file.
inline constexpr const char* kRawTraceHint =
    "Accel-Sim's post-traces-processing makes kernelslist.g and the .traceg files of it: "
    "post-traces-processing FOLDER/kernelslist";

/// A kernel trace being replayed. Asked again for the source of the same SM, it is launched anew.
class WARPLINE_PUBLIC TraceKernel : public Kernel {
 public:
  /// Opcodes, modifiers and header keys that were not understood in what has been read so far, each
  /// with a count ("LDG.FOO: 12").
  [[nodiscard]] virtual std::vector<std::string> unknown_opcodes() const = 0;
  /// What GPUs its code was made for, 80 for sm_80; 0: the trace does not say.
  [[nodiscard]] virtual std::uint32_t binary_version() const = 0;
};

/// Whether the binary form that a trace is packed to is kept beside it, or in the user's cache folder, and
/// read the next time instead of the text. What runs is the same.
enum class TraceCache : std::uint8_t { off, on };

/// Opens a kernel trace (plain, `.gz` or `.xz`; format versions 1 to 5) and reads its header. The body is
/// streamed while it runs, in memory that does not grow with it: what was read ahead of its warps lies,
/// packed, in a file without a name. A fault in the body throws InputError when it is reached.
WARPLINE_PUBLIC [[nodiscard]] Result<std::unique_ptr<TraceKernel>> open_trace(
    const std::string& path, TraceCache cache = TraceCache::off);

}  // namespace warpline::sass
