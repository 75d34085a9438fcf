// Garbled traces end in a message or run; nothing else. WARPLINE_FUZZ_MUTANTS says how many.
#include <gtest/gtest.h>
#include <lzma.h>

#include <algorithm>

#include "rtl_models/base/random.h"
#include "tests/platform/programs/sass_trace/trace_player.h"
#include "tests/support/environment.h"

namespace warpline::test {
namespace trace_fuzz_test {

std::uint64_t mutant_count() {
  return from_environment("WARPLINE_FUZZ_MUTANTS", 150);
}

/// One thread block with at least one line of every kind that the reader tells apart.
std::string specimen(unsigned version) {
  const std::vector<std::string> lines = {
      "0000 ffffffff 1 R1 MOV 0 0",
      "0010 ffffffff 1 R4 LDG.E.64.CONSTANT 1 R2 8 1 0x7fb0fc430e00 8",
      "0020 00000707 1 R8 LDG.E.128.STRONG.SYS 1 R2 16 2 0x7f991e401600 16 16 16 16 -16",
      "0030 80000001 1 R8 LD.E 1 R2 4 0 0x7fb139000020 0x7f991e401600",
      "0040 ffffffff 0 LDGSTS.E.BYPASS.LTC128B.128 2 R4 R8 16 1 0x7f991e401600 16",
      "0050 ffffffff 0 LDGDEPBAR 0 0",
      "0060 ffffffff 0 DEPBAR.LE 0 0",
      "0070 ffffffff 2 R4 R5 LDSM.16.M88.2 1 R2 2 1 0x0 16",
      "0080 0000000f 1 R3 ATOMG.E.ADD.STRONG.GPU 2 R2 R4 4 1 0x7f991e401600 0",
      "0090 ffffffff 0 BAR.SYNC 0 0",
      "00a0 ffffffff 0 MEMBAR.SC.GPU 0 0",
      "00b0 ffffffff 0 STL.64 2 R1 R4 8 1 0x7fb137fffda0 0",
      "00c0 ffffffff 0 CCTL.IVALL 0 0",
      "00d0 00000000 0 STG.E 2 R2 R4 4 1 0x0 0",
      "00e0 ffffffff 0 EXIT 0 0"};
  TraceText t;
  t.grid = "(2,1,1)";
  t.block = "(64,1,1)";
  t.extra = version == 1 ? "" : "-accelsim tracer version = " + std::to_string(version) + "\n";
  for (unsigned b = 0; b < 2; ++b) {
    t.body += "#BEGIN_TB\n\nthread block = " + std::to_string(b) + ",0,0\n\n";
    for (unsigned w = 0; w < 2; ++w) {
      t.body += "warp = " + std::to_string(w) + "\ninsts = " + std::to_string(lines.size()) + "\n";
      for (const std::string& l : lines)
        t.body += (version < 3 ? std::to_string(b) + " 0 0 " + std::to_string(w) + " " : "") + l +
                  (version >= 4 ? " 0\n" : "\n");
    }
    t.body += "#END_TB\n";
  }
  return t.text();
}

std::string compressed(const std::string& text) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, nullptr,
                                    reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                                    reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size()),
            LZMA_OK);
  out.resize(size);
  return out;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1);
    lines.push_back(text.substr(at, end + 1 - at));
    at = end + 1;
  }
  return lines;
}

/// One to four changes of the kinds that happen: flipped bits, lost and repeated lines and pieces, absurd
/// numbers.
std::string mutate(std::string text, Random& random) {
  static const std::vector<std::string> kAbsurd = {
      "99999999999", "-1", "0", "18446744073709551616", "4000000000", "0xffffffffffffffff", "R255", "",
      "(",           "\t"};
  for (std::uint64_t changes = 1 + random.below(4); changes > 0 && !text.empty(); --changes) {
    const std::size_t at = random.below(text.size());
    switch (random.below(6)) {
      case 0: text[at] = static_cast<char>(text[at] ^ static_cast<char>(1U << random.below(8))); break;
      case 1: text[at] = static_cast<char>(random.below(256)); break;
      case 2: text.resize(at); break;
      case 3:
      case 4: {
        std::vector<std::string> lines = lines_of(text);
        const std::size_t line = random.below(lines.size());
        if (random.below(2) == 0)
          lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(line));
        else
          lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(line), lines[random.below(lines.size())]);
        text.clear();
        for (const std::string& l : lines) text += l;
        break;
      }
      default: {
        const std::size_t end = std::min(text.find_first_of(" ,\n", at), text.size());
        text.replace(at, end - at, kAbsurd[random.below(kAbsurd.size())]);
      }
    }
  }
  return text;
}

enum class Verdict { ran, message };

Verdict judge(const std::string& path) {
  auto kernel = sass::open_trace(path);
  if (!kernel.ok()) {
    EXPECT_FALSE(kernel.faults().empty());
    for (const Diagnostic& d : kernel.faults()) EXPECT_FALSE(d.message.empty());
    return Verdict::message;
  }
  try {
    Player(*kernel.value()).run();
  } catch (const InputError& e) {
    EXPECT_FALSE(e.diagnostic.message.empty());
    EXPECT_EQ(e.diagnostic.file, path);
    EXPECT_LE(e.diagnostic.source.size(), 200U);
    return Verdict::message;
  }
  return Verdict::ran;
}

TEST(TraceFuzz, TheSpecimensAreSound) {
  for (unsigned version = 1; version <= 5; ++version) {
    const TemporaryFile plain("kernel-1.traceg", specimen(version));
    EXPECT_EQ(judge(plain.path()), Verdict::ran) << version;
    const TemporaryFile xz("kernel-1.traceg.xz", compressed(specimen(version)));
    EXPECT_EQ(judge(xz.path()), Verdict::ran) << version;
  }
}

TEST(TraceFuzz, MutantsEndInAMessageOrRun) {
  std::uint64_t messages = 0;
  const std::uint64_t mutants = mutant_count();
  for (std::uint64_t seed = 0; seed < mutants; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(splitmix64(seed));
    const std::string text = specimen(1 + static_cast<unsigned>(random.below(5)));
    const bool xz = random.below(3) == 0;
    const bool inside = random.below(2) == 0;
    const std::string mutant = !xz      ? mutate(text, random)
                               : inside ? compressed(mutate(text, random))
                                        : mutate(compressed(text), random);
    const TemporaryFile file(xz ? "kernel-1.traceg.xz" : "kernel-1.traceg", mutant);
    if (judge(file.path()) == Verdict::message) ++messages;
    if (HasFailure()) return;
  }
  EXPECT_GT(messages, mutants / 2) << "most mutants are garbled";
}

TEST(TraceFuzz, MutatedListsEndInAMessageOrRun) {
  const TemporaryFile kernel("kernel-1.traceg", "");
  const std::string text =
      "MemcpyHtoD,0x00007fb0fc400000,200000\nMemcpyHtoD,0x00007fb0fc430e00,200000\nkernel-1.traceg\n";
  for (std::uint64_t seed = 0; seed < mutant_count(); ++seed) {
    Random random(splitmix64(seed));
    const TemporaryFile list("kernelslist.g", mutate(text, random));
    std::vector<std::string> warnings;
    const auto result = sass::read_list(list.path(), warnings);
    EXPECT_TRUE(result.ok() ? !result.value().empty() : !result.faults().empty()) << "seed " << seed;
  }
}

}  // namespace trace_fuzz_test
}  // namespace warpline::test
