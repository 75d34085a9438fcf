#include "platform/host/host_machine.h"

#include <algorithm>
#include <cmath>

#include "platform/machine/pcie_system.h"
#include "rtl_models/base/contract.h"
#include "rtl_models/pcie/host_bridge/host_bridge.h"

namespace warpline {
namespace {

std::uint64_t ones(unsigned bytes) {
  return bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8U * bytes) - 1;
}

}  // namespace

/// Lets that happen which comes next, by cycle `limit`. False: nothing does.
bool HostMachine::step(Cycle limit) {
  const Cycle next = system().next_activity();
  if (next > limit) return false;
  if (system().run_until(next) == RunOutcome::stopped) stopped_ = true;
  return true;
}

/// The next cycle in which it may do something: time may have passed without it.
Cycle HostMachine::soonest() {
  return std::max(now_, system().engine().now()) + 1;
}

std::uint64_t HostMachine::finish(std::uint64_t ticket, unsigned shift, unsigned bytes) {
  HostBridge::Answer answer;
  while (!system().bridge().take(ticket, answer))
    WARPLINE_EXPECT(step(kNever - 1), "a load is answered, or given up in time");
  now_ = std::max(now_, answer.cycle);
  outcome_ = answer.outcome;
  if (answer.outcome != TlpOutcome::done) return ones(bytes);
  return first_bytes(answer.data) >> shift & ones(bytes);
}

std::uint64_t HostMachine::load(std::uint64_t address, unsigned bytes) {
  return finish(system().bridge().load(address, bytes, soonest()), 0, bytes);
}

void HostMachine::store(std::uint64_t address, unsigned bytes, std::uint64_t value) {
  system().bridge().store(address, &value, bytes, soonest());
}

void HostMachine::barrier() {
  system().bridge().barrier(soonest());
}

std::uint64_t HostMachine::load_config(FunctionId id, std::uint64_t offset, unsigned bytes) {
  const auto within = static_cast<unsigned>(offset % 4);
  const auto ticket = system().bridge().load_config(id, static_cast<unsigned>(offset - within), soonest());
  return finish(ticket, 8 * within, bytes);
}

void HostMachine::store_config(FunctionId id, std::uint64_t offset, unsigned bytes, std::uint64_t value) {
  const auto ticket = system().bridge().store_config(id, static_cast<unsigned>(offset),
                                                     static_cast<std::uint32_t>(value), bytes, soonest());
  static_cast<void>(finish(ticket, 0, bytes));
}

void HostMachine::forget_time() {
  now_ = system().engine().now();
}

void HostMachine::pass(Cycle cycles) {
  now_ = soonest() - 1 + cycles;
  while (step(now_)) {
  }
}

void HostMachine::delay_ns(std::uint64_t nanoseconds) {
  pass(static_cast<Cycle>(std::ceil(static_cast<double>(nanoseconds) * system().mhz() / 1000.0)));
}

/// Takes interrupts in the order in which they come until the one that is waited for is there; none that
/// comes after `deadline`: loosely timed, devices may be ahead.
bool HostMachine::arrives(unsigned device, unsigned vector, Cycle deadline) {
  auto& arrived = system().bridge().interrupts();
  while (!take_interrupt(device, vector)) {
    const auto next = std::min_element(arrived.begin(), arrived.end(),
                                       [](const auto& a, const auto& b) { return a.cycle < b.cycle; });
    if (next == arrived.end() || next->cycle > deadline) return false;
    note_interrupt(next->address, next->data);
    now_ = std::max(now_, next->cycle);
    arrived.erase(next);
  }
  return true;
}

bool HostMachine::wait_interrupt(unsigned device, unsigned vector, std::uint32_t timeout_us) {
  return wait_interrupt_for(device, vector, Cycle{timeout_us} * system().mhz());
}

bool HostMachine::wait_interrupt_for(unsigned device, unsigned vector, Cycle cycles) {
  now_ = soonest() - 1;
  const Cycle deadline = now_ + cycles;
  while (!arrives(device, vector, deadline)) {
    if (step(deadline)) continue;
    now_ = deadline;
    return false;
  }
  return true;
}

}  // namespace warpline
