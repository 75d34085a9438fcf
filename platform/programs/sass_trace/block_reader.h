#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "platform/programs/sass_trace/instruction_line.h"

namespace warpline::sass {

/// A thread block of the trace. A warp that the trace does not list executed nothing.
struct TraceBlock {
  std::vector<PackedWarp> warps;
};

/// Reads the body of a trace, thread block by thread block, and keeps those blocks only that an SM still
/// needs. The block of ordinal k (x first, then y, then z) is the k-th of the file.
class BlockReader {
 public:
  /// `lines` stands after the header; `first_line` is a line of the body that was read with it, or empty.
  BlockReader(std::unique_ptr<LineReader> lines, std::string first_line, const TraceHeader& header,
              Program& program);

  /// The block of CTA `ordinal`, asked for once by each of its warps. Reads ahead as far as needed. Throws
  /// InputError at a fault of the trace, and if the trace ends before.
  [[nodiscard]] std::shared_ptr<const TraceBlock> take(std::uint64_t ordinal);
  [[nodiscard]] std::uint64_t blocks_read() const { return blocks_read_; }
  /// The most blocks that were read and not yet taken by all their warps.
  [[nodiscard]] std::size_t peak_buffered() const { return peak_; }

 private:
  struct Waiting {
    std::shared_ptr<const TraceBlock> block;
    unsigned takers = 0;  ///< warps that have not asked yet
  };

  /// The next line that is not blank; false at the end of the file.
  bool next_line();
  [[nodiscard]] LineCursor cursor() const { return {lines_->path(), lines_->number(), line_}; }
  /// If the line reads `key = ...`, a cursor behind it.
  [[nodiscard]] bool is_key(std::string_view key, LineCursor& rest) const;
  void need_line(const char* what);
  [[nodiscard]] std::shared_ptr<const TraceBlock> read_block();
  void read_coordinates();
  void read_warp(TraceBlock& block, std::vector<bool>& seen, LineCursor number);
  void expect_end_of_trace();
  [[nodiscard]] std::string block_name() const;

  std::unique_ptr<LineReader> lines_;
  std::string first_line_;
  std::string_view line_;
  const TraceHeader& header_;
  InstructionLineParser parser_;
  WarpPosition position_;
  std::uint64_t blocks_read_ = 0;
  std::vector<bool> seen_;  ///< thread blocks that were read, by their place in the grid
  std::map<std::uint64_t, Waiting> waiting_;
  std::size_t peak_ = 0;
};

}  // namespace warpline::sass
