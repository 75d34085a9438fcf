// Kernels on machines of every shape: any number of SMs, slices, channels and sets, queues down to a single
// entry, wires down to a few bytes. Whatever the shape, the result is right and nothing gets stuck.
//
// WARPLINE_SHAPES sets how many machines are drawn for each kernel (500 before a release).
#include <gtest/gtest.h>

#include "tests/integration/compiled_kernel.h"
#include "tests/support/environment.h"

namespace warpline::test {
namespace shapes_test {

/// A key of the configuration, and values worth drawing.
struct Choice {
  const char* key;
  std::vector<const char*> values;
};

const std::vector<Choice>& choices() {
  static const std::vector<Choice> kChoices = {
      {"sms", {"1", "2", "3", "7", "16"}},
      {"clocks.sm", {"1000", "1410", "333"}},
      {"clocks.l2", {"1000", "877", "2000"}},
      {"clocks.dram", {"1000", "1593", "250"}},
      {"clocks.link", {"1000", "123"}},
      {"sm.warp_slots", {"8", "11", "64"}},
      {"sm.cta_slots", {"1", "3", "32"}},
      {"sm.partitions", {"1", "3", "4"}},
      {"sm.shared_banks", {"1", "7", "32"}},
      {"sm.lsu_entries", {"1", "2", "64"}},
      {"l1_lg.sets", {"1", "5", "64"}},
      {"l1_lg.ways", {"1", "3", "4"}},
      {"l1_lg.miss_registers", {"1", "2", "64"}},
      {"l1_lg.outgoing", {"2", "3", "64"}},
      {"l1_lg.update_on_store", {"true", "false"}},
      {"texture.sets", {"1", "6"}},
      {"texture.ways", {"1", "4"}},
      {"texture.miss_registers", {"1", "32"}},
      {"constant.sets", {"1", "16"}},
      {"constant.miss_registers", {"1", "16"}},
      {"instruction.sets", {"1", "32"}},
      {"instruction.miss_registers", {"1", "16"}},
      {"sm.instruction_buffer_lines", {"1", "96"}},
      {"crossbar.hash_masks", {"[]", "[0x5555555555555554, 0x2AAAAAAAAAAAAAA8]"}},
      {"l2.slices", {"1", "2", "3", "5", "13"}},
      {"l2.sets", {"1", "9", "128"}},
      {"l2.ways", {"1", "2", "8"}},
      {"l2.miss_registers", {"1", "2", "64"}},
      {"dram.channels", {"1", "2", "3", "7"}},
      {"dram.banks", {"1", "3", "16"}},
      {"dram.queue", {"1", "32"}},
      {"pcie.tags", {"1", "256"}},
      {"pcie.max_payload", {"32", "256"}},
      {"pcie.atomic_ops", {"true", "false"}},
      {"hops.sm_l1_lg.request.depth", {"1", "4"}},
      {"hops.sm_l1_lg.response.width", {"3", "128"}},
      {"hops.l1_lg_crossbar.request.width", {"1", "32"}},
      {"hops.l1_lg_crossbar.response.depth", {"1", "8"}},
      {"hops.crossbar_l2.request.depth", {"1", "8"}},
      {"hops.crossbar_l2.request.credit_latency", {"1", "9"}},
      {"hops.crossbar_l2.response.width", {"7", "32"}},
      {"hops.l2_dram.request.depth", {"1", "8"}},
      {"hops.l2_dram.response.latency", {"1", "30"}},
      {"hops.l2_pcie.request.depth", {"1", "8"}},
  };
  return kChoices;
}

std::uint64_t shapes() {
  return from_environment("WARPLINE_SHAPES", 6);
}

class Shapes : public testing::TestWithParam<const char*> {};

TEST_P(Shapes, GiveTheExpectedResult) {
  const std::string kernel = GetParam();
  const Workspace w;
  const std::string text = replaced(read_file(in_source("sw/kernels/" + kernel + ".toml")), "module = \"",
                                    "module = \"" + in_source("sw/kernels/"));
  for (unsigned seed = 0; seed < shapes(); ++seed) {
    Random random(splitmix64(seed * 1000 + static_cast<unsigned>(kernel[0]) + kernel.size()));
    // One run in three keeps its data in system memory.
    const bool system_memory = random.below(3) == 0;
    w.write("launch.toml",
            system_memory ? replaced(text, "\ncount ", "\naperture = \"sysmem\"\ncount ") : text);
    std::vector<std::string> command{"run", "launch.toml", "--set", "sm.lsu_queue=1"};
    std::string shown = system_memory ? "(system memory)" : "";
    for (const Choice& choice : choices()) {
      if (random.below(2) == 0) continue;
      const std::string set =
          std::string(choice.key) + "=" + choice.values[random.below(choice.values.size())];
      command.insert(command.end(), {"--set", set});
      shown += " --set '" + set + "'";
    }
    const Finished run = w.warpline(command);
    ASSERT_EQ(run.status, 0) << kernel << " seed " << seed << shown << "\n" << run.out << run.err;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Shapes,
                         testing::Values("hints", "histogram", "pipeline", "reduce", "spmv", "stencil",
                                         "texture", "transpose", "vecadd"),
                         [](const auto& p) { return std::string(p.param); });

}  // namespace shapes_test
}  // namespace warpline::test
