#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/programs/inspection.h"
#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/isa/mem_op.h"
#include "rtl_models/sm/kernel.h"

namespace warpline::programs {

/// A module-scope variable in global or constant memory.
struct WARPLINE_PUBLIC Variable {
  std::string name;
  Space space = Space::global;        ///< global or constant
  std::uint64_t alignment = 1;        ///< bytes
  DataType type = DataType::b8;       ///< of an element
  std::vector<std::uint8_t> initial;  ///< its bytes, zero where no initialiser stands; its size
  bool below_4g = false;              ///< of one in global memory: addresses of 32 bits are to reach it
  bool managed = false;               ///< the host is to have it, too, at the same address
  std::string refused;                ///< why it gets no memory, and nobody can use it; empty: it does
};

/// A kernel parameter, as laid out in the parameter block.
struct WARPLINE_PUBLIC Parameter {
  std::string name;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
};

/// A kernel entry as its signature tells it.
struct WARPLINE_PUBLIC Entry {
  std::string name;
  std::vector<Parameter> parameters;
  std::uint32_t parameter_bytes = 0;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t local_bytes = 0;         ///< per thread
  std::optional<Dim3> required_block;    ///< `.reqntid`: the only block that it may be launched with
  std::uint64_t maximum_threads = 1024;  ///< per block (`.maxntid`)
  /// `.reqnctapercluster`: the only cluster that it may be launched with, and is if the launch says none.
  std::optional<Dim3> required_cluster;
  std::uint64_t maximum_cluster = ~std::uint64_t{0};  ///< CTAs per cluster (`.maxclusterrank`)
  bool needs_cluster = false;                         ///< `.explicitcluster`: a launch says which
  /// `.blocksareclusters`: a launch's grid counts clusters, each of the required size.
  bool blocks_are_clusters = false;
  Diagnostics refused;  ///< what of it this version cannot run; empty: it can be launched
};

/// A program that has been read, in whatever language: its variables, and kernels that can be launched.
class WARPLINE_PUBLIC Module {
 public:
  virtual ~Module() = default;
  [[nodiscard]] virtual const std::vector<Variable>& variables() const = 0;
  [[nodiscard]] virtual const std::vector<Entry>& entries() const = 0;
  /// Gives variable `name` its address: a global virtual address, or for constant variables
  /// a constant address ((bank << 16) + byte). All but refused ones are placed before a kernel is made.
  virtual void place(const std::string& name, std::uint64_t address) = 0;
  /// The bytes a variable starts with, addresses of other variables filled in. Pre: all placed.
  [[nodiscard]] virtual std::vector<std::uint8_t> initial_bytes(const std::string& name) const = 0;
  /// A launch of `entry`. `parameters` is the parameter block. Pre: the entry exists, all variables
  /// are placed. The module outlives the kernel. Throws InputError where the entry is refused or does
  /// not allow this block or this cluster, or `parameters` has not its size.
  [[nodiscard]] virtual std::unique_ptr<Kernel> make_kernel(const std::string& entry, Dim3 grid, Dim3 block,
                                                            std::uint32_t dynamic_shared_bytes,
                                                            std::vector<std::uint8_t> parameters,
                                                            const ClusterShape& cluster = {}) = 0;
  /// 32-bit registers that a thread of an entry has: as the program says, or as many as its values need, as
  /// an estimate. 0: nothing is known of them. Pre: the entry exists, and is not refused.
  [[nodiscard]] virtual unsigned registers(const std::string& /*entry*/) const { return 0; }
  /// The entry to which a program's pointer of this value leads; null: none.
  [[nodiscard]] virtual const Entry* entry_at(std::uint64_t /*pointer*/) const { return nullptr; }
  /// The GPUs that it is for, as PTX names them: "sm_90a"; empty: every one.
  [[nodiscard]] virtual std::string target() const { return {}; }
  /// What the program itself asks to be shown and checked after its last launch; null: nothing.
  [[nodiscard]] virtual const Inspection* inspection() const { return nullptr; }
  /// Of a module that has an inspection(): its last launch ran in another process, and left these registers
  /// (Inspection::threads, Inspection::left). Pre: there are as many as that says.
  virtual void set_left(unsigned /*threads*/, std::vector<std::uint32_t> /*left*/) {}
};

}  // namespace warpline::programs
