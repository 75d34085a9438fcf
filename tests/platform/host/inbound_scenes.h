#pragma once

#include <string>

#include "rtl_models/base/random.h"
#include "tests/platform/host/gpus_and_host.h"

namespace warpline::test {

inline RunOptions drawn_by(std::uint64_t seed) {
  RunOptions o;
  o.jitter = seed;
  return o;
}

/// Thread i looks at the flag and then at word i, in a line of its own, until the flag is `last`; counts how
/// often the word was older than the flag.
inline std::string watch(const std::string& load_flag, const std::string& load_datum, unsigned last) {
  return "mov.u32 %r0, %tid.x;\nmul.wide.u32 %d0, %r0, 384;\nadd.u64 %d0, %d0, %a0;\n"
         "mul.wide.u32 %d1, %r0, 4;\nadd.u64 %d1, %d1, %a2;\nmov.u32 %r3, 0;\n"
         "LOOP: " +
         load_flag + " %r1, [%a1];\n" + load_datum +
         " %r2, [%d0];\nsetp.lt.u32 %p, %r2, %r1;\n@%p add.u32 %r3, %r3, 1;\nsetp.ne.u32 %p, %r1, " +
         std::to_string(last) + ";\n@%p bra LOOP;\nst.global.u32 [%d1], %r3;\n";
}

inline constexpr unsigned kRounds = 6;

/// The host writes words to many lines, and then a flag, round after round, while a kernel looks. How often
/// the flag came first.
inline unsigned stale_after_host(std::uint64_t seed, const std::string& load_flag,
                                 const std::string& load_datum) {
  GpusAndHost bench(drawn_by(seed));
  const GpusAndHost::Video data = bench.video(384 * kWarpLanes), flag = bench.video(256),
                           stale = bench.video(256);
  const auto module = module_of_body(watch(load_flag, load_datum, kRounds), 3);
  bench.start({{module.get(), "k", block_of({data.address, flag.address, stale.address}), 1, kWarpLanes}});
  Random random(seed);
  for (unsigned round = 1; round <= kRounds; ++round) {
    const auto first = static_cast<unsigned>(random.below(kWarpLanes));
    for (unsigned i = 0; i < kWarpLanes; ++i)
      bench.host->store(data.bus + 384 * ((first + i) % kWarpLanes), 4, round);
    bench.host->store(flag.bus, 4, round);
    if (random.below(2) == 0) bench.host->pass(random.below(3000));
  }
  bench.finish();
  unsigned count = 0;
  for (unsigned i = 0; i < kWarpLanes; ++i) count += bench.word_at(stale.address + 4 * i);
  return count;
}

/// The host writes two words to lines of any slices and reads a third. How many of the two L2 has not
/// performed when the answer is there.
inline unsigned writes_behind_a_read(std::uint64_t seed) {
  GpusAndHost bench(drawn_by(seed));
  const GpusAndHost::Video v = bench.video(16384);
  // A launch draws the time that messages take.
  bench.run("st.global.u32 [%a0], 1;\n", {v.address + 16000});
  Random random(seed);
  unsigned count = 0;
  for (unsigned i = 1; i <= 10; ++i) {
    const std::uint64_t a = 4 * random.below(3900), b = 4 * random.below(3900);
    bench.host->store(v.bus + a, 4, 2 * i);
    bench.host->store(v.bus + b, 4, 2 * i + 1);
    static_cast<void>(bench.host->load(v.bus + 4 * random.below(3900), 4));
    count += a != b && bench.word_at(v.address + a) != 2 * i;
    count += bench.word_at(v.address + b) != 2 * i + 1;
  }
  return count;
}

}  // namespace warpline::test
