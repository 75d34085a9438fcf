// tex, suld, sust.

#include "platform/programs/ptx_legality/rules.h"

namespace warpline::ptx {
namespace {

constexpr char kTex[] = "PTX ISA, tex";
constexpr char kSuld[] = "PTX ISA, suld";
constexpr char kSust[] = "PTX ISA, sust";
constexpr char kAsked[] = "ptxas 13.0";

constexpr InstructionName kNames[] = {
    {"tex", "tex", ""},     {"tex.base", "tex", ".base"}, {"tex.level", "tex", ".level"},
    {"suld", "suld", ".b"}, {"sust", "sust", ".b"},       {"sust.p", "sust", ".p"},
};

constexpr Rule kRules[] = {
    takes("tex tex.base tex.level", ".1d|.2d|.3d|.a1d|.a2d|.cube|.acube|.2dms|.a2dms|.v2|.v4", kTex),
    takes("tex tex.base tex.level", ".u32|.s32|.f16|.f16x2|.f32|2nd:.s32|2nd:.f32", kTex),
    since("tex tex.base tex.level suld sust sust.p", "", 60, 20, kAsked),
    since("tex tex.base tex.level", ".f16|.f16x2", 60, 53, kTex),
    pairs("tex tex.base tex.level", "type", kTex),
    needs("tex tex.base tex.level", "", "geometry", kTex),
    needs("tex tex.base tex.level", "!.f16x2", ".v4", kTex),
    needs("tex tex.base tex.level", ".f16x2", ".v2", kTex),
    needs("tex tex.base tex.level", "", "type", kTex),
    needs("tex tex.base tex.level", "", "2nd:.s32|2nd:.f32", kTex),
    needs("tex tex.base tex.level", ".cube|.acube", "2nd:.f32", kTex),
    needs("tex tex.base tex.level", ".2dms|.a2dms", "2nd:.s32", kTex),
    takes("tex.base", ".base", kTex),
    takes("tex.level", ".level", kTex),
    excludes("tex.level", "", ".2dms|.a2dms", kTex),
    takes("suld", ".b|.1d|.2d|.3d|.a1d|.a2d|.ca|.cg|.cs|.cv|.v2|.v4|.b8|.b16|.b32|.b64|bounds", kSuld),
    takes("sust", ".b|.1d|.2d|.3d|.a1d|.a2d|.wb|.cg|.cs|.wt|.v2|.v4|.b8|.b16|.b32|.b64|bounds", kSust),
    takes("sust.p", ".p|.1d|.2d|.3d|.a1d|.a2d|.v2|.v4|.b32|bounds", kSust),
    needs("suld sust sust.p", "", "geometry", kSuld),
    needs("suld sust sust.p", "", "type", kSuld),
    needs("suld sust sust.p", "", "bounds", kSuld),
    excludes("suld sust", "", "oversize", kSuld),
};

constexpr Signature kSignatures[] = {
    {"tex tex.base", "", "d- texture", kTex},
    {"tex.level", "", "d- texture level", kTex},
    {"suld", "", "d* surface", kSuld},
    {"sust sust.p", "", "surface s*", kSust},
};

}  // namespace

Chapter texture_chapter() {
  return {kNames, kRules, kSignatures};
}

}  // namespace warpline::ptx
