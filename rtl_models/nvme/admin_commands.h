#pragma once

#include <cstdint>
#include <vector>

#include "rtl_models/nvme/nvme_engine.h"
#include "rtl_models/nvme/nvme_state.h"
#include "rtl_models/registers/register_file.h"

namespace warpline {

/// The commands of the admin queue.
class AdminCommands {
 public:
  /// All outlive it.
  AdminCommands(NvmeState& state, NvmeEngine& engine, const RegisterFile& registers, unsigned cycles_per_us)
      : state_(state), engine_(engine), registers_(registers), cycles_per_us_(cycles_per_us) {}
  /// See NvmeExecutor.
  [[nodiscard]] NvmeStatus begin(const NvmeCommand& command, NvmePlan& plan);
  [[nodiscard]] bool may_perform(const NvmeCommand& command) const;
  [[nodiscard]] NvmeStatus perform(const NvmeCommand& command, std::vector<std::uint8_t>& data,
                                   std::uint32_t& result, Cycle now);

 private:
  [[nodiscard]] NvmeStatus begin_log_page(const NvmeCommand& command, NvmePlan& plan) const;
  [[nodiscard]] NvmeStatus begin_deletion(const NvmeCommand& command);
  [[nodiscard]] NvmeStatus begin_creation(const NvmeCommand& command, NvmePlan& plan) const;
  [[nodiscard]] NvmeStatus create(const NvmeCommand& command, const std::vector<std::uint8_t>& pages);
  [[nodiscard]] NvmeStatus delete_completions(const NvmeCommand& command);
  [[nodiscard]] NvmeStatus check_creation(const NvmeCommand& command) const;
  [[nodiscard]] NvmeStatus identify(const NvmeCommand& command, std::vector<std::uint8_t>& data);
  [[nodiscard]] NvmeStatus give_log_page(const NvmeCommand& command, std::vector<std::uint8_t>& data);
  [[nodiscard]] std::vector<std::uint8_t> health() const;
  [[nodiscard]] static std::vector<std::uint8_t> supported();
  [[nodiscard]] std::vector<std::uint8_t> changed() const;
  [[nodiscard]] NvmeStatus set_feature(const NvmeCommand& command, const std::vector<std::uint8_t>& data,
                                       std::uint32_t& result, Cycle now);
  [[nodiscard]] NvmeStatus get_feature(const NvmeCommand& command, std::vector<std::uint8_t>& data,
                                       std::uint32_t& result, Cycle now) const;
  [[nodiscard]] NvmeStatus format(const NvmeCommand& command);

  NvmeState& state_;
  NvmeEngine& engine_;
  const RegisterFile& registers_;
  unsigned cycles_per_us_;
};

}  // namespace warpline
