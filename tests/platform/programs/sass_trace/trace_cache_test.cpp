// Packed traces: what runs from them is what runs from the text; those that do not fit are packed anew.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lzma.h>

#include <cstring>
#include <sstream>
#include <thread>

#include "platform/programs/sass_trace/packed_trace.h"
#include "rtl_models/base/random.h"
#include "tests/platform/programs/sass_trace/trace_player.h"

namespace warpline::test {
namespace trace_cache_test {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr std::size_t kHeadingBytes = 88;

std::string contents(const fs::path& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

void write(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// A folder with traces in it, and a cache folder of the user's.
class TraceCacheTest : public ::testing::Test {
 protected:
  TraceCacheTest() {
    std::string name = (fs::temp_directory_path() / "warpline_cache_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    trace_ = (folder_ / "kernel-1.traceg").string();
    packed_ = trace_ + ".wlt";
    ::setenv("XDG_CACHE_HOME", (folder_ / "caches").c_str(), 1);
  }
  ~TraceCacheTest() override { fs::remove_all(folder_); }

  [[nodiscard]] bool is_packed(const std::string& trace) const {
    sass::LineReader lines(trace);
    std::string first;
    const auto header = sass::read_header(lines, first);
    sass::Program program;
    return sass::open_packed(trace, header.value(), program) != nullptr;
  }
  [[nodiscard]] bool is_packed() const { return is_packed(trace_); }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
  std::string trace_, packed_;
};

/// Everything that a trace executes and what it does not understand, as text; or its fault.
std::string executed(const std::string& path, sass::TraceCache cache) {
  auto kernel = sass::open_trace(path, cache);
  if (!kernel.ok()) return kernel.faults().front().text();
  std::ostringstream out;
  Player player(*kernel.value());
  player.on_executed = [&](const Executed& e) {
    const MemOp& m = e.instruction.mem;
    out << e.warp << ' ' << e.instruction.pc << ' ' << static_cast<int>(e.instruction.kind) << ' '
        << static_cast<int>(m.kind) << ' ' << static_cast<int>(m.space) << ' ' << e.active << ' '
        << e.accessed << ' ' << e.barrier.id << ' ' << e.barrier.threads << ' ' << e.barrier.waits << ' '
        << e.sleep_cycles;
    for (unsigned r = 0; r < e.instruction.source_count + e.instruction.destination_count; ++r)
      out << " r" << e.instruction.registers[r];
    for (unsigned lane = 0; lane < kWarpLanes; ++lane)
      if ((e.accessed >> lane & 1U) != 0) out << ' ' << e.address[lane];
    out << '\n';
  };
  try {
    player.run();
  } catch (const InputError& e) {
    return e.diagnostic.text();
  }
  for (const std::string& unknown : kernel.value()->unknown_opcodes()) out << unknown << '\n';
  return out.str();
}

/// Two blocks of two warps with every kind of line, the second block's warps in the other order.
std::string specimen(unsigned version) {
  const std::vector<std::string> lines = {
      "0000 ffffffff 1 R1 MOV 0 0",
      "0010 ffffffff 1 R4 LDG.E.64.CONSTANT 1 R2 8 1 0x7fb0fc430e00 8",
      "0020 00000707 1 R8 LDG.E.128.STRONG.SYS 1 R2 16 2 0x7f991e401600 16 16 16 16 -16",
      "0030 80000001 1 R8 LD.E 1 R2 4 0 0x7fb139000020 0x7f991e401600",
      "0038 80000001 1 R8 LD.E 1 R2 4 0 0x7fb109000020 0xffffffffffffff00",
      "0040 ffffffff 0 LDGSTS.E.BYPASS.LTC128B.128 2 R4 R8 16 1 0x7f991e401600 16",
      "0050 ffffffff 0 LDGDEPBAR 0 0",
      "0060 ffffffff 0 DEPBAR.LE 0 0",
      "0070 ffffffff 2 R4 R5 LDSM.16.M88.2 1 R2 2 1 0x0 16",
      "0080 0000000f 1 R3 ATOMG.E.ADD.STRONG.GPU 2 R2 R4 4 1 0x7f991e401600 0",
      "0090 ffffffff 0 BAR.SYNC 0 0",
      "00a0 ffffffff 0 MEMBAR.SC.GPU 0 0",
      "00b0 ffffffff 0 STL.64 2 R1 R4 8 1 0x7fb137fffda0 0",
      "00c0 ffffffff 0 CCTL.IVALL 0 0",
      "00c8 ffffffff 0 NANOSLEEP 0 0",
      "00cc ffffffff 1 R0 TEX.FOO 1 R2 4 1 0x10 4",
      "00d0 00000000 0 STG.E 2 R2 R4 4 1 0x0 0",
      "00e0 ffffffff 0 EXIT 0 0"};
  TraceText t;
  t.grid = "(2,1,1)";
  t.block = "(64,1,1)";
  t.extra = "-accelsim tracer version = " + std::to_string(version) + "\n";
  for (unsigned b = 0; b < 2; ++b) {
    t.body += "#BEGIN_TB\n\nthread block = " + std::to_string(b) + ",0,0\n\n";
    for (unsigned i = 0; i < 2; ++i) {
      const unsigned w = b == 0 ? i : 1 - i;
      t.body += "warp = " + std::to_string(w) + "\ninsts = " + std::to_string(lines.size()) + "\n";
      for (const std::string& l : lines)
        t.body += (version < 3 ? std::to_string(b) + " 0 0 " + std::to_string(w) + " " : "") + l +
                  (version >= 4 ? " " + std::to_string(i + w) + "\n" : "\n");
    }
    t.body += "#END_TB\n";
  }
  return t.text();
}

/// Puts right what the heading says of its content and of itself.
void seal(std::string& bytes) {
  const auto put = [&](std::size_t word, std::uint64_t v) { std::memcpy(&bytes[word * 8], &v, 8); };
  const auto* const data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  put(9, lzma_crc64(data + kHeadingBytes, bytes.size() - kHeadingBytes, 0));
  put(10, lzma_crc64(data, kHeadingBytes - 8, 0));
}

TEST_F(TraceCacheTest, EveryVersionRunsAsFromItsText) {
  for (unsigned version = 1; version <= 5; ++version) {
    SCOPED_TRACE(version);
    write(trace_, specimen(version));
    const std::string text = executed(trace_, sass::TraceCache::off);
    EXPECT_THAT(text, HasSubstr("TEX.FOO: 4"));
    EXPECT_FALSE(is_packed());
    EXPECT_EQ(executed(trace_, sass::TraceCache::on), text);
    EXPECT_TRUE(is_packed());
    EXPECT_EQ(executed(trace_, sass::TraceCache::on), text);
  }
}

TEST_F(TraceCacheTest, EveryGivenTraceRunsAsFromItsText) {
  const fs::path given = WARPLINE_SOURCE_DIR "/../shared/inputs/traces";
  if (!fs::exists(given)) GTEST_SKIP() << "no given traces at " << given;
  for (const auto& entry : fs::recursive_directory_iterator(given)) {
    if (!sass::is_trace_path(entry.path().string())) continue;
    SCOPED_TRACE(entry.path());
    const std::string copy = (folder_ / entry.path().filename()).string();
    write(copy, contents(entry.path()));
    const std::string text = executed(copy, sass::TraceCache::off);
    EXPECT_EQ(executed(copy, sass::TraceCache::on), text);
    EXPECT_TRUE(is_packed(copy));
    EXPECT_EQ(executed(copy, sass::TraceCache::on), text);
  }
}

TEST_F(TraceCacheTest, ASecondLaunchRunsTheSame) {
  write(trace_, specimen(5));
  auto kernel = sass::open_trace(trace_, sass::TraceCache::on);
  ASSERT_TRUE(kernel.ok());
  const std::uint64_t instructions = Player(*kernel.value()).run().instructions;
  EXPECT_EQ(Player(*kernel.value()).run().instructions, instructions);
  EXPECT_THAT(kernel.value()->unknown_opcodes(), ::testing::ElementsAre("TEX.FOO: 8"));
}

TEST_F(TraceCacheTest, OneThatIsCutShortIsPackedAnew) {
  write(trace_, specimen(5));
  const std::string text = executed(trace_, sass::TraceCache::on), whole = contents(packed_);
  for (std::size_t n = 0; n < whole.size(); n += 5) {
    write(packed_, whole.substr(0, n));
    ASSERT_FALSE(is_packed()) << n;
  }
  write(packed_, whole + "x");
  EXPECT_FALSE(is_packed());
  EXPECT_EQ(executed(trace_, sass::TraceCache::on), text);
  EXPECT_EQ(contents(packed_), whole);
}

TEST_F(TraceCacheTest, OneWithAChangedByteIsPackedAnew) {
  write(trace_, specimen(5));
  const std::string text = executed(trace_, sass::TraceCache::on), whole = contents(packed_);
  for (std::size_t n = 0; n < whole.size(); ++n) {
    std::string changed = whole;
    changed[n] = static_cast<char>(changed[n] ^ (1U << n % 8));
    write(packed_, changed);
    ASSERT_FALSE(is_packed()) << n;
  }
  EXPECT_EQ(executed(trace_, sass::TraceCache::on), text);
  EXPECT_EQ(contents(packed_), whole);
}

TEST_F(TraceCacheTest, OneOfAnotherVersionIsPackedAnew) {
  write(trace_, specimen(5));
  const std::string text = executed(trace_, sass::TraceCache::on), whole = contents(packed_);
  std::string other = whole;
  ++other[8];
  seal(other);
  write(packed_, other);
  EXPECT_FALSE(is_packed());
  EXPECT_EQ(executed(trace_, sass::TraceCache::on), text);
  EXPECT_EQ(contents(packed_), whole);
}

TEST_F(TraceCacheTest, ATextThatHasChangedIsReadAgain) {
  std::string text = specimen(5);
  write(trace_, text);
  const std::string before = executed(trace_, sass::TraceCache::on);
  text.replace(text.find("0x7fb0fc430e00"), 14, "0x7fb0fc430f00");
  const auto time = fs::last_write_time(trace_);
  write(trace_, text);
  fs::last_write_time(trace_, time);
  EXPECT_FALSE(is_packed());
  const std::string now = executed(trace_, sass::TraceCache::off);
  EXPECT_NE(now, before);
  EXPECT_EQ(executed(trace_, sass::TraceCache::on), now);
  EXPECT_TRUE(is_packed());
  EXPECT_EQ(executed(trace_, sass::TraceCache::on), now);
}

TEST_F(TraceCacheTest, WhereItsFolderTakesNoneItGoesToTheUsers) {
  write(trace_, specimen(5));
  fs::create_directory(packed_);  // in the way
  const std::string text = executed(trace_, sass::TraceCache::on);
  EXPECT_TRUE(is_packed());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "caches/warpline/traces"), {}), 1);
  EXPECT_EQ(executed(trace_, sass::TraceCache::on), text);
}

TEST_F(TraceCacheTest, WithNoPlaceForItTheTraceRunsAllTheSame) {
  write(trace_, specimen(5));
  fs::create_directory(packed_);
  write(folder_ / "caches", "no folder");
  EXPECT_EQ(executed(trace_, sass::TraceCache::on), executed(trace_, sass::TraceCache::off));
  EXPECT_FALSE(is_packed());
}

TEST_F(TraceCacheTest, OthersAreNotWrittenThrough) {
  write(trace_, specimen(5));
  write(folder_ / "mine", "mine");
  fs::create_hard_link(folder_ / "mine", packed_);
  EXPECT_EQ(executed(trace_, sass::TraceCache::on), executed(trace_, sass::TraceCache::off));
  EXPECT_EQ(contents(folder_ / "mine"), "mine");
  fs::remove(packed_);
  fs::create_symlink(folder_ / "mine", packed_);
  EXPECT_EQ(executed(trace_, sass::TraceCache::on), executed(trace_, sass::TraceCache::off));
  EXPECT_EQ(contents(folder_ / "mine"), "mine");
}

TEST_F(TraceCacheTest, AFaultIsTheSameAndLeavesNothing) {
  std::string text = specimen(5);
  text.replace(text.rfind("STL.64 2 R1"), 11, "STL.64 2 X1");
  write(trace_, text);
  const std::string fault = executed(trace_, sass::TraceCache::off);
  EXPECT_THAT(fault, HasSubstr("X1"));
  EXPECT_EQ(executed(trace_, sass::TraceCache::on), fault);
  EXPECT_EQ(executed(trace_, sass::TraceCache::on), fault);
  EXPECT_EQ(files(), 1U);
}

TEST_F(TraceCacheTest, ARunThatIsGivenUpLeavesNothing) {
  write(trace_, specimen(5));
  {
    auto kernel = sass::open_trace(trace_, sass::TraceCache::on);
    const auto source = kernel.value()->make_source({0, 2});
    source->begin_warp(0, {0, 0, 0}, 0, 0xFFFFFFFFU);
  }
  EXPECT_EQ(files(), 1U);
}

TEST_F(TraceCacheTest, RunsAtTheSameTimeDoNotDisturbEachOther) {
  write(trace_, specimen(5));
  const std::string text = executed(trace_, sass::TraceCache::off);
  std::vector<std::string> results(8);
  std::vector<std::thread> threads;
  for (std::string& result : results)
    threads.emplace_back([&] { result = executed(trace_, sass::TraceCache::on); });
  for (std::thread& t : threads) t.join();
  for (const std::string& result : results) EXPECT_EQ(result, text);
  EXPECT_TRUE(is_packed());
  EXPECT_EQ(files(), 2U);
}

/// What nobody packed and yet has the right sums.
TEST_F(TraceCacheTest, NonsenseEndsInAMessageOrRuns) {
  write(trace_, specimen(5));
  executed(trace_, sass::TraceCache::on);
  const std::string whole = contents(packed_);
  Random random(7);
  for (unsigned n = 0; n < 500; ++n) {
    std::string changed = whole;
    for (std::uint64_t k = 0; k <= random.below(4); ++k)
      changed[kHeadingBytes + random.below(whole.size() - kHeadingBytes)] =
          static_cast<char>(random.below(256));
    seal(changed);
    write(packed_, changed);
    executed(trace_, sass::TraceCache::on);
  }
}

}  // namespace trace_cache_test
}  // namespace warpline::test
