#pragma once

#include <cstdint>

#include "rtl_models/isa/mem_op.h"
#include "rtl_models/sim/command.h"

namespace warpline {

/// The caches that the load/store unit sends to, and the network between SMs.
enum class SmCache : std::uint8_t { l1_lg, texture, constant, network };

/// What is asked of a whole cache, and of what lies below it, by a maintenance request.
struct CacheMaintenance {
  std::uint8_t what = 0;  ///< bits of namespace `maintenance`; 0: nothing
  SmCache cache = SmCache::l1_lg;
  Scope scope = Scope::none;
};

}  // namespace warpline
