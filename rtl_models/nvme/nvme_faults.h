#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rtl_models/base/random.h"
#include "rtl_models/nvme/nvme_command.h"
#include "rtl_models/nvme/nvme_parameters.h"

namespace warpline {

/// What may go wrong with an I/O command.
enum class NvmeFault : std::uint8_t {
  none,
  read_error,      ///< of one that reads the media: unrecovered read error
  write_fault,     ///< of one that writes it
  internal_error,  ///< of any
  timeout,         ///< of any: it never completes, but by an Abort, the end of its queue or a reset
  stuck,           ///< of any: the same, but that an Abort does not end it
  not_ready,       ///< of any: its namespace is not ready
};
/// What each but `none` is called, and its number.
inline constexpr std::array<std::pair<const char*, NvmeFault>, 6> kNvmeFaultNames = {
    {{"read-error", NvmeFault::read_error},
     {"write-fault", NvmeFault::write_fault},
     {"internal-error", NvmeFault::internal_error},
     {"timeout", NvmeFault::timeout},
     {"stuck", NvmeFault::stuck},
     {"not-ready", NvmeFault::not_ready}}};
/// The one that is called that, if any is.
[[nodiscard]] inline std::optional<NvmeFault> nvme_fault_of(std::string_view called) {
  for (const auto& [name, fault] : kNvmeFaultNames)
    if (called == name) return fault;
  return std::nullopt;
}
[[nodiscard]] inline std::vector<std::string> nvme_fault_names() {
  std::vector<std::string> out;
  for (const auto& [name, fault] : kNvmeFaultNames) out.emplace_back(name);
  return out;
}

/// What is to go wrong: the commands that it fits, but for the first `after` of them, up to `count`.
struct NvmeFaultRule {
  NvmeFault fault = NvmeFault::internal_error;
  std::uint32_t nsid = 0;  ///< 0: of any namespace
  /// Blocks one of which the command names; all: it need not name any.
  std::uint64_t first_block = 0, last_block = ~std::uint64_t{0};
  std::uint64_t after = 0, count = ~std::uint64_t{0};

  [[nodiscard]] bool bounds_blocks() const { return first_block != 0 || last_block != ~std::uint64_t{0}; }
  template <class Archive>
  void archive(Archive& a) {
    auto number = static_cast<unsigned>(fault);
    a.index(number, static_cast<unsigned>(NvmeFault::not_ready) + 1);
    fault = static_cast<NvmeFault>(number);
    a(nsid, first_block, last_block, after, count);
  }
};

/// The failures that a controller was told to have. The first rule that fits decides, then the chances of the
/// parameters.
class NvmeFaults {
 public:
  static constexpr std::size_t kMost = 1024;  ///< rules that are not spent

  explicit NvmeFaults(const NvmeParameters& parameters) : parameters_(parameters) {}

  /// Whether it is taken: it is not if there are kMost. One of no commands is spent.
  bool add(const NvmeFaultRule& rule) {
    if (rule.count == 0) return true;
    if (rules_.size() == kMost) return false;
    rules_.push_back(rule);
    return true;
  }
  [[nodiscard]] std::size_t size() const { return rules_.size(); }
  void clear() { rules_.clear(); }
  /// What goes wrong with a command: number `number` of its queue.
  [[nodiscard]] NvmeFault judge(unsigned queue, std::uint64_t number, const NvmeCommand& command) {
    for (auto rule = rules_.begin(); rule != rules_.end(); ++rule) {
      if (!fits(*rule, command)) continue;
      if (rule->after != 0) {
        --rule->after;
        continue;
      }
      const NvmeFault fault = rule->fault;
      if (rule->count != ~std::uint64_t{0} && --rule->count == 0) rules_.erase(rule);
      return fault;
    }
    return draw(queue, number, command);
  }
  [[nodiscard]] static bool reads(unsigned opcode) {
    using namespace regs::nvme;
    return opcode == kNvmOpcodeRead || opcode == kNvmOpcodeCompare || opcode == kNvmOpcodeVerify;
  }
  [[nodiscard]] static bool writes(unsigned opcode) {
    using namespace regs::nvme;
    return opcode == kNvmOpcodeWrite || opcode == kNvmOpcodeWriteZeroes;
  }
  template <class Archive>
  void archive(Archive& a) {
    a(rules_);
    if (rules_.size() > kMost) a.misfit("has too many rules");
    for (const NvmeFaultRule& rule : rules_)
      if (rule.count == 0) a.misfit("has a rule that is spent");
  }

 private:
  [[nodiscard]] static bool suits(NvmeFault fault, unsigned opcode) {
    switch (fault) {
      case NvmeFault::none: return false;
      case NvmeFault::read_error: return reads(opcode);
      case NvmeFault::write_fault: return writes(opcode);
      case NvmeFault::internal_error:
      case NvmeFault::timeout:
      case NvmeFault::stuck:
      case NvmeFault::not_ready: return true;
    }
    return false;
  }
  [[nodiscard]] static bool fits(const NvmeFaultRule& rule, const NvmeCommand& command) {
    const bool concerns = rule.nsid == 0 || rule.nsid == command.nsid || command.nsid == kAllNamespaces;
    if (!suits(rule.fault, command.opcode) || !concerns) return false;
    if (!reads(command.opcode) && !writes(command.opcode)) return !rule.bounds_blocks();
    const std::uint64_t first = command.first_block(), last = first + command.blocks() - 1;
    return first <= rule.last_block && last >= rule.first_block;
  }
  [[nodiscard]] NvmeFault draw(unsigned queue, std::uint64_t number, const NvmeCommand& command) const {
    Random random(splitmix64(parameters_.seed ^ splitmix64(std::uint64_t{queue} << 48U ^ number)));
    const auto happens = [&](unsigned chance) { return random.below(1'000'000) < chance; };
    // Each is drawn, so that one chance does not change what another gives.
    const bool timeout = happens(parameters_.timeouts), unready = happens(parameters_.not_ready),
               internal = happens(parameters_.internal_errors), unread = happens(parameters_.read_errors),
               unwritten = happens(parameters_.write_faults);
    if (timeout) return NvmeFault::timeout;
    if (unready) return NvmeFault::not_ready;
    if (internal) return NvmeFault::internal_error;
    if (unread && reads(command.opcode)) return NvmeFault::read_error;
    return unwritten && writes(command.opcode) ? NvmeFault::write_fault : NvmeFault::none;
  }
  NvmeParameters parameters_;
  std::vector<NvmeFaultRule> rules_;
};

}  // namespace warpline
