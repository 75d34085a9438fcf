#include "rtl_models/sm/address_resolution.h"

#include <gtest/gtest.h>

#include "rtl_models/base/random.h"

namespace warpline {
namespace address_resolution_test {

constexpr std::uint64_t kShared = AddressWindows::kSharedBase, kLocal = AddressWindows::kLocalBase;

/// Resolves for slot 3 of an SM whose threads have 64 bytes of local memory, and whose CTAs have 1024 of
/// shared memory. Global memory: 0x1000 to 0x1FFF, and 0x3000 to 0x307F, which is mapped uncached.
struct Resolver {
  Resolver() {
    space.map({0x1000, 0x1000, physical(Aperture::vidmem, 0x8000), 0});
    Mapping bar{0x3000, 0x80, physical(Aperture::peer, 0), 0};
    bar.kind = MappingKind::uncached;
    space.map(bar);
    MemoryMap map;
    map.space = &space;
    map.images = &images;
    map.local_bytes = 64;
    resolution.start(map);
    access.active = ~LaneMask{0};
  }
  std::optional<Fault> resolve(MemKind kind, Space where, DataType type = DataType::u32) {
    op.kind = kind;
    op.space = where;
    op.type = type;
    return resolution.resolve(op, access, 3, {1024, 64}, out);
  }
  void one_lane(unsigned lane, std::uint64_t address) {
    access.active = LaneMask{1} << lane;
    access.form = AddressForm::per_lane;
    access.address[lane] = address;
  }
  void strided(std::uint64_t base, std::int64_t stride) {
    access.active = ~LaneMask{0};
    access.form = AddressForm::strided;
    access.base = base;
    access.stride = stride;
  }
  AddressSpace space;
  ImageTable images;
  AddressResolution resolution;
  MemOp op;
  MemoryAccess access;
  ResolvedAccess out;
};

TEST(AddressResolution, GenericAddressesGoToTheSpaceOfTheirWindow) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    Resolver r;
    r.access.active = static_cast<LaneMask>(random.next()) | 1U;
    std::array<std::uint64_t, kWarpLanes> written{};
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      constexpr std::array<std::uint64_t, 3> kBases = {0x1000, kShared, kLocal};
      written[lane] = r.access.address[lane] = kBases[random.below(3)] + random.below(16) * 4;
    }
    ASSERT_FALSE(r.resolve(MemKind::load, Space::generic));
    ASSERT_EQ(r.out.global().lanes() | r.out.shared().lanes() | r.out.local().lanes(), r.access.active);
    EXPECT_EQ(r.out.nowhere(), 0U);
    for_each_lane(r.access.active, [&](unsigned lane) {
      const auto in = [lane](auto addresses) { return (addresses.lanes() >> lane & 1U) != 0; };
      const std::uint64_t at = written[lane];
      ASSERT_EQ(in(r.out.shared()), at >= kShared);
      ASSERT_EQ(in(r.out.local()), at >= kLocal && at < kShared);
      if (in(r.out.global())) {
        ASSERT_EQ(r.out.global()[lane], VirtualAddress{at});
      } else if (in(r.out.shared())) {
        ASSERT_EQ(r.out.shared()[lane], SharedAddress{at - kShared});
      } else {
        ASSERT_EQ(r.out.local()[lane], LocalAddress{at - kLocal});
      }
      ASSERT_EQ(r.access.address[lane], written[lane]) << "what the program wrote stays";
    });
  }
}

TEST(AddressResolution, ConstantsAndParametersAreReadTogether) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    Resolver r;
    r.access.active = static_cast<LaneMask>(random.next()) | 1U;
    std::array<std::uint64_t, kWarpLanes> wanted{};
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      const bool parameter = random.below(2) != 0;
      const std::uint64_t at = random.below(1000) * 4;
      r.access.address[lane] =
          parameter ? AddressWindows::kParamBase + at : AddressWindows::kConstantBase + 0x30000 + at;
      wanted[lane] = parameter ? 0x210 + at : 0x30000 + at;
    }
    ASSERT_FALSE(r.resolve(MemKind::load, Space::generic));
    ASSERT_EQ(r.out.constant().lanes(), r.access.active);
    for_each_lane(r.access.active, [&](unsigned lane) {
      ASSERT_EQ(r.out.constant()[lane], ConstantAddress{wanted[lane]}) << "seed " << seed << " lane " << lane;
    });
  }
}

TEST(AddressResolution, AStridedAccessStaysOneInEverySpace) {
  Resolver r;
  r.strided(kLocal + 4, 0);
  ASSERT_FALSE(r.resolve(MemKind::load, Space::generic));
  EXPECT_TRUE(r.out.local().strided());
  EXPECT_EQ(r.out.local()[31], LocalAddress{4});
  EXPECT_EQ(r.out.local_base(), VirtualAddress{kLocalTag | 3 * 64 * 32});
  r.strided(kShared, 4);
  ASSERT_FALSE(r.resolve(MemKind::load, Space::generic));
  EXPECT_TRUE(r.out.shared().contiguous(4));
  EXPECT_EQ(r.out.shared()[31], SharedAddress{124});
  r.strided(16, 4);
  ASSERT_FALSE(r.resolve(MemKind::load, Space::param));
  EXPECT_EQ(r.out.constant()[1], ConstantAddress{0x210 + 20});
}

TEST(AddressResolution, AFaultNamesTheFirstLaneAndTheAddressAsWritten) {
  struct Row {
    Space space;
    MemKind kind;
    std::uint64_t address;
    std::optional<FaultKind> kind_of_fault;
  };
  const MemKind load = MemKind::load, atomic = MemKind::atomic;
  const std::uint64_t banks = ConstantBanks::kBanks * ConstantBanks::kBankBytes;
  for (const Row& row :
       {Row{Space::global, load, 0x1FFC, std::nullopt},
        Row{Space::global, load, 0x2000, FaultKind::unmapped},
        Row{Space::global, load, 0x1002, FaultKind::misaligned},
        Row{Space::shared, load, 1020, std::nullopt},
        Row{Space::shared, load, 1024, FaultKind::shared_range},
        Row{Space::generic, load, kShared + 1020, std::nullopt},
        Row{Space::generic, load, kShared + 1024, FaultKind::shared_range},
        Row{Space::generic, load, kLocal + 60, std::nullopt},
        Row{Space::generic, load, kLocal + 64, FaultKind::local_range},
        Row{Space::generic, load, kLocal + 2, FaultKind::misaligned},
        Row{Space::generic, atomic, kLocal, FaultKind::atomic_local},
        Row{Space::generic, atomic, kShared, std::nullopt},
        Row{Space::generic, load, AddressWindows::kConstantBase + banks - 4, std::nullopt},
        Row{Space::generic, load, AddressWindows::kConstantBase + banks, FaultKind::constant_range},
        Row{Space::generic, load, AddressWindows::kConstantBase + 0x30002, FaultKind::misaligned},
        Row{Space::generic, MemKind::store, AddressWindows::kConstantBase + 0x30000, FaultKind::unmapped},
        Row{Space::constant, load, banks - 4, std::nullopt},
        Row{Space::constant, load, banks, FaultKind::constant_range},
        Row{Space::param, load, banks - 0x214, std::nullopt},
        Row{Space::param, load, banks - 0x210, FaultKind::constant_range}}) {
    Resolver r;
    r.one_lane(7, row.address);
    const auto fault = r.resolve(row.kind, row.space);
    ASSERT_EQ(fault.has_value(), row.kind_of_fault.has_value()) << std::hex << row.address;
    if (!fault) continue;
    EXPECT_EQ(fault->kind, *row.kind_of_fault) << name_of(fault->kind);
    EXPECT_EQ(fault->lane, 7U);
    EXPECT_EQ(fault->address, row.address) << std::hex << fault->address;
  }
}

TEST(AddressResolution, UncachedMemoryAndMmioAreExact) {
  Resolver r;
  r.one_lane(0, 0x3000);
  ASSERT_FALSE(r.resolve(MemKind::load, Space::global));
  EXPECT_TRUE(r.out.exact());
  r.op.atomic = AtomicOperation::add;
  ASSERT_FALSE(r.resolve(MemKind::atomic, Space::global));
  EXPECT_FALSE(r.out.exact());
  r.one_lane(0, 0x1000);
  ASSERT_FALSE(r.resolve(MemKind::load, Space::global));
  EXPECT_FALSE(r.out.exact());
  r.op.is_mmio = true;
  ASSERT_FALSE(r.resolve(MemKind::load, Space::global));
  EXPECT_TRUE(r.out.exact());
  r.one_lane(0, kShared);
  EXPECT_EQ(r.resolve(MemKind::load, Space::generic)->kind, FaultKind::not_global);
}

TEST(AddressResolution, AWholeLineIsOneOfGlobalMemoryAndNoOther) {
  Resolver r;
  r.op.type = DataType::u32;
  r.op.space = Space::global;
  const auto whole = [&](std::uint64_t base, std::int64_t stride) {
    r.strided(base, stride);
    return r.resolution.resolve_whole_line(r.op, r.access, r.out);
  };
  const Mapping* const m = whole(0x1F80, 4);
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(m->translate(VirtualAddress{0x1F80}), physical(Aperture::vidmem, 0x8F80));
  EXPECT_EQ(r.out.global().lanes(), ~LaneMask{0});
  EXPECT_FALSE(r.out.exact());
  EXPECT_EQ(whole(0x1F84, 4), nullptr) << "two lines";
  EXPECT_EQ(whole(0x1F80, 8), nullptr);
  EXPECT_EQ(whole(0x2000, 4), nullptr) << "unmapped";
  EXPECT_EQ(whole(0x3000, 4), nullptr) << "uncached";
  r.op.kind = MemKind::store;
  EXPECT_EQ(whole(0x1F80, 4), nullptr);
}

TEST(AddressResolution, CopiesOfNoBytesGoNowhereAndTargetsAreChecked) {
  Resolver r;
  r.access.active = 3;
  r.access.address[0] = 0x1000;
  r.access.address[1] = 0x9999'0000;  // reads nothing there
  r.access.second[0] = CopyTarget{0, 2}.packed();
  r.access.second[1] = CopyTarget{4, 0}.packed();
  r.op.fills = true;
  ASSERT_FALSE(r.resolve(MemKind::async_copy, Space::global));
  EXPECT_EQ(r.out.global().lanes(), 1U);
  EXPECT_EQ(r.out.nowhere(), 2U);
  EXPECT_EQ(r.out.source_bytes(0), 2U);
  EXPECT_EQ(r.out.copy_target(1), SharedAddress{4});
  r.access.address[1] += 2;
  EXPECT_EQ(r.resolve(MemKind::async_copy, Space::global)->kind, FaultKind::misaligned);
  r.access.address[1] -= 2;
  r.access.second[1] = CopyTarget{1024, 0}.packed();
  const auto fault = r.resolve(MemKind::async_copy, Space::global);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::shared_range);
  EXPECT_EQ(fault->address, 1024U);
}

TEST(AddressResolution, AnImageOfWhichTheGpuHasNotAllIsAFault) {
  for (const auto& [first, faults] :
       {std::pair(0x1FE0U, false), std::pair(0x1FF0U, true), std::pair(0xF00U, true)}) {
    Resolver r;
    Image image;
    image.address = first;
    image.width = 8;
    image.format = {DataType::u32, 1};
    image.is_surface = true;
    r.access.address[0] = r.images.add(image);
    r.access.second[0] = ImageCoordinates{0, 0}.packed();
    r.access.active = 1;
    const auto fault = r.resolve(MemKind::surface_load, Space::surface);
    ASSERT_EQ(fault.has_value(), faults);
    if (!fault) continue;
    EXPECT_EQ(fault->kind, FaultKind::unmapped);
    EXPECT_EQ(fault->address, first);
  }
}

TEST(AddressResolution, HandlesAndCoordinatesBecomeAddressesOfTexels) {
  Resolver r;
  Image image;
  image.is_surface = true;
  image.address = 0x1100;
  image.width = 8;
  image.height = 2;
  image.format = {DataType::u32, 1};
  const std::uint64_t handle = r.images.add(image);
  const auto at = [&](unsigned lane, std::int32_t x, std::int32_t y) {
    r.access.address[lane] = handle;
    r.access.second[lane] = ImageCoordinates{x, y}.packed();
  };
  r.access.active = 3;
  at(0, 4, 1);
  at(1, 32, 0);
  r.op.beyond_edge = BeyondEdge::zero;
  ASSERT_FALSE(r.resolve(MemKind::surface_load, Space::surface));
  EXPECT_EQ(r.out.texels().lanes(), 1U);
  EXPECT_EQ(r.out.texels()[0], VirtualAddress{0x1100 + 32 + 4});
  EXPECT_EQ(r.out.image(0).address, 0x1100U);
  EXPECT_EQ(r.out.nowhere(), 2U);
  EXPECT_EQ(r.access.address[0], handle) << "what the program wrote stays";
  r.op.beyond_edge = BeyondEdge::trap;
  const auto fault = r.resolve(MemKind::surface_load, Space::surface);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::surface_range);
  EXPECT_EQ(fault->lane, 1U);
  EXPECT_EQ(fault->address, handle);
  EXPECT_EQ(r.resolve(MemKind::texture_load, Space::texture)->kind, FaultKind::no_texture);
}

TEST(AddressResolution, ControlOfWhatIsNotMappedIsDropped) {
  Resolver r;
  r.access.active = 7;
  r.access.address[0] = 0x1004;
  r.access.address[1] = 0x7777'0000;
  r.access.address[2] = kLocal + 64;
  ASSERT_FALSE(r.resolve(MemKind::prefetch, Space::generic, DataType::none));
  EXPECT_EQ(r.out.global().lanes(), 1U);
  EXPECT_EQ(r.out.local().lanes(), 0U);
  EXPECT_EQ(r.out.dropped(), 2U);
  r.one_lane(4, 0x2000);
  EXPECT_EQ(r.resolve(MemKind::discard, Space::global, DataType::none)->kind, FaultKind::unmapped);
  r.one_lane(4, 0x1004);
  EXPECT_EQ(r.resolve(MemKind::discard, Space::global, DataType::none)->kind, FaultKind::misaligned);
}

}  // namespace address_resolution_test
}  // namespace warpline
