#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rtl_models/base/problem.h"

namespace warpline {

/// Where something stands in a text, 1-based; line 0 is the text as a whole.
struct Place {
  unsigned line = 0;
  unsigned column = 0;
  unsigned length = 1;  ///< characters to underline
};

struct Member;

/// A TOML value and where it stands.
struct Value {
  enum class Kind : std::uint8_t { boolean, integer, real, text, array, table, date };
  Kind kind = Kind::table;
  Place place;
  bool boolean = false;
  std::int64_t integer = 0;
  double real = 0;
  std::string text;
  std::vector<Value> items;     ///< of an array
  std::vector<Member> members;  ///< of a table, in the order of the file

  [[nodiscard]] const Member* find(std::string_view key) const;
  /// "a table", "an integer": for messages.
  [[nodiscard]] std::string_view kind_name() const;
};

/// A key of a table, where it stands, and its value.
struct Member {
  std::string key;
  Place place;
  Value value;
};

/// A TOML text: what it says, and how to point into it.
class Document {
 public:
  /// Parses `text`; `file` names it in diagnostics.
  [[nodiscard]] static Result<Document> parse(std::string file, std::string_view text);

  /// A text that is no TOML, only to point into it: its root is an empty table.
  [[nodiscard]] static Document unparsed(std::string file, std::string_view text);

  [[nodiscard]] const Value& root() const { return root_; }
  [[nodiscard]] const std::string& file() const { return file_; }
  /// All of it, byte by byte.
  [[nodiscard]] const std::string& text() const { return text_; }
  /// A line of the text, 1-based; empty beyond its end.
  [[nodiscard]] std::string line(unsigned number) const;
  /// Where character `offset` of the string value `text` at `place` stands: exact for strings without
  /// escapes, on one line or on many.
  [[nodiscard]] Place inside(Place place, std::string_view text, std::size_t offset,
                             std::size_t length) const;
  /// A fault at `place`, with that line of the text.
  [[nodiscard]] Diagnostic fault(Place place, std::string message, std::string hint = {}) const;

 private:
  std::string file_;
  std::string text_;
  std::vector<std::size_t> lines_;  ///< where each begins
  Value root_;
};

/// `did you mean "..."?`, or nothing if no candidate is near.
[[nodiscard]] std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

/// Reads one table key by key. Wrong types and values out of range are faults where they stand;
/// so are, at finish(), the keys nobody asked for.
class TableReader {
 public:
  enum Need : std::uint8_t { optional, required };

  /// `what` names the table in messages ("[[argument]]"). Keeps references.
  TableReader(const Document& document, const Value& table, Place place, std::string what,
              Diagnostics& faults)
      : document_(document),
        table_(table),
        place_(place),
        what_(std::move(what)),
        faults_(faults),
        before_(faults.size()) {}

  /// The member `key`, if it stands there; asking makes the key known.
  const Member* find(std::string_view key, Need need = optional);
  std::optional<std::string> text(std::string_view key, Need need = optional) {
    const Value* v = of_kind(Value::Kind::text, "a string", key, need);
    return v == nullptr ? std::nullopt : std::optional(v->text);
  }
  std::optional<bool> boolean(std::string_view key, Need need = optional) {
    const Value* v = of_kind(Value::Kind::boolean, "true or false", key, need);
    return v == nullptr ? std::nullopt : std::optional(v->boolean);
  }
  /// An integer of [low, high].
  std::optional<std::uint64_t> number(std::string_view key, std::uint64_t low, std::uint64_t high,
                                      Need need = optional);
  /// A finite float or integer, at least 0.
  std::optional<double> magnitude(std::string_view key, Need need = optional);
  /// Reports every key that was never asked for, with the nearest known one.
  void finish();

  void fault(Place place, std::string message, std::string hint = {}) {
    faults_.push_back(document_.fault(place, std::move(message), std::move(hint)));
  }
  /// Whether no fault has been found since this reader was made, in the table or in those within it.
  [[nodiscard]] bool sound() const { return faults_.size() == before_; }
  [[nodiscard]] Place place() const { return place_; }
  [[nodiscard]] const Value& table() const { return table_; }

 private:
  /// The value of `key`; null where there is none, and where it is not of the kind, which is a fault.
  const Value* of_kind(Value::Kind kind, std::string_view kind_name, std::string_view key, Need need);

  const Document& document_;
  const Value& table_;
  Place place_;
  std::string what_;
  Diagnostics& faults_;
  std::size_t before_;
  std::vector<std::string> known_;
};

}  // namespace warpline
