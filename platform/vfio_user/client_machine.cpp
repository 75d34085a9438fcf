#include "platform/vfio_user/client_machine.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>
#include <utility>

namespace warpline::vfio_user {
namespace {

constexpr unsigned kIds = 0x00, kCommand = 0x04, kClass = 0x08, kBar0 = 0x10, kCapabilities = 0x34;
constexpr std::uint32_t kMemorySpace = 2, kBusMaster = 4;
constexpr std::uint32_t kWide = 4, kPrefetchable = 8;
constexpr unsigned kMsixId = 0x11;
constexpr std::uint32_t kMsixEnable = 0x8000;
/// BARs of 32 bits lie from the first on, those of 64 from the second.
constexpr std::uint64_t kNarrow = 0xC000'0000, kWideBase = std::uint64_t{1} << 40U;
constexpr std::uint64_t kNarrowSlot = 0x0200'0000;

std::uint64_t ones(unsigned bytes) {
  return bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8U * bytes) - 1;
}

std::uint64_t aligned(std::uint64_t at, std::uint64_t align) {
  return (at + align - 1) / align * align;
}

ClientMachine& machine_of(void* context) {
  return *static_cast<ClientMachine*>(context);
}

}  // namespace

Result<std::unique_ptr<ClientMachine>> ClientMachine::connect(const std::string& path,
                                                              const Options& options) {
  auto connection = Connection::to(path);
  if (!connection.ok()) return connection.faults();
  std::unique_ptr<ClientMachine> machine(new ClientMachine(std::move(connection.value()), options));
  int error = machine->share_memory();
  if (error == 0) error = machine->bring_up();
  if (error != 0)
    return Diagnostic::about(path, std::string("the function could not be brought up: ") + strerror(error));
  wl_port& port = machine->port_;
  port.context = machine.get();
  port.read = [](void* m, unsigned space, std::uint64_t offset, unsigned bytes) {
    return machine_of(m).read(space, offset, bytes);
  };
  port.write = [](void* m, unsigned space, std::uint64_t offset, unsigned bytes, std::uint64_t value) {
    machine_of(m).write(space, offset, bytes, value);
  };
  port.barrier = [](void*) { std::atomic_thread_fence(std::memory_order_seq_cst); };
  port.dma_map = [](void* m, void* memory, std::size_t bytes, unsigned) {
    return machine_of(m).map(memory, bytes);
  };
  port.dma_unmap = [](void*, std::uint64_t, std::size_t) {};  // the function may touch all of its memory
  port.wait_irq = [](void* m, unsigned vector, std::uint32_t timeout_us) {
    return machine_of(m).wait(vector, timeout_us) ? 1 : 0;
  };
  port.delay = [](void*, std::uint32_t ns) { std::this_thread::sleep_for(std::chrono::nanoseconds(ns)); };
  port.log = [](void*, wl_log_level, const char* text) { std::fprintf(stderr, "%s\n", text); };
  return machine;
}

int ClientMachine::share_memory() {
  const std::size_t bytes = options_.memory_bytes;
  if (const int error = shared_.make(bytes); error != 0) return error;
  memory_ = shared_.bytes.get();
  connection_->answer_by([this](std::uint64_t address, std::uint8_t* data, std::size_t count, bool writes) {
    if (address < kMemory || address - kMemory > options_.memory_bytes) return false;
    std::uint8_t* const here = memory_ + (address - kMemory);
    if (count > options_.memory_bytes - (address - kMemory)) return false;
    writes ? std::memcpy(here, data, count) : std::memcpy(data, here, count);
    return true;
  });
  return connection_->map({DmaMap::kReadable | DmaMap::kWritable, 0, kMemory, bytes},
                          options_.by_message ? -1 : shared_.file.number());
}

int ClientMachine::bring_up() {
  lost_ = 0;
  const std::uint32_t ids = config(kIds, 4);
  vendor_ = static_cast<std::uint16_t>(ids);
  device_ = static_cast<std::uint16_t>(ids >> 16U);
  class_code_ = config(kClass, 4) >> 8U;
  if (const int error = place_bars(); error != 0) return error;
  set_config(kCommand, kMemorySpace | kBusMaster, 2);
  if (const int error = hear_interrupts(); error != 0) return error;
  return lost_;
}

int ClientMachine::place_bars() {
  std::uint64_t narrow = kNarrow + options_.slot * kNarrowSlot, wide = kWideBase * (options_.slot + 1);
  for (unsigned b = 0; b < kBars; ++b) {
    Bar& bar = bars_[b];
    bar = {};
    RegionInfo info;
    Descriptor file;
    if (const int error = connection_->region(b, info, &file); error != 0) return error;
    if (info.bytes == 0) continue;
    if (file && options_.map_bars)
      if (const int error = bar.memory.map(std::move(file), info.bytes, info.offset); error != 0)
        return error;
    const unsigned at = kBar0 + 4 * b;
    const std::uint32_t flags = config(at, 4);
    bar.bytes = info.bytes;
    bar.wide = (flags & kWide) != 0;
    bar.prefetchable = (flags & kPrefetchable) != 0;
    std::uint64_t& next = bar.wide ? wide : narrow;
    bar.address = aligned(next, bar.bytes);
    next = bar.address + bar.bytes;
    set_config(at, static_cast<std::uint32_t>(bar.address), 4);
    if (bar.wide) set_config(at + 4, static_cast<std::uint32_t>(bar.address >> 32U), 4);
  }
  return 0;
}

int ClientMachine::hear_interrupts() {
  IrqInfo info;
  if (const int error = connection_->irq(IrqKind::msix, info); error != 0) return error;
  events_.clear();
  std::vector<int> events;
  for (unsigned v = 0; v < info.count; ++v) {
    events_.emplace_back(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (events_.back().number() < 0) return errno;
    events.push_back(events_.back().number());
  }
  for (unsigned v = 0; v < info.count;) {
    const auto some = std::min<std::size_t>(connection_->version().most_descriptors, info.count - v);
    SetIrqs request;
    request.flags = SetIrqs::kEventfds | SetIrqs::kTrigger;
    request.index = static_cast<std::uint32_t>(IrqKind::msix);
    request.start = v;
    request.count = static_cast<std::uint32_t>(some);
    const auto first = events.begin() + v;
    const int error = connection_->set_irqs(request, {first, first + static_cast<std::ptrdiff_t>(some)});
    if (error != 0) return error;
    v += static_cast<unsigned>(some);
  }
  if (info.count == 0) return 0;
  unsigned at = config(kCapabilities, 1);
  for (unsigned hops = 0; at != 0 && config(at, 1) != kMsixId && hops < 64; ++hops) at = config(at + 1, 1);
  if (at != 0) set_config(at + 2, config(at + 2, 2) | kMsixEnable, 2);
  return 0;
}

std::uint32_t ClientMachine::config(unsigned offset, unsigned bytes) {
  return static_cast<std::uint32_t>(read(WL_SPACE_CONFIG, offset, bytes));
}

void ClientMachine::set_config(unsigned offset, std::uint32_t value, unsigned bytes) {
  write(WL_SPACE_CONFIG, offset, bytes, value);
}

/// Where a place in a BAR is that this process has mapped; null: it is asked for by message.
std::uint8_t* ClientMachine::mapped(unsigned space, std::uint64_t offset, unsigned bytes) const {
  if (space >= kBars || bars_[space].memory.bytes == nullptr) return nullptr;
  const Bar& bar = bars_[space];
  return offset < bar.bytes && bytes <= bar.bytes - offset ? bar.memory.bytes.get() + offset : nullptr;
}

/// Another function's memory is not reached by this one's socket: nobody answers there.
std::uint64_t ClientMachine::read(unsigned space, std::uint64_t offset, unsigned bytes) {
  if (space == WL_SPACE_BUS) return ones(bytes);
  std::uint64_t value = 0;
  if (std::uint8_t* const at = mapped(space, offset, bytes); at != nullptr) {
    std::memcpy(&value, at, bytes);
    return value;
  }
  const unsigned region = space == WL_SPACE_CONFIG ? kConfigRegion : space;
  const int error = connection_->read(region, offset, &value, bytes);
  if (error == 0) return value;
  if (lost_ == 0) lost_ = error;
  return ones(bytes);
}

void ClientMachine::write(unsigned space, std::uint64_t offset, unsigned bytes, std::uint64_t value) {
  if (space == WL_SPACE_BUS) return;
  if (std::uint8_t* const at = mapped(space, offset, bytes); at != nullptr) {
    std::memcpy(at, &value, bytes);
    return;
  }
  const int error = space == WL_SPACE_CONFIG ? connection_->write(kConfigRegion, offset, &value, bytes)
                                             : connection_->post(space, offset, &value, bytes);
  if (error != 0 && lost_ == 0) lost_ = error;
}

void* ClientMachine::allocate(std::size_t bytes, std::size_t align) {
  const std::uint64_t at = aligned(taken_, align);
  if (at > options_.memory_bytes || bytes > options_.memory_bytes - at) return nullptr;
  taken_ = at + bytes;
  return memory_ + at;
}

std::uint64_t ClientMachine::map(const void* memory, std::size_t bytes) const {
  const auto at = reinterpret_cast<std::uintptr_t>(memory);
  const auto base = reinterpret_cast<std::uintptr_t>(memory_);
  if (at < base || at - base > options_.memory_bytes || bytes > options_.memory_bytes - (at - base)) return 0;
  return kMemory + (at - base);
}

bool ClientMachine::wait(unsigned vector, std::uint32_t timeout_us) {
  if (vector >= events_.size()) return false;
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(timeout_us);
  for (;;) {
    const auto left =
        std::max(end - std::chrono::steady_clock::now(), std::chrono::steady_clock::duration(0));
    auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(left).count();
    // What the function asks for by message comes by the connection.
    if (options_.by_message) {
      static_cast<void>(connection_->listen(1));
      ns = 0;
    }
    pollfd event{events_[vector].number(), POLLIN, 0};
    const timespec most{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
    std::uint64_t count = 0;
    if (ppoll(&event, 1, &most, nullptr) == 1)
      return ::read(event.fd, &count, sizeof count) == static_cast<ssize_t>(sizeof count);
    if (left.count() == 0) return false;
  }
}

}  // namespace warpline::vfio_user
