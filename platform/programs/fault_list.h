#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rtl_models/base/problem.h"

namespace warpline::text {

/// A stretch of the source text, by byte offset.
struct Place {
  std::uint32_t offset = 0;
  std::uint32_t length = 1;
};

/// A file of a text, and how many lines of the text come before it.
struct TextFile {
  unsigned lines_before = 0;
  std::string name;
};
/// That of `files`, in the order of their text, in which `line` lies, counted through all of them. Pre: there
/// is a file.
[[nodiscard]] const TextFile& file_of(const std::vector<TextFile>& files, unsigned line);
/// "kernel.ptx:12" of such a line.
[[nodiscard]] std::string place_text(const std::vector<TextFile>& files, unsigned line);

/// Collects the faults of one text, one for each place, with line, column and the line's text. After
/// `most` of them further ones are dropped: they are mostly echoes of the first.
class FaultList {
 public:
  static constexpr std::size_t kMost = 20;
  FaultList(std::string_view text, std::string file, std::size_t most = kMost);
  /// What of the text is from `offset` on, the start of a line behind all that begin so far, is that of
  /// another file: places there are told as its own.
  void begin_file(std::uint32_t offset, std::string file);

  /// A list of the same text, without faults.
  [[nodiscard]] FaultList another() const;

  void add(Place place, std::string message, std::string hint = {});
  /// The same of what is no mistake, and not taken by this version.
  void add_unsupported(Place place, std::string message);
  /// Takes over the faults of another list of this text, as if they had been added here.
  void add(const FaultList& other);
  [[nodiscard]] bool empty() const { return faults_.empty(); }
  /// Whether one of them is a mistake.
  [[nodiscard]] bool malformed() const { return faults_.size() != unsupported_.size(); }
  [[nodiscard]] bool full() const { return faults_.size() >= most_; }
  /// In the order of the text.
  [[nodiscard]] Diagnostics take();
  /// The line, from 1, that holds the byte at `offset`; counted through all files of the text.
  [[nodiscard]] unsigned line_of(std::uint32_t offset) const;
  /// In the order of the text; there is one at least.
  [[nodiscard]] const std::vector<TextFile>& files() const { return *files_; }
  /// "kernel.ptx:12" of the byte at `offset`.
  [[nodiscard]] std::string place_text(std::uint32_t offset) const {
    return text::place_text(*files_, line_of(offset));
  }

 private:
  std::string_view text_;
  std::shared_ptr<const std::vector<TextFile>> files_;
  std::size_t most_;
  std::shared_ptr<const std::vector<std::uint32_t>> line_starts_;
  Diagnostics faults_;
  std::vector<std::uint32_t> offsets_;   ///< of each of them
  std::set<std::uint32_t> seen_;         ///< places that have a fault
  std::set<std::uint32_t> unsupported_;  ///< those where it is no mistake
};

/// "did you mean 'x'", for the candidate nearest to `word`; empty where none is near.
[[nodiscard]] std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

/// `text` in quotes, cut to a readable length, bytes that do not print replaced.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace warpline::text
