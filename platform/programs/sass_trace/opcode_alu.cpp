#include <string_view>
#include <unordered_map>

#include "platform/programs/sass_trace/opcode.h"
#include "rtl_models/base/text.h"

namespace warpline::sass {
namespace {

/// Latencies in SM cycles from issue to a result that the next instruction can read. Calibrated: typical of
/// Volta to Hopper, rounded; no vendor publishes them. Names: CUDA Binary Utilities, "Instruction Set
/// Reference".
struct Group {
  unsigned latency;
  std::string_view names;  ///< separated by blanks
};

constexpr Group kGroups[] = {
    // Integer, logic, single and half precision, moves, predicates: the main pipelines.
    {4,
     "FADD FADD2 FADD32I FCHK FFMA FFMA2 FFMA32I FMNMX FMNMX3 FMUL FMUL2 FMUL32I FSEL FSET FSETP FSWZADD "
     "FSWZ RRO "
     "HADD2 HADD2_32I HFMA2 HFMA2_32I HMNMX2 HMUL2 HMUL2_32I HSET2 HSETP2 HFMA2_MMA "
     "BMSK BREV BFE BFI IABS IADD IADD3 IADD32I IADD_64 IDP IDP4A IMAD IMAD32I IMADSP IMNMX IMNMX3 VIMNMX "
     "VIMNMX3 VIADD VIADDMNMX "
     "VHMNMX IMUL IMUL32I ISCADD ISCADD32I ISET ISETP LEA LOP LOP3 LOP32I LOP3_LUT PLOP3 SHF SHL SHR SGXT "
     "VABSDIFF VABSDIFF4 VADD VMAD "
     "MOV MOV32I MOVM PRMT SEL ICMP FCMP CSET CSETP PSET PSETP P2R R2P XMAD F2FP F2IP I2IP I2FP "
     "UIMNMX UBMSK UBREV UCLEA UIADD3 UIMAD UISETP ULEA ULOP ULOP3 ULOP32I UMOV UP2UR UPLOP3 UPRMT UR2UP "
     "USEL USGXT USHF USHL USHR "
     "UVIADD UVIMNMX UFADD UFFMA UFMNMX UFMUL UFSEL UFSET UFSETP UF2FP UI2FP UF2F UF2I UI2F UF2IP UI2I UIABS "
     "UVIADDMNMX UMEMSETS "},
    // Control: the trace has taken the branches already.
    {4,
     "BRA BRX BRXU JMP JMX JMXU CALL RET EXIT RPCMOV BREAK BSSY BSYNC BMOV BPT KILL PREEXIT YIELD WARPSYNC "
     "NOP PMTRIG "
     "SSY SYNC PBK BRK PCNT CONT PRET PLONGJMP LONGJMP JCAL CAL RTT RTE IDE RAM SAM ELECT ENDCOLLECTIVE "
     "ACQBULK ERRBAR CGAERRBAR "
     "SETLMEMBASE GETLMEMBASE LEPC SETCTAID SETMAXREG USETMAXREG USETSHMSZ DEPBAR LDGDEPBAR WARPGROUP "
     "WARPGROUPSET UCGABAR_ARV UCGABAR_WAIT "},
    // Votes and moves between the uniform and the vector registers.
    {6, "VOTE VOTEU MATCH REDUX CREDUX R2UR R2B B2R "},
    {8, "CS2R CS2UR VOTE_VTG"},
    {12, "ULDC S2UR LDCU UMATCH QSPC"},
    // Conversions, bit counts: a quarter of the rate.
    {14, "F2F F2I I2F I2I FRND POPC FLO UPOPC UFLO"},
    {16, "DADD DFMA DMNMX DMUL DSET DSETP"},
    {18, "MUFU"},
    {20, "S2R HMMA IMMA BMMA DMMA QMMA OMMA"},
    {24, "SHFL"},
    {28, "LDC"},
    // Four warps together; the result of the longest shape.
    {128, "HGMMA IGMMA BGMMA QGMMA"},
};

/// The arithmetic pipes; opcodes that are not here go to none.
struct PipeGroup {
  PipeClass pipe;
  std::string_view names;
};

constexpr PipeGroup kPipes[] = {
    {PipeClass::f32, "FADD FADD2 FADD32I FFMA FFMA2 FFMA32I FMUL FMUL2 FMUL32I FSWZADD"},
    {PipeClass::multiply, "IMAD IMAD32I IMADSP IMUL IMUL32I XMAD IDP IDP4A VMAD"},
    {PipeClass::f16, "HADD2 HADD2_32I HFMA2 HFMA2_32I HMUL2 HFMA2_MMA HMNMX2 HSET2 HSETP2"},
    {PipeClass::f64, "DADD DFMA DMNMX DMUL DSET DSETP"},
    {PipeClass::special, "MUFU F2F F2I I2F I2I FRND POPC FLO BREV"},
    {PipeClass::shuffle, "SHFL"},
    {PipeClass::integer,
     "FMNMX FMNMX3 FSEL FSET FSETP FCHK BMSK BFE BFI IABS IADD IADD3 IADD32I IADD_64 IMNMX IMNMX3 VIMNMX "
     "VIMNMX3 VIADD VIADDMNMX VHMNMX ISCADD ISCADD32I ISET ISETP LEA LOP LOP3 LOP32I LOP3_LUT PLOP3 SHF SHL "
     "SHR SGXT VABSDIFF VABSDIFF4 VADD PRMT SEL ICMP FCMP P2R R2P MOV MOV32I F2FP I2FP I2IP F2IP"},
};

std::unordered_map<std::string_view, PipeClass> make_pipes() {
  std::unordered_map<std::string_view, PipeClass> table;
  for (const PipeGroup& g : kPipes)
    for (const std::string_view name : split(g.names, ' ')) table.emplace(name, g.pipe);
  return table;
}

std::unordered_map<std::string_view, unsigned> make_table() {
  std::unordered_map<std::string_view, unsigned> table;
  for (const Group& g : kGroups)
    for (const std::string_view name : split(g.names, ' ')) table.emplace(name, g.latency);
  table.erase("");
  return table;
}

}  // namespace

unsigned alu_latency(std::string_view name) {
  static const auto kTable = make_table();
  const auto found = kTable.find(name);
  return found == kTable.end() ? 0 : found->second;
}

PipeClass alu_pipe(std::string_view name) {
  static const auto kTable = make_pipes();
  const auto found = kTable.find(name);
  return found == kTable.end() ? PipeClass::none : found->second;
}

}  // namespace warpline::sass
