#include "rtl_models/tlm/block_module.h"

namespace warpline {

unsigned BlockModule::transport_dbg(tlm::tlm_generic_payload& /*payload*/) {
  return 0;
}

bool BlockModule::get_direct_mem_ptr(tlm::tlm_generic_payload& /*payload*/, tlm::tlm_dmi& dmi) {
  dmi.allow_none();
  return false;
}

}  // namespace warpline
