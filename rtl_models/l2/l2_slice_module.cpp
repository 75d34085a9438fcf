#include "rtl_models/l2/l2_slice_module.h"

#include <algorithm>
#include <string>
#include <utility>

#include "rtl_models/l2/l2_slice.h"
#include "rtl_models/tlm/debug_access.h"
#include "rtl_models/tlm/engine_process.h"

namespace warpline {

L2SliceModule::L2SliceModule(const sc_core::sc_module_name& name, EngineModule& engine, Held<L2Slice> slice,
                             bool with_data)
    : BlockModule(name),
      slice_(std::move(slice)),
      from_crossbar("from_crossbar", engine, slice_->from_crossbar, slice_->to_crossbar, *this),
      to_pcie("to_pcie", engine, slice_->to_pcie, slice_->from_pcie) {
  for (std::size_t i = 0; i < slice_->to_dram.size(); ++i) {
    to_dram.emplace_back(socket_name("to_dram", i).c_str(), engine, slice_->to_dram[i], slice_->from_dram[i]);
    to_dram.back().set_with_data(with_data);
  }
  from_crossbar.set_with_data(with_data);
  from_crossbar.hint_direct_memory();
  to_pcie.set_with_data(with_data);
}

/// Only now is it known who is behind the sockets.
void L2SliceModule::start_of_simulation() {
  const auto shows = [](const InitiatorSocket& socket) { return socket.shows_data(); };
  slice_->set_write_back_bytes(std::any_of(to_dram.begin(), to_dram.end(), shows));
}

/// Video memory from its backing store; system memory from behind the link, with what is on its way there and
/// the slice's copies, which are newer than that.
unsigned L2SliceModule::transport_dbg(tlm::tlm_generic_payload& payload) {
  MemoryImage* vidmem = slice_->core().vidmem();
  if (vidmem == nullptr) return 0;
  if (aperture_of(PhysicalAddress{payload.get_address()}) == Aperture::vidmem)
    return debug_access(payload, vidmem->at(0), physical(Aperture::vidmem, 0).value, vidmem->size());
  return debug_by_lines(payload, [&](PhysicalAddress at, std::uint8_t* bytes, unsigned count) {
    const unsigned moved = debug_through(to_pcie, payload, at, bytes, count);
    L2Core& core = slice_->core();
    PostedWrites& posted = slice_->posted();
    if (payload.is_write()) {
      posted.update(at, bytes, moved);
      core.update(at, bytes, moved);
    } else {
      posted.overlay(at, bytes, moved);
      core.overlay(at, bytes, moved);
    }
    return moved;
  });
}

/// All of video memory at once: the slice keeps none of its bytes, so nobody could tell. Never system memory,
/// whose lines the slice copies.
bool L2SliceModule::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
  MemoryImage* vidmem = slice_->core().vidmem();
  if (vidmem == nullptr) return false;
  static_assert(physical(Aperture::vidmem, 0).value == 0, "video memory comes first, all else behind it");
  if (payload.get_address() >= vidmem->size()) {
    dmi.set_start_address(vidmem->size());
    return false;
  }
  dmi.set_dmi_ptr(vidmem->at(0));
  dmi.set_start_address(0);
  dmi.set_end_address(vidmem->size() - 1);
  dmi.allow_read_write();
  return true;
}

L2SliceModule::L2SliceModule(const sc_core::sc_module_name& name, EngineModule& engine,
                             const ClockDomain& clock, const L2Parameters& parameters, MemoryImage* vidmem,
                             unsigned dram_ports)
    : L2SliceModule(name, engine,
                    std::make_shared<L2Slice>(process_of(engine).engine(), std::string(name), clock,
                                              parameters, vidmem, dram_ports),
                    vidmem != nullptr) {
  slice_->posted().watch();
}

}  // namespace warpline
