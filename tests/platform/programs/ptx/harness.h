#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "platform/programs/ptx/module.h"
#include "rtl_models/sm/image_table.h"
#include "rtl_models/sm/instruction_source.h"

namespace warpline::ptx::test {

/// Plays the SM for PTX kernels: flat memories, one instruction at a time from a warp drawn at
/// random, loads that complete late where nothing depends on them. It checks the protocol as it
/// goes, and knows nothing of caches or time.
class Machine {
 public:
  explicit Machine(std::uint64_t seed = 1) : seed_(seed) {}

  /// Parses; fails the test with the diagnostics where that goes wrong.
  programs::Module& load(const std::string& text);
  programs::Module& load_file(const std::string& path);
  [[nodiscard]] programs::Module& module() { return *module_; }

  /// A global buffer with these elements; its address.
  template <class T>
  std::uint64_t buffer(const std::vector<T>& values) {
    return allocate(values.data(), values.size() * sizeof(T));
  }
  template <class T>
  std::vector<T> read(std::uint64_t address, std::size_t count) {
    std::vector<T> values(count);
    std::memcpy(values.data(), global_bytes(address, count * sizeof(T)), count * sizeof(T));
    return values;
  }
  template <class T>
  T symbol(const std::string& name) {
    return read<T>(symbols_.at(name), 1).front();
  }
  std::uint64_t symbol_address(const std::string& name) { return symbols_.at(name); }

  template <class... Values>
  void launch(const std::string& entry, Dim3 grid, Dim3 block, std::uint32_t dynamic_shared,
              Values... values) {
    std::vector<std::uint8_t> block_bytes;
    (append(block_bytes, values), ...);
    run(entry, grid, block, dynamic_shared, std::move(block_bytes));
  }
  void run(const std::string& entry, Dim3 grid, Dim3 block, std::uint32_t dynamic_shared,
           std::vector<std::uint8_t> parameters);

  Schedule schedule = Schedule::assembler;
  std::vector<std::string> order;  ///< if kept: where the instructions come from, in the order of their issue
  std::vector<LaneMask> active;    ///< and the lanes that took part in each
  bool keeps_order = false;
  bool in_step = false;            ///< nothing is computed before it is issued
  std::uint64_t instructions = 0;  ///< warp instructions executed
  std::uint64_t thread_instructions = 0;
  std::vector<std::string> faults;  ///< why warps ended themselves
  std::uint64_t most_instructions = 20'000'000;
  ImageTable images;  ///< textures and surfaces, in buffers

 private:
  struct WarpSlot;
  struct Cta;
  template <class T>
  static void append(std::vector<std::uint8_t>& bytes, T value) {
    bytes.resize((bytes.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T));
    const auto* from = reinterpret_cast<const std::uint8_t*>(&value);
    bytes.insert(bytes.end(), from, from + sizeof(T));
  }
  std::uint64_t allocate(const void* from, std::size_t bytes);
  std::uint8_t* global_bytes(std::uint64_t address, std::size_t bytes);
  std::uint8_t* bytes_at(const MemOp& op, std::uint64_t address, unsigned lane, Cta& cta, WarpSlot& warp);
  void access(const Instruction& i, MemoryAccess& a, Cta& cta, WarpSlot& warp);
  void image_access(const Instruction& i, MemoryAccess& a, unsigned lane);
  void copy(const Instruction& i, const MemoryAccess& a, LaneMask lanes, Cta& cta, WarpSlot& warp);
  void finish_copies(Cta& cta, WarpSlot& warp, const Instruction& wait, LaneMask lanes);
  void run_cta(Kernel& kernel, InstructionSource& source, Dim3 where);
  void step(InstructionSource& source, Cta& cta, unsigned slot);
  void check_barriers(InstructionSource& source, Cta& cta);

  std::uint64_t seed_;
  std::unique_ptr<programs::Module> module_;
  std::vector<std::uint8_t> global_;
  std::vector<std::uint8_t> constant_;
  std::map<std::string, std::uint64_t> symbols_;
};

}  // namespace warpline::ptx::test
