// Damaged launch files, PTX, programs, presets, traces, lists of them and litmus tests through the whole
// command, as an ordinary user: it runs them or says what is wrong with them, and never crashes, hangs,
// complains about something else or lets a terminal be moved.
//
// WARPLINE_FUZZ_MUTANTS sets how many mutants there are of each kind of file (20000 before a release), and
// WARPLINE_FUZZ_FROM the first seed. A failure names its seed; the damaged file is in the message.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "rtl_models/base/text.h"
#include "tests/fuzz/mutator.h"
#include "tests/fuzz/ordinary_user.h"
#include "tests/support/environment.h"

namespace warpline::test {
namespace command_fuzz_test {

const char* const kLaunch = R"toml(module = "kernel.ptx"
kernel = "vecadd"
grid   = [2, 1, 1]
block  = [64, 1, 1]
[[argument]]
buffer = "a"
type   = "f32"
count  = 256
init   = { iota = { start = 0, step = 1 } }
[[argument]]
buffer = "b"
type   = "f32"
count  = 256
init   = { random = { seed = 1 } }
[[argument]]
buffer = "c"
type   = "f32"
count  = 256
expect = { expression = "a[i] + b[i] + sum(k, 0, 2, 0 * a[k])", tolerance = { abs = 0.0, rel = 1e-6 } }
[[argument]]
scalar = 256
type   = "u32"
)toml";

const char* const kHost = R"toml(module = "kernel.ptx"
kernel = "vecadd"
grid   = [1]
block  = [32]
[[argument]]
address = "peer[0].bar[4]+256"
[[argument]]
buffer = "b"
type   = "f32"
count  = 32
[[argument]]
buffer   = "c"
type     = "f32"
count    = 32
aperture = "sysmem"
[[argument]]
scalar = 32
type   = "u32"
[[register]]
name   = "peer[0].SCRATCH[0]"
init   = 3
expect = 4
[[register]]
name = "peer[0].SQ_BASE[0]"
init = { bus = "c", offset = 64 }
[[host]]
write = "peer[0].scratch[0]"
value = 4
[[host]]
wait  = "peer[0].SCRATCH[0]"
value = 4
mask  = 0x7
[[host]]
delay = 50
[[host]]
wait     = "c[1]"
at_least = 0
)toml";

const char* const kTrace = R"(-kernel name = vecadd
-kernel id = 1
-grid dim = (2,1,1)
-block dim = (32,1,1)
-shmem = 0
-nregs = 16
-binary version = 80
-cuda stream id = 0
-shmem base_addr = 0x00007f5a2c000000
-local mem base_addr = 0x00007f5a2a000000
-nvbit version = 1.5.5
-accelsim tracer version = 5
-enable lineinfo = 0

#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [address_mode] [mem_addresses] immediate

#BEGIN_TB

thread block = 0,0,0

warp = 0
insts = 5
0000 ffffffff 1 R1 IMAD.MOV.U32 1 R255 0 0
0010 ffffffff 1 R2 LDG.E 1 R4 4 1 0x7f5a00000000 4 0
0020 00000707 1 R3 LDG.E.CONSTANT 1 R6 4 2 0x7f5a00001604 0 0 16 0 0 0
0030 ffffffff 0 STG.E 2 R2 R3 4 1 0x7f5a00002000 4 0
0040 ffffffff 0 EXIT 0 0 0

#END_TB

#BEGIN_TB

thread block = 1,0,0

warp = 0
insts = 2
0000 0000000f 1 R2 LDG.E.STRONG.GPU 1 R4 4 0 0x7f5a00000000 0x7f5a00000100 0x7f5a00000200 0x7f5a00000300 0
0040 ffffffff 0 EXIT 0 0 0

#END_TB
)";

const char* const kProgram = R"(.entry k
.grid 2
.block 64
.local 32
.global data 512 = 0, 0
.constant table 16 = 3, 4, 5, 6
.show R6
.expect data[0] = 10
  S2R R0, SR_CTAID.X; S2R R1, SR_NTID.X; S2R R2, SR_TID.X; IMAD R0, R0, R1, R2;
  MOV R4, data.lo; MOV R5, data.hi; IMAD.WIDE R4, R0, 4, R4;
  ISETP.EQ P0, R0, 0;
again:
  LD.E R6, [R4] &wr=0; IADD R6, R6, 2 &req=0x01; ST.E [R4], R6 &rd=1;
  CAL keep; ISETP.LT P1, R6, 9; @P1 BRA again;
  EXIT;
keep:
  STL [4], R6; CCTLL.WB [4]; CCTLL.IVALL; LDL R6, [4] ?WAIT2;
  CCTLL.CRS.WBALL; GETCRSPTR R7; SETCRSPTR 1; LDC R8, c[table][R7 + 3]; CCTL.E.D.IV [R4];
  RET;
)";

const char* const kLitmus = R"(PTX MP
"by two proxies, two sizes and a barrier"
{
x=0; y = -1; t @ texture aliases x; a @ generic aliases x; s @ shared = 3; P1:r3 = 0x10;
}
 P0@cta 0, gpu 0      | P1@cta 1, cluster 0, gpu 0       | P2@cta 1, cluster 0 ;
 st.weak.b64 x, 1     | L0: ld.acquire.gpu r0, y         | bar.cta.sync 1, 1, 2 ;
 fence.release.gpu    | beq r0, -1, L0                   | ld.weak.u8 r0, s+1 ;
 st.relaxed.gpu y, 2  | fence.proxy.texture              | atom.relaxed.cta.cas r1, s, 3, 4 ;
 red.gpu.add.u64 x, 5 | tld.weak r1, t                   | ld.weak.global.nc r2, y ;
 CCTL.IV x            | st.weak s, r1                    | fence.proxy.alias ;
                      | bar.cta.sync 1, 1, 2             | ld.volatile r3, a ;
hold write x of P0 until P1:0;
~exists (P1:r0 == 2 /\ P1:r1 == 0 \/ ~(y != 7))
)";

std::uint64_t mutants() {
  return from_environment("WARPLINE_FUZZ_MUTANTS", 15);
}

/// Whether a terminal shows all of it and is not moved.
bool is_shown(const std::string& text) {
  return printable(text) == text;
}

/// A mutant may be large: what is around its start and its end.
std::string excerpt(const std::string& text) {
  constexpr std::size_t kEnds = 2000;
  return text.size() <= 2 * kEnds ? text
                                  : text.substr(0, kEnds) + "\n... (" + std::to_string(text.size()) +
                                        " bytes)\n" + text.substr(text.size() - kEnds);
}

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << in.rdbuf();
  EXPECT_TRUE(in.good()) << path;
  return bytes.str();
}

class CommandFuzz : public testing::TestWithParam<const char*> {};

TEST_P(CommandFuzz, EndsWithARuledStatus) {
  const std::string victim = GetParam();
  const OrdinaryUser user;
  std::map<std::string, std::string> files = {
      {"launch.toml", kLaunch},
      {"host.toml", kHost},
      {"kernel.ptx", bytes_of(WARPLINE_SOURCE_DIR "/sw/kernels/vecadd.sm_80.ptx")},
      {"kernel-1.traceg", kTrace},
      {"kernelslist.g", "MemcpyHtoD,0x00007f5a00000000,4096\nkernel-1.traceg\n\nkernel-1.traceg\n"},
      {"program.wls", kProgram},
      {"test.litmus", kLitmus},
      {"gpu.toml", user.run({"config", "show", "mini"}).out}};
  const bool runs_itself = victim == "kernel-1.traceg" || victim == "kernelslist.g" ||
                           victim == "program.wls" || victim == "host.toml";
  const std::string input = runs_itself ? victim : "launch.toml";
  const bool is_litmus = victim == "test.litmus";
  std::vector<std::string> command =
      is_litmus ? std::vector<std::string>{"litmus", victim, "--gpu",        "gpu.toml",
                                           "--runs", "20",   "--max-cycles", "5000"}
                : std::vector<std::string>{"run", input, "--gpu", "gpu.toml", "--max-cycles", "100000"};
  if (victim == "host.toml")
    command.insert(command.end(), {"--set", "pcie_system.peers=1", "--set", "peer_bytes=0"});
  for (const auto& [name, text] : files) user.write(name, text);
  const Ended sound = user.run(command);
  ASSERT_EQ(sound.status, 0) << "undamaged: " << sound.out << sound.err;

  constexpr std::uint64_t kTogether = 50;
  unsigned rejected = 0;
  const std::uint64_t from = from_environment("WARPLINE_FUZZ_FROM", 0);
  std::vector<std::string> mutated;
  std::vector<Ended> runs;
  for (std::uint64_t n = 0; n < mutants(); ++n) {
    const std::uint64_t seed = from + n;
    if (n % kTogether == 0) {
      mutated.clear();
      for (std::uint64_t k = n; k < std::min(n + kTogether, mutants()); ++k)
        mutated.push_back(Mutator(from + k).mutate(files.at(victim)));
      runs = user.run(command, victim, mutated);
    }
    const std::string& damaged = mutated[n % kTogether];
    const Ended& run = runs[n % kTogether];
    ASSERT_FALSE(is_litmus && run.status == 1) << "seed " << seed << ": what the model forbids was seen\n"
                                               << excerpt(damaged);
    ASSERT_LE(run.status, 3) << "seed " << seed << "\n" << excerpt(run.err) << "\n" << excerpt(damaged);
    ASSERT_TRUE(is_shown(run.out) && is_shown(run.err)) << "seed " << seed << "\n" << excerpt(damaged);
    if (run.status == 2) {
      ++rejected;
      ASSERT_NE(run.err.find(victim), std::string::npos) << "seed " << seed << "\n"
                                                         << excerpt(run.err) << "\n"
                                                         << excerpt(damaged);
      // A litmus test that no GPU can run is judged all the same.
      ASSERT_TRUE(is_litmus || run.out.empty()) << "seed " << seed;
    }
    ASSERT_TRUE(run.status == 0 || !(run.err + run.out).empty()) << "seed " << seed;
  }
  EXPECT_GT(rejected, mutants() / 10);
}

INSTANTIATE_TEST_SUITE_P(Files, CommandFuzz,
                         testing::Values("launch.toml", "host.toml", "kernel.ptx", "gpu.toml",
                                         "kernel-1.traceg", "kernelslist.g", "program.wls", "test.litmus"),
                         [](const auto& p) {
                           std::string name = p.param;
                           return name.substr(0, name.find_first_of(".-")) + "_" +
                                  name.substr(name.rfind('.') + 1);
                         });

}  // namespace command_fuzz_test
}  // namespace warpline::test
