#pragma once

#include "rtl_models/sim/request.h"
#include "rtl_models/sim/request_pool.h"
#include "rtl_models/sm/coalescer.h"
#include "rtl_models/sm/memory_map.h"
#include "rtl_models/sm/resolved_access.h"

namespace warpline {

/// Writes the request for one line of a warp's access: command, addresses, qualifiers, and the bytes of a
/// write or the operands of an atomic. Who sends it, and when, is the load/store unit's affair.
class RequestBuilder {
 public:
  /// `pool` outlives it, and gives atomics their blocks.
  explicit RequestBuilder(RequestPool& pool) : pool_(pool) {}
  /// For a new kernel.
  void start(const MemoryMap& map) {
    map_ = map;
    hint_ = nullptr;
  }
  /// Fills `r`, fresh from the pool, for `line`, the last that `coalescer` split off `access`. Returns
  /// whether the line's cache policy, if it has one, is one that an instruction makes; where not, it counts
  /// as evict_normal.
  [[nodiscard]] bool fill(Request& r, const ResolvedAccess& access, const LineAccess& line,
                          const Coalescer& coalescer);
  /// The memory that a line of a plain load (MemOp::is_plain_load) is of; null: that of a device. Pre: `line`
  /// is the last that `coalescer` split off an access that is not exact.
  [[nodiscard]] const Mapping* memory_of(const LineAccess& line, const Coalescer& coalescer) {
    const Mapping* m = line.mapping;
    if (m == nullptr) m = map_.space->reach(coalescer.address(first_lane(line.lanes), 0), 1, hint_);
    return m->kind == MappingKind::memory && !m->device ? m : nullptr;
  }
  /// Fills `r`, fresh from the pool, for such a line.
  static void fill_plain(Request& r, const LineAccess& line, const Mapping& memory) {
    r.sectors = line.sectors;
    r.virtual_line = line.line;
    r.line = memory.translate(line.line);
    r.region = memory.region;
  }
  /// Fills `r`, fresh from the pool, with what the lowest of `lanes` asks of an mbarrier in another CTA, and
  /// all others whose mbarriers lie in the same line: of an operation on mbarriers that itself, of a store or
  /// reduction that tells one the bytes that it has brought. Returns the lanes that it stands for. Pre: a
  /// lane is among `lanes`; all of them are of access.remote(), and the run carries data.
  [[nodiscard]] LaneMask fill_mbarriers(Request& r, const ResolvedAccess& access, LaneMask lanes) const;

 private:
  [[nodiscard]] bool fill_global(Request& r, const ResolvedAccess& access, const LineAccess& line,
                                 const Mapping& mapping) const;
  void fill_write(Request& r, const ResolvedAccess& access, const LineAccess& line,
                  const Coalescer& coalescer) const;
  void fill_atomics(Request& r, const ResolvedAccess& access, const LineAccess& line,
                    const Coalescer& coalescer) const;

  RequestPool& pool_;
  MemoryMap map_;
  const Mapping* hint_ = nullptr;  ///< the mapping found last
};

}  // namespace warpline
