#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "rtl_models/base/types.h"

namespace warpline {
class ReservedAddresses;
}

namespace warpline::cuda {

/// Memory of a GPU without an address of its own, which a program maps where it likes (CUDA Driver API,
/// "Virtual Memory Management"). It is there as long as the program holds it, or it is mapped.
struct MemoryBlock {
  std::uint64_t bytes = 0;
  unsigned device = 0;
  PhysicalAddress physical;
  unsigned held = 1;             ///< by the program, and by what it is mapped at
  std::uint8_t compression = 0;  ///< as the program asked for; it has no effect
};

/// What of such memory is where: addresses that a program has reserved, blocks, and which of them are mapped
/// at which addresses. It keeps the books alone; the platform maps.
class VirtualMemory {
 public:
  VirtualMemory();
  ~VirtualMemory();
  VirtualMemory(const VirtualMemory&) = delete;
  VirtualMemory& operator=(const VirtualMemory&) = delete;

  /// Sizes and addresses of all of it are multiples of this, bytes.
  static constexpr std::uint64_t kGranularity = std::uint64_t{2} << 20U;

  /// Addresses of this process that nobody has, at `wanted` if that is free. 0: there are none.
  /// `alignment`: a power of two.
  std::uint64_t reserve(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t wanted);
  /// Gives back what reserve() returned. False: it did not, or something is mapped there.
  bool release(std::uint64_t address, std::uint64_t bytes);

  MemoryBlock& add_block(const MemoryBlock& block);
  [[nodiscard]] MemoryBlock* find_block(std::uint64_t handle);
  /// Lets go of a block. True: nobody holds it any more, and it is no longer there.
  bool let_go(MemoryBlock& block);
  [[nodiscard]] static std::uint64_t handle_of(const MemoryBlock& block) {
    return reinterpret_cast<std::uintptr_t>(&block);
  }

  struct Mapped {
    MemoryBlock* block = nullptr;
    /// Of GPUs that have any: CUmemAccess_flags, 1 read, 3 read and write.
    std::map<unsigned, unsigned> access;
  };
  /// Maps a block at an address. False: the addresses are not reserved, or something is mapped there.
  bool map(std::uint64_t address, MemoryBlock& block);
  /// What lies in a range, by address, if it is mappings from the first byte to the last, without gaps;
  /// nothing: it is not.
  [[nodiscard]] std::optional<std::vector<std::uint64_t>> mappings_in(std::uint64_t address,
                                                                      std::uint64_t bytes) const;
  [[nodiscard]] Mapped& mapped_at(std::uint64_t address) { return mapped_.at(address); }
  void unmap(std::uint64_t address) { mapped_.erase(address); }
  /// The mapping that an address lies in, or null.
  [[nodiscard]] const Mapped* find(std::uint64_t address) const;

 private:
  struct Range {
    std::uint64_t bytes = 0;
    std::unique_ptr<ReservedAddresses> addresses;
  };
  [[nodiscard]] bool is_free(std::uint64_t address, std::uint64_t bytes) const;

  std::map<std::uint64_t, Range> reserved_;
  std::map<std::uint64_t, std::unique_ptr<MemoryBlock>> blocks_;  ///< by handle
  std::map<std::uint64_t, Mapped> mapped_;
  std::uint64_t next_;  ///< where addresses are looked for
};

}  // namespace warpline::cuda
