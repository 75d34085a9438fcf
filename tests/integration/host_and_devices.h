#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/integration/workspace.h"

namespace warpline::test {

using nlohmann::json;

/// Of a counter in the statistics of a run.
inline std::uint64_t value(const json& statistics, const std::string& counter) {
  return statistics.at("counters").at(counter).at("value").get<std::uint64_t>();
}

/// Thread n stores 1 at out[n].
inline const char* const kOnes =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry ones(.param .u64 out)\n{\n.reg .u32 "
    "%r<2>;\n"
    ".reg .u64 %x<3>;\nld.param.u64 %x0, [out];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %x1, %r0, 4;\n"
    "add.u64 %x2, %x0, %x1;\nmov.u32 %r1, 1;\nst.global.u32 [%x2], %r1;\nret;\n}\n";
inline const char* const kOnesLaunch =
    "module = \"ones.ptx\"\nkernel = \"ones\"\ngrid = [1]\nblock = [32]\n[[argument]]\nbuffer = \"out\"\n"
    "type = \"s32\"\ncount = 32\naperture = \"sysmem\"\n";

/// Launch files with a host and devices, as their users run them.
class HostAndDevices : public testing::Test {
 protected:
  HostAndDevices() { workspace_.write("ones.ptx", kOnes); }
  /// Runs a launch file on a platform with a device.
  Finished run(const std::string& file, const std::vector<std::string>& options = {}) {
    std::vector<std::string> all{"run", file, "--set=pcie_system.peers=1"};
    all.insert(all.end(), options.begin(), options.end());
    return workspace_.warpline(all);
  }
  /// The shipped file of a kernel, changed.
  std::string changed(const std::string& kernel, const std::string& from, const std::string& to) {
    const std::string text =
        replaced(read_file(in_source("sw/kernels/" + kernel + ".toml")), "\"" + kernel + ".sm_80.ptx\"",
                 "\"" + in_source("sw/kernels/" + kernel + ".sm_80.ptx") + "\"");
    EXPECT_THAT(text, testing::HasSubstr(from));
    return workspace_.write("launch.toml", replaced(text, from, to));
  }
  Workspace workspace_;
};

}  // namespace warpline::test
