#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "platform/programs/sass_trace/line_reader.h"

namespace warpline::sass {

/// The words of one line, each checked as it is taken. A fault throws InputError with the place.
class LineCursor {
 public:
  LineCursor(const std::string& file, unsigned number, std::string_view line)
      : file_(&file), number_(number), line_(line) {}

  /// Whether only blanks are left.
  [[nodiscard]] bool done() {
    skip_blanks();
    return at_ == line_.size();
  }
  /// The next word; `what` names it if there is none ("an opcode").
  std::string_view word(const char* what) {
    skip_blanks();
    last_ = at_;
    while (at_ < line_.size() && line_[at_] != ' ' && line_[at_] != '\t') ++at_;
    if (at_ == last_) missing(what);
    return line_.substr(last_, at_ - last_);
  }
  /// Hexadecimal digits, with or without `0x`, of at most `max`.
  std::uint64_t hex(const char* what, std::uint64_t max);
  /// Decimal digits of at most `max`.
  std::uint64_t decimal(const char* what, std::uint64_t max);
  /// Decimal digits with an optional sign. Values from 2^63 to 2^64-1 are taken as their two's complement.
  std::int64_t signed_decimal(const char* what);
  /// `R0` to `R255`.
  unsigned register_number(const char* what);
  /// Throws unless only blanks are left.
  void expect_end();

  /// Where the next word starts, and what lies between two such places.
  [[nodiscard]] std::size_t position() {
    skip_blanks();
    return at_;
  }
  [[nodiscard]] std::string_view between(std::size_t from, std::size_t to) const {
    return line_.substr(from, to - from);
  }
  [[nodiscard]] std::size_t end_of_last() const { return at_; }

  /// A fault at the word taken last.
  [[noreturn]] void fail(std::string message, std::string hint = {}) const;
  /// A fault of the line as a whole.
  [[noreturn]] void fail_line(std::string message, std::string hint = {}) const;

 private:
  void skip_blanks() {
    while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\t')) ++at_;
  }
  [[noreturn]] void missing(const char* what) const;

  const std::string* file_;
  unsigned number_;
  std::string_view line_;
  std::size_t at_ = 0;
  std::size_t last_ = 0;  ///< start of the word taken last
};

}  // namespace warpline::sass
