// Control of lines and accesses of single bytes on a socket, to a module that knows nothing of either, and
// from one that describes them by our extension.
#include <gtest/gtest.h>

#include <systemc>
#include <tlm>
#include <vector>

#include "rtl_models/cache/read_only_cache.h"
#include "rtl_models/cache/read_only_cache_module.h"
#include "rtl_models/dram/dram_module.h"
#include "rtl_models/l2/l2_core.h"
#include "rtl_models/l2/l2_slice.h"
#include "rtl_models/l2/l2_slice_module.h"
#include "rtl_models/pcie/gpu_link/pcie_link.h"
#include "rtl_models/pcie/gpu_link/pcie_module.h"
#include "rtl_models/tlm/block_module.h"
#include "rtl_models/tlm/engine_process.h"
#include "tests/support/mock_components.h"

namespace warpline::test {
namespace control_sockets_test {

/// Plain memory that refuses what is neither a read nor a write, and remembers what it was asked.
struct PlainMemory final : sc_core::sc_module, tlm::tlm_fw_transport_if<> {
  explicit PlainMemory(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
    socket.bind(*this);
  }
  struct Asked {
    tlm::tlm_command command;
    std::uint64_t address;
    unsigned length;
    bool enables;
  };
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) override {
    const bool known = payload.get_command() != tlm::TLM_IGNORE_COMMAND;
    payload.set_response_status(known ? tlm::TLM_OK_RESPONSE : tlm::TLM_COMMAND_ERROR_RESPONSE);
    asked.push_back({payload.get_command(), payload.get_address(), payload.get_data_length(),
                     payload.get_byte_enable_ptr() != nullptr});
    for (unsigned i = 0; payload.is_read() && i < payload.get_data_length(); ++i)
      payload.get_data_ptr()[i] = static_cast<unsigned char>(payload.get_address() + i);
  }
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                     sc_core::sc_time& delay) override {
    b_transport(payload, delay);
    return tlm::TLM_COMPLETED;
  }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
  tlm::tlm_target_socket<kBusBits> socket;
  std::vector<Asked> asked;
};

/// Calls b_transport with whatever it is given.
struct Caller final : sc_core::sc_module, tlm::tlm_bw_transport_if<> {
  explicit Caller(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
    socket.bind(*this);
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&) override {
    return tlm::TLM_COMPLETED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  /// The response to `model`, described by the extension.
  tlm::tlm_response_status call(Request& model, tlm::tlm_command command, std::uint64_t address = 0,
                                unsigned char* data = nullptr, unsigned length = 0) {
    tlm::tlm_generic_payload payload;
    RequestExtension extension;
    extension.request = &model;
    payload.set_extension(&extension);
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(data);
    payload.set_data_length(length);
    payload.set_streaming_width(length);
    sc_core::sc_time delay;
    socket->b_transport(payload, delay);
    payload.clear_extension(&extension);
    return payload.get_response_status();
  }
  tlm::tlm_initiator_socket<kBusBits> socket;
};

struct OurSocket final : sc_core::sc_module {
  OurSocket(const sc_core::sc_module_name& name, EngineProcess& engine, Requester& requester)
      : sc_module(name), socket("socket", engine, requester.out, requester.in) {}
  InitiatorSocket socket;
};

constexpr LineControl kControls[] = {LineControl::prefetch_l1, LineControl::prefetch_l2,
                                     LineControl::apply_priority, LineControl::discard};

std::vector<Item> asked_items() {
  std::vector<Item> all;
  for (const LineControl control : kControls)
    all.push_back(control_item(0, physical(Aperture::vidmem, 0x400), control));
  for (const bool writes : {false, true}) {
    Item item = writes ? write_item(0, physical(Aperture::vidmem, 0x400), {}, 7)
                       : read_item(0, physical(Aperture::vidmem, 0x400), 0);
    item.request.exact = true;
    item.request.scope = Scope::sys;
    item.request.bytes = {};
    item.request.bytes.set(36, 2);
    item.request.sectors = 2;
    all.push_back(item);
  }
  return all;
}

struct Simulation {
  EngineProcess engine{"engine", 1000, HopTransport::socket};
  Requester requester{engine.engine(), "requester", {}, asked_items()};
  OurSocket ours{"ours", engine, requester};
  PlainMemory memory{"memory"};

  MemoryImage vidmem{1U << 14U}, sysmem{1U << 14U};
  EngineProcess loose{"loose", 1000, HopTransport::direct};
  Caller caller{"caller"}, texture_caller{"texture_caller"};
  L2SliceModule l2{"l2", loose, {}, L2Parameters{1, {16, 4}, 8, 0, true}, &vidmem, 1};
  DramModule dram{"dram", loose, {}, {}, 1};
  PcieModule pcie{"pcie", loose, {}, {}, &sysmem, 1};
  ReadOnlyCacheModule texture{"texture", loose, {}, {}, true};
  PlainMemory below{"below"};
  Simulation() {
    ours.socket.bind(memory.socket);
    caller.socket.bind(l2.from_crossbar);
    l2.to_dram[0].bind(dram.from_l2[0]);
    l2.to_pcie.bind(pcie.from_l2[0]);
    texture_caller.socket.bind(texture.from_sm);
    texture.to_crossbar.bind(below.socket);
    loose.set_loose(true);
    sc_core::sc_start(sc_core::sc_time(10, sc_core::SC_US));
  }
};
Simulation& simulation() {
  static Simulation s;
  return s;
}

TEST(ControlSockets, AModuleThatIgnoresControlDoesNothingWrong) {
  Simulation& s = simulation();
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NE(s.requester.answers[i].answered, kNever);
    EXPECT_EQ(s.requester.answers[i].status, Status::ok);
    EXPECT_EQ(s.memory.asked[i].command, tlm::TLM_IGNORE_COMMAND);
  }
}

TEST(ControlSockets, AnExactAccessIsAPayloadOfItsBytes) {
  Simulation& s = simulation();
  ASSERT_EQ(s.memory.asked.size(), 6U);
  for (std::size_t i = 4; i < 6; ++i) {
    EXPECT_EQ(s.memory.asked[i].address, physical(Aperture::vidmem, 0x424).value);
    EXPECT_EQ(s.memory.asked[i].length, 2U);
    EXPECT_FALSE(s.memory.asked[i].enables);
    EXPECT_EQ(s.requester.answers[i].status, Status::ok);
  }
  EXPECT_EQ(s.requester.answers[4].data[36], 0x24);
  EXPECT_EQ(s.requester.answers[4].data[37], 0x25);
}

TEST(ControlSockets, AForeignInitiatorControlsLinesByTheExtension) {
  Simulation& s = simulation();
  const L2Counters& c = s.l2.slice().counters();
  Request model;
  model.command = Command::control;
  model.sectors = kAllSectors;
  for (const LineControl control : kControls) {
    model.control = control;
    EXPECT_EQ(s.caller.call(model, tlm::TLM_IGNORE_COMMAND, physical(Aperture::vidmem, 0x400).value),
              tlm::TLM_OK_RESPONSE);
  }
  EXPECT_EQ(c.prefetched_sectors, 4U);
  EXPECT_EQ(*s.vidmem.at(0x400), L2Core::kDiscarded);
  EXPECT_EQ(s.texture_caller.call(model, tlm::TLM_IGNORE_COMMAND), tlm::TLM_COMMAND_ERROR_RESPONSE)
      << "a texture cache knows no control";
}

TEST(ControlSockets, AForeignInitiatorInvalidatesATextureCacheAndDrainsNone) {
  Simulation& s = simulation();
  const ReadOnlyCacheCounters& c = s.texture.cache().counters();
  const ReadOnlyCacheCounters before = c;
  Request read, maintain;
  maintain.command = Command::maintain;
  maintain.maintenance = maintenance::kInvalidate;
  unsigned char byte = 0;
  for (const bool invalidated : {true, false, true}) {
    if (invalidated) {
      EXPECT_EQ(s.texture_caller.call(maintain, tlm::TLM_IGNORE_COMMAND), tlm::TLM_OK_RESPONSE);
    }
    EXPECT_EQ(s.texture_caller.call(read, tlm::TLM_READ_COMMAND, 0x80, &byte, 1), tlm::TLM_OK_RESPONSE);
  }
  EXPECT_EQ(c.sector_misses - before.sector_misses, 2U);
  EXPECT_EQ(c.sector_hits - before.sector_hits, 1U);
  EXPECT_EQ(c.invalidations - before.invalidations, 2U);
  maintain.maintenance = maintenance::kInvalidate | maintenance::kDrain;
  EXPECT_EQ(s.texture_caller.call(maintain, tlm::TLM_IGNORE_COMMAND), tlm::TLM_COMMAND_ERROR_RESPONSE);
  EXPECT_EQ(c.invalidations - before.invalidations, 2U);
}

TEST(ControlSockets, AForeignInitiatorsExactReadReachesTheLinkAsSuch) {
  Simulation& s = simulation();
  *s.sysmem.at(0x804) = 0x5A;
  Request model;
  model.exact = true;
  model.scope = Scope::sys;
  unsigned char byte = 0;
  EXPECT_EQ(s.caller.call(model, tlm::TLM_READ_COMMAND, physical(Aperture::sysmem, 0x804).value, &byte, 1),
            tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(byte, 0x5A);
  EXPECT_EQ(s.pcie.link().counters().bytes_down, 4U);
}

}  // namespace control_sockets_test
}  // namespace warpline::test
