// mbarriers, clusters, dependent launch, and what else orders threads and grids.
#include "platform/programs/ptx_legality/form_book.h"

namespace warpline::ptx {
namespace {

constexpr char kTenA[] = "100a 100f 101a 101f 103a 103f 110a 110f 120a 120f 121a 121f";
constexpr char kNineA[] = "90a 100a 100f 101a 101f 103a 103f 110a 110f 120a 120f 121a 121f";

constexpr Form kBarrier[] = {
    {"^init b64 $cta?", "=mbarrier u32", 70, 80},
    {"^inval b64 $cta?", "=mbarrier", 70, 80},
    {"^expect_tx|complete_tx b64 $shared?", "=mbarrier u32", 80, 90},
    {"^expect_tx|complete_tx relaxed $scope b64 $shared?", "=mbarrier u32", 80, 90},
    {"^arrive|arrive_drop b64 $cta?", ">u64 =mbarrier", 70, 80},
    {"^arrive b64 $cta?", "_ =mbarrier", 71, 80},
    {"^arrive_drop b64 $cta?", "_ =mbarrier", 70, 80},
    {"^arrive|arrive_drop b64 $cta?", ">u64|_ =mbarrier u32|u32*1", 78, 90},
    {"^arrive|arrive_drop release cta b64 $cta?", ">u64|_ =mbarrier", 80, 80},
    {"^arrive|arrive_drop release $scope b64 $cta?", ">u64|_ =mbarrier u32|u32*1?", 80, 90},
    {"^arrive|arrive_drop relaxed $scope b64 $cta?", ">u64|_ =mbarrier u32|u32*1?", 86, 90},
    {"^arrive|arrive_drop ^expect_tx b64 $cta?", ">u64|_ =mbarrier u32", 80, 90},
    {"^arrive|arrive_drop ^expect_tx release $scope b64 $cta?", ">u64|_ =mbarrier u32", 80, 90},
    {"^arrive|arrive_drop ^expect_tx relaxed $scope b64 $cta?", ">u64|_ =mbarrier u32", 86, 90},
    {"^arrive|arrive_drop noComplete b64 $cta?", ">u64 =mbarrier u32|u32*1", 70, 80},
    {"^arrive noComplete b64 $cta?", "_ =mbarrier u32|u32*1", 71, 80},
    {"^arrive_drop noComplete b64 $cta?", "_ =mbarrier u32|u32*1", 70, 80},
    {"^arrive|arrive_drop noComplete release cta b64 $cta?", ">u64|_ =mbarrier u32|u32*1", 80, 80},
    {"^arrive|arrive_drop shared::cluster b64", "_ =mbarrier u32|u32*1?", 80, 90},
    {"^arrive|arrive_drop release $scope shared::cluster b64", "_ =mbarrier u32|u32*1?", 80, 90},
    {"^arrive|arrive_drop relaxed $scope shared::cluster b64", "_ =mbarrier u32|u32*1?", 86, 90},
    {"^arrive|arrive_drop ^expect_tx shared::cluster b64", "_ =mbarrier u32", 80, 90},
    {"^arrive|arrive_drop ^expect_tx release $scope shared::cluster b64", "_ =mbarrier u32", 80, 90},
    {"^arrive|arrive_drop ^expect_tx relaxed $scope shared::cluster b64", "_ =mbarrier u32", 86, 90},
    {"^test_wait b64 $cta?", ">pred =mbarrier u64", 70, 80},
    {"^test_wait acquire cta b64 $cta?", ">pred =mbarrier u64", 80, 80},
    {"^test_wait acquire cluster b64 $cta?", ">pred =mbarrier u64", 80, 90},
    {"^test_wait relaxed $scope b64 $cta?", ">pred =mbarrier u64", 86, 90},
    {"^test_wait ^parity b64 $cta?", ">pred =mbarrier u32!|int<2", 71, 80},
    {"^test_wait ^parity acquire cta b64 $cta?", ">pred =mbarrier u32!|int<2", 80, 80},
    {"^test_wait ^parity acquire cluster b64 $cta?", ">pred =mbarrier u32!|int<2", 80, 90},
    {"^test_wait ^parity relaxed $scope b64 $cta?", ">pred =mbarrier u32!|int<2", 86, 90},
    {"^try_wait b64 $cta?", ">pred =mbarrier u64 u32?", 78, 90},
    {"^try_wait acquire $scope b64 $cta?", ">pred =mbarrier u64 u32?", 80, 90},
    {"^try_wait relaxed $scope b64 $cta?", ">pred =mbarrier u64 u32?", 86, 90},
    {"^try_wait ^parity b64 $cta?", ">pred =mbarrier u32!|int<2 u32?", 78, 90},
    {"^try_wait ^parity acquire $scope b64 $cta?", ">pred =mbarrier u32!|int<2 u32?", 80, 90},
    {"^try_wait ^parity relaxed $scope b64 $cta?", ">pred =mbarrier u32!|int<2 u32?", 86, 90},
    {"^pending_count b64", ">u32 u64", 70, 80},
};

constexpr Form kMap[] = {
    {"shared::cluster? u32|s32", ">u32 =mapped u32", 78, 90},
    {"shared::cluster? u64|s64", ">u64 =mapped u32", 78, 90},
};
constexpr Form kRank[] = {
    {"shared::cluster? u32|u64|s32|s64", ">u32 =mapped", 78, 90},
};
constexpr Form kDependent[] = {{"^wait|launch_dependents", "", 78, 90}};
constexpr Form kRegisters[] = {{"^inc|dec sync aligned u32", "=registers", 80, 90, kNineA}};
constexpr Form kElect[] = {{"sync", "u32/>pred u32", 80, 90}};
constexpr Form kLaunchControl[] = {
    {"^try_cancel ^async $cta? mbarrier::complete_tx::bytes b128", "=matrix =matrix", 86, 100},
    {"^try_cancel ^async $cta? mbarrier::complete_tx::bytes multicast::cluster::all b128", "=matrix =matrix",
     86, 100, kTenA},
    {"^query_cancel is_canceled pred b128", ">pred b128", 86, 100},
    {"^query_cancel get_first_ctaid v4 b32 b128", ">b32*4_ b128", 86, 100},
    {"^query_cancel get_first_ctaid::x|get_first_ctaid::y|get_first_ctaid::z b32 b128", ">b32 b128|b128*1",
     86, 100},
};

}  // namespace

std::vector<FormFamily> synchronization_forms() {
  return {{"mbarrier", "", "PTX ISA, mbarrier", true, kBarrier},
          {"mapa", "", "PTX ISA, mapa", false, kMap},
          {"getctarank", "", "PTX ISA, getctarank", false, kRank},
          {"griddepcontrol", "", "PTX ISA, griddepcontrol", false, kDependent},
          {"setmaxnreg", "", "PTX ISA, setmaxnreg", false, kRegisters},
          {"elect", "", "PTX ISA, elect.sync", false, kElect},
          {"clusterlaunchcontrol", "", "PTX ISA, clusterlaunchcontrol", true, kLaunchControl}};
}

}  // namespace warpline::ptx
