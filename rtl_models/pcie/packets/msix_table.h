#pragma once

#include <cstdint>
#include <vector>

#include "rtl_models/base/contract.h"

namespace warpline {

/// An interrupt message: a posted write of 4 bytes.
struct InterruptMessage {
  std::uint64_t address = 0;
  std::uint32_t data = 0;
  unsigned vector = 0;
};

/// The MSI-X table of a function and its pending bits (PCI Local Bus 3.0, MSI-X).
///
/// The table comes first, 16 bytes a vector; the pending bits follow at pending_offset(), 8 bytes for 64
/// vectors, read-only. Accesses are of 4 or 8 aligned bytes; others do nothing, and read 0.
class MsixTable {
 public:
  /// `vectors`: 1 to 2048. All are masked.
  explicit MsixTable(unsigned vectors);

  [[nodiscard]] std::uint64_t read(std::uint64_t offset, unsigned bytes) const;
  void write(std::uint64_t offset, unsigned bytes, std::uint64_t value);
  /// The function raises a vector. It becomes pending; take() says whether a message goes out. Pre: it has
  /// that vector.
  void raise(unsigned vector) {
    WARPLINE_EXPECT(vector < vectors(), "a function raises its own vectors");
    pending_[vector / 64] |= std::uint64_t{1} << vector % 64;
  }
  /// The next message to be sent, which is pending no longer; of the lowest vector that is pending and not
  /// masked. False if there is none, or `masked` (the function mask), or not `enabled`.
  bool take(bool enabled, bool masked, InterruptMessage& message);
  void reset();

  [[nodiscard]] unsigned vectors() const { return static_cast<unsigned>(table_.size()); }
  [[nodiscard]] std::uint64_t pending_offset() const { return 16ULL * table_.size(); }
  /// Bytes of table and pending bits.
  [[nodiscard]] std::uint64_t bytes() const { return pending_offset() + 8 * pending_.size(); }
  [[nodiscard]] bool pending(unsigned vector) const {
    return (pending_[vector / 64] >> vector % 64 & 1U) != 0;
  }
  [[nodiscard]] bool masked(unsigned vector) const { return (table_[vector].control & 1U) != 0; }
  [[nodiscard]] bool any_pending() const;
  template <class Archive>
  void archive(Archive& a) {
    a.same(table_.size(), "vectors");
    for (Entry& e : table_) a(e.address, e.data, e.control);
    a.fixed(pending_);
  }

 private:
  struct Entry {
    std::uint64_t address = 0;
    std::uint32_t data = 0;
    std::uint32_t control = 1;  ///< bit 0: masked
  };
  std::vector<Entry> table_;
  std::vector<std::uint64_t> pending_;
};

}  // namespace warpline
