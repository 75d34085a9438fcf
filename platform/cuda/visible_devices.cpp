#include "platform/cuda/visible_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace warpline::cuda {
namespace {

constexpr const char* kUuidBegins = "GPU-";

std::optional<unsigned> gpu_of_uuid(const std::string& text, unsigned gpus) {
  std::optional<unsigned> found;
  for (unsigned gpu = 0; gpu < gpus; ++gpu) {
    if (uuid_text(gpu).compare(0, text.size(), text) != 0) continue;
    if (found) return std::nullopt;
    found = gpu;
  }
  return found;
}

std::optional<unsigned> gpu_of(const std::string& item, unsigned gpus) {
  if (item.rfind(kUuidBegins, 0) == 0) return gpu_of_uuid(item, gpus);
  char* end = nullptr;
  const long number = std::strtol(item.c_str(), &end, 10);
  if (end == item.c_str() || number < 0 || number >= static_cast<long>(gpus)) return std::nullopt;
  return static_cast<unsigned>(number);
}

}  // namespace

std::array<std::uint8_t, 16> uuid_of(unsigned gpu) {
  std::array<std::uint8_t, 16> bytes{};
  const std::string text = "Warpline GPU " + std::to_string(gpu);
  std::copy_n(text.begin(), std::min(text.size(), bytes.size() - 1), bytes.begin());
  return bytes;
}

std::string uuid_text(unsigned gpu) {
  std::string text = kUuidBegins;
  const auto bytes = uuid_of(gpu);
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    if (n == 4 || n == 6 || n == 8 || n == 10) text += '-';
    text += fmt::format("{:02x}", bytes[n]);
  }
  return text;
}

std::vector<unsigned> visible_devices(const std::string& list, unsigned gpus) {
  std::vector<unsigned> visible;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    std::string item = list.substr(at, end - at);
    item.erase(0, item.find_first_not_of(" \t"));
    item.erase(item.find_last_not_of(" \t") + 1);
    const std::optional<unsigned> gpu = gpu_of(item, gpus);
    if (!gpu) break;
    if (std::find(visible.begin(), visible.end(), *gpu) != visible.end()) return {};
    visible.push_back(*gpu);
    at = end + 1;
  }
  return visible;
}

}  // namespace warpline::cuda
