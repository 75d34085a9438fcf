#include "rtl_models/sm/request_builder.h"

#include <gtest/gtest.h>

#include <cstring>

#include "rtl_models/sim/request_pool.h"
#include "rtl_models/sm/access_lines.h"
#include "rtl_models/sm/address_resolution.h"
#include "rtl_models/sm/answer_scatter.h"

namespace warpline {
namespace request_builder_test {

/// Resolves, coalesces and builds the first request of an access to global memory (0x1000 to 0x10FF, at
/// 0x8000 of video memory) or local memory (at 0x200000).
struct Builder {
  Builder() {
    space.map({0x1000, 0x100, physical(Aperture::vidmem, 0x8000), 5});
    map.space = &space;
    map.local_base = physical(Aperture::vidmem, 0x200000);
    map.constant_base = physical(Aperture::vidmem, 0x100000);
    map.local_bytes = 64;
    resolution.start(map);
    builder.start(map);
    op.type = DataType::u32;
    op.space = Space::global;
    access.active = ~LaneMask{0};
    access.form = AddressForm::strided;
    access.base = 0x1000;
    access.stride = 4;
  }
  Request& build() {
    const auto fault = resolution.resolve(op, access, 1, {1024, 64}, resolved);
    EXPECT_FALSE(fault);
    lines.start(resolved);
    EXPECT_TRUE(lines.any());
    Request& r = *pool.allocate();
    well_formed = builder.fill(r, resolved, lines.next(), lines.coalescer());
    return r;
  }
  AddressSpace space;
  MemoryMap map;
  RequestPool pool;
  AddressResolution resolution;
  RequestBuilder builder{pool};
  AccessLines lines;
  MemOp op;
  MemoryAccess access;
  ResolvedAccess resolved;
  bool well_formed = false;
};

TEST(RequestBuilder, NamesALineByBothAddressesAndItsRegion) {
  Builder b;
  b.access.base = 0x1080;
  const Request& r = b.build();
  EXPECT_EQ(r.command, Command::read);
  EXPECT_EQ(r.virtual_line, VirtualAddress{0x1080});
  EXPECT_EQ(r.line, physical(Aperture::vidmem, 0x8080));
  EXPECT_EQ(r.sectors, kAllSectors);
  EXPECT_EQ(r.region, 5U);
  EXPECT_EQ(r.scope, Scope::none);
  EXPECT_TRUE(b.well_formed);
}

TEST(RequestBuilder, LocalLinesLookLikeNoGlobalOnes) {
  Builder b;
  b.op.space = Space::local;
  b.access.base = 8;
  b.access.stride = 0;
  const Request& r = b.build();
  const std::uint64_t warp = 1 * 64 * 32;
  EXPECT_EQ(r.virtual_line, VirtualAddress{kLocalTag | (warp + 2 * kLineBytes)});
  EXPECT_EQ(r.line, physical(Aperture::vidmem, 0x200000 + warp + 2 * kLineBytes));
  EXPECT_TRUE(r.local);
}

TEST(RequestBuilder, ParametersLieInTheirBank) {
  Builder b;
  b.op.space = Space::param;
  b.access.base = 0;
  b.access.stride = 0;
  const Request& r = b.build();
  EXPECT_EQ(r.virtual_line, VirtualAddress{0x200});
  EXPECT_EQ(r.line, physical(Aperture::vidmem, 0x100200));
  EXPECT_EQ(r.sectors, 1U);
}

TEST(RequestBuilder, AWriteCarriesTheBytesOfItsLanesAndNoOthers) {
  Builder b;
  b.op.kind = MemKind::store;
  b.access.active = 0b101;
  for (unsigned lane = 0; lane < 3; ++lane) {
    const std::uint32_t value = 0x100 + lane;
    std::memcpy(b.access.lane_data(lane), &value, sizeof value);
  }
  const Request& r = b.build();
  EXPECT_EQ(r.command, Command::write);
  ByteMask want;
  want.set(0, 4);
  want.set(8, 4);
  EXPECT_TRUE(r.bytes == want);
  std::uint32_t got = 0;
  std::memcpy(&got, &r.data[8], sizeof got);
  EXPECT_EQ(got, 0x102U);
}

TEST(RequestBuilder, AnAtomicIsItsLanesInOrder) {
  Builder b;
  b.op.kind = MemKind::atomic;
  b.op.atomic = AtomicOperation::compare_and_swap;
  b.access.active = 0b1100;
  for (unsigned lane = 2; lane < 4; ++lane) {
    const std::uint32_t value = 10 * lane;
    std::memcpy(b.access.lane_data(lane), &value, sizeof value);
    b.access.second[lane] = 100 * lane;
  }
  Request& r = b.build();
  EXPECT_EQ(r.command, Command::atomic);
  EXPECT_EQ(r.scope, Scope::gpu);
  ASSERT_EQ(r.atomics->count, 2U);
  EXPECT_EQ(r.atomics->lanes[1].lane, 3U);
  EXPECT_EQ(r.atomics->lanes[1].offset, 12U);
  EXPECT_EQ(r.atomics->lanes[1].operand, 30U);
  EXPECT_EQ(r.atomics->lanes[1].second, 300U);

  r.atomics->lanes[1].old_value = 77;
  SharedMemory none(0, 32, false);
  scatter(r, b.resolved, 0, {b.access, none});
  std::uint32_t got = 0;
  std::memcpy(&got, b.access.lane_data(3), sizeof got);
  EXPECT_EQ(got, 77U);
}

TEST(RequestBuilder, QualifiersBecomeWhatCachesAreAskedFor) {
  Builder b;
  b.op.cache_operator = CacheOperator::cs;
  EXPECT_EQ(b.build().l1_priority, EvictionPriority::first);
  b.op.l1_eviction = L1Eviction::last;
  b.op.l2_eviction = L2Eviction::unchanged;
  const Request& hinted = b.build();
  EXPECT_EQ(hinted.l1_priority, EvictionPriority::last);
  EXPECT_EQ(hinted.l2_priority, EvictionPriority::unchanged);
  b.op.cache_operator = CacheOperator::cg;
  EXPECT_TRUE(b.build().no_l1);
  b.op.is_volatile = true;
  EXPECT_EQ(b.build().scope, Scope::sys);
  b.op.prefetch_bytes = 128;
  b.access.active = 1;
  EXPECT_EQ(b.build().prefetch, kAllSectors);
  b.op.cache_hint = true;
  b.access.policy[0] = 1;  // no instruction makes it
  EXPECT_EQ(b.build().l2_priority, EvictionPriority::normal);
  EXPECT_FALSE(b.well_formed);
}

TEST(RequestBuilder, AnExactReadAsksForOneLanesBytes) {
  Builder b;
  b.op.is_mmio = true;
  b.access.active = 0b10;
  const Request& r = b.build();
  EXPECT_TRUE(r.exact);
  EXPECT_TRUE(r.no_l1);
  EXPECT_EQ(r.scope, Scope::sys);
  ByteMask want;
  want.set(4, 4);
  EXPECT_TRUE(r.bytes == want);
}

TEST(RequestBuilder, ControlNamesTheMappedSectorsOfTheLine) {
  Builder b;
  b.space.map({0x2000, 0x30, physical(Aperture::vidmem, 0x9000), 0});
  b.op.kind = MemKind::prefetch;
  b.op.type = DataType::none;
  b.op.level = 2;
  b.access.active = 1;
  b.access.base = 0x2008;
  const Request& r = b.build();
  EXPECT_EQ(r.command, Command::control);
  EXPECT_EQ(r.control, LineControl::prefetch_l2);
  EXPECT_EQ(r.sectors, 0b0011U);
}

TEST(AnswerScatter, GivesLanesTheBytesOfTheirLineOnly) {
  Builder b;
  b.access.base = 0x1040;
  Request& r = b.build();
  for (unsigned n = 0; n < kLineBytes; ++n) r.data[n] = static_cast<std::uint8_t>(n);
  std::memset(b.access.data, 0xEE, kWarpLanes * MemoryAccess::kMaxLaneBytes);
  SharedMemory none(0, 32, false);
  scatter(r, b.resolved, 0, {b.access, none});
  EXPECT_EQ(b.access.lane_data(0)[0], 64U);
  EXPECT_EQ(b.access.lane_data(15)[3], 127U);
  EXPECT_EQ(b.access.lane_data(16)[0], 0xEEU) << "on the next line";
}

TEST(AnswerScatter, CopiesLandInTheCtasPartOfSharedMemory) {
  Builder b;
  b.op.kind = MemKind::async_copy;
  b.op.fills = true;
  b.access.active = 0b11;
  b.access.second[0] = CopyTarget{16, 3}.packed();
  b.access.second[1] = CopyTarget{20, 0}.packed();
  Request& r = b.build();
  for (std::uint8_t& byte : r.data) byte = 9;
  SharedMemory shared(64, 32, true);
  for (unsigned n = 0; n < 64; n += 4) shared.fill(n, r.data.data(), 4, 4);
  scatter_zeros(b.resolved, {b.access, shared, 32});
  scatter(r, b.resolved, 0, {b.access, shared, 32});
  MemoryAccess look;
  look.active = 0b111;
  for (const unsigned lane : {0U, 1U, 2U}) look.address[lane] = 48 + lane * 4U;
  MemOp load;
  load.type = DataType::u32;
  shared.perform(load, {look, look.active}, look, 0);
  const auto word = [&](unsigned lane) {
    std::uint32_t value = 0;
    std::memcpy(&value, look.lane_data(lane), sizeof value);
    return value;
  };
  EXPECT_EQ(word(0), 0x00090909U) << "three bytes read, zeros behind";
  EXPECT_EQ(word(1), 0U) << "nothing read";
  EXPECT_EQ(word(2), 0x09090909U);
}

}  // namespace request_builder_test
}  // namespace warpline
