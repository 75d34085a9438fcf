#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "platform/config/gpu_config.h"
#include "platform/consistency/machine.h"
#include "platform/consistency/test.h"
#include "rtl_models/base/problem.h"

namespace warpline {

/// A file, and the test in it or what is wrong with it.
struct LitmusInput {
  std::string file;
  Result<litmus::Test> test;
};

/// A machine for each number of GPUs that tests ask for, made when the first does. Where hops are SystemC's
/// there is one for all, for it elaborates once.
class LitmusMachines {
 public:
  /// `transport` and `pins` as `warpline litmus` takes them.
  LitmusMachines(GpuConfig config, std::string transport, std::vector<std::string> pins,
                 const std::vector<LitmusInput>& inputs);
  /// The GPUs that any machine has at least; in SystemC all.
  [[nodiscard]] const GpuConfig& config() const { return config_; }
  [[nodiscard]] litmus::Machine& of(const litmus::Test& test);

 private:
  [[nodiscard]] bool in_systemc() const { return transport_ == "at" || !pins_.empty(); }

  GpuConfig config_;
  std::string transport_;
  std::vector<std::string> pins_;
  std::map<unsigned, std::unique_ptr<litmus::Machine>> made_;  ///< by GPUs
};

}  // namespace warpline
