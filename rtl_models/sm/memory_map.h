#pragma once

#include <cstdint>

#include "rtl_models/base/types.h"
#include "rtl_models/sm/address_space.h"
#include "rtl_models/sm/image_table.h"

namespace warpline {

/// Where the memory of a running kernel lies.
struct MemoryMap {
  const AddressSpace* space = nullptr;
  const ImageTable* images = nullptr;  ///< null: there are none
  PhysicalAddress constant_base;       ///< of constant address 0
  PhysicalAddress local_base;          ///< of the SM's local memory
  PhysicalAddress code_base;           ///< of the kernel's code
  std::uint32_t local_bytes = 0;       ///< per thread: the program's, and behind it the call-return stack's
  bool with_data = true;               ///< bounds of shared and local memory are checked, data moves
};

}  // namespace warpline
