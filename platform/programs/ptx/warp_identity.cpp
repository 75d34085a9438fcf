#include "platform/programs/ptx/warp_identity.h"

namespace warpline::ptx {
namespace {

using R = SpecialRegister;

std::uint32_t thread_coordinate(const WarpIdentity& who, unsigned lane, unsigned axis) {
  const Dim3& block = who.kernel->block;
  const unsigned thread = who.warp * kWarpLanes + lane;
  if (axis == 0) return thread % block.x;
  return axis == 1 ? thread / block.x % block.y : thread / (block.x * block.y);
}

}  // namespace

std::uint64_t special_value(SpecialRegister id, const WarpIdentity& who, unsigned lane) {
  const KernelInfo& k = *who.kernel;
  const LaneMask bit = LaneMask{1} << lane;
  switch (id) {
    case R::tid_x: return thread_coordinate(who, lane, 0);
    case R::tid_y: return thread_coordinate(who, lane, 1);
    case R::tid_z: return thread_coordinate(who, lane, 2);
    case R::ntid_x: return k.block.x;
    case R::ntid_y: return k.block.y;
    case R::ntid_z: return k.block.z;
    case R::clusterid_x:
    case R::ctaid_x: return who.cta.x;
    case R::clusterid_y:
    case R::ctaid_y: return who.cta.y;
    case R::clusterid_z:
    case R::ctaid_z: return who.cta.z;
    case R::nclusterid_x:
    case R::nctaid_x: return k.grid.x;
    case R::nclusterid_y:
    case R::nctaid_y: return k.grid.y;
    case R::nclusterid_z:
    case R::nctaid_z: return k.grid.z;
    case R::zero: return 0;
    case R::one: return 1;
    case R::laneid: return lane;
    case R::warpid: return who.warp;
    case R::nwarpid: return k.warps_per_cta();
    case R::smid: return who.sm;
    case R::nsmid: return who.sms;
    case R::gridid: return 1;
    case R::lanemask_eq: return bit;
    case R::lanemask_lt: return bit - 1;
    case R::lanemask_le: return bit | (bit - 1);
    case R::lanemask_gt: return ~(bit | (bit - 1));
    case R::lanemask_ge: return ~(bit - 1);
    case R::dynamic_smem_size: return who.dynamic_shared_bytes;
    case R::total_smem_size: return k.shared_bytes;
  }
  return 0;
}

}  // namespace warpline::ptx
