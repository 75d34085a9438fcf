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

/// What is saved and restored: what has to be the same, the memories, and the state by a function that saves
/// and restores it.
struct CheckpointContents {
  CheckpointKeys keys;
  std::vector<CheckpointMemory> memories;
  std::function<void(StateArchive&)> archive;
};

/// Writes one. Faults: `out` has failed.
[[nodiscard]] Diagnostics save_checkpoint(std::ostream& out, std::string_view note,
                                          const CheckpointContents& contents);
/// Brings what a checkpoint has into these contents; or changes nothing, and says why it does not fit.
[[nodiscard]] Diagnostics restore_checkpoint(const CheckpointFile& file, const CheckpointContents& contents);

}  // namespace warpline
