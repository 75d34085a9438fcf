#pragma once

#include <cstdint>
#include <vector>

#include "rtl_models/nvme/nvme_engine.h"
#include "rtl_models/nvme/nvme_state.h"

namespace warpline {

/// The commands of I/O queues: the NVM command set.
class NvmCommands {
 public:
  explicit NvmCommands(NvmeState& state) : state_(state) {}
  /// See NvmeExecutor.
  [[nodiscard]] NvmeStatus begin(unsigned queue, std::uint64_t number, const NvmeCommand& command,
                                 NvmePlan& plan);
  [[nodiscard]] NvmeStatus perform(const NvmeCommand& command, std::vector<std::uint8_t>& data);

 private:
  [[nodiscard]] NvmeStatus plan_blocks(NvmeNamespace& space, const NvmeCommand& command,
                                       NvmePlan& plan) const;
  [[nodiscard]] bool through(const NvmeCommand& command) const;
  [[nodiscard]] NvmeStatus flush(const NvmeCommand& command);
  [[nodiscard]] NvmeStatus read(NvmeNamespace& space, const NvmeCommand& command, std::uint8_t* to,
                                std::uint64_t bytes);
  [[nodiscard]] NvmeStatus wrote(NvmeNamespace& space, const NvmeCommand& command,
                                 BlockOutcome outcome) const;
  [[nodiscard]] NvmeStatus write(NvmeNamespace& space, const NvmeCommand& command,
                                 const std::vector<std::uint8_t>& data);
  [[nodiscard]] NvmeStatus verify(NvmeNamespace& space, const NvmeCommand& command);
  [[nodiscard]] NvmeStatus compare(NvmeNamespace& space, const NvmeCommand& command,
                                   const std::vector<std::uint8_t>& data);
  [[nodiscard]] NvmeStatus clear(NvmeNamespace& space, const NvmeCommand& command);
  [[nodiscard]] NvmeStatus deallocate(NvmeNamespace& space, const NvmeCommand& command,
                                      const std::vector<std::uint8_t>& ranges);
  NvmeState& state_;
};

}  // namespace warpline
