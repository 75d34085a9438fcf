#include "rtl_models/sm/address_space.h"

#include <gtest/gtest.h>

namespace warpline {
namespace {

TEST(AddressSpace, HintsOutliveMappingsThatComeLater) {
  AddressSpace space;
  const auto at = [](std::uint64_t n) {
    Mapping m;
    m.base = 0x1000 * n;
    m.bytes = 256;
    m.physical = physical(Aperture::vidmem, 256 * n);
    return m;
  };
  space.map(at(5000));
  const Mapping* hint = nullptr;
  ASSERT_NE(space.find(VirtualAddress{0x1000 * 5000}, 4, hint), nullptr);
  // As a program allocates memory while a grid of it pauses.
  for (std::uint64_t n = 1; n < 1000; ++n) {
    space.map(at(n));
    const Mapping* const found = space.find(VirtualAddress{0x1000 * 5000 + 16}, 4, hint);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->translate(VirtualAddress{0x1000 * 5000 + 16}).value,
              physical(Aperture::vidmem, 256 * 5000 + 16).value);
    EXPECT_EQ(space.find(VirtualAddress{0x1000 * n + 256}, 4, hint), nullptr);
  }
}

}  // namespace
}  // namespace warpline
