// Blocks of ours, hardware of somebody else's at their sockets: a master in front of an L2 slice, a memory
// behind it in the place of the PCIe link.
#include "rtl_models/tlm/pins/pin_sockets.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "rtl_models/dram/dram_module.h"
#include "rtl_models/l2/l2_slice_module.h"
#include "rtl_models/sim/memory_image.h"
#include "rtl_models/tlm/engine_process.h"
#include "tests/rtl_models/tlm/pins/pin_hardware.h"
#include "tests/rtl_models/tlm/pins/pin_senders.h"
#include "tests/support/checked_binding.h"

namespace warpline::test {
namespace pin_sockets_test {

constexpr unsigned kSmall = 64;

RtlMaster::Access access(bool write, std::uint64_t line, unsigned sectors, PinChannel::Word seed = 0) {
  RtlMaster::Access a;
  a.write = write;
  a.line = line;
  a.sectors = sectors;
  for (int i = 0; write && i < 4 * __builtin_popcount(sectors); ++i)
    a.words.push_back(seed + static_cast<unsigned>(i));
  return a;
}

TEST(PinSockets, HardwareBeforeAndBehindABlock) {
  const std::uint64_t sysmem = physical(Aperture::sysmem, 0).value;
  MemoryImage vidmem(1 << 16);
  EngineProcess engine("engine", 1000);
  L2SliceModule l2("l2", engine, {}, L2Parameters{1, {16, 4}, 8}, &vidmem, 1);
  DramModule dram("dram", engine, {}, {}, 1);
  bind_checked(l2.to_dram[0], dram.from_l2[0]);
  PinsOfTarget before("before", engine, l2.from_crossbar);
  PinsOfInitiator behind("behind", engine, l2.to_pcie);
  const RtlMaster master("master", before.wires(),
                         {access(true, 0x400, 0b1011, 100), access(false, 0x400, 0b0011),
                          access(true, sysmem + 0x80, 0b1111, 200), access(false, sysmem + 0x80, 0b0110),
                          access(false, 1 << 20, 0b0001), access(false, sysmem + 32 * kSmall, 0b0001)},
                         1);
  RtlMemory memory("memory", behind.wires(), kSmall, {4, 2, 0, 0}, sysmem);
  const std::string file = ::testing::TempDir() + "pin_sockets_test";
  sc_core::sc_trace_file* trace = sc_core::sc_create_vcd_trace_file(file.c_str());
  sc_trace(trace, before.wires());
  sc_core::sc_start(sc_core::sc_time(5, sc_core::SC_US));

  sc_core::sc_close_vcd_trace_file(trace);
  std::ifstream in(file + ".vcd");
  const std::string vcd((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  EXPECT_NE(vcd.find("$var wire   64  "), std::string::npos) << vcd.substr(0, 2000);
  for (const char* name : {"valid", "ready", "command", "address", "beat", "last", "identifier", "data_3"})
    EXPECT_NE(vcd.find(std::string(name) + " "), std::string::npos) << name;
  std::remove((file + ".vcd").c_str());

  for (const RtlMaster::Access& a : master.accesses) ASSERT_TRUE(a.answered);
  const std::vector<PinChannel::Word> vidmem_read = {100, 101, 102, 103, 104, 105, 106, 107};
  EXPECT_EQ(master.accesses[1].words, vidmem_read);
  EXPECT_EQ(*vidmem.at(0x400), 100);
  EXPECT_EQ(*vidmem.at(0x400 + 96), 108);
  const std::vector<PinChannel::Word> sysmem_read = {204, 205, 206, 207, 208, 209, 210, 211};
  EXPECT_EQ(master.accesses[3].words, sysmem_read);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_FALSE(master.accesses[i].error) << i;
  EXPECT_TRUE(master.accesses[4].error) << "beyond video memory";
  EXPECT_TRUE(master.accesses[5].error) << "beyond the memory behind the wires";
  EXPECT_FALSE(memory.commands.empty());
  EXPECT_EQ(engine.engine().pool().in_use(), 0U);
  EXPECT_EQ(before.wires().hop(), "l2.from_crossbar");
  ASSERT_EQ(engine.pins().wires().size(), 2U);
  unsigned wires = 0;
  before.wires().request.visit([&wires](const std::string&, const auto&, unsigned bits) {
    EXPECT_LE(bits, 64U);
    ++wires;
  });
  EXPECT_EQ(wires, 11U + 4U + 1U);
}

}  // namespace pin_sockets_test
}  // namespace warpline::test
