#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "rtl_models/base/types.h"

namespace warpline {

/// Where posted writes have gone over a link since a read of no byte followed them there (R11): system
/// memory, and blocks of the peer aperture. It remembers kBlocks blocks: for one more, the oldest has to be
/// flushed.
class WrittenDestinations {
 public:
  /// Size of the naturally aligned blocks of the peer aperture that are taken for one destination each. The
  /// default is the page of the IOMMU and of the windows of root ports, so that no block has two devices.
  static constexpr std::uint64_t kBlockBytes = 4096;
  static constexpr std::size_t kBlocks = 8;

  /// Pre: nothing is noted; `bytes` is a power of two.
  void set_block(std::uint64_t bytes) {
    for (shift_ = 0; bytes >> shift_ > 1; ++shift_) continue;
  }
  /// A line is about to be written. Returns a line of a destination that is forgotten for it: it is to be
  /// flushed now.
  std::optional<PhysicalAddress> note(PhysicalAddress line) {
    if (aperture_of(line) == Aperture::sysmem) sysmem_ = line;
    if (aperture_of(line) != Aperture::peer) return {};
    const auto same = [&](PhysicalAddress l) { return (l.value ^ line.value) >> shift_ == 0; };
    if (std::any_of(blocks_.begin(), blocks_.end(), same)) return {};
    std::optional<PhysicalAddress> oldest;
    if (blocks_.size() == kBlocks) {
      oldest = blocks_.front();
      blocks_.erase(blocks_.begin());
    }
    blocks_.push_back(line);
    return oldest;
  }
  /// Calls visit(PhysicalAddress) with a line of each, and forgets them.
  template <class F>
  void drain(F&& visit) {
    if (sysmem_) visit(*sysmem_);
    for (const PhysicalAddress line : blocks_) visit(line);
    clear();
  }
  template <class Archive>
  void archive(Archive& a) {
    a(sysmem_, blocks_);
    if (blocks_.size() > kBlocks) a.misfit("has too many written destinations");
  }
  void clear() {
    sysmem_.reset();
    blocks_.clear();
  }

 private:
  static_assert(kBlockBytes == 1U << 12U);
  unsigned shift_ = 12;  ///< an address shifted right by it is the number of its block
  std::optional<PhysicalAddress> sysmem_;
  std::vector<PhysicalAddress> blocks_;  ///< oldest first
};

}  // namespace warpline
