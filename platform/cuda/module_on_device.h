#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "platform/launch/device_memory.h"
#include "platform/machine/gpu_platform.h"
#include "platform/programs/module.h"
#include "platform/programs/ptx/module.h"
#include "rtl_models/base/problem.h"

namespace warpline::cuda {

/// A text in PTX as a program brings it.
struct PtxText {
  std::string text;
  std::string name;  ///< in messages
};

/// A module of a program on one GPU: its kernels, and its variables in that GPU's memory. Its constants lie
/// in memory, too, so that they have an address, and are laid into the constant bank before its grids.
class ModuleOnDevice {
 public:
  /// Where a module is to be.
  struct Place {
    GpuPlatform& platform;
    unsigned gpu;
    DeviceMemory& memory;  ///< what all modules of the platform share
    DeviceMemorySizes sizes;
  };
  /// Reads the texts, which are linked if there are several. Faults: what is wrong with them.
  [[nodiscard]] static Result<std::unique_ptr<programs::Module>> read(const std::vector<PtxText>& texts,
                                                                      ptx::Schedule schedule);
  /// Places and fills the variables of a program that was read; those in `given` lie there, and are filled
  /// only if `fill_given`. `name`: the program's, in messages. Faults: what does not fit.
  [[nodiscard]] static Result<std::unique_ptr<ModuleOnDevice>> load(
      std::unique_ptr<programs::Module> program, const std::string& name, const Place& place,
      const std::map<std::string, std::uint64_t>& given, bool fill_given);
  /// Gives back its variables' memory. Pre: no grid of it is under way.
  ~ModuleOnDevice();
  ModuleOnDevice(const ModuleOnDevice&) = delete;
  ModuleOnDevice& operator=(const ModuleOnDevice&) = delete;

  [[nodiscard]] programs::Module& program() { return *program_; }
  /// Its kernels, in the order in which the texts have them.
  [[nodiscard]] std::vector<std::string> kernels() const;
  /// Null: it has no such kernel.
  [[nodiscard]] const programs::Entry* entry(std::string_view name) const;
  struct Variable {
    std::uint64_t address = 0;  ///< global
    std::uint64_t bytes = 0;
  };
  /// By name; without those that all modules share.
  [[nodiscard]] std::map<std::string, Variable> variables() const;
  /// Nothing: it has no such variable.
  [[nodiscard]] std::optional<Variable> variable(const std::string& name) const;
  /// Lays its constants, as they are in memory now, into the constant bank.
  void lay_constants();
  /// Whether its kernels ask for what facts_of() tells.
  [[nodiscard]] bool asks_for_facts() const { return facts_variable_ != 0; }
  /// Has its kernels see what `facts` tells of it, in memory that is kept. False: that does not fit.
  bool lay_facts(const std::vector<std::uint8_t>& facts);
  std::vector<std::uint8_t> facts;  ///< for whoever lays them
  /// Whether it has a part of the device library.
  [[nodiscard]] bool uses(DeviceMemory::Part part) const;
  /// Gives its variables the values that they began with, but those that another GPU's module has filled. The
  /// device library's memory is as new. Pre: no grid of the GPU is under way.
  void renew_variables();

 private:
  ModuleOnDevice(std::unique_ptr<programs::Module> program, GpuPlatform& platform, unsigned gpu)
      : program_(std::move(program)), platform_(platform), gpu_(gpu) {}
  std::optional<Diagnostic> lay(const std::string& name, const Place& place,
                                const std::map<std::string, std::uint64_t>& given, bool fill_given);

  std::unique_ptr<programs::Module> program_;
  GpuPlatform& platform_;
  unsigned gpu_;
  std::map<std::string, std::uint64_t> addresses_;  ///< of variables: global, or of constants in memory
  std::set<std::string> of_others_;                 ///< variables that were given, and filled before
  std::vector<std::uint64_t> allocated_;
  std::uint64_t facts_variable_ = 0;  ///< the device library's; 0: it is not there
  std::uint64_t facts_at_ = 0;        ///< where they lie; 0: nowhere yet
  std::uint64_t constants_ = 0;       ///< where they lie in memory; 0: there are none
  std::uint64_t constant_bytes_ = 0;
};

}  // namespace warpline::cuda
