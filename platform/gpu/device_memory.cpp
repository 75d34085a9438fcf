#include "warpline/gpu/device_memory.h"

#include <algorithm>
#include <cstring>

#include "warpline/base/contract.h"

namespace warpline {
namespace {

constexpr std::uint64_t kVidmemBase = 0x7F00'0000'0000ULL;
constexpr std::uint64_t kSysmemBase = 0x7E00'0000'0000ULL;
/// Offsets beyond what map_everything() maps.
constexpr std::uint64_t kUnbackedCode = std::uint64_t{1} << 57U;
constexpr std::uint64_t kUnbackedLocal = std::uint64_t{1} << 58U;

}  // namespace

std::uint64_t DeviceMemory::allocate(const std::string& name, std::uint64_t bytes, Aperture aperture) {
  const bool vidmem = aperture == Aperture::vidmem;
  std::uint64_t& used = vidmem ? vidmem_used_ : sysmem_used_;
  const std::uint64_t size = vidmem ? config_.vidmem_bytes - code_used_ : config_.sysmem_bytes;
  if (bytes > size) return 0;
  const std::uint64_t taken = aligned_down(std::max<std::uint64_t>(bytes, 1) + kBufferAlignment - 1);
  if (taken > size - used) return 0;
  Mapping m;
  m.base = (vidmem ? kVidmemBase : kSysmemBase) + used;
  m.bytes = bytes;
  m.physical = physical(aperture, used);
  if (!name.empty()) {
    buffers_.push_back(name);
    m.region = static_cast<std::uint16_t>(std::min<std::size_t>(buffers_.size(), 0xFFFF));
  }
  used += taken;
  space_.map(m);
  return m.base;
}

std::uint64_t DeviceMemory::code_to_place(const std::string& name, std::uint64_t bytes, bool backed) const {
  if (!backed || code_.count({name, bytes}) != 0) return 0;
  const std::uint64_t end = config_.vidmem_bytes - code_used_;
  return bytes > end ? bytes : end - aligned_down(end - bytes);
}

std::optional<std::uint64_t> DeviceMemory::place_code(const std::string& name, std::uint64_t bytes,
                                                      bool backed) {
  if (const auto known = code_.find({name, bytes}); known != code_.end()) return known->second;
  const std::uint64_t taken = code_to_place(name, bytes, backed);
  if (taken > free_vidmem()) return std::nullopt;
  code_used_ += taken;
  std::uint64_t at = config_.vidmem_bytes - code_used_;
  if (!backed) {
    at = kUnbackedCode + unbacked_code_;
    unbacked_code_ += aligned_down(bytes + kBufferAlignment - 1);
  }
  code_[{name, bytes}] = at;
  return at;
}

std::uint64_t DeviceMemory::local_base(std::uint64_t bytes, bool backed) const {
  return backed ? aligned_down(config_.vidmem_bytes - code_used_ - bytes) : kUnbackedLocal;
}

MemoryImage& DeviceMemory::image(Aperture aperture) {
  const bool vidmem = aperture == Aperture::vidmem;
  std::unique_ptr<MemoryImage>& image = vidmem ? vidmem_ : sysmem_;
  if (image == nullptr)
    image = std::make_unique<MemoryImage>(vidmem ? config_.vidmem_bytes : config_.sysmem_bytes);
  return *image;
}

std::uint8_t* DeviceMemory::host(std::uint64_t address, std::size_t count) {
  const Mapping* hint = nullptr;
  const Mapping* m = space_.find(address, 1, hint);
  WARPLINE_EXPECT(m != nullptr && count <= m->bytes - (address - m->base),
                  "the host touches mapped memory only");
  const PhysicalAddress p{m->physical.value + (address - m->base)};
  return image(aperture_of(p)).at(offset_in_aperture(p));
}

void DeviceMemory::write(std::uint64_t address, const void* bytes, std::size_t count) {
  if (count != 0) std::memcpy(host(address, count), bytes, count);
}

void DeviceMemory::read(std::uint64_t address, void* bytes, std::size_t count) {
  if (count != 0) std::memcpy(bytes, host(address, count), count);
}

void DeviceMemory::write_constant(std::uint64_t address, const void* bytes, std::size_t count) {
  constexpr std::uint64_t kBytes = std::uint64_t{ConstantBanks::kBanks} * ConstantBanks::kBankBytes;
  WARPLINE_EXPECT(address <= kBytes && count <= kBytes - address, "constant addresses lie in the banks");
  if (count != 0) std::memcpy(image(Aperture::vidmem).at(address), bytes, count);
}

}  // namespace warpline
