#include "rtl_models/queue_device/queue_device_command.h"

#include <algorithm>
#include <cstring>

namespace warpline {
namespace {

using namespace regs::peer;

template <class T>
T get(const std::uint8_t* bytes, unsigned offset) {
  T value;
  std::memcpy(&value, bytes + offset, sizeof value);
  return value;
}

template <class T>
void put(std::uint8_t* bytes, unsigned offset, T value) {
  std::memcpy(bytes + offset, &value, sizeof value);
}

bool within(std::uint64_t offset, std::uint32_t bytes, std::uint64_t size) {
  return bytes <= size && offset <= size - bytes;
}

/// Whether a run of bytes ends at the bus's last address or before it.
bool fits_bus(std::uint64_t address, std::uint32_t bytes) {
  return bytes == 0 || bytes - 1 <= ~std::uint64_t{0} - address;
}

/// As the device says of itself.
const std::uint64_t kMostEntries = field<kCapabilityScatter>(reset_value(kMap.registers[kCapability]));

/// Of one side: a list where there may be one, of as many entries as it may have.
bool lists_rightly(bool listed, unsigned entries, bool may_be_listed) {
  return listed ? may_be_listed && entries != 0 : entries == 0;
}

}  // namespace

QueueDeviceCommand decode_command(const std::uint8_t* bytes) {
  QueueDeviceCommand c;
  c.opcode = get<std::uint8_t>(bytes, kCommandOpcode);
  c.flags = get<std::uint8_t>(bytes, kCommandFlags);
  c.id = get<std::uint16_t>(bytes, kCommandId);
  c.source_entries = get<std::uint16_t>(bytes, kCommandSourceEntries);
  c.destination_entries = get<std::uint16_t>(bytes, kCommandDestinationEntries);
  c.length = get<std::uint32_t>(bytes, kCommandLength);
  c.reserved = get<std::uint32_t>(bytes, kCommandReserved);
  c.source = get<std::uint64_t>(bytes, kCommandSource);
  c.destination = get<std::uint64_t>(bytes, kCommandDestination);
  c.operand = get<std::uint64_t>(bytes, kCommandOperand);
  c.reserved_tail = std::any_of(bytes + kCommandOperand + 8, bytes + kCommandBytes,
                                [](std::uint8_t byte) { return byte != 0; });
  return c;
}

unsigned validate(const QueueDeviceCommand& c, std::uint64_t buffer_bytes) {
  const bool from_bus = c.opcode == kOpcodeCopy || c.opcode == kOpcodeRead;
  const bool to_bus = c.opcode == kOpcodeCopy || c.opcode == kOpcodeFill || c.opcode == kOpcodeWrite;
  if (c.opcode > kOpcodeNotify || c.flags > 3 || c.reserved != 0 || c.reserved_tail ||
      !lists_rightly(c.lists_source(), c.source_entries, from_bus) ||
      !lists_rightly(c.lists_destination(), c.destination_entries, to_bus))
    return kStatusCodeBadOpcode;
  if (c.source_entries > kMostEntries || c.destination_entries > kMostEntries) return kStatusCodeBadScatter;
  if ((c.lists_source() && !fits_bus(c.source, kScatterBytes * c.source_entries)) ||
      (c.lists_destination() && !fits_bus(c.destination, kScatterBytes * c.destination_entries)))
    return kStatusCodeBadScatter;
  if (c.opcode == kOpcodeNop || c.opcode == kOpcodeNotify) return kStatusCodeOk;
  if (c.opcode == kOpcodeFetchAdd) {
    if (c.length != 4 && c.length != 8) return kStatusCodeBadLength;
    return c.destination % c.length == 0 ? kStatusCodeOk : kStatusCodeBadAlignment;
  }
  if (c.length == 0 || c.length > kLongestCommand) return kStatusCodeBadLength;
  if (from_bus && !c.lists_source() && !fits_bus(c.source, c.length)) return kStatusCodeBadLength;
  if (to_bus && !c.lists_destination() && !fits_bus(c.destination, c.length)) return kStatusCodeBadLength;
  if (c.opcode == kOpcodeRead && !within(c.destination, c.length, buffer_bytes)) return kStatusCodeBadLength;
  if (c.opcode == kOpcodeWrite && !within(c.source, c.length, buffer_bytes)) return kStatusCodeBadLength;
  return kStatusCodeOk;
}

std::vector<ByteRun> decode_list(const std::uint8_t* bytes, unsigned entries, std::uint32_t length) {
  std::vector<ByteRun> segments;
  std::uint64_t sum = 0;
  for (unsigned i = 0; i < entries; ++i, bytes += kScatterBytes) {
    const ByteRun s{get<std::uint64_t>(bytes, kScatterAddress), get<std::uint32_t>(bytes, kScatterLength)};
    if (s.bytes == 0 || !fits_bus(s.address, s.bytes) || get<std::uint32_t>(bytes, kScatterReserved) != 0)
      return {};
    sum += s.bytes;
    segments.push_back(s);
  }
  if (sum != length) return {};
  return segments;
}

void encode(const CompletionEntry& entry, std::uint8_t* bytes) {
  put(bytes, kCompletionResult, entry.result);
  put(bytes, kCompletionId, entry.id);
  put(bytes, kCompletionStatus, entry.status);
  put(bytes, kCompletionSqHead, entry.sq_head);
  put(bytes, kCompletionPhase, entry.phase);
}

}  // namespace warpline
