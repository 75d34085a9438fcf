#include "rtl_models/sim/vidmem_access.h"

#include "rtl_models/sim/atomics.h"

namespace warpline {

void perform_on(std::uint8_t* line, Request& r) {
  switch (r.command) {
    case Command::read: return copy_sectors(r.data.data(), line, r.sectors);
    case Command::write: return copy_masked(line, r.data.data(), r.bytes);
    case Command::atomic:
    case Command::reduce: return perform_atomics(*r.atomics, line);
    case Command::maintain:
    case Command::control: return;
  }
}

void VidmemAccess::perform(Request& r, Cycle& at) {
  if (std::uint8_t* const line = find(r.line, kLineBytes); line != nullptr)
    perform_on(line, r);
  else
    r.status = Status::address_error;
  ++at;
}

}  // namespace warpline
