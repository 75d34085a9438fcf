#pragma once

#include <cstdint>
#include <vector>

#include "rtl_models/nvme/nvme_command.h"
#include "rtl_models/pcie/packets/byte_run.h"

namespace warpline {

/// Where the data of a command lies in memory, as its PRP entries or its SGL say: a walk over lists that
/// somebody else reads.
///
///     NvmeStatus s = pointer.begin(command, bytes, page);
///     while (s.ok() && pointer.wants().bytes != 0) s = pointer.take(those bytes);
class DataPointer {
 public:
  /// Descriptors of one SGL at most.
  static constexpr unsigned kMostDescriptors = 1024;

  /// `page`: bytes of a memory page. Pre: `bytes` is not 0; psdt() is not 3.
  [[nodiscard]] NvmeStatus begin(const NvmeCommand& command, std::uint32_t bytes, std::uint32_t page);
  /// Memory pages for `bytes` bytes, which a PRP list names: each is a run, but for what the last has too
  /// many. Pre: `bytes` is not 0.
  [[nodiscard]] NvmeStatus begin_pages(std::uint64_t list, std::uint32_t bytes, std::uint32_t page);
  /// Part of a list that is to be read next; no bytes: the walk is over.
  [[nodiscard]] const ByteRun& wants() const { return wants_; }
  /// Takes what lies there.
  [[nodiscard]] NvmeStatus take(const std::uint8_t* list);
  /// Runs of memory, in order, once the walk is over.
  [[nodiscard]] std::vector<ByteRun>& runs() { return runs_; }

 private:
  NvmeStatus begin_prps(std::uint64_t first, std::uint64_t second);
  NvmeStatus want_list(std::uint64_t address);
  NvmeStatus take_prps(const std::uint8_t* list);
  NvmeStatus take_descriptors(const std::uint8_t* list, unsigned count);
  NvmeStatus want_segment(const std::uint8_t* descriptor, bool last);
  void want_part();
  void add(std::uint64_t address, std::uint32_t bytes);

  std::uint32_t page_ = 4096;
  std::uint64_t left_ = 0;  ///< bytes that no run has yet
  bool sgl_ = false;
  bool last_ = false;          ///< the segment that is read is the last one
  std::uint64_t segment_ = 0;  ///< the rest of it, from here on
  std::uint32_t segment_bytes_ = 0;
  unsigned descriptors_ = 0;
  ByteRun wants_;
  std::vector<ByteRun> runs_;
};

}  // namespace warpline
