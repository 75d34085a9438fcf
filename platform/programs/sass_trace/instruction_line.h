#pragma once

#include "platform/programs/sass_trace/address_translation.h"
#include "platform/programs/sass_trace/header.h"
#include "platform/programs/sass_trace/line_cursor.h"
#include "platform/programs/sass_trace/packed_warp.h"
#include "platform/programs/sass_trace/program.h"

namespace warpline::sass {

/// The warp whose instructions are being read.
struct WarpPosition {
  Dim3 cta;
  unsigned warp = 0;
  unsigned groups = 0;  ///< of asynchronous copies that it has closed so far
  unsigned copies = 0;  ///< in the group that is open
};

/// Understands instruction lines, in every version of the format.
class InstructionLineParser {
 public:
  InstructionLineParser(const TraceHeader& header, Program& program)
      : header_(header), program_(program), translation_(header) {}

  /// Appends the instruction on `line` to `warp`. Throws InputError at any fault.
  void parse(LineCursor line, WarpPosition& position, PackedWarp& warp);

 private:
  void check_position(LineCursor& line, const WarpPosition& position) const;
  /// Reads address mode and addresses of the lanes in `mask`.
  void read_addresses(LineCursor& line, LaneMask mask, Addresses& addresses) const;
  /// The static instruction that stands for this execution.
  unsigned choose(Program::Entry& entry, LaneMask mask, std::int64_t immediate, bool all_global,
                  WarpPosition& position);

  const TraceHeader& header_;
  Program& program_;
  AddressTranslation translation_;
};

}  // namespace warpline::sass
