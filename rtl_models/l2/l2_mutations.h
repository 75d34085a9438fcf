#pragma once

#include <cstdint>

#include "rtl_models/base/mutation.h"

namespace warpline {

/// Deliberate bugs of an L2 slice.
enum class L2Mutation : std::uint8_t {
  // R5: an SM's requests of one sector take effect in their order.
  waiting_request_overtaken,  ///< what waited for a fetch is looked at after what came later

  // R7: copies of system memory.
  sys_acquire_keeps_copies,        ///< an acquire of system scope leaves them
  sys_acquire_spares_fetches,      ///< and their fetches in flight
  sys_access_ignores_dirty,        ///< a strong access of that scope loses the dirty bytes of its line
  sys_access_keeps_copy,           ///< it leaves the copy, then older than memory
  sys_release_skips_write_back,    ///< a release of that scope leaves dirty bytes
  sys_release_ignores_write_back,  ///< it does not wait until they are on the link
  clean_bytes_written_back,        ///< a write-back takes the sector's other bytes along
  fetch_overwrites_dirty,          ///< a fetch brings back bytes that had been stored to

  // R11: posted writes have arrived when a release of system scope is done.
  sys_release_skips_flush,        ///< no read follows them over the link
  sys_release_flushes_last_only,  ///< of several destinations, only the one written last is read from
};

}  // namespace warpline
