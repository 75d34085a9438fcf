#pragma once

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "tests/support/flat_memory.h"
#include "tests/support/mock_components.h"

namespace warpline::test {

/// A write of random values to some consecutive bytes of a line.
inline Item random_write_item(Random& random, Cycle at, PhysicalAddress line) {
  const auto offset = static_cast<unsigned>(random.below(kLineBytes));
  ByteMask bytes;
  bytes.set(offset, static_cast<unsigned>(1 + random.below(kLineBytes - offset)));
  Item item = write_item(at, line, bytes);
  for (std::uint8_t& b : item.request.data) b = static_cast<std::uint8_t>(random.next());
  return item;
}

/// One to eight additions to words of a line, some of them to the same word.
inline Item random_atomic_item(Random& random, Cycle at, PhysicalAddress line) {
  AtomicBlock block;
  block.operation = AtomicOperation::add;
  block.type = DataType::u32;
  block.count = static_cast<unsigned>(1 + random.below(8));
  ByteMask touched;
  for (unsigned k = 0; k < block.count; ++k) {
    block.lanes[k].offset = static_cast<std::uint8_t>(4 * random.below(32));
    block.lanes[k].operand = random.next() & 0xFFFFFFFFU;
    touched.set(block.lanes[k].offset, 4);
  }
  Item item = atomic_item(at, line, block);
  item.request.sectors = touched.sectors();
  return item;
}

/// Where there is one requester and no other writer every answer is exact, whatever was cached, merged or
/// evicted: what one flat memory answers that performs the items in order. `memory`: that memory afterwards,
/// by physical line.
inline void check_answers(const std::vector<Item>& items, const std::vector<Answer>& answers,
                          std::map<std::uint64_t, FlatMemory::Line>& memory) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Answer& answer = answers[i];
    ASSERT_NE(answer.answered, kNever) << "item " << i;
    Request r = items[i].request;
    if (r.command >= Command::maintain) continue;
    AtomicBlock block;
    if (items[i].atomics) block = *items[i].atomics;
    r.atomics = &block;
    FlatMemory::Line& line = memory[r.line.value];
    FlatMemory::perform(r, line);
    for (unsigned b = 0; b < kLineBytes && r.command == Command::read; ++b) {
      if (((r.sectors >> (b / kSectorBytes)) & 1U) != 0) {
        ASSERT_EQ(answer.data[b], line[b]) << "item " << i << " byte " << b;
      }
    }
    for (unsigned k = 0; k < block.count && r.command == Command::atomic; ++k)
      ASSERT_EQ(answer.atomics.lanes[k].old_value, block.lanes[k].old_value) << "item " << i << " lane " << k;
  }
}

}  // namespace warpline::test
