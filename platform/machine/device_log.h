#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpline {

class PcieSystem;

/// What arrived at the BARs of a system's devices, device by device, oldest first: a line of text each, or an
/// array of JSON. Of what a log no longer keeps when its turn comes, a line says how many they were.
///
/// It is taken piece by piece, so that who has other things to do can do them in between. It ends with what
/// had arrived when it was made.
class DeviceLog {
 public:
  /// `begins`: of device i, the number of its first access that counts; 0 where there is no element. The
  /// system outlives it.
  DeviceLog(const PcieSystem& system, const std::vector<std::uint64_t>& begins, bool json);

  /// Appends the next accesses to `out`, about `most` of them. False: that was the end.
  bool next(std::string& out, std::size_t most);

 private:
  /// Numbers of accesses of a device.
  struct Stretch {
    std::uint64_t next = 0, end = 0;
  };
  void add(std::string& out, const std::string& line);

  const PcieSystem& system_;
  bool json_;
  bool begun_ = false;  ///< there is a line
  std::size_t device_ = 0;
  std::vector<Stretch> stretches_;  ///< device by device
};

/// All of it at once.
[[nodiscard]] std::string device_log(const PcieSystem& system, const std::vector<std::uint64_t>& begins,
                                     bool json);

}  // namespace warpline
