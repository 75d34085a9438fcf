#include "rtl_models/isa/data_type.h"

#include <gtest/gtest.h>

#include <string>

namespace warpline {
namespace data_type_test {

TEST(DataType, NamesGoBothWaysAndGiveTheSize) {
  for (unsigned i = static_cast<unsigned>(DataType::b8); i <= static_cast<unsigned>(DataType::f64); ++i) {
    const auto type = static_cast<DataType>(i);
    const std::string name(name_of(type));
    EXPECT_EQ(data_type_from(name), type);
    // The number in a name is its bits; packed types have two of them.
    const std::size_t digits = name.find_first_of("0123456789");
    const bool packed = name.size() > 2 && name.substr(name.size() - 2) == "x2";
    EXPECT_EQ(size_of(type), static_cast<unsigned>(std::stoul(name.substr(digits))) / 8 * (packed ? 2 : 1))
        << name;
    EXPECT_EQ(is_signed(type), name[0] == 's') << name;
    EXPECT_EQ(is_float(type), name[0] == 'f' || name.substr(0, 2) == "bf") << name;
  }
}

TEST(DataType, WhatIsNoTypeIsNone) {
  EXPECT_EQ(data_type_from("u7"), DataType::none);
  EXPECT_EQ(data_type_from(""), DataType::none);
  EXPECT_EQ(data_type_from("none"), DataType::none);
  EXPECT_EQ(data_type_from(".u32"), DataType::none);
  EXPECT_EQ(data_type_from("pred"), DataType::pred);
  EXPECT_EQ(size_of(DataType::pred), 0U);
}

}  // namespace data_type_test
}  // namespace warpline
