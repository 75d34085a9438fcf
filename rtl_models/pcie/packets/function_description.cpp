#include "rtl_models/pcie/packets/function_description.h"

#include "rtl_models/base/bits.h"

namespace warpline {
namespace {

bool is_width(unsigned lanes) {
  return lanes == 12 || (is_power_of_two(lanes) && lanes <= 32);
}

void check_bars(const std::array<BarDescription, kBars>& bars, Rules& rules) {
  for (unsigned i = 0; i < kBars; ++i) {
    const BarDescription& bar = bars[i];
    if (bar.bytes == 0) continue;
    const std::string name = "bars[" + std::to_string(i) + "]";
    rules.need(is_power_of_two(bar.bytes) && bar.bytes >= 16, name,
               "must have a power of two of bytes, 16 or more");
    rules.need(bar.wide || bar.bytes <= 0x8000'0000, name, "must be 64-bit to have more than 2 GiB");
    if (!bar.wide) continue;
    rules.need(i + 1 < kBars && bars[i + 1].bytes == 0, name,
               "must have the next one's place if it is 64-bit");
  }
}

}  // namespace

Problems FunctionDescription::problems(const std::string& path) const {
  Rules rules(path);
  rules.need(vendor != 0xFFFF, "vendor", "must not be 65535, which says that nobody is there");
  rules.need(class_code <= 0xFF'FFFF, "class_code", "must have 24 bits");
  check_bars(bars, rules);
  rules.need(vectors <= 2048, "vectors", "must be 2048 or less");
  const std::uint64_t table = 16ULL * vectors + 8ULL * ((vectors + 63) / 64);
  rules.need(vectors == 0 || (msix_bar < kBars && bars[msix_bar].bytes >= table), "msix_bar",
             "must name a base address register with room for the MSI-X table and its pending bits");
  rules.need(
      is_power_of_two(max_payload_supported) && max_payload_supported >= 128 && max_payload_supported <= 4096,
      "max_payload_supported", "must be a power of two from 128 to 4096 bytes");
  rules.need(link_speed >= 1 && link_speed <= 6, "link_speed", "must be 1 to 6");
  rules.need(is_width(link_width), "link_width", "must be 1, 2, 4, 8, 12, 16 or 32 lanes");
  return rules.take();
}

}  // namespace warpline
