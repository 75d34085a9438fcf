#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "rtl_models/base/types.h"

namespace warpline {

/// What there is to know of the memory behind a mapping.
enum class MappingKind : std::uint8_t {
  memory,
  uncached,  ///< a BAR that is not prefetchable: every load and store is as if it were `.mmio`
  /// Memory of several GPUs at once (MulticastTable): `multimem` alone accesses it, and nothing else.
  multicast,
};

/// A run of virtual addresses that is mapped to one run of physical addresses.
struct Mapping {
  std::uint64_t base = 0;   ///< the first virtual address, a multiple of 256
  std::uint64_t bytes = 0;  ///< exact: one past the end is unmapped
  PhysicalAddress physical;
  std::uint16_t region = 0;  ///< the declared buffer, for its counters; 0: none
  bool device = false;       ///< a device's: a load that no cache may keep reads its bytes, and no more
  MappingKind kind = MappingKind::memory;
  template <class Archive>
  void archive(Archive& a) {
    a(base, bytes, physical, region, device, kind);
  }

  /// Whether all of [address, address + count) is in it.
  [[nodiscard]] bool holds(VirtualAddress address, unsigned count) const {
    const std::uint64_t offset = address.value - base;
    return offset < bytes && bytes - offset >= count;
  }
  /// Where an address that it holds lies.
  [[nodiscard]] PhysicalAddress translate(VirtualAddress address) const {
    return PhysicalAddress{physical.value + (address.value - base)};
  }
};

/// The page table of a GPU: which global virtual addresses exist and where they lie. SMs only read
/// it; it changes between runs, and grows where a run pauses.
class AddressSpace {
 public:
  /// Pre: overlaps no other mapping.
  void map(const Mapping& mapping);
  /// Takes the mapping away that begins at an address, and returns it; nothing: none does.
  std::optional<Mapping> unmap(std::uint64_t base);
  /// Maps every address to the video-memory offset of the same number: for programs whose
  /// addresses are only known once they are used. They carry no data.
  void map_everything() { mappings_.assign(1, Mapping{0, kEverything, physical(Aperture::vidmem, 0), 0}); }
  static constexpr std::uint64_t kEverything = std::uint64_t{1} << 56U;  ///< bytes
  /// The mapping that holds all of [address, address + bytes), or null. `hint` belongs to the
  /// caller and remembers the last answer.
  [[nodiscard]] const Mapping* find(VirtualAddress address, unsigned bytes, const Mapping*& hint) const {
    return hint != nullptr && hint->holds(address, bytes) ? hint : look_up(address, bytes, hint);
  }
  /// The same for an access of a program: where mappings have slack, it may lie outside of them.
  [[nodiscard]] const Mapping* reach(VirtualAddress address, unsigned bytes, const Mapping*& hint) const {
    const Mapping* const m = find(address, bytes, hint);
    return m != nullptr ? m : find_slack(address, bytes);
  }
  /// Memory around and between mappings that programs may access, too, in pages of 2 MiB that hold a mapping,
  /// as GPUs map whole pages. It may grow. There are kSlacks of them.
  void set_slack(std::size_t number, const Mapping& slack) { slacks_[number] = slack; }
  static constexpr std::size_t kSlacks = 2;
  /// The lowest address that was reached in slack since the call before; 0: none.
  [[nodiscard]] std::uint64_t take_slack_used() { return slack_used_.value.exchange(0); }
  [[nodiscard]] const std::vector<Mapping>& mappings() const { return mappings_; }
  template <class Archive>
  void archive(Archive& a) {
    a(mappings_);
    if (a.saves()) return;
    for (std::size_t i = 0; i < mappings_.size(); ++i) {
      const Mapping& m = mappings_[i];
      if (m.bytes > ~m.base || (i != 0 && m.base < mappings_[i - 1].base + mappings_[i - 1].bytes))
        a.misfit("has mappings that overlap");
    }
  }

 private:
  const Mapping* look_up(VirtualAddress address, unsigned bytes, const Mapping*& hint) const;
  [[nodiscard]] const Mapping* find_slack(VirtualAddress address, unsigned bytes) const;
  /// SMs note it side by side.
  struct Note {
    std::atomic<std::uint64_t> value{0};
    Note() = default;
    Note(const Note& n) : value(n.value.load()) {}
    Note& operator=(const Note& n) {
      value = n.value.load();
      return *this;
    }
  };
  std::vector<Mapping> mappings_;          ///< sorted by base
  std::array<Mapping, kSlacks> slacks_{};  ///< of no bytes: none
  mutable Note slack_used_;
  /// Where mappings lay before there were more: hints may point there, and are looked at before they are
  /// used.
  std::vector<std::vector<Mapping>> outgrown_;
};

}  // namespace warpline
