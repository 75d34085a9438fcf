#include "platform/cuda/abi/device_property_layout.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>

#include "platform/cuda/device_properties.h"
#include "platform/cuda/visible_devices.h"

namespace warpline::cuda {
namespace {

/// Lays members one behind the other, each at a multiple of its size.
class Layout {
 public:
  void text(const std::string& content, std::size_t bytes) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + bytes);
    std::memcpy(&bytes_[at], content.data(), std::min(content.size(), bytes - 1));
  }
  template <class T>
  void add(T value) {
    const std::size_t at = (bytes_.size() + sizeof value - 1) / sizeof value * sizeof value;
    bytes_.resize(at + sizeof value);
    std::memcpy(&bytes_[at], &value, sizeof value);
  }
  void size(std::int64_t value) { add(static_cast<std::uint64_t>(value)); }
  std::vector<std::uint8_t> whole(std::size_t bytes) {
    bytes_.resize(bytes);
    return std::move(bytes_);
  }

 private:
  std::vector<std::uint8_t> bytes_;
};

constexpr std::size_t bytes_of_toolkit(unsigned toolkit) {
  return toolkit >= 13 ? 1008 : toolkit == 12 ? 1032 : 712;
}

}  // namespace

std::vector<std::uint8_t> device_properties(const GpuConfig& config, unsigned ordinal, unsigned toolkit) {
  const bool older = toolkit < 13;
  const auto value = [&](int attribute) { return device_attribute(config, ordinal, attribute).value_or(0); };
  Layout out;
  // By the numbers of their attributes.
  const auto numbers = [&](std::initializer_list<int> attributes) {
    for (const int a : attributes) out.add(value(a));
  };
  const auto sizes = [&](std::initializer_list<int> attributes) {
    for (const int a : attributes) out.size(value(a));
  };
  out.text("Warpline " + config.name, 256);
  for (const std::uint8_t byte : uuid_of(ordinal)) out.add(byte);
  out.text("", 8);  // LUID
  out.add(0);       // its mask
  out.size(static_cast<std::int64_t>(config.vidmem_bytes));
  sizes({8});             // shared memory of a block
  numbers({12, 10});      // registers of a block, lanes of a warp
  sizes({11});            // pitch
  numbers({1, 2, 3, 4});  // threads and sides of a block
  numbers({5, 6, 7});     // sides of a grid
  if (older) numbers({13});
  sizes({9});         // constants
  numbers({75, 76});  // compute capability
  sizes({14, 51});    // alignment of textures and their pitches
  if (older) numbers({15});
  numbers({16});
  if (older) numbers({17});
  numbers({18, 19});
  if (older) numbers({20});
  numbers({21, 77});  // textures
  if (older) numbers({69});
  numbers({22, 23, 73, 74, 70, 71, 72, 45, 46, 24, 25, 26, 47, 48, 49, 52, 42, 43, 27, 28, 29, 53, 54});
  numbers({55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68});  // surfaces
  sizes({30});
  numbers({31, 32, 33, 34, 50, 35, 40, 41});
  if (older) numbers({36});
  numbers({37, 38, 108, 39, 78, 79, 80});
  sizes({81});
  numbers({82, 83, 84, 85, 86});
  if (older) numbers({87});
  numbers({88, 89, 90, 91, 95});
  if (older) numbers({96});
  sizes({97});
  numbers({100, 101, 106, 109});
  sizes({111});
  numbers({99, 112, 113, 114, 115, 116, 117, 118, 119, 121, 122, 120});
  return out.whole(bytes_of_toolkit(toolkit));
}

}  // namespace warpline::cuda
