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
  const std::uint64_t offset = offset_in_aperture(r.line);
  if (offset + kLineBytes > vidmem_.size()) {
    r.status = Status::address_error;
  } else {
    perform_on(vidmem_.at(offset), r);
  }
  ++at;
}

}  // namespace warpline
