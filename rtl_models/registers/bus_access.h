#pragma once

#include <cstdint>
#include <string>

#include "rtl_models/base/types.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/registers/register_file.h"

namespace warpline {

enum class AccessKind : std::uint8_t {
  read,
  write,
  atomic,  ///< of one lane, or of one word of a compare-and-swap loop
  flush,   ///< a read of no byte: whoever made it waits for the writes before it to have arrived
};

/// One access as it arrives at the bus of a device.
struct WARPLINE_PUBLIC BusAccess {
  Cycle cycle = 0;  ///< in which it arrives
  AccessKind kind = AccessKind::read;
  AccessOutcome outcome = AccessOutcome::done;
  std::uint8_t bar = 0;
  bool exact = false;  ///< at plain memory: it may be no other transaction than this one (`.mmio`)
  /// Bus, device and function number of whoever made it; at plain memory, which has no bus, the GPU's number.
  std::uint16_t requester = 0;
  std::uint16_t sm = 0, warp = 0;  ///< at plain memory: who made it; of a flush, whose fence it belongs to
  std::uint32_t bytes = 0;
  std::uint64_t offset = 0;  ///< in the BAR, or in the memory
  /// The first 8 bytes that were read or written; of an atomic at plain memory, those that are there then.
  std::uint64_t value = 0;
  template <class Archive>
  void archive(Archive& a) {
    a(cycle, kind, outcome, bar, exact, requester, sm, warp, bytes, offset, value);
  }
};

/// "write".
WARPLINE_PUBLIC [[nodiscard]] const char* name_of(AccessKind kind);
/// "SQ_BASE[3]", "SQ_BASE[3]+4" for its upper half; nothing where there is no register. `map`: whose
/// registers lie in the access's BAR; null: none.
WARPLINE_PUBLIC [[nodiscard]] std::string register_name(const BusAccess& access, const RegisterMap* map);
/// One line: "  1234  bar 0  write     4 bytes  0x0010 CONTROL  0x00000001  from 00:00.0", with what is wrong
/// with it at its end. `map`: whose registers lie in the access's BAR; null: none.
WARPLINE_PUBLIC [[nodiscard]] std::string to_text(const BusAccess& access, const RegisterMap* map);
/// The same as a JSON object on one line: cycle, bar, kind, offset, bytes, register (where there is one),
/// value (a hexadecimal string), requester, outcome. Pre: the map's names are those of a description file.
WARPLINE_PUBLIC [[nodiscard]] std::string to_json(const BusAccess& access, const RegisterMap* map);

}  // namespace warpline
