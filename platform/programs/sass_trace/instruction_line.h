#pragma once

#include <string>
#include <vector>

#include "platform/programs/sass_trace/header.h"
#include "platform/programs/sass_trace/line_cursor.h"
#include "platform/programs/sass_trace/packed_warp.h"
#include "platform/programs/sass_trace/program.h"

namespace warpline::sass {

/// The warp whose instructions are being read.
struct WarpPosition {
  Dim3 cta;
  unsigned warp = 0;
  LaneMask lanes = 0;  ///< that it has
};

/// Reads the static part of an instruction line, from the destinations to the width. `text` becomes how it is
/// written. Throws InputError at a fault.
[[nodiscard]] Operands read_operands(LineCursor& line, std::uint32_t pc, std::string_view& text);

/// Understands instruction lines, in every version of the format.
class InstructionLineParser {
 public:
  InstructionLineParser(const TraceHeader& header, Program& program) : header_(header), program_(program) {}

  /// Appends the instruction on `line` to `warp`, if the line reads as that of the same instruction did, but
  /// for the base of its addresses. Else it is to be parsed.
  [[nodiscard]] bool append_likely(std::string_view line, const WarpPosition& position, PackedWarp& warp) {
    const Head& likely = heads_[expected_ % kHeads];
    Addresses addresses;
    if (likely.before.empty() || (likely.mask & ~position.lanes) != 0 ||
        !is_hex_between(line, likely.before, likely.behind, addresses.base))
      return false;
    addresses.form = AddressForm::strided;
    addresses.stride = likely.stride;
    addresses.base -= first_lane(likely.mask) * static_cast<std::uint64_t>(likely.stride);
    expected_ = likely.entry->number + 1;
    warp.append(likely.entry->number, likely.mask, likely.immediate, &addresses);
    return true;
  }
  /// Appends the instruction on `line` to `warp`. Throws InputError at any fault.
  void parse(LineCursor line, const WarpPosition& position, PackedWarp& warp);

 private:
  void check_position(LineCursor& line, const WarpPosition& position) const;
  /// Reads address mode and addresses of the lanes in `mask`.
  static void read_addresses(LineCursor& line, LaneMask mask, Addresses& addresses);
  /// The entry for the static part, up to which `line` has been read.
  Program::Entry& read_entry(LineCursor& line, std::uint32_t pc);
  /// How a line began, up to its addresses.
  struct Head {
    std::string text;
    const Program::Entry* entry = nullptr;  ///< null: there was none
    LaneMask mask = 0;
    /// Of a line whose addresses are strided: what stands before and behind the digits of the base, and what
    /// it says of stride and immediate. Empty: it was none.
    std::string before, behind;
    std::int64_t stride = 0, immediate = 0;
  };
  static constexpr std::size_t kHeads = 1024;
  /// Keeps of a line, which is `head` up to `addresses_at`, what it says behind that. Pre: its addresses are
  /// strided.
  static void keep_behind(Head& head, LineCursor line, std::size_t addresses_at, const Addresses& addresses,
                          std::int64_t immediate);
  /// Reads up to the addresses, into `head` but for its text.
  void read_head(LineCursor& line, const WarpPosition& position, Head& head);

  const TraceHeader& header_;
  Program& program_;
  unsigned expected_ = 0;  ///< number of the entry behind the last one
  /// By the entry that was expected and came, the last such lines: what loops write again and again is told
  /// by one comparison.
  std::vector<Head> heads_{kHeads};
};

}  // namespace warpline::sass
