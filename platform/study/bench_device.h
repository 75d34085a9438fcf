#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warpline::study {

/// A launch of one of the kernels of sw/microbench.
struct KernelCall {
  std::string kernel;
  unsigned ctas = 1;
  unsigned threads = 1;       ///< per CTA
  unsigned shared_bytes = 0;  ///< dynamic, per CTA
  std::optional<unsigned>
      carveout{};  ///< percent of the most that shared memory is to have; nothing: the driver's choice
  std::vector<std::uint8_t> parameters{};

  /// Adds a parameter of `bytes` bytes, at its natural alignment. Returns itself.
  KernelCall& with(std::uint64_t value, unsigned bytes);
  KernelCall& pointer(std::uint64_t address) { return with(address, 8); }
  KernelCall& word(std::uint64_t value) { return with(value, 4); }
};

/// What of a GPU the measurements need to know.
struct DeviceShape {
  unsigned sms = 0;
  unsigned sm_mhz = 0;             ///< clock in which kernels read time
  std::uint64_t l2_bytes = 0;      ///< in all
  std::uint64_t shared_bytes = 0;  ///< that the CTAs of an SM have together
  std::uint64_t memory_bytes = 0;
  unsigned bus_bits = 0;            ///< of its memory
  std::uint64_t persist_bytes = 0;  ///< of L2 that persisting accesses may have
};

/// A GPU on which the kernels of sw/microbench run: a model or hardware.
class BenchDevice {
 public:
  virtual ~BenchDevice() = default;
  [[nodiscard]] virtual const DeviceShape& shape() const = 0;
  /// Memory of the device, 256-byte aligned, with whatever it holds. Throws BenchError if there is none left.
  virtual std::uint64_t allocate(std::uint64_t bytes) = 0;
  virtual void write(std::uint64_t address, const void* bytes, std::uint64_t count) = 0;
  virtual void read(std::uint64_t address, void* bytes, std::uint64_t count) = 0;
  /// Writes a variable of the modules in constant memory.
  virtual void write_constant(const std::string& variable, const void* bytes, std::uint64_t count) = 0;
  /// A texture of `words` unsigned words of 32 bits that lie at `address`: what a kernel gets as its handle.
  virtual std::uint64_t texture(std::uint64_t address, std::uint64_t words) = 0;
  /// Has caches forget what the host has written.
  virtual void forget() = 0;
  /// Runs a kernel to its end. Returns the seconds that it took. Throws BenchError if it fails.
  virtual double run(const KernelCall& call) = 0;
  /// Copies between the host's memory and the device's. Returns the seconds that it took: between two events
  /// of the device, or (`by_host`) until the host goes on. Throws BenchError if there is no room.
  virtual double host_copy(std::uint64_t bytes, bool to_device, bool page_locked, bool by_host) = 0;
  /// Forgets caches and gives all memory back.
  virtual void clear() = 0;
};

/// Why a measurement could not be made.
struct BenchError {
  std::string what;
};

}  // namespace warpline::study
