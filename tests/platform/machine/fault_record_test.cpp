// Which memory a fault record names: of every space, by every kind of access, in the words that users read.
#include <gtest/gtest.h>

#include "rtl_models/base/text.h"
#include "tests/platform/machine/ptx_run.h"

namespace warpline::test {
namespace fault_record_test {

/// A kernel of one thread, which has 16 bytes of buffer "a" at %d1, the window of 64 shared bytes at %d2 and
/// that of 64 local ones at %d3. The variable behind "table" is not next to it: memory is laid out in steps
/// of 256 bytes.
std::string module(const std::string& code) {
  return ".version 7.4\n.target sm_80\n.address_size 64\n.visible .global .align 4 .u32 table[65];\n"
         ".global .align 4 .u32 other[2];\n.const .align 4 .u32 fixed[16];\n"
         ".visible .entry k(.param .u64 a)\n{\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\n"
         ".shared .align 16 .b8 tile[64];\n.local .align 16 .b8 own[64];\nld.param.u64 %d1, [a];\n"
         "mov.u64 %d2, tile;\ncvta.shared.u64 %d2, %d2;\nmov.u64 %d3, own;\ncvta.local.u64 %d3, %d3;\n" +
         code + "\nret;\n}\n";
}
std::string launch(const std::string& argument, unsigned gpu = 0) {
  return "[[launch]]\nmodule = \"k.ptx\"\nkernel = \"k\"\ngrid = [1]\nblock = [1]\ngpu = " +
         std::to_string(gpu) + "\n[[launch.argument]]\n" + argument + "\n";
}
const std::string kWords = "type = \"u32\"\ncount = 4\n";
const std::string kLaunch = launch("buffer = \"a\"\n" + kWords);

/// Of the only fault of a run.
FaultRecord fault_of(PtxRun& run) {
  const std::vector<FaultRecord> faults = run.gpu().faults();
  return faults.size() == 1 ? faults[0] : FaultRecord{};
}
FaultRecord fault_of(const std::string& code) {
  PtxRun run(module(code), kLaunch);
  return fault_of(run);
}

TEST(FaultRecords, NameTheMemoryOfEverySpaceAndTheSizeOfEveryAccess) {
  struct Row {
    const char* code;
    const char* kind;
    const char* access;
    const char* distance;
  };
  const Row rows[] = {
      {"st.global.u32 [table+2], 1;", "misaligned address", "a store of 4 bytes",
       "2 bytes into variable table"},
      {"st.global.u32 [table+260], 1;", "unmapped address", "a store of 4 bytes",
       "just past the end of variable table"},
      {"ld.global.v2.u32 {%r1, %r2}, [table+256];", "unmapped address", "a load of 8 bytes",
       "the last 4 bytes past the end of variable table"},
      {"red.global.add.u32 [other+8], 1;", "unmapped address", "a reduction of 4 bytes",
       "just past the end of variable other"},
      {"ld.global.u32 %r1, [%d1+20];", "unmapped address", "a load of 4 bytes",
       "4 bytes past the end of buffer a"},
      {"ld.const.u32 %r1, [fixed+6];", "misaligned address", "a load of 4 bytes",
       "6 bytes into variable fixed"},
      {"mov.u64 %d4, 0x120004;\nld.const.u32 %r1, [%d4];", "address beyond the constant banks",
       "a load of 4 bytes", "4 bytes past the end of the constant banks"},
      {"ld.param.u32 %r1, [a+2];", "misaligned address", "a load of 4 bytes",
       "2 bytes into the kernel's parameters"},
      {"ld.shared.u32 %r1, [tile+1];", "misaligned address", "a load of 4 bytes",
       "1 byte into the block's shared memory"},
      {"ld.shared.u32 %r1, [tile+64];", "address beyond shared memory", "a load of 4 bytes",
       "just past the end of the block's shared memory"},
      {"mov.u32 %r1, tile;\nst.shared.u16 [%r1+-6], 1;", "address beyond shared memory", "a store of 2 bytes",
       "6 bytes before the start of the block's shared memory"},
      {"ld.u32 %r1, [%d2+2];", "misaligned address", "a load of 4 bytes",
       "2 bytes into the block's shared memory"},
      {"ld.u64 %d4, [%d2+68];", "misaligned address", "a load of 8 bytes",
       "4 bytes past the end of the block's shared memory"},
      {"st.local.u32 [own+3], 1;", "misaligned address", "a store of 4 bytes",
       "3 bytes into the thread's local memory"},
      {"ld.u32 %r1, [%d3+64];", "address beyond local memory", "a load of 4 bytes",
       "just past the end of the thread's local memory"},
      {"atom.add.u32 %r1, [%d3+4], 1;", "atomic operation on local memory", "an atomic of 4 bytes",
       "4 bytes into the thread's local memory"},
      {"ld.L2::128B.u32 %r1, [%d2+8];", "address outside global memory", "a load of 4 bytes",
       "8 bytes into the block's shared memory"},
      {"cp.async.ca.shared.global [tile], [%d1+32], 16;", "unmapped address",
       "an asynchronous copy of 16 bytes", "16 bytes past the end of buffer a"},
      {"cp.async.ca.shared.global [tile], [%d1+16], 16, 4;", "unmapped address",
       "an asynchronous copy of 4 bytes", "just past the end of buffer a"},
      {"cp.async.ca.shared.global [tile], [%d1+4], 8;", "misaligned address",
       "an asynchronous copy of 8 bytes", "4 bytes into buffer a"},
      {"cp.async.cg.shared.global [tile+4], [%d1], 16;", "misaligned address",
       "an asynchronous copy of 16 bytes", "4 bytes into the block's shared memory"},
      {"cp.async.cg.shared.global [tile+64], [%d1], 16;", "address beyond shared memory",
       "an asynchronous copy of 16 bytes", "just past the end of the block's shared memory"},
      {"discard.global.L2 [%d1], 128;", "unmapped address", "a discard of 128 bytes",
       "the last 112 bytes past the end of buffer a"},
      {"applypriority.global.L2::evict_normal [%d1+8], 128;", "misaligned address",
       "an applypriority of 128 bytes", "the last 120 bytes past the end of buffer a"},
      {"createpolicy.range.L2::evict_last.b64 %d4, [%d3+16], 4, 8;",
       "createpolicy.range: a generic address outside global memory", "",
       "16 bytes into the thread's local memory"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.code);
    const FaultRecord f = fault_of(row.code);
    EXPECT_EQ(f.kind, row.kind);
    EXPECT_EQ(access_text(f), row.access);
    EXPECT_EQ(distance_text(f), row.distance);
  }
}

TEST(FaultRecords, OfImagesNameTheImageAndThePlaceInIt) {
  const auto fault = [](const std::string& image, const std::string& code) {
    PtxRun run(module(code), launch(image + ", type = \"u32\", count = 4 }"));
    return fault_of(run);
  };
  const std::string surface = "surface = { buffer = \"a\", width = 2, height = 2, format = \"u32\"";
  const std::string texture = "texture = { buffer = \"a\", width = 4, height = 1, format = \"u32\"";
  const std::string there = "mov.u32 %r1, 12;\nmov.u32 %r2, 1;\n";
  const FaultRecord beyond = fault(surface, there + "sust.b.2d.b32.trap [%d1, {%r1, %r2}], {%r1};");
  EXPECT_EQ(beyond.kind, "coordinates beyond the surface");
  EXPECT_EQ(access_text(beyond), "a surface store of 4 bytes");
  EXPECT_EQ(distance_text(beyond), "at byte 12 of row 1 of the surface of 2 by 2 elements in buffer a");
  const FaultRecord wrong =
      fault(texture, there + ".reg .f32 %f<4>;\ntex.2d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%d1, {%r1, %r2}];");
  EXPECT_EQ(wrong.kind, "texture of another type");
  EXPECT_EQ(access_text(wrong), "a texture load of 4 bytes");
  EXPECT_EQ(distance_text(wrong), "at texel 12 of row 1 of the texture of 4 by 1 elements in buffer a");
  EXPECT_EQ(distance_text(fault(texture, there + "sust.b.2d.b32.trap [%d1, {%r1, %r2}], {%r1};")),
            "at the start of the texture of 4 by 1 elements in buffer a");
  const FaultRecord deep =
      fault("surface = { buffer = \"a\", width = 2, height = 1, depth = 2, format = \"u32\"",
            "mov.u32 %r1, 0;\nmov.u32 %r2, 5;\nsuld.b.3d.b32.trap %r1, [%d1, {%r1, %r1, %r2, %r1}];");
  EXPECT_EQ(deep.slice, 5U);
  EXPECT_EQ(distance_text(deep),
            "at byte 0 of row 0 of slice 5 of the surface of 2 by 1 by 2 elements in buffer a");
  EXPECT_EQ(fault(surface, there + "suld.b.a2d.b32.trap %r1, [%d1, {%r1, %r1, %r1, %r1}];").kind,
            "image of another shape");
  const FaultRecord far =
      fault("texture = { buffer = \"a\", width = 2, height = 2, normalized = true, format = \"u32\"",
            ".reg .f32 %f<2>;\nmov.f32 %f1, 0f3F400000;\n"
            "tex.2d.v4.u32.f32 {%r1, %r1, %r1, %r2}, [%d1, {%f1, %f1}], {0, 8};");
  EXPECT_EQ(far.kind, "texel offset beyond -8 to 7");
  EXPECT_EQ(distance_text(far), "at texel 1 of row 1 of the texture of 2 by 2 elements in buffer a");
}

TEST(FaultRecords, OfOtherApertures) {
  for (const char* aperture : {"sysmem", "peer"}) {
    PtxRun run(module("ld.global.u32 %r1, [%d1+16];"),
               launch("buffer = \"a\"\naperture = \"" + std::string(aperture) + "\"\n" + kWords));
    EXPECT_EQ(distance_text(fault_of(run)), "just past the end of buffer a") << aperture;
  }
}

TEST(FaultRecords, OfWhatAnotherGpuHasSayWhose) {
  // The same place in the next GPU's memory, which this one does not reach.
  const std::string code =
      "ld.global.u32 %r1, [%d1];\nsetp.ne.u32 %p1, %r1, 7;\n@%p1 ret;\n"
      "mov.u64 %d4, 0x10000000000;\nadd.u64 %d4, %d4, %d1;\nld.global.u32 %r1, [%d4+4];";
  const std::string plain =
      ".version 7.4\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n"
      ".reg .pred %p<2>;\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\nld.param.u64 %d1, [a];\n" +
      code + "\nret;\n}\n";
  PtxRun run(
      plain,
      launch("buffer = \"a\"\ninit = { value = 7 }\n" + kWords) + launch("buffer = \"b\"\n" + kWords, 1),
      {{"gpus=2"}});
  EXPECT_EQ(distance_text(fault_of(run)), "4 bytes into buffer b of GPU 1");
}

TEST(FaultRecords, OfMemoryWithoutANameSayWhereItBegins) {
  std::uint64_t at = 0;
  PtxRun run(module("ld.global.u32 %r1, [%d1+-192];"), kLaunch, {}, {}, {},
             [&at](GpuPlatform& gpu) { at = gpu.allocate("", 64); });
  EXPECT_EQ(distance_text(fault_of(run)), "just past the end of video memory at " + hexadecimal(at));
}

TEST(FaultRecords, OfANullPointerNameNothing) {
  PtxRun run(module("mov.u64 %d4, 4;\nld.global.u32 %r1, [%d4];"), kLaunch, {}, {}, {},
             [](GpuPlatform& gpu) { gpu.name_memory(gpu.allocate_below_4g(64), "variable low"); });
  const FaultRecord f = fault_of(run);
  EXPECT_EQ(f.address, 4U);
  EXPECT_EQ(f.memory, "");
}

}  // namespace fault_record_test
}  // namespace warpline::test
