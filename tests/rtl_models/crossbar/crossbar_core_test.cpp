#include "rtl_models/crossbar/crossbar_core.h"

#include <gtest/gtest.h>

#include "rtl_models/base/random.h"

namespace warpline {
namespace crossbar_core_test {

unsigned naive_slice(const CrossbarParameters& parameters, unsigned slices, std::uint64_t number) {
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < parameters.hash_masks.size(); ++i) {
    unsigned ones = 0;
    for (unsigned bit = 0; bit < 64; ++bit)
      ones += static_cast<unsigned>((number & parameters.hash_masks[i]) >> bit & 1U);
    hash |= std::uint64_t{ones % 2} << i;
  }
  return static_cast<unsigned>(((number >> parameters.slice_shift) ^ hash) % slices);
}

TEST(CrossbarCore, SliceIsTheHashOfTheLineNumber) {
  Random random(1);
  for (unsigned slices : {1U, 2U, 3U, 4U, 7U, 40U, 64U, 80U, 1000U}) {
    for (unsigned masks = 0; masks <= 16; masks += 4) {
      CrossbarParameters parameters;
      parameters.slice_shift = masks == 8 ? slices % 11 : 0;
      for (unsigned i = 0; i < masks; ++i) parameters.hash_masks.push_back(random.next() >> (i * 3));
      const CrossbarCore core(parameters, slices);
      for (unsigned n = 0; n < 200; ++n) {
        const PhysicalAddress line =
            line_of(physical(static_cast<Aperture>(n % 3), random.next() >> (4 + n % 40)));
        if (aperture_of(line) == Aperture::peer) {
          ASSERT_EQ(core.slice_of(line), 0U) << "one way to a device keeps order";
          continue;
        }
        ASSERT_EQ(core.slice_of(line), naive_slice(parameters, slices, line_number(line)))
            << slices << " " << masks;
      }
    }
  }
}

TEST(CrossbarCore, MasksAboveTheSliceNumberMakeAPermutation) {
  const CrossbarCore core({{0x1110, 0x2220, 0x4440}}, 8);
  for (std::uint64_t row = 0; row < 64; ++row) {
    unsigned seen = 0;
    for (std::uint64_t i = 0; i < 8; ++i)
      seen |= 1U << core.slice_of(physical(Aperture::vidmem, (row * 8 + i) * kLineBytes));
    EXPECT_EQ(seen, 0xFFU) << row;
  }
}

TEST(CrossbarCore, MaintenanceEndsWithItsLastChild) {
  CrossbarCore core({}, 3);
  RequestPool pool;
  Request original;
  original.maintenance = maintenance::kDrain;
  original.id = 7;
  original.sm = 5;
  const std::uint16_t number = core.begin_maintenance(&original);
  Request& child = *core.make_child(number, pool, nullptr);
  EXPECT_EQ(child.command, Command::maintain);
  EXPECT_EQ(child.maintenance, maintenance::kDrain);
  EXPECT_EQ(child.id, 7U);
  EXPECT_EQ(child.sm, 5U);
  EXPECT_EQ(core.end_child(child), nullptr);
  EXPECT_EQ(core.end_child(child), nullptr);
  EXPECT_EQ(core.maintenance_under_way(), 1U);
  child.status = Status::address_error;
  EXPECT_EQ(core.end_child(child), &original);
  EXPECT_EQ(original.status, Status::address_error);
  EXPECT_EQ(core.maintenance_under_way(), 0U);
}

TEST(CrossbarParameters, AtMostSixteenMasks) {
  CrossbarParameters parameters;
  parameters.hash_masks.assign(16, 1);
  EXPECT_TRUE(parameters.problems("crossbar").empty());
  parameters.hash_masks.push_back(1);
  const Problems problems = parameters.problems("crossbar");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].path, "crossbar.hash_masks");
}

}  // namespace crossbar_core_test
}  // namespace warpline
