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

/// Collects the faults of one text, one for each place, with line, column and the line's text. After
/// `most` of them further ones are dropped: they are mostly echoes of the first.
class FaultList {
 public:
  static constexpr std::size_t kMost = 20;
  FaultList(std::string_view text, std::string file, std::size_t most = kMost);

  /// A list of the same text, without faults.
  [[nodiscard]] FaultList another() const;

  void add(Place place, std::string message, std::string hint = {});
  /// Takes over the faults of another list of this text, as if they had been added here.
  void add(const FaultList& other);
  [[nodiscard]] bool empty() const { return faults_.empty(); }
  [[nodiscard]] bool full() const { return faults_.size() >= most_; }
  /// In the order of the text.
  [[nodiscard]] Diagnostics take();
  /// The line, from 1, that holds the byte at `offset`.
  [[nodiscard]] unsigned line_of(std::uint32_t offset) const;
  [[nodiscard]] const std::string& file() const { return file_; }

 private:
  std::string_view text_;
  std::string file_;
  std::size_t most_;
  std::shared_ptr<const std::vector<std::uint32_t>> line_starts_;
  Diagnostics faults_;
  std::vector<std::uint32_t> offsets_;  ///< of each of them
  std::set<std::uint32_t> seen_;        ///< places that have a fault
};

/// "did you mean 'x'", for the candidate nearest to `word`; empty where none is near.
[[nodiscard]] std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

/// `text` in quotes, cut to a readable length, bytes that do not print replaced.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace warpline::text
