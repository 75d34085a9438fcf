#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "rtl_models/sim/request.h"

namespace warpline {

/// What the wires of one channel say in the beats of one message.
///
/// The bytes of the touched sectors travel one sector after the other, in ascending order, without gaps:
/// beat b of a channel `width` bytes wide carries bytes b * width and up of that sequence.
struct PinMessage {
  Command command = Command::read;
  std::uint64_t line = 0;        ///< address of the line
  SectorMask sectors = 0;        ///< touched
  std::uint64_t identifier = 0;  ///< unique among the requests of the hop that are not answered
  std::uint64_t origin = 0;      ///< the request's number in the run (Request::id); 0: none
  bool error = false;            ///< of an answer
  bool carries = false;          ///< the data wires carry the bytes of `sectors`
  unsigned beats = 1;
  ByteMask bytes;  ///< enabled, of what it carries
  std::array<std::uint8_t, kLineBytes> data{};

  /// Bytes that the sectors hold.
  [[nodiscard]] unsigned size() const { return kSectorBytes * sector_count(sectors); }
  /// Address of the first byte that beat `beat` carries; of the first sector where there are no bytes.
  [[nodiscard]] std::uint64_t address(unsigned beat, unsigned width) const;
};

/// A request on its way to memory as wires say it. `with_data`: the bytes of a write too.
[[nodiscard]] PinMessage describe_request(const Request& r, unsigned width, bool with_data);
/// The same on its way back; `with_data`: the bytes of a read too.
[[nodiscard]] PinMessage describe_response(const Request& r, unsigned width, bool with_data);

/// Calls run(place, offset, n) for every n bytes that lie side by side both in the packed sequence, at
/// `place`, and in the line, at `offset`: those of places `first` to `end`.
template <class F>
void for_each_packed_run(SectorMask sectors, unsigned first, unsigned end, F&& run) {
  unsigned place = 0;
  for (unsigned s = 0; s < kSectorsPerLine && place < end; ++s) {
    if ((sectors >> s & 1U) == 0) continue;
    const unsigned from = place < first ? first : place;
    const unsigned to = place + kSectorBytes < end ? place + kSectorBytes : end;
    if (from < to) run(from, s * kSectorBytes + (from - place), to - from);
    place += kSectorBytes;
  }
}

}  // namespace warpline
