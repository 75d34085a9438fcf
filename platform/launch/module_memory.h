#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "platform/launch/loaded_file.h"
#include "platform/machine/gpu_platform.h"

namespace warpline {

/// Addresses of module variables by name, for each module of a file: global virtual addresses, or
/// constant addresses.
using VariableAddresses = std::vector<std::map<std::string, std::uint64_t>>;

/// Where a global variable lies.
struct GlobalPlace {
  std::uint64_t address = 0;  ///< 0: it does not fit
  /// What the platform has allocated, to be named and given back: where alignment asks for it, `address` lies
  /// within.
  std::uint64_t memory = 0;
};
/// A place in a GPU's video memory for a variable.
[[nodiscard]] GlobalPlace place_global(const programs::Variable& variable, GpuPlatform& platform,
                                       unsigned gpu);
/// A place in the module constant bank, of which `used` bytes are taken, for a variable: a constant address,
/// or 0.
[[nodiscard]] std::uint64_t place_constant(const programs::Variable& variable, std::uint64_t& used);
/// Writes the bytes that a variable at an address starts with.
void fill_variable(const programs::Variable& variable, std::uint64_t address,
                   const std::vector<std::uint8_t>& bytes, GpuPlatform& platform, unsigned gpu);
/// The GPU on which a module's variables lie: that of its first launch.
[[nodiscard]] unsigned gpu_of_module(const LaunchFile& file, std::size_t module);
/// Reserves memory for the variables of every module of `loaded`, and tells the modules where they lie.
/// Constant variables go into the module constant bank, of which all modules of a run share `constant_used`
/// bytes. What does not fit is a fault.
[[nodiscard]] VariableAddresses place_variables(LoadedFile& loaded, GpuPlatform& platform,
                                                std::uint64_t& constant_used, Diagnostics& faults);
/// Writes what the variables start with: the module's initialisers, then the file's [[symbol]] tables.
/// Pre: all variables of the file are placed.
void fill_variables(const LoadedFile& loaded, const VariableAddresses& addresses, GpuPlatform& platform);

}  // namespace warpline
