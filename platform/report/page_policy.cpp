#include "platform/report/page_policy.h"

#include <algorithm>
#include <vector>

#include "rtl_models/base/sha256.h"

namespace warpline {

std::string policy_hash(const std::string& text) {
  const std::string hex = sha256_of(text);
  const char* const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<unsigned> bytes;
  for (std::size_t n = 0; n < hex.size(); n += 2)
    bytes.push_back(static_cast<unsigned>(std::stoul(hex.substr(n, 2), nullptr, 16)));
  std::string out = "sha256-";
  for (std::size_t n = 0; n < bytes.size(); n += 3) {
    const std::size_t left = std::min<std::size_t>(3, bytes.size() - n);
    const unsigned word =
        bytes[n] << 16U | (left > 1 ? bytes[n + 1] << 8U : 0) | (left > 2 ? bytes[n + 2] : 0);
    for (std::size_t d = 0; d < 4; ++d) out += d <= left ? digits[word >> (18 - 6 * d) & 63U] : '=';
  }
  return out;
}

}  // namespace warpline
