#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rtl_models/base/visibility.h"
#include "rtl_models/pcie/packets/tlp.h"
#include "sw/driver/wl_port.h"

namespace warpline {

class PcieSystem;

/// A device as the host's firmware has found and set it up.
struct WARPLINE_PUBLIC HostDevice {
  FunctionId id;
  unsigned port = 0;  ///< root port
  std::uint16_t vendor = 0, device = 0;
  struct Bar {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;  ///< 0: there is none
    bool prefetchable = false;
  };
  std::array<Bar, kBars> bars{};
  unsigned vectors = 0;  ///< of MSI-X
  unsigned domain = 0;   ///< of the IOMMU: whose mappings hold for its requests
};

/// How software sees device memory.
enum class MemoryType : std::uint8_t {
  uncached,         ///< each access is one of the device's bus, in order
  write_combining,  ///< stores join, loads may read ahead (HostBridge): only of prefetchable BARs
};

/// What firmware and operating system do for a driver: finding devices and giving them addresses, interrupts,
/// memory, and the IOMMU. How accesses reach hardware, and how time passes, is its subclasses' to say.
///
/// Root complex, IOMMU and system memory are at hand without time: what a kernel keeps of them costs it none.
class WARPLINE_PUBLIC Host {
 public:
  /// The system outlives it. `reserved`: bytes at the start of system memory that are somebody else's. Throws
  /// std::logic_error if the system has a host: two would place its devices differently.
  explicit Host(PcieSystem& system, std::uint64_t reserved = 4096);
  virtual ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  /// Looks for devices behind all root ports, gives their BARs addresses, lets them decode memory and make
  /// requests, puts each into an IOMMU domain of its own, and routes their vectors here. Callable again after
  /// something was removed or inserted: interrupts of before are forgotten.
  const std::vector<HostDevice>& enumerate();
  /// The same behind one root port alone: the others' devices are left as they are. Null: nobody answers.
  const HostDevice* enumerate(unsigned port);
  [[nodiscard]] const std::vector<HostDevice>& devices() const { return devices_; }
  /// The eight functions for a device of devices(); valid until it is enumerated again. Pre: it is there.
  [[nodiscard]] const wl_port& port_of(unsigned device);

  /// Memory of the simulated machine, `align` a power of two; nothing if it is full. Native code uses it as
  /// it is.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t align = 64);
  /// The physical address of such memory; nothing if it is not.
  [[nodiscard]] std::optional<std::uint64_t> physical(const void* memory, std::size_t bytes) const;

  /// Accesses by physical address. A load that fails reads all ones.
  [[nodiscard]] virtual std::uint64_t load(std::uint64_t address, unsigned bytes) = 0;
  virtual void store(std::uint64_t address, unsigned bytes, std::uint64_t value) = 0;
  /// Orders device accesses: what write-combining stores have gathered leaves before anything that follows,
  /// and nothing that was read ahead is used any more.
  virtual void barrier() = 0;
  static constexpr std::uint64_t kMappingPage = 4096;
  /// Maps `bytes` bytes of a BAR, from `offset` on, whole pages of kMappingPage bytes. At first, and again
  /// after enumerate(), all is uncached. Why it can not be, a sentence; empty: it is done.
  [[nodiscard]] std::string map(unsigned device, unsigned bar, std::uint64_t offset, std::uint64_t bytes,
                                MemoryType as);
  /// Of configuration space, within a register of 4 bytes.
  [[nodiscard]] virtual std::uint64_t load_config(FunctionId id, std::uint64_t offset, unsigned bytes) = 0;
  virtual void store_config(FunctionId id, std::uint64_t offset, unsigned bytes, std::uint64_t value) = 0;
  /// Lets time pass.
  virtual void delay_ns(std::uint64_t nanoseconds) = 0;
  /// Waits for an interrupt of a device's vector; false after `timeout_us`.
  virtual bool wait_interrupt(unsigned device, unsigned vector, std::uint32_t timeout_us) = 0;

  [[nodiscard]] PcieSystem& system() { return system_; }

  /// Who hears what drivers log; nobody at first.
  void on_log(std::function<void(wl_log_level, const std::string&)> heard) { on_log_ = std::move(heard); }
  void log(wl_log_level level, const std::string& text) const {
    if (on_log_) on_log_(level, text);
  }
  /// Lets a device touch memory of allocate(). Nothing if it is not such memory.
  [[nodiscard]] std::optional<std::uint64_t> map_dma(unsigned device, const void* memory, std::size_t bytes,
                                                     unsigned direction);
  /// Lets a device touch a BAR of another one, at the address that it has on the bus. False: it has none.
  bool open_bar(unsigned device, unsigned target, unsigned bar);
  /// False: nothing is mapped there.
  bool unmap_dma(unsigned device, std::uint64_t bus);

 protected:
  /// An interrupt message has arrived: it is kept until somebody takes it.
  void note_interrupt(std::uint64_t address, std::uint32_t data);
  /// Takes the interrupts of a device's vector, if there are any.
  [[nodiscard]] bool take_interrupt(unsigned device, unsigned vector);

 private:
  [[nodiscard]] std::optional<HostDevice> bring_up(unsigned port);
  /// What has arrived from there, taken or not.
  void forget_interrupts(unsigned port);

  PcieSystem& system_;
  std::uint64_t free_memory_;
  std::uint64_t free_bus_ = std::uint64_t{1} << 32U;  ///< addresses for devices that name no window yet
  std::vector<HostDevice> devices_;
  std::vector<std::optional<unsigned>> domains_;       ///< of the IOMMU, by root port
  std::map<std::uint64_t, std::uint64_t> interrupts_;  ///< untaken ones, by device << 32 | vector
  std::vector<std::shared_ptr<const wl_port>> ports_;  ///< that port_of() has given out
  std::function<void(wl_log_level, const std::string&)> on_log_;
};

}  // namespace warpline
