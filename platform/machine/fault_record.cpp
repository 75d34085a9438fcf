#include "platform/machine/fault_record.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "platform/machine/gpu_memories.h"
#include "rtl_models/base/bits.h"
#include "rtl_models/base/text.h"
#include "rtl_models/sm/address_windows.h"
#include "rtl_models/sm/fault.h"
#include "rtl_models/sm/image_table.h"

namespace warpline {
namespace {

const char* access_word(const MemOp& op) {
  switch (op.kind) {
    case MemKind::load: return "load";
    case MemKind::store: return "store";
    case MemKind::atomic: return "atomic";
    case MemKind::reduction: return "reduction";
    case MemKind::prefetch:
    case MemKind::prefetch_uniform: return "prefetch";
    case MemKind::async_copy: return "asynchronous copy";
    case MemKind::fence:
    case MemKind::proxy_fence: return "fence";
    case MemKind::apply_priority: return "applypriority";
    case MemKind::discard: return "discard";
    case MemKind::cache_control: return "cache control";
    case MemKind::texture_load: return "texture load";
    case MemKind::surface_load: return "surface load";
    case MemKind::surface_store: return "surface store";
    case MemKind::mbarrier: return "mbarrier operation";
    case MemKind::bulk_copy: return "bulk copy";
    case MemKind::image_query: return "query";
    case MemKind::async_store:
      return op.atomic == AtomicOperation::none ? "asynchronous store" : "asynchronous reduction";
    case MemKind::fill: return "fill";
  }
  return "";
}

/// Looks for the memory that an address lies in or is nearest to; of two as near, for the one offered first.
class Nearest {
 public:
  /// What is `within` bytes away or farther is not near.
  Nearest(std::uint64_t address, std::uint64_t within) : address_(address), nearest_(within) {}
  void offer(std::uint64_t base, std::uint64_t bytes, const std::string& name) {
    const std::uint64_t end = base + bytes;
    const std::uint64_t far = address_ < base ? base - address_ : address_ < end ? 0 : address_ - end;
    if (far >= nearest_ || name.empty()) return;
    nearest_ = far;
    found_ = {base, bytes, name};
  }
  void tell(FaultRecord& r) const {
    if (found_.name.empty()) return;
    r.memory = found_.name;
    r.memory_bytes = found_.bytes;
    r.offset = static_cast<std::int64_t>(address_ - found_.base);
  }
  [[nodiscard]] bool found() const { return !found_.name.empty(); }

 private:
  std::uint64_t address_;
  std::uint64_t nearest_;
  GpuMemories::Named found_;
};

/// What the GPU has mapped goes before what others have. A null pointer, even with an index, is near nothing.
void find_global(FaultRecord& r, std::uint64_t address, const GpuMemories& memory) {
  constexpr std::uint64_t kNear = std::uint64_t{1} << 36U, kNull = std::uint64_t{1} << 16U;
  Nearest nearest(address, address < kNull ? 1 : kNear);
  const auto offer = [&](unsigned gpu, const std::string& whose) {
    for (const Mapping& m : memory.space(gpu).mappings())
      if (const std::string name = memory.name_of(m); !name.empty())
        nearest.offer(m.base, m.bytes, name + whose);
  };
  offer(r.gpu, "");
  for (unsigned gpu = 0; gpu < memory.gpus(); ++gpu)
    if (gpu != r.gpu) offer(gpu, " of GPU " + std::to_string(gpu));
  nearest.tell(r);
}

/// `parameters`: bytes of the kernel's.
void find_constant(FaultRecord& r, std::uint64_t address, std::uint64_t parameters,
                   const GpuMemories& memory) {
  Nearest nearest(address, ConstantBanks::kBankBytes);
  for (const GpuMemories::Named& n : memory.constants(r.gpu)) nearest.offer(n.base, n.bytes, n.name);
  if (parameters != 0)
    nearest.offer(ConstantBanks::address(ConstantBanks::kParameterBank, ConstantBanks::kParameterOffset),
                  parameters, "the kernel's parameters");
  if (!nearest.found()) {
    nearest = Nearest(address, ~std::uint64_t{0});
    nearest.offer(0, ConstantBanks::kBanks * ConstantBanks::kBankBytes, "the constant banks");
  }
  nearest.tell(r);
}

/// Memory that begins at 0 and has addresses of 32 bits, as offsets before its start show them, too.
void is_in(FaultRecord& r, std::uint64_t at, const std::string& name, std::uint64_t bytes) {
  constexpr std::uint64_t kNegative = std::uint64_t{1} << 31U, kEnd = std::uint64_t{1} << 32U;
  r.memory = name;
  r.memory_bytes = bytes;
  r.offset = static_cast<std::int64_t>(at >= kNegative && at < kEnd ? at - kEnd : at);
}

/// The texel that a coordinate of a texture load lies in; of those that are integers the coordinate itself.
std::int32_t texel_of(std::int32_t coordinate, bool is_float, bool normalized, std::uint32_t size) {
  if (!is_float) return coordinate;
  const auto number = static_cast<double>(bits_as<float>(static_cast<std::uint32_t>(coordinate)));
  const double texel = std::floor(normalized ? number * size : number);
  constexpr double kMost = std::numeric_limits<std::int32_t>::max();
  return std::isnan(texel) ? 0 : static_cast<std::int32_t>(std::clamp(texel, -kMost, kMost));
}

/// "45 by 21 elements", "8 by 8 by 4 elements", "8 by 8 elements in 3 layers".
std::string size_words(const Image& image) {
  std::string text = std::to_string(image.width) + " by " + std::to_string(image.height);
  if (image.depth > 1) text += " by " + std::to_string(image.depth);
  text += " elements";
  const std::uint32_t slices = image.slices();
  return slices == 1 ? text : text + " in " + counted(slices, image.cube ? "face" : "layer");
}

/// `handle`: of a texture or surface; that of none leaves the record without memory.
void find_image(FaultRecord& r, std::uint64_t handle, const std::optional<ImageCoordinates>& at, bool floats,
                const GpuMemories& memory, const ImageTable& images) {
  const Image* const image = images.find(handle);
  if (image == nullptr) return;
  FaultRecord first;
  first.gpu = r.gpu;
  find_global(first, image->address, memory);
  r.memory = std::string(image->is_surface ? "the surface" : "the texture") + " of " + size_words(*image) +
             (first.memory.empty() ? "" : " in " + first.memory);
  r.memory_bytes = image->bytes();
  if (at) {
    const bool normalized = image->sampler.normalized_coordinates;
    r.coordinates = std::array<std::int32_t, 2>{texel_of(at->x, floats, normalized, image->width),
                                                texel_of(at->y, floats, normalized, image->height)};
    if (image->depth > 1)
      r.slice = static_cast<std::uint32_t>(texel_of(at->z, floats, normalized, image->depth));
    if (image->layers != 0) r.slice = at->layer;
  }
  if (!image->is_surface && r.bytes == 0) r.bytes = image->format.bytes();
}

}  // namespace

FaultRecord fault_record(const FaultReport& report, unsigned gpu, unsigned sm, const GpuMemories& memory,
                         const ImageTable& images) {
  const Fault& f = report.fault;
  FaultRecord r;
  r.kind = report.kind;
  r.cycle = f.cycle;
  r.gpu = gpu;
  r.sm = sm;
  r.warp = f.slot;
  r.cta = report.cta;
  r.lane = f.lane;
  r.where = report.where;
  r.thread = report.thread;
  if (!f.has_address) return r;
  r.address = f.address;
  if (report.access) {
    r.access = access_word(*report.access);
    r.bytes = f.bytes;
  } else if (f.kind == FaultKind::no_code || f.space == Space::local) {
    return r;  // code, which is no memory of the program's, or the call-return stack
  }
  const Space space = f.space == Space::generic ? AddressWindows::space_of(f.address) : f.space;
  const std::uint64_t at =
      f.space == Space::generic ? AddressWindows::from_generic(space, f.address) : f.address;
  switch (space) {
    case Space::generic:
    case Space::global: find_global(r, at, memory); break;
    case Space::shared: is_in(r, at, "the block's shared memory", report.limit); break;
    case Space::shared_cluster: {
      const std::uint64_t code = AddressWindows::rank_code(at);
      const std::string whose =
          code == 0 ? "the block's shared memory"
                    : "the shared memory of block " + std::to_string(code - 1) + " of the cluster";
      is_in(r, AddressWindows::own_offset(at), whose, report.limit);
      break;
    }
    case Space::local: is_in(r, at, "the thread's local memory", report.limit); break;
    case Space::param: is_in(r, at, "the kernel's parameters", report.limit); break;
    case Space::constant: find_constant(r, at, report.limit, memory); break;
    case Space::texture:
    case Space::surface:
      find_image(r, at, f.coordinates, report.access && report.access->image.float_coordinates, memory,
                 images);
      break;
  }
  return r;
}

std::string distance_text(const FaultRecord& f) {
  if (f.memory.empty()) return {};
  if (f.coordinates) {
    const auto& [x, row] = *f.coordinates;
    return (f.access.compare(0, 7, "texture") == 0 ? "at texel " : "at byte ") + std::to_string(x) +
           " of row " + std::to_string(row) + (f.slice ? " of slice " + std::to_string(*f.slice) : "") +
           " of " + f.memory;
  }
  if (f.offset < 0) {
    const std::uint64_t before = 0 - static_cast<std::uint64_t>(f.offset);
    return counted(before, "byte") + " before the start of " + f.memory;
  }
  const auto at = static_cast<std::uint64_t>(f.offset);
  if (at == f.memory_bytes) return "just past the end of " + f.memory;
  if (at > f.memory_bytes) return counted(at - f.memory_bytes, "byte") + " past the end of " + f.memory;
  if (at + f.bytes > f.memory_bytes)
    return "the last " + counted(at + f.bytes - f.memory_bytes, "byte") + " past the end of " + f.memory;
  return at == 0 ? "at the start of " + f.memory : counted(at, "byte") + " into " + f.memory;
}

std::string access_text(const FaultRecord& f) {
  if (f.access.empty()) return {};
  std::string out = (f.access[0] == 'a' ? "an " : "a ") + f.access;
  if (f.bytes != 0) out += " of " + counted(f.bytes, "byte");
  return out;
}

}  // namespace warpline
