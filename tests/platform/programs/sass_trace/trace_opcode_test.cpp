// What opcodes and their modifiers mean, and which registers instructions depend on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/programs/sass_trace/opcode.h"
#include "rtl_models/isa/sass_cctl_text.h"
#include "tests/platform/programs/sass_trace/trace_player.h"

namespace warpline::test {
namespace trace_opcode_test {

using sass::Action;
using sass::decode_opcode;
using sass::Opcode;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

MemOp memory(const std::string& text) {
  const Opcode o = decode_opcode(text);
  EXPECT_EQ(o.kind, InstructionKind::memory) << text;
  EXPECT_THAT(o.unknown, IsEmpty()) << text;
  return o.mem;
}

TEST(TraceOpcode, ArithmeticGoesToThePipeOfItsClass) {
  const std::vector<std::pair<const char*, PipeClass>> cases = {{"FFMA.FTZ", PipeClass::f32},
                                                                {"IADD3.X", PipeClass::integer},
                                                                {"FSETP.GT.AND", PipeClass::integer},
                                                                {"IMAD.WIDE.U32", PipeClass::multiply},
                                                                {"HFMA2.MMA", PipeClass::f16},
                                                                {"DADD", PipeClass::f64},
                                                                {"MUFU.EX2", PipeClass::special},
                                                                {"I2F.S8", PipeClass::special},
                                                                {"SHFL.BFLY", PipeClass::shuffle},
                                                                {"BRA", PipeClass::none},
                                                                {"S2R", PipeClass::none},
                                                                {"EXIT", PipeClass::none}};
  for (const auto& [text, pipe] : cases) EXPECT_EQ(decode_opcode(text).pipe, pipe) << text;
  EXPECT_EQ(decode_opcode("LDG.E").pipe, PipeClass::none);
}

TEST(TraceOpcode, KindsAndSpaces) {
  const std::vector<std::tuple<const char*, MemKind, Space>> cases = {
      {"LDG.E", MemKind::load, Space::global},
      {"STG.E", MemKind::store, Space::global},
      {"LD.E", MemKind::load, Space::generic},
      {"ST.E", MemKind::store, Space::generic},
      {"LDL", MemKind::load, Space::local},
      {"STL", MemKind::store, Space::local},
      {"LDS", MemKind::load, Space::shared},
      {"STS", MemKind::store, Space::shared},
      {"LDC", MemKind::load, Space::constant},
      {"LDSM.16.M88.4", MemKind::load, Space::shared},
      {"ATOM.E.ADD", MemKind::atomic, Space::generic},
      {"ATOMG.E.ADD", MemKind::atomic, Space::global},
      {"ATOMS.ADD", MemKind::atomic, Space::shared},
      {"RED.E.ADD", MemKind::reduction, Space::generic},
      {"LDGSTS.E", MemKind::async_copy, Space::global}};
  for (const auto& [text, kind, space] : cases) {
    const MemOp m = memory(text);
    EXPECT_EQ(m.kind, kind) << text;
    EXPECT_EQ(m.space, space) << text;
  }
}

TEST(TraceOpcode, Scopes) {
  EXPECT_EQ(memory("LDG.E").semantics, Semantics::weak);
  EXPECT_EQ(memory("LDG.E.SYS").semantics, Semantics::weak) << "Volta writes the scope of weak accesses";
  const std::vector<std::pair<const char*, Scope>> cases = {{"LDG.E.STRONG.SM", Scope::cta},
                                                            {"LDG.E.STRONG.CTA", Scope::cta},
                                                            {"STG.E.STRONG.GPU", Scope::gpu},
                                                            {"LDG.E.STRONG.SYS", Scope::sys},
                                                            {"LDG.E.64.STRONG.SYS", Scope::sys}};
  for (const auto& [text, scope] : cases) {
    EXPECT_EQ(memory(text).semantics, Semantics::relaxed) << text;
    EXPECT_EQ(memory(text).scope, scope) << text;
  }
}

TEST(TraceOpcode, CacheModifiers) {
  EXPECT_TRUE(memory("LDG.E.CONSTANT").is_noncoherent);
  EXPECT_EQ(memory("LDG.E.EF").l1_eviction, L1Eviction::first);
  EXPECT_EQ(memory("LDG.E.EL").l1_eviction, L1Eviction::last);
  EXPECT_EQ(memory("LDG.E.EU").l1_eviction, L1Eviction::unchanged);
  EXPECT_EQ(memory("LDG.E.NA").l1_eviction, L1Eviction::no_allocate);
  EXPECT_EQ(memory("LDL.LU").cache_operator, CacheOperator::lu);
  EXPECT_EQ(memory("LDG.E.LTC64B").prefetch_bytes, 64);
  EXPECT_EQ(memory("LDG.E.LTC256B.64").prefetch_bytes, 256);
  const MemOp copy = memory("LDGSTS.E.BYPASS.LTC128B.128.ZFILL");
  EXPECT_TRUE(copy.bypass_l1);
  EXPECT_EQ(copy.prefetch_bytes, 128);
  EXPECT_EQ(copy.bytes_per_lane(), 16U);
  EXPECT_FALSE(memory("LDGSTS.E.128").bypass_l1);
}

TEST(TraceOpcode, TransactionsOfTheirOwn) {
  for (const char* text : {"LDG.E.MMIO", "LD.E.64.MMIO.SYS", "STG.E.MMIO"}) {
    const MemOp op = memory(text);
    EXPECT_TRUE(op.is_mmio) << text;
    EXPECT_EQ(op.semantics, Semantics::relaxed) << text;
    EXPECT_EQ(op.scope, Scope::sys) << text;
  }
  for (const char* text : {"LDG.E.128.MMIO", "LDS.MMIO", "LDL.MMIO"}) {
    EXPECT_FALSE(decode_opcode(text).mem.is_mmio) << text;
    EXPECT_EQ(decode_opcode(text).unknown.size(), 1U) << text;
  }
}

TEST(TraceOpcode, Widths) {
  const std::vector<std::pair<const char*, unsigned>> cases = {
      {"LDG.E", 4},     {"LDG.E.U8", 1},         {"LDG.E.S8", 1},       {"LDG.E.U16", 2},
      {"LDG.E.S16", 2}, {"LDG.E.64", 8},         {"STG.E.128", 16},     {"LDSM.16.M88", 16},
      {"LDS.U.64", 8},  {"RED.E.ADD.F64.RN", 8}, {"ATOMG.E.CAS.64", 8}, {"LDG.E.ENL2.256", 32}};
  for (const auto& [text, bytes] : cases) EXPECT_EQ(decode_opcode(text).mem.bytes_per_lane(), bytes) << text;
}

TEST(TraceOpcode, MatrixLoadsReadTheRowsThatSomeLanesName) {
  EXPECT_EQ(decode_opcode("LDSM.16.M88").address_lanes, 0xFFU);
  EXPECT_EQ(decode_opcode("LDSM.16.MT88.2").address_lanes, 0xFFFFU);
  EXPECT_EQ(decode_opcode("LDSM.16.M88.4").address_lanes, 0xFFFFFFFFU);
  EXPECT_EQ(decode_opcode("LDSM.16.M88.4").destination_registers, 4);
  const auto all = play_lines({"0000 ffffffff 2 R4 R5 LDSM.16.M88.2 1 R2 2 1 0x0 16 0"});
  EXPECT_EQ(all[0].active, 0xFFFFFFFFU);
  EXPECT_EQ(all[0].accessed, 0xFFFFU);
  EXPECT_EQ(all[0].instruction.mem.bytes_per_lane(), 16U);
}

TEST(TraceOpcode, Atomics) {
  const MemOp m = memory("ATOMG.E.ADD.F32.FTZ.RN.STRONG.GPU");
  EXPECT_EQ(m.atomic, AtomicOperation::add);
  EXPECT_EQ(m.type, DataType::f32);
  EXPECT_EQ(m.scope, Scope::gpu);
  EXPECT_EQ(memory("RED.E.MAX.S32.STRONG.SYS").atomic, AtomicOperation::max);
  EXPECT_EQ(memory("RED.E.MAX.S32.STRONG.SYS").scope, Scope::sys);
  EXPECT_EQ(memory("ATOMS.CAST.SPIN.64").atomic, AtomicOperation::compare_and_swap);
  EXPECT_EQ(memory("ATOMS.POPC.INC.32").atomic, AtomicOperation::add);
  EXPECT_EQ(memory("ATOMG.E.INC").atomic, AtomicOperation::increment);
  EXPECT_EQ(memory("RED.E.ADD").semantics, Semantics::relaxed) << "unqualified atomics are .relaxed.gpu";
  EXPECT_EQ(memory("RED.E.ADD").scope, Scope::gpu);
  EXPECT_THAT(decode_opcode("ATOMG.E.64").unknown, ElementsAre("ATOMG without an operation"));
}

TEST(TraceOpcode, Fences) {
  const std::vector<std::tuple<const char*, Semantics, Scope>> cases = {
      {"MEMBAR.SC.GPU", Semantics::sc, Scope::gpu},
      {"MEMBAR.SC.SYS", Semantics::sc, Scope::sys},
      {"MEMBAR.ALL.CTA", Semantics::acq_rel, Scope::cta},
      {"MEMBAR.ALL.GPU", Semantics::acq_rel, Scope::gpu},
      {"MEMBAR.SYS", Semantics::sc, Scope::sys},
      {"FENCE.VIEW.ASYNC", Semantics::acq_rel, Scope::cta}};
  for (const auto& [text, semantics, scope] : cases) {
    const Opcode o = decode_opcode(text);
    EXPECT_EQ(o.kind, InstructionKind::fence) << text;
    EXPECT_EQ(o.mem.kind, MemKind::fence) << text;
    EXPECT_EQ(o.mem.semantics, semantics) << text;
    EXPECT_EQ(o.mem.scope, scope) << text;
    EXPECT_THAT(o.unknown, IsEmpty()) << text;
  }
}

TEST(TraceOpcode, ControlAndArithmetic) {
  EXPECT_EQ(decode_opcode("BAR.SYNC.DEFER_BLOCKING").action, Action::barrier_sync);
  EXPECT_EQ(decode_opcode("BAR.ARV").action, Action::barrier_arrive);
  EXPECT_EQ(decode_opcode("EXIT").action, Action::exit);
  EXPECT_EQ(decode_opcode("NANOSLEEP").kind, InstructionKind::sleep);
  EXPECT_EQ(decode_opcode("FFMA").latency, 4);
  EXPECT_EQ(decode_opcode("MUFU.RCP").latency, 18);
  EXPECT_EQ(decode_opcode("DFMA").latency, 16);
  EXPECT_EQ(decode_opcode("HMMA.16816.F32").latency, 20);
  for (const char* text :
       {"IMAD.WIDE.U32", "HFMA2.MMA", "F2FP.PACK_AB", "ULOP3.LUT", "R2P", "BSSY", "CALL.REL.NOINC"})
    EXPECT_THAT(decode_opcode(text).unknown, IsEmpty()) << text;
}

TEST(TraceOpcode, CacheControlSaysWhatItActsOn) {
  const auto mem = [](const char* text) { return decode_opcode(text).mem; };
  EXPECT_EQ(mem("CCTL.E.IV").kind, MemKind::cache_control);
  EXPECT_EQ(mem("CCTL.E.IV").cache_operation, CctlOperation::invalidate);
  EXPECT_EQ(mem("CCTL.IVALL").cache_target, CctlTarget::global_lines);
  EXPECT_EQ(mem("CCTL.U.IVALL").cache_target, CctlTarget::indexed_constants);
  EXPECT_EQ(mem("CCTLL.RS").space, Space::local);
  EXPECT_EQ(decode_opcode("CCTLL.CRS.WBALL").kind, InstructionKind::flush_stack);
  EXPECT_EQ(decode_opcode("CCTL.I.IVALL").kind, InstructionKind::invalidate_instructions);
  EXPECT_EQ(decode_opcode("CCTL.I.IVALL").latency, 5U) << "?WAIT5";
  EXPECT_EQ(mem("CCTL.E.DML2").kind, MemKind::apply_priority);
  EXPECT_EQ(mem("CCTL.E.RML2").kind, MemKind::discard);
  for (const char* text : {"CCTL.IV.IX", "CCTL.PF1.5", "CCTLL.FOO"}) {
    EXPECT_THAT(decode_opcode(text).unknown, ElementsAre(text));
    EXPECT_EQ(decode_opcode(text).illegal, "");
  }
}

/// What is refused of a trace with this line; empty: nothing.
std::string refusal(const std::string& line) {
  try {
    static_cast<void>(play_lines({line}));
  } catch (const InputError& e) {
    return e.diagnostic.message;
  }
  return {};
}

TEST(TraceOpcode, IllegalCacheControlIsRefusedAsItsTextIs) {
  const std::vector<std::tuple<const char*, const char*, const char*>> cases = {
      {"CCTL.QRY1", "1 R2 0 0", ".QRY1 is not implemented: an illegal instruction encoding"},
      {"CCTL.E.QRY1", "1 R2 4 1 0x1000 4 0", ".QRY1 is not implemented: an illegal instruction encoding"},
      {"CCTL.C.IV", "1 R2 0 0", "this cache has no such operation"},
      {"CCTL.I.PF1", "1 R2 0 0", "this cache has no such operation"},
      {"CCTL.WBALL", "0 0 0", "this cache has no such operation"},
      {"CCTLL.WBALL", "0 0 0", "this cache has no such operation"},
      {"CCTL.CRS.WBALL", "0 0 0", ".CRS is valid in CCTLL.CRS.WBALL only"},
      {"CCTLL.U.IV", "1 R2 0 0", "CCTLL names no cache but .CRS"},
      {"CCTLL.E.IV", "1 R2 0 0", "CCTLL takes no .E"},
      {"CCTL.E.IVALL", "0 0 0", ".IVALL and .WBALL cannot be used with .E"},
      {"CCTL.IVALL", "1 R2 0 0", ".IVALL and .WBALL require Ra to be RZ"},
      {"CCTLL.CRS.WBALL", "1 R2 0 0", ".IVALL and .WBALL require Ra to be RZ"},
      {"CCTL.IVALL", "1 R255 4 1 0x1000 0 0", ".IVALL and .WBALL require the immediate to be 0"},
      {"CCTL", "0 0 0", "an operation is missing"},
      {"CCTL.IV", "0 0 0", "an address is missing"},
      {"CCTL.E.PF2", "0 0 0", "an address is missing"},
      {"CCTLL.RS", "0 0 0", "an address is missing"},
      {"CCTL.IV.PF1", "1 R2 0 0", "the operation comes last"},
      {"CCTL.RML2.IVALL", "0 0 0", "the operation comes last"},
      {"CCTLL.RML2", "1 R2 0 0", "CCTLL has no .RML2"}};
  for (const auto& [opcode, operands, why] : cases) {
    const std::string line = std::string("0000 ffffffff 0 ") + opcode + " " + operands;
    EXPECT_EQ(refusal(line), std::string("illegal instruction ") + opcode + ": " + why) << line;
    const std::string unexecuted = std::string("0000 0 0 ") + opcode + " " + operands;
    if (unexecuted.find(" 4 1 ") == std::string::npos) {
      EXPECT_NE(refusal(unexecuted), "") << unexecuted;
    }
  }
  for (const char* line :
       {"0000 ffffffff 0 CCTL.IVALL 0 0 0", "0000 ffffffff 0 CCTL.IVALL 1 R255 0 0",
        "0000 ffffffff 0 CCTL.D.IVALL 1 R255 4 1 0x0 0 0", "0000 ffffffff 0 CCTLL.CRS.WBALL 0 0 0",
        "0000 ffffffff 0 CCTL.U.IVALL 0 0 0", "0000 ffffffff 0 CCTL.E.D.WB 1 R2 4 1 0x1000 4 0"})
    EXPECT_EQ(refusal(line), "") << line;
}

/// Text and traces are judged alike, whatever operation of whatever cache.
TEST(TraceOpcode, TextAndTracesHaveOneJudge) {
  for (const bool local : {false, true})
    for (const bool extended : {false, true})
      for (const char* cache : {"", ".D", ".U", ".C", ".I", ".CRS"})
        for (const char* operation : {".PF1", ".PF2", ".WB", ".WBALL", ".IV", ".IVALL", ".RS", ".QRY1"}) {
          const std::string opcode =
              std::string(local ? "CCTLL" : "CCTL") + (extended ? ".E" : "") + cache + operation;
          const auto text = parse_cctl(opcode + " [RZ]");
          const std::string why = text.ok() ? "" : text.faults().front().message;
          EXPECT_EQ(decode_opcode(opcode).illegal, why) << opcode;
          EXPECT_THAT(decode_opcode(opcode).unknown, IsEmpty()) << opcode;
        }
}

TEST(TraceOpcode, CacheControlOfLinesNeedsAnAddress) {
  std::vector<std::string> unknown;
  const auto all = play_lines({"0000 ffffffff 0 CCTL.E.IV 1 R2 0 0"}, &unknown);
  EXPECT_EQ(all[0].instruction.kind, InstructionKind::alu);
  EXPECT_THAT(unknown, ElementsAre("CCTL.E.IV without an address: 1"));
}

TEST(TraceOpcode, TheUnknownIsReportedOncePerKind) {
  std::vector<std::string> unknown;
  const auto all = play_lines(
      {"0000 ffffffff 0 CCTL.FOO 0 0 0", "0010 ffffffff 1 R1 LDG.E.FOO 1 R2 4 1 0x1000 4 0",
       "0020 ffffffff 1 R1 LDG.E.FOO 1 R2 4 1 0x1000 4 0", "0030 ffffffff 1 R1 TEX.LL 1 R2 4 1 0x1000 4 0"},
      &unknown);
  EXPECT_EQ(all.size(), 4U);
  EXPECT_EQ(all[1].instruction.kind, InstructionKind::memory) << "replayed without what is unknown";
  EXPECT_THAT(unknown, ElementsAre("CCTL.FOO: 1", "LDG.FOO: 2", "TEX.LL: 1"));
}

using Registers = std::vector<unsigned>;

Registers sources(const Instruction& i) {
  return {i.registers.begin(), i.registers.begin() + i.source_count};
}
Registers destinations(const Instruction& i) {
  return {i.registers.begin() + i.source_count, i.registers.begin() + i.source_count + i.destination_count};
}

TEST(TraceRegisters, FollowFromOpcodeAndWidth) {
  struct Case {
    const char* line;
    Registers sources, destinations;
  };
  const std::vector<Case> cases = {
      {"0000 1 1 R8 LDG.E.128 1 R4 16 2 0x1000 0", {4, 5}, {8, 9, 10, 11}},
      {"0000 1 1 R2 LDG.E.64 1 R4 8 2 0x1000 0", {4, 5}, {2, 3}},
      {"0000 1 1 R2 LDG.E.U8 1 R4 1 2 0x1000 0", {4, 5}, {2}},
      {"0000 1 0 STG.E.64 2 R6 R10 8 2 0x1000 0", {6, 7, 10, 11}, {}},
      {"0000 1 0 STG.E.128 2 R2 R255 16 2 0x1000 0", {2, 3}, {}},
      {"0000 1 0 STG.E.64 1 R10 8 2 0x1000 0", {10, 11}, {}},
      {"0000 1 0 STS.128 2 R24 R8 16 2 0x0 0", {24, 8, 9, 10, 11}, {}},
      {"0000 1 1 R6 LDS 1 R2 4 2 0x0 0", {2}, {6}},
      {"0000 1 1 R254 LDS.64 1 R2 8 2 0x0 0", {2}, {254}},
      {"0000 1 1 R6 FFMA 3 R6 R6 R255 0 0", {6}, {6}},
      {"0000 1 1 R4 IMAD.WIDE 2 R6 R7 0 0", {6, 7}, {4, 5}},
      {"0000 1 1 R4 DFMA 3 R6 R8 R10 0 0", {6, 7, 8, 9, 10, 11}, {4, 5}},
      {"0000 1 1 R4 F2F.F64.F32 1 R6 0 0", {6}, {4, 5}},
      {"0000 1 1 R4 F2F.F32.F64 1 R6 0 0", {6, 7}, {4}},
      {"0000 1 1 R16 HMMA.16816.F32 3 R4 R8 R12 0 0", {4, 5, 6, 7, 8, 9, 12, 13, 14, 15}, {16, 17, 18, 19}},
      {"0000 1 1 R4 CS2R 0 0 0", {}, {4, 5}},
      {"0000 1 1 R4 LDC.64 0 0 0", {}, {4, 5}},
      {"0000 1 0 LDGSTS.E.128 2 R4 R8 16 2 0x1000 0", {4, 8, 9}, {256}},
      {"0000 1 1 R0 ATOMG.E.CAS.64 3 R2 R4 R6 8 2 0x1000 0", {2, 3, 4, 5, 6, 7}, {0, 1}},
  };
  for (const Case& c : cases) {
    const auto all = play_lines({c.line});
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(sources(all[0].instruction), c.sources) << c.line;
    EXPECT_EQ(destinations(all[0].instruction), c.destinations) << c.line;
  }
}

TEST(TraceRegisters, AWaitForCopiesNamesTheGroupsThatMustHaveLanded) {
  const std::string copy = "0000 1 0 LDGSTS.E.128 2 R4 R8 16 2 0x1000 0";
  const std::string commit = "0010 1 0 LDGDEPBAR 0 0 0";
  const auto all = play_lines({copy, copy, commit, copy, commit, "0020 1 0 DEPBAR.LE 0 0 1",
                               "0030 1 0 DEPBAR.LE 0 0 0", "0040 1 0 DEPBAR.LE 0 0 5"});
  ASSERT_EQ(all.size(), 8U);
  EXPECT_EQ(destinations(all[0].instruction), (Registers{256}));
  EXPECT_EQ(destinations(all[1].instruction), (Registers{257}));
  EXPECT_EQ(destinations(all[3].instruction), (Registers{264}));
  const Registers first = sources(all[5].instruction);
  EXPECT_THAT(first, ::testing::AllOf(::testing::Contains(256U), ::testing::Contains(257U),
                                      ::testing::Not(::testing::Contains(264U))));
  EXPECT_THAT(sources(all[6].instruction), ::testing::Contains(264U));
  EXPECT_THAT(sources(all[7].instruction), IsEmpty()) << "so many groups are not under way";
}

}  // namespace trace_opcode_test
}  // namespace warpline::test
