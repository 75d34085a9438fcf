#pragma once

#include <string>
#include <vector>

#include "rtl_models/base/problem.h"
#include "rtl_models/sim/port_base.h"

namespace warpline {

/// Which blocks and ports of a netlist are to be observed, by patterns of their names (glob_matches). A
/// pattern that matches a block ("l2[0]") takes its ports along; one can also match ports alone
/// ("*.from_crossbar"). No pattern at all: everything.
class Selection {
 public:
  explicit Selection(std::vector<std::string> patterns) : patterns_(std::move(patterns)) {}

  [[nodiscard]] bool takes(const Component& block) const { return matches(block.name()); }
  [[nodiscard]] bool takes(const PortBase& port) const { return takes(port.owner()) || matches(port.path()); }
  /// Whether some pattern matches `name`, which may be that of something else in the netlist.
  [[nodiscard]] bool matches(const std::string& name) const;
  /// For each pattern that matches no block and no receiving port of the engine, what is wrong with it.
  [[nodiscard]] Diagnostics faults(const Engine& engine) const;

 private:
  std::vector<std::string> patterns_;
};

}  // namespace warpline
