#include "platform/host/driver_port.h"

#include <algorithm>
#include <atomic>

namespace warpline {
namespace {

struct DriverPort {
  Host* host = nullptr;
  unsigned device = 0;
  wl_port port{};

  [[nodiscard]] const HostDevice& hardware() const { return host->devices()[device]; }

  static DriverPort& of(void* context) { return *static_cast<DriverPort*>(context); }
  static std::uint64_t read(void* context, unsigned space, std::uint64_t offset, unsigned bytes) {
    const DriverPort& b = of(context);
    if (space == WL_SPACE_CONFIG) return b.read_config(offset, bytes);
    return b.host->load(b.address_of(space, offset, bytes), bytes);
  }
  static void write(void* context, unsigned space, std::uint64_t offset, unsigned bytes,
                    std::uint64_t value) {
    const DriverPort& b = of(context);
    if (space == WL_SPACE_CONFIG) return b.write_config(offset, bytes, value);
    b.host->store(b.address_of(space, offset, bytes), bytes, value);
  }
  /// Native code's accesses to simulated memory happen at once: of these it is the compiler alone that must
  /// keep order.
  static void barrier(void* context) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    of(context).host->barrier();
  }
  static std::uint64_t dma_map(void* context, void* memory, std::size_t bytes, unsigned direction) {
    const DriverPort& b = of(context);
    return b.host->map_dma(b.device, memory, bytes, direction).value_or(0);
  }
  static void dma_unmap(void* context, std::uint64_t bus, std::size_t /*bytes*/) {
    const DriverPort& b = of(context);
    if (!b.host->unmap_dma(b.device, bus)) b.host->log(WL_LOG_ERROR, "dma_unmap: nothing is mapped there");
  }
  static int wait_irq(void* context, unsigned vector, std::uint32_t timeout_us) {
    const DriverPort& b = of(context);
    return b.host->wait_interrupt(b.device, vector, timeout_us) ? 1 : 0;
  }
  static void delay(void* context, std::uint32_t nanoseconds) { of(context).host->delay_ns(nanoseconds); }
  static void log(void* context, wl_log_level level, const char* text) { of(context).host->log(level, text); }

  /// Configuration requests are of one register of 4 bytes: 8 bytes are two of them.
  [[nodiscard]] std::uint64_t read_config(std::uint64_t offset, unsigned bytes) const {
    if (!lies_in_config(offset, bytes)) return ~std::uint64_t{0} >> (64 - 8 * bytes);
    const std::uint64_t low = host->load_config(hardware().id, offset, std::min(bytes, 4U));
    return bytes == 8 ? low | host->load_config(hardware().id, offset + 4, 4) << 32U : low;
  }
  void write_config(std::uint64_t offset, unsigned bytes, std::uint64_t value) const {
    if (!lies_in_config(offset, bytes)) return;
    host->store_config(hardware().id, offset, std::min(bytes, 4U), value);
    if (bytes == 8) host->store_config(hardware().id, offset + 4, 4, value >> 32U);
  }
  [[nodiscard]] static bool lies_in_config(std::uint64_t offset, unsigned bytes) {
    return offset % bytes == 0 && offset < 4096;
  }

  /// Of WL_SPACE_BUS, what is asked for. An address that no device has, where the BAR is not there or does
  /// not reach so far.
  [[nodiscard]] std::uint64_t address_of(unsigned bar, std::uint64_t offset, unsigned bytes) const {
    constexpr std::uint64_t kNobody = ~std::uint64_t{0} - 4095;
    if (bar == WL_SPACE_BUS) return offset;
    if (bar >= kBars) return kNobody;
    const HostDevice::Bar& b = hardware().bars[bar];
    return bytes <= b.bytes && offset <= b.bytes - bytes ? b.address + offset : kNobody;
  }
};

}  // namespace

std::shared_ptr<const wl_port> make_driver_port(Host& host, unsigned device) {
  const auto bound = std::make_shared<DriverPort>();
  bound->host = &host;
  bound->device = device;
  bound->port = {bound.get(),           &DriverPort::read,    &DriverPort::write,
                 &DriverPort::barrier,  &DriverPort::dma_map, &DriverPort::dma_unmap,
                 &DriverPort::wait_irq, &DriverPort::delay,   &DriverPort::log};
  return {bound, &bound->port};
}

}  // namespace warpline
