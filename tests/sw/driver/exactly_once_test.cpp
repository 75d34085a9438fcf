#include <gtest/gtest.h>

#include "platform/config/pcie_system_parameters.h"
#include "rtl_models/pcie/host_bridge/host_bridge.h"
#include "rtl_models/queue_device/queue_device.h"
#include "rtl_models/queue_device/queue_device_core.h"
#include "tests/support/environment.h"
#include "tests/sw/driver/command_traffic.h"

namespace warpline {
namespace exactly_once_test {

using test::BenchOfDriver;
using test::CommandTraffic;

/// A port that writes down every access to a BAR that goes through it.
class WrittenDown {
 public:
  struct Access {
    unsigned bar;
    std::uint64_t offset;
    unsigned bytes;
    bool write;
    std::uint64_t value;
  };
  explicit WrittenDown(const wl_port& port) : port_(port), below_(port) {
    port_.context = this;
    port_.read = [](void* self, unsigned space, std::uint64_t offset, unsigned bytes) {
      return static_cast<WrittenDown*>(self)->read(space, offset, bytes);
    };
    port_.write = [](void* self, unsigned space, std::uint64_t offset, unsigned bytes, std::uint64_t value) {
      static_cast<WrittenDown*>(self)->write(space, offset, bytes, value);
    };
    port_.barrier = [](void* self) { below(self).barrier(below(self).context); };
    port_.dma_map = [](void* self, void* memory, std::size_t bytes, unsigned direction) {
      return below(self).dma_map(below(self).context, memory, bytes, direction);
    };
    port_.dma_unmap = [](void* self, std::uint64_t bus, std::size_t bytes) {
      below(self).dma_unmap(below(self).context, bus, bytes);
    };
    port_.wait_irq = [](void* self, unsigned vector, std::uint32_t timeout_us) {
      return below(self).wait_irq(below(self).context, vector, timeout_us);
    };
    port_.delay = [](void* self, std::uint32_t nanoseconds) {
      below(self).delay(below(self).context, nanoseconds);
    };
    port_.log = [](void* self, wl_log_level level, const char* text) {
      below(self).log(below(self).context, level, text);
    };
  }
  WrittenDown(const WrittenDown&) = delete;
  WrittenDown& operator=(const WrittenDown&) = delete;
  [[nodiscard]] const wl_port& port() const { return port_; }
  [[nodiscard]] const std::vector<Access>& accesses() const { return accesses_; }

 private:
  static const wl_port& below(void* self) { return static_cast<WrittenDown*>(self)->below_; }
  std::uint64_t read(unsigned space, std::uint64_t offset, unsigned bytes) {
    const std::uint64_t value = below_.read(below_.context, space, offset, bytes);
    if (space != WL_SPACE_CONFIG) accesses_.push_back({space, offset, bytes, false, value});
    return value;
  }
  void write(unsigned space, std::uint64_t offset, unsigned bytes, std::uint64_t value) {
    const std::uint64_t low = bytes == 8 ? value : value & ((std::uint64_t{1} << 8 * bytes) - 1);
    if (space != WL_SPACE_CONFIG) accesses_.push_back({space, offset, bytes, true, low});
    below_.write(below_.context, space, offset, bytes, value);
  }
  wl_port port_;
  wl_port below_;
  std::vector<Access> accesses_;
};

/// An access of any size anywhere, lawful or not, that takes nothing from the driver at work.
void poke(const wl_port& port, Random& random) {
  const unsigned bytes = 1U << random.below(4);
  const bool writes = random.below(2) == 0;
  const unsigned bar = random.below(3) == 0 ? QueueDeviceCore::kBufferBar : QueueDeviceCore::kRegisterBar;
  std::uint64_t offset = bytes * random.below(0x4000 / bytes);
  if (bar == QueueDeviceCore::kRegisterBar && writes) {
    constexpr std::array<std::uint64_t, 5> kHarmless = {WL_PEER_SCRATCH_OFFSET(0), WL_PEER_SCRATCH_OFFSET(1),
                                                        WL_PEER_IDENTITY_OFFSET, 0x3F00,
                                                        WL_PEER_ERROR_OFFSET};
    offset = kHarmless[random.below(kHarmless.size())];
  }
  if (writes) {
    port.write(port.context, bar, offset, bytes, random.next());
  } else {
    static_cast<void>(port.read(port.context, bar, offset, bytes));
  }
}

/// The whole: WARPLINE_ACCESSES=1000000.
TEST(ExactlyOnce, TheDeviceSeesTheProgramsAccessesInNumberOrderAndSize) {
  const std::uint64_t count = from_environment("WARPLINE_ACCESSES", 40000);
  for (const bool loose : {false, true}) {
    SCOPED_TRACE(loose ? "loosely timed" : "timed");
    PcieSystemParameters parameters;
    parameters.peer.log_entries = ~std::uint64_t{0};
    BenchOfDriver bench(parameters, loose);
    const AccessLog& log = bench.system.peer(0).core().log();
    const std::uint64_t before = log.total();
    const WrittenDown written(bench.host.port_of(0));
    bench.port = &written.port();
    ASSERT_EQ(wl_peer_probe(&bench.peer, bench.port), WL_OK);
    ASSERT_EQ(wl_peer_start(&bench.peer), WL_OK);
    bench.create(3, false, 0);
    CommandTraffic traffic(bench, 0, 6, 11, 1);
    traffic.checks_bytes = false;  // the device's memory is poked at
    Random random(count);
    while (written.accesses().size() < count) {
      while (traffic.submit()) {
      }
      ASSERT_EQ(wl_peer_ring(&bench.peer, 0), WL_OK);
      for (std::uint64_t n = random.below(40); n != 0; --n) poke(*bench.port, random);
      wl_peer_completion completion{};
      ASSERT_EQ(wl_peer_wait(&bench.peer, 0, 1000, &completion), WL_OK);
      ASSERT_EQ(traffic.take(completion), "");
    }
    // A read comes back after all writes before it.
    static_cast<void>(bench.port->read(bench.port->context, 0, WL_PEER_PRESENT_OFFSET, 4));
    ASSERT_EQ(log.total() - before, written.accesses().size());
    for (std::size_t i = 0; i < written.accesses().size(); ++i) {
      const WrittenDown::Access& made = written.accesses()[i];
      const BusAccess& seen = log.entries()[before + i];
      ASSERT_EQ(seen.bar, made.bar) << i;
      ASSERT_EQ(seen.offset, made.offset) << i;
      ASSERT_EQ(seen.bytes, made.bytes) << i;
      ASSERT_EQ(seen.kind == AccessKind::write, made.write) << i;
      ASSERT_EQ(seen.value, made.value) << i;
    }
  }
}

TEST(ExactlyOnce, AReadBehindManyWritesIsAnswered) {
  constexpr unsigned kWrites = 20'000;
  for (const bool loose : {false, true}) {
    BenchOfDriver bench({}, loose);
    bench.start();
    const wl_port& port = *bench.port;
    for (unsigned n = 1; n <= kWrites; ++n) port.write(port.context, 0, WL_PEER_SCRATCH_OFFSET(0), 4, n);
    EXPECT_EQ(port.read(port.context, 0, WL_PEER_SCRATCH_OFFSET(0), 4), kWrites);
    EXPECT_EQ(bench.system.bridge().counters().timeouts, 0U) << "it has not been on its way for long";
  }
}

}  // namespace exactly_once_test
}  // namespace warpline
