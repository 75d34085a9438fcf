// Every atomic of PTX as programs say it, in video, system and shared memory, to the bit.
#include <gtest/gtest.h>

#include <sstream>

#include "platform/launch/loaded_file.h"
#include "tests/platform/machine/ptx_run.h"
#include "tests/support/naive_atomic.h"

namespace warpline::test {
namespace atomics_test {

using test::AtomicForm;
using test::LaneBytes;

constexpr unsigned kSlots = 5;  ///< places that the 32 lanes share

std::string operation_name(AtomicOperation o) {
  constexpr const char* kNames[] = {"", "add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"};
  return kNames[static_cast<unsigned>(o)];
}

bool is_half(DataType t) {
  return is_float(t) && t != DataType::f32 && t != DataType::f64;
}

/// A kernel of one warp: lane n does the operation on slot n % 5 with operands n of `b` and `c`.
std::string kernel(const std::string& name, const AtomicForm& form, const std::string& space, bool returns) {
  const unsigned size = size_of(form.type);
  const std::string bits = ".b" + std::to_string(8 * size);
  const std::string reg =
      form.type == DataType::f32 || form.type == DataType::f64 ? "." + std::string(name_of(form.type)) : bits;
  const auto registers = [&](const std::string& letter) {
    std::string all;
    for (unsigned e = 0; e < form.vector; ++e) all += (e == 0 ? "%" : ", %") + letter + std::to_string(e);
    return form.vector == 1 ? all : "{" + all + "}";
  };
  std::ostringstream out;
  out << ".visible .entry " << name << "(.param .u64 m, .param .u64 b, .param .u64 c, .param .u64 out)\n{\n"
      << ".reg " << reg << " %d<8>, %b<8>, %c<8>; .reg .b32 %r<9>; .reg .b64 %rd<9>, %x<9>;\n"
      << ".shared .align 256 .b8 tile[128];\n"
      << "ld.param.u64 %rd1, [m]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c]; ld.param.u64 %rd4, [out];\n"
      << "mov.u32 %r1, %tid.x; mul.wide.u32 %rd5, %r1, 16;\n"
      << "add.u64 %rd2, %rd2, %rd5; add.u64 %rd3, %rd3, %rd5; add.u64 %rd4, %rd4, %rd5;\n"
      << "rem.u32 %r2, %r1, " << kSlots << "; mul.lo.u32 %r2, %r2, " << size * form.vector << ";\n";
  const bool shared = space == ".shared";
  if (shared) {
    out << "mul.lo.u32 %r3, %r1, 4; cvt.u64.u32 %rd6, %r3; add.u64 %rd6, %rd1, %rd6;\n"
        << "mov.u32 %r4, tile; add.u32 %r5, %r4, %r3; add.u32 %r2, %r2, %r4;\n"
        << "ld.global.u32 %r6, [%rd6]; st.shared.u32 [%r5], %r6; bar.sync 0;\n";
  } else {
    out << "cvt.u64.u32 %rd7, %r2; add.u64 %rd7, %rd1, %rd7;\n";
  }
  for (unsigned e = 0; e < form.vector; ++e)
    out << "ld.global" << bits << " %b" << e << ", [%rd2+" << e * size << "]; ld.global" << bits << " %c" << e
        << ", [%rd3+" << e * size << "];\n";
  out << (returns ? "atom" : "red") << space << "." << operation_name(form.operation)
      << (is_half(form.type) ? ".noftz" : "") << (form.vector > 1 ? ".v" + std::to_string(form.vector) : "")
      << "." << name_of(form.type) << " " << (returns ? registers("d") + ", " : "") << "["
      << (shared ? "%r2" : "%rd7") << "], " << registers("b")
      << (form.operation == AtomicOperation::compare_and_swap ? ", %c0" : "") << ";\n";
  for (unsigned e = 0; returns && e < form.vector; ++e)
    out << "st.global" << bits << " [%rd4+" << e * size << "], %d" << e << ";\n";
  if (shared) out << "bar.sync 0; ld.shared.u32 %r6, [%r5]; st.global.u32 [%rd6], %r6;\n";
  out << "ret;\n}\n";
  return out.str();
}

std::string argument(const std::string& name, std::size_t count, const std::string& more) {
  return "[[launch.argument]]\nbuffer = \"" + name + "\"\ntype = \"u8\"\ncount = " + std::to_string(count) +
         "\n" + more;
}

/// All forms as launches of one run, in `space` (".shared", or ".global" in that aperture).
void check(const std::string& space, const std::string& aperture,
           const std::vector<std::string>& overrides = {}) {
  Random random(7);
  std::ostringstream ptx, toml;
  std::map<std::string, std::string> files;
  ptx << ".version 8.8\n.target sm_100\n.address_size 64\n";
  unsigned n = 0;
  for (const AtomicForm& form : test::atomic_forms()) {
    for (const bool returns : {true, false}) {
      const bool atom_only =
          form.operation == AtomicOperation::exchange || form.operation == AtomicOperation::compare_and_swap;
      if ((!returns && atom_only) || (space == ".shared" && form.vector > 1)) continue;
      const std::string id = std::to_string(n++);
      ptx << kernel("k" + id, form, space, returns);
      AtomicBlock block = test::random_atomic_block(random);
      block.operation = form.operation;
      block.type = form.type;
      block.vector = static_cast<std::uint8_t>(form.vector);
      block.count = kWarpLanes;
      std::string memory(kLineBytes, '\0'), b(kWarpLanes * 16, '\0'), c = b, out = b;
      for (char& byte : memory) byte = static_cast<char>(random.next());
      std::string after = memory;
      const unsigned bytes = block.lane_bytes();
      for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
        // Comparands are what lies there, often.
        const bool same = form.operation == AtomicOperation::compare_and_swap && random.below(2) != 0;
        const unsigned offset = lane % kSlots * bytes;
        for (unsigned at = 0; at < bytes; ++at) {
          b[lane * 16 + at] = same ? after[offset + at] : static_cast<char>(random.next());
          c[lane * 16 + at] = static_cast<char>(random.next());
        }
        block.lanes[lane].offset = static_cast<std::uint8_t>(offset);
        block.lanes[lane].operand = block.lanes[lane].second = 0;
        std::memcpy(&block.lanes[lane].operand, &b[lane * 16], std::min(bytes, 8U));
        std::memcpy(&block.lanes[lane].second, &c[lane * 16], std::min(bytes, 8U));
        std::memcpy(&block.high[lane].operand, &b[lane * 16 + 8], 8);
        std::memcpy(&block.high[lane].second, &c[lane * 16 + 8], 8);
        const LaneBytes old = test::naive_lane(block, lane, reinterpret_cast<std::uint8_t*>(after.data()),
                                               space == ".shared" ? Subnormals::kept : Subnormals::flushed);
        if (returns) std::memcpy(&out[lane * 16], old.data(), bytes);
      }
      files["m" + id] = memory;
      files["M" + id] = after;
      files["b" + id] = b;
      files["c" + id] = c;
      files["o" + id] = out;
      toml << "[[launch]]\nmodule = \"k.ptx\"\nkernel = \"k" << id << "\"\ngrid = [1]\nblock = [32]\n"
           << argument("m" + id, kLineBytes,
                       "aperture = \"" + aperture + "\"\ninit = { file = \"m" + id +
                           "\" }\nexpect = { file = \"M" + id + "\" }\n")
           << argument("b" + id, 512, "init = { file = \"b" + id + "\" }\n")
           << argument("c" + id, 512, "init = { file = \"c" + id + "\" }\n")
           << argument("o" + id, 512, "expect = { file = \"o" + id + "\" }\n");
    }
  }
  PtxRun run(ptx.str(), toml.str(), overrides, files);
  EXPECT_EQ(run.end().outcome, RunOutcome::quiescent);
  EXPECT_EQ(run.end().checks, 2 * n);
  for (const std::string& failure : run.end().failures) ADD_FAILURE() << failure;
  EXPECT_TRUE(run.gpu().unreconciled().empty());
}

TEST(Atomics, EveryFormInVideoMemory) {
  check(".global", "vidmem");
  check("", "vidmem");
}

TEST(Atomics, EveryFormInSystemMemory) {
  check(".global", "sysmem");
}

TEST(Atomics, EveryFormInSystemMemoryWithoutAtomicOps) {
  check(".global", "sysmem", {{"pcie.atomic_ops=false"}});
}

TEST(Atomics, EveryFormInSharedMemory) {
  check(".shared", "vidmem");
}

}  // namespace atomics_test
}  // namespace warpline::test
