#include "platform/machine/cache_registers.h"

#include <gtest/gtest.h>

#include "tests/platform/machine/harness.h"
#include "tests/platform/programs/sass_trace/trace_player.h"

namespace warpline::test {
namespace cache_registers_test {

using Outcome = CacheRegisters::Outcome;

/// Registers above hardware that notes what it is asked for.
struct Bench {
  bool busy = false;
  std::vector<std::uint32_t> asked;
  CacheRegisters registers{{CacheRegisters::kL1Global | CacheRegisters::kConstant, [this] { return busy; },
                            [this](std::uint32_t caches) { asked.push_back(caches); }}};

  std::uint32_t read(std::uint32_t offset) {
    std::uint32_t value = 0;
    EXPECT_EQ(registers.read(offset, value), Outcome::done);
    return value;
  }
};

TEST(CacheRegisters, AreWhatTheirTableSays) {
  Bench b;
  for (std::uint32_t offset = 0; offset < 2 * CacheRegisters::kBytes; ++offset) {
    const CacheRegisters::Register* described = nullptr;
    for (const CacheRegisters::Register& r : CacheRegisters::all())
      if (r.offset == offset) described = &r;
    std::uint32_t value = 0;
    const Outcome none = Outcome::no_register;
    EXPECT_EQ(b.registers.read(offset, value), described == nullptr  ? none
                                               : described->readable ? Outcome::done
                                                                     : Outcome::write_only);
    EXPECT_EQ(b.registers.write(offset, 0), described == nullptr  ? none
                                            : described->writable ? Outcome::done
                                                                  : Outcome::read_only);
  }
  EXPECT_EQ(b.read(CacheRegisters::kIdentity), CacheRegisters::kIdentityValue);
  EXPECT_TRUE(b.asked.empty()) << "a zero asks for nothing";
}

TEST(CacheRegisters, AnInvalidationTakesEffectUnlessTheGpuIsBusy) {
  Bench b;
  b.registers.write(CacheRegisters::kInvalidate, CacheRegisters::kConstant);
  EXPECT_EQ(b.asked, std::vector<std::uint32_t>{CacheRegisters::kConstant});
  EXPECT_EQ(b.read(CacheRegisters::kStatus), 0U);
  b.busy = true;
  b.registers.write(CacheRegisters::kInvalidate, CacheRegisters::kL1Global);
  EXPECT_EQ(b.read(CacheRegisters::kStatus), CacheRegisters::kBusy | CacheRegisters::kRefused);
  b.busy = false;
  EXPECT_EQ(b.read(CacheRegisters::kStatus), CacheRegisters::kRefused);
  b.registers.write(CacheRegisters::kStatus, CacheRegisters::kRefused);
  EXPECT_EQ(b.read(CacheRegisters::kStatus), 0U);
  b.registers.write(CacheRegisters::kInvalidate, CacheRegisters::kTexture);
  EXPECT_EQ(b.read(CacheRegisters::kStatus), CacheRegisters::kRefused) << "this GPU has no such cache";
  EXPECT_EQ(b.asked.size(), 1U);
  EXPECT_EQ(b.read(CacheRegisters::kInvalidations), 1U);
}

/// A driver that launches dependent grids itself: the second grid hits what the first left in L1, unless the
/// driver has had it invalidated.
TEST(CacheRegisters, ADriverInvalidatesL1BetweenDependentGrids) {
  for (const bool invalidates : {false, true}) {
    TraceText t;
    t.body = block_of({"0000 ffffffff 1 R2 LDG.E 1 R2 4 1 0x7f0000000000 4 0"});
    const TemporaryFile file("kernel-1.traceg", t.text());
    auto kernel = sass::open_trace(file.path());
    ASSERT_TRUE(kernel.ok());
    RunOptions options;
    options.tags_only = true;
    GpuPlatform platform(preset("mini", {{"sms=1"}}), options);
    platform.map_everything();
    ASSERT_EQ(platform.launch(*kernel.value()).outcome, RunOutcome::quiescent);
    const std::uint32_t asked = invalidates ? CacheRegisters::kL1Global : 0;
    EXPECT_EQ(platform.registers().write(CacheRegisters::kInvalidate, asked), Outcome::done);
    auto again = sass::open_trace(file.path());
    ASSERT_EQ(platform.launch(*again.value(), false).outcome, RunOutcome::quiescent);
    EXPECT_EQ(AllCounters(platform).total("l1_lg.load_sector_hits"), invalidates ? 0U : 4U);
  }
}

}  // namespace cache_registers_test
}  // namespace warpline::test
