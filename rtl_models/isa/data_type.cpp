#include "rtl_models/isa/data_type.h"

#include "rtl_models/isa/qualifiers.h"

namespace warpline {

std::string_view name_of(DataType type) {
  return type == DataType::none ? "none" : word_of(type);
}

DataType data_type_from(std::string_view text) {
  return value_named<DataType>(text).value_or(DataType::none);
}

}  // namespace warpline
