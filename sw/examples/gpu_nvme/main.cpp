// A GPU reads and writes a drive by itself: a kernel has a queue pair of an NVMe controller in video memory,
// rings its doorbells, and works on the blocks that come, while the host uses other queues of the same drive.
//
//     host ---- root complex ---- GPU: kernel, queue pair 1, its data
//      |             |
//   queue pairs   NVMe controller
//     2 and 3
#include <cstdio>

#include "run.h"

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::fprintf(stderr, "usage: gpu_nvme PTX [TIMELINE]   PTX: kernels/nvme_io.sm_80.ptx of the package\n");
    return 2;
  }
  Scenario scenario;
  scenario.kernel = argv[1];
  if (argc == 3) scenario.timeline = argv[2];
  const Outcome outcome = run(scenario);
  if (!outcome.failure.empty()) {
    std::fprintf(stderr, "%s", outcome.failure.c_str());
    return 2;
  }
  std::printf("kernel: %llu chunks of %u blocks copied, %llu failed, sum %s, %u words wrong, %.1f us\n",
              static_cast<unsigned long long>(outcome.written), scenario.blocks,
              static_cast<unsigned long long>(outcome.failed), outcome.sum_is_right ? "right" : "wrong",
              outcome.wrong_words, outcome.microseconds);
  std::printf("host:   %u pages written and read, %u commands failed, %u bytes wrong\n",
              2 * scenario.host_pages, outcome.host_failed, outcome.host_wrong);
  return outcome.is_right(scenario) ? 0 : 1;
}
