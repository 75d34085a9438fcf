#include "rtl_models/base/state_archive.h"

#include <gtest/gtest.h>

#include "rtl_models/base/random.h"
#include "rtl_models/base/types.h"

namespace warpline {
namespace state_archive_test {

enum class Colour : std::uint8_t { red, green };

struct Counters {
  std::uint64_t reads = 0, writes = 0;
  friend bool operator==(const Counters& a, const Counters& b) {
    return a.reads == b.reads && a.writes == b.writes;
  }
};

struct Part {
  int number = 0;
  std::string name;
  template <class Archive>
  void archive(Archive& a) {
    a(number, name);
  }
  friend bool operator==(const Part& a, const Part& b) { return a.number == b.number && a.name == b.name; }
};

/// One of everything that an archive takes.
struct All {
  bool flag = false;
  std::uint16_t small = 0;
  double real = 0;
  Colour colour = Colour::red;
  PhysicalAddress address;
  Counters counters;
  std::string text;
  std::vector<std::uint32_t> numbers;
  std::vector<Part> parts;
  std::deque<std::uint16_t> queue;
  std::array<std::uint8_t, 3> bytes{};
  std::optional<Part> maybe, never;
  std::map<std::pair<std::string, std::uint64_t>, Part> map;
  Random random{1};
  std::vector<std::uint64_t> tags = std::vector<std::uint64_t>(4);
  unsigned hand = 0;

  template <class Archive>
  void archive(Archive& a) {
    a.section("all");
    a(flag, small, real, colour, address, counters, text, numbers, parts, queue, bytes, maybe, never, map,
      random);
    a.fixed(tags).index(hand, tags.size());
  }
};

All example() {
  All all;
  all.flag = true;
  all.small = 7;
  all.real = 0.5;
  all.colour = Colour::green;
  all.address = PhysicalAddress{1ULL << 60U};
  all.counters = {3, 4};
  all.text = std::string("a\0b", 3);
  all.numbers = {1, 2, 3};
  all.parts = {{1, "one"}, {2, ""}};
  all.queue = {9, 8};
  all.bytes = {1, 2, 3};
  all.maybe = Part{5, "five"};
  all.map[{"x", 2}] = {6, "six"};
  all.random = Random(99);
  all.tags = {4, 3, 2, 1};
  all.hand = 3;
  return all;
}

std::string saved(All all) {
  std::string out;
  StateArchive a(out);
  a(all);
  return out;
}

/// Why it is refused; empty: it is not.
std::string restored(std::string_view bytes, All& all) {
  try {
    StateArchive a{bytes};
    a(all);
    return a.ended() ? "" : "more";
  } catch (const StateMisfit& misfit) {
    return misfit.what();
  }
}

TEST(StateArchive, RestoresAllThatItSaved) {
  All all;
  all.never = Part{1, "gone"};
  all.map[{"old", 1}] = {1, "old"};
  ASSERT_EQ(restored(saved(example()), all), "");
  const All wanted = example();
  EXPECT_TRUE(all.flag);
  EXPECT_EQ(all.small, 7);
  EXPECT_EQ(all.real, 0.5);
  EXPECT_EQ(all.colour, Colour::green);
  EXPECT_EQ(all.address, wanted.address);
  EXPECT_EQ(all.counters, wanted.counters);
  EXPECT_EQ(all.text, wanted.text);
  EXPECT_EQ(all.numbers, wanted.numbers);
  EXPECT_EQ(all.parts, wanted.parts);
  EXPECT_EQ(all.queue, wanted.queue);
  EXPECT_EQ(all.bytes, wanted.bytes);
  EXPECT_EQ(all.maybe, wanted.maybe);
  EXPECT_FALSE(all.never);
  EXPECT_EQ(all.map, wanted.map);
  EXPECT_EQ(all.random.next(), Random(99).next());
  EXPECT_EQ(all.tags, wanted.tags);
  EXPECT_EQ(all.hand, 3U);
}

TEST(StateArchive, WhatIsSavedAgainIsTheSame) {
  All all;
  ASSERT_EQ(restored(saved(example()), all), "");
  EXPECT_EQ(saved(all), saved(example()));
}

TEST(StateArchive, RefusesWhatIsCutOffWhereverThatIs) {
  const std::string bytes = saved(example());
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    All all;
    EXPECT_NE(restored(std::string_view(bytes).substr(0, n), all), "") << n;
  }
  All all;
  EXPECT_EQ(restored(bytes + "x", all), "more");
}

TEST(StateArchive, RefusesAnotherShapeAndSaysWhose) {
  All other = example();
  other.tags.resize(5);
  All all;
  EXPECT_EQ(restored(saved(other), all), "the state of all has 5 elements, and here there are 4");
}

TEST(StateArchive, RefusesNumbersThatNameNothing) {
  All other = example();
  other.tags.resize(100);
  other.hand = 80;
  std::string bytes = saved(other);
  All all;
  all.tags.resize(100);
  ASSERT_EQ(restored(bytes, all), "");
  bytes[bytes.size() - sizeof(unsigned)] = 100;
  EXPECT_EQ(restored(bytes, all), "the state of all names what is not there");
}

TEST(StateArchive, RefusesAnotherSection) {
  std::string bytes;
  StateArchive a(bytes);
  a.section("somebody else");
  All all;
  EXPECT_EQ(restored(bytes, all), "the state of all is where that of \"somebody else\" was saved");
}

TEST(StateArchive, AllocatesNothingForALengthThatCannotBe) {
  std::string bytes(8, '\xFF');
  StateArchive a{std::string_view(bytes)};
  std::vector<std::uint8_t> huge;
  EXPECT_THROW(a(huge), StateMisfit);
  EXPECT_EQ(huge.capacity(), 0U);
}

}  // namespace state_archive_test
}  // namespace warpline
