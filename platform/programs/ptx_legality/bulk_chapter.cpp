// Bulk copies, reductions and prefetches, of memory and of tensors.

#include "platform/programs/ptx_legality/rules.h"

namespace warpline::ptx {
namespace {

constexpr char kCopy[] = "PTX ISA, cp.async.bulk";
constexpr char kReduce[] = "PTX ISA, cp.reduce.async.bulk";
constexpr char kAsked[] = "ptxas 13.0";
constexpr char kPrefetch[] = "PTX ISA, cp.async.bulk.prefetch";

constexpr char kTensor[] = "PTX ISA, cp.async.bulk.tensor";
constexpr char kTensorReduce[] = "PTX ISA, cp.reduce.async.bulk.tensor";
constexpr char kTensorPrefetch[] = "PTX ISA, cp.async.bulk.prefetch.tensor";
constexpr char kTensors[] = "cp.async.bulk.tensor cp.reduce.async.bulk.tensor cp.async.bulk.prefetch.tensor";

constexpr InstructionName kNames[] = {
    {"cp.async.bulk", "cp", ".async .bulk"},
    {"cp.async.bulk.prefetch", "cp", ".async .bulk .prefetch"},
    {"cp.async.bulk.commit_group", "cp", ".async .bulk .commit_group"},
    {"cp.async.bulk.wait_group", "cp", ".async .bulk .wait_group"},
    {"cp.reduce.async.bulk", "cp", ".reduce .async .bulk"},
    {"cp.async.bulk.tensor", "cp", ".async .bulk .tensor"},
    {"cp.reduce.async.bulk.tensor", "cp", ".reduce .async .bulk .tensor"},
    {"cp.async.bulk.prefetch.tensor", "cp", ".async .bulk .prefetch .tensor"},
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

    takes("cp.async.bulk.tensor",
          ".async|.bulk|.tensor|.shared::cluster|.shared::cta|.global|2nd:.global|2nd:.shared::cta|hint",
          kTensor),
    takes("cp.async.bulk.tensor",
          ".mbarrier::complete_tx::bytes|.bulk_group|.multicast::cluster|load-mode|cta-group", kTensor),
    takes("cp.reduce.async.bulk.tensor",
          ".reduce|.async|.bulk|.tensor|.global|2nd:.shared::cta|hint|.bulk_group|.tile|.tile::scatter4|"
          ".im2col_no_offs",
          kTensorReduce),
    takes("cp.reduce.async.bulk.tensor", ".and|.or|.xor|.add|.inc|.dec|.min|.max", kTensorReduce),
    takes("cp.async.bulk.prefetch.tensor",
          ".async|.bulk|.prefetch|.tensor|.L2|.global|hint|.tile|.tile::gather4|offsets", kTensorPrefetch),
    takes(kTensors, "dimension", kTensor),
    needs(kTensors, "", "dimension", kTensor),
    pairs("cp.async.bulk.tensor cp.reduce.async.bulk.tensor", "space", kTensor),
    needs("cp.async.bulk.tensor", "", ".shared::cluster|.shared::cta|.global", kTensor),
    needs("cp.async.bulk.tensor", ".shared::cluster|.shared::cta", "2nd:.global", kTensor),
    needs("cp.async.bulk.tensor", ".global", "2nd:.shared::cta", kTensor),
    needs("cp.async.bulk.tensor", ".shared::cluster|.shared::cta", ".mbarrier::complete_tx::bytes", kTensor),
    needs("cp.async.bulk.tensor", ".global", ".bulk_group", kTensor),
    excludes("cp.async.bulk.tensor", ".global", ".tile::gather4|offsets|.multicast::cluster|cta-group",
             kTensor),
    excludes("cp.async.bulk.tensor", ".shared::cluster|.shared::cta", ".tile::scatter4|.im2col_no_offs",
             kTensor),
    excludes("cp.async.bulk.tensor", ".shared::cta", ".multicast::cluster", kTensor),
    needs("cp.reduce.async.bulk.tensor", "", ".global", kTensorReduce),
    needs("cp.reduce.async.bulk.tensor", "", "2nd:.shared::cta", kTensorReduce),
    needs("cp.reduce.async.bulk.tensor", "", ".bulk_group", kTensorReduce),
    needs("cp.reduce.async.bulk.tensor", "", "arithmetic", kTensorReduce),
    needs("cp.async.bulk.prefetch.tensor", "", ".L2", kTensorPrefetch),
    needs("cp.async.bulk.prefetch.tensor", "", ".global", kTensorPrefetch),
    excludes(kTensors, ".tile::gather4|.tile::scatter4", ".1d|.3d|.4d|.5d", kTensor),
    excludes(kTensors, "offsets|.im2col_no_offs", ".1d|.2d", kTensor),
    since(kTensors, "", 80, 90, kTensor),
    since("cp.async.bulk.tensor", ".shared::cta", 86, 90, kTensor),
    since("cp.async.bulk.tensor", ".shared::cta .tile::gather4|.im2col::w", 86, 100, kTensor),
    since(kTensors, "cta-group", 86, 100, kTensor),
    needs(kTensors, "cta-group|.im2col::w::128|.tile::scatter4", "sm_10x-target", kTensor),
    needs("cp.async.bulk.tensor", ".shared::cluster .tile::gather4|.im2col::w", "sm_10x-target", kTensor),
    needs("cp.async.bulk.prefetch.tensor", ".tile::gather4|.im2col::w", "sm_10x-target", kTensorPrefetch),
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
    {"cp.async.bulk.tensor", "!.bulk_group !offsets !.multicast::cluster !hint",
     "bare-shared tensor bare-shared", kTensor},
    {"cp.async.bulk.tensor", "!.bulk_group !offsets !.multicast::cluster hint",
     "bare-shared tensor bare-shared policy", kTensor},
    {"cp.async.bulk.tensor", "!.bulk_group !offsets .multicast::cluster !hint",
     "bare-shared tensor bare-shared b16", kTensor},
    {"cp.async.bulk.tensor", "!.bulk_group !offsets .multicast::cluster hint",
     "bare-shared tensor bare-shared b16 policy", kTensor},
    {"cp.async.bulk.tensor", "!.bulk_group offsets !.multicast::cluster !hint",
     "bare-shared tensor bare-shared offsets", kTensor},
    {"cp.async.bulk.tensor", "!.bulk_group offsets !.multicast::cluster hint",
     "bare-shared tensor bare-shared offsets policy", kTensor},
    {"cp.async.bulk.tensor", "!.bulk_group offsets .multicast::cluster !hint",
     "bare-shared tensor bare-shared offsets b16", kTensor},
    {"cp.async.bulk.tensor", "!.bulk_group offsets .multicast::cluster hint",
     "bare-shared tensor bare-shared offsets b16 policy", kTensor},
    {"cp.async.bulk.tensor cp.reduce.async.bulk.tensor", ".bulk_group !hint", "tensor bare-shared", kTensor},
    {"cp.async.bulk.tensor cp.reduce.async.bulk.tensor", ".bulk_group hint", "tensor bare-shared policy",
     kTensor},
    {"cp.async.bulk.prefetch.tensor", "!offsets !hint", "tensor", kTensorPrefetch},
    {"cp.async.bulk.prefetch.tensor", "!offsets hint", "tensor policy", kTensorPrefetch},
    {"cp.async.bulk.prefetch.tensor", "offsets !hint", "tensor offsets", kTensorPrefetch},
    {"cp.async.bulk.prefetch.tensor", "offsets hint", "tensor offsets policy", kTensorPrefetch},
};

}  // namespace

Chapter bulk_chapter() {
  return {kNames, kRules, kSignatures};
}

}  // namespace warpline::ptx
