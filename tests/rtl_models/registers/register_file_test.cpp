#include "rtl_models/registers/register_file.h"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "tests/rtl_models/registers/device_map.h"

namespace warpline::test {
namespace register_file_test {

constexpr std::uint64_t kControlAt = 0x04, kFifoAt = 0x10, kScratchAt = 0x18, kCountAt = 0x20, kBaseAt = 0x40,
                        kDoorbellAt = 0x48;

struct RegisterFileTest : ::testing::Test {
  /// What software reads there; the access must be one.
  std::uint64_t read(std::uint64_t offset, unsigned bytes = 4) {
    const RegisterFile::Read r = file.read(offset, bytes);
    EXPECT_EQ(r.outcome, AccessOutcome::done) << offset;
    return r.value;
  }
  void write(std::uint64_t offset, std::uint64_t value, unsigned bytes = 4) {
    EXPECT_EQ(file.write(offset, bytes, value), AccessOutcome::done) << offset;
  }
  RegisterFile file{kDevice};
};

TEST_F(RegisterFileTest, StartsWithTheResetValues) {
  EXPECT_EQ(read(0x00), 0xCAFEU);
  EXPECT_EQ(read(kControlAt), 0x504U);
  EXPECT_EQ(read(kBaseAt, 8), 0x123456789ABCDEF0U);
  EXPECT_EQ(read(kScratchAt + 4), 7U);
}

TEST_F(RegisterFileTest, EachFieldTakesWritesInItsOwnWay) {
  file.raise(kControl, 0x00AB0000);
  write(kControlAt, 0xFF0FF0FB);  // all fields; the bits between them, too
  // ENABLE 1, READY as it was, MODE 0, FAULTS AB less 0F; bits of no field stay 0.
  EXPECT_EQ(file.get(kControl), 0x00A00007U);
  EXPECT_EQ(read(kControlAt), 0x00A00005U) << "START is held for the hardware and reads 0";
}

TEST_F(RegisterFileTest, AWriteOfZeroClearsNoFault) {
  file.set(kControl, 0xFFFFFFFF);
  write(kControlAt, 0);
  EXPECT_EQ(file.get(kControl), 0xFFFF0004U);
}

TEST_F(RegisterFileTest, AReadClearsWhatReadsClearAndNothingElse) {
  file.set(kControl, 0xFFFFFFFF);
  EXPECT_EQ(read(kControlAt), 0xFFFF0F05U);
  EXPECT_EQ(read(kControlAt), 0x00FF0F05U);
}

TEST_F(RegisterFileTest, APeekClearsNothing) {
  file.set(kControl, 0xFFFFFFFF);
  EXPECT_EQ(file.peek(kControlAt, 4).value, 0xFFFF0F05U);
  EXPECT_EQ(file.peek(kControlAt, 4).value, 0xFFFF0F05U);
  EXPECT_EQ(read(kControlAt), 0xFFFF0F05U);
}

TEST_F(RegisterFileTest, HalvesOfEightBytes) {
  EXPECT_EQ(read(kBaseAt), 0x9ABCDEF0U);
  EXPECT_EQ(read(kBaseAt + 4), 0x12345678U);
  write(kBaseAt + 4, 0xFFFFFFFF00000001);
  EXPECT_EQ(read(kBaseAt, 8), 0x000000019ABCDEF0U) << "a write of 4 bytes has no more";
  write(kBaseAt, 0x22);
  EXPECT_EQ(read(kBaseAt, 8), 0x0000000100000022U);
}

TEST_F(RegisterFileTest, AReadOfOneHalfDoesNotClearTheOther) {
  file.set(kCount, 0x0000007700000055);
  EXPECT_EQ(read(kCountAt + 4), 0x77U);
  EXPECT_EQ(file.get(kCount), 0x0000007700000055U);
  EXPECT_EQ(read(kCountAt), 0x55U);
  EXPECT_EQ(file.get(kCount), 0x0000007700000000U);
}

TEST_F(RegisterFileTest, ElementsOfInterleavedArraysAreApart) {
  for (unsigned i = 0; i < 3; ++i) {
    write(kBaseAt + 0x10 * i, 0x100 + i, 8);
    write(kDoorbellAt + 0x10 * i, 0x200 + i);
  }
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_EQ(file.get(kBase, i), 0x100U + i);
    EXPECT_EQ(file.get(kDoorbell, i), 0x200U + i);
  }
}

TEST_F(RegisterFileTest, WhatNoRegisterTakesChangesNothingAndReadsZero) {
  struct Case {
    std::uint64_t offset;
    unsigned bytes;
    AccessOutcome read, write;
  };
  using O = AccessOutcome;
  const std::vector<Case> cases = {
      {0x08, 4, O::no_register, O::no_register},  // a hole
      {0x08, 3, O::no_register, O::no_register},  // whatever its size
      {0x70, 4, O::no_register, O::no_register},  // behind the last element
      {0xFC, 4, O::no_register, O::no_register},
      {0x100, 4, O::no_register, O::no_register},
      {~std::uint64_t{0}, 4, O::no_register, O::no_register},
      {kControlAt, 8, O::wrong_size, O::wrong_size},
      {kControlAt, 1, O::wrong_size, O::wrong_size},
      {kControlAt, 0, O::wrong_size, O::wrong_size},
      {kControlAt, 16, O::wrong_size, O::wrong_size},
      {kControlAt + 3, 1, O::wrong_size, O::wrong_size},
      {kBaseAt, 2, O::wrong_size, O::wrong_size},
      {kBaseAt, 16, O::wrong_size, O::wrong_size},
      {kControlAt + 2, 4, O::misaligned, O::misaligned},
      {kBaseAt + 4, 8, O::misaligned, O::misaligned},
      {kBaseAt + 2, 4, O::misaligned, O::misaligned},
      {0x00, 4, O::done, O::read_only},
      {kFifoAt, 4, O::done, O::read_only},
      {kCountAt, 8, O::done, O::read_only},
      {kDoorbellAt, 4, O::write_only, O::done},
  };
  for (const Case& c : cases) {
    const RegisterFile::Read peek = file.peek(c.offset, c.bytes), read = file.read(c.offset, c.bytes);
    EXPECT_EQ(peek.outcome, c.read) << c.offset << " " << c.bytes;
    EXPECT_EQ(read.outcome, c.read) << c.offset << " " << c.bytes;
    EXPECT_TRUE(c.read == O::done || (read.value | peek.value) == 0) << c.offset << " " << c.bytes;
    EXPECT_EQ(file.write(c.offset, c.bytes, 0), c.write) << c.offset << " " << c.bytes;
  }
  EXPECT_EQ(file.get(kControl), 0x504U);
  EXPECT_EQ(file.get(kBase), 0x123456789ABCDEF0U);
}

TEST_F(RegisterFileTest, AResetKeepsWhatIsDescribedAsKept) {
  write(kScratchAt, 1);
  write(kBaseAt + 0x20, 1, 8);
  file.reset();
  EXPECT_EQ(read(kScratchAt), 1U);
  EXPECT_EQ(read(kBaseAt + 0x20, 8), 0x123456789ABCDEF0U);
  file.power_on();
  EXPECT_EQ(read(kScratchAt), 7U);
}

TEST_F(RegisterFileTest, AWriteTellsWhatItWasAndWhatItIs) {
  std::vector<RegisterWrite> seen;
  file.on_write(kBase, [&](const RegisterWrite& w) { seen.push_back(w); });
  write(kBaseAt + 0x14, 0xFFFFFFFF);
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].element, 1U);
  EXPECT_EQ(seen[0].bits, 0xFFFFFFFF00000000U);
  EXPECT_EQ(seen[0].before, 0x123456789ABCDEF0U);
  EXPECT_EQ(seen[0].value, 0xFFFFFFFF9ABCDEF0U);
  EXPECT_EQ(file.write(kBaseAt + 0x12, 4, 0), AccessOutcome::misaligned);
  EXPECT_EQ(seen.size(), 1U) << "a refused write is none";
}

TEST_F(RegisterFileTest, ABehaviourMayResetTheBlock) {
  file.on_write(kControl, [&](const RegisterWrite&) { file.reset(); });
  write(kBaseAt, 1, 8);
  write(kControlAt, 1);
  EXPECT_EQ(file.get(kControl), 0x504U);
  EXPECT_EQ(file.get(kBase), 0x123456789ABCDEF0U);
}

TEST_F(RegisterFileTest, ReadsTakeFromAQueueAndPeeksLook) {
  std::deque<std::uint64_t> queue = {11, 12};
  file.set(kFifo, queue.front());
  file.on_read(kFifo, [&](unsigned, std::uint64_t) {
    if (!queue.empty()) queue.pop_front();
    file.set(kFifo, queue.empty() ? 0 : queue.front());
  });
  EXPECT_EQ(file.peek(kFifoAt, 4).value, 11U);
  EXPECT_EQ(read(kFifoAt), 11U);
  EXPECT_EQ(read(kFifoAt), 12U);
  EXPECT_EQ(read(kFifoAt), 0U);
}

TEST_F(RegisterFileTest, AReadBehaviourKnowsElementAndHalf) {
  std::vector<std::pair<unsigned, std::uint64_t>> seen;
  file.on_read(kBase, [&](unsigned element, std::uint64_t bits) { seen.emplace_back(element, bits); });
  EXPECT_EQ(read(kBaseAt + 0x24), 0x12345678U);
  EXPECT_EQ(file.peek(kBaseAt, 8).outcome, AccessOutcome::done);
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0], std::make_pair(2U, std::uint64_t{0xFFFFFFFF00000000}));
}

TEST_F(RegisterFileTest, ARegisterThatChangesByItselfIsAskedEachTime) {
  std::uint64_t now = 5;
  file.on_look(kBase, [&](unsigned element) { return now + element; });
  EXPECT_EQ(read(kBaseAt + 0x10, 8), 6U);
  now = 0x100000000;
  EXPECT_EQ(file.peek(kBaseAt, 8).value, 0x100000000U);
  EXPECT_EQ(file.look(kBase, 0), 0x100000000U);
  EXPECT_EQ(file.get(kBase, 0), 0x123456789ABCDEF0U) << "neither leaves anything behind";
  write(kBaseAt, 9);
  EXPECT_EQ(file.get(kBase, 0), 0x100000009U) << "half a write meets the value of now";
}

TEST_F(RegisterFileTest, TheHardwareCannotHoldBitsOfNoField) {
  file.set(kControl, ~std::uint64_t{0});
  EXPECT_EQ(file.get(kControl), 0xFFFF0F07U);
  file.raise(kCount, ~std::uint64_t{0});
  EXPECT_EQ(file.get(kCount), 0xFFFFFFFFFFU);
}

using RegisterFileDeathTest = RegisterFileTest;

TEST_F(RegisterFileDeathTest, OurOwnMistakesStop) {
  EXPECT_DEATH(static_cast<void>(file.get(kBase, 3)), "there is that register");
  EXPECT_DEATH(file.set(7, 0), "there is that register");
  file.on_write(kBase, [](const RegisterWrite&) {});
  EXPECT_DEATH(file.on_write(kBase, [](const RegisterWrite&) {}), "one behaviour");
  static constexpr RegisterDescription kTwice[] = {{"A", 0, 8, 1, 8, false, "", kBaseFields, 1},
                                                   {"B", 4, 4, 1, 4, false, "", kScratchFields, 1}};
  static constexpr RegisterMap kOverlap{"overlap", 8, kTwice, 2};
  EXPECT_DEATH(RegisterFile{kOverlap}, "do not overlap");
}

}  // namespace register_file_test
}  // namespace warpline::test
