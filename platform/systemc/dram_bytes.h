#pragma once

#include "rtl_models/l2/l2_core.h"

namespace warpline {

class L2SliceModule;

/// The bytes of DRAM that is not ours, as one of our slices reaches it: by debug access, without time.
class DramBytes final : public MemoryBehind {
 public:
  /// `slice` outlives it, and has its bytes from here. Pre: elaboration has not ended.
  explicit DramBytes(L2SliceModule& slice);
  bool peek(PhysicalAddress line, std::uint8_t* bytes) override;
  /// A host has written `count` bytes of the line.
  void poke(PhysicalAddress at, const std::uint8_t* bytes, unsigned count);

 private:
  bool access(bool write, PhysicalAddress at, std::uint8_t* bytes, unsigned count);
  L2SliceModule& slice_;
};

}  // namespace warpline
