#include "rtl_models/sm/answer_scatter.h"

#include <algorithm>

#include "rtl_models/sim/atomics.h"
#include "rtl_models/sim/cluster_address.h"
#include "rtl_models/sm/coalescer.h"

namespace warpline {
namespace {

void scatter_old_values(const AtomicBlock& block, unsigned bytes, MemoryAccess& to) {
  for (unsigned i = 0; i < block.count; ++i) {
    const LaneAtomic& part = block.lanes[i];
    gather_value(to.lane_data(part.lane), part.old_value, block.high[i].old_value, bytes);
  }
}

void scatter_local(const Request& r, const ResolvedAccess& access, unsigned bytes, MemoryAccess& to) {
  const unsigned piece = std::min(bytes, 4U);
  access.local().for_each([&](unsigned lane, LocalAddress first) {
    for (unsigned word = 0; word * 4 < bytes; ++word) {
      const LocalAddress at{first.value + std::uint64_t{word} * 4};
      const std::uint64_t offset = local_address(access.local_base(), at, lane).value - r.virtual_line.value;
      if (offset < kLineBytes)
        __builtin_memcpy(to.lane_data(lane) + std::size_t{word} * 4, &r.data[offset], piece);
    }
  });
}

/// Whether the answer has the bytes at `at`. Lanes of another image over the same line may have asked for
/// other sectors of it, which this answer leaves undefined.
bool answers(const Request& r, VirtualAddress at) {
  const std::uint64_t offset = at.value - r.virtual_line.value;
  return offset < kLineBytes && (r.sectors >> offset / kSectorBytes & 1U) != 0;
}

void scatter_elements(const Request& r, const ResolvedAccess& access, unsigned bytes, MemoryAccess& to) {
  access.texels().for_each([&](unsigned lane, VirtualAddress at) {
    if (answers(r, at)) __builtin_memcpy(to.lane_data(lane), &r.data[at.value - r.virtual_line.value], bytes);
  });
}

void scatter_texels(const Request& r, const ResolvedAccess& access, FetchedTexels& to) {
  for_each_lane(access.texels().lanes(), [&](unsigned lane) {
    const TexelPlan& plan = access.plan(lane);
    for (unsigned k = 0; k < plan.count; ++k) {
      if (plan.offset[k] == TexelPlan::kBorder) continue;
      const VirtualAddress at = access.texel(lane, k);
      if (answers(r, at))
        __builtin_memcpy(to[lane][k].data(), &r.data[at.value - r.virtual_line.value],
                         access.image(lane).format.bytes());
    }
  });
}

/// The answer to a query of `lane`, whose operand for it lies where a load's data would.
std::uint32_t answer_of(const ResolvedAccess& access, unsigned lane) {
  const ImageForm& form = access.op().image;
  const Image* const image = access.asked(lane);
  if (image == nullptr) return 0;
  std::uint32_t level = 0;
  if (form.sampling == Sampling::level)
    __builtin_memcpy(&level, access.written().lane_data(lane), sizeof level);
  return answer_query(form.query, *image, level);
}

/// Pre: the warp's addresses are contiguous, and lanes of it lie in the line.
template <class Size>
void scatter_contiguous(const Request& r, std::uint64_t first, Size bytes, MemoryAccess& to) {
  const std::uint64_t line = r.virtual_line.value;
  const std::uint64_t before = line > first ? (line - first) / bytes : 0;
  const std::uint64_t end = std::min<std::uint64_t>(kWarpLanes, (line + kLineBytes - first) / bytes);
  const std::uint8_t* from = r.data.data() + (first + before * bytes - line);
  for (auto lane = static_cast<unsigned>(before); lane < end; ++lane, from += bytes)
    __builtin_memcpy(to.lane_data(lane), from, bytes);
}

template <class Address>
void scatter_bytes(const Request& r, const LaneAddresses<Address>& addresses, unsigned bytes,
                   MemoryAccess& to) {
  with_size(bytes, [&](auto size) {
    if (addresses.contiguous(bytes)) return scatter_contiguous(r, addresses[0].value, size, to);
    addresses.for_each([&](unsigned lane, Address at) {
      const std::uint64_t offset = at.value - r.virtual_line.value;
      if (offset < kLineBytes) __builtin_memcpy(to.lane_data(lane), &r.data[offset], size);
    });
  });
}

/// The copies that read this line. They take no turn at the banks.
void land_copies(const Request& r, const ResolvedAccess& access, unsigned bytes, const LaneResults& to) {
  access.global().for_each([&](unsigned lane, VirtualAddress at) {
    const std::uint64_t offset = at.value - r.virtual_line.value;
    if (offset < kLineBytes)
      to.shared.fill(to.shared_base + access.copy_target(lane).value, &r.data[offset],
                     access.source_bytes(lane), bytes);
  });
}

}  // namespace

void scatter(const Request& r, const ResolvedAccess& access, unsigned exact_lane, const LaneResults& to) {
  const MemOp& op = access.op();
  const unsigned bytes = op.bytes_per_lane();
  if (op.kind == MemKind::async_copy) return land_copies(r, access, bytes, to);
  if (!op.reads()) return;
  if (r.command == Command::atomic) {
    // What is asked of others' mbarriers answers no state.
    if (!r.atomics->of_mbarriers) scatter_old_values(*r.atomics, bytes, to.registers);
    return;
  }
  if (access.exact())
    return scatter_bytes(r, access.global().only(LaneMask{1} << exact_lane), bytes, to.registers);
  if (r.local) return scatter_local(r, access, bytes, to.registers);
  if (ClusterAddress::is(r.line)) return scatter_bytes(r, access.remote(), bytes, to.registers);
  if (op.kind == MemKind::texture_load) return scatter_texels(r, access, *to.texels);
  if (op.kind == MemKind::surface_load) return scatter_elements(r, access, bytes, to.registers);
  if (access.is_of_constants(r.virtual_line)) return scatter_bytes(r, access.constant(), bytes, to.registers);
  scatter_bytes(r, access.global(), bytes, to.registers);
}

void combine(const ResolvedAccess& access, const LaneResults& to) {
  for_each_lane(access.texels().lanes(), [&](unsigned lane) {
    std::uint8_t* const data = to.registers.lane_data(lane);
    SampleOperands operands;
    if (access.op().image.compares) __builtin_memcpy(&operands, data, sizeof operands);
    combine_texels(access.op(), access.image(lane), access.plan(lane), (*to.texels)[lane], operands.reference,
                   data);
  });
}

void scatter_zeros(const ResolvedAccess& access, const LaneResults& to) {
  const MemOp& op = access.op();
  if (op.kind == MemKind::image_query) {
    for_each_lane(access.nowhere(), [&](unsigned lane) {
      const std::uint32_t answer = answer_of(access, lane);
      __builtin_memcpy(to.registers.lane_data(lane), &answer, sizeof answer);
    });
    return;
  }
  const bool copies = op.kind == MemKind::async_copy;
  if (!copies && op.kind != MemKind::surface_load) return;
  for_each_lane(access.nowhere(), [&](unsigned lane) {
    if (copies) {
      to.shared.fill(to.shared_base + access.copy_target(lane).value, nullptr, 0, op.bytes_per_lane());
    } else {
      std::fill_n(to.registers.lane_data(lane), op.bytes_per_lane(), std::uint8_t{0});
    }
  });
}

}  // namespace warpline
