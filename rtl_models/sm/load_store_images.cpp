// Textures and surfaces: from coordinates to addresses, and from texels to registers.
#include <algorithm>

#include "warpline/sm/load_store_unit.h"

namespace warpline {
namespace {

/// Of a lane that accesses nothing: no line holds it.
constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

}  // namespace

/// Turns the lanes' handles and coordinates into addresses; the handles move to `second`. Lanes beyond a
/// surface that access nothing leave head_.image, and read zeros.
std::optional<Fault> LoadStoreUnit::locate_texels(Entry& e) {
  for (LaneMask m = e.access.active; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    const std::uint64_t handle = e.access.address[lane];
    const Image* image = map_.images == nullptr ? nullptr : map_.images->find(handle);
    const bool surface = e.instruction->mem.kind != MemKind::texture_load;
    if (image == nullptr || image->is_surface != surface)
      return Fault{surface ? FaultKind::no_surface : FaultKind::no_texture, 0, 0, lane, handle, nullptr};
    const auto place = ImageCoordinates::of(e.access.second[lane]);
    const auto fault =
        surface ? locate_element(e, lane, *image, place) : locate_texel(e, lane, *image, place);
    if (fault) return Fault{*fault, 0, 0, lane, handle, nullptr};
    e.access.second[lane] = handle;
  }
  return std::nullopt;
}

/// Point sampling of unnormalised coordinates; beyond the edge lies the edge.
std::optional<FaultKind> LoadStoreUnit::locate_texel(Entry& e, unsigned lane, const Image& image,
                                                     ImageCoordinates place) {
  if (is_float(image.format.type) != is_float(e.instruction->mem.type)) return FaultKind::texel_type;
  const auto within = [](std::int32_t at, std::uint32_t size) {
    return static_cast<std::uint64_t>(std::clamp<std::int64_t>(at, 0, std::int64_t{size} - 1));
  };
  e.access.address[lane] = image.address + within(place.y, image.height) * image.row_bytes() +
                           within(place.x, image.width) * image.format.bytes();
  return std::nullopt;
}

/// The first coordinate of a surface counts bytes, not elements.
std::optional<FaultKind> LoadStoreUnit::locate_element(Entry& e, unsigned lane, const Image& image,
                                                       ImageCoordinates place) {
  const MemOp& op = e.instruction->mem;
  const std::int64_t bytes = op.bytes_per_lane();
  const std::int64_t last_x = static_cast<std::int64_t>(image.row_bytes()) - bytes;
  const std::int64_t last_y = std::int64_t{image.height} - 1;
  std::int64_t x = place.x, y = place.y;
  if (last_x < 0 || x < 0 || x > last_x || y < 0 || y > last_y) {
    if (op.beyond_edge == BeyondEdge::trap || (op.beyond_edge == BeyondEdge::clamp && last_x < 0))
      return FaultKind::surface_range;
    if (op.beyond_edge == BeyondEdge::zero) {
      head_.image &= ~(LaneMask{1} << lane);
      e.access.address[lane] = kNowhere;
      if (op.kind == MemKind::surface_load && map_.with_data) std::fill_n(e.access.lane_data(lane), bytes, 0);
      return std::nullopt;
    }
    x = std::clamp<std::int64_t>(x, 0, last_x);
    y = std::clamp<std::int64_t>(y, 0, last_y);
  }
  e.access.address[lane] =
      image.address + static_cast<std::uint64_t>(y) * image.row_bytes() + static_cast<std::uint64_t>(x);
  return x % bytes != 0 || image.row_bytes() % bytes != 0 ? std::make_optional(FaultKind::misaligned)
                                                          : std::nullopt;
}

/// Starts the coalescer on the lanes that use the same image as the first of those left.
void LoadStoreUnit::start_image(const Entry& e) {
  const std::uint64_t handle = e.access.second[__builtin_ctz(head_.image)];
  LaneMask lanes = 0;
  for (LaneMask m = head_.image; m != 0; m &= m - 1)
    if (e.access.second[__builtin_ctz(m)] == handle) lanes |= m & -m;
  const bool texture = e.instruction->mem.kind == MemKind::texture_load;
  const unsigned bytes =
      texture ? map_.images->find(handle)->format.bytes() : e.instruction->mem.bytes_per_lane();
  head_.space = Space::texture;
  head_.coalescer.start(e.access, lanes, bytes);
  head_.image &= ~lanes;
}

/// What an answer brings for the lanes that asked for it: texels as four registers of each lane, elements of
/// surfaces as they lie. Lanes of another image over the same line may have asked for other sectors of it,
/// which this answer leaves undefined.
void LoadStoreUnit::scatter_image(Entry& e, const Request& r) {
  const MemOp& op = e.instruction->mem;
  for (LaneMask m = e.access.active; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    const std::uint64_t offset = e.access.address[lane] - r.virtual_line.value;
    if (offset >= kLineBytes || (r.sectors >> offset / kSectorBytes & 1U) == 0) continue;
    if (op.kind == MemKind::surface_load) {
      __builtin_memcpy(e.access.lane_data(lane), &r.data[offset], op.bytes_per_lane());
      continue;
    }
    const auto texel = components_of(map_.images->find(e.access.second[lane])->format, &r.data[offset]);
    __builtin_memcpy(e.access.lane_data(lane), texel.data(), sizeof texel);
  }
}

}  // namespace warpline
