#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "platform/programs/sass_trace/packed_warp.h"

namespace warpline::sass {

/// A thread block of the trace: where its warps are packed. A warp that the trace does not list executed
/// nothing.
struct TraceBlock {
  std::vector<WarpPlace> warps;
};

/// The body of a trace, thread block by thread block. The block of ordinal k (x first, then y, then z) is the
/// k-th.
class BlockSource {
 public:
  virtual ~BlockSource() = default;
  /// The next block. Throws InputError at a fault of the trace, and if it ends before.
  [[nodiscard]] virtual TraceBlock next() = 0;
  /// Called once the last block was read. Throws InputError if something follows.
  virtual void end() = 0;
  [[nodiscard]] virtual PackedBytes& packed() = 0;
};

/// Hands out the warps of a trace, and keeps the places of those only whose block has begun.
class BlockQueue {
 public:
  BlockQueue(std::unique_ptr<BlockSource> source, std::uint64_t blocks, unsigned warps_per_block)
      : source_(std::move(source)), blocks_(blocks), warps_per_block_(warps_per_block) {}

  /// Where warp `warp` of the block `ordinal` is packed, asked for once. Reads ahead as far as needed. Throws
  /// InputError at a fault of the trace.
  [[nodiscard]] WarpPlace take(std::uint64_t ordinal, unsigned warp);
  [[nodiscard]] PackedBytes& packed() { return source_->packed(); }
  /// Blocks that were read, and have warps that did not ask yet.
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }

 private:
  struct Waiting {
    TraceBlock block;
    unsigned takers = 0;  ///< warps that have not asked yet
  };
  std::unique_ptr<BlockSource> source_;
  std::uint64_t blocks_;
  unsigned warps_per_block_;
  std::uint64_t blocks_read_ = 0;
  std::map<std::uint64_t, Waiting> waiting_;
};

}  // namespace warpline::sass
