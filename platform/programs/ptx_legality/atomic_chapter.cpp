// atom and red.

#include "platform/programs/ptx_legality/rules.h"

namespace warpline::ptx {
namespace {

constexpr char kAtom[] = "PTX ISA, atom";
constexpr char kRed[] = "PTX ISA, red";
constexpr char kAsked[] = "ptxas 13.0";

constexpr InstructionName kNames[] = {
    {"atom", "atom", ""},
    {"red", "red", ""},
};

constexpr Rule kRules[] = {
    takes("atom", ".relaxed|.acquire|.release|.acq_rel|scope|.global|shared|hint|vector|.noftz", kAtom),
    takes("atom", ".and|.or|.xor|.cas|.exch|.add|.inc|.dec|.min|.max", kAtom),
    takes("red", ".relaxed|.release|scope|.global|shared|hint|vector|.noftz", kRed),
    takes("red", ".and|.or|.xor|.add|.inc|.dec|.min|.max", kRed),
    takes("atom red", ".b16|.b32|.b64|.b128|.u32|.u64|.s32|.s64|half|.f32|.f64", kAtom),
    needs("atom red", "", "arithmetic", kAtom),
    needs("atom red", "", "type", kAtom),

    // Which operation on which type.
    needs("atom red", ".and|.or|.xor", ".b32|.b64", kAtom),
    needs("atom", ".cas", ".b16|.b32|.b64|.b128", kAtom),
    needs("atom", ".exch", ".b32|.b64|.b128", kAtom),
    needs("atom red", ".add", ".u32|.u64|.s32|.f32|.f64|half", kAtom),
    needs("atom red", ".inc|.dec", ".u32", kAtom),
    needs("atom red", ".min|.max !vector", ".u32|.u64|.s32|.s64", kAtom),
    needs("atom red", "half", ".noftz", kAtom),
    needs("atom red", ".noftz", "half", kAtom),

    // Vectors.
    needs("atom red", "vector", ".add|.min|.max", kAtom),
    needs("atom red", "vector .min|.max", "half", kAtom),
    needs("atom red", "vector", "half|.f32", kAtom),
    needs("atom red", ".v8", ".f16|.bf16", kAtom),
    excludes("atom red", "vector", "shared", kAtom),

    excludes("atom red", "hint", "shared", kAtom),
    excludes("atom", "hint", ".cas", kAsked),
    takes("atom", "unified", kAsked),
    excludes("atom", "unified", "shared|symbol-address", kAsked),
    excludes("atom red", "", "special-address", kAsked),
    differs("atom", "4-operands !hint !.cas", "a fourth operand", kAsked),

    since("atom red", "", 60, 11, kAtom),
    since("atom red", "shared|.b64|.u64|.s64", 60, 12, kAtom),
    since("atom red", "shared .b64|.u64|.s64", 60, 20, kAtom),
    since("atom red", "generic", 60, 20, kAtom),
    since("atom red", ".f32 .add", 60, 20, kAtom),
    since("atom red", ".and|.or|.xor|.min|.max .b64|.u64|.s64", 60, 32, kAtom),
    since("atom red", "scope", 60, 60, kAtom),
    since("atom red", ".relaxed|.acquire|.release|.acq_rel", 60, 70, kAtom),
    since("atom red", ".cluster", 78, 90, kAtom),
    since("atom red", ".shared::cta", 78, 12, kAtom),
    since("atom red", ".shared::cluster", 78, 90, kAtom),
    since("atom red", ".f64", 60, 60, kAtom),
    since("atom red", ".f16x2", 62, 60, kAtom),
    since("atom red", ".f16", 63, 70, kAtom),
    since("atom red", ".bf16|.bf16x2", 78, 90, kAtom),
    since("atom", ".b16", 63, 70, kAtom),
    since("atom", ".b128", 83, 90, kAtom),
    since("atom", ".b128 .sys", 84, 90, kAtom),
    since("atom red", "hint", 74, 80, kAtom),
    since("atom red", "vector", 81, 90, kAtom),
    since("atom red", "128-bit-register", 83, 70, "PTX ISA, Fundamental Types"),
};

constexpr Signature kSignatures[] = {
    {"atom", "!hint !.cas", "d= a s=", kAtom},
    {"atom", "hint !.cas", "d= a s= policy", kAtom},
    {"atom", ".cas", "d= a s= s=", kAtom},
    {"atom", "!hint .and|.or|.xor|.exch .b32|.b128", "d= a s= s=", kAsked},
    {"red", "!hint", "a s=", kRed},
    {"red", "hint", "a s= policy", kRed},
};

}  // namespace

Chapter atomic_chapter() {
  return {kNames, kRules, kSignatures};
}

}  // namespace warpline::ptx
