// ld, ld.global.nc, ldu, st.

#include "platform/programs/ptx_legality/rules.h"

namespace warpline::ptx {
namespace {

constexpr char kLd[] = "PTX ISA, ld";
constexpr char kNc[] = "PTX ISA, ld.global.nc";
constexpr char kLdu[] = "PTX ISA, ldu";
constexpr char kSt[] = "PTX ISA, st";
constexpr char kVectors[] = "PTX ISA, Vectors";
constexpr char kAsked[] = "ptxas 13.0";

constexpr InstructionName kNames[] = {
    {"ld", "ld", ""},
    {"ld.nc", "ld", ".nc", true},
    {"ldu", "ldu", ""},
    {"st", "st", ""},
};

constexpr Rule kRules[] = {
    // What each takes.
    takes("ld", ".weak|.volatile|.relaxed|.acquire|mmio|scope", kLd),
    takes("ld", ".global|shared|.local|.const|param", kLd),
    takes("ld", ".ca|.cg|.cs|.lu|.cv", kLd),
    takes("st", ".weak|.volatile|.relaxed|.release|mmio|scope", kSt),
    takes("st", ".global|shared|.local|.param|.param::func", kSt),
    takes("st", ".wb|.cg|.cs|.wt", kSt),
    takes("ld.nc", ".nc|.global|.ca|.cg|.cs", kNc),
    takes("ld st ld.nc", "L1-eviction|.L2::evict_normal|.L2::evict_first|.L2::evict_last|hint", kLd),
    takes("ld ld.nc", "prefetch-size", kLd),
    takes("ldu", ".global", kLdu),
    takes("ld ld.nc ldu st", "vector|plain-type", kLd),
    needs("ld ld.nc ldu st", "", "plain-type", kLd),
    needs("ld.nc", "", ".global", kNc),

    // Orderings and scopes.
    needs("ld st", ".relaxed|.acquire|.release", "scope", kLd),
    needs("ld st", "scope", ".relaxed|.acquire|.release", kLd),
    needs("ld st", "mmio", ".relaxed", kLd),
    needs("ld st", "mmio", ".sys", kLd),
    excludes("ld st", "strong", ".local|.const|param", kLd),
    excludes("ld st", "strong", "operator", kLd),
    excludes("ld st", "mmio", "shared", kLd),
    excludes("ld st", "mmio", "vector|L1-eviction|L2-eviction|hint|prefetch-size", kLd),

    // Hints.
    excludes("ld st", "L1-eviction|hint|prefetch-size", "shared|.local|.const|param", kLd),
    excludes("ld st", ".volatile", "L1-eviction|hint", kLd),
    excludes("ld st ld.nc", "operator", "L1-eviction", kLd),
    needs("ld st ld.nc", "L2-eviction", "wide", kLd),
    differs("ld st ld.nc", "operator L2-eviction", "a cache operator with an L2 eviction priority", kAsked),
    differs("ld st", ".volatile L2-eviction", "'.volatile' with an L2 eviction priority", kAsked),

    // Vectors.
    excludes("ld st ld.nc ldu", "vector", ".b128", kVectors),
    needs("ld st ld.nc", ".v8", "32-bit", kVectors),
    excludes("ldu", "", ".v8|oversize", kLdu),
    excludes("ld st", "wide", "shared|.local|.const|param", kVectors),

    // Parameters.
    excludes("st", "param", "input-parameter", "PTX ISA, Parameter State Space"),
    excludes("ld", "param", "return-parameter", "PTX ISA, Parameter State Space"),

    // Forms of the address.
    takes("ld ld.nc ldu st", "name[n]", "PTX ISA, Addresses as Operands"),
    takes("ld ld.nc ldu", "unified", kLd),
    excludes("ld", "unified", "shared|.local|.const|param", kLd),
    excludes("ld ld.nc ldu", "unified", "symbol-address", kAsked),
    differs("ld ld.nc ldu", "unified", "'.unified' below PTX ISA 8.0 and sm_90", kAsked),

    differs("ld ld.nc ldu", "special-address", "a special register as address", kAsked),
    excludes("st", "", "special-address", kAsked),

    // Since when.
    since("ld.nc", "", 60, 32, kAsked),
    since("ldu", "", 60, 20, kLdu),
    since("ld st", "operator|generic", 60, 20, kAsked),
    since("ld st", ".weak|.relaxed|.acquire|.release", 60, 70, kLd),
    since("ld st", ".cluster", 78, 90, kLd),
    since("ld st", "mmio", 82, 70, kLd),
    since("ld st", ".shared::cta", 78, 10, kLd),
    since("ld st", ".shared::cluster", 78, 90, kLd),
    since("ld st", ".param::entry|.param::func", 83, 10, kLd),
    since("ld st ld.nc", "L1-eviction", 74, 70, kLd),
    since("ld ld.nc", ".L2::64B|.L2::128B", 74, 75, kLd),
    since("ld ld.nc", ".L2::256B", 74, 80, kLd),
    since("ld st ld.nc", "hint", 74, 80, kLd),
    since("ld st ld.nc", "wide", 88, 100, kLd),
    since("ld st ld.nc ldu", ".b128", 83, 70, kLd),
    since("ld st", ".b128 .sys", 84, 70, kLd),
    since("ld ld.nc ldu st", "128-bit-register", 83, 70, "PTX ISA, Fundamental Types"),
};

constexpr Signature kSignatures[] = {
    {"ld ld.nc", "!hint", "d a", kLd}, {"ld ld.nc", "hint", "d a policy", kLd}, {"ldu", "", "d a", kLdu},
    {"st", "!hint", "a s", kSt},       {"st", "hint", "a s policy", kSt},
};

}  // namespace

Chapter load_store_chapter() {
  return {kNames, kRules, kSignatures};
}

}  // namespace warpline::ptx
