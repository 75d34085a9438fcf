// tex, suld, sust, sured.

#include "platform/programs/ptx_legality/rules.h"

namespace warpline::ptx {
namespace {

constexpr char kTex[] = "PTX ISA, tex";
constexpr char kSuld[] = "PTX ISA, suld";
constexpr char kSust[] = "PTX ISA, sust";
constexpr char kSured[] = "PTX ISA, sured";
constexpr char kAsked[] = "ptxas 13.0";

constexpr InstructionName kNames[] = {
    {"tex", "tex", ""},           {"tex.base", "tex", ".base"}, {"tex.level", "tex", ".level"},
    {"tex.grad", "tex", ".grad"}, {"suld", "suld", ".b"},       {"sust", "sust", ".b"},
    {"sust.p", "sust", ".p"},     {"sured", "sured", ".b"},     {"sured.p", "sured", ".p"},
};

constexpr Rule kRules[] = {
    takes("tex tex.base tex.level tex.grad", ".1d|.2d|.3d|.a1d|.a2d|.cube|.acube|.2dms|.a2dms|.v2|.v4", kTex),
    takes("tex tex.base tex.level tex.grad", ".u32|.s32|.f16|.f16x2|.f32|2nd:.s32|2nd:.f32", kTex),
    since("tex tex.base tex.level tex.grad suld sust sust.p", "", 60, 20, kAsked),
    since("tex tex.base tex.level tex.grad", ".f16|.f16x2", 60, 53, kTex),
    pairs("tex tex.base tex.level tex.grad", "type", kTex),
    needs("tex tex.base tex.level tex.grad", "", "geometry", kTex),
    needs("tex tex.base tex.level tex.grad", "!.f16x2", ".v4", kTex),
    needs("tex tex.base tex.level tex.grad", ".f16x2", ".v2", kTex),
    needs("tex tex.base tex.level tex.grad", "", "type", kTex),
    needs("tex tex.base tex.level tex.grad", "", "2nd:.s32|2nd:.f32", kTex),
    needs("tex tex.base tex.level tex.grad", ".cube|.acube", "2nd:.f32", kTex),
    needs("tex tex.base tex.level tex.grad", ".2dms|.a2dms", "2nd:.s32", kTex),
    takes("tex.base", ".base", kTex),
    takes("tex.level", ".level", kTex),
    takes("tex.grad", ".grad", kTex),
    excludes("tex.level tex.grad", "", ".2dms|.a2dms", kTex),
    takes("suld", ".b|.1d|.2d|.3d|.a1d|.a2d|.ca|.cg|.cs|.cv|.v2|.v4|.b8|.b16|.b32|.b64|bounds", kSuld),
    takes("sust", ".b|.1d|.2d|.3d|.a1d|.a2d|.wb|.cg|.cs|.wt|.v2|.v4|.b8|.b16|.b32|.b64|bounds", kSust),
    takes("sust.p", ".p|.1d|.2d|.3d|.a1d|.a2d|.v2|.v4|.b32|bounds", kSust),
    takes("sured", ".b|.1d|.2d|.3d|.a1d|.a2d|.add|.min|.max|.and|.or|.u32|.s32|.u64|.s64|.b32|bounds",
          kSured),
    takes("sured.p", ".p|.1d|.2d|.3d|.a1d|.a2d|.add|.min|.max|.and|.or|.b32|bounds", kSured),
    needs("sured sured.p", "", "geometry", kSured),
    needs("sured sured.p", "", "arithmetic", kSured),
    needs("sured sured.p", "", "type", kSured),
    needs("sured sured.p", "", "bounds", kSured),
    needs("sured", ".add", ".u32|.s32|.u64", kSured),
    needs("sured", ".min|.max", ".u32|.s32|.u64|.s64", kSured),
    needs("sured", ".and|.or", ".b32", kSured),
    since("sured sured.p", "", 60, 20, kAsked),
    since("sured", ".min|.max .u64|.s64", 81, 50, kSured),
    needs("suld sust sust.p", "", "geometry", kSuld),
    needs("suld sust sust.p", "", "type", kSuld),
    needs("suld sust sust.p", "", "bounds", kSuld),
    excludes("suld sust", "", "oversize", kSuld),
};

constexpr Signature kSignatures[] = {
    {"tex tex.base", "!bare-handle", "texels texture adjustment? reference?", kTex},
    {"tex.level", "!bare-handle", "texels texture level adjustment? reference?", kTex},
    {"tex.grad", "!bare-handle", "texels texture gradient gradient adjustment? reference?", kTex},
    {"tex tex.base", "bare-handle", "texels bare-handle texture adjustment? reference?", kAsked},
    {"tex.level", "bare-handle", "texels bare-handle texture level adjustment? reference?", kAsked},
    {"tex.grad", "bare-handle", "texels bare-handle texture gradient gradient adjustment? reference?",
     kAsked},
    {"suld", "", "d* surface", kSuld},
    {"sust sust.p", "", "surface s*", kSust},
    {"sured sured.p", "", "surface s-", kSured},
};

}  // namespace

Chapter texture_chapter() {
  return {kNames, kRules, kSignatures};
}

}  // namespace warpline::ptx
