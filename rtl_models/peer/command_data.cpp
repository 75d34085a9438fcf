// The part of the engine that moves a command's data.
#include <algorithm>
#include <array>
#include <cstring>

#include "warpline/peer/command_engine.h"

namespace warpline {

using namespace regs::peer;

void CommandEngine::take_data(Context& c, std::uint32_t offset, const std::vector<std::uint8_t>& data) {
  const auto bytes = static_cast<std::uint32_t>(data.size());
  if (c.stage != Stage::data) {
    std::memcpy(c.text.data() + offset, data.data(), bytes);
    return;
  }
  switch (c.command.opcode) {
    case kOpcodeCopy: return write(c, offset, data.data(), bytes);
    case kOpcodeRead:
      std::memcpy(buffer_.data() + c.command.destination + offset, data.data(), bytes);
      c.moved += bytes;
      return;
    default:
      std::memcpy(&c.result, data.data(), bytes);
      c.moved += bytes;
      return;
  }
}

void CommandEngine::move_on(Context& c, Cycle now, unsigned& room) {
  switch (c.command.opcode) {
    case kOpcodeCopy:
    case kOpcodeRead: return read_on(c, now);
    case kOpcodeFetchAdd:
      if (c.asked != 0 || !bus_.may_read()) return;
      bus_.fetch_add(cookie_of(c, 0), c.command.destination, c.command.length, c.command.operand, now);
      c.asked = c.command.length;
      c.in = ByteStream({{c.command.destination, c.command.length}});
      ++c.reads;
      return;
    default: return produce(c, room);
  }
}

/// Writes what needs no reading, a packet at a time, as far as there is room.
void CommandEngine::produce(Context& c, unsigned& room) {
  std::array<std::uint8_t, 4096> pattern;
  for (; !c.failed && c.moved < c.command.length && room != 0; --room) {
    const std::uint32_t bytes = std::min(bus_.max_payload(), c.command.length - c.moved);
    const std::uint8_t* data = pattern.data();
    if (c.command.opcode == kOpcodeWrite) {
      data = buffer_.data() + c.command.source + c.moved;
    } else {
      for (std::uint32_t i = 0; i < bytes; ++i)
        pattern[i] = static_cast<std::uint8_t>(c.command.operand >> 8U * ((c.moved + i) % 8));
    }
    write(c, c.moved, data, bytes);
  }
}

/// Data that cannot be written, as the function may not make requests any more, fails the command.
void CommandEngine::write(Context& c, std::uint32_t offset, const std::uint8_t* data, std::uint32_t bytes) {
  if (!bus_.may_write()) {
    c.failed = true;
    c.status = kStatusCodeAborted;
    return;
  }
  c.moved += bytes;
  while (bytes != 0) {
    const Segment to = c.out.at(offset);
    const std::uint32_t part = std::min(bytes, to.bytes);
    bus_.write(to.address, data, part, queues_[c.queue].shape().relaxed);
    offset += part;
    data += part;
    bytes -= part;
  }
}

}  // namespace warpline
