#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "warpline/config/gpu_config.h"
#include "warpline/fabric/memory_image.h"
#include "warpline/sm/address_space.h"
#include "warpline/sm/address_windows.h"

namespace warpline {

/// The memories of one GPU as a driver keeps them: where its buffers lie, at which addresses programs see
/// them, and the bytes. Video memory begins with the constant banks.
class DeviceMemory {
 public:
  /// `config` outlives it.
  explicit DeviceMemory(const GpuConfig& config) : config_(config) {}

  /// See GpuPlatform::allocate.
  std::uint64_t allocate(const std::string& name, std::uint64_t bytes, Aperture aperture);
  /// See GpuPlatform::map_everything.
  void map_everything() { space_.map_everything(); }
  /// Host access by virtual address. Pre: the range is mapped.
  void write(std::uint64_t address, const void* bytes, std::size_t count);
  void read(std::uint64_t address, void* bytes, std::size_t count);
  /// Host access to the constant banks, by constant address. Pre: the range lies in them.
  void write_constant(std::uint64_t address, const void* bytes, std::size_t count);

  /// The bytes of an aperture, vidmem or sysmem, which take room on the host from the first call on.
  [[nodiscard]] MemoryImage& image(Aperture aperture);
  [[nodiscard]] const AddressSpace& space() const { return space_; }
  /// Names of the buffers that have one; that at n is region n + 1.
  [[nodiscard]] const std::vector<std::string>& buffers() const { return buffers_; }
  /// Bytes of video memory that no buffer has.
  [[nodiscard]] std::uint64_t free_vidmem() const { return config_.vidmem_bytes - vidmem_used_; }
  [[nodiscard]] bool uses_sysmem() const { return sysmem_used_ != 0; }
  /// The last place at or before `offset` where a buffer may begin.
  [[nodiscard]] static std::uint64_t aligned_down(std::uint64_t offset) {
    return offset & ~(kBufferAlignment - 1);
  }

 private:
  static constexpr std::uint64_t kBufferAlignment = 256;
  [[nodiscard]] std::uint8_t* host(std::uint64_t address, std::size_t count);

  const GpuConfig& config_;
  AddressSpace space_;
  std::unique_ptr<MemoryImage> vidmem_, sysmem_;
  std::vector<std::string> buffers_;
  std::uint64_t vidmem_used_ = std::uint64_t{ConstantBanks::kBanks} * ConstantBanks::kBankBytes;
  std::uint64_t sysmem_used_ = 0;
};

}  // namespace warpline
