// Checkpoints that do not fit are refused, and change nothing.
//
// WARPLINE_DAMAGED_CHECKPOINTS sets how many damaged ones are tried, of each kind.
#include "platform/machine/checkpoint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "rtl_models/base/random.h"
#include "rtl_models/base/sha256.h"
#include "tests/platform/machine/body_kernel.h"
#include "tests/platform/machine/harness.h"
#include "tests/support/environment.h"

namespace warpline::test {
namespace checkpoint_test {

constexpr const char* kAdd =
    "mov.u32 %r1, %tid.x;\n mul.wide.u32 %d1, %r1, 4;\n add.u64 %d1, %d1, %a0;\n ld.global.u32 %r2, [%d1];\n"
    "add.u32 %r2, %r2, %r1;\n st.global.u32 [%d1], %r2;\n";
constexpr const char* kTrap = "ld.global.u32 %r1, [%a0+2];\n";

/// Two small GPUs.
struct Warm {
  explicit Warm(const std::vector<std::string>& more = {}, RunOptions options = {})
      : platform(config(more), limited(std::move(options))) {
    at[0] = platform.allocate("a", 4096);
    at[1] = platform.allocate("b", 4096, Aperture::sysmem);
  }
  static GpuConfig config(const std::vector<std::string>& more) {
    std::vector<std::string> all = {
        {"gpus=2"},    {"sms=1"},       {"vidmem_bytes=8388608"}, {"sysmem_bytes=1048576"},
        {"l2.sets=4"}, {"l1_lg.sets=2"}};
    all.insert(all.end(), more.begin(), more.end());
    return preset("mini", all);
  }
  static RunOptions limited(RunOptions o) {
    o.max_cycles = 10'000'000;
    return o;
  }
  /// A grid on each of them at the same time.
  void start(const char* body = kAdd) {
    for (unsigned gpu = 0; gpu < 2; ++gpu) {
      modules.push_back(module_of_body(gpu == 0 ? body : kAdd, 1));
      kernels[gpu] = modules.back()->make_kernel("k", {2, 1, 1}, {64, 1, 1}, 0,
                                                 block_of(std::vector<std::uint64_t>{at[gpu]}));
    }
    platform.start({GridLaunch{kernels[0].get(), 0, true}, GridLaunch{kernels[1].get(), 1, true}});
  }
  void run(const char* body = kAdd) {
    start(body);
    ASSERT_EQ(platform.finish().outcome, RunOutcome::quiescent);
  }
  [[nodiscard]] std::string saved(std::string_view note = "note") {
    std::ostringstream out;
    const Diagnostics faults = platform.save(out, note);
    EXPECT_TRUE(faults.empty());
    return out.str();
  }
  /// Why it is refused; empty: it is not.
  [[nodiscard]] std::string restore(const std::string& bytes) {
    std::istringstream in(bytes);
    const auto checkpoint = Checkpoint::read(in, "file");
    const Diagnostics faults = checkpoint.ok() ? platform.restore(checkpoint.value()) : checkpoint.faults();
    return faults.empty() ? "" : faults.front().message;
  }
  GpuPlatform platform;
  std::uint64_t at[2];
  std::vector<std::unique_ptr<programs::Module>> modules;
  std::unique_ptr<Kernel> kernels[2];
};

TEST(Checkpoint, RestoredAMachineGoesOnAsItDid) {
  Warm first;
  first.run();
  const std::string bytes = first.saved("mine");
  first.run();
  first.run();
  Warm second;
  std::istringstream in(bytes);
  const auto checkpoint = Checkpoint::read(in);
  ASSERT_TRUE(checkpoint.ok());
  EXPECT_EQ(checkpoint.value().note(), "mine");
  ASSERT_TRUE(second.platform.restore(checkpoint.value()).empty());
  second.run();
  second.run();
  EXPECT_EQ(second.saved(), first.saved());
  // Also one that has done other things meanwhile.
  ASSERT_EQ(first.restore(bytes), "");
  first.run();
  first.run();
  EXPECT_EQ(second.saved(), first.saved());
}

TEST(Checkpoint, FaultsThatAreKeptAreRestored) {
  Warm first;
  first.run(kTrap);
  ASSERT_EQ(first.platform.faults().size(), 4U);
  Warm second;
  ASSERT_EQ(second.restore(first.saved()), "");
  ASSERT_EQ(second.platform.faults().size(), 4U);
  const FaultRecord a = first.platform.faults()[0], b = second.platform.faults()[0];
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.cycle, b.cycle);
  EXPECT_EQ(a.where, b.where);
  EXPECT_EQ(a.address, b.address);
  EXPECT_EQ(a.memory, b.memory);
  EXPECT_EQ(access_text(a), access_text(b));
}

TEST(Checkpoint, OneOfAnotherShapeIsRefusedByTheKeysThatDiffer) {
  Warm first;
  first.run();
  const std::string bytes = first.saved();
  Warm other({{"l2.ways=2"}, {"dram.banks=8"}});
  const std::string before = other.saved();
  const std::string why = other.restore(bytes);
  EXPECT_NE(why.find("gpu.l2.ways is 2, and was "), std::string::npos) << why;
  EXPECT_NE(why.find("gpu.dram.banks is 8, and was "), std::string::npos) << why;
  EXPECT_EQ(other.saved(), before);
  RunOptions jittery;
  jittery.jitter = 3;
  Warm drawn({}, jittery);
  EXPECT_NE(drawn.restore(bytes).find("jitter is 3, and was none"), std::string::npos);
}

TEST(Checkpoint, NothingIsSavedOrRestoredWhileAGridRuns) {
  Warm w;
  const std::string bytes = w.saved();
  w.start();
  std::ostringstream out;
  const Diagnostics faults = w.platform.save(out);
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_NE(faults[0].message.find("not at rest"), std::string::npos);
  EXPECT_TRUE(out.str().empty());
  EXPECT_NE(w.restore(bytes).find("not at rest"), std::string::npos);
  EXPECT_EQ(w.platform.finish().outcome, RunOutcome::quiescent);
}

/// The last lines of a checkpoint: its hash, and that it ends.
std::size_t end_of_contents(const std::string& bytes) {
  return bytes.rfind("\nsha256 ");
}

std::string with_right_hash(std::string contents) {
  return contents + "\nsha256 " + sha256_of(contents) + "\nend of checkpoint\n";
}

TEST(Checkpoint, AnotherVersionAndAnotherFormatAreRefused) {
  Warm w;
  const std::string bytes = w.saved();
  std::string contents = bytes.substr(0, end_of_contents(bytes));
  ASSERT_EQ(with_right_hash(contents), bytes);
  // Behind the line of the format, the length of the version and the version.
  const std::size_t version = contents.find('\n') + 1 + sizeof(std::uint64_t);
  contents[version] = 'x';
  EXPECT_NE(w.restore(with_right_hash(contents)).find("was saved by Warpline x"), std::string::npos);
  for (const std::string& format : {std::string("1"), std::string("3")})
    EXPECT_NE(w.restore("warpline checkpoint " + format + "\nanything").find("of format \"" + format + "\""),
              std::string::npos);
  EXPECT_NE(w.restore("anything").find("is no checkpoint"), std::string::npos);
  EXPECT_NE(w.restore("").find("is no checkpoint"), std::string::npos);
}

TEST(Checkpoint, WhatCannotBeReadToItsEndIsRefused) {
  // As a file's does where the disk fails.
  class Failing final : public std::streambuf {
    int_type underflow() override { throw std::runtime_error("the disk fails"); }
  };
  Failing buffer;
  std::istream in(&buffer);
  const Result<Checkpoint> read = Checkpoint::read(in, "c");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.faults().front().message, "cannot be read to its end");
}

TEST(Checkpoint, WhatIsNoneIsNotReadToItsEnd) {
  // As /dev/zero.
  class Endless final : public std::streambuf {
    int_type underflow() override {
      setg(zeros_.data(), zeros_.data(), zeros_.data() + zeros_.size());
      return 0;
    }
    std::string zeros_ = std::string(4096, '\0');
  };
  Endless buffer;
  std::istream in(&buffer);
  const Result<Checkpoint> read = Checkpoint::read(in, "c");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.faults().front().message, "is no checkpoint");
}

/// Bits turned over, bytes lost, put in or exchanged: anywhere.
std::string damaged(std::string bytes, Random& random) {
  const auto place = [&] { return static_cast<std::size_t>(random.below(bytes.size())); };
  switch (random.below(6)) {
    case 0: bytes[place()] ^= static_cast<char>(1U << random.below(8)); break;
    case 1: bytes.resize(place()); break;
    case 2: bytes.append(1 + random.below(64), static_cast<char>(random.next())); break;
    case 3: bytes.erase(place(), 1 + random.below(64)); break;
    case 4: bytes.insert(place(), 1 + random.below(64), static_cast<char>(random.next())); break;
    default: {
      const std::size_t count = std::min<std::size_t>(1 + random.below(256), bytes.size() / 2);
      const std::size_t a = random.below(bytes.size() - count + 1),
                        b = random.below(bytes.size() - count + 1);
      const std::string from = bytes.substr(a, count);
      if (from == bytes.substr(b, count)) bytes[b] ^= 1;
      bytes.replace(b, count, from);
    }
  }
  return bytes;
}

TEST(Checkpoint, DamagedFilesAreRefusedAndChangeNothing) {
  const std::uint64_t count = from_environment("WARPLINE_DAMAGED_CHECKPOINTS", 150);
  Warm w;
  w.run();
  const std::string bytes = w.saved();
  w.run();
  const std::string now = w.saved();
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    Random random(splitmix64(seed));
    const std::string bad = damaged(bytes, random);
    if (bad == bytes) continue;
    ASSERT_NE(w.restore(bad), "") << "seed " << seed;
    if (seed % 16 == 0) {
      ASSERT_EQ(w.saved(), now) << "seed " << seed;
    }
  }
  ASSERT_EQ(w.saved(), now);
  ASSERT_EQ(w.restore(bytes), "");
}

/// Damage that comes with the right hash is somebody's intention: it is refused, or is a state like another;
/// in any case nothing breaks.
TEST(Checkpoint, DamageWithARightHashBreaksNothing) {
  const std::uint64_t count = from_environment("WARPLINE_DAMAGED_CHECKPOINTS", 150);
  Warm w;
  w.run();
  const std::string bytes = w.saved();
  const std::string contents = bytes.substr(0, end_of_contents(bytes));
  std::uint64_t refused = 0;
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    Random random(splitmix64(seed + 1'000'000));
    const std::string bad = with_right_hash(damaged(contents, random));
    if (w.restore(bad).empty()) {
      ASSERT_EQ(w.restore(bytes), "");
      continue;
    }
    ++refused;
    if (seed % 16 == 0) {
      ASSERT_EQ(w.saved(), bytes) << "seed " << seed;
    }
  }
  EXPECT_NE(refused, 0U);
  ASSERT_EQ(w.saved(), bytes);
}

}  // namespace checkpoint_test
}  // namespace warpline::test
