#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rtl_models/base/problem.h"

namespace warpline {

class MemoryImage;
class StateArchive;

/// What has to be the same where a checkpoint is restored: names and values.
using CheckpointKeys = std::vector<std::pair<std::string, std::string>>;

/// A memory whose bytes are saved.
struct CheckpointMemory {
  std::string name;
  MemoryImage& image;
};

/// A checkpoint as it was read. The file is: a line that names the format, the version of Warpline, the keys,
/// the caller's note, the state; of each memory its name, its size and what of it is not zero; a line with
/// the SHA-256 of all that, and a last line.
struct CheckpointFile {
  /// Bytes from `offset` on.
  struct Run {
    std::uint64_t offset = 0;
    std::string_view bytes;
  };
  struct Memory {
    std::string name;
    std::uint64_t size = 0;
    std::vector<Run> runs;
  };
  std::string name;
  std::string text;  ///< all of it: `state` and runs lie in it
  std::string version;
  CheckpointKeys keys;
  std::string note;
  std::string_view state;
  std::vector<Memory> memories;
};

/// Writes one. False: `out` has failed.
[[nodiscard]] bool write_checkpoint(std::ostream& out, const CheckpointKeys& keys, std::string_view note,
                                    std::string_view state, const std::vector<CheckpointMemory>& memories);
/// Why a checkpoint does not fit what has these keys and memories.
[[nodiscard]] Diagnostics misfits(const CheckpointFile& file, const CheckpointKeys& keys,
                                  const std::vector<CheckpointMemory>& memories);
/// Restores the state by `archive`, which saves and restores it; or changes nothing, and says why.
[[nodiscard]] Diagnostics restore_state(const CheckpointFile& file,
                                        const std::function<void(StateArchive&)>& archive);
/// Brings the saved bytes into memories. Pre: no misfits().
void fill_memories(const CheckpointFile& file, const std::vector<CheckpointMemory>& memories);

}  // namespace warpline
