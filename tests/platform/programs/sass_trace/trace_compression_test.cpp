// Compressed traces: whole, in several streams, cut short, damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lzma.h>
#include <zlib.h>

#include "tests/platform/programs/sass_trace/trace_player.h"

namespace warpline::test {
namespace trace_compression_test {

using ::testing::HasSubstr;

std::string xz(const std::string& text) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr,
                                    reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                                    reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size()),
            LZMA_OK);
  out.resize(size);
  return out;
}

std::string gz(std::string text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// A trace of 40 thread blocks; each makes one load per warp lane.
std::string sample() {
  TraceText t;
  t.grid = "(40,1,1)";
  for (unsigned b = 0; b < 40; ++b)
    t.body +=
        block_of({"0000 ffffffff 1 R1 LDG.E 1 R2 4 1 0x7fb0fc4" + std::to_string(10000 + 128 * b) + " 4 0"},
                 std::to_string(b) + ",0,0");
  return t.text();
}

/// How many instructions a file of this name and content executes, or the fault.
std::string outcome(const std::string& name, const std::string& content) {
  const TemporaryFile file(name, content);
  auto kernel = sass::open_trace(file.path());
  if (!kernel.ok()) return kernel.faults().front().message;
  try {
    return std::to_string(Player(*kernel.value()).run().instructions);
  } catch (const InputError& e) {
    return e.diagnostic.message;
  }
}

TEST(TraceCompression, BothFormatsReadLikeThePlainFile) {
  EXPECT_EQ(outcome("kernel-1.traceg", sample()), "40");
  EXPECT_EQ(outcome("kernel-1.traceg.xz", xz(sample())), "40");
  EXPECT_EQ(outcome("kernel-1.traceg.gz", gz(sample())), "40");
  EXPECT_EQ(outcome("kernel-1.traceg", xz(sample())), "40") << "told by its first bytes";
  EXPECT_EQ(outcome("kernel-1.traceg", gz(sample())), "40");
}

TEST(TraceCompression, SeveralStreamsAreOneFile) {
  const std::string text = sample();
  const std::string first = text.substr(0, text.size() / 2), second = text.substr(text.size() / 2);
  EXPECT_EQ(outcome("kernel-1.traceg.xz", xz(first) + xz(second)), "40");
  EXPECT_EQ(outcome("kernel-1.traceg.gz", gz(first) + gz(second)), "40");
}

TEST(TraceCompression, ACutFileIsAMessage) {
  const std::string whole_xz = xz(sample()), whole_gz = gz(sample());
  for (std::size_t n = 6; n < whole_xz.size(); n += 7)
    EXPECT_EQ(outcome("kernel-1.traceg.xz", whole_xz.substr(0, n)), "ends in the middle of its xz data") << n;
  for (std::size_t n = 2; n < whole_gz.size(); n += 7)
    EXPECT_EQ(outcome("kernel-1.traceg.gz", whole_gz.substr(0, n)), "ends in the middle of its gzip data")
        << n;
}

TEST(TraceCompression, DamageIsFoundEvenBehindTheLastThreadBlock) {
  std::string damaged = xz(sample());
  damaged[damaged.size() - 3] = static_cast<char>(damaged[damaged.size() - 3] ^ 1);
  EXPECT_THAT(outcome("kernel-1.traceg.xz", damaged), "has corrupt xz data");
  damaged = gz(sample());
  damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 1);
  EXPECT_THAT(outcome("kernel-1.traceg.gz", damaged), "has corrupt gzip data");
}

TEST(TraceCompression, ABombOfOneLineIsCutShort) {
  EXPECT_THAT(outcome("kernel-1.traceg.gz", gz(std::string(64U << 20U, '0'))),
              HasSubstr("longer than 65536 characters"));
}

}  // namespace trace_compression_test
}  // namespace warpline::test
