#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "rtl_models/base/bits.h"

namespace warpline::registers {

/// A text that grows piece by piece.
class TextWriter {
 protected:
  template <class... Arguments>
  void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Arguments>(arguments)...);
  }

  std::string out_;
};

/// A C comment of lines of at most 110 characters. What would end it, or begin another, is taken apart.
[[nodiscard]] std::string c_comment(std::string_view text);
/// A string literal of C++.
[[nodiscard]] std::string literal(std::string_view text);
/// The text in a cell of a table of Markdown.
[[nodiscard]] std::string cell(std::string_view text);
/// "0x0010": at least `digits` hexadecimal digits.
[[nodiscard]] std::string hex(std::uint64_t value, unsigned digits = 1);
/// "3", or "7:4".
[[nodiscard]] std::string bits_text(BitField at);

}  // namespace warpline::registers
