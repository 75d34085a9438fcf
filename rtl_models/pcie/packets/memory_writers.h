#pragma once

#include <vector>

#include "rtl_models/base/types.h"

namespace warpline {

/// A block that changes a memory at times of its own, which others change, too.
class MemoryWriter {
 public:
  /// What is due by cycle `now` takes effect.
  virtual void arrive(Cycle now) = 0;

 protected:
  ~MemoryWriter() = default;
};

/// The blocks that change one memory. Effects of one cycle happen in the order in which the blocks joined:
/// whichever block is ticked first in a cycle calls arrive() of all of them. So the order in which the engine
/// ticks blocks has no influence on memory.
class MemoryWriters {
 public:
  void join(MemoryWriter& writer) { writers_.push_back(&writer); }
  void arrive(Cycle now) {
    for (MemoryWriter* writer : writers_) writer->arrive(now);
  }

 private:
  std::vector<MemoryWriter*> writers_;
};

}  // namespace warpline
