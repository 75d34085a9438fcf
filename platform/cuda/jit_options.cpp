#include "platform/cuda/jit_options.h"

#include <algorithm>
#include <cstring>

namespace warpline::cuda {
namespace {

enum Option : int {
  kWallTime = 2,
  kInformation = 3,
  kInformationBytes = 4,
  kErrors = 5,
  kErrorBytes = 6,
  kOptions = 35,  ///< as many are known
};

}  // namespace

bool JitOptions::are_known() const {
  return std::all_of(options_, options_ + count_, [](int o) { return o >= 0 && o < kOptions; });
}

void** JitOptions::value_of(int option) const {
  const auto* const found = std::find(options_, options_ + count_, option);
  return found == options_ + count_ ? nullptr : values_ + (found - options_);
}

void JitOptions::fill(int buffer, int size, const std::string& text) const {
  void** const to = value_of(buffer);
  void** const bytes = value_of(size);
  if (bytes == nullptr) return;
  std::uintptr_t filled = 0;
  const auto room = reinterpret_cast<std::uintptr_t>(*bytes);
  if (to != nullptr && *to != nullptr && room != 0) {
    filled = std::min<std::uintptr_t>(text.size(), room - 1);
    std::memcpy(*to, text.data(), filled);
    static_cast<char*>(*to)[filled] = '\0';
  }
  *bytes = reinterpret_cast<void*>(filled);
}

void JitOptions::report(const std::string& errors) const {
  fill(kInformation, kInformationBytes, {});
  fill(kErrors, kErrorBytes, errors);
  if (void** const time = value_of(kWallTime); time != nullptr) {
    const float none = 0;
    std::memcpy(time, &none, sizeof none);
  }
}

}  // namespace warpline::cuda
