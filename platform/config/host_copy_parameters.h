#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

/// What a copy between the host and a GPU costs that a CUDA program asks for, as it is measured by copies of
/// several sizes. Without it a copy takes what its packets take on the link.
struct WARPLINE_PUBLIC HostCopyParameters {
  unsigned setup_ns = 0;              ///< 0: nothing of this is given
  unsigned call_ns = 0;               ///< that the host takes to ask for a blocking copy and to see its end
  unsigned ramp_bytes = 0;            ///< the first bytes of a copy, which go at half the rate
  unsigned to_gpu = 0, from_gpu = 0;  ///< MB/s
  unsigned pageable_to_gpu = 0, pageable_from_gpu = 0;  ///< MB/s, of memory that is not page-locked

  [[nodiscard]] bool is_given() const { return setup_ns != 0; }
  /// Nanoseconds from the beginning of a copy to its end. Pre: is_given().
  [[nodiscard]] double duration_ns(std::uint64_t bytes, bool to_the_gpu, bool page_locked) const {
    const unsigned rate =
        page_locked ? (to_the_gpu ? to_gpu : from_gpu) : (to_the_gpu ? pageable_to_gpu : pageable_from_gpu);
    const std::uint64_t slow = std::min<std::uint64_t>(bytes, ramp_bytes);
    return setup_ns + static_cast<double>(bytes + slow) * 1e3 / rate;
  }
  [[nodiscard]] Problems problems(const std::string& path) const {
    Rules rules(path);
    rules.need(setup_ns <= 1'000'000'000, "setup_ns", "must be at most 1000000000 ns");
    rules.need(call_ns <= 1'000'000'000, "call_ns", "must be at most 1000000000 ns");
    const auto need_rate = [&](unsigned rate, const char* key) {
      rules.need(!is_given() || rate != 0, key, "must be at least 1 MB/s where setup_ns is given");
    };
    need_rate(to_gpu, "to_gpu");
    need_rate(from_gpu, "from_gpu");
    need_rate(pageable_to_gpu, "pageable_to_gpu");
    need_rate(pageable_from_gpu, "pageable_from_gpu");
    return rules.take();
  }
  template <class F>
  void visit(F&& f) {
    f("setup_ns", setup_ns,
      "from the beginning of a copy between host and GPU to its first byte, ns; 0: copies take what their "
      "packets "
      "take on the link, and no other key of this table counts");
    f("call_ns", call_ns, "that the host takes to ask for a blocking copy and to see its end, ns");
    f("ramp_bytes", ramp_bytes, "of a copy's beginning that go at half the rate, bytes");
    f("to_gpu", to_gpu, "rate of copies from page-locked memory of the host, MB/s");
    f("from_gpu", from_gpu, "rate of copies to page-locked memory of the host, MB/s");
    f("pageable_to_gpu", pageable_to_gpu, "rate of copies from other memory of the host, MB/s");
    f("pageable_from_gpu", pageable_from_gpu, "rate of copies to other memory of the host, MB/s");
  }
};

}  // namespace warpline
