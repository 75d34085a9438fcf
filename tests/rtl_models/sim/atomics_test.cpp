#include "rtl_models/sim/atomics.h"

#include <gtest/gtest.h>

#include "tests/support/naive_atomic.h"

namespace warpline::test {
namespace atomics_test {

using Line = std::array<std::uint8_t, kLineBytes>;

TEST(Atomics, LanesAndElementsInOrderAsANaiveLoop) {
  Random random(1);
  Line line{}, naive{};
  for (unsigned n = 0; n < 20000; ++n) {
    AtomicBlock b = random_atomic_block(random);
    const AtomicBlock before = b;
    if (random.below(8) == 0)
      for (std::uint8_t& byte : line) byte = static_cast<std::uint8_t>(random.next());
    naive = line;
    perform_atomics(b, line.data());
    for (unsigned i = 0; i < b.count; ++i)
      ASSERT_EQ(old_bytes(b, i), naive_lane(before, i, naive.data()))
          << "operation " << n << " lane " << i << " " << name_of(b.type) << " v" << unsigned{b.vector};
    ASSERT_EQ(line, naive) << "operation " << n << " " << name_of(b.type) << " v" << unsigned{b.vector};
  }
}

TEST(Atomics, OneElementAloneTouchesNoOther) {
  Random random(2);
  for (unsigned n = 0; n < 2000; ++n) {
    AtomicBlock b = random_atomic_block(random);
    Line line;
    for (std::uint8_t& byte : line) byte = static_cast<std::uint8_t>(random.next());
    const Line before = line;
    const auto i = static_cast<unsigned>(random.below(b.count)),
               e = static_cast<unsigned>(random.below(b.vector));
    perform_element(b, i, e, line.data());
    const unsigned first = b.lanes[i].offset + e * size_of(b.type);
    for (unsigned at = 0; at < kLineBytes; ++at) {
      if (at - first >= size_of(b.type)) {
        ASSERT_EQ(line[at], before[at]) << n;
      }
    }
  }
}

TEST(Atomics, TouchTheBytesOfEveryElement) {
  AtomicBlock b;
  b.operation = AtomicOperation::add;
  b.type = DataType::f16x2;
  b.vector = 4;
  b.count = 2;
  b.lanes[1].offset = 112;
  ByteMask want;
  want.set(0, 16);
  want.set(112, 16);
  EXPECT_EQ(atomic_bytes(b), want);
}

TEST(Atomics, BeatsCountEveryElement) {
  AtomicBlock b;
  b.type = DataType::f32;
  b.vector = 4;
  b.count = 4;
  Request r;
  r.command = Command::atomic;
  r.atomics = &b;
  EXPECT_EQ(RequestMessage{&r}.beats(32), 2U);
  EXPECT_EQ(ResponseMessage{&r}.beats(32), 2U);
  b.vector = 1;
  EXPECT_EQ(RequestMessage{&r}.beats(32), 1U);
}

}  // namespace atomics_test
}  // namespace warpline::test
