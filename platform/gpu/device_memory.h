#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "warpline/config/gpu_config.h"
#include "warpline/fabric/memory_image.h"
#include "warpline/sm/address_space.h"
#include "warpline/sm/address_windows.h"

namespace warpline {

/// The memories of one GPU as a driver keeps them: where its buffers lie, at which addresses programs see
/// them, and the bytes. Video memory begins with the constant banks, behind which buffers are; it ends with
/// the code of kernels, before which each grid's local memory is. Neither is mapped: a program's pointer to
/// it is a fault.
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
  /// The offset in video memory, a multiple of 256, of code of this name and size: laid there by the first
  /// call, it stays, so that no address ever holds other code. Nothing if there is no room. Not `backed`: in
  /// a run without data, code and local memory need no bytes, only addresses that nobody else has.
  [[nodiscard]] std::optional<std::uint64_t> place_code(const std::string& name, std::uint64_t bytes,
                                                        bool backed);
  /// Bytes of video memory that place_code() would take.
  [[nodiscard]] std::uint64_t code_to_place(const std::string& name, std::uint64_t bytes, bool backed) const;
  /// Where local memory of `bytes` bytes begins: right before the code. Pre: there is room, or it is not
  /// backed.
  [[nodiscard]] std::uint64_t local_base(std::uint64_t bytes, bool backed) const;

  /// The bytes of an aperture, vidmem or sysmem, which take room on the host from the first call on.
  [[nodiscard]] MemoryImage& image(Aperture aperture);
  [[nodiscard]] const AddressSpace& space() const { return space_; }
  /// Names of the buffers that have one; that at n is region n + 1.
  [[nodiscard]] const std::vector<std::string>& buffers() const { return buffers_; }
  /// Bytes of video memory that neither buffers nor code have.
  [[nodiscard]] std::uint64_t free_vidmem() const { return config_.vidmem_bytes - vidmem_used_ - code_used_; }
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
  std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> code_;  ///< offsets, by name and size
  std::uint64_t code_used_ = 0;                                          ///< at the end of video memory
  std::uint64_t unbacked_code_ = 0;
};

}  // namespace warpline
