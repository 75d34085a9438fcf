#include "platform/programs/sass_trace/text_reader.h"

#include "platform/programs/sass_trace/trace.h"
#include "rtl_models/base/text.h"

namespace warpline::sass {
namespace {

/// Of so many thread blocks it is remembered which came, one bit each, to find repeated ones.
constexpr std::uint64_t kMaxRemembered = std::uint64_t{1} << 26U;
/// Bytes of a warp that are packed before they are stored.
constexpr std::size_t kStoredAtOnce = std::size_t{1} << 16U;

}  // namespace

TextReader::TextReader(std::unique_ptr<LineReader> lines, std::string first_line, const TraceHeader& header,
                       Program& program, const std::vector<std::string>& folders,
                       std::function<void(const PackedText&)> on_end)
    : lines_(std::move(lines)),
      first_line_(std::move(first_line)),
      header_(header),
      parser_(header, program),
      warps_(folders),
      index_(folders),
      on_end_(std::move(on_end)) {}

std::string TextReader::block_name() const {
  return std::to_string(position_.cta.x) + "," + std::to_string(position_.cta.y) + "," +
         std::to_string(position_.cta.z);
}

void TextReader::fail_at_end(const char* what) const {
  throw InputError(fault_at(lines_->path(), lines_->number(), 0, {},
                            "the trace ends in the middle of thread block number " +
                                std::to_string(blocks_read_ + 1) + ", where " + what + " should stand"));
}

bool TextReader::is_key(std::string_view key, LineCursor& rest) const {
  LineCursor c = cursor();
  for (const std::string_view word : split(key, ' '))
    if (c.done() || c.word("a key") != word) return false;
  if (c.done() || c.word("'='") != "=") return false;
  rest = c;
  return true;
}

void TextReader::read_coordinates() {
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

TraceBlock TextReader::next() {
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

  TraceBlock block;
  block.warps.resize(header_.warps_per_block());
  std::vector<bool> seen(block.warps.size());
  listed_.clear();
  while (true) {
    need_line("'warp = n' or '#END_TB'");
    LineCursor rest = cursor();
    if (is_key("warp", rest)) {
      read_warp(block, seen, rest);
    } else if (cursor().word("a word") == "#END_TB") {
      if (on_end_) {
        index_.append_number(listed_.size());
        for (const unsigned warp : listed_) {
          index_.append_number(warp);
          index_.append_number(block.warps[warp].bytes);
        }
      }
      ++blocks_read_;
      return block;
    } else {
      cursor().fail_line("expected 'warp = n' or '#END_TB'",
                         "does an 'insts = ' above say less than there are?");
    }
  }
}

void TextReader::read_warp(TraceBlock& block, std::vector<bool>& seen, LineCursor number) {
  position_.warp = static_cast<unsigned>(number.decimal("a warp number", header_.warps_per_block() - 1));
  position_.lanes = header_.lanes_of(position_.warp);
  number.expect_end();
  if (seen[position_.warp])
    number.fail("warp " + std::to_string(position_.warp) + " appears twice in thread block " + block_name());
  seen[position_.warp] = true;
  listed_.push_back(position_.warp);

  need_line("'insts = n'");
  LineCursor count = cursor();
  if (!is_key("insts", count)) cursor().fail_line("expected 'insts = n'");
  const std::uint64_t instructions = count.decimal("an instruction count", UINT64_MAX);
  count.expect_end();
  WarpPlace& place = block.warps[position_.warp];
  place.offset = warps_.size();
  packer_.restart();
  const auto store = [&] {
    warps_.append(packer_.data(), packer_.size());
    packer_.drop();
  };
  for (std::uint64_t i = 0; i < instructions; ++i) {
    need_line("an instruction");
    if (!parser_.append_likely(line_, position_, packer_)) read_instruction(i, instructions);
    if (packer_.size() >= kStoredAtOnce) store();
  }
  store();
  place.bytes = warps_.size() - place.offset;
}

/// The line is instruction `number` of `count` that the warp has.
void TextReader::read_instruction(std::uint64_t number, std::uint64_t count) {
  const char start = line_[start_of(line_)];
  if (start == '#' || (start == 'w' && cursor().word("a word").substr(0, 4) == "warp"))
    cursor().fail_line("warp " + std::to_string(position_.warp) + " of thread block " + block_name() +
                       " has " + std::to_string(number) + " instructions, but its 'insts' says " +
                       std::to_string(count));
  parser_.parse(cursor(), position_, packer_);
}

void TextReader::end() {
  // To the end, so that the checksums of compressed files are verified too.
  while (next_line())
    if (line_[start_of(line_)] != '#' || line_.find("#BEGIN_TB") != std::string_view::npos)
      cursor().fail_line("the trace goes on after the " + std::to_string(header_.grid.count()) +
                         " thread blocks of its grid");
  if (on_end_) on_end_({lines_->fingerprint(), blocks_read_, warps_, index_});
}

}  // namespace warpline::sass
