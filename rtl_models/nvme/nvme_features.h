#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "rtl_models/nvme/nvme_command.h"
#include "rtl_models/nvme/nvme_parameters.h"

namespace warpline {

/// The features of a controller: what Set Features takes and Get Features gives. None is saved. Error
/// recovery is of each namespace, all others of the controller.
class NvmeFeatures {
 public:
  static constexpr unsigned kVectorsAtMost = 64;
  /// Of the sensor of the controller, kelvin: it never gets warmer or colder.
  static constexpr unsigned kTemperature = 313;

  explicit NvmeFeatures(const NvmeParameters& parameters)
      : queues_(parameters.queues), namespaces_(parameters.namespaces), cache_(parameters.write_cache) {
    reset();
  }
  void reset() {
    arbitration_ = 0;
    over_ = kWarmest;
    under_ = 0;
    recovery_.fill(0);
    write_cache_ = cache_;
    granted_ = (queues_ - 1) | (queues_ - 1) << 16U;
    coalescing_ = 0;
    atomicity_ = 0;
    events_ = 0;
    direct_.fill(false);
  }
  /// Whether there is that feature at all.
  [[nodiscard]] bool has(unsigned feature) const;
  /// What is wrong with a Set Features, or with a Get Features, but for the value. `active`: whether the
  /// namespace that it names, if it names one, is.
  [[nodiscard]] NvmeStatus check(const NvmeCommand& command, bool active) const;
  /// Of all but the timestamp. `queues`: whether there are I/O queues. `result`: dword 0. Pre: check().
  [[nodiscard]] NvmeStatus set(const NvmeCommand& command, bool queues, std::uint32_t& result);
  /// `select`: 0 current, 1 default, 2 saved, 3 what can be done with it. Pre: check().
  [[nodiscard]] NvmeStatus get(const NvmeCommand& command, std::uint32_t& result) const;

  [[nodiscard]] bool write_cache() const { return write_cache_; }
  [[nodiscard]] std::uint32_t events() const { return events_; }
  /// Completions that an interrupt waits for, and for how long, in 100 us; either 1 or less and 0: none.
  [[nodiscard]] unsigned threshold() const { return (coalescing_ & 0xFFU) + 1; }
  [[nodiscard]] unsigned time() const { return coalescing_ >> 8U & 0xFFU; }
  [[nodiscard]] bool coalesces(unsigned vector) const {
    return threshold() > 1 && time() != 0 && !direct_[vector];
  }
  /// Whether the temperature is beyond a threshold.
  [[nodiscard]] bool warns() const { return kTemperature >= over_ || kTemperature <= under_; }
  template <class Archive>
  void archive(Archive& a) {
    a(arbitration_, over_, under_, recovery_, write_cache_, granted_, coalescing_, atomicity_, events_,
      direct_);
  }

 private:
  static constexpr std::uint32_t kWarmest = 343;
  NvmeStatus set_temperature(std::uint32_t value);
  NvmeStatus set_queues(std::uint32_t value, bool queues, std::uint32_t& result);
  NvmeStatus set_recovery(const NvmeCommand& command);
  unsigned queues_, namespaces_;
  bool cache_;
  std::uint32_t arbitration_ = 0, over_ = 0, under_ = 0, granted_ = 0, coalescing_ = 0, atomicity_ = 0,
                events_ = 0;
  std::array<std::uint32_t, kMaxNvmeNamespaces> recovery_{};
  bool write_cache_ = false;
  std::array<bool, kVectorsAtMost> direct_{};  ///< vectors that do not wait
};

}  // namespace warpline
