#include "rtl_models/registers/generator/description.h"

namespace warpline::registers {

const std::vector<std::string>& access_words() {
  static const std::vector<std::string> kWords = {"ro", "rw", "wo", "w1c", "rc", "fifo"};
  return kWords;
}

const char* word_of(FieldAccess access) {
  return access_words()[static_cast<unsigned>(access)].c_str();
}

std::uint64_t reset_value(const Register& of) {
  std::uint64_t value = 0;
  for (const Field& f : of.fields) value |= f.at.of(f.reset);
  return value;
}

}  // namespace warpline::registers
