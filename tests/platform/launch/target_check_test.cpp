#include "platform/launch/target_check.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "platform/config/load_gpu.h"
#include "platform/launch/loaded_file.h"
#include "platform/launch/workload.h"

namespace warpline::test {
namespace target_check_test {

/// What is said of a module for `target` on a GPU of this compute capability.
Diagnostics said(const std::string& target, unsigned capability) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("warpline-target-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "k.ptx") << ".version 9.0\n.target " << target
                                  << "\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n";
  std::ofstream(folder / "l.toml") << "module = \"k.ptx\"\nkernel = \"k\"\ngrid = [1]\nblock = [1]\n";
  const auto plan = read_workload({(folder / "l.toml").string()}, false);
  std::filesystem::remove_all(folder);
  EXPECT_TRUE(plan.ok()) << target;
  GpuConfig config = load_gpu("v100", {}).value();
  config.compute_capability = capability;
  return unfit_targets(plan.value(), config);
}

TEST(TargetCheck, CodeIsForItsTargetAndLaterGpus) {
  for (const char* target : {"sm_30", "sm_32", "sm_70"}) EXPECT_TRUE(said(target, 70).empty()) << target;
  for (const char* target : {"sm_72", "sm_80", "sm_100"}) EXPECT_EQ(said(target, 70).size(), 1U) << target;
  const Diagnostic d = said("sm_100", 70).front();
  EXPECT_EQ(d.message, "its target, sm_100, is not for v100, whose compute capability is 7.0");
  EXPECT_EQ(d.hint, "compile it for sm_70 or older, or choose another GPU");
}

TEST(TargetCheck, CodeOfOneArchitectureIsForThatOnly) {
  EXPECT_TRUE(said("sm_90a", 90).empty());
  EXPECT_EQ(said("sm_90a", 80).size(), 1U);
  EXPECT_EQ(said("sm_90a", 100).size(), 1U);
}

TEST(TargetCheck, CodeOfAFamilyIsForItsLaterGpus) {
  EXPECT_TRUE(said("sm_100f", 100).empty());
  EXPECT_TRUE(said("sm_100f", 103).empty());
  EXPECT_EQ(said("sm_103f", 100).size(), 1U);
  EXPECT_EQ(said("sm_100f", 120).size(), 1U);
}

TEST(TargetCheck, TracesAreForTheGpuTheyWereTakenOnAndLaterOnes) {
  Workload plan;
  plan.steps.resize(3);
  plan.steps[0].trace = "old.traceg";
  plan.steps[0].made_for = 70;
  plan.steps[1].trace = "silent.traceg";
  plan.steps[2].trace = "new.traceg";
  plan.steps[2].made_for = 100;
  const Diagnostics said = unfit_targets(plan, load_gpu("v100", {}).value());
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].file, "new.traceg");
  EXPECT_EQ(said[0].message, "its code, for sm_100, is not for v100, whose compute capability is 7.0");
  EXPECT_EQ(said[0].hint, "trace it on sm_70 or older, or choose another GPU");
}

TEST(TargetCheck, AGpuOfNoProductTakesAll) {
  EXPECT_TRUE(said("sm_121a", 0).empty());
  EXPECT_EQ(load_gpu("mini", {}).value().compute_capability, 0U);
  EXPECT_EQ(load_gpu("v100", {}).value().compute_capability, 70U);
  EXPECT_EQ(load_gpu("a100", {}).value().compute_capability, 80U);
}

}  // namespace target_check_test
}  // namespace warpline::test
