#include "rtl_models/gpu_switch/multicast_table.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "rtl_models/base/contract.h"

namespace warpline {
namespace {

constexpr std::uint64_t kAlignment = 256;

}  // namespace

bool MulticastTable::is_sound(const MulticastObject& object) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 48U;
  const std::vector<MulticastReplica>& replicas = object.replicas;
  if (object.bytes == 0 || object.bytes > kMost || object.offset > kMost || replicas.empty() ||
      replicas.size() > kMaxReplicas)
    return false;
  for (std::size_t n = 0; n < replicas.size(); ++n) {
    const PhysicalAddress at = replicas[n].physical;
    if (aperture_of(at) != Aperture::vidmem || at.value % kAlignment != 0 || at.value > kMost ||
        (n != 0 && replicas[n - 1].gpu >= replicas[n].gpu))
      return false;
  }
  return true;
}

PhysicalAddress MulticastTable::add(std::uint64_t bytes, std::vector<MulticastReplica> replicas) {
  MulticastObject object;
  if (!objects_.empty()) {
    const std::uint64_t end = objects_.back().offset + objects_.back().bytes;
    object.offset = (end + kAlignment - 1) / kAlignment * kAlignment;
  }
  object.bytes = bytes;
  object.replicas = std::move(replicas);
  WARPLINE_EXPECT(is_sound(object), "each of 1 to 8 replicas lies in the video memory of a GPU of its own");
  objects_.push_back(std::move(object));
  return physical(Aperture::multicast, objects_.back().offset);
}

const MulticastObject* MulticastTable::find(PhysicalAddress line) const {
  if (aperture_of(line) != Aperture::multicast) return nullptr;
  const std::uint64_t offset = offset_in_aperture(line);
  const auto next =
      std::upper_bound(objects_.begin(), objects_.end(), offset,
                       [](std::uint64_t at, const MulticastObject& o) { return at < o.offset; });
  if (next == objects_.begin()) return nullptr;
  const MulticastObject& object = *std::prev(next);
  return offset - object.offset < object.bytes ? &object : nullptr;
}

}  // namespace warpline
