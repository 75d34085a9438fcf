// Textures and surfaces on an SM: where elements lie, what lies beyond the edges, which cache is asked.
#include <gtest/gtest.h>

#include <set>

#include "rtl_models/base/bits.h"
#include "tests/rtl_models/sm/script.h"

namespace warpline::test {
namespace sm_images_test {

constexpr std::uint64_t kImageAt = 0x1000, kImageLine = 0x8000, kOtherAt = 0x1800;

using Coordinates = std::array<ImageCoordinates, kWarpLanes>;

Step image_step(MemKind kind, DataType type, unsigned vector, BeyondEdge beyond,
                const std::array<std::uint64_t, kWarpLanes>& handles, const Coordinates& where,
                LaneMask active = ~LaneMask{0}, const std::vector<std::uint8_t>& data = {}) {
  const Space space = kind == MemKind::texture_load ? Space::texture : Space::surface;
  Step s = memory(
      kind, space, type,
      [=](MemoryAccess& a) {
        a.active = active;
        for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
          a.address[lane] = handles[lane];
          a.second[lane] = where[lane].packed();
        }
        std::copy(data.begin(), data.end(), a.data);
      },
      kind == MemKind::surface_store ? std::vector<std::uint16_t>{} : std::vector<std::uint16_t>{1});
  s.instruction.mem.vector = static_cast<std::uint8_t>(vector);
  s.instruction.mem.beyond_edge = beyond;
  return s;
}

/// The coordinates of one lane; the others take no part.
Step one_lane(MemKind kind, DataType type, unsigned vector, BeyondEdge beyond, std::uint64_t handle,
              std::int32_t x, std::int32_t y) {
  std::array<std::uint64_t, kWarpLanes> handles{};
  Coordinates where{};
  handles[3] = handle;
  where[3] = {x, y};
  return image_step(kind, type, vector, beyond, handles, where, 1U << 3U);
}

struct Pixels {
  Image image;
  std::vector<std::uint8_t> bytes;
  [[nodiscard]] const std::uint8_t* row(std::int64_t y) const {
    return &bytes[static_cast<std::size_t>(y) * image.row_bytes()];
  }
};

Pixels random_image(Random& random, std::uint64_t at, bool surface) {
  const auto names = texel_format_names();
  Pixels p;
  p.image.is_surface = surface;
  p.image.address = at;
  p.image.format = *texel_format_from(names[random.below(names.size())]);
  p.image.width = static_cast<std::uint32_t>(1 + random.below(16));
  if (surface) p.image.width = (p.image.width + 15) / 16 * 16;  // rows that any access size divides
  p.image.height = static_cast<std::uint32_t>(1 + random.below(0x700 / p.image.row_bytes()));
  for (std::uint64_t b = 0; b < p.image.bytes(); ++b)
    p.bytes.push_back(static_cast<std::uint8_t>(random.next()));
  return p;
}

void fill(FlatMemory& memory, const Pixels& p) {
  for (std::size_t b = 0; b < p.bytes.size(); ++b) {
    const std::uint64_t at = kImageLine + (p.image.address - kImageAt) + b;
    memory.lines[at / kLineBytes * kLineBytes][at % kLineBytes] = p.bytes[b];
  }
}

std::int32_t somewhere(Random& random, std::uint64_t size) {
  return static_cast<std::int32_t>(random.below(size + 8)) - 4;
}

TEST(SmImages, TextureLoadsAreThoseOfAnArrayClampedToItsEdges) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const std::array<Pixels, 2> images = {random_image(random, kImageAt, false),
                                          random_image(random, kOtherAt, false)};
    const bool as_float = is_float(images[0].image.format.type);
    const bool both = is_float(images[1].image.format.type) == as_float;
    SmBench bench({{}}, FlatMemory::random_delay(seed, 40));
    std::array<std::uint64_t, 2> handle_of{};
    for (unsigned n = 0; n < 2; ++n) {
      handle_of[n] = bench.images.add(images[n].image);
      fill(bench.texture, images[n]);
    }
    std::array<std::uint64_t, kWarpLanes> handles{};
    Coordinates where;
    std::array<unsigned, kWarpLanes> which{};
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      which[lane] = both ? static_cast<unsigned>(random.below(2)) : 0;
      handles[lane] = handle_of[which[lane]];
      where[lane] = {somewhere(random, images[which[lane]].image.width),
                     somewhere(random, images[which[lane]].image.height)};
    }
    const auto active = static_cast<LaneMask>(random.next() | 1U);
    bench.scripts[0] = {image_step(MemKind::texture_load, as_float ? DataType::f32 : DataType::u32, 4,
                                   BeyondEdge::trap, handles, where, active),
                        alu(1, {1})};
    ASSERT_EQ(bench.run(), RunOutcome::quiescent);
    ASSERT_TRUE(bench.sm.faults().empty()) << bench.sm.faults()[0].kind;
    EXPECT_TRUE(bench.l1.seen.empty());
    EXPECT_EQ(bench.sm.lsu_counters().image_requests, bench.texture.seen.size());
    EXPECT_EQ(bench.sm.lsu_counters().global_requests, 0U);
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      if ((active >> lane & 1U) == 0) continue;
      const Pixels& p = images[which[lane]];
      const auto x = std::clamp<std::int64_t>(where[lane].x, 0, std::int64_t{p.image.width} - 1);
      const auto y = std::clamp<std::int64_t>(where[lane].y, 0, std::int64_t{p.image.height} - 1);
      const auto want = components_of(p.image.format, p.row(y) + x * p.image.format.bytes());
      ASSERT_EQ(
          std::memcmp(&bench.log.loaded.at({0, 0}).data[lane * LaneBuffers::kMaxLaneBytes], want.data(), 16),
          0)
          << "lane " << lane;
    }
  }
}

/// Every shape and filter. What is to come is what the plan of each lane makes of the image's bytes; each
/// line is asked for once, with the sectors of all texels in it.
TEST(SmImages, FilteredLoadsReadEveryTexelOfTheirPlan) {
  constexpr Geometry kGeometries[] = {Geometry::d1,  Geometry::d2,   Geometry::d3,   Geometry::a1d,
                                      Geometry::a2d, Geometry::cube, Geometry::acube};
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Pixels p = random_image(random, kImageAt, false);
    const Geometry geometry = kGeometries[seed % std::size(kGeometries)];
    const bool one = geometry == Geometry::d1 || geometry == Geometry::a1d;
    Image& image = p.image;
    image.width = 1 + static_cast<std::uint32_t>(random.below(4));
    image.height = one ? 1 : image.width;
    image.depth = geometry == Geometry::d3 ? 3 : 1;
    image.cube = geometry == Geometry::cube || geometry == Geometry::acube;
    image.layers =
        geometry == Geometry::a1d || geometry == Geometry::a2d || geometry == Geometry::acube ? 2 : 0;
    image.levels = static_cast<std::uint32_t>(1 + random.below(image.most_levels()));
    image.sampler.normalized_coordinates = true;
    image.sampler.reading.normalized = true;
    image.sampler.filter = TextureFilter::linear;
    image.sampler.mip_filter = TextureFilter::linear;
    for (AddressMode& m : image.sampler.address) m = static_cast<AddressMode>(random.below(4));
    p.bytes.resize(static_cast<std::size_t>(image.bytes()));
    for (std::uint8_t& b : p.bytes) b = static_cast<std::uint8_t>(random.next());
    SmParameters parameters;
    parameters.unified_l1 = seed % 2 != 0;
    parameters.texture_latency = static_cast<unsigned>(seed % 3) * 17;
    SmBench bench({{}}, FlatMemory::random_delay(seed, 40), parameters);
    FlatMemory& cache = parameters.unified_l1 ? bench.l1 : bench.texture;
    const std::uint64_t handle = bench.images.add(image);
    fill(cache, p);
    Step step =
        image_step(MemKind::texture_load,
                   reads_as_float(image.format, image.sampler.reading) ? DataType::f32 : DataType::u32, 4,
                   BeyondEdge::trap, {}, {});
    MemOp& op = step.instruction.mem;
    op.image.geometry = geometry;
    op.image.float_coordinates = true;
    op.image.sampling = Sampling::level;
    std::array<ImageCoordinates, kWarpLanes> where;
    std::array<SampleOperands, kWarpLanes> operands;
    const auto coordinate = [&] {
      const float x = static_cast<float>(random.below(4096)) / 1024 - 2;
      return static_cast<std::int32_t>(bits_as<std::uint32_t>(x));
    };
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      where[lane] = {coordinate(), coordinate(), coordinate(), static_cast<std::uint32_t>(random.below(3))};
      operands[lane].dx[0] = static_cast<float>(random.below(512)) / 256;
    }
    const auto active = static_cast<LaneMask>(random.next() | 1U);
    step.fill = [=](MemoryAccess& a) {
      a.active = active;
      for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
        a.address[lane] = handle;
        a.second[lane] = where[lane].packed();
        a.policy[lane] = where[lane].packed_rest();
        std::memcpy(a.lane_data(lane), &operands[lane], sizeof operands[lane]);
      }
    };
    bench.scripts[0] = {step, alu(1, {1})};
    ASSERT_EQ(bench.run(), RunOutcome::quiescent);
    ASSERT_TRUE(bench.sm.faults().empty()) << bench.sm.faults()[0].kind;
    std::map<std::uint64_t, SectorMask> lines;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      if ((active >> lane & 1U) == 0) continue;
      TexelPlan plan;
      ASSERT_FALSE(plan_texels(op, image, where[lane], operands[lane], plan));
      TexelBytes texels{};
      for (unsigned k = 0; k < plan.count; ++k) {
        const std::uint64_t at = plan.offset[k];
        if (at == TexelPlan::kBorder) continue;
        std::memcpy(texels[k].data(), &p.bytes.at(static_cast<std::size_t>(at)), image.format.bytes());
        const std::uint64_t v = image.address + at;
        lines[v / kLineBytes] |= static_cast<SectorMask>(1U << v % kLineBytes / kSectorBytes);
      }
      std::array<std::uint8_t, 16> want{};
      combine_texels(op, image, plan, texels, 0, want.data());
      ASSERT_EQ(
          std::memcmp(&bench.log.loaded.at({0, 0}).data[lane * LaneBuffers::kMaxLaneBytes], want.data(), 16),
          0)
          << "lane " << lane;
    }
    unsigned sectors = 0;
    for (const auto& [line, mask] : lines) sectors += sector_count(mask);
    EXPECT_EQ(cache.seen.size(), lines.size());
    EXPECT_EQ(bench.l1.seen.size() + bench.texture.seen.size(), lines.size());
    for (const FlatMemory::Seen& s : cache.seen)
      EXPECT_EQ(s.reader, parameters.unified_l1 ? Reader::texture : Reader::load);
    EXPECT_EQ(bench.sm.lsu_counters().l1_lg_sectors, parameters.unified_l1 ? sectors : 0U);
    EXPECT_EQ(bench.sm.lsu_counters().image_requests, lines.size());
    EXPECT_EQ(bench.sm.lsu_counters().image_sectors, sectors);
    EXPECT_EQ(bench.sm.lsu_counters().texture_sectors, sectors);
  }
}

/// The edge from which on the result of a load of one texel can be read.
std::uint64_t result_of_load(const SmParameters& parameters, MemKind kind) {
  SmBench bench({{}}, SmBench::fixed(20), parameters);
  Random random(1);
  Pixels p = random_image(random, kImageAt, false);
  p.image.format = *texel_format_from("u32x4");
  p.bytes.resize(static_cast<std::size_t>(p.image.bytes()));
  const std::uint64_t handle = bench.images.add(p.image);
  const Step load = kind == MemKind::texture_load
                        ? one_lane(kind, DataType::u32, 4, BeyondEdge::trap, handle, 0, 0)
                        : memory(kind, Space::global, DataType::u32, strided(kImageAt, 4, 1), {1});
  bench.scripts[0] = {load, alu(1, {1})};
  EXPECT_EQ(bench.run(), RunOutcome::quiescent);
  EXPECT_TRUE(bench.sm.faults().empty());
  return bench.log.edge_of(0, 1);
}

TEST(SmImages, TextureLoadsTakeTheLatencyOfTheirPipeAndOtherLoadsDoNot) {
  SmParameters p;
  p.unified_l1 = true;
  const std::uint64_t global = result_of_load(p, MemKind::load);
  EXPECT_EQ(result_of_load(p, MemKind::texture_load), global) << "through the same cache, in the same time";
  p.texture_latency = 36;
  EXPECT_EQ(result_of_load(p, MemKind::texture_load), global + 36);
  EXPECT_EQ(result_of_load(p, MemKind::load), global);
}

TEST(SmImages, SurfaceReductionsGoToMemoryAsSuch) {
  SmBench bench(std::vector<std::vector<Step>>(1));
  const std::uint64_t handle = bench.images.add({true, kImageAt, 8, 2, {DataType::s32, 1}});
  std::array<std::uint64_t, kWarpLanes> handles{};
  handles.fill(handle);
  Coordinates where;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) where[lane] = {static_cast<std::int32_t>(lane % 8), 1};
  Step step = image_step(MemKind::reduction, DataType::b32, 1, BeyondEdge::trap, handles, where);
  MemOp& op = step.instruction.mem;
  op.space = Space::surface;
  op.atomic = AtomicOperation::min;
  op.image.formatted = true;
  op.image.geometry = Geometry::d2;
  const auto fill_of = step.fill;
  step.fill = [fill_of](MemoryAccess& a) {
    fill_of(a);
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      a.policy[lane] = 0;
      const std::int32_t operand = lane < 8 ? -1 - static_cast<std::int32_t>(lane) : 100;
      std::memcpy(a.lane_data(lane), &operand, sizeof operand);
    }
  };
  step.instruction.source_count = step.instruction.destination_count = 0;
  FlatMemory::Line& line = bench.l1.lines[kImageLine];
  line.fill(50);
  bench.scripts[0] = {step, alu(1)};
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  ASSERT_TRUE(bench.sm.faults().empty()) << bench.sm.faults()[0].kind;
  ASSERT_EQ(bench.l1.seen.size(), 1U);
  EXPECT_EQ(bench.l1.seen[0].command, Command::reduce);
  EXPECT_EQ(bench.sm.lsu_counters().image_requests, 1U);
  for (std::int32_t x = 0; x < 8; ++x) {
    std::int32_t value = 0;
    std::memcpy(&value, &line[32 + static_cast<std::size_t>(x) * 4], sizeof value);
    EXPECT_EQ(value, -1 - x) << "compared as the surface's signed elements";
  }
  EXPECT_EQ(line[31], 50);
}

TEST(SmImages, SurfaceAccessesAreThoseOfAnArrayOfBytes) {
  constexpr std::array<DataType, 4> kTypes = {DataType::b8, DataType::b16, DataType::b32, DataType::b64};
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Pixels p = random_image(random, kImageAt, true);
    const auto beyond = random.below(2) == 0 ? BeyondEdge::clamp : BeyondEdge::zero;
    SmBench bench({{}}, FlatMemory::random_delay(seed, 40));
    const std::uint64_t handle = bench.images.add(p.image);
    fill(bench.l1, p);
    std::array<std::uint64_t, kWarpLanes> handles{};
    handles.fill(handle);
    std::vector<Step> script;
    std::map<std::size_t, std::vector<std::uint8_t>> want;
    for (unsigned k = 0; k < 20; ++k) {
      const DataType type = kTypes[random.below(kTypes.size())];
      const unsigned vector = 1U << random.below(size_of(type) == 8 ? 2 : 3);
      const unsigned bytes = size_of(type) * vector;
      const bool store = random.below(2) == 0;
      Coordinates where;
      std::vector<std::uint8_t> data(std::size_t{kWarpLanes} * LaneBuffers::kMaxLaneBytes);
      for (std::uint8_t& b : data) b = static_cast<std::uint8_t>(random.next());
      // Lanes write one after another, so that two on one element leave the later one's.
      for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
        std::int64_t x = somewhere(random, p.image.row_bytes() / bytes) * std::int64_t{bytes};
        std::int64_t y = somewhere(random, p.image.height);
        where[lane] = {static_cast<std::int32_t>(x), static_cast<std::int32_t>(y)};
        const std::int64_t last = static_cast<std::int64_t>(p.image.row_bytes()) - bytes;
        const bool outside = x < 0 || x > last || y < 0 || y >= p.image.height;
        std::uint8_t* mine = &data[std::size_t{lane} * LaneBuffers::kMaxLaneBytes];
        x = std::clamp<std::int64_t>(x, 0, last);
        y = std::clamp<std::int64_t>(y, 0, std::int64_t{p.image.height} - 1);
        std::uint8_t* element =
            &p.bytes[static_cast<std::size_t>(y) * p.image.row_bytes() + static_cast<std::size_t>(x)];
        if (outside && beyond == BeyondEdge::zero) {
          if (!store) std::memset(mine, 0, bytes);
        } else {
          std::memcpy(store ? element : mine, store ? mine : element, bytes);
        }
      }
      if (!store) want[script.size()] = data;
      Step s = image_step(store ? MemKind::surface_store : MemKind::surface_load, type, vector, beyond,
                          handles, where, ~LaneMask{0}, store ? data : std::vector<std::uint8_t>{});
      script.push_back(s);
    }
    script.push_back(alu(1, {1}));
    bench.scripts[0] = script;
    ASSERT_EQ(bench.run(), RunOutcome::quiescent);
    ASSERT_TRUE(bench.sm.faults().empty()) << bench.sm.faults()[0].kind;
    EXPECT_TRUE(bench.texture.seen.empty());
    EXPECT_EQ(bench.sm.lsu_counters().image_requests, bench.l1.seen.size());
    for (const auto& [step, data] : want) {
      const unsigned bytes = script[step].instruction.mem.bytes_per_lane();
      for (unsigned lane = 0; lane < kWarpLanes; ++lane)
        ASSERT_EQ(std::memcmp(&bench.log.loaded.at({0, step}).data[lane * LaneBuffers::kMaxLaneBytes],
                              &data[std::size_t{lane} * LaneBuffers::kMaxLaneBytes], bytes),
                  0)
            << "step " << step << " lane " << lane;
    }
  }
}

TEST(SmImages, LanesOfTwoImagesOverOneLineGetTheirOwnSectors) {
  for (const bool surface : {false, true})
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      SmBench bench({{}}, FlatMemory::random_delay(seed, 40));
      // Elements 0 to 31 are the line; the second image has rows of 16.
      FlatMemory& memory = surface ? bench.l1 : bench.texture;
      for (std::uint32_t n = 0; n < 32; ++n) {
        const std::uint32_t value = 1000 + n;
        std::memcpy(&memory.lines[kImageLine][n * 4], &value, 4);
      }
      const std::uint64_t whole = bench.images.add({surface, kImageAt, 32, 1, {DataType::u32, 1}});
      const std::uint64_t rows = bench.images.add({surface, kImageAt, 16, 2, {DataType::u32, 1}});
      std::array<std::uint64_t, kWarpLanes> handles{};
      Coordinates where;
      const int bytes_or_elements = surface ? 4 : 1;
      for (int lane = 0; lane < 32; ++lane) {
        handles.at(lane) = lane % 2 == 0 ? whole : rows;
        where.at(lane) = {(lane % 2 == 0 ? 2 : 9) * bytes_or_elements, lane % 2};
      }
      bench.scripts[0] = {image_step(surface ? MemKind::surface_load : MemKind::texture_load,
                                     surface ? DataType::b32 : DataType::u32, surface ? 1 : 4,
                                     BeyondEdge::trap, handles, where),
                          alu(1, {1})};
      ASSERT_EQ(bench.run(), RunOutcome::quiescent);
      ASSERT_TRUE(bench.sm.faults().empty()) << bench.sm.faults()[0].kind;
      EXPECT_EQ(memory.seen.size(), 2U);
      for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
        std::uint32_t got = 0;
        std::memcpy(&got, &bench.log.loaded.at({0, 0}).data[lane * LaneBuffers::kMaxLaneBytes], 4);
        ASSERT_EQ(got, lane % 2 == 0 ? 1002U : 1025U) << "lane " << lane;
      }
    }
}

TEST(SmImages, AHandleIsNeverThatOfAnotherImage) {
  ImageTable table;
  const Image one{false, kImageAt, 8, 4, {DataType::f32, 1}},
      other{false, kImageAt, 4, 8, {DataType::f32, 1}};
  const std::uint64_t shared = table.add(one);
  EXPECT_EQ(table.add(one), shared);
  const std::uint64_t distinct = table.add(one, true);
  EXPECT_NE(distinct, shared);
  EXPECT_FALSE(table.remove(distinct + 32)) << "of no image";
  EXPECT_FALSE(table.remove(distinct + 1));
  const Image* const kept = table.find(shared);
  std::set<std::uint64_t> had = {shared, distinct};
  std::uint64_t last = distinct;
  for (unsigned n = 0; n < 70'000; ++n) {
    ASSERT_TRUE(table.remove(last));
    ASSERT_EQ(table.find(last), nullptr);
    ASSERT_FALSE(table.remove(last));
    last = table.add(other, true);
    ASSERT_TRUE(had.insert(last).second) << "handle " << n << " is one that another image had";
    ASSERT_EQ(table.find(last)->width, 4U);
  }
  EXPECT_EQ(table.find(shared), kept) << "SMs hold pointers";
  EXPECT_EQ(table.add(other), last) << "an equal one is there";
}

TEST(SmImages, FaultsNameTheHandle) {
  const auto fault_of = [](const std::function<Step(std::uint64_t, std::uint64_t)>& step) {
    SmBench bench(std::vector<std::vector<Step>>(1));
    const Image texture{false, kImageAt, 8, 4, {DataType::f32, 1}},
        surface{true, kImageAt, 8, 4, {DataType::f32, 1}};
    const std::uint64_t t = bench.images.add(texture), s = bench.images.add(surface);
    EXPECT_EQ(bench.images.add(texture), t);
    EXPECT_NE(t, s);
    bench.scripts[0] = {step(t, s), alu(1)};
    EXPECT_EQ(bench.run(), RunOutcome::quiescent);
    EXPECT_EQ(bench.l1.seen.size() + bench.texture.seen.size(), bench.sm.faults().empty() ? 1U : 0U);
    if (bench.sm.faults().empty()) return std::string("none");
    const Fault& f = bench.sm.faults()[0].fault;
    EXPECT_EQ(f.lane, 3U);
    return bench.sm.faults()[0].kind;
  };
  constexpr auto kTex = MemKind::texture_load;
  constexpr auto kLoad = MemKind::surface_load, kStore = MemKind::surface_store;
  constexpr auto kTrap = BeyondEdge::trap, kClamp = BeyondEdge::clamp;
  constexpr auto kF32 = DataType::f32, kU32 = DataType::u32, kB32 = DataType::b32;
  using H = std::uint64_t;
  EXPECT_EQ(fault_of([&](H t, H) { return one_lane(kTex, kF32, 4, kTrap, t, 7, 3); }), "none");
  EXPECT_EQ(fault_of([&](H t, H) { return one_lane(kTex, kU32, 4, kTrap, t, 0, 0); }),
            "texture of another type");
  EXPECT_EQ(fault_of([&](H, H s) { return one_lane(kTex, kF32, 4, kTrap, s, 0, 0); }),
            "handle of no texture");
  EXPECT_EQ(fault_of([&](H, H) { return one_lane(kTex, kF32, 4, kTrap, 0, 0, 0); }), "handle of no texture");
  EXPECT_EQ(fault_of([&](H t, H) { return one_lane(kTex, kF32, 4, kTrap, t + 1, 0, 0); }),
            "handle of no texture");
  EXPECT_EQ(fault_of([&](H t, H) { return one_lane(kLoad, kB32, 1, kTrap, t, 0, 0); }),
            "handle of no surface");
  EXPECT_EQ(fault_of([&](H, H s) { return one_lane(kStore, kB32, 1, kTrap, s, 28, 3); }), "none");
  for (const auto& at : {ImageCoordinates{32, 0}, {-4, 0}, {0, 4}, {0, -1}})
    EXPECT_EQ(fault_of([&](H, H s) { return one_lane(kStore, kB32, 1, kTrap, s, at.x, at.y); }),
              "coordinates beyond the surface");
  EXPECT_EQ(fault_of([&](H, H s) { return one_lane(kLoad, kB32, 4, kTrap, s, 20, 0); }),
            "coordinates beyond the surface");
  EXPECT_EQ(fault_of([&](H, H s) { return one_lane(kLoad, kB32, 1, kClamp, s, 2, 0); }),
            "misaligned address");
}

}  // namespace sm_images_test
}  // namespace warpline::test
