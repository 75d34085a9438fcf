// Arithmetic on pairs and on narrow numbers: what conversions, sums, products and comparisons say of them.
// Plain types of 32 and 64 bits are not judged here.
#include "platform/programs/ptx_legality/form_book.h"

namespace warpline::ptx {
namespace {

constexpr char kTenA[] = "100a 100f 101a 101f 103a 103f 110a 110f 120a 120f 121a 121f";

constexpr Form kConvert[] = {
    {"rn|rz relu? f16 f32", ">u16+ f32+", 70, 80},
    {"rn|rz relu? satfinite f16 f32", ">u16+ f32+", 81, 80},
    {"rn|rz relu? bf16 f32", ">bf16 f32", 70, 80},
    {"rn|rz relu? satfinite bf16 f32", ">bf16 f32", 81, 80},
    {"rn|rz relu? f16x2 f32", ">u32+ f32+ f32+", 70, 80},
    {"rn|rz relu? satfinite f16x2 f32", ">u32+ f32+ f32+", 81, 80},
    {"rn|rz relu? bf16x2 f32", ">bf16x2 f32 f32", 70, 80},
    {"rn|rz relu? satfinite bf16x2 f32", ">bf16x2 f32 f32", 81, 80},
    {"rs relu? satfinite? f16x2|bf16x2 f32", ">u32 f32+ f32+ u32!", 87, 100, "100a 103a"},
    {"rna tf32 f32", ">u32 f32", 70, 80},
    {"rna satfinite tf32 f32", ">u32 f32", 81, 80},
    {"rn|rz relu? tf32 f32", ">u32 f32", 78, 90},
    {"rn|rz relu? satfinite tf32 f32", ">u32 f32", 86, 100},
    {"rn satfinite relu? e4m3x2|e5m2x2 f32", ">u16 f32 f32", 78, 90},
    {"rn satfinite relu? e4m3x2|e5m2x2 f16x2", ">u16 u32", 78, 90},
    {"rn relu? f16x2 e4m3x2|e5m2x2", ">u32 u16!", 78, 90},
    {"rn satfinite relu? e4m3x2|e5m2x2 f32", ">u16 f32 f32", 81, 89},
    {"rn satfinite relu? e4m3x2|e5m2x2 f16x2", ">u16 u32", 81, 89},
    {"rn relu? f16x2 e4m3x2|e5m2x2", ">u32 u16!", 81, 89},
    {"rs satfinite relu? e4m3x4|e5m2x4|e2m3x4|e3m2x4 f32", ">u32 f32*4 u32!", 87, 100, "100a 103a"},
    {"rs satfinite relu? e2m1x4 f32", ">u16 f32*4 u32!", 87, 100, "100a 103a"},
    {"rn satfinite relu? e2m1x2 f32", ">b8 f32 f32", 86, 100, kTenA},
    {"rn relu? f16x2 e2m1x2", ">u32 b8!", 86, 100, kTenA},
    {"rn satfinite relu? e2m3x2|e3m2x2 f32", ">u16 f32 f32", 86, 100, kTenA},
    {"rn relu? f16x2 e2m3x2|e3m2x2", ">u32 u16!", 86, 100, kTenA},
    {"rz|rp satfinite? ue8m0x2 f32", ">u16 f32 f32", 86, 100, kTenA},
    {"rz|rp satfinite? ue8m0x2 bf16x2", ">u16 u32", 86, 100, kTenA},
    {"rn bf16x2 ue8m0x2", ">b32 u16!", 86, 100, kTenA},
    {"^pack sat u16|s16 s32", ">u32+ s32+ s32+", 65, 72},
    {"^pack sat u8|s8 s32 b32", ">u32+ s32+ s32+ u32+", 65, 72},
    {"^pack sat u4|s4|u2|s2 s32 b32", ">u32+ s32+ s32+ u32+", 65, 75},
};

constexpr Form kProduct[] = {
    {"rn? ftz? sat? f16", ">f16 f16 f16", 42, 53}, {"rn? ftz? sat? f16x2", ">f16x2 f16x2 f16x2", 42, 53},
    {"rn? bf16", ">bf16 bf16 bf16", 78, 90},       {"rn? bf16x2", ">bf16x2 bf16x2 bf16x2", 78, 90},
    {"$rnd? ftz? f32x2", ">u64 u64 u64", 86, 100},
};
constexpr Form kSum[] = {
    {"rn? ftz? sat? f16", ">f16 f16 f16", 42, 53}, {"rn? ftz? sat? f16x2", ">f16x2 f16x2 f16x2", 42, 53},
    {"rn? bf16", ">bf16 bf16 bf16", 78, 90},       {"rn? bf16x2", ">bf16x2 bf16x2 bf16x2", 78, 90},
    {"$rnd? ftz? f32x2", ">u64 u64 u64", 86, 100}, {"$rnd? sat? f32 f16|bf16", ">f32 u16 f32", 86, 100},
};
constexpr Form kShortSum[] = {{"u16x2|s16x2", ">u32 u32 u32", 80, 90}};
constexpr Form kFused[] = {
    {"rn ftz? sat? f16", ">f16 f16 f16 f16", 42, 53},
    {"rn ftz? sat? f16x2", ">f16x2 f16x2 f16x2 f16x2", 42, 53},
    {"rn ftz? relu f16", ">f16 f16 f16 f16", 70, 80},
    {"rn ftz? relu f16x2", ">f16x2 f16x2 f16x2 f16x2", 70, 80},
    {"rn relu? bf16", ">bf16 bf16 bf16 bf16", 70, 80},
    {"rn relu? bf16x2", ">bf16x2 bf16x2 bf16x2 bf16x2", 70, 80},
    {"rn oob relu? f16", ">f16 f16 f16 f16", 81, 90},
    {"rn oob relu? f16x2", ">f16x2 f16x2 f16x2 f16x2", 81, 90},
    {"rn oob relu? bf16", ">bf16 bf16 bf16 bf16", 81, 90},
    {"rn oob relu? bf16x2", ">bf16x2 bf16x2 bf16x2 bf16x2", 81, 90},
    {"$rnd ftz? f32x2", ">u64 u64 u64 u64", 86, 100},
    {"$rnd sat? f32 f16|bf16", ">f32 b16 u16 f32", 86, 100},
};
constexpr Form kExtreme[] = {
    {"ftz? NaN? f16", ">f16 f16 f16", 70, 80},
    {"ftz? NaN? f16x2", ">f16x2 f16x2 f16x2", 70, 80},
    {"ftz? NaN? xorsign abs f16", ">f16 f16 f16", 72, 86},
    {"ftz? NaN? xorsign abs f16x2", ">f16x2 f16x2 f16x2", 72, 86},
    {"NaN? bf16", ">bf16 bf16 bf16", 70, 80},
    {"NaN? bf16x2", ">bf16x2 bf16x2 bf16x2", 70, 80},
    {"NaN? xorsign abs bf16", ">bf16 bf16 bf16", 72, 86},
    {"NaN? xorsign abs bf16x2", ">bf16x2 bf16x2 bf16x2", 72, 86},
    {"u16x2", ">u32 u32 u32", 80, 90},
    {"relu? s16x2", ">u32 u32 u32", 80, 90},
};
constexpr Form kNegate[] = {
    {"ftz? f16", ">f16 f16", 60, 53},
    {"ftz? f16x2", ">f16x2 f16x2", 60, 53},
    {"bf16", ">bf16 bf16!", 70, 80},
    {"bf16x2", ">bf16x2 bf16x2!", 70, 80},
};
constexpr Form kAbsolute[] = {
    {"ftz? f16", ">f16 f16", 65, 53},
    {"ftz? f16x2", ">f16x2 f16x2", 65, 53},
    {"bf16", ">bf16 bf16!", 70, 80},
    {"bf16x2", ">bf16x2 bf16x2!", 70, 80},
};
constexpr Form kPower[] = {
    {"approx f16", ">f16 f16", 70, 75},
    {"approx f16x2", ">f16x2 f16x2", 70, 75},
    {"approx ftz bf16", ">bf16 bf16!", 78, 90},
    {"approx ftz bf16x2", ">bf16x2 bf16x2!", 78, 90},
};
constexpr Form kTangent[] = {
    {"approx f16", ">f16 f16", 70, 75},
    {"approx f16x2", ">f16x2 f16x2", 70, 75},
    {"approx bf16", ">bf16 bf16!", 78, 90},
    {"approx bf16x2", ">bf16x2 bf16x2!", 78, 90},
};
constexpr Form kReduce[] = {
    {"sync min|max abs? NaN? f32", ">f32 f32 u32", 86, 100, "100a 100f 103a 103f"},
    {"sync add|min|max u32|s32", ">u32 u32 u32", 70, 80},
    {"sync and|or|xor b32", ">u32 u32 u32", 70, 80},
};

constexpr char kPaired[] = "f16 f16x2 bf16 bf16x2 f32x2 u16x2 s16x2";
constexpr char kNarrow[] =
    "tf32 f16x2 bf16x2 e4m3x2 e5m2x2 e2m3x2 e3m2x2 e2m1x2 ue8m0x2 e4m3x4 e5m2x4 e2m3x4 e3m2x4 e2m1x4 pack rs "
    "relu "
    "satfinite";

}  // namespace

std::vector<FormFamily> arithmetic_forms() {
  return {{"cvt", kNarrow, "PTX ISA, cvt", false, kConvert},
          {"add", "u16x2 s16x2", "PTX ISA, add", false, kShortSum},
          {"add sub", kPaired, "PTX ISA, add, sub", false, kSum},
          {"mul", kPaired, "PTX ISA, mul", false, kProduct},
          {"fma", kPaired, "PTX ISA, fma", false, kFused},
          {"min max", kPaired, "PTX ISA, min, max", false, kExtreme},
          {"neg", kPaired, "PTX ISA, neg", false, kNegate},
          {"abs", kPaired, "PTX ISA, abs", false, kAbsolute},
          {"ex2", kPaired, "PTX ISA, ex2", false, kPower},
          {"tanh", kPaired, "PTX ISA, tanh", false, kTangent},
          {"redux", "", "PTX ISA, redux.sync", false, kReduce}};
}

}  // namespace warpline::ptx
