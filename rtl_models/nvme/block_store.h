#pragma once

#include <cstdint>
#include <cstring>

#include "rtl_models/sim/memory_image.h"

namespace warpline {

/// How a write ended. `full`: there is no room for it.
enum class BlockOutcome : std::uint8_t { done, full, failed };

/// What a namespace's bytes are kept in. Offsets and lengths lie within size().
class BlockStore {
 public:
  virtual ~BlockStore() = default;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// False: the host cannot do it.
  [[nodiscard]] virtual bool read(std::uint64_t offset, std::uint8_t* to, std::uint64_t bytes) = 0;
  [[nodiscard]] virtual BlockOutcome write(std::uint64_t offset, const std::uint8_t* from,
                                           std::uint64_t bytes) = 0;
  /// Makes them 0.
  [[nodiscard]] virtual BlockOutcome clear(std::uint64_t offset, std::uint64_t bytes) = 0;
  /// What was written is where it survives the process. False: not all of it is, nor will it be.
  [[nodiscard]] virtual bool flush() = 0;
  /// The memory that it is; null: it is none.
  [[nodiscard]] virtual MemoryImage* memory() { return nullptr; }
};

/// Bytes in the host's memory, which takes what is used of them.
class MemoryStore final : public BlockStore {
 public:
  explicit MemoryStore(std::uint64_t bytes) : image_(bytes) {}
  [[nodiscard]] std::uint64_t size() const override { return image_.size(); }
  [[nodiscard]] bool read(std::uint64_t offset, std::uint8_t* to, std::uint64_t bytes) override {
    std::memcpy(to, image_.at(offset), bytes);
    return true;
  }
  [[nodiscard]] BlockOutcome write(std::uint64_t offset, const std::uint8_t* from,
                                   std::uint64_t bytes) override {
    std::memcpy(image_.at(offset), from, bytes);
    return BlockOutcome::done;
  }
  [[nodiscard]] BlockOutcome clear(std::uint64_t offset, std::uint64_t bytes) override {
    image_.clear(offset, bytes);
    return BlockOutcome::done;
  }
  [[nodiscard]] bool flush() override { return true; }
  [[nodiscard]] MemoryImage* memory() override { return &image_; }

 private:
  MemoryImage image_;
};

}  // namespace warpline
