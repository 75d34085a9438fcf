#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/config/gpu_config.h"
#include "platform/machine/reserved_addresses.h"
#include "rtl_models/gpu_switch/multicast_table.h"
#include "rtl_models/pcie/gpu_link/memory_device.h"
#include "rtl_models/sim/memory_image.h"
#include "rtl_models/sm/address_space.h"
#include "rtl_models/sm/address_windows.h"

namespace warpline {

/// The memories of a platform's GPUs as a driver keeps them: where buffers lie, at which addresses programs
/// see them, and the bytes. No address is that of two buffers; one in system or peer memory is mapped on
/// every GPU, one in video memory on the GPU that has it, and a fault on all others to which map_bus_at() has
/// not shown it. Video memory begins with
/// the constant banks, behind which buffers are, with addresses of 47 bits, or of 32 for programs that have
/// no longer ones; it ends with the code of kernels, before which each grid's local memory is. Neither is
/// mapped: a program's pointer to it is a fault.
class GpuMemories {
 public:
  /// `config` outlives it. `in_process`: see RunOptions.
  explicit GpuMemories(const GpuConfig& config, bool in_process = false, bool page_slack = false);

  /// See GpuPlatform::allocate.
  std::uint64_t allocate(const std::string& name, std::uint64_t bytes, Aperture aperture, unsigned gpu);
  /// See GpuPlatform::allocate_below_4g.
  std::uint64_t allocate_below_4g(std::uint64_t bytes, unsigned gpu);
  /// See GpuPlatform::allocate_shared.
  std::uint64_t allocate_shared(std::uint64_t bytes, Aperture aperture, unsigned gpu);
  /// See GpuPlatform::share.
  bool share(std::uint64_t address, std::uint64_t bytes);
  bool unshare(std::uint64_t address);
  /// In a child of the process: what is shared becomes the child's own, as other memory of it is.
  void after_fork();
  /// See GpuPlatform::free.
  bool free(std::uint64_t address);
  /// See GpuPlatform::allocate_unmapped, map_at, map_bus_at, unmap, free_unmapped.
  std::optional<PhysicalAddress> allocate_unmapped(std::uint64_t bytes, unsigned gpu);
  void map_at(std::uint64_t address, std::uint64_t bytes, PhysicalAddress physical, unsigned gpu);
  void map_bus_at(std::uint64_t address, std::uint64_t bytes, std::uint64_t bus, unsigned gpu,
                  bool is_memory);
  bool unmap(std::uint64_t address, unsigned gpu);
  void free_unmapped(PhysicalAddress physical, std::uint64_t bytes, unsigned gpu);
  /// See GpuPlatform::map.
  std::uint64_t map(Aperture aperture, std::uint64_t offset, std::uint64_t bytes, bool prefetchable);
  /// See GpuPlatform::bind_multicast.
  std::uint64_t bind_multicast(const std::string& name, std::uint64_t bytes,
                               const std::vector<std::uint64_t>& replicas);
  [[nodiscard]] const MulticastTable& multicasts() const { return multicasts_; }
  /// See GpuPlatform::name_memory, name_constant.
  void name(std::uint64_t address, const std::string& name) { names_[address] = name; }
  /// A part of a memory as fault records call it.
  struct Named {
    std::uint64_t base = 0;
    std::uint64_t bytes = 0;
    std::string name;
    template <class Archive>
    void archive(Archive& a) {
      a(base, bytes, name);
    }
  };
  /// What lay there before has no name any more.
  void name_constant(unsigned gpu, Named part);
  /// See GpuPlatform::map_everything.
  void map_everything();
  /// Host access by virtual address. Pre: the range is mapped, by one or by several mappings, and no memory
  /// of devices behind a root complex; that of GPUs is mapped on the GPU that has it.
  void write(std::uint64_t address, const void* bytes, std::size_t count);
  void read(std::uint64_t address, void* bytes, std::size_t count);
  /// Where in this process `count` bytes from a virtual address on lie, to be read, or written (`writes`).
  /// Pre: the range is mapped, and contiguous() in memory.
  [[nodiscard]] std::uint8_t* bytes_at(std::uint64_t address, std::size_t count, bool writes);
  /// The GPU in whose video memory an address lies; nothing: it lies elsewhere.
  [[nodiscard]] std::optional<unsigned> vidmem_at(std::uint64_t address) const;
  /// How many of `count` bytes from a virtual address on one mapping holds, which lie next to each other in
  /// memory, too. Pre: the first byte is mapped.
  [[nodiscard]] std::size_t contiguous(std::uint64_t address, std::size_t count) const;
  /// Host access to a GPU's constant banks, by constant address. Pre: the range lies in them.
  void write_constant(unsigned gpu, std::uint64_t address, const void* bytes, std::size_t count);
  /// The offset in video memory, a multiple of 256, of code of this name and size: laid there by the first
  /// call, it stays until forget_code(), so that no address holds other code. Nothing if there is no room.
  /// Not `backed`: in a run without data, code and local memory need no bytes, only addresses that nobody
  /// else has.
  [[nodiscard]] std::optional<std::uint64_t> place_code(unsigned gpu, const std::string& name,
                                                        std::uint64_t bytes, bool backed);
  /// Gives back what all code there took, whose offsets may then be those of other code. Pre: no kernel runs,
  /// and no cache keeps instructions.
  void forget_code(unsigned gpu);
  /// Bytes of video memory that place_code() would take.
  [[nodiscard]] std::uint64_t code_to_place(unsigned gpu, const std::string& name, std::uint64_t bytes,
                                            bool backed) const;
  /// Where local memory of `bytes` bytes begins: right before the code. Pre: there is room, or it is not
  /// backed.
  [[nodiscard]] std::uint64_t local_base(unsigned gpu, std::uint64_t bytes, bool backed) const;

  /// The bytes of a memory, which take room on the host from the first call on.
  [[nodiscard]] MemoryImage& vidmem(unsigned gpu);
  [[nodiscard]] MemoryImage& sysmem();
  /// The peer device's memory; null: there is none.
  [[nodiscard]] MemoryDevice* peer() { return peer_.get(); }
  /// The bytes of an aperture as GPU `gpu` has it. Pre: it has that aperture.
  [[nodiscard]] MemoryImage& image(Aperture aperture, unsigned gpu);
  /// See GpuPlatform.
  [[nodiscard]] std::uint64_t take_slack_used(unsigned gpu) { return gpus_[gpu].space.take_slack_used(); }
  /// What is mapped on a GPU.
  [[nodiscard]] const AddressSpace& space(unsigned gpu) const { return gpus_[gpu].space; }
  [[nodiscard]] unsigned gpus() const { return static_cast<unsigned>(gpus_.size()); }
  /// What fault records call what is mapped; empty: everything is.
  [[nodiscard]] std::string name_of(const Mapping& mapping) const;
  /// The same of what lies at a physical address as GPU `gpu` sees it; empty: nothing is mapped there.
  [[nodiscard]] std::string name_at(unsigned gpu, PhysicalAddress address) const;
  /// The parts of a GPU's constant memory that have a name, by constant address.
  [[nodiscard]] const std::vector<Named>& constants(unsigned gpu) const { return gpus_[gpu].constants; }
  /// Names of the buffers that have one; that at n is region n + 1.
  [[nodiscard]] const std::vector<std::string>& buffers() const { return buffers_; }
  /// Bytes at the end of video memory that neither buffers nor code have.
  [[nodiscard]] std::uint64_t free_vidmem(unsigned gpu) const {
    return config_.vidmem_bytes - gpus_[gpu].buffers.used - gpus_[gpu].code_used;
  }
  /// The same with what free() has left between buffers.
  [[nodiscard]] std::uint64_t unallocated_vidmem(unsigned gpu) const;
  /// What write() and write_constant() have written of a GPU's video memory since the call before: ends of
  /// ranges by where they begin.
  [[nodiscard]] std::map<std::uint64_t, std::uint64_t> take_written(unsigned gpu) {
    return std::exchange(gpus_[gpu].written, {});
  }
  /// Whether any buffer lies beyond the links.
  [[nodiscard]] bool uses_links() const {
    return sysmem_buffers_.used != 0 || peer_buffers_.used != 0 || mapped_end_ != kMappedBase;
  }
  /// The last place at or before `offset` where a buffer may begin.
  [[nodiscard]] static std::uint64_t aligned_down(std::uint64_t offset) {
    return offset & ~(kBufferAlignment - 1);
  }
  template <class Archive>
  void archive(Archive& a) {
    // The bytes are no part of it.
    a.same(gpus_.size(), "GPUs");
    for (Gpu& g : gpus_) a(g.space, g.buffers, g.code, g.code_used, g.unbacked_code, g.written, g.constants);
    a(buffers_, names_, sysmem_buffers_, peer_buffers_, mapped_end_, below_4g_used_, multicasts_);
    for (unsigned gpu = 0; !a.saves() && gpu < gpus(); ++gpu) set_slack(gpu);
  }

 private:
  static constexpr std::uint64_t kBufferAlignment = 256;
  static constexpr std::uint64_t kPage = 4096;
  /// Where map() begins to lay what it maps.
  static constexpr std::uint64_t kMappedBase = 0x7000'0000'0000ULL;
  /// What buffers have of a memory: all from its start up to `used`, but for holes.
  struct Buffers {
    std::uint64_t used = 0;
    std::map<std::uint64_t, std::uint64_t>
        holes;  ///< bytes by offset; never two next to each other, nor at the end

    void release(std::uint64_t offset, std::uint64_t bytes);
    template <class Archive>
    void archive(Archive& a) {
      a(used, holes);
    }
  };
  /// What a GPU has of its own.
  struct Gpu {
    AddressSpace space;
    std::unique_ptr<MemoryImage> vidmem;
    std::uint64_t base = 0;                       ///< virtual address of the first byte of video memory
    std::unique_ptr<ReservedAddresses> reserved;  ///< of its buffers, in a process that shares memory with it
    Buffers buffers{std::uint64_t{ConstantBanks::kBanks} * ConstantBanks::kBankBytes, {}};
    std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> code;  ///< offsets, by name and size
    std::uint64_t code_used = 0;                                          ///< at the end of video memory
    std::uint64_t unbacked_code = 0;
    std::map<std::uint64_t, std::uint64_t> written;  ///< see take_written()
    std::vector<Named> constants;

    /// `count` bytes from `first` on were written.
    void note_write(std::uint64_t first, std::uint64_t count);
  };
  /// A memory as buffers are laid into it.
  struct Room {
    std::uint64_t base;   ///< virtual address of its first byte
    std::uint64_t bytes;  ///< that buffers may have
    Buffers& buffers;
  };
  [[nodiscard]] Room room(Aperture aperture, unsigned gpu);
  /// What a buffer of `bytes` bytes takes of a memory.
  [[nodiscard]] static std::uint64_t taken_by(std::uint64_t bytes);
  /// Takes the next `bytes` bytes of a memory; nothing if there is no room. Where they lie is in `physical`,
  /// and `base` is the address of buffers there.
  [[nodiscard]] std::optional<Mapping> take(std::uint64_t bytes, Aperture aperture, unsigned gpu);
  /// Has programs see it: on one GPU, or what is no video memory on all.
  void map_on_gpus(const Mapping& mapping, unsigned gpu);

  const GpuConfig& config_;
  /// What programs reach around buffers, if they may: whole pages that hold some.
  void set_slack(unsigned gpu);

  const bool in_process_, page_slack_;
  std::vector<Gpu> gpus_;
  std::unique_ptr<MemoryImage> sysmem_;
  std::unique_ptr<MemoryDevice> peer_;
  /// Pages of the process that it shares: what they have of system memory.
  struct Shared {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };
  std::map<std::uint64_t, Shared> shared_;  ///< by virtual address
  std::vector<std::string> buffers_;
  std::map<std::uint64_t, std::string> names_;  ///< by virtual address of the first byte
  Buffers sysmem_buffers_, peer_buffers_;
  std::uint64_t mapped_end_ = kMappedBase;
  MulticastTable multicasts_;
  std::uint64_t below_4g_used_ = 0;  ///< from config.wls_window on, on all GPUs together
};

}  // namespace warpline
