#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rtl_models/registers/generator/reader.h"

namespace warpline::test {

/// A [block] of 0x40 bytes.
inline constexpr const char* kHead = R"([block]
name = "timer"
title = "Timer"
meaning = "Counts."
bytes = 0x40
)";

/// Where an `@` stands in a text, and the text without it.
struct Marked {
  std::string text;
  std::vector<Place> places;

  explicit Marked(const std::string& marked) {
    Place at{1, 1, 1};
    for (const char c : marked) {
      if (c == '@') {
        places.push_back(at);
        continue;
      }
      text += c;
      at = c == '\n' ? Place{at.line + 1, 1, 1} : Place{at.line, at.column + 1, 1};
    }
  }
};

/// The faults of a text with an `@` before each place where one is expected, in that order; `messages`: a
/// part of each, of its hint too.
inline void expect_faults(const std::string& marked, const std::vector<std::string>& messages) {
  const Marked m(marked);
  ASSERT_EQ(m.places.size(), messages.size()) << "the case itself";
  const Result<registers::Block> read = registers::read_block("timer.toml", m.text);
  ASSERT_FALSE(read.ok()) << m.text;
  std::string all;
  for (const Diagnostic& d : read.faults()) all += d.text() + "\n";
  ASSERT_EQ(read.faults().size(), messages.size()) << all << m.text;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Diagnostic& d = read.faults()[i];
    EXPECT_EQ(d.file, "timer.toml");
    EXPECT_EQ(d.line, m.places[i].line) << d.text();
    EXPECT_EQ(d.column, m.places[i].column) << d.text();
    EXPECT_NE(d.text().find(messages[i]), std::string::npos) << d.text() << "\nlacks: " << messages[i];
  }
}

/// The same, of tables after the [block].
inline void expect_faults_of(const std::string& marked, const std::vector<std::string>& messages) {
  expect_faults(kHead + marked, messages);
}

/// A register of that block.
inline constexpr const char* kPlain = R"([[register]]
name = "PLAIN"
offset = 0
access = "ro"
meaning = "A register."
)";
/// Another, which lacks its fields.
inline const std::string kFielded = R"([[register]]
name = "FIELDED"
offset = 4
meaning = "A register."
)";

/// A field that has what `keys` does not say.
inline std::string field(const std::string& keys) {
  return "[[register.field]]\nmeaning = \"A field.\"\naccess = \"rw\"\n" + keys + "\n";
}

}  // namespace warpline::test
