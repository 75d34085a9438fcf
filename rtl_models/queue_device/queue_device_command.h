#pragma once

#include <cstdint>
#include <vector>

#include "rtl_models/pcie/packets/byte_stream.h"
#include "rtl_models/queue_device/registers/peer.h"

namespace warpline {

/// An entry of a submission ring (COMMAND in the manual).
struct QueueDeviceCommand {
  std::uint8_t opcode = 0;
  std::uint8_t flags = 0;
  std::uint16_t id = 0;
  std::uint16_t source_entries = 0;
  std::uint16_t destination_entries = 0;
  std::uint32_t length = 0;
  std::uint32_t reserved = 0;
  std::uint64_t source = 0;
  std::uint64_t destination = 0;
  std::uint64_t operand = 0;
  bool reserved_tail = false;  ///< a byte behind the operand is not 0

  [[nodiscard]] bool lists_source() const { return (flags & 1U) != 0; }
  [[nodiscard]] bool lists_destination() const { return (flags & 2U) != 0; }
};

/// Commands of more bytes are refused.
inline constexpr std::uint32_t kLongestCommand = std::uint32_t{1} << 24U;

/// From its 64 bytes in memory.
[[nodiscard]] QueueDeviceCommand decode_command(const std::uint8_t* bytes);
/// Whether it can be executed with a buffer of that many bytes, as far as it itself tells: a status code.
[[nodiscard]] unsigned validate(const QueueDeviceCommand& command, std::uint64_t buffer_bytes);
/// The segments of a scatter list of `entries` entries at `bytes`, if none is empty, no reserved field is set
/// and they add up to `length`; nothing otherwise.
[[nodiscard]] std::vector<ByteRun> decode_list(const std::uint8_t* bytes, unsigned entries,
                                               std::uint32_t length);

/// An entry of a completion ring.
struct CompletionEntry {
  std::uint64_t result = 0;
  std::uint16_t id = 0;
  std::uint16_t status = 0;
  std::uint16_t sq_head = 0;
  std::uint16_t phase = 0;
};
/// Into its 16 bytes of memory.
void encode(const CompletionEntry& entry, std::uint8_t* bytes);

}  // namespace warpline
