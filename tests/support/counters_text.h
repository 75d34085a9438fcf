#pragma once

#include <string>
#include <string_view>

#include "platform/machine/gpu_platform.h"
#include "rtl_models/base/counter.h"

namespace warpline::test {

/// Every counter of a platform, one a line: "l2[0].hits 12".
inline std::string text_of_counters(const GpuPlatform& platform) {
  struct Visitor final : CounterVisitor {
    void counter(std::string_view block, std::string_view name, std::uint64_t value, std::string_view,
                 std::string_view) override {
      all += std::string(block) + "." + std::string(name) + " " + std::to_string(value) + "\n";
    }
    std::string all;
  } visitor;
  platform.visit(visitor);
  return visitor.all;
}

}  // namespace warpline::test
