#pragma once

#include <string>

#include "platform/config/gpu_config.h"
#include "rtl_models/isa/mem_op.h"

namespace warpline {

// What one cache does with an access, in words. Each text is a clause that ends without a full stop.

/// "192 KiB, 96 sets of 16 lines".
[[nodiscard]] std::string size_of_cache(const CacheGeometry& geometry, unsigned caches);
/// How a line that is installed or found with this wish stands among the others of its set.
[[nodiscard]] std::string class_text(L1Eviction eviction, const CacheGeometry& geometry);
[[nodiscard]] std::string class_text(L2Eviction eviction, const CacheGeometry& geometry);
[[nodiscard]] std::string l1_load(const MemOp& op, const L1LgParameters& l1);
[[nodiscard]] std::string l1_local_load(const MemOp& op, const L1LgParameters& l1);
[[nodiscard]] std::string l1_store(const MemOp& op, const L1LgParameters& l1);
[[nodiscard]] std::string texture_load(const MemOp& op, const ReadOnlyCacheParameters& texture);
/// The same where L1 serves such loads.
[[nodiscard]] std::string unified_load(const MemOp& op, const L1LgParameters& l1);
[[nodiscard]] std::string l2_load(const MemOp& op, const L2Parameters& l2);
[[nodiscard]] std::string l2_store(const MemOp& op, const L2Parameters& l2);
/// What is different where the address is in system memory.
[[nodiscard]] std::string system_memory(const MemOp& op);

}  // namespace warpline
