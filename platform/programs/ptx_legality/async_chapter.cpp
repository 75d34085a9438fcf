// Asynchronous and multicast accesses of single elements: cp.async, st.async, red.async, st.bulk, multimem.

#include "platform/programs/ptx_legality/rules.h"

namespace warpline::ptx {
namespace {

constexpr char kCopy[] = "PTX ISA, cp.async";
constexpr char kStore[] = "PTX ISA, st.async";
constexpr char kBulk[] = "PTX ISA, st.bulk";
constexpr char kReduce[] = "PTX ISA, red.async";
constexpr char kMultimem[] = "PTX ISA, multimem";
constexpr char kAsked[] = "ptxas 13.0";

constexpr InstructionName kNames[] = {
    {"cp.async", "cp", ".async"},
    {"cp.async.commit_group", "cp", ".async .commit_group"},
    {"cp.async.wait_group", "cp", ".async .wait_group"},
    {"cp.async.wait_all", "cp", ".async .wait_all"},
    {"cp.async.mbarrier.arrive", "cp", ".async .mbarrier .arrive"},
    {"st.async", "st", ".async"},
    {"st.bulk", "st", ".bulk"},
    {"red.async", "red", ".async"},
    {"multimem.ld_reduce", "multimem", ".ld_reduce"},
    {"multimem.st", "multimem", ".st"},
    {"multimem.red", "multimem", ".red"},
};

constexpr Rule kRules[] = {
    takes("cp.async", ".async|.ca|.cg|.shared|.shared::cta|hint|prefetch-size|2nd:.global", kCopy),
    pairs("cp.async", "space", kCopy),
    needs("cp.async", "", ".ca|.cg", kCopy),
    needs("cp.async", "", ".shared|.shared::cta", kCopy),
    needs("cp.async", "", "2nd:.global", kCopy),
    since("cp.async", "", 70, 80, kCopy),
    since("cp.async", "hint|prefetch-size", 74, 80, kCopy),
    since("cp.async", "predicate", 75, 80, kCopy),
    takes("cp.async.commit_group", ".async|.commit_group", kCopy),
    takes("cp.async.wait_group", ".async|.wait_group", kCopy),
    takes("cp.async.wait_all", ".async|.wait_all", kCopy),
    takes("cp.async.mbarrier.arrive", ".async|.mbarrier|.arrive|.noinc|.shared|.shared::cta|.b64", kCopy),
    needs("cp.async.mbarrier.arrive", "", ".b64", kCopy),
    since("cp.async.commit_group cp.async.wait_group cp.async.wait_all cp.async.mbarrier.arrive", "", 70, 80,
          kCopy),
    since("cp.async.mbarrier.arrive", ".shared::cta", 78, 80, kCopy),

    takes("st.async", ".async|.weak|.release|mmio|.cluster|.gpu|.sys|.global|shared|.v2|.v4", kStore),
    takes("st.async", ".mbarrier::complete_tx::bytes|plain-type", kStore),
    needs("st.async", "", "plain-type", kStore),
    excludes("st.async", ".mbarrier::complete_tx::bytes", ".release|mmio|.gpu|.sys|.global", kStore),
    needs("st.async", ".mbarrier::complete_tx::bytes", "32-bit|64-bit", kStore),
    excludes("st.async", ".mbarrier::complete_tx::bytes", "oversize", kStore),
    excludes("st.async", "!.mbarrier::complete_tx::bytes", ".cluster|.shared::cluster|vector|.b128", kStore),
    excludes("st.async", ".mbarrier::complete_tx::bytes 2-operands", "vector", kAsked),
    needs("st.async", "mmio", ".release", kStore),
    needs("st.async", ".release", ".gpu|.sys", kStore),
    excludes("st.async", ".release", "shared", kStore),
    excludes("st.async", ".weak", "scope", kStore),
    excludes("st.async", ".gpu|.sys", "shared", kStore),
    since("st.async", ".mbarrier::complete_tx::bytes|.shared|.shared::cta", 81, 90, kStore),
    since("st.async", "!.mbarrier::complete_tx::bytes !.shared !.shared::cta !.release !.global", 81, 90,
          kAsked),
    since("st.async", ".release|.global", 87, 100, kStore),
    differs("st.async", "!.mbarrier::complete_tx::bytes !.release",
            "an asynchronous store without '.release'", kAsked),
    differs("st.async", ".cluster|.shared|.shared::cta", "such a scope or state space", kAsked),
    differs("st.async red.async", ".mbarrier::complete_tx::bytes 2-operands", "no mbarrier as operand",
            kAsked),

    takes("st.bulk", ".bulk|.weak|.shared::cta", kBulk),
    since("st.bulk", "", 86, 100, kBulk),
    excludes("st.bulk", ".shared::cta", "symbol-address|special-address", kAsked),
    excludes("multimem.red", "", "special-address", kAsked),

    takes("red.async", ".async|.relaxed|.release|mmio|.cluster|.gpu|.sys|.global|.shared::cluster", kReduce),
    takes("red.async", ".mbarrier::complete_tx::bytes|.b32|.b64|.u32|.u64|.s32|.s64", kReduce),
    takes("red.async", ".and|.or|.xor|.add|.inc|.dec|.min|.max", kReduce),
    needs("red.async", "", "arithmetic", kReduce),
    needs("red.async", "", "type", kReduce),
    needs("red.async", "", ".relaxed|.release", kReduce),
    needs("red.async", ".relaxed .mbarrier::complete_tx::bytes", ".cluster", kReduce),
    needs("red.async", ".relaxed !.mbarrier::complete_tx::bytes", ".gpu|.sys", kReduce),
    needs("red.async", ".release", ".gpu|.sys", kReduce),
    needs("red.async", ".release", ".add", kReduce),
    needs("red.async", "mmio", ".release", kReduce),
    excludes("red.async", ".release", ".mbarrier::complete_tx::bytes|.shared::cluster", kReduce),
    excludes("red.async", ".relaxed .mbarrier::complete_tx::bytes", ".global", kReduce),
    excludes("red.async", ".relaxed !.mbarrier::complete_tx::bytes", ".shared::cluster|mmio", kReduce),
    differs("red.async", ".relaxed !.mbarrier::complete_tx::bytes", "'.relaxed' without an mbarrier", kAsked),
    needs("red.async", ".and|.or|.xor", ".b32", kReduce),
    needs("red.async", ".inc|.dec", ".u32", kReduce),
    needs("red.async", ".min|.max", ".u32|.s32", kReduce),
    needs("red.async", ".add", ".u32|.s32|.u64|.s64", kReduce),
    excludes("red.async", ".mbarrier::complete_tx::bytes", ".s64", kReduce),
    since("red.async", ".mbarrier::complete_tx::bytes", 81, 90, kReduce),
    since("red.async", "!.mbarrier::complete_tx::bytes !.release !.global", 81, 90, kAsked),
    since("red.async", ".release|.global", 87, 100, kReduce),

    takes("multimem.ld_reduce", ".ld_reduce|.weak|.relaxed|.acquire|scope|.global|.acc::f32|.acc::f16",
          kMultimem),
    takes("multimem.ld_reduce", "vector|.min|.max|.add|.and|.or|.xor", kMultimem),
    takes("multimem.st", ".st|.weak|.relaxed|.release|scope|.global|vector", kMultimem),
    takes("multimem.red", ".red|.relaxed|.release|scope|.global|vector|.min|.max|.add|.and|.or|.xor",
          kMultimem),
    takes("multimem.ld_reduce multimem.st multimem.red", ".b32|.b64|.u32|.u64|.s32|.s64|half|.f32|.f64",
          kMultimem),
    takes("multimem.ld_reduce multimem.st multimem.red", ".e4m3|.e5m2|.e4m3x2|.e5m2x2|.e4m3x4|.e5m2x4",
          kMultimem),
    needs("multimem.ld_reduce multimem.st multimem.red", "", "type", kMultimem),
    needs("multimem.ld_reduce multimem.red", "", "arithmetic", kMultimem),
    needs("multimem.ld_reduce multimem.st multimem.red", ".relaxed|.acquire|.release", "scope", kMultimem),
    needs("multimem.ld_reduce multimem.st multimem.red", "scope", ".relaxed|.acquire|.release", kMultimem),
    needs("multimem.ld_reduce multimem.red", ".and|.or|.xor", ".b32|.b64", kMultimem),
    needs("multimem.ld_reduce multimem.red", ".min|.max", ".u32|.s32|.u64|.s64|half|8-bit-float", kMultimem),
    needs("multimem.ld_reduce multimem.red", ".add", ".u32|.s32|.u64|half|.f32|.f64|8-bit-float", kMultimem),
    excludes("multimem.red", "", "8-bit-float", kMultimem),
    needs("multimem.ld_reduce multimem.st multimem.red", "vector", "half|.f32|8-bit-float", kMultimem),
    excludes("multimem.ld_reduce multimem.st multimem.red", "", "oversize", kMultimem),
    needs("multimem.ld_reduce multimem.st multimem.red", ".f16|.bf16|.e4m3|.e5m2|.e4m3x2|.e5m2x2", "vector",
          kMultimem),
    needs("multimem.red", ".min|.max half", "vector", kMultimem),
    needs("multimem.ld_reduce", ".acc::f32|.acc::f16", ".add", kMultimem),
    needs("multimem.ld_reduce", ".acc::f32", "half", kMultimem),
    needs("multimem.ld_reduce", ".acc::f16", "8-bit-float", kMultimem),
    needs("multimem.ld_reduce multimem.st multimem.red", "8-bit-float|.acc::f16", "arch-target|family-target",
          kMultimem),
    since("multimem.ld_reduce multimem.st multimem.red", "", 81, 90, kMultimem),
    since("multimem.ld_reduce", ".acc::f32", 82, 90, kMultimem),
    takes("multimem.ld_reduce", "unified", kAsked),
    excludes("multimem.ld_reduce", "unified", "symbol-address", kAsked),
    takes("multimem.red", "name[n]", kAsked),
    since("multimem.ld_reduce multimem.st multimem.red", "8-bit-float|.acc::f16", 86, 100, kMultimem),
};

constexpr Signature kSignatures[] = {
    {"cp.async", "!hint", "any-address any-address2 copy-size zero-fill?", kCopy},
    {"cp.async", "hint", "any-address any-address2 copy-size zero-fill? policy", kCopy},
    {"cp.async.commit_group cp.async.wait_all", "", "", kCopy},
    {"cp.async.wait_group", "", "int", kCopy},
    {"cp.async.mbarrier.arrive", "generic", "any-address+", kCopy},
    {"cp.async.mbarrier.arrive", "!generic", "a", kCopy},
    {"st.async", ".mbarrier::complete_tx::bytes generic", "any-address+ s*= any-address+?", kStore},
    {"st.async", ".mbarrier::complete_tx::bytes !generic", "a+ s*= shared?", kStore},
    {"st.async", "!.mbarrier::complete_tx::bytes", "any-address+ s=", kStore},
    {"st.bulk", "generic", "any-address+ st-bulk-size 0", kBulk},
    {"st.bulk", "!generic", "a+ st-bulk-size 0", kBulk},
    {"red.async", ".mbarrier::complete_tx::bytes generic", "any-address+ s= any-address+?", kReduce},
    {"red.async", ".mbarrier::complete_tx::bytes !generic", "a+ s= shared?", kReduce},
    {"red.async", "!.mbarrier::complete_tx::bytes", "any-address+ s=", kReduce},
    {"multimem.ld_reduce", "", "d- a", kMultimem},
    {"multimem.st", "", "a s1", kMultimem},
    {"multimem.red", "", "a+ s=", kMultimem},
};

}  // namespace

Chapter async_chapter() {
  return {kNames, kRules, kSignatures};
}

}  // namespace warpline::ptx
