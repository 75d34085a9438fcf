// The video instructions.
#include "platform/programs/ptx_legality/form_book.h"

namespace warpline::ptx {
namespace {

constexpr Form kScalar[] = {
    {"$i32 $i32 $i32 sat?", ">u32 =part =part u32?", 60, 20},
    {"$i32 $i32 $i32 sat? add|min|max", ">u32 =part =part u32", 60, 20},
    {"$i32 $i32 $i32 sat?", "=chosen =part =part u32", 60, 20},
};
constexpr Form kShift[] = {
    {"$i32 $i32 u32 sat? clamp|wrap", ">u32 =part =part u32?", 60, 20},
    {"$i32 $i32 u32 sat? clamp|wrap add|min|max", ">u32 =part =part u32", 60, 20},
    {"$i32 $i32 u32 sat? clamp|wrap", "=chosen =part =part u32", 60, 20},
};
constexpr Form kCompare[] = {
    {"$i32 $i32 $order", ">u32 =part =part u32?", 60, 20},
    {"$i32 $i32 $order add|min|max", ">u32 =part =part u32", 60, 20},
    {"$i32 $i32 $order", "=chosen =part =part u32", 60, 20},
};
constexpr Form kMultiply[] = {
    {"$i32 $i32 $i32 sat? shr7|shr15?", ">u32 =part- =part- u32", 60, 20},
    {"$i32 $i32 $i32 sat? shr7|shr15?", ">u32 =part =part =negative", 60, 20},
    {"$i32 $i32 $i32 po sat? shr7|shr15?", ">u32 =part =part u32", 60, 20},
};
constexpr Form kPairs[] = {
    {"$i32 $i32 $i32 sat?", "=pair-mask =pair =pair u32!", 60, 30},
    {"$i32 $i32 $i32 add", "=pair-mask =pair =pair u32!", 60, 30},
};
constexpr Form kQuads[] = {
    {"$i32 $i32 $i32 sat?", "=quad-mask =quad =quad u32!", 60, 30},
    {"$i32 $i32 $i32 add", "=quad-mask =quad =quad u32!", 60, 30},
};
constexpr Form kComparePairs[] = {{"$i32 $i32 $order add?", "=pair-mask =pair =pair u32!", 60, 30}};
constexpr Form kCompareQuads[] = {{"$i32 $i32 $order add?", "=quad-mask =quad =quad u32!", 60, 30}};

}  // namespace

std::vector<FormFamily> video_forms() {
  return {{"vadd vsub vabsdiff vmin vmax", "", "PTX ISA, vadd", false, kScalar},
          {"vshl vshr", "", "PTX ISA, vshl", false, kShift},
          {"vset", "", "PTX ISA, vset", false, kCompare},
          {"vmad", "", "PTX ISA, vmad", false, kMultiply},
          {"vadd2 vsub2 vavrg2 vabsdiff2 vmin2 vmax2", "", "PTX ISA, vadd2", false, kPairs},
          {"vadd4 vsub4 vavrg4 vabsdiff4 vmin4 vmax4", "", "PTX ISA, vadd4", false, kQuads},
          {"vset2", "", "PTX ISA, vset2", false, kComparePairs},
          {"vset4", "", "PTX ISA, vset4", false, kCompareQuads}};
}

}  // namespace warpline::ptx
