// Tensor maps as their descriptors, and the pieces of copies against what a loop over elements says.
#include "rtl_models/bulk_copy/tensor_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "rtl_models/base/random.h"
#include "rtl_models/bulk_copy/bulk_walk.h"

namespace warpline::test {
namespace tensor_map_test {

using Coordinates = BulkWalk::Coordinates;

/// A map that is right, of few elements.
TensorMap draw(Random& random, bool im2col) {
  constexpr DataType kTypes[] = {DataType::u8,  DataType::u16, DataType::f16, DataType::u32,
                                 DataType::f32, DataType::u64, DataType::f64};
  for (;;) {
    TensorMap m;
    m.type = kTypes[random.below(7)];
    m.im2col = im2col;
    m.rank = im2col ? 3 + static_cast<unsigned>(random.below(3)) : 1 + static_cast<unsigned>(random.below(5));
    m.address = 16 * random.below(1000);
    m.strides[0] = m.element_bytes();
    std::uint64_t dense = 1;
    for (unsigned d = 0; d < m.rank; ++d) {
      m.shape[d] = 1 + random.below(d == 0 ? 40 : 6);
      dense = d == 0 ? m.shape[0] * m.element_bytes() : dense;
      if (d != 0) {
        m.strides[d] = (dense + 15) / 16 * 16 + 16 * random.below(3);
        dense = m.strides[d] * m.shape[d];
      }
      m.element_strides[d] = 1 + static_cast<std::uint32_t>(random.below(3));
      m.box[d] = 1 + static_cast<std::uint32_t>(random.below(d == 0 ? 48 : 5));
      if (d != 0 && d < 4) {
        m.lower[d - 1] = static_cast<std::int32_t>(random.below(3)) - 2;
        m.upper[d - 1] = static_cast<std::int32_t>(random.below(4)) - 2;
      }
    }
    m.channels = 1 + static_cast<std::uint32_t>(random.below(32));
    m.pixels = 1 + static_cast<std::uint32_t>(random.below(30));
    m.swizzle = static_cast<TensorSwizzle>(random.below(4));
    m.fill = static_cast<TensorFill>(random.below(2));
    if (m.problems("m").empty()) return m;
  }
}

/// Where each byte of the copy comes from; -1: from nowhere.
using Bytes = std::vector<std::int64_t>;

void append(Bytes& out, const TensorMap& m, const std::array<std::int64_t, 5>& element) {
  bool inside = true;
  std::int64_t address = static_cast<std::int64_t>(m.address);
  for (unsigned d = 0; d < m.rank; ++d) {
    inside = inside && element[d] >= 0 && element[d] < static_cast<std::int64_t>(m.shape[d]);
    address += element[d] * static_cast<std::int64_t>(m.strides[d]);
  }
  for (unsigned b = 0; b < m.element_bytes(); ++b) out.push_back(inside ? address + b : -1);
}

Bytes naive_tile(const TensorMap& m, const Coordinates& at) {
  Bytes out;
  std::array<std::int64_t, 5> last{1, 1, 1, 1, 1};
  for (unsigned d = 0; d < m.rank; ++d) last[d] = m.box[d];
  const auto step = [&](unsigned d) {
    return d == 0 || d >= m.rank ? 1 : std::int64_t{m.element_strides[d]};
  };
  for (std::int64_t e = 0; e < last[4]; e += step(4))
    for (std::int64_t d = 0; d < last[3]; d += step(3))
      for (std::int64_t c = 0; c < last[2]; c += step(2))
        for (std::int64_t b = 0; b < last[1]; b += step(1))
          for (std::int64_t a = 0; a < last[0]; ++a)
            append(out, m, {at[0] + a, at[1] + b, at[2] + c, at[3] + d, at[4] + e});
  return out;
}

Bytes naive_column(const TensorMap& m, Coordinates at, const std::array<std::uint16_t, 3>& offsets) {
  Bytes out;
  const unsigned spatial = m.rank - 2;
  for (std::uint32_t pixel = 0; pixel < m.pixels; ++pixel) {
    for (std::uint32_t channel = 0; channel < m.channels; ++channel) {
      std::array<std::int64_t, 5> element{};
      for (unsigned d = 0; d < m.rank; ++d) element[d] = at[d];
      element[0] += channel;
      for (unsigned s = 0; s < spatial; ++s) element[1 + s] += offsets[s];
      append(out, m, element);
    }
    bool carried = true;
    for (unsigned s = 0; s < spatial && carried; ++s) {
      at[1 + s] += static_cast<std::int32_t>(m.element_strides[1 + s]);
      carried = at[1 + s] > static_cast<std::int64_t>(m.shape[1 + s]) - 1 + m.upper[s];
      if (carried) at[1 + s] = m.lower[s];
    }
    if (carried) ++at[m.rank - 1];
  }
  return out;
}

Bytes walked(BulkWalk walk, const std::string& what) {
  Bytes out;
  BulkPiece piece;
  while (walk.next(piece)) {
    EXPECT_EQ(piece.offset, out.size()) << what;
    EXPECT_GT(piece.bytes, 0U) << what;
    if (!piece.outside) {
      EXPECT_EQ(piece.address / 128, (piece.address + piece.bytes - 1) / 128)
          << what << ": it crosses a line";
    }
    for (std::uint32_t b = 0; b < piece.bytes; ++b)
      out.push_back(piece.outside ? -1 : static_cast<std::int64_t>(piece.address + b));
  }
  return out;
}

Coordinates draw_coordinates(Random& random) {
  Coordinates at{};
  for (std::int32_t& c : at) c = static_cast<std::int32_t>(random.below(12)) - 4;
  at[0] *= 4;
  if (random.below(10) == 0) at[random.below(5)] = random.below(2) == 0 ? INT32_MAX : INT32_MIN;
  return at;
}

TEST(BulkWalk, TilesAreThoseOfALoop) {
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    Random random(seed);
    const TensorMap m = draw(random, false);
    const Coordinates at = draw_coordinates(random);
    const std::string what = "seed " + std::to_string(seed);
    const Bytes got = walked(BulkWalk::of_tensor(m, TensorMode::tile, at), what);
    ASSERT_EQ(got, naive_tile(m, at)) << what;
    ASSERT_EQ(got.size(), m.bytes()) << what;
  }
}

TEST(BulkWalk, ColumnsAreThoseOfALoop) {
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    Random random(seed);
    const TensorMap m = draw(random, true);
    Coordinates at{};
    for (std::int32_t& c : at) c = static_cast<std::int32_t>(random.below(6)) - 2;
    std::array<std::uint16_t, 3> offsets{};
    for (std::uint16_t& o : offsets) o = static_cast<std::uint16_t>(random.below(4));
    const std::string what = "seed " + std::to_string(seed);
    ASSERT_EQ(walked(BulkWalk::of_tensor(m, TensorMode::im2col, at, offsets), what),
              naive_column(m, at, offsets))
        << what;
  }
}

/// Pixels of one line of each image, step by step: as im2col with nothing but the line to walk.
Bytes naive_wide(const TensorMap& m, TensorMode mode, const Coordinates& at, unsigned halo, unsigned offset) {
  const auto pixel = [&](unsigned number) {
    std::int64_t w = at[1] + std::int64_t{offset}, image = at[m.rank - 1];
    for (unsigned n = 0; n < number; ++n) {
      w += m.element_strides[1];
      if (w > static_cast<std::int64_t>(m.shape[1]) - 1 + m.upper[0] + offset) {
        w = m.lower[0] + std::int64_t{offset};
        ++image;
      }
    }
    return std::pair{w, image};
  };
  std::vector<unsigned> numbers;
  const unsigned count = mode == TensorMode::wide ? m.pixels : 128;
  for (unsigned n = 0; n < count; ++n) numbers.push_back(n);
  for (unsigned h = 0; h < halo; ++h) {
    if (mode == TensorMode::wide) numbers.push_back(count + h);
    for (const unsigned behind : {32U, 64U, 96U, 128U})
      if (mode == TensorMode::wide_of_128) numbers.push_back(behind + h);
  }
  Bytes out;
  for (const unsigned number : numbers) {
    const auto [w, image] = pixel(number);
    for (std::uint32_t channel = 0; channel < m.channels; ++channel) {
      std::array<std::int64_t, 5> element{};
      for (unsigned d = 0; d < m.rank; ++d) element[d] = at[d];
      element[0] += channel;
      element[1] = w;
      element[m.rank - 1] = image;
      append(out, m, element);
    }
  }
  return out;
}

TEST(BulkWalk, LinesOfImagesAreThoseOfALoop) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    TensorMap m = draw(random, true);
    m.wide = true;
    Coordinates at{};
    for (std::int32_t& c : at) c = static_cast<std::int32_t>(random.below(6)) - 2;
    const TensorMode mode = random.below(4) == 0 ? TensorMode::wide_of_128 : TensorMode::wide;
    const auto halo = static_cast<std::uint16_t>(random.below(4)),
               offset = static_cast<std::uint16_t>(random.below(4));
    const BulkWalk walk = BulkWalk::of_tensor(m, mode, at, {halo, offset, 0});
    const Bytes wanted = naive_wide(m, mode, at, halo, offset);
    EXPECT_EQ(walk.bytes(), wanted.size());
    ASSERT_EQ(walked(walk, "line"), wanted) << "seed " << seed;
  }
}

TEST(BulkWalk, FourRowsAreThoseThatAreNamed) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    TensorMap m = draw(random, false);
    m.rank = 2;
    m.box[1] = 1;
    const Coordinates at = draw_coordinates(random);
    Bytes wanted;
    for (unsigned row = 1; row <= 4; ++row) {
      const Bytes one = naive_tile(m, {at[0], at[row], 0, 0, 0});
      wanted.insert(wanted.end(), one.begin(), one.end());
    }
    const BulkWalk walk = BulkWalk::of_tensor(m, TensorMode::rows, at);
    EXPECT_EQ(walk.bytes(), wanted.size());
    ASSERT_EQ(walked(walk, "rows"), wanted) << "seed " << seed;
  }
}

TEST(BulkWalk, BytesInARowAreAllOfThem) {
  for (std::uint32_t bytes = 0; bytes <= 528; bytes += 16)
    for (std::uint64_t from = 0x1000; from < 0x1080; from += 16) {
      Bytes wanted;
      for (std::uint32_t b = 0; b < bytes; ++b) wanted.push_back(static_cast<std::int64_t>(from + b));
      ASSERT_EQ(walked(BulkWalk::of_bytes(from, bytes), "row"), wanted);
    }
}

TEST(TensorMap, ADescriptorSaysAllOfIt) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Random random(seed);
    const TensorMap m = draw(random, seed % 2 == 0);
    const auto bytes = m.encode();
    const auto back = TensorMap::decode(bytes);
    ASSERT_TRUE(back) << "seed " << seed;
    ASSERT_EQ(back->encode(), bytes) << "seed " << seed;
    ASSERT_EQ(back->bytes(), m.bytes());
    ASSERT_EQ(back->extent(), m.extent());
    // A copy goes the same way by both.
    const Coordinates at = draw_coordinates(random);
    const TensorMode mode = m.im2col ? TensorMode::im2col : TensorMode::tile;
    ASSERT_EQ(walked(BulkWalk::of_tensor(*back, mode, at), "back"),
              walked(BulkWalk::of_tensor(m, mode, at), "map"));
    ASSERT_EQ(back->swizzled(0x390), m.swizzled(0x390));
  }
}

TEST(TensorMap, AFieldThatIsReplacedIsAnother) {
  using F = TensorMap::Field;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const TensorMap wanted = draw(random, false);
    TensorMap from = draw(random, false);
    from.lower = wanted.lower;
    from.upper = wanted.upper;
    from.channels = wanted.channels;
    from.pixels = wanted.pixels;
    auto bytes = from.encode();
    const auto replace = [&](F field, unsigned n, std::uint64_t value) {
      const TensorMap::Place place = TensorMap::place_of(field, n);
      EXPECT_EQ(place.offset % place.bytes, 0U);
      const std::uint64_t stored = TensorMap::stored(field, value);
      for (unsigned b = 0; b < place.bytes; ++b)
        bytes.at(place.offset + b) = static_cast<std::uint8_t>(stored >> 8 * b);
    };
    replace(F::address, 0, wanted.address);
    replace(F::rank, 0, wanted.rank - 1);
    for (unsigned d = 0; d < 5; ++d) {
      replace(F::box, d, wanted.box[d]);
      replace(F::shape, d, wanted.shape[d]);
      replace(F::element_stride, d, wanted.element_strides[d]);
      if (d != 0) replace(F::stride, d - 1, wanted.strides[d]);
    }
    replace(F::type, 0, static_cast<std::uint64_t>(wanted.type));
    replace(F::swizzle, 0, static_cast<std::uint64_t>(wanted.swizzle));
    replace(F::fill, 0, static_cast<std::uint64_t>(wanted.fill));
    ASSERT_EQ(bytes, wanted.encode()) << "seed " << seed;
    // What is too large for its place is no tensor map, and not another one.
    replace(F::box, 0, (1U << 16U) + 16);
    ASSERT_FALSE(TensorMap::decode(bytes));
  }
}

TEST(TensorMap, BytesThatAreNoneAreKnown) {
  Random random(1);
  std::array<std::uint8_t, TensorMap::kBytes> bytes{};
  EXPECT_FALSE(TensorMap::decode(bytes));
  const auto good = draw(random, false).encode();
  unsigned refused = 0;
  for (unsigned n = 0; n < 2000; ++n) {
    bytes = good;
    bytes[random.below(bytes.size())] ^= static_cast<std::uint8_t>(1 + random.below(255));
    const auto map = TensorMap::decode(bytes);
    if (map) {
      EXPECT_TRUE(map->problems("m").empty());
    } else {
      ++refused;
    }
  }
  EXPECT_GT(refused, 200U);
}

TEST(TensorMap, ASwizzleExchangesPiecesOfARow) {
  TensorMap m;
  for (const auto& [swizzle, rows] :
       {std::pair{TensorSwizzle::none, 1U}, std::pair{TensorSwizzle::bytes_32, 2U},
        std::pair{TensorSwizzle::bytes_64, 4U}, std::pair{TensorSwizzle::bytes_128, 8U}}) {
    m.swizzle = swizzle;
    for (std::uint32_t at = 0; at < 4096; ++at) {
      const std::uint32_t piece = at / 16 % 8, row = at / 128;
      const std::uint32_t wanted = row * 128 + (piece ^ row % rows) * 16 + at % 16;
      ASSERT_EQ(m.swizzled(at), wanted) << at;
      ASSERT_EQ(m.swizzled(m.swizzled(at)), at);
    }
  }
}

TEST(TensorMap, WhatNoCopyCouldGoByIsNamed) {
  struct Row {
    void (*change)(TensorMap&);
    const char* path;
  };
  const Row rows[] = {
      {[](TensorMap& m) { m.rank = 6; }, "m.shape"},
      {[](TensorMap& m) { m.type = DataType::b128; }, "m.type"},
      {[](TensorMap& m) { m.address = 8; }, "m.buffer"},
      {[](TensorMap& m) { m.shape[1] = 0; }, "m.shape[1]"},
      {[](TensorMap& m) { m.strides[1] = 24; }, "m.strides[0]"},
      {[](TensorMap& m) { m.element_strides[1] = 9; }, "m.element_strides[1]"},
      {[](TensorMap& m) { m.box[1] = 257; }, "m.box[1]"},
      {[](TensorMap& m) { m.box[0] = 3; }, "m.box[0]"},
      {[](TensorMap& m) { m.swizzle = TensorSwizzle::bytes_32; }, "m.box[0]"},
      {[](TensorMap& m) { m.fill = TensorFill::nan; }, "m.fill"},
      {[](TensorMap& m) { m.im2col = true, m.channels = 4; }, "m.shape"},
      {[](TensorMap& m) { m.im2col = m.wide = true, m.rank = 3, m.channels = 4; }, "m.swizzle"},
  };
  for (const Row& row : rows) {
    TensorMap m;
    m.rank = 2;
    m.shape = {32, 32, 1, 1, 1};
    m.strides = {4, 128, 0, 0, 0};
    m.box = {16, 16, 1, 1, 1};
    ASSERT_TRUE(m.problems("m").empty());
    row.change(m);
    const Problems problems = m.problems("m");
    ASSERT_EQ(problems.size(), 1U) << row.path;
    EXPECT_EQ(problems[0].path, row.path);
  }
}

}  // namespace tensor_map_test
}  // namespace warpline::test
