#include "rtl_models/pcie/packets/link_parameters.h"

#include "rtl_models/base/bits.h"
#include "rtl_models/base/types.h"

namespace warpline {
namespace {

/// As the three-bit fields of PCI Express device control can say.
bool is_payload_size(unsigned bytes) {
  return bytes >= 128 && bytes <= 4096 && is_power_of_two(bytes);
}

bool is_credit_count(unsigned credits) {
  return credits >= 1 && credits <= 65536;
}

}  // namespace

Problems LinkParameters::problems(const std::string& path) const {
  constexpr const char* kSize = "must be a power of two from 128 to 4096 bytes";
  constexpr const char* kCredits = "must be 1 to 65536 packets";
  Rules rules(path);
  rules.need(latency >= 1 && latency <= 100000, "latency", "must be 1 to 100000 cycles");
  rules.need(bytes_per_cycle >= 1 && bytes_per_cycle <= kLineBytes, "bytes_per_cycle",
             "must be 1 to 128 bytes");
  rules.need(is_payload_size(max_payload), "max_payload", kSize);
  rules.need(is_payload_size(max_read_request), "max_read_request", kSize);
  rules.need(completion_boundary == 64 || completion_boundary == 128, "completion_boundary",
             "must be 64 or 128 bytes");
  rules.need(tags >= 1 && tags <= 256, "tags", "must be 1 to 256 requests");
  rules.need(is_credit_count(posted_credits), "posted_credits", kCredits);
  rules.need(is_credit_count(non_posted_credits), "non_posted_credits", kCredits);
  rules.need(is_credit_count(completion_credits), "completion_credits", kCredits);
  rules.need(completion_timeout / 2 > latency, "completion_timeout", "must be more than twice the latency");
  return rules.take();
}

}  // namespace warpline
