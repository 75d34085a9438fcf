#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "platform/programs/sass_trace/block_source.h"
#include "platform/programs/sass_trace/instruction_line.h"

namespace warpline::sass {

/// What TextReader has packed by the end of a trace, and of which file.
struct PackedText {
  FileFingerprint source;
  std::uint64_t blocks = 0;
  PackedBytes& warps;
  /// Of each block, how many warps it lists, and of each of these number and bytes; they lie in this order.
  PackedBytes& index;
};

/// Reads the body of a trace's text, and packs it.
class TextReader final : public BlockSource {
 public:
  /// `lines` stands after the header; `first_line` is a line of the body that was read with it, or empty.
  /// `folders`: for scratch files. `on_end` is called once the text was read to its end without a fault;
  /// empty: nobody wants to know, and no index is kept.
  TextReader(std::unique_ptr<LineReader> lines, std::string first_line, const TraceHeader& header,
             Program& program, const std::vector<std::string>& folders,
             std::function<void(const PackedText&)> on_end);

  TraceBlock next() override;
  void end() override;
  PackedBytes& packed() override { return warps_; }

 private:
  /// Where the text of a line starts; npos: it is blank.
  [[nodiscard]] static std::size_t start_of(std::string_view line) {
    if (!line.empty() && line.front() > ' ') return 0;
    return line.find_first_not_of(" \t");
  }
  /// The next line that is not blank; false at the end of the file.
  bool next_line() {
    if (!first_line_.empty()) {
      line_ = first_line_;
      return true;
    }
    while (lines_->next(line_))
      if (start_of(line_) != std::string_view::npos) return true;
    return false;
  }
  [[nodiscard]] LineCursor cursor() const { return {lines_->path(), lines_->number(), line_}; }
  /// If the line reads `key = ...`, a cursor behind it.
  [[nodiscard]] bool is_key(std::string_view key, LineCursor& rest) const;
  void need_line(const char* what) {
    if (!next_line()) fail_at_end(what);
  }
  [[noreturn]] void fail_at_end(const char* what) const;
  void read_coordinates();
  void read_warp(TraceBlock& block, std::vector<bool>& seen, LineCursor number);
  void read_instruction(std::uint64_t number, std::uint64_t count);
  [[nodiscard]] std::string block_name() const;

  std::unique_ptr<LineReader> lines_;
  std::string first_line_;
  std::string_view line_;
  const TraceHeader& header_;
  InstructionLineParser parser_;
  WarpPosition position_;
  std::uint64_t blocks_read_ = 0;
  std::vector<bool> seen_;  ///< thread blocks that were read, by their place in the grid
  PackedWarp packer_;
  PackedBytes warps_, index_;
  std::vector<unsigned> listed_;  ///< warps of the block, as they come
  std::function<void(const PackedText&)> on_end_;
};

}  // namespace warpline::sass
