#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "warpline/platform/machine/gpu_platform.h"

/// A kernel copies blocks of a drive to others of it, by a queue in its own memory, while the host uses two
/// other queues.
struct Scenario {
  std::string kernel;                 ///< file of the PTX, made of kernels/nvme_io.cu
  std::vector<std::string> settings;  ///< of the platform, beyond a drive
  warpline::RunOptions options;
  std::string timeline;             ///< a file for it; empty: none is written
  std::vector<std::string> probes;  ///< what it shows: patterns of blocks, none: everything
  unsigned chunks = 24;             ///< that the kernel copies
  unsigned blocks = 32;             ///< of a chunk
  unsigned buffers = 8;             ///< of a chunk each: so many commands are under way
  unsigned entries = 16;            ///< of the kernel's queues
  unsigned launches = 1;            ///< that share the chunks
  unsigned threads = 128;
  std::uint64_t patience = 100'000;  ///< looks of the kernel at a completion before it gives up
  unsigned host_pages = 40;          ///< that the host writes and reads by each of its queues
};

struct Outcome {
  std::string failure;                                      ///< why there is nothing else; empty: there is
  std::uint64_t written = 0, failed = 0, failure_word = 0;  ///< as the kernel reports
  bool sum_is_right = false;                                ///< of what it has read
  unsigned wrong_words = 0;                                 ///< on the drive, of those that it has written
  unsigned host_failed = 0, host_wrong = 0;
  warpline::Cycle cycles = 0;  ///< of the launches
  double microseconds = 0;
  [[nodiscard]] bool is_right(const Scenario& scenario) const {
    return failure.empty() && written == scenario.chunks && failed == 0 && failure_word == 0 &&
           sum_is_right && wrong_words == 0 && host_failed == 0 && host_wrong == 0;
  }
};

Outcome run(const Scenario& scenario);
