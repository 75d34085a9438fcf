#include "rtl_models/sim/request.h"

namespace warpline {

bool TakenCommands::take(const Request& r) const {
  switch (r.command) {
    case Command::read: return true;
    case Command::write: return writes;
    case Command::atomic:
    case Command::reduce: return atomics;
    case Command::maintain: return maintenance != 0 && (r.maintenance & ~maintenance) == 0;
    case Command::control: return control;
  }
  return false;
}

}  // namespace warpline
