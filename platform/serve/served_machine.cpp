#include "platform/serve/served_machine.h"

#include <algorithm>
#include <utility>

#include "platform/machine/pcie_system.h"
#include "platform/serve/served_function.h"
#include "rtl_models/base/contract.h"
#include "rtl_models/pcie/endpoint/endpoint_device.h"
#include "rtl_models/pcie/host_bridge/host_bridge.h"
#include "rtl_models/pcie/packets/tlp_rules.h"
#include "rtl_models/pcie/root_complex/root_complex.h"
#include "rtl_models/sim/engine.h"

namespace warpline {
namespace {

using vfio_user::Client;
using vfio_user::DmaOutcome;

/// Stores that wait in the bridge before clients' writes are held back.
constexpr std::size_t kBacklog = 64;

CompletionStatus status_of(DmaOutcome outcome) {
  switch (outcome) {
    case DmaOutcome::done: return CompletionStatus::successful;
    case DmaOutcome::unmapped: return CompletionStatus::unsupported_request;
    case DmaOutcome::failed: break;
  }
  return CompletionStatus::completer_abort;
}

template <class Word>
void perform_on_word(Tlp& tlp, void* at) {
  auto* const word = static_cast<Word*>(at);
  const std::vector<std::uint8_t> operand = tlp.data;
  Word old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  for (;;) {
    std::array<std::uint8_t, sizeof(Word)> bytes{};
    put_number(bytes.data(), sizeof(Word), old);
    tlp.data = operand;
    perform_atomic(tlp, bytes.data());
    const auto wanted = static_cast<Word>(number_at(bytes.data(), sizeof(Word)));
    if (__atomic_compare_exchange_n(word, &old, wanted, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return;
  }
}

/// An atomic on memory that is mapped here, which its machine's processors see as such.
CompletionStatus perform_mapped(Tlp& tlp, Client& client) {
  void* const word = tlp.bytes == 4 || tlp.bytes == 8 ? client.word(tlp.address, tlp.bytes) : nullptr;
  if (tlp.poisoned || word == nullptr) return CompletionStatus::unsupported_request;
  tlp.bytes == 4 ? perform_on_word<std::uint32_t>(tlp, word) : perform_on_word<std::uint64_t>(tlp, word);
  return CompletionStatus::successful;
}

}  // namespace

ServedMachine::ServedMachine(PcieSystem& system) : system_(system), host_(system) {
  host_.enumerate();
  for (unsigned i = 0; i < system.functions(); ++i)
    functions_.push_back(std::make_unique<ServedFunction>(*this, i, system.function(i).endpoint()));
  system_.root().reach_outside(*this);
  bridge().on_event([this](Cycle) { heard_ = true; });
}

ServedMachine::~ServedMachine() {
  bridge().on_event(nullptr);
}

HostBridge& ServedMachine::bridge() {
  return system_.bridge();
}

Cycle ServedMachine::now() {
  return std::max(now_, system_.engine().now());
}

bool ServedMachine::has_room() {
  return bridge().waiting() < kBacklog;
}

bool ServedMachine::is_loose() const {
  return system_.is_loose();
}

void ServedMachine::set_loose(bool loose, std::function<void()> done) {
  wants_loose_ = loose;
  if (done) switched_.push_back(std::move(done));
  switch_time();
}

/// What is under way ends first; accesses that come meanwhile wait.
void ServedMachine::switch_time() {
  const bool within = inside_ || pumping_;
  if (!wants_loose_ || within || next_activity() != kNever || bridge().busy() || system_.root().busy())
    return;
  for (const auto& function : functions_)
    if (!function->idle()) return;
  system_.set_loose(*std::exchange(wants_loose_, std::nullopt));
  for (const auto& done : std::exchange(switched_, {})) done();
}

Cycle ServedMachine::next_activity() {
  return system_.next_activity();
}

bool ServedMachine::advance(Cycle limit, std::chrono::microseconds most) {
  for (const auto& function : functions_) function->make_accesses();
  step(limit, most);
  deliver();
  for (const auto& function : functions_) function->answer();
  switch_time();
  // What clients ask for in their answers' turn, and what had to wait, is made in the next.
  const bool asked = std::any_of(functions_.begin(), functions_.end(),
                                 [](const auto& function) { return function->has_accesses(); });
  return (asked && takes_accesses()) || next_activity() <= limit;
}

void ServedMachine::step(Cycle limit, std::chrono::microseconds most) {
  // A look at the clock costs as much as a step of an idle system.
  constexpr unsigned kBetweenLooks = 16;
  const auto end = std::chrono::steady_clock::now() + most;
  inside_ = true;
  heard_ = false;
  for (unsigned steps = 1; !heard_; ++steps) {
    const Cycle next = system_.next_activity();
    if (next > limit || next == kNever) break;
    static_cast<void>(system_.run_until(next));
    if (steps % kBetweenLooks == 0 && std::chrono::steady_clock::now() >= end) break;
  }
  inside_ = false;
}

void ServedMachine::deliver() {
  for (auto& arrived = bridge().interrupts(); !arrived.empty(); arrived.pop_front()) {
    const HostInterrupt interrupt = arrived.front();
    const std::uint64_t port = (interrupt.address - RootComplexCore::kInterruptWindow) / Iommu::kPage;
    if (port < functions()) functions_[port]->interrupt(interrupt.data);
  }
}

ServedFunction* ServedMachine::requester_of(const Tlp& request) {
  const unsigned bus = request.requester.value >> 8U;
  return bus >= 1 && bus <= functions() ? functions_[bus - 1].get() : nullptr;
}

OutsideMemory::Place ServedMachine::find(const Tlp& request) {
  ServedFunction* const requester = requester_of(request);
  if (requester == nullptr || requester->client() == nullptr) return {};
  const auto guest = requester->client()->process();
  for (const auto& function : functions_) {
    if (function->client() == nullptr || function->client()->process() != guest) continue;
    if (const auto hit = function->find(request.address, request.bytes))
      return {Place::In::bus, function->bus_address(*hit)};
  }
  return {Place::In::memory, request.address};
}

std::optional<CompletionStatus> ServedMachine::perform(Tlp& request, bool may_wait) {
  ServedFunction* const requester = requester_of(request);
  Client* const client = requester == nullptr ? nullptr : requester->client();
  if (client == nullptr) return CompletionStatus::unsupported_request;
  // Damaged data is not written; a read of no byte has nothing to bring.
  const bool idle = request.bytes == 0 || (request.posted() && request.poisoned);
  if (idle) return CompletionStatus::successful;
  if (request.kind != TlpKind::memory_read && !request.posted()) return perform_mapped(request, *client);
  return transfer(request, may_wait);
}

/// A read or write of memory, which may take messages.
std::optional<CompletionStatus> ServedMachine::transfer(Tlp& request, bool may_wait) {
  /// What both sides know of a transfer.
  struct Progress {
    Tlp* tlp = nullptr;  ///< null: nobody waits for it any more
    std::optional<CompletionStatus> status;
    bool waits = false;  ///< the root complex does
  };
  ServedFunction& function = *requester_of(request);
  const auto progress = std::make_shared<Progress>();
  progress->tlp = &request;
  if (request.posted()) {
    ++function.unanswered_writes_;
    function.client()->write(request.address, request.data.data(), request.bytes,
                             [&function, progress](DmaOutcome outcome) {
                               progress->status = status_of(outcome);
                               --function.unanswered_writes_;
                             });
    // Who reads on the same way finds it: messages keep their order.
    return progress->status.value_or(CompletionStatus::successful);
  }
  ++asked_;
  function.client()->read(request.address, request.bytes,
                          [this, progress](DmaOutcome outcome, const std::uint8_t* data) {
                            progress->status = status_of(outcome);
                            --asked_;
                            if (progress->tlp == nullptr) return;
                            Tlp& tlp = *progress->tlp;
                            if (outcome == DmaOutcome::done) tlp.data.assign(data, data + tlp.bytes);
                            if (progress->waits) system_.root().finish_outside(tlp, *progress->status);
                          });
  if (progress->status) return progress->status;
  if (may_wait) {
    progress->waits = true;
    return std::nullopt;
  }
  // Accesses that come meanwhile wait: the function is in the middle of this one.
  const bool outer = std::exchange(pumping_, true);
  const auto since = std::chrono::steady_clock::now();
  while (!progress->status && pump_ && pump_(since)) {
  }
  pumping_ = outer;
  if (progress->status) return progress->status;
  progress->tlp = nullptr;
  return CompletionStatus::completer_abort;
}

}  // namespace warpline
