#include "warpline/isa/data_type.h"

#include <array>

namespace warpline {
namespace {

struct Row {
  std::string_view name;
  unsigned size;
};

constexpr std::array<Row, 21> kRows = {{
    {"none", 0}, {"pred", 0},  {"b8", 1},    {"b16", 2},  {"b32", 4},    {"b64", 8}, {"b128", 16},
    {"u8", 1},   {"u16", 2},   {"u32", 4},   {"u64", 8},  {"s8", 1},     {"s16", 2}, {"s32", 4},
    {"s64", 8},  {"f16", 2},   {"f16x2", 4}, {"bf16", 2}, {"bf16x2", 4}, {"f32", 4}, {"f64", 8},
}};

}  // namespace

unsigned size_of(DataType type) { return kRows[static_cast<std::size_t>(type)].size; }

bool is_signed(DataType type) { return type >= DataType::s8 && type <= DataType::s64; }

bool is_float(DataType type) { return type >= DataType::f16; }

std::string_view name_of(DataType type) { return kRows[static_cast<std::size_t>(type)].name; }

DataType data_type_from(std::string_view text) {
  for (std::size_t i = 1; i < kRows.size(); ++i)
    if (kRows[i].name == text) return static_cast<DataType>(i);
  return DataType::none;
}

}  // namespace warpline
