#pragma once

#include <array>
#include <cstdint>

#include "drive.h"

/// What the host does with a queue of its own meanwhile: it writes pages to blocks of its own, reads them
/// back into other memory and compares, four at a time.
class HostTraffic {
 public:
  static constexpr unsigned kSlots = 4, kBlocks = 8, kBlockBytes = 512;
  /// Both outlive it. `pages` pages, one behind the other from block `first` on.
  HostTraffic(Drive& drive, DriveQueue& queue, std::uint64_t first, unsigned pages);

  /// Goes on as far as the drive has come. Returns whether it has come any further.
  bool step();
  [[nodiscard]] bool is_done() const { return busy_ == 0 && next_ == pages_; }
  [[nodiscard]] unsigned failed() const { return failed_; }  ///< commands
  [[nodiscard]] unsigned wrong() const { return wrong_; }    ///< bytes that came back as others

 private:
  struct Slot {
    bool reads = false;
    unsigned page = 0;
    Shared out, in;
  };
  void write_next(unsigned slot);
  [[nodiscard]] std::uint8_t byte_of(unsigned page, unsigned i) const {
    return static_cast<std::uint8_t>(page * 13 + i * 7 + i / 256 + queue_.number());
  }

  DriveQueue& queue_;
  std::uint64_t first_;
  unsigned pages_;
  std::array<Slot, kSlots> slots_;
  unsigned next_ = 0, busy_ = 0, failed_ = 0, wrong_ = 0;
};
