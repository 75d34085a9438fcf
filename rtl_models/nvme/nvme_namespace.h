#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "rtl_models/nvme/block_store.h"

namespace warpline {

/// A namespace: blocks in a store. Formats are 0, blocks of 512 bytes, and 1, of 4096.
class NvmeNamespace {
 public:
  static constexpr unsigned kFormats = 2;
  /// The bytes of a block of a format, as a power of two.
  [[nodiscard]] static constexpr unsigned shift_of(unsigned format) { return format == 0 ? 9 : 12; }

  NvmeNamespace(std::unique_ptr<BlockStore> store, unsigned format)
      : store_(std::move(store)), format_(format) {}
  [[nodiscard]] BlockStore& store() { return *store_; }
  /// For tests of stores that fail: another one, of the same size. Returns the one before.
  std::unique_ptr<BlockStore> exchange_store(std::unique_ptr<BlockStore> store) {
    return std::exchange(store_, std::move(store));
  }
  [[nodiscard]] unsigned format() const { return format_; }
  void set_format(unsigned format) { format_ = format; }
  [[nodiscard]] unsigned shift() const { return shift_of(format_); }
  [[nodiscard]] std::uint64_t blocks() const { return store_->size() >> shift(); }
  [[nodiscard]] bool holds(std::uint64_t first, std::uint64_t count) const {
    return count <= blocks() && first <= blocks() - count;
  }
  /// Whether the controller shows it.
  [[nodiscard]] bool active() const { return active_; }
  void set_active(bool active) { active_ = active; }
  template <class Archive>
  void archive(Archive& a) {
    // Its bytes are a memory of the machine.
    a.index(format_, kFormats);
    a(active_);
  }

 private:
  std::unique_ptr<BlockStore> store_;
  unsigned format_;
  bool active_ = true;
};

}  // namespace warpline
