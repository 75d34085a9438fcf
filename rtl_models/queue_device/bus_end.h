#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "rtl_models/pcie/packets/loose_tlp_target.h"
#include "rtl_models/pcie/packets/tlp_port.h"
#include "rtl_models/queue_device/queue_device.h"
#include "rtl_models/sim/engine.h"

namespace warpline {

/// A transaction that the device makes on the bus: one at most of each packet at a time.
struct BusTransfer {
  std::uint64_t address = 0;
  bool writes = false;
  std::vector<std::uint8_t> data;  ///< that is written; of a read as many bytes as it asks for, to be filled
  /// How the bus has answered: unsupported_request: nobody has that address; completer_abort: any other
  /// error.
  CompletionStatus status = CompletionStatus::successful;

 private:
  friend class BusEnd;
  Tlp* tlp = nullptr;        ///< whose it is; null: nobody's any more
  std::uint64_t number = 0;  ///< of a posted one, among those
};

/// An access of somebody on the bus to the device.
struct DeviceAccess {
  bool writes = false;
  std::uint64_t offset = 0;        ///< in the device's window (BusEnd)
  std::vector<std::uint8_t> data;  ///< that is written; of a read as many bytes as it asks for, to be filled
  CompletionStatus status = CompletionStatus::successful;
  bool done = false;
};

/// The bus that a device is on, as the device's end sees it.
class DeviceBus {
 public:
  /// Whether a transfer may begin in cycle `now`. If not, the end is woken when one may.
  [[nodiscard]] virtual bool ready(Cycle now) = 0;
  /// Begins a transfer; BusEnd::finish() follows, not within the call. Pre: ready(now).
  virtual void begin(Cycle now, BusTransfer& transfer) = 0;
  /// Performs one, loosely timed, from cycle `at` on. `at`: when it is done.
  virtual void perform(BusTransfer& transfer, Cycle& at) = 0;
  /// Whether transfers are to be performed so now.
  [[nodiscard]] virtual bool is_loose() const = 0;
  /// The device has raised a vector, and what it wrote before is answered, in cycle `at`.
  virtual void interrupt(unsigned vector, Cycle at) = 0;
  /// An access is done.
  virtual void answered() = 0;

 protected:
  ~DeviceBus() = default;
};

/// What a queue device meets where there is no PCI Express: this plays the link, the root complex and the
/// firmware, so that the device itself is the same (QueueDevice).
///
/// The device's window on the bus: registers from 0, the MSI-X table from kMessageTable, its own memory from
/// memory_at(). An access reaches the device a cycle after it goes out, or one more for every 128 bytes of it
/// beyond the first 104; its answer takes as long.
///
/// What the device asks for goes out in the order in which it asked. A write waits until the transfers before
/// it that write are answered, unless both have relaxed ordering, and so do reads and atomics, of which
/// several may be under way. An atomic is a read and then a write, between which nothing else of the device
/// goes out. So who sees a completion or an interrupt finds the data, whatever order the bus keeps.
class BusEnd final : public Component, public LooseTlpTarget {
 public:
  static constexpr std::uint64_t kMessageTable = regs::peer::kMap.bytes;
  static constexpr std::uint64_t kMessageTableBytes = 4096;
  /// Where the device's memory of so many bytes lies in its window; it is the last thing there.
  [[nodiscard]] static constexpr std::uint64_t memory_at(std::uint64_t buffer_bytes) {
    constexpr std::uint64_t kFirst = 0x8000;
    return buffer_bytes < kFirst ? kFirst : buffer_bytes;
  }
  /// Of the device's requests: so many are on the bus at most, and none is longer.
  struct Limits {
    unsigned outstanding = 16;
    unsigned burst_bytes = 512;
  };
  /// The link between the device and its end.
  [[nodiscard]] static LinkParameters link(const Limits& limits);

  /// Device, pool and bus outlive it. `link`: of the device, too.
  BusEnd(QueueDevice& device, TlpPool& pool, DeviceBus& bus, const QueueDeviceParameters& parameters,
         const Limits& limits);

  /// Whether an access lies in the window, in one of its three parts.
  [[nodiscard]] bool holds(std::uint64_t offset, std::uint64_t bytes) const;
  /// Takes an access that is made in cycle `at`, and is to live until it is done, or forgotten by reset().
  /// Pre: holds(), not across 4 KiB; not in the past.
  void submit(DeviceAccess& access, Cycle at);
  /// Performs one, loosely timed, from cycle `at` on. `at`: when it is done.
  void perform(DeviceAccess& access, Cycle& at);
  /// A transfer has been answered, and counts from cycle `c` on, which is to come.
  void finish(BusTransfer& transfer, Cycle c);
  /// Device and end are as they were built. Accesses under way end with completer_abort; transfers that the
  /// bus still has are forgotten when it has answered them.
  void reset();

  Cycle tick(Cycle now) override;
  /// The device's, loosely timed.
  void perform(Tlp& tlp, Cycle& at) override;
  [[nodiscard]] bool busy() const override {
    return link_.busy() || !held_.empty() || under_way_ != 0 || !made_.empty() || !reads_.empty() ||
           !writes_.empty();
  }
  void explain(std::vector<Wait>& waits) const override;

 private:
  static constexpr std::uint64_t kBase = std::uint64_t{1} << 40U;  ///< of the window, on the link
  static constexpr unsigned kAccesses = 64;                        ///< reads of the device at once
  static constexpr std::size_t kHeld = 64;                         ///< requests of the device that wait here
  struct Made {
    Cycle at = 0;
    DeviceAccess* access = nullptr;
  };
  /// A read of the device that is under way.
  struct Read {
    DeviceAccess* access = nullptr;
    std::size_t filled = 0;
  };
  void set_up();
  void send(DeviceAccess& access);
  [[nodiscard]] Tlp* packet_of(const DeviceAccess& access);
  void receive_completion(const Tlp& tlp);
  void heard(const BusAccess& access);
  void end(DeviceAccess& access, CompletionStatus status);
  [[nodiscard]] bool may_begin(const Tlp& tlp) const;
  void issue(Cycle now);
  void begin(Tlp* tlp, Cycle now);
  void start(BusTransfer& transfer, Cycle now);
  void settle(BusTransfer& transfer, Cycle now);
  void answer(Tlp* request, CompletionStatus status, const std::uint8_t* data);
  void posted_done(std::uint64_t number, Cycle now);
  void interrupt_if_due(Cycle now);
  [[nodiscard]] std::uint64_t posted_made() const {
    const EndpointCore::Counters& c = device_.endpoint().counters();
    return c.writes + c.interrupts;
  }
  [[nodiscard]] BusTransfer& allocate();
  void release(BusTransfer& transfer) {
    transfer.tlp = nullptr;
    free_.push_back(&transfer);
  }

  QueueDevice& device_;
  TlpPool& pool_;
  DeviceBus& bus_;
  QueueDeviceParameters parameters_;
  Limits limits_;
  TlpPort link_;
  // Accesses of others.
  std::deque<Made> made_;                ///< that have not gone out
  std::map<std::uint16_t, Read> reads_;  ///< by tag
  std::deque<DeviceAccess*> writes_;     ///< that the device has not taken
  // The device's requests.
  std::deque<Tlp*> held_;
  std::deque<BusTransfer> all_;
  std::vector<BusTransfer*> free_;
  std::multimap<Cycle, BusTransfer*> finished_;  ///< by the cycle from which they count
  unsigned under_way_ = 0;                       ///< of the transfers, those that are somebody's
  unsigned posted_ = 0, ordered_ = 0;            ///< of these: that write; those of them that are ordered
  bool exclusive_ = false;                       ///< an atomic is one of them
  BusTransfer* held_atomic_ = nullptr;           ///< an atomic's write that is to begin
  // Interrupts follow what was written before them.
  struct Raised {
    std::uint64_t after = 0;  ///< of the posted requests, so many
    unsigned vector = 0;
  };
  std::deque<Raised> raised_;
  std::uint64_t taken_ = 0;          ///< posted requests that came from the device
  std::uint64_t answered_ = 0;       ///< of those, the oldest that are answered
  std::deque<bool> answered_apart_;  ///< of the others, which are
};

}  // namespace warpline
