#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "rtl_models/registers/bus_access.h"

namespace warpline {

/// Watches what software does at a device's registers, for who brings a driver up: what it touched that no
/// register has, and whether it reads one again and again, getting the same, with nothing in between.
class AccessWatch {
 public:
  /// `map`: the registers of BAR `bar`.
  AccessWatch(std::string device, const RegisterMap& map, unsigned bar)
      : device_(std::move(device)), map_(map), bar_(bar) {}

  void note(const BusAccess& access);

  /// Reads in a row from which on software is said to spin.
  static constexpr std::uint64_t kSpin = 1000;
  /// What was found, a sentence each: the most frequent first of what no register has, then the longest spin.
  [[nodiscard]] std::vector<std::string> findings() const;

 private:
  using Where = std::tuple<unsigned, std::uint64_t, std::uint32_t, AccessKind, AccessOutcome>;
  /// A register that is read in a row.
  struct Run {
    BusAccess access;
    std::uint64_t reads = 0;
  };
  [[nodiscard]] std::string name(const BusAccess& access) const {
    return register_name(access, access.bar == bar_ ? &map_ : nullptr);
  }

  std::string device_;
  const RegisterMap& map_;
  unsigned bar_;
  std::map<Where, std::uint64_t> misses_;
  /// Of the places in misses_; no client makes more than so many known.
  static constexpr std::size_t kMostPlaces = 10'000;
  std::uint64_t others_ = 0;
  Run now_, longest_;
};

}  // namespace warpline
