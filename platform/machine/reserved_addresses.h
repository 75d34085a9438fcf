#pragma once

#include <cstdint>

namespace warpline {

/// Addresses of this process that nothing else of it gets, and that have no memory: a pointer to them is a
/// fault on the host.
class ReservedAddresses {
 public:
  /// As many as `bytes`, from `preferred` on, or from the next multiple of 1 TiB behind it where all are
  /// free. Throws std::bad_alloc if there are none.
  ReservedAddresses(std::uint64_t bytes, std::uint64_t preferred);
  ~ReservedAddresses();
  ReservedAddresses(const ReservedAddresses&) = delete;
  ReservedAddresses& operator=(const ReservedAddresses&) = delete;

  [[nodiscard]] std::uint64_t first() const { return first_; }

 private:
  std::uint64_t first_ = 0;
  std::uint64_t bytes_;
};

}  // namespace warpline
