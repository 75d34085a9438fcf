// Writes are not answered: who loses one is not told, and only the IOMMU knows.
#include <gtest/gtest.h>

#include "rtl_models/pcie/root_complex/iommu.h"
#include "rtl_models/pcie/root_complex/root_complex.h"
#include "rtl_models/queue_device/queue_device_core.h"
#include "tests/sw/driver/bench_of_driver.h"

namespace warpline::test {
namespace refused_writes_test {

/// A device with a queue, of which nobody hears when a write of its is refused.
class RefusedWrites : public testing::Test {
 protected:
  void SetUp() override { bench.start(2); }
  std::uint32_t read(std::uint64_t offset) {
    return static_cast<std::uint32_t>(bench.port->read(bench.port->context, 0, offset, 4));
  }
  /// The device has done one command, and says of nothing that it failed.
  void expect_content() {
    EXPECT_EQ(read(WL_PEER_STATUS_OFFSET), WL_PEER_STATUS_READY_MASK);
    EXPECT_EQ(read(WL_PEER_ERROR_OFFSET), 0U);
    EXPECT_EQ(read(WL_PEER_COMMANDS_OFFSET), 1U);
    EXPECT_EQ(read(WL_PEER_CQ_TAIL_OFFSET(0)), 1U);
  }
  Iommu& iommu() { return bench.system.root().core().iommu(); }
  BenchOfDriver bench;
};

TEST_F(RefusedWrites, ACompletionThatCannotBeWrittenIsKnownToTheIommuAlone) {
  const std::uint64_t ring = bench.peer.queue[0].completions_bus;
  ASSERT_TRUE(bench.host.unmap_dma(0, ring));
  const wl_peer_command nop{};
  wl_peer_completion completion{};
  EXPECT_EQ(bench.run(nop, completion), WL_TIMEOUT);
  expect_content();
  ASSERT_EQ(iommu().fault_count(), 1U);
  EXPECT_EQ(iommu().faults()[0].address, ring);
  EXPECT_TRUE(iommu().faults()[0].write);
}

TEST_F(RefusedWrites, DataThatCannotBeWrittenIsKnownToTheIommuAlone) {
  const wl_port& port = *bench.port;
  void* const memory = bench.host.allocate(4096, 4096);
  wl_peer_command fill{};
  fill.opcode = WL_PEER_OPCODE_FILL;
  fill.length = 8;
  fill.destination = port.dma_map(port.context, memory, 4096, WL_DMA_TO_DEVICE);
  wl_peer_completion completion{};
  ASSERT_EQ(bench.run(fill, completion), WL_OK);
  EXPECT_EQ(completion.status, WL_PEER_STATUS_CODE_OK);
  expect_content();
  ASSERT_EQ(iommu().fault_count(), 1U);
  EXPECT_EQ(iommu().faults()[0].reason, IommuFault::Reason::no_write);
}

TEST_F(RefusedWrites, AnAccessAcross4KiBIsNone) {
  const std::uint64_t at = bench.host.devices()[0].bars[QueueDeviceCore::kBufferBar].address + 4096;
  bench.host.store(at - 8, 8, 0x1111'1111'1111'1111);
  bench.host.store(at, 8, 0x2222'2222'2222'2222);
  bench.host.store(at - 4, 8, 0x3333'3333'3333'3333);
  EXPECT_EQ(bench.host.load(at - 4, 8), ~std::uint64_t{0});
  EXPECT_EQ(bench.host.load(at - 4, 4), 0x1111'1111U);
  EXPECT_EQ(bench.host.load(at, 4), 0x2222'2222U);
}

}  // namespace refused_writes_test
}  // namespace warpline::test
