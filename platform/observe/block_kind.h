#pragma once

#include <cstdint>
#include <string>

#include "rtl_models/base/text.h"
#include "rtl_models/sim/port_base.h"

namespace warpline {

/// The kind of a block: "l2" of "l2[3]", "l1_lg" of "gpu[1].sm[0].l1_lg".
[[nodiscard]] inline std::string kind_of(const Component& block) {
  const std::string& name = block.name();
  const std::size_t dot = name.rfind('.');
  const std::size_t first = dot == std::string::npos ? 0 : dot + 1;
  return name.substr(first, name.find('[', first) - first);
}

/// The GPU that it is part of; 0 where there is one, or it is part of none.
[[nodiscard]] inline std::uint64_t gpu_of(const Component& block) {
  constexpr std::string_view kGpu = "gpu[";
  const std::string& name = block.name();
  if (name.compare(0, kGpu.size(), kGpu) != 0) return 0;
  const std::size_t end = name.find(']');
  return number_from<std::uint64_t>(std::string_view(name).substr(kGpu.size(), end - kGpu.size()))
      .value_or(0);
}

}  // namespace warpline
