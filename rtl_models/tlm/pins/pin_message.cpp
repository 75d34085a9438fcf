#include "rtl_models/tlm/pins/pin_message.h"

namespace warpline {
namespace {

PinMessage header_of(const Request& r) {
  PinMessage m;
  m.command = r.command;
  m.line = r.line.value;
  m.sectors = r.command == Command::read || r.command == Command::write ? r.sectors : SectorMask{0};
  m.origin = r.id;
  return m;
}

}  // namespace

std::uint64_t PinMessage::address(unsigned beat, unsigned width) const {
  std::uint64_t at = line;
  const unsigned first = carries ? beat * width : 0;
  for_each_packed_run(sectors, first, first + 1, [&](unsigned, unsigned offset, unsigned) { at += offset; });
  return at;
}

PinMessage describe_request(const Request& r, unsigned width, bool with_data) {
  PinMessage m = header_of(r);
  m.beats = RequestMessage{const_cast<Request*>(&r)}.beats(width);
  if (r.command != Command::write) return m;
  m.carries = true;
  m.bytes = r.bytes;
  if (with_data) copy_masked(m.data.data(), r.data.data(), r.bytes);
  return m;
}

PinMessage describe_response(const Request& r, unsigned width, bool with_data) {
  PinMessage m = header_of(r);
  m.beats = ResponseMessage{const_cast<Request*>(&r)}.beats(width);
  m.error = r.status != Status::ok;
  if (r.command != Command::read) return m;
  m.carries = true;
  m.bytes = ByteMask::of_sectors(r.sectors);
  if (with_data && !m.error) copy_sectors(m.data.data(), r.data.data(), r.sectors);
  return m;
}

}  // namespace warpline
