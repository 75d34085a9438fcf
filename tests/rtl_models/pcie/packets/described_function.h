#pragma once

#include "rtl_models/pcie/packets/config_space.h"

namespace warpline::test {

/// A function with every kind of BAR, MSI-X, and settings that differ from the defaults.
inline FunctionDescription description() {
  FunctionDescription d;
  d.vendor = 0x1234;
  d.device = 0x5678;
  d.class_code = 0x088001;
  d.revision = 7;
  d.bars[0] = {0x1000, false, false};
  d.bars[1] = {0x10'0000, true, true};
  d.bars[3] = {16, false, true};
  d.bars[4] = {std::uint64_t{1} << 33U, true, true};
  d.vectors = 32;
  d.msix_bar = 0;
  d.max_payload_supported = 512;
  d.link_speed = 3;
  d.link_width = 8;
  return d;
}

}  // namespace warpline::test
