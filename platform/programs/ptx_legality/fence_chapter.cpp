// fence, membar, their proxy forms, and the barriers of a CTA.

#include "platform/programs/ptx_legality/rules.h"

namespace warpline::ptx {
namespace {

constexpr char kFence[] = "PTX ISA, membar/fence";
constexpr char kBarrier[] = "PTX ISA, bar/barrier";
constexpr char kAsked[] = "ptxas 13.0";

constexpr InstructionName kNames[] = {
    {"fence", "fence", ""},
    {"fence.proxy", "fence", ".proxy"},
    {"fence.mbarrier_init", "fence", ".mbarrier_init", true},
    {"membar", "membar", ""},
    {"membar.proxy", "membar", ".proxy"},
    {"barrier.sync", "barrier", ".sync"},
    {"barrier.aligned.sync", "barrier", ".aligned .sync"},
    {"barrier.arrive", "barrier", ".arrive"},
    {"barrier.red", "barrier", ".red"},
    {"barrier.cta.sync", "barrier", ".cta .sync"},
    {"barrier.cta.aligned.sync", "barrier", ".cta .aligned .sync"},
    {"barrier.cta.arrive", "barrier", ".cta .arrive"},
    {"barrier.cta.red", "barrier", ".cta .red"},
    {"barrier.cluster.arrive", "barrier", ".cluster .arrive"},
    {"barrier.cluster.wait", "barrier", ".cluster .wait"},
    {"bar.sync", "bar", ".sync"},
    {"bar.arrive", "bar", ".arrive"},
    {"bar.red", "bar", ".red"},
    {"bar.cta.sync", "bar", ".cta .sync"},
    {"bar.cta.arrive", "bar", ".cta .arrive"},
    {"bar.cta.red", "bar", ".cta .red"},
    {"bar.warp.sync", "bar", ".warp .sync"},
};

constexpr Rule kRules[] = {
    takes("fence", ".sc|.acq_rel|.acquire|.release|scope|restriction", kFence),
    needs("fence", "", "scope", kFence),
    since("fence", "", 60, 70, kFence),
    since("fence", ".cluster", 78, 90, kFence),
    needs("fence", ".sync_restrict::shared::cluster", ".acquire", kFence),
    needs("fence", ".sync_restrict::shared::cta", ".release", kFence),
    needs("fence", "restriction", ".cluster", kFence),
    since("fence fence.proxy", "restriction", 86, 90, kFence),
    differs("fence", ".acquire|.release !restriction",
            "'.acquire' and '.release' on a fence below PTX ISA 8.6 and sm_90", kAsked),

    takes("fence.mbarrier_init", ".mbarrier_init|.release|.cluster", kFence),
    needs("fence.mbarrier_init", "", ".release", kFence),
    needs("fence.mbarrier_init", "", ".cluster", kFence),
    since("fence.mbarrier_init", "", 80, 90, kFence),

    takes("fence.proxy", ".proxy|.alias|.async|.async::generic|.tensormap::generic", kFence),
    takes("fence.proxy", ".global|.shared::cta|.shared::cluster", kFence),
    takes("fence.proxy", ".acquire|.release|scope|restriction", kFence),
    needs("fence.proxy", "", ".alias|.async|.async::generic|.tensormap::generic", kFence),
    excludes("fence.proxy", ".alias", ".async|.async::generic|.tensormap::generic", kFence),
    excludes("fence.proxy", ".async::generic|.tensormap::generic", ".async", kFence),
    excludes("fence.proxy", ".async::generic", ".tensormap::generic", kFence),
    needs("fence.proxy", "space", ".async|.async::generic", kFence),
    needs("fence.proxy", "scope|.acquire|.release", ".async::generic|.tensormap::generic", kFence),
    needs("fence.proxy", ".async::generic|.tensormap::generic", ".acquire|.release", kFence),
    needs("fence.proxy", ".async::generic|.tensormap::generic", "scope", kFence),
    needs("fence.proxy", ".async::generic", "restriction", kFence),
    needs("fence.proxy", ".async::generic", ".cluster", kFence),
    needs("fence.proxy", "restriction", ".async::generic", kFence),
    needs("fence.proxy", ".sync_restrict::shared::cluster", ".acquire", kFence),
    needs("fence.proxy", ".sync_restrict::shared::cta", ".release", kFence),
    since("fence.proxy", "", 75, 70, kFence),
    since("fence.proxy", ".async", 80, 90, kFence),
    since("fence.proxy", ".tensormap::generic", 83, 90, kFence),
    since("fence.proxy", ".async::generic", 86, 90, kFence),

    takes("membar", ".cta|.gl|.sys", kFence),
    needs("membar", "", ".cta|.gl|.sys", kFence),
    excludes("membar", ".gl", "scope", kFence),
    since("membar", ".sys", 60, 20, kFence),
    takes("membar.proxy", ".proxy|.alias", kFence),
    needs("membar.proxy", "", ".alias", kFence),
    since("membar.proxy", "", 75, 60, kFence),

    takes("barrier.sync barrier.cta.sync bar.sync bar.cta.sync", ".sync", kBarrier),
    takes("barrier.aligned.sync barrier.cta.aligned.sync", ".sync|.aligned", kAsked),
    takes("barrier.cta.aligned.sync", ".cta", kAsked),
    since("barrier.aligned.sync", "", 60, 30, kBarrier),
    since("barrier.cta.aligned.sync", "", 78, 30, kBarrier),
    takes("barrier.arrive barrier.cta.arrive bar.arrive bar.cta.arrive barrier.cluster.arrive", ".arrive",
          kBarrier),
    takes("barrier.red barrier.cta.red bar.red bar.cta.red", ".red|.and|.or|.popc|.u32|.pred", kBarrier),
    needs("barrier.red barrier.cta.red bar.red bar.cta.red", "", ".and|.or|.popc", kBarrier),
    needs("barrier.red barrier.cta.red bar.red bar.cta.red", ".and|.or", ".pred", kBarrier),
    needs("barrier.red barrier.cta.red bar.red bar.cta.red", ".popc", ".u32", kBarrier),
    takes("barrier.sync barrier.arrive barrier.red barrier.cta.sync barrier.cta.arrive barrier.cta.red",
          ".aligned", kBarrier),
    takes("barrier.cta.sync barrier.cta.arrive barrier.cta.red bar.cta.sync bar.cta.arrive bar.cta.red",
          ".cta", kBarrier),
    since("barrier.sync barrier.arrive barrier.red", "", 60, 30, kBarrier),
    since("bar.arrive bar.red", "", 60, 20, kBarrier),
    since("bar.warp.sync", "", 60, 30, kBarrier),
    since("barrier.cta.sync barrier.cta.arrive barrier.cta.red", "", 78, 30, kBarrier),
    since("bar.cta.sync bar.cta.arrive bar.cta.red", "", 78, 20, kBarrier),
    takes("barrier.cluster.arrive barrier.cluster.wait", ".cluster|.aligned", kBarrier),
    takes("barrier.cluster.arrive", ".release|.relaxed", kBarrier),
    takes("barrier.cluster.wait", ".wait|.acquire", kBarrier),
    since("barrier.cluster.arrive barrier.cluster.wait", "", 78, 90, kBarrier),
    since("barrier.cluster.arrive barrier.cluster.wait", "semantics", 80, 90, kBarrier),
    takes("bar.warp.sync", ".warp|.sync", kBarrier),
};

constexpr Signature kSignatures[] = {
    {"fence membar fence.mbarrier_init membar.proxy", "", "", kFence},
    {"fence.proxy", ".tensormap::generic .acquire", "whatever-address 128", kFence},
    {"fence.proxy", "!.tensormap::generic", "", kFence},
    {"fence.proxy", ".tensormap::generic !.acquire", "", kFence},
    {"barrier.sync barrier.cta.sync bar.sync bar.cta.sync", "", "barrier threads?", kBarrier},
    {"barrier.aligned.sync barrier.cta.aligned.sync", "", "barrier threads?", kBarrier},
    {"barrier.arrive barrier.cta.arrive bar.arrive bar.cta.arrive", "", "barrier some-threads", kBarrier},
    {"barrier.red barrier.cta.red bar.red bar.cta.red", "", "d- barrier threads? predicate", kBarrier},
    {"barrier.cluster.arrive barrier.cluster.wait", "", "", kBarrier},
    {"bar.warp.sync", "", "b32", kBarrier},
};

}  // namespace

Chapter fence_chapter() {
  return {kNames, kRules, kSignatures};
}

}  // namespace warpline::ptx
