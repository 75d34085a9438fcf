#include "rtl_models/base/types.h"

#include <gtest/gtest.h>

#include <type_traits>

#include "rtl_models/base/bits.h"
#include "rtl_models/base/contract.h"
#include "rtl_models/base/counter.h"
#include "rtl_models/base/random.h"

namespace warpline {
namespace types_test {

TEST(Types, AddressesOfDifferentKindsDoNotMix) {
  static_assert(!std::is_convertible_v<std::uint64_t, VirtualAddress>);
  static_assert(!std::is_convertible_v<VirtualAddress, PhysicalAddress>);
  static_assert(!std::is_constructible_v<PhysicalAddress, VirtualAddress>);
}

TEST(Types, PowersOfTwoAreThoseWithOneBit) {
  for (unsigned bit = 0; bit < 64; ++bit) {
    const std::uint64_t power = std::uint64_t{1} << bit;
    EXPECT_TRUE(is_power_of_two(power));
    EXPECT_FALSE(is_power_of_two(power | (bit == 0 ? 2U : 1U)));
  }
  EXPECT_FALSE(is_power_of_two(0));
}

TEST(Types, ApertureAndOffsetMakeAnAddress) {
  for (const Aperture aperture : {Aperture::vidmem, Aperture::peer, Aperture::sysmem}) {
    const PhysicalAddress a = physical(aperture, 0x123456789ABCULL);
    EXPECT_EQ(aperture_of(a), aperture);
    EXPECT_EQ(offset_in_aperture(a), 0x123456789ABCULL);
    EXPECT_EQ(aperture_of(line_of(a)), aperture);
  }
}

TEST(Types, LinesOfAddresses) {
  const VirtualAddress a{1000};
  EXPECT_EQ(line_of(a).value, 896U);
  EXPECT_EQ(offset_in_line(a), 104U);
  EXPECT_EQ(line_number(a), 7U);
}

TEST(Types, SectorCount) {
  for (unsigned m = 0; m < 256; ++m) {
    unsigned ones = 0;
    for (unsigned s = 0; s < kSectorsPerLine; ++s) ones += m >> s & 1U;
    EXPECT_EQ(sector_count(static_cast<SectorMask>(m)), ones);
  }
}

TEST(Types, SectorsOfAnExtent) {
  for (unsigned offset = 0; offset < kLineBytes; ++offset) {
    for (unsigned bytes = 1; offset + bytes <= kLineBytes; ++bytes) {
      unsigned touched = 0;
      for (unsigned i = offset; i < offset + bytes; ++i) touched |= 1U << (i / kSectorBytes);
      ASSERT_EQ(sectors_of(offset, bytes), touched) << bytes << " bytes from " << offset;
    }
  }
}

TEST(Types, ExtentsCount) {
  EXPECT_EQ((Dim3{65535, 65535, 65535}.count()), 65535ULL * 65535 * 65535);
  EXPECT_EQ((Dim3{1, 2, 3}.number_in({4, 5, 6})), 1U + 4 * (2 + 5 * 3));
}

TEST(Random, IsSplitMix64) {
  EXPECT_EQ(splitmix64(0), 0xE220A8397B1DCDAFULL);
  EXPECT_EQ(splitmix64(1234567), 6457827717110365317ULL);
  Random random(1234567);
  EXPECT_EQ(random.next(), splitmix64(1234567));
  EXPECT_EQ(random.next(), splitmix64(1234568));
}

TEST(ContractDeath, AViolationStopsAtOnceAndSaysWhere) {
  EXPECT_DEATH(WARPLINE_EXPECT(1 + 1 == 3, "arithmetic"),
               "types_test.cpp:[0-9]+: contract violated: arithmetic \\(1 \\+ 1 == 3\\)");
  WARPLINE_EXPECT(1 + 1 == 2, "arithmetic");
}

struct Apples {
  std::uint64_t eaten = 3;
  template <class F>
  void visit(F&& f) const {
    f("eaten", eaten, "apples", "before noon");
  }
};

TEST(Counters, AreVisitedUnderThePathOfTheirBlock) {
  class Visitor final : public CounterVisitor {
   public:
    void counter(std::string_view block, std::string_view name, std::uint64_t value, std::string_view unit,
                 std::string_view description) override {
      text += std::string(block) + "." + std::string(name) + " = " + std::to_string(value) + " " +
              std::string(unit) + " " + std::string(description);
    }
    std::string text;
  };
  Visitor visitor;
  visit_counters("sm[3]", Apples{}, visitor);
  EXPECT_EQ(visitor.text, "sm[3].eaten = 3 apples before noon");
}

}  // namespace types_test
}  // namespace warpline
