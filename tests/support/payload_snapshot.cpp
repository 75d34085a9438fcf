#include "tests/support/payload_snapshot.h"

#include <algorithm>
#include <sstream>

namespace warpline::test {

void PayloadSnapshot::take(const tlm::tlm_generic_payload& payload) {
  address_ = payload.get_address();
  command_ = payload.get_command();
  data_ptr_ = payload.get_data_ptr();
  data_length_ = payload.get_data_length();
  enable_ptr_ = payload.get_byte_enable_ptr();
  enable_length_ = payload.get_byte_enable_length();
  streaming_width_ = payload.get_streaming_width();
  enables_.clear();
  if (enable_ptr_ != nullptr) enables_.assign(enable_ptr_, enable_ptr_ + enable_length_);
  has_data_ = false;
  if (command_ == tlm::TLM_WRITE_COMMAND) take_data(payload);
}

void PayloadSnapshot::take_data(const tlm::tlm_generic_payload& payload) {
  const unsigned char* data = payload.get_data_ptr();
  has_data_ = data != nullptr;
  if (has_data_) data_.assign(data, data + payload.get_data_length());
}

std::string PayloadSnapshot::difference(const tlm::tlm_generic_payload& payload, Depth depth) const {
  std::string names;
  const auto compare = [&names](bool same, const char* name) {
    if (!same) names += (names.empty() ? "" : ", ") + std::string(name);
  };
  const bool same_data = payload.get_data_ptr() == data_ptr_ && payload.get_data_length() == data_length_;
  const bool same_enables =
      payload.get_byte_enable_ptr() == enable_ptr_ && payload.get_byte_enable_length() == enable_length_;
  compare(payload.get_address() == address_, "address");
  compare(payload.get_command() == command_, "command");
  compare(payload.get_data_ptr() == data_ptr_, "data pointer");
  compare(payload.get_data_length() == data_length_, "data length");
  compare(payload.get_byte_enable_ptr() == enable_ptr_, "byte enable pointer");
  compare(payload.get_byte_enable_length() == enable_length_, "byte enable length");
  compare(payload.get_streaming_width() == streaming_width_, "streaming width");
  if (depth == Depth::attributes) return names;
  if (same_data && has_data_) compare(std::equal(data_.begin(), data_.end(), data_ptr_), "data");
  if (same_enables) compare(std::equal(enables_.begin(), enables_.end(), enable_ptr_), "byte enables");
  return names;
}

std::string PayloadSnapshot::describe() const {
  std::ostringstream text;
  switch (command_) {
    case tlm::TLM_READ_COMMAND: text << "read"; break;
    case tlm::TLM_WRITE_COMMAND: text << "write"; break;
    case tlm::TLM_IGNORE_COMMAND: text << "ignored command"; break;
  }
  text << " 0x" << std::hex << address_;
  return text.str();
}

}  // namespace warpline::test
