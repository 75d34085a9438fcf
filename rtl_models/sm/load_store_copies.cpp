// Asynchronous copies from global to shared memory: what they read, and where it goes.
#include <algorithm>

#include "warpline/sm/load_store_unit.h"

namespace warpline {

/// Bytes that the copy of `lane`, or any other access, reads or writes in global memory.
unsigned LoadStoreUnit::source_bytes(const Entry& e, unsigned lane) {
  const unsigned bytes = e.instruction->mem.bytes_per_lane();
  return e.instruction->mem.fills ? std::min(bytes, CopyTarget::of(e.access.second[lane]).bytes) : bytes;
}

/// Lanes that read nothing go nowhere in global memory.
void LoadStoreUnit::leave_out_unread(const Entry& e) {
  for (LaneMask m = e.access.active; m != 0; m &= m - 1)
    if (source_bytes(e, static_cast<unsigned>(__builtin_ctz(m))) == 0) head_.global &= ~(m & -m);
}

/// Whether the copy may write where its lanes say. Pre: it carries data.
std::optional<Fault> LoadStoreUnit::check_copy(const Entry& e) {
  const unsigned bytes = e.instruction->mem.bytes_per_lane();
  for (LaneMask m = e.access.active; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    const std::uint64_t to = CopyTarget::of(e.access.second[lane]).offset;
    if (to % bytes != 0) return Fault{FaultKind::misaligned, 0, 0, lane, to, nullptr};
    if (to + bytes > e.shared_bytes) return Fault{FaultKind::shared_range, 0, 0, lane, to, nullptr};
  }
  return std::nullopt;
}

/// Lanes that read nothing wait for no answer: theirs are zeros.
void LoadStoreUnit::begin_copy(const Entry& e) {
  const unsigned bytes = e.instruction->mem.bytes_per_lane();
  for (LaneMask m = e.access.active & ~head_.global; m != 0; m &= m - 1)
    shared_.fill(e.shared_base + CopyTarget::of(e.access.second[__builtin_ctz(m)]).offset, nullptr, 0, bytes);
}

/// Writes what an answer brings for its lanes to shared memory. It takes no turn at the banks.
void LoadStoreUnit::land_copy(const Entry& e, const Request& r) {
  const unsigned bytes = e.instruction->mem.bytes_per_lane();
  for (LaneMask m = e.access.active; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    const std::uint64_t offset = e.access.address_of(lane) - r.virtual_line.value;
    const unsigned read = source_bytes(e, lane);
    if (offset < kLineBytes && read != 0)
      shared_.fill(e.shared_base + CopyTarget::of(e.access.second[lane]).offset, &r.data[offset], read,
                   bytes);
  }
}

}  // namespace warpline
