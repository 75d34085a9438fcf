#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "platform/vfio_user/connection.h"
#include "platform/vfio_user/descriptor.h"
#include "platform/vfio_user/shared_memory.h"
#include "rtl_models/base/problem.h"
#include "sw/driver/wl_port.h"

namespace warpline::vfio_user {

/// A machine around one served function, with software of this process: its memory is shared with the server,
/// its firmware places the function's BARs and lets it make requests, and its interrupts are heard. What a
/// driver needs to run without an emulator.
class ClientMachine {
 public:
  static constexpr unsigned kBars = 6;
  struct Bar {
    std::uint64_t address = 0, bytes = 0;  ///< no bytes: there is none
    bool wide = false, prefetchable = false;
    SharedMemory memory;  ///< of the device, where the server lets it be mapped
  };
  struct Options {
    std::size_t memory_bytes = std::size_t{4} << 20U;  ///< whole pages, at bus addresses from kMemory on
    bool by_message = false;  ///< the server does not map them, and asks for what it wants
    bool map_bars = true;     ///< those that the server lets be mapped
    unsigned slot = 0;  ///< machines of one process with different slots place their BARs apart; below 16
  };
  /// Connects and brings the function up.
  [[nodiscard]] static Result<std::unique_ptr<ClientMachine>> connect(const std::string& path,
                                                                      const Options& options);
  ClientMachine(const ClientMachine&) = delete;
  ClientMachine& operator=(const ClientMachine&) = delete;

  /// Where its memory begins for the function.
  static constexpr std::uint64_t kMemory = 0x1'0000'0000;
  /// A driver's eight functions, by one thread at a time. Time is the host's own.
  [[nodiscard]] const wl_port& port() const { return port_; }
  /// Memory that the function may be let touch; null: it is all taken.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t align = 64);
  [[nodiscard]] Connection& connection() { return *connection_; }
  [[nodiscard]] const std::array<Bar, kBars>& bars() const { return bars_; }
  [[nodiscard]] unsigned vectors() const { return static_cast<unsigned>(events_.size()); }
  [[nodiscard]] std::uint16_t vendor() const { return vendor_; }
  [[nodiscard]] std::uint16_t device() const { return device_; }
  [[nodiscard]] std::uint32_t class_code() const { return class_code_; }
  /// The errno of the first access that failed for another reason than the function; 0: none has.
  [[nodiscard]] int lost() const { return lost_; }
  /// Places BARs, lets the function decode memory and make requests, and hears its interrupts: as at first,
  /// after a reset. An errno, or 0.
  [[nodiscard]] int bring_up();

 private:
  ClientMachine(std::unique_ptr<Connection> connection, const Options& options)
      : options_(options), connection_(std::move(connection)) {}
  [[nodiscard]] int share_memory();
  [[nodiscard]] int place_bars();
  [[nodiscard]] int hear_interrupts();
  [[nodiscard]] std::uint32_t config(unsigned offset, unsigned bytes);
  void set_config(unsigned offset, std::uint32_t value, unsigned bytes);
  [[nodiscard]] std::uint64_t read(unsigned space, std::uint64_t offset, unsigned bytes);
  void write(unsigned space, std::uint64_t offset, unsigned bytes, std::uint64_t value);
  [[nodiscard]] std::uint8_t* mapped(unsigned space, std::uint64_t offset, unsigned bytes) const;
  [[nodiscard]] std::uint64_t map(const void* memory, std::size_t bytes) const;
  [[nodiscard]] bool wait(unsigned vector, std::uint32_t timeout_us);

  Options options_;
  std::unique_ptr<Connection> connection_;
  SharedMemory shared_;
  std::uint8_t* memory_ = nullptr;
  std::size_t taken_ = 0;
  std::array<Bar, kBars> bars_{};
  std::vector<Descriptor> events_;
  std::uint16_t vendor_ = 0, device_ = 0;
  std::uint32_t class_code_ = 0;
  int lost_ = 0;
  wl_port port_{};
};

}  // namespace warpline::vfio_user
