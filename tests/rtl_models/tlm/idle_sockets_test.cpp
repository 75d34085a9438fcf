// Sockets of a block that a platform has no use for. One simulation per process.
#include "rtl_models/tlm/idle_sockets.h"

#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include "rtl_models/dram/dram_module.h"
#include "rtl_models/l2/l2_slice_module.h"
#include "rtl_models/sim/memory_image.h"
#include "rtl_models/tlm/engine_process.h"
#include "tests/rtl_models/tlm/foreign_modules.h"
#include "tests/support/checked_binding.h"

namespace warpline::test {
namespace idle_sockets_test {

TEST(IdleSockets, ASliceWithoutALinkAnswersForSystemMemoryThatNothingIsThere) {
  MemoryImage vidmem(1 << 16);
  EngineProcess engine("engine", 1000);
  L2SliceModule l2("l2", engine, {}, L2Parameters{1, {16, 4}, 8}, &vidmem, 1);
  DramModule dram("dram", engine, {}, {}, 2);
  bind_checked(l2.to_dram[0], dram.from_l2[0]);
  IdleTarget no_link("no_link", l2.to_pcie);
  IdleInitiator unused("unused", dram.from_l2[1]);  // an input that no slice uses
  std::vector<Access> accesses(2);
  accesses[0].address = 0x100;
  accesses[1].address = physical(Aperture::sysmem, 0x100).value;
  for (Access& a : accesses) a.data.resize(32);
  ForeignInitiator asker("asker", accesses, {});
  bind_checked(asker.socket, l2.from_crossbar);
  sc_core::sc_start();
  EXPECT_EQ(asker.accesses[0].status, tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(asker.accesses[1].status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_TRUE(engine.at_rest());
}

TEST(IdleSockets, OfEveryWidthAndKindOfCall) {
  struct Narrow final : sc_core::sc_module {
    explicit Narrow(const sc_core::sc_module_name& name) : sc_module(name) {}
    tlm_utils::simple_target_socket<Narrow, 64> socket{"socket"};
  };
  Narrow narrow("narrow");
  IdleInitiator idle("idle", narrow.socket);
  struct Asker final : sc_core::sc_module {
    explicit Asker(const sc_core::sc_module_name& name) : sc_module(name) {}
    tlm_utils::simple_initiator_socket<Asker, 32> socket{"socket"};
  };
  Asker asker("asker");
  IdleTarget nothing("nothing", asker.socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  tlm::tlm_generic_payload p;
  sc_core::sc_time delay;
  asker.socket->b_transport(p, delay);
  EXPECT_EQ(p.get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(asker.socket->transport_dbg(p), 0U);
  tlm::tlm_dmi dmi;
  EXPECT_FALSE(asker.socket->get_direct_mem_ptr(p, dmi));
  EXPECT_TRUE(dmi.is_none_allowed());
}

}  // namespace idle_sockets_test
}  // namespace warpline::test
