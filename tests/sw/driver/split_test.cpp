#include <gtest/gtest.h>

#include <numeric>

#include "rtl_models/base/random.h"
#include "tests/sw/driver/bench_of_driver.h"

namespace warpline {
namespace split_test {

/// Pieces of `bytes` bytes in all, which lie in a share of twice as many, in any order, with holes.
std::vector<wl_peer_piece> scatter(Random& random, std::uint64_t bus, std::uint32_t bytes) {
  std::vector<wl_peer_piece> pieces;
  std::uint64_t at = bus;
  while (bytes != 0) {
    const auto part = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(bytes, 1 + random.below(random.below(8) == 0 ? 900 : 40)));
    pieces.push_back({at, part});
    at += part + random.below(part);
    bytes -= part;
  }
  for (std::size_t i = pieces.size(); i > 1; --i) std::swap(pieces[i - 1], pieces[random.below(i)]);
  return pieces;
}

wl_peer_pieces all_of(const std::vector<wl_peer_piece>& pieces) {
  return {pieces.data(), static_cast<std::uint32_t>(pieces.size()), 0, 0};
}

/// Has the device do a command in parts, one after the other. Returns how many it took.
unsigned perform(test::BenchOfDriver& bench, wl_peer_split split) {
  const std::size_t list_bytes = std::size_t{split.entries} * WL_PEER_SCATTER_BYTES;
  const auto lists = bench.share(4096);
  const wl_peer_list source{lists.bytes, lists.bus};
  const wl_peer_list destination{lists.bytes + list_bytes, lists.bus + list_bytes};
  unsigned parts = 0;
  for (wl_peer_command part{};; ++parts) {
    const wl_result made = wl_peer_split_next(&split, &source, &destination, &part);
    if (made == WL_NONE) return parts;
    EXPECT_EQ(made, WL_OK);
    EXPECT_LE(part.source_entries, split.entries);
    EXPECT_LE(part.destination_entries, split.entries);
    EXPECT_NE(part.source_entries, 1);
    wl_peer_completion completion{};
    EXPECT_EQ(bench.run(part, completion), WL_OK);
    EXPECT_EQ(completion.status, WL_PEER_STATUS_CODE_OK);
  }
}

/// What lies in the pieces, one after the other.
std::vector<std::uint8_t> gather(const test::DriverBench::Shared& memory,
                                 const std::vector<wl_peer_piece>& pieces) {
  std::vector<std::uint8_t> bytes;
  for (const wl_peer_piece& piece : pieces) {
    const std::uint8_t* const from = memory.bytes + (piece.bus - memory.bus);
    bytes.insert(bytes.end(), from, from + piece.bytes);
  }
  return bytes;
}

TEST(Splits, CopyEveryByteBetweenPieces) {
  Random random(1);
  for (const unsigned entries : {1U, 2U, 5U, 64U}) {
    test::BenchOfDriver bench({}, true);
    bench.start();
    constexpr std::uint32_t kBytes = 3000;
    const auto from = bench.share(3 * kBytes), to = bench.share(3 * kBytes);
    std::iota(from.bytes, from.bytes + 3 * kBytes, std::uint8_t{1});
    const auto sources = scatter(random, from.bus, kBytes), destinations = scatter(random, to.bus, kBytes);
    wl_peer_split split{};
    split.rest.opcode = WL_PEER_OPCODE_COPY;
    split.rest.length = kBytes;
    split.source = all_of(sources);
    split.destination = all_of(destinations);
    split.entries = entries;
    const unsigned parts = perform(bench, split);
    EXPECT_EQ(gather(to, destinations), gather(from, sources)) << entries;
    // Each part but the last uses up a list of one of both sides.
    EXPECT_LE(parts, sources.size() / entries + destinations.size() / entries + 1);
  }
}

TEST(Splits, KeepThePatternOfAFillAndTheDevicesOffsets) {
  Random random(2);
  test::BenchOfDriver bench({}, true);
  bench.start();
  constexpr std::uint32_t kBytes = 1000;
  const auto memory = bench.share(3 * kBytes), back = bench.share(kBytes);
  const auto pieces = scatter(random, memory.bus, kBytes);
  wl_peer_split split{};
  split.rest.opcode = WL_PEER_OPCODE_FILL;
  split.rest.length = kBytes;
  split.rest.operand = 0x8877665544332211;
  split.destination = all_of(pieces);
  split.entries = 3;
  EXPECT_GT(perform(bench, split), 1U);
  const auto filled = gather(memory, pieces);
  for (std::size_t i = 0; i < filled.size(); ++i) ASSERT_EQ(filled[i], 0x11 * (i % 8 + 1)) << i;

  // Into the device's buffer and back.
  const std::vector<wl_peer_piece> buffer = {{64, kBytes}}, whole = {{back.bus, kBytes}};
  split.rest = {};
  split.rest.opcode = WL_PEER_OPCODE_READ;
  split.rest.length = kBytes;
  split.source = all_of(pieces);
  split.destination = all_of(buffer);
  EXPECT_GT(perform(bench, split), 1U);
  split.rest.opcode = WL_PEER_OPCODE_WRITE;
  split.source = all_of(buffer);
  split.destination = all_of(whole);
  EXPECT_EQ(perform(bench, split), 1U);
  EXPECT_EQ(gather(back, whole), filled);
}

TEST(Splits, RefuseWhatTheyCannotDivide) {
  const wl_peer_list list{};
  wl_peer_command part{};
  wl_peer_split split{};
  const std::vector<wl_peer_piece> pieces = {{4096, 5}};
  split.rest.opcode = WL_PEER_OPCODE_FILL;
  split.rest.length = 6;
  split.destination = all_of(pieces);
  EXPECT_EQ(wl_peer_split_next(&split, &list, &list, &part), WL_BAD_ARGUMENT);  // lists of no entries
  split.entries = 1;
  EXPECT_EQ(wl_peer_split_next(nullptr, &list, &list, &part), WL_BAD_ARGUMENT);
  EXPECT_EQ(wl_peer_split_next(&split, nullptr, &list, &part), WL_BAD_ARGUMENT);
  EXPECT_EQ(wl_peer_split_next(&split, &list, nullptr, &part), WL_BAD_ARGUMENT);
  EXPECT_EQ(wl_peer_split_next(&split, &list, &list, nullptr), WL_BAD_ARGUMENT);
  ASSERT_EQ(wl_peer_split_next(&split, &list, &list, &part), WL_OK);
  EXPECT_EQ(part.length, 5U);
  EXPECT_EQ(part.destination, 4096U);
  EXPECT_EQ(wl_peer_split_next(&split, &list, &list, &part), WL_BAD_ARGUMENT);  // a byte that no piece has
}

}  // namespace split_test
}  // namespace warpline
