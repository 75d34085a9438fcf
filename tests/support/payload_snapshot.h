#pragma once

#include <cstdint>
#include <string>
#include <tlm>
#include <vector>

namespace warpline::test {

/// What a payload asked for when it was looked at, bytes included, to see later whether somebody has changed
/// it. Response status, DMI hint and extensions are not part of it.
class PayloadSnapshot {
 public:
  /// What is checked of a payload.
  enum class Depth : std::uint8_t {
    attributes,  ///< the payload itself, not what it points to: that may be gone
    contents,    ///< its data (once remembered) and its byte enables too
  };

  /// Remembers attributes and byte enables, and of a write the data.
  void take(const tlm::tlm_generic_payload& payload);
  /// Remembers the data: of a read, when it has been answered.
  void take_data(const tlm::tlm_generic_payload& payload);
  /// Remembers another address.
  void take_address(const tlm::tlm_generic_payload& payload) { address_ = payload.get_address(); }
  /// Names what differs, separated by commas; empty where nothing does.
  [[nodiscard]] std::string difference(const tlm::tlm_generic_payload& payload, Depth depth) const;

  [[nodiscard]] bool is_read() const { return command_ == tlm::TLM_READ_COMMAND; }
  /// "read 0x1000"
  [[nodiscard]] std::string describe() const;

 private:
  sc_dt::uint64 address_ = 0;
  tlm::tlm_command command_ = tlm::TLM_IGNORE_COMMAND;
  const unsigned char* data_ptr_ = nullptr;
  unsigned data_length_ = 0;
  const unsigned char* enable_ptr_ = nullptr;
  unsigned enable_length_ = 0;
  unsigned streaming_width_ = 0;
  bool has_data_ = false;
  std::vector<unsigned char> data_, enables_;
};

}  // namespace warpline::test
