// Bulk copies, reductions and prefetches.

#include "platform/programs/ptx_legality/rules.h"

namespace warpline::ptx {
namespace {

constexpr char kCopy[] = "PTX ISA, cp.async.bulk";
constexpr char kReduce[] = "PTX ISA, cp.reduce.async.bulk";
constexpr char kAsked[] = "ptxas 13.0";
constexpr char kPrefetch[] = "PTX ISA, cp.async.bulk.prefetch";

constexpr InstructionName kNames[] = {
    {"cp.async.bulk", "cp", ".async .bulk"},
    {"cp.async.bulk.prefetch", "cp", ".async .bulk .prefetch"},
    {"cp.async.bulk.commit_group", "cp", ".async .bulk .commit_group"},
    {"cp.async.bulk.wait_group", "cp", ".async .bulk .wait_group"},
    {"cp.reduce.async.bulk", "cp", ".reduce .async .bulk"},
};

constexpr Rule kRules[] = {
    takes("cp.async.bulk", ".async|.bulk|.shared::cluster|.shared::cta|.global|2nd:.global|2nd:.shared::cta",
          kCopy),
    takes("cp.async.bulk", ".mbarrier::complete_tx::bytes|.bulk_group|.multicast::cluster|hint|.cp_mask",
          kCopy),
    pairs("cp.async.bulk cp.reduce.async.bulk", "space", kCopy),
    needs("cp.async.bulk", "", ".shared::cluster|.shared::cta|.global", kCopy),
    needs("cp.async.bulk", "", "2nd:.global|2nd:.shared::cta", kCopy),
    needs("cp.async.bulk", ".global", "2nd:.shared::cta", kCopy),
    needs("cp.async.bulk", ".shared::cta", "2nd:.global", kCopy),
    needs("cp.async.bulk", ".global", ".bulk_group", kCopy),
    needs("cp.async.bulk", ".shared::cta|.shared::cluster", ".mbarrier::complete_tx::bytes", kCopy),
    needs("cp.async.bulk", ".multicast::cluster", "2nd:.global", kCopy),
    needs("cp.async.bulk", ".multicast::cluster", ".shared::cluster", kCopy),
    needs("cp.async.bulk", ".cp_mask", ".global", kCopy),
    excludes("cp.async.bulk", ".shared::cluster 2nd:.shared::cta", "hint", kCopy),
    since("cp.async.bulk", "", 80, 90, kCopy),
    since("cp.async.bulk", ".shared::cta", 86, 90, kCopy),
    since("cp.async.bulk", ".cp_mask", 86, 100, kCopy),

    takes("cp.async.bulk.prefetch", ".async|.bulk|.prefetch|.L2|.global|hint", kPrefetch),
    needs("cp.async.bulk.prefetch", "", ".L2", kPrefetch),
    needs("cp.async.bulk.prefetch", "", ".global", kPrefetch),
    since("cp.async.bulk.prefetch", "", 80, 90, kPrefetch),

    takes("cp.async.bulk.commit_group", ".async|.bulk|.commit_group", kCopy),
    takes("cp.async.bulk.wait_group", ".async|.bulk|.wait_group|.read", kCopy),
    since("cp.async.bulk.commit_group cp.async.bulk.wait_group", "", 80, 90, kCopy),

    takes("cp.reduce.async.bulk",
          ".reduce|.async|.bulk|.shared::cluster|.global|2nd:.shared::cta|hint|.mbarrier::complete_tx::bytes|"
          ".bulk_group|.noftz",
          kReduce),
    takes("cp.reduce.async.bulk", ".and|.or|.xor|.add|.inc|.dec|.min|.max", kReduce),
    takes("cp.reduce.async.bulk", ".b32|.b64|.u32|.u64|.s32|.s64|.f16|.bf16|.f32|.f64", kReduce),
    needs("cp.reduce.async.bulk", "", ".shared::cluster|.global", kReduce),
    needs("cp.reduce.async.bulk", "", "2nd:.shared::cta", kReduce),
    needs("cp.reduce.async.bulk", ".global", ".bulk_group", kReduce),
    needs("cp.reduce.async.bulk", ".shared::cluster", ".mbarrier::complete_tx::bytes", kReduce),
    needs("cp.reduce.async.bulk", "hint", ".global", kReduce),
    needs("cp.reduce.async.bulk", "", "arithmetic", kReduce),
    needs("cp.reduce.async.bulk", "", "type", kReduce),
    needs("cp.reduce.async.bulk", ".noftz", ".f16|.bf16", kReduce),
    needs("cp.reduce.async.bulk", ".noftz", ".add", kReduce),
    needs("cp.reduce.async.bulk", ".add .f16|.bf16", ".noftz", kReduce),
    needs("cp.reduce.async.bulk", ".and|.or|.xor", ".b32|.b64", kReduce),
    needs("cp.reduce.async.bulk", ".inc|.dec", ".u32", kReduce),
    needs("cp.reduce.async.bulk", ".add", ".u32|.s32|.u64|.f16|.bf16|.f32|.f64", kReduce),
    needs("cp.reduce.async.bulk", ".min|.max", ".u32|.s32|.u64|.s64|.f16|.bf16", kReduce),
    excludes("cp.reduce.async.bulk", ".shared::cluster", ".b64|.s64|.f16|.bf16|.f32|.f64", kReduce),
    excludes("cp.reduce.async.bulk", ".shared::cluster .min|.max", ".u64", kReduce),
    takes("cp.async.bulk cp.reduce.async.bulk", "unified", kAsked),
    excludes("cp.async.bulk cp.reduce.async.bulk", "unified", ".shared::cluster|symbol-address", kAsked),
    since("cp.reduce.async.bulk", "", 80, 90, kReduce),
};

constexpr Signature kSignatures[] = {
    {"cp.async.bulk", ".bulk_group !hint !.cp_mask", "any-global shared bulk-size", kCopy},
    {"cp.async.bulk", ".bulk_group hint !.cp_mask", "any-global shared bulk-size policy", kCopy},
    {"cp.async.bulk", ".bulk_group !hint .cp_mask", "any-global shared bulk-size b16", kCopy},
    {"cp.async.bulk", ".bulk_group hint .cp_mask", "any-global shared bulk-size policy b16", kCopy},
    {"cp.async.bulk", "!.bulk_group !hint !.multicast::cluster", "shared any-address2 bulk-size shared+",
     kCopy},
    {"cp.async.bulk", "!.bulk_group hint !.multicast::cluster",
     "shared any-address2 bulk-size shared+ policy", kCopy},
    {"cp.async.bulk", "!.bulk_group !hint .multicast::cluster", "shared any-address2 bulk-size shared+ b16",
     kCopy},
    {"cp.async.bulk", "!.bulk_group hint .multicast::cluster",
     "shared any-address2 bulk-size shared+ b16 policy", kCopy},
    {"cp.async.bulk.prefetch", "!hint", "any-global bulk-size", kPrefetch},
    {"cp.async.bulk.prefetch", "hint", "any-global bulk-size policy", kPrefetch},
    {"cp.async.bulk.commit_group", "", "", kCopy},
    {"cp.async.bulk.wait_group", "", "int", kCopy},
    {"cp.reduce.async.bulk", ".bulk_group !hint", "any-global shared bulk-size", kReduce},
    {"cp.reduce.async.bulk", ".bulk_group hint", "any-global shared bulk-size policy", kReduce},
    {"cp.reduce.async.bulk", "!.bulk_group", "shared shared bulk-size shared", kReduce},
};

}  // namespace

Chapter bulk_chapter() {
  return {kNames, kRules, kSignatures};
}

}  // namespace warpline::ptx
