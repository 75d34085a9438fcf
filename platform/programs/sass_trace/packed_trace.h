#pragma once

#include <memory>
#include <string>
#include <vector>

#include "platform/programs/sass_trace/block_source.h"
#include "platform/programs/sass_trace/header.h"
#include "platform/programs/sass_trace/program.h"
#include "platform/programs/sass_trace/text_reader.h"

namespace warpline::sass {

/// A packed trace is the body of a kernel trace's text in binary: what the text says, and nothing that is
/// made of it here. docs/programs.md describes it byte by byte.
inline constexpr const char* kPackedSuffix = ".wlt";

/// Where the packed form of a trace may lie: beside it, and in the user's cache folder
/// ($XDG_CACHE_HOME/warpline,
/// ~/.cache/warpline), which there may be none of.
[[nodiscard]] std::vector<std::string> packed_paths(const std::string& trace);

/// Opens the packed form of `trace`, and adds its instructions to `program`. Null where there is none that is
/// whole, of this version, and of the file as it is: then the text is to be read.
[[nodiscard]] std::unique_ptr<BlockSource> open_packed(const std::string& trace, const TraceHeader& header,
                                                       Program& program);

/// Writes the packed form of `trace` into the first of its places that takes it. Where none does, there will
/// be none: the text is read again.
void write_packed(const std::string& trace, const TraceHeader& header, Program& program,
                  const PackedText& text);

}  // namespace warpline::sass
