#include "platform/serve/served_machine.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "platform/machine/pcie_system.h"
#include "platform/report/run_statistics.h"
#include "platform/serve/served_event.h"
#include "platform/serve/served_function.h"
#include "platform/serve/served_gpu.h"
#include "rtl_models/base/contract.h"
#include "rtl_models/base/counter.h"
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

/// What the machine asks.
ServedEvent event_of(ServedEvent::Kind kind, const Tlp& request) {
  ServedEvent event;
  event.kind = kind;
  event.function = (request.requester.value >> 8U) - 1U;
  event.region = static_cast<std::uint32_t>(request.kind);
  event.offset = request.address;
  event.bytes = request.bytes;
  return event;
}

/// An atomic on memory that is mapped here, which its machine's processors see as such.
CompletionStatus perform_mapped(Tlp& tlp, Client& client) {
  void* const word = tlp.bytes == 4 || tlp.bytes == 8 ? client.word(tlp.address, tlp.bytes) : nullptr;
  if (tlp.poisoned || word == nullptr) return CompletionStatus::unsupported_request;
  tlp.bytes == 4 ? perform_on_word<std::uint32_t>(tlp, word) : perform_on_word<std::uint64_t>(tlp, word);
  return CompletionStatus::successful;
}

}  // namespace

ServedMachine::ServedMachine(PcieSystem& system, std::vector<ServedGpu*> gpus)
    : system_(system), gpus_(std::move(gpus)), host_(system) {
  host_.enumerate();
  for (unsigned i = 0; i < system.ports(); ++i)
    functions_.push_back(std::make_unique<ServedFunction>(*this, i, system.at_port(i).endpoint));
  system_.root().reach_outside(*this);
  bridge().on_event([this](Cycle) { heard_ = true; });
}

ServedMachine::~ServedMachine() {
  bridge().on_event(nullptr);
}

std::string ServedMachine::map(unsigned port, unsigned bar) {
  const PcieSystem::AtPort at = system_.at_port(port);
  const FunctionDescription& description = at.endpoint.config().description();
  if (bar >= kBars || description.bars[bar].bytes == 0) return "it has no such BAR";
  if (description.vectors != 0 && bar == description.msix_bar)
    return "the table of its interrupts is there, and no memory";
  EndpointMemory* const memory = at.function.memory_behind(bar);
  if (memory == nullptr && bar != at.function.register_bar())
    return "what is there is reached through caches, which have to see every access";
  if (memory == nullptr) return "registers are there, and no memory: to access them has effects";
  const int error = functions_[port]->map(bar, *memory);
  return error == 0 ? std::string() : std::string("its memory cannot be shared: ") + std::strerror(error);
}

void ServedMachine::visit(CounterVisitor& visitor) const {
  if (!gpus_.empty()) {
    CounterTable table;
    const auto values = table.read([this](CounterVisitor& each) { gpus_.front()->visit(each); });
    std::string_view block;
    bool wanted = false;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const CounterTable::Entry& entry = table.entries()[i];
      if (total_path(entry.path) != entry.path) continue;
      const std::string_view path = entry.path;
      const std::size_t dot = path.rfind('.');
      if (const std::string_view its = path.substr(0, dot); std::exchange(block, its) != its)
        wanted = visitor.wants(its);
      if (wanted) visitor.counter(block, path.substr(dot + 1), values[i], entry.unit, entry.description);
    }
  }
  system_.visit(visitor);
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

void ServedMachine::set_loose(bool loose, Switched done) {
  wants_loose_ = loose;
  wanted_since_ = std::chrono::steady_clock::now();
  if (done) switched_.push_back(std::move(done));
  switch_time();
}

bool ServedMachine::runs_kernel() {
  return std::any_of(gpus_.begin(), gpus_.end(), [](ServedGpu* gpu) { return gpu->has_launch(); });
}

bool ServedMachine::is_quiet() {
  if (runs_kernel() || next_activity() != kNever || bridge().busy() || system_.root().busy()) return false;
  return std::all_of(functions_.begin(), functions_.end(),
                     [](const auto& function) { return function->idle(); });
}

/// What is under way ends first; accesses that come meanwhile wait. They do not for ever: a client may keep a
/// request of a function waiting.
void ServedMachine::switch_time() {
  if (!wants_loose_ || inside_ || pumping_) return;
  const bool is_so = *wants_loose_ == is_loose();
  if (!is_so && !is_quiet() && std::chrono::steady_clock::now() - wanted_since_ < kLongestSwitch) return;
  const bool loose = *std::exchange(wants_loose_, std::nullopt);
  const bool gives_up = !is_so && !is_quiet();
  if (!is_so && !gives_up) {
    ServedEvent event;
    event.kind = ServedEvent::Kind::timing;
    event.result = loose;
    apply(event);
  }
  for (const Switched& done : std::exchange(switched_, {})) done(gives_up);
}

bool ServedMachine::can_step() {
  return system_.next_activity() != kNever;
}

Cycle ServedMachine::next_activity() {
  Cycle next = system_.next_activity();
  for (const ServedGpu* const gpu : gpus_) next = std::min(next, gpu->deadline());
  return next;
}

bool ServedMachine::advance(Cycle limit, std::chrono::microseconds most) {
  make_accesses();
  step(limit, most);
  look_at_what_came();
  switch_time();
  // What clients ask for in their answers' turn, and what had to wait, is made in the next.
  const bool asked = std::any_of(functions_.begin(), functions_.end(),
                                 [](const auto& function) { return function->can_make(); });
  const bool more = asked || next_activity() <= limit;
  if (!more && tape_ != nullptr) tape_->rest();
  return more;
}

/// Function by function in turn, so that none keeps the others waiting.
void ServedMachine::make_accesses() {
  constexpr unsigned kMostRounds = 256;
  bool any = true;
  for (unsigned round = 0; any && round < kMostRounds; ++round) {
    any = false;
    for (const auto& function : functions_) any = function->make_next() || any;
  }
}

void ServedMachine::look_at_what_came() {
  told_turn_ = false;
  deliver();
  for (const auto& function : functions_) function->answer();
}

void ServedMachine::end_tape() {
  if (tape_ == nullptr) return;
  ServedEvent event;
  event.kind = ServedEvent::Kind::end;
  tell(event);
  tape_->rest();
  tape_ = nullptr;
}

void ServedMachine::step_once() {
  ++steps_;
  static_cast<void>(system_.run_until(system_.next_activity()));
}

void ServedMachine::tell(ServedEvent& event) {
  if (tape_ == nullptr) return;
  event.steps = std::exchange(steps_, 0);
  event.now = system_.engine().now();
  tape_->happen(event);
}

/// Nobody has to look for what did not come.
void ServedMachine::tell_output(ServedEvent& event) {
  if (!std::exchange(told_turn_, true)) {
    ServedEvent turn;
    tell(turn);
  }
  tell(event);
}

void ServedMachine::apply(const ServedEvent& event) {
  using Kind = ServedEvent::Kind;
  ServedEvent copy = event;
  switch (event.kind) {
    case Kind::read:
      pass_until(event.cycle - 1);
      return functions_[event.function]->make_read(event.region, event.offset, event.bytes,
                                                   [](const std::uint8_t* /*data*/) {});
    case Kind::write:
      pass_until(event.cycle - 1);
      return functions_[event.function]->make_write(event.region, event.offset, event.data.data(),
                                                    event.bytes, [] {});
    case Kind::reset: return functions_[event.function]->do_reset();
    case Kind::plug: return functions_[event.function]->do_plug(event.result != 0);
    case Kind::inject: return functions_[event.function]->do_inject(event.data);
    case Kind::kernel:
      if (ServedGpu* const gpu = gpu_at(event.function); gpu != nullptr && event.offset < ServedGpu::kActs) {
        const auto act = static_cast<ServedGpu::Act>(event.offset);
        // Else this machine's does something else.
        if (!gpu->is_due(act, event.cycle)) return;
        tell(copy);
        gpu->act(act, event.cycle);
      }
      return;
    case Kind::timing: tell(copy); return set_time(event.result != 0);
    case Kind::end: return tell(copy);
    case Kind::turn: return look_at_what_came();
    case Kind::finish:
      if (const auto at = transfers_.find(event.offset); at != transfers_.end()) {
        const auto status = static_cast<CompletionStatus>(event.result);
        // Else it is of a record that is not what this machine asks for, and does not happen.
        if (status == CompletionStatus::successful && event.answer.size() != at->second->bytes) return;
        at->second->data = event.answer;
        finish(event.offset, status);
      }
      return;
    default: return;
  }
}

void ServedMachine::set_time(bool loose) {
  gpus_.empty() ? system_.set_loose(loose) : gpus_.front()->set_loose(loose);
}

ServedGpu* ServedMachine::gpu_at(unsigned port) {
  const auto at =
      std::find_if(gpus_.begin(), gpus_.end(), [port](const ServedGpu* g) { return g->port() == port; });
  return at == gpus_.end() ? nullptr : *at;
}

void ServedMachine::attend(ServedGpu& gpu) {
  const auto due = gpu.next_act(now());
  if (!due) return;
  ServedEvent event;
  event.kind = ServedEvent::Kind::kernel;
  event.function = gpu.port();
  event.offset = static_cast<std::uint64_t>(due->act);
  event.cycle = due->asked;
  tell(event);
  gpu.act(due->act, due->asked);
}

/// The function behind a port was reset. What a GPU has under way behind its own takes time to come back, and
/// asks nobody outside for anything.
void ServedMachine::settle(unsigned port) {
  ServedGpu* const gpu = gpu_at(port);
  if (gpu == nullptr) return;
  inside_ = true;
  while (!gpu->settle() && can_step()) step_once();
  inside_ = false;
  end_within();
}

void ServedMachine::end_within() {
  for (const auto& [transfer, status] : std::exchange(ended_within_, {})) finish(transfer, status);
}

/// A transfer that the root complex waits for has ended; its data is the answer.
void ServedMachine::finish(std::uint64_t transfer, CompletionStatus status) {
  Tlp& tlp = *transfers_.at(transfer);
  transfers_.erase(transfer);
  ServedEvent event;
  event.kind = ServedEvent::Kind::finish;
  event.offset = transfer;
  event.result = static_cast<std::uint64_t>(status);
  event.answer = tlp.data;
  tell(event);
  system_.root().finish_outside(tlp, status);
}

void ServedMachine::step(Cycle limit, std::chrono::microseconds most) {
  // A look at the clock costs as much as a step of an idle system.
  constexpr unsigned kBetweenLooks = 16;
  const auto end = std::chrono::steady_clock::now() + most;
  inside_ = true;
  heard_ = false;
  for (unsigned steps = 1; !heard_; ++steps) {
    for (ServedGpu* const gpu : gpus_) attend(*gpu);
    const Cycle next = next_activity();
    if (next > limit || next == kNever) break;
    if (gpus_.empty() || next == system_.next_activity()) {
      step_once();
    } else {
      pass_until(next);
    }
    if (steps % kBetweenLooks == 0 && std::chrono::steady_clock::now() >= end) break;
  }
  inside_ = false;
  end_within();
}

void ServedMachine::deliver() {
  for (auto& arrived = bridge().interrupts(); !arrived.empty(); arrived.pop_front()) {
    const HostInterrupt interrupt = arrived.front();
    const std::uint64_t port = (interrupt.address - RootComplexCore::kInterruptWindow) / Iommu::kPage;
    if (port >= functions()) continue;
    ServedEvent event;
    event.kind = ServedEvent::Kind::interrupt;
    event.function = static_cast<std::uint32_t>(port);
    event.offset = interrupt.data;
    event.cycle = interrupt.cycle;
    event.result = functions_[port]->client() != nullptr ? 1 : 0;
    tell_output(event);
    functions_[port]->interrupt(interrupt.data, event.result != 0);
  }
}

ServedFunction* ServedMachine::requester_of(const Tlp& request) {
  const unsigned bus = request.requester.value >> 8U;
  return bus >= 1 && bus <= functions() ? functions_[bus - 1].get() : nullptr;
}

OutsideMemory::Place ServedMachine::find(const Tlp& request) {
  if (tape_ == nullptr) return find_outside(request);
  Place place;
  ServedEvent event = event_of(ServedEvent::Kind::find, request);
  if (!tape_->replays()) {
    place = find_outside(request);
    event.result = static_cast<std::uint64_t>(place.in);
    event.place = place.address;
  }
  tell(event);
  return {static_cast<Place::In>(event.result), event.place};
}

OutsideMemory::Place ServedMachine::find_outside(const Tlp& request) {
  ServedFunction* const requester = requester_of(request);
  if (requester == nullptr || requester->client() == nullptr) return {};
  const auto guest = requester->client()->process();
  for (const auto& function : functions_) {
    if (function->client() == nullptr) continue;
    // Of a process that the system does not tell, nobody is known to be another part.
    const bool is_its_own = guest != 0 && function->client()->process() == guest;
    if (function.get() != requester && !is_its_own) continue;
    const auto hit = function->find(request.address, request.bytes);
    if (!hit) continue;
    if (function->is_message_table(hit->bar, hit->offset)) return {};
    return {Place::In::bus, function->bus_address(*hit)};
  }
  return {Place::In::memory, request.address};
}

std::optional<CompletionStatus> ServedMachine::perform(Tlp& request, bool may_wait) {
  if (tape_ == nullptr) return perform_outside(request, may_wait);
  ServedEvent event = event_of(ServedEvent::Kind::perform, request);
  if (request.kind != TlpKind::memory_read) event.data = request.data;
  if (!tape_->replays()) {
    const auto status = perform_outside(request, may_wait);
    event.result = status ? static_cast<std::uint64_t>(*status) : ServedEvent::kGoesOn;
    if (!status) event.place = last_transfer_;
    if (status && !request.posted()) event.answer = request.data;
    tell(event);
    return status;
  }
  tell(event);
  if (event.result == ServedEvent::kGoesOn) {
    transfers_[event.place] = &request;
    return std::nullopt;
  }
  // Of a record that is not what this machine asks for.
  const auto status = static_cast<CompletionStatus>(event.result);
  if (request.kind == TlpKind::memory_read && status == CompletionStatus::successful &&
      event.answer.size() != request.bytes)
    return CompletionStatus::completer_abort;
  if (!request.posted()) request.data = event.answer;
  return status;
}

std::optional<CompletionStatus> ServedMachine::perform_outside(Tlp& request, bool may_wait) {
  ServedFunction* const requester = requester_of(request);
  Client* const client = requester == nullptr ? nullptr : requester->client();
  if (client == nullptr || request.epoch < requester->first_epoch())
    return CompletionStatus::unsupported_request;
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
    std::uint64_t transfer = 0;  ///< the root complex waits for it, by this number
  };
  ServedFunction& function = *requester_of(request);
  if (!may_wait && function.silent_) return CompletionStatus::completer_abort;
  const auto progress = std::make_shared<Progress>();
  progress->tlp = &request;
  const bool posted = request.posted();
  const auto ended = [this, &function, progress, posted](DmaOutcome outcome, const std::uint8_t* data) {
    progress->status = status_of(outcome);
    --asked_;
    function.unanswered_writes_ -= posted;
    function.silent_ = false;
    if (progress->tlp == nullptr) return;
    Tlp& tlp = *progress->tlp;
    if (data != nullptr && outcome == DmaOutcome::done) tlp.data.assign(data, data + tlp.bytes);
    if (progress->transfer == 0) return;
    // A client may be lost while the model runs, and asks it for something else.
    if (inside_) {
      ended_within_.emplace_back(progress->transfer, *progress->status);
    } else {
      finish(progress->transfer, *progress->status);
    }
  };
  ++asked_;
  function.unanswered_writes_ += posted;
  if (posted) {
    function.client()->write(request.address, request.data.data(), request.bytes,
                             [ended](DmaOutcome outcome) { ended(outcome, nullptr); });
  } else {
    function.client()->read(request.address, request.bytes, ended);
  }
  if (progress->status) return progress->status;
  if (may_wait) {
    progress->transfer = ++last_transfer_;
    transfers_[progress->transfer] = &request;
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
  function.silent_ = true;
  return CompletionStatus::completer_abort;
}

}  // namespace warpline
