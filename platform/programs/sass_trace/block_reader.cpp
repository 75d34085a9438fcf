#include "platform/programs/sass_trace/block_reader.h"

#include <algorithm>

#include "platform/programs/sass_trace/trace.h"
#include "rtl_models/base/contract.h"
#include "rtl_models/base/text.h"

namespace warpline::sass {
namespace {

/// Of so many thread blocks it is remembered which came, one bit each, to find repeated ones.
constexpr std::uint64_t kMaxRemembered = std::uint64_t{1} << 26U;

}  // namespace

BlockReader::BlockReader(std::unique_ptr<LineReader> lines, std::string first_line, const TraceHeader& header,
                         Program& program)
    : lines_(std::move(lines)),
      first_line_(std::move(first_line)),
      header_(header),
      parser_(header, program) {}

std::shared_ptr<const TraceBlock> BlockReader::take(std::uint64_t ordinal) {
  while (blocks_read_ <= ordinal) {
    std::shared_ptr<const TraceBlock> block = read_block();
    waiting_[blocks_read_++] = {std::move(block), header_.warps_per_block()};
    peak_ = std::max(peak_, waiting_.size());
    if (blocks_read_ == header_.grid.count()) expect_end_of_trace();
  }
  const auto found = waiting_.find(ordinal);
  WARPLINE_EXPECT(found != waiting_.end(), "each warp of a CTA starts once");
  std::shared_ptr<const TraceBlock> block = found->second.block;
  if (--found->second.takers == 0) waiting_.erase(found);
  return block;
}

bool BlockReader::next_line() {
  if (!first_line_.empty()) {
    line_ = first_line_;
    return true;
  }
  while (lines_->next(line_)) {
    const std::size_t text = line_.find_first_not_of(" \t");
    if (text != std::string_view::npos) return true;
  }
  return false;
}

std::string BlockReader::block_name() const {
  return std::to_string(position_.cta.x) + "," + std::to_string(position_.cta.y) + "," +
         std::to_string(position_.cta.z);
}

void BlockReader::need_line(const char* what) {
  if (next_line()) return;
  throw InputError(fault_at(lines_->path(), lines_->number(), 0, {},
                            "the trace ends in the middle of thread block number " +
                                std::to_string(blocks_read_ + 1) + ", where " + what + " should stand"));
}

bool BlockReader::is_key(std::string_view key, LineCursor& rest) const {
  LineCursor c = cursor();
  for (const std::string_view word : split(key, ' '))
    if (c.done() || c.word("a key") != word) return false;
  if (c.done() || c.word("'='") != "=") return false;
  rest = c;
  return true;
}

void BlockReader::read_coordinates() {
  LineCursor rest = cursor();
  need_line("'thread block = x,y,z'");
  if (!is_key("thread block", rest)) cursor().fail_line("expected 'thread block = x,y,z'");
  const std::string_view text = rest.word("a thread block");
  std::uint32_t* const out[] = {&position_.cta.x, &position_.cta.y, &position_.cta.z};
  const std::uint32_t grid[] = {header_.grid.x, header_.grid.y, header_.grid.z};
  const auto parts = split(text, ',');
  for (unsigned i = 0; i < 3; ++i) {
    const bool one = (i == 2) == (i + 1 == parts.size());
    const auto n = one ? number_from<std::uint64_t>(parts[i]) : std::nullopt;
    if (!n) rest.fail("a thread block must be three numbers: x,y,z");
    if (*n >= grid[i])
      rest.fail("the thread block lies outside the grid (" + std::to_string(grid[0]) + "," +
                std::to_string(grid[1]) + "," + std::to_string(grid[2]) + ")");
    *out[i] = static_cast<std::uint32_t>(*n);
  }
  const std::uint64_t ordinal = position_.cta.number_in(header_.grid);
  if (ordinal < kMaxRemembered) {
    if (seen_.size() <= ordinal) seen_.resize(ordinal + 1);
    if (seen_[ordinal]) rest.fail("thread block " + block_name() + " appears twice");
    seen_[ordinal] = true;
  }
  rest.expect_end();
}

std::shared_ptr<const TraceBlock> BlockReader::read_block() {
  if (!next_line())
    throw InputError(fault_at(lines_->path(), lines_->number(), 0, {},
                              "the trace holds " + std::to_string(blocks_read_) +
                                  " thread blocks, but its grid has " +
                                  std::to_string(header_.grid.count())));
  LineCursor begin = cursor();
  const std::string_view first = begin.word("'#BEGIN_TB'");
  // In the order in which they ran, each instruction says its thread block.
  if (blocks_read_ == 0 && is_digit(first.front()))
    begin.fail("this is a raw trace, whose instructions are not grouped by thread block", kRawTraceHint);
  if (first != "#BEGIN_TB") begin.fail("expected '#BEGIN_TB'");
  begin.expect_end();
  first_line_.clear();
  read_coordinates();

  auto block = std::make_shared<TraceBlock>();
  block->warps.resize(header_.warps_per_block());
  std::vector<bool> seen(block->warps.size());
  while (true) {
    need_line("'warp = n' or '#END_TB'");
    LineCursor rest = cursor();
    if (is_key("warp", rest)) {
      read_warp(*block, seen, rest);
    } else if (cursor().word("a word") == "#END_TB") {
      return block;
    } else {
      cursor().fail_line("expected 'warp = n' or '#END_TB'",
                         "does an 'insts = ' above say less than there are?");
    }
  }
}

void BlockReader::read_warp(TraceBlock& block, std::vector<bool>& seen, LineCursor number) {
  position_.warp = static_cast<unsigned>(number.decimal("a warp number", header_.warps_per_block() - 1));
  number.expect_end();
  position_.groups = position_.copies = 0;
  if (seen[position_.warp])
    number.fail("warp " + std::to_string(position_.warp) + " appears twice in thread block " + block_name());
  seen[position_.warp] = true;

  need_line("'insts = n'");
  LineCursor count = cursor();
  if (!is_key("insts", count)) cursor().fail_line("expected 'insts = n'");
  const std::uint64_t instructions = count.decimal("an instruction count", UINT64_MAX);
  count.expect_end();
  PackedWarp& warp = block.warps[position_.warp];
  for (std::uint64_t i = 0; i < instructions; ++i) {
    need_line("an instruction");
    const std::string_view start = line_.substr(line_.find_first_not_of(" \t"));
    if (start.front() == '#' || start.substr(0, 4) == "warp")
      cursor().fail_line("warp " + std::to_string(position_.warp) + " of thread block " + block_name() +
                         " has " + std::to_string(i) + " instructions, but its 'insts' says " +
                         std::to_string(instructions));
    parser_.parse(cursor(), position_, warp);
  }
  warp.shrink();
}

void BlockReader::expect_end_of_trace() {
  // To the end, so that the checksums of compressed files are verified too.
  while (next_line())
    if (line_[line_.find_first_not_of(" \t")] != '#' || line_.find("#BEGIN_TB") != std::string_view::npos)
      cursor().fail_line("the trace goes on after the " + std::to_string(header_.grid.count()) +
                         " thread blocks of its grid");
}

}  // namespace warpline::sass
