// cvta, isspacep, mapa, getctarank, and mov of an address.

#include "platform/programs/ptx_legality/rules.h"

namespace warpline::ptx {
namespace {

constexpr char kCvta[] = "PTX ISA, cvta";
constexpr char kIsspacep[] = "PTX ISA, isspacep";
constexpr char kMapa[] = "PTX ISA, mapa";
constexpr char kRank[] = "PTX ISA, getctarank";
constexpr char kMov[] = "PTX ISA, mov";
constexpr char kAsked[] = "ptxas 13.0";

constexpr InstructionName kNames[] = {
    {"cvta", "cvta", ""}, {"cvta.to", "cvta", ".to"},       {"isspacep", "isspacep", ""},
    {"mapa", "mapa", ""}, {"getctarank", "getctarank", ""}, {"mov", "mov", ""},
};

constexpr Rule kRules[] = {
    takes("cvta cvta.to", ".global|shared|.local|.const|.param|.param::entry|.u32|.u64", kCvta),
    takes("cvta.to", ".to", kCvta),
    needs("cvta cvta.to", "", "space", kCvta),
    needs("cvta cvta.to", "", ".u64", kCvta),
    since("cvta cvta.to", "", 60, 20, kCvta),
    since("cvta cvta.to", ".shared::cta", 78, 20, kCvta),
    since("cvta cvta.to", ".shared::cluster", 78, 90, kCvta),
    since("cvta cvta.to", ".param", 77, 70, kCvta),
    since("cvta cvta.to", ".param::entry", 83, 70, kCvta),

    takes("isspacep", ".global|shared|.local|.const|.param|.param::entry", kIsspacep),
    needs("isspacep", "", "space", kIsspacep),
    since("isspacep", "", 60, 20, kIsspacep),
    since("isspacep", ".shared::cta", 78, 20, kIsspacep),
    since("isspacep", ".shared::cluster", 78, 90, kIsspacep),
    since("isspacep", ".param", 77, 70, kIsspacep),
    since("isspacep", ".param::entry", 83, 70, kIsspacep),

    takes("mapa", ".shared::cluster|.u32|.u64|.s32|.s64", kMapa),
    needs("mapa", "", ".u32|.u64|.s32|.s64", kMapa),
    differs("mapa getctarank", ".s32|.s64", "a signed type here", kAsked),
    since("mapa", "", 78, 90, kMapa),
    takes("getctarank", ".shared::cluster|.u32|.u64|.s32|.s64", kRank),
    needs("getctarank", "", ".u32|.u64|.s32|.s64", kRank),
    since("getctarank", "", 78, 90, kRank),

    takes("mov", ".b16|.b32|.b64|.b128|.u16|.u32|.u64|.s16|.s32|.s64|.f32|.f64|.pred", kMov),
    takes("mov", ".v2|.v4|name[n]", kAsked),
    needs("mov", "", "type", kMov),
    excludes("mov", "vector", ".pred|.b128|oversize", kAsked),
    differs("mov", "vector", "'mov' of vectors", kAsked),
    since("mov", "128-bit-register", 83, 70, kMov),
};

constexpr Signature kSignatures[] = {
    {"cvta", "", "d- pointer", kCvta},
    {"cvta.to", "", "d- s=", kCvta},
    {"isspacep", "", "pred any-int", kIsspacep},
    {"mov", "", "moved-to moved", kMov},
    {"mapa", "", "d- shared-pointer b32", kMapa},
    {"getctarank", "", "b32= shared-pointer", kRank},
};

}  // namespace

Chapter address_chapter() {
  return {kNames, kRules, kSignatures};
}

}  // namespace warpline::ptx
