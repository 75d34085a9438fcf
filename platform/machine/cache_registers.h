#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "rtl_models/base/visibility.h"

namespace warpline {

/// The registers by which host software has a GPU's caches maintained: what a driver writes between dependent
/// grids. 32 bits each; described once, in all().
class WARPLINE_PUBLIC CacheRegisters {
 public:
  enum Offset : std::uint32_t {
    kIdentity = 0x0,
    kStatus = 0x4,
    kInvalidate = 0x8,
    kInvalidations = 0xC,
  };
  static constexpr std::uint32_t kBytes = 16;
  static constexpr std::uint32_t kIdentityValue = 0x574C0001;  ///< "WL", version 1
  /// Bits of kInvalidate.
  static constexpr std::uint32_t kL1Global = 1, kTexture = 2, kConstant = 4, kInstruction = 8;
  /// Bits of kStatus.
  static constexpr std::uint32_t kBusy = 1, kRefused = 2;

  struct Register {
    Offset offset;
    const char* name;
    bool readable, writable;
    const char* meaning;
  };
  [[nodiscard]] static const std::vector<Register>& all();

  /// What became of an access.
  enum class Outcome : std::uint8_t {
    done,
    no_register,  ///< none begins at this offset
    read_only,
    write_only,
  };

  /// The hardware behind the registers.
  struct Hardware {
    std::uint32_t caches = kL1Global;  ///< bits of kInvalidate that mean something
    std::function<bool()> busy;        ///< a grid runs, or a request is under way
    std::function<void(std::uint32_t)>
        invalidate;  ///< those caches, all lines that a driver owes. Pre: not busy
  };
  explicit CacheRegisters(Hardware hardware) : hardware_(std::move(hardware)) {}

  [[nodiscard]] Outcome read(std::uint32_t offset, std::uint32_t& value) const;
  /// An invalidation that is asked for while the GPU is busy, or of caches that it does not have, changes
  /// nothing but kStatus: kRefused is set until 1 is written to it.
  Outcome write(std::uint32_t offset, std::uint32_t value);
  /// Invalidates those caches of kInvalidate, as a driver does that knows that no grid runs, whoever else is
  /// at work behind them. Pre: the GPU has them.
  void invalidate(std::uint32_t caches) {
    hardware_.invalidate(caches);
    ++invalidations_;
  }
  template <class Archive>
  void archive(Archive& a) {
    a(refused_, invalidations_);
  }

 private:
  Hardware hardware_;
  bool refused_ = false;
  std::uint32_t invalidations_ = 0;
};

}  // namespace warpline
