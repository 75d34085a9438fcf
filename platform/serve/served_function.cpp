#include "platform/serve/served_function.h"

#include <algorithm>
#include <string>
#include <utility>

#include "platform/machine/pcie_system.h"
#include "platform/serve/served_event.h"
#include "platform/serve/served_machine.h"
#include "rtl_models/base/state_archive.h"
#include "rtl_models/nvme/nvme_device.h"
#include "rtl_models/pcie/endpoint/endpoint_memory.h"
#include "rtl_models/pcie/root_complex/root_complex.h"

namespace warpline {
namespace {

using vfio_user::IrqKind;

constexpr std::uint64_t kPage = 4096;  ///< no packet crosses one
constexpr std::uint64_t kConfigBytes = 4096;

}  // namespace

ServedFunction::ServedFunction(ServedMachine& machine, unsigned port, EndpointCore& endpoint)
    : machine_(machine), port_(port), endpoint_(endpoint), bars_(endpoint.config().description()) {
  set_up();
}

/// Places it on the bus here, as its client knows nothing of that, and has its interrupts come as messages.
/// Its command register stays as after power-on: that is for the client's software.
void ServedFunction::set_up() {
  const HostDevice* const device = machine_.host().enumerate(port_);
  if (device == nullptr) return;
  for (unsigned b = 0; b < kBars; ++b) bases_[b] = device->bars[b].address;
  machine_.host().store_config(device->id, config::kCommandStatus, 2, 0);
  // A client that is asked for its memory takes its own time, and is given up by the server.
  const unsigned control = endpoint_.config().express_capability() + config::kDeviceControl2;
  machine_.host().store_config(device->id, control, 2, config::kTimeoutDisable);
  shows_msix_ = false;
}

vfio_user::Function::Region ServedFunction::region(unsigned index) const {
  if (index < kBars)
    return {endpoint_.config().description().bars[index].bytes, true, true, mapped_[index].file.number()};
  if (index == vfio_user::kConfigRegion) return {kConfigBytes};
  return {};
}

int ServedFunction::map(unsigned bar, EndpointMemory& memory) {
  if (const int error = mapped_[bar].make(memory.size()); error != 0) return error;
  memory.share(mapped_[bar].bytes);
  return 0;
}

unsigned ServedFunction::vectors(IrqKind kind) const {
  return kind == IrqKind::msix ? endpoint_.config().description().vectors : 0;
}

void ServedFunction::read(unsigned region, std::uint64_t offset, std::uint32_t bytes, ReadDone done) {
  accesses_.push_back({Access::Kind::read, region, offset, bytes, {}, std::move(done), {}});
}

void ServedFunction::make_read(unsigned region, std::uint64_t offset, std::uint32_t bytes, ReadDone done) {
  tell(ServedEvent::Kind::read, region, offset, nullptr, bytes);
  Waiting waiting;
  waiting.data.assign(bytes, 0);
  waiting.read_done = std::move(done);
  if (region == vfio_user::kConfigRegion) {
    read_config(offset, waiting);
  } else {
    read_bar(region, offset, waiting);
  }
  waiting_.push_back(std::move(waiting));
}

/// An access, that is made now.
void ServedFunction::tell(ServedEvent::Kind kind, unsigned region, std::uint64_t offset,
                          const std::uint8_t* data, std::uint32_t bytes) {
  ServedEvent event;
  event.kind = kind;
  event.cycle = machine_.next_cycle();
  event.function = port_;
  event.region = region;
  event.offset = offset;
  event.bytes = bytes;
  if (data != nullptr) event.data.assign(data, data + bytes);
  machine_.tell(event);
}

bool ServedFunction::is_message_table(unsigned bar, std::uint64_t offset) const {
  return endpoint_.msix() != nullptr && bar == endpoint_.config().description().msix_bar &&
         offset < endpoint_.msix()->bytes();
}

void ServedFunction::read_bar(unsigned bar, std::uint64_t offset, Waiting& waiting) {
  ++machine_.counters_.reads;
  const auto bytes = static_cast<std::uint32_t>(waiting.data.size());
  for (std::uint32_t at = 0; at < bytes;) {
    const std::uint64_t from = offset + at;
    const auto length = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes - at, kPage - from % kPage));
    if (!present_ || !is_message_table(bar, from))
      waiting.pieces.push_back(
          {machine_.bridge().load(bus_address({bar, from}), length, machine_.next_cycle()), 0, at, length});
    at += length;
  }
}

void ServedFunction::read_config(std::uint64_t offset, Waiting& waiting) {
  ++machine_.counters_.configurations;
  const auto bytes = static_cast<std::uint32_t>(waiting.data.size());
  for (std::uint32_t at = 0; at < bytes;) {
    const auto from = static_cast<unsigned>(offset + at), within = from % 4;
    const std::uint32_t length = std::min(bytes - at, 4 - within);
    if (present_ && GuestBars::holds(from)) {
      const std::uint32_t value = bars_.read(from - within);
      for (unsigned i = 0; i < length; ++i)
        waiting.data[at + i] = static_cast<std::uint8_t>(value >> 8U * (within + i));
    } else {
      const bool enable = present_ && from - within == endpoint_.config().msix_capability();
      waiting.pieces.push_back(
          {machine_.bridge().load_config(endpoint_.id(), from - within, machine_.next_cycle()), within, at,
           length, enable});
    }
    at += length;
  }
}

void ServedFunction::write(unsigned region, std::uint64_t offset, const std::uint8_t* data,
                           std::uint32_t bytes, bool /*posted*/, Done done) {
  // All writes of BARs are: who waits is answered when the write is on its way, as on a real bus.
  accesses_.push_back(
      {Access::Kind::write, region, offset, bytes, {data, data + bytes}, {}, std::move(done)});
}

void ServedFunction::make_write(unsigned region, std::uint64_t offset, const std::uint8_t* data,
                                std::uint32_t bytes, Done done) {
  tell(ServedEvent::Kind::write, region, offset, data, bytes);
  if (region == vfio_user::kConfigRegion) {
    Waiting waiting;
    waiting.done = std::move(done);
    configuring_ = true;
    write_config(offset, data, bytes, waiting);
    return waiting_.push_back(std::move(waiting));
  }
  ++machine_.counters_.writes;
  for (std::uint32_t at = 0; at < bytes;) {
    const std::uint64_t to = offset + at;
    const auto length = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes - at, kPage - to % kPage));
    if (!is_message_table(region, to))
      machine_.bridge().store(bus_address({region, to}), data + at, length, machine_.next_cycle());
    at += length;
  }
  posted_.push_back(std::move(done));
}

void ServedFunction::write_config(std::uint64_t offset, const std::uint8_t* data, std::uint32_t bytes,
                                  Waiting& waiting) {
  ++machine_.counters_.configurations;
  for (std::uint32_t at = 0; at < bytes;) {
    const auto to = static_cast<unsigned>(offset + at), within = to % 4;
    const std::uint32_t length = std::min(bytes - at, 4 - within);
    std::uint32_t value = 0;
    for (unsigned i = 0; i < length; ++i) value |= std::uint32_t{data[at + i]} << 8U * i;
    const unsigned msix = endpoint_.config().msix_capability();
    if (present_ && msix != 0 && to - within == msix && within + length == 4) {
      const std::uint32_t enable = config::kMsixEnable >> 8U * within;
      shows_msix_ = (value & enable) != 0;
      value |= enable;
    }
    if (present_ && GuestBars::holds(to)) {
      bars_.write(to - within, value << 8U * within, ((1U << length) - 1) << within);
    } else {
      waiting.pieces.push_back(
          {machine_.bridge().store_config(endpoint_.id(), to, value, length, machine_.next_cycle()), 0, 0,
           0});
    }
    at += length;
  }
}

void ServedFunction::take_answers() {
  while (!waiting_.empty()) {
    Waiting& first = waiting_.front();
    for (; first.answered < first.pieces.size(); ++first.answered) {
      const Piece& piece = first.pieces[first.answered];
      HostBridge::Answer answer;
      if (!machine_.bridge().take(piece.ticket, answer)) return;
      ServedEvent event;
      event.kind = ServedEvent::Kind::answer;
      event.function = port_;
      event.result = static_cast<std::uint64_t>(answer.outcome);
      event.data = answer.data;
      event.cycle = answer.cycle;
      machine_.tell_output(event);
      machine_.pass_until(answer.cycle);
      if (first.read_done == nullptr) continue;
      const bool came = answer.outcome == TlpOutcome::done;
      machine_.counters_.failed_reads += !came;
      for (std::uint32_t i = 0; i < piece.bytes; ++i) {
        std::uint8_t byte = came ? answer.data[piece.skipped + i] : 0xFF;
        if (came && piece.shows_enable && piece.skipped + i == 3 && !shows_msix_) byte &= 0x7F;
        first.data[piece.at + i] = byte;
      }
    }
    const Waiting over = std::move(first);
    waiting_.pop_front();
    if (over.read_done) {
      over.read_done(over.data.data());
    } else {
      if (present_ && was_reset()) {
        ++machine_.counters_.resets;
        const std::uint32_t control = device_control();
        build_anew();
        set_payload(control);
      }
      configuring_ = false;
      over.done();
    }
  }
}

/// A function whose software has reset it, by a Function Level Reset or its power state, has forgotten where
/// it lies.
bool ServedFunction::was_reset() const {
  for (unsigned b = 0; b < kBars; ++b)
    if (bases_[b] != 0 && endpoint_.config().address_of(b) != bases_[b]) return true;
  return false;
}

std::uint32_t ServedFunction::device_control() const {
  return endpoint_.config().read(endpoint_.config().express_capability() + config::kDeviceControl);
}

/// The function sends payloads of at most as many bytes as it did when device control was that: enumeration
/// has chosen anew, and its software knows nothing of it.
void ServedFunction::set_payload(std::uint32_t control) {
  constexpr std::uint32_t kPayload = config::kSizeBits << config::kMaxPayloadShift;
  const std::uint32_t wanted = (device_control() & ~kPayload) | (control & kPayload);
  machine_.host().store_config(
      endpoint_.id(), endpoint_.config().express_capability() + config::kDeviceControl, 2, wanted & 0xFFFFU);
}

/// After every kind of reset: nothing that was under way goes on, and its client's software has all to set
/// up.
void ServedFunction::build_anew() {
  machine_.settle(port_);
  bars_.reset();
  raised_.clear();
  if (present_) set_up();
}

bool ServedFunction::can_make() const {
  if (accesses_.empty() || !machine_.takes_accesses()) return false;
  const Access::Kind kind = accesses_.front().kind;
  if (kind != Access::Kind::read && kind != Access::Kind::write) return idle();
  return !configuring_ && machine_.has_room();
}

bool ServedFunction::make_next() {
  if (!can_make()) return false;
  Access access = std::move(accesses_.front());
  accesses_.pop_front();
  make(std::move(access));
  return true;
}

void ServedFunction::make(Access access) {
  switch (access.kind) {
    case Access::Kind::read:
      return make_read(access.region, access.offset, access.bytes, std::move(access.read_done));
    case Access::Kind::write:
      return make_write(access.region, access.offset, access.data.data(), access.bytes,
                        std::move(access.done));
    case Access::Kind::reset: do_reset(); break;
    case Access::Kind::plug:
    case Access::Kind::unplug:
      if (const bool present = access.kind == Access::Kind::plug; present != present_) do_plug(present);
      break;
    case Access::Kind::inject: do_inject(access.data); break;
  }
  access.done();
}

void ServedFunction::answer() {
  take_answers();
  if (unanswered_writes_ == 0)
    for (; !raised_.empty(); raised_.pop_front()) interrupt(raised_.front(), client() != nullptr);
  while (!posted_.empty() && machine_.has_room()) {
    const Done done = std::move(posted_.front());
    posted_.pop_front();
    done();
  }
}

void ServedFunction::reset(Done done) {
  accesses_.push_back({Access::Kind::reset, 0, 0, 0, {}, {}, std::move(done)});
}

void ServedFunction::do_reset() {
  ++machine_.counters_.resets;
  ServedEvent event;
  event.kind = ServedEvent::Kind::reset;
  event.function = port_;
  machine_.tell(event);
  if (present_) {
    machine_.system().hot_reset(port_);
    build_anew();
  }
  if (!std::exchange(left_, false)) return;
  first_epoch_ = machine_.system().root().core().downs(port_);
}

void ServedFunction::plug(bool present, Done done) {
  accesses_.push_back(
      {present ? Access::Kind::plug : Access::Kind::unplug, 0, 0, 0, {}, {}, std::move(done)});
}

bool ServedFunction::takes_rules() const {
  return machine_.system().nvme_at(port_) != nullptr;
}

bool ServedFunction::takes_more_rules() const {
  const auto waiting = std::count_if(accesses_.begin(), accesses_.end(), [](const Access& access) {
    return access.kind == Access::Kind::inject && !access.data.empty();
  });
  return machine_.system().nvme_at(port_)->core().injected() + static_cast<std::size_t>(waiting) <
         NvmeFaults::kMost;
}

void ServedFunction::inject(const NvmeFaultRule* rule, Done done) {
  std::string bytes;
  if (rule != nullptr) {
    NvmeFaultRule copy = *rule;
    StateArchive out(bytes);
    out(copy);
  }
  accesses_.push_back({Access::Kind::inject, 0, 0, 0, {bytes.begin(), bytes.end()}, {}, std::move(done)});
}

/// `rule`: as its archive has it; nothing: takes back all. Of a damaged record it may be no rule, or be for a
/// function that takes none, and nothing happens.
void ServedFunction::do_inject(const std::vector<std::uint8_t>& rule) {
  ServedEvent event;
  event.kind = ServedEvent::Kind::inject;
  event.function = port_;
  event.data = rule;
  machine_.tell(event);
  NvmeDevice* const device = machine_.system().nvme_at(port_);
  if (device == nullptr) return;
  if (rule.empty()) return device->core().forget_injected();
  const std::string bytes(rule.begin(), rule.end());
  StateArchive in{std::string_view(bytes)};
  NvmeFaultRule its;
  try {
    in(its);
  } catch (const StateMisfit&) {
    return;
  }
  static_cast<void>(device->core().inject(its));
}

void ServedFunction::do_plug(bool present) {
  ServedEvent event;
  event.kind = ServedEvent::Kind::plug;
  event.function = port_;
  event.result = present;
  machine_.tell(event);
  machine_.system().set_present(port_, present);
  present_ = present;
  build_anew();
}

void ServedFunction::attach(vfio_user::Client& client) {
  client_ = &client;
}

/// What it has asked for, and has not been made, goes with it.
void ServedFunction::detach() {
  client_ = nullptr;
  left_ = true;
  raised_.clear();
  silent_ = false;
  std::deque<Access> kept;
  for (Access& access : std::exchange(accesses_, {})) {
    if (access.kind == Access::Kind::plug || access.kind == Access::Kind::unplug ||
        access.kind == Access::Kind::inject) {
      kept.push_back(std::move(access));
    } else if (access.read_done) {
      access.read_done(nullptr);
    } else {
      access.done();
    }
  }
  accesses_ = std::move(kept);
  reset([] {});
}

std::optional<BarHit> ServedFunction::find(std::uint64_t address, std::uint64_t bytes) const {
  if (!decodes_memory()) return std::nullopt;
  return bars_.find(address, bytes);
}

void ServedFunction::interrupt(unsigned vector, bool heard) {
  if (!heard) {
    ++machine_.counters_.unheard_interrupts;
  } else if (unanswered_writes_ != 0) {
    raised_.push_back(vector);
  } else {
    ++machine_.counters_.interrupts;
    if (client() != nullptr) client()->interrupt(IrqKind::msix, vector);
  }
}

}  // namespace warpline
