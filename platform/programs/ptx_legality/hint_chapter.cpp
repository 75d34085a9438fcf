// createpolicy, prefetch, prefetchu, applypriority, discard.

#include "platform/programs/ptx_legality/rules.h"

namespace warpline::ptx {
namespace {

constexpr char kPolicy[] = "PTX ISA, createpolicy";
constexpr char kPrefetch[] = "PTX ISA, prefetch, prefetchu";
constexpr char kApply[] = "PTX ISA, applypriority";
constexpr char kDiscard[] = "PTX ISA, discard";
constexpr char kAsked[] = "ptxas 13.0";

constexpr InstructionName kNames[] = {
    {"createpolicy", "createpolicy", ""},
    {"createpolicy.fractional", "createpolicy", ".fractional"},
    {"createpolicy.range", "createpolicy", ".range"},
    {"createpolicy.cvt", "createpolicy", ".cvt"},
    {"prefetch", "prefetch", ""},
    {"prefetchu", "prefetchu", ""},
    {"applypriority", "applypriority", ""},
    {"discard", "discard", ""},
};

constexpr Rule kRules[] = {
    needs("createpolicy", "", ".fractional|.range|.cvt", kPolicy),
    takes("createpolicy", "L2-eviction|type", kPolicy),
    takes("createpolicy.fractional", ".fractional|.b64", kPolicy),
    takes("createpolicy.range", ".range|.global|.b64", kPolicy),
    takes("createpolicy.cvt", ".cvt|.L2|.b64", kPolicy),
    takes("createpolicy.fractional createpolicy.range",
          ".L2::evict_last|.L2::evict_normal|.L2::evict_first|.L2::evict_unchanged", kPolicy),
    pairs("createpolicy.fractional createpolicy.range", "L2-eviction", kPolicy),
    needs("createpolicy.fractional createpolicy.range", "", "L2-eviction", kPolicy),
    excludes("createpolicy.fractional createpolicy.range", "", "2nd:.L2::evict_last|2nd:.L2::evict_normal",
             kPolicy),
    needs("createpolicy.cvt", "", ".L2", kPolicy),
    needs("createpolicy.fractional createpolicy.range createpolicy.cvt", "", ".b64", kPolicy),
    since("createpolicy.fractional createpolicy.range createpolicy.cvt", "", 74, 80, kPolicy),

    takes("prefetch", ".global|.local|.const|.param|.L1|.L2|.tensormap", kPrefetch),
    takes("prefetch", ".L2::evict_last|.L2::evict_normal", kPrefetch),
    needs("prefetch", "", ".L1|.L2|.tensormap|L2-eviction", kPrefetch),
    excludes("prefetch", "L2-eviction", "level|.local|.const|.param", kPrefetch),
    excludes("prefetch", ".L1|.L2", ".const|.param", kPrefetch),
    excludes("prefetch", ".tensormap", ".global|.local", kPrefetch),
    since("prefetch prefetchu", "", 60, 20, kPrefetch),
    since("prefetch", "L2-eviction", 74, 80, kPrefetch),
    since("prefetch", ".tensormap", 80, 90, kPrefetch),
    differs("prefetch", "L2-eviction generic", "an L2 eviction priority on a generic address", kAsked),
    takes("prefetchu", ".L1", kPrefetch),
    needs("prefetchu", "", ".L1", kPrefetch),

    takes("applypriority", ".global|.L2::evict_normal", kApply),
    needs("applypriority", "", ".L2::evict_normal", kApply),
    since("applypriority", "", 74, 80, kApply),
    takes("discard", ".global|.L2", kDiscard),
    needs("discard", "", ".L2", kDiscard),
    since("discard", "", 74, 80, kDiscard),
    excludes("prefetchu", "", "variable-not-global", kAsked),
    excludes("prefetch", "!.tensormap", "special-address", kAsked),
    excludes("prefetchu applypriority discard", "", "special-address", kAsked),
    takes("createpolicy.range", "unified", kAsked),
    excludes("createpolicy.range", "unified", "symbol-address", kAsked),
};

constexpr Signature kSignatures[] = {
    {"createpolicy.fractional", "", "b64= fraction?", kPolicy},
    {"createpolicy.range", "", "b64= any-address+ size total-size", kPolicy},
    {"createpolicy.cvt", "", "b64= policy", kPolicy},
    {"prefetch", ".tensormap", "any-address+", kPrefetch},
    {"prefetch", "!.tensormap", "a", kPrefetch},
    {"prefetchu", "", "a", kPrefetch},
    {"applypriority", "", "a 128", kApply},
    {"discard", "", "a 128", kDiscard},
};

}  // namespace

Chapter hint_chapter() {
  return {kNames, kRules, kSignatures};
}

}  // namespace warpline::ptx
