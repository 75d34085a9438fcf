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

/// Those that share a memory, in the order in which what they do in the same cycle takes effect. Whoever of
/// them is ticked first in a cycle has all of them arrive(), so that the order of ticks is none of memory's.
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
