// Integers and bits: comparisons, shifts, fields of bits, and what threads of a warp tell each other.
#include "platform/programs/ptx_legality/form_book.h"

namespace warpline::ptx {
namespace {

constexpr Form kSignExtend[] = {{"wrap|clamp u32|s32", ">u32 u32 u32", 76, 70}};
constexpr Form kBitMask[] = {{"wrap|clamp b32", ">u32 u32 u32", 76, 70}};
constexpr Form kFindNth[] = {{"b32", ">b32 b32 b32 s32", 60, 30}};
constexpr Form kCount[] = {{"b32", ">u32 b32", 60, 20}, {"b64", ">u32 b64", 60, 20}};
constexpr Form kReverse[] = {{"b32", ">b32 b32", 60, 20}, {"b64", ">b64 b64", 60, 20}};
constexpr Form kInsert[] = {{"b32", ">b32 b32 b32 u32 u32", 60, 20}, {"b64", ">b64 b64 b64 u32 u32", 60, 20}};
constexpr Form kExtract[] = {{"u32|s32", ">u32 u32 u32 u32", 60, 20},
                             {"u64|s64", ">u64 u64 u32 u32", 60, 20}};
constexpr Form kFind[] = {{"shiftamt? u32|s32", ">u32 u32", 60, 20},
                          {"shiftamt? u64|s64", ">u32 u64", 60, 20}};
constexpr Form kPermute[] = {{"f4e|b4e|rc8|ecl|ecr|rc16? b32", ">b32 b32 b32 b32", 60, 20}};
constexpr Form kThree[] = {{"b32", ">b32 b32 b32 b32 int", 60, 50},
                           {"and|or b32", "b32/>pred b32 b32 b32 int =condition", 82, 70}};
constexpr Form kDotFour[] = {{"u32|s32 u32|s32", ">u32 u32 u32 u32", 60, 61}};
constexpr Form kDotTwo[] = {{"^lo|hi u32|s32 u32|s32", ">u32 u32 u32 u32", 60, 61}};
constexpr Form kFunnel[] = {{"^l|r wrap|clamp b32", ">b32 b32 b32 u32", 60, 32}};
constexpr Form kLogic[] = {{"pred", ">pred pred pred", 60, 10},
                           {"b16", ">b16 b16 b16", 60, 10},
                           {"b32", ">b32 b32 b32", 60, 10},
                           {"b64", ">b64 b64 b64", 60, 10}};
constexpr Form kComplement[] = {{"pred", ">pred pred", 60, 10},
                                {"b16", ">b16 b16", 60, 10},
                                {"b32", ">b32 b32", 60, 10},
                                {"b64", ">b64 b64", 60, 10}};
constexpr Form kLogicalComplement[] = {
    {"b16", ">b16 b16", 60, 10}, {"b32", ">b32 b32", 60, 10}, {"b64", ">b64 b64", 60, 10}};
constexpr Form kShiftLeft[] = {
    {"b16", ">b16 b16 u32", 60, 10}, {"b32", ">b32 b32 u32", 60, 10}, {"b64", ">b64 b64 u32", 60, 10}};
constexpr Form kShiftRight[] = {{"b16", ">b16 b16 u32", 60, 10},     {"b32", ">b32 b32 u32", 60, 10},
                                {"b64", ">b64 b64 u32", 60, 10},     {"u16|s16", ">u16 u16 u32", 60, 10},
                                {"u32|s32", ">u32 u32 u32", 60, 10}, {"u64|s64", ">u64 u64 u32", 60, 10}};
constexpr Form kShuffle[] = {{"sync up|down|bfly|idx b32", ">b32 b32 u32 b32 u32", 60, 30},
                             {"sync up|down|bfly|idx b32", "b32/>pred b32 u32 b32 u32", 60, 30},
                             {"up|down|bfly|idx b32", ">b32 b32 u32 u32", 60, 30, "", 70},
                             {"up|down|bfly|idx b32", "b32/>pred b32 u32 u32", 60, 30, "", 70}};
constexpr Form kVote[] = {{"sync all|any|uni pred", ">pred =condition u32", 60, 30},
                          {"sync ballot b32", ">b32 =condition u32", 60, 30},
                          {"all|any|uni pred", ">pred =condition", 60, 12, "", 70},
                          {"ballot b32", ">b32 =condition", 60, 20, "", 70}};
constexpr Form kMatch[] = {{"any sync b32", ">u32 b32 u32", 60, 70},
                           {"any sync b64", ">u32 b64 u32", 60, 70},
                           {"all sync b32", "u32/>pred|>u32 b32 u32", 60, 70},
                           {"all sync b64", "u32/>pred|>u32 b64 u32", 60, 70}};
constexpr Form kActive[] = {{"b32", ">b32", 62, 30}};
constexpr Form kSleep[] = {{"u32", "u32", 63, 70}};

}  // namespace

std::vector<FormFamily> integer_forms() {
  return {{"szext", "", "PTX ISA, szext", false, kSignExtend, true},
          {"bmsk", "", "PTX ISA, bmsk", false, kBitMask, true},
          {"fns", "", "PTX ISA, fns", false, kFindNth, true},
          {"popc clz", "", "PTX ISA, popc, clz", false, kCount, true},
          {"brev", "", "PTX ISA, brev", false, kReverse, true},
          {"bfi", "", "PTX ISA, bfi", false, kInsert, true},
          {"bfe", "", "PTX ISA, bfe", false, kExtract, true},
          {"bfind", "", "PTX ISA, bfind", false, kFind, true},
          {"prmt", "", "PTX ISA, prmt", false, kPermute, true},
          {"lop3", "", "PTX ISA, lop3", false, kThree, true},
          {"dp4a", "", "PTX ISA, dp4a", false, kDotFour, true},
          {"dp2a", "", "PTX ISA, dp2a", false, kDotTwo, true},
          {"shf", "", "PTX ISA, shf", false, kFunnel, true},
          {"and or xor", "", "PTX ISA, and, or, xor", false, kLogic, true},
          {"not", "", "PTX ISA, not", false, kComplement, true},
          {"cnot", "", "PTX ISA, cnot", false, kLogicalComplement, true},
          {"shl", "", "PTX ISA, shl", false, kShiftLeft, true},
          {"shr", "", "PTX ISA, shr", false, kShiftRight, true},
          {"shfl", "", "PTX ISA, shfl.sync", false, kShuffle, true},
          {"vote", "", "PTX ISA, vote.sync", false, kVote, true},
          {"match", "", "PTX ISA, match.sync", false, kMatch, true},
          {"activemask", "", "PTX ISA, activemask", false, kActive, true},
          {"nanosleep", "", "PTX ISA, nanosleep", false, kSleep, true}};
}

}  // namespace warpline::ptx
