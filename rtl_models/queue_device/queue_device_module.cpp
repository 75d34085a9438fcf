// The wire of reset, where it is bound, has a process of its own.
#define SC_INCLUDE_DYNAMIC_PROCESSES

#include "rtl_models/queue_device/queue_device_module.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <list>
#include <stdexcept>
#include <utility>
#include <vector>

#include "rtl_models/queue_device/bus_end.h"
#include "rtl_models/tlm/engine_process.h"
#include "rtl_models/tlm/report.h"

namespace warpline {
namespace {

constexpr unsigned kPage = kBusPage;

const QueueDeviceModuleParameters& fit(const QueueDeviceModuleParameters& parameters) {
  std::string all;
  for (const Problem& p : parameters.problems(""))
    all += (all.empty() ? "" : "\n") + p.path + ": " + p.message;
  if (!all.empty()) throw std::invalid_argument(all);
  return parameters;
}

/// What the bus side of `engine` is in; those of the device's clock follow.
unsigned mhz_of(const EngineProcess& engine) {
  return static_cast<unsigned>(engine.cycle_of(sc_core::sc_time(1, sc_core::SC_US)));
}

tlm::tlm_response_status shape_of(const tlm::tlm_generic_payload& p) {
  if (!p.is_read() && !p.is_write()) return tlm::TLM_COMMAND_ERROR_RESPONSE;
  if (p.get_byte_enable_ptr() != nullptr) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  const std::uint64_t bytes = p.get_data_length();
  if (bytes == 0 || p.get_streaming_width() < bytes || p.get_address() % kPage + bytes > kPage)
    return tlm::TLM_BURST_ERROR_RESPONSE;
  return tlm::TLM_OK_RESPONSE;
}

}  // namespace

struct QueueDeviceModule::State final : tlm::tlm_fw_transport_if<>,
                                        tlm::tlm_bw_transport_if<>,
                                        private DeviceBus,
                                        private SocketEnd,
                                        private tlm::tlm_mm_interface {
  /// A transaction of the device, as a payload.
  struct Burst {
    explicit Burst(tlm::tlm_mm_interface& memory) : payload(&memory) {}
    tlm::tlm_generic_payload payload;
    std::vector<unsigned char> bytes;
    BusTransfer* transfer = nullptr;
    bool answered = false;
  };
  static void describe(Burst& burst, BusTransfer& transfer);
  static void take_answer(const Burst& burst);

  State(QueueDeviceModule& its_module, EngineProcess& its_engine,
        const QueueDeviceModuleParameters& parameters, const ClockDomain& clock)
      : module(its_module),
        engine(its_engine),
        limits{parameters.outstanding, parameters.burst_bytes},
        device(in_cluster(engine.engine()), its_module.name(), clock, pool, FunctionId{}, parameters.device,
               BusEnd::link(limits), mhz_of(engine)),
        end(device, pool, *this, parameters.device, limits),
        outside(end, "to_memory", *this),
        memory_bytes(parameters.device.buffer_bytes) {
    from_bus.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
    to_memory.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
    engine.add_end(*this, true);
  }
  static Engine& in_cluster(Engine& engine) {
    engine.begin_cluster();
    return engine;
  }

  /// That the bus may answer at any time is what the engine asks of its ports.
  class Outside final : public PortBase {
   public:
    Outside(Component& owner, const char* name, const State& its_state)
        : PortBase(owner, name), state(its_state) {}
    [[nodiscard]] std::size_t occupancy() const override { return state.calls; }
    [[nodiscard]] Cycle lookahead() const override { return 1; }
    [[nodiscard]] bool leads_outside() const override { return true; }
    [[nodiscard]] bool receives() const override { return false; }
    void in_flight(std::vector<InFlight>& /*rows*/) const override {}
    [[nodiscard]] std::string other_side() const override { return state.bus_name(); }

   private:
    const State& state;
  };

  // Accesses come.
  /// One by nb_transport.
  struct Visit {
    tlm::tlm_generic_payload* payload = nullptr;
    DeviceAccess access;
  };
  /// One by b_transport that is timed: its thread waits, unless it was killed.
  struct Call {
    DeviceAccess access;
    bool abandoned = false;
  };
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override;
  [[nodiscard]] bool admits(tlm::tlm_generic_payload& payload) const;
  static void ask(DeviceAccess& access, const tlm::tlm_generic_payload& payload);
  static void answer(tlm::tlm_generic_payload& payload, const DeviceAccess& access);
  void take_turn(tlm::tlm_generic_payload& payload);
  void perform_access(DeviceAccess& access, sc_core::sc_time& delay);
  void respond();
  void answered() override {
    done.notify(sc_core::SC_ZERO_TIME);
    waiting.remove_if([](const Call& c) { return c.abandoned && c.access.done; });
  }
  [[nodiscard]] bool held_in_reset() const {
    return module.reset_wire.size() != 0 && module.reset_wire->read();
  }

  // The device's requests go.
  [[nodiscard]] bool ready(Cycle now) override {
    if (free_at <= now) return true;
    if (free_at != kNever) end.wake(free_at);
    return false;
  }
  void begin(Cycle now, BusTransfer& transfer) override;
  void perform(BusTransfer& transfer, Cycle& at) override;
  [[nodiscard]] bool is_loose() const override { return engine.is_loose(); }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64 /*start*/, sc_dt::uint64 /*end*/) override {}
  [[nodiscard]] Burst* find(const tlm::tlm_generic_payload& payload);
  void request_ended(const Burst& burst, const sc_core::sc_time& at);
  void response_begun(Burst& burst, const sc_core::sc_time& at);
  void finish(Burst& burst, const sc_core::sc_time& at);
  [[nodiscard]] Burst& take();
  void free(tlm::tlm_generic_payload* payload) override { unused.push_back(find(*payload)); }

  // Interrupts.
  void interrupt(unsigned vector, Cycle at) override;
  void drive_wires();
  void reset();

  void explain(std::vector<Wait>& waits) const override {
    if (requesting != nullptr) waits.push_back({to_memory.name(), bus_name() + " to end a request", {}});
    if (calls != 0)
      waits.push_back(
          {to_memory.name(), bus_name() + " to answer " + std::to_string(calls) + " payloads", {}});
  }
  [[nodiscard]] std::string bus_name() const {
    return name_of_bound(to_memory.get_base_port()[0], to_memory);
  }

  QueueDeviceModule& module;
  EngineProcess& engine;
  TlpPool pool;
  BusEnd::Limits limits;
  QueueDevice device;
  BusEnd end;
  Outside outside;
  std::uint64_t memory_bytes;
  TargetSocket from_bus{"from_bus"};
  InitiatorSocket to_memory{"to_memory"};
  sc_core::sc_event done;
  std::list<Visit> visits;                         ///< that are not answered, oldest first; each stays put
  std::list<Call> waiting;                         ///< likewise, of calls that wait
  tlm::tlm_generic_payload* responding = nullptr;  ///< its END_RESP is awaited
  sc_core::sc_time response_free;                  ///< when the next response may begin
  Cycle latest = 0;                                ///< when the access before was made, of loosely timed ones

  std::deque<Burst> bursts;
  std::vector<Burst*> unused;
  const Burst* requesting = nullptr;  ///< its END_REQ is awaited
  Cycle begun = 0;                    ///< when it began
  Cycle free_at = 0;                  ///< when the next request may begin; kNever: not known
  std::size_t calls = 0;              ///< payloads that are not answered

  /// A pulse that is under way: what the wire becomes next, and in which cycle.
  struct Pulse {
    bool active = false, again = false, high = false;
    Cycle next = 0;
  };
  void await(const Pulse& pulse);
  std::array<Pulse, kVectors> pulses{};
  sc_core::sc_event wires_change;
};

void QueueDeviceModule::State::describe(Burst& burst, BusTransfer& transfer) {
  burst.transfer = &transfer;
  burst.answered = false;
  burst.bytes.assign(transfer.data.begin(), transfer.data.end());
  tlm::tlm_generic_payload& p = burst.payload;
  const auto bytes = static_cast<unsigned>(burst.bytes.size());
  p.set_command(transfer.writes ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  p.set_address(transfer.address);
  p.set_data_ptr(burst.bytes.data());
  p.set_data_length(bytes);
  p.set_streaming_width(bytes);
  p.set_byte_enable_ptr(nullptr);
  p.set_byte_enable_length(0);
  p.set_dmi_allowed(false);
  p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
}

/// Brings the bus's answer back.
void QueueDeviceModule::State::take_answer(const Burst& burst) {
  BusTransfer& t = *burst.transfer;
  switch (burst.payload.get_response_status()) {
    case tlm::TLM_OK_RESPONSE: t.status = CompletionStatus::successful; break;
    case tlm::TLM_ADDRESS_ERROR_RESPONSE: t.status = CompletionStatus::unsupported_request; break;
    default: t.status = CompletionStatus::completer_abort;
  }
  if (!t.writes) t.data.assign(burst.bytes.begin(), burst.bytes.end());
}

/// Whether the device takes what a payload asks for; if not, it is answered.
bool QueueDeviceModule::State::admits(tlm::tlm_generic_payload& payload) const {
  payload.set_dmi_allowed(false);
  auto status = shape_of(payload);
  if (status == tlm::TLM_OK_RESPONSE && !end.holds(payload.get_address(), payload.get_data_length()))
    status = tlm::TLM_ADDRESS_ERROR_RESPONSE;
  if (status == tlm::TLM_OK_RESPONSE && held_in_reset()) status = tlm::TLM_GENERIC_ERROR_RESPONSE;
  if (status == tlm::TLM_OK_RESPONSE) return true;
  payload.set_response_status(status);
  return false;
}

void QueueDeviceModule::State::ask(DeviceAccess& access, const tlm::tlm_generic_payload& payload) {
  access.writes = payload.is_write();
  access.offset = payload.get_address();
  access.data.resize(payload.get_data_length());
  if (access.writes) std::copy_n(payload.get_data_ptr(), access.data.size(), access.data.begin());
}

void QueueDeviceModule::State::answer(tlm::tlm_generic_payload& payload, const DeviceAccess& access) {
  const bool done = access.status == CompletionStatus::successful;
  if (done && !access.writes) std::copy(access.data.begin(), access.data.end(), payload.get_data_ptr());
  payload.set_response_status(done ? tlm::TLM_OK_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE);
}

void QueueDeviceModule::State::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  if (!admits(payload)) return;
  if (!engine.is_loose()) {
    if (!EngineProcess::caller_may_wait()) {
      payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
      return protest(
          from_bus,
          "b_transport from a process that cannot wait, while time is not loose: it must come from "
          "an SC_THREAD, and not from within a call of nb_transport");
    }
    if (delay != sc_core::SC_ZERO_TIME) {
      sc_core::wait(std::exchange(delay, sc_core::SC_ZERO_TIME));
      if (!admits(payload)) return;
    }
    if (!engine.is_loose()) return take_turn(payload);  // unless that has changed meanwhile
  }
  DeviceAccess access;
  ask(access, payload);
  perform_access(access, delay);
  answer(payload, access);
}

/// Has a timed access made now, and waits until it is done. Whoever kills the thread unwinds this; the access
/// comes to its end without it.
void QueueDeviceModule::State::take_turn(tlm::tlm_generic_payload& payload) {
  const EngineProcess::Access under_way(engine, true);
  struct Waiting {
    ~Waiting() {
      if (call->access.done) {
        calls.erase(call);
      } else {
        call->abandoned = true;
      }
    }
    std::list<Call>& calls;
    std::list<Call>::iterator call;
  };
  const Waiting made{waiting, waiting.emplace(waiting.end())};
  DeviceAccess& access = made.call->access;
  ask(access, payload);
  end.submit(access, engine.cycle_of(engine.time()) + 1);
  engine.wake();
  while (!access.done) sc_core::wait(done);
  answer(payload, access);
}

tlm::tlm_sync_enum QueueDeviceModule::State::nb_transport_fw(tlm::tlm_generic_payload& payload,
                                                             tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase == tlm::END_RESP) {
    if (responding != &payload) {
      protest(from_bus, "END_RESP for a payload whose response is not under way");
      return tlm::TLM_COMPLETED;
    }
    responding = nullptr;
    response_free = engine.time() + delay;
    done.notify(delay);
    return tlm::TLM_COMPLETED;
  }
  if (phase != tlm::BEGIN_REQ) {
    if (phase == tlm::END_REQ || phase == tlm::BEGIN_RESP)
      protest(from_bus, "an initiator does not send this phase");
    return tlm::TLM_ACCEPTED;
  }
  if (engine.is_loose()) {
    protest(from_bus, "nb_transport_fw while time is loose");
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
  if (!admits(payload)) return tlm::TLM_COMPLETED;
  if (payload.has_mm()) payload.acquire();
  Visit& visit = visits.emplace_back();
  visit.payload = &payload;
  ask(visit.access, payload);
  end.submit(visit.access, engine.cycle_of(engine.time() + delay) + 1);
  engine.wake();
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

/// Sends the answers that are there, one after the other.
void QueueDeviceModule::State::respond() {
  while (responding == nullptr) {
    const auto next =
        std::find_if(visits.begin(), visits.end(), [](const Visit& v) { return v.access.done; });
    if (next == visits.end()) return;
    if (response_free > engine.time()) return done.notify(response_free - engine.time());
    tlm::tlm_generic_payload& payload = *next->payload;
    answer(payload, next->access);
    visits.erase(next);
    responding = &payload;
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay;
    const tlm::tlm_sync_enum status = from_bus->nb_transport_bw(payload, phase, delay);
    if (status == tlm::TLM_COMPLETED || (status == tlm::TLM_UPDATED && phase == tlm::END_RESP)) {
      if (responding == &payload) responding = nullptr;
      response_free = engine.time() + delay;
    }
    if (payload.has_mm()) payload.release();
  }
}

bool QueueDeviceModule::State::get_direct_mem_ptr(tlm::tlm_generic_payload& /*payload*/, tlm::tlm_dmi& dmi) {
  dmi.allow_none();
  return false;
}

/// Devices must not see time go back, so a loosely timed access is made when the one before it was, if its
/// initiator is behind; it takes the same time.
void QueueDeviceModule::State::perform_access(DeviceAccess& access, sc_core::sc_time& delay) {
  const EngineProcess::Access under_way(engine);
  const Cycle asked = engine.cycle_of(engine.time() + delay) + 1;
  latest = std::max({asked, latest, engine.engine().now() + 1});
  const sc_core::sc_time made = engine.time() + delay;
  const Cycle from = latest;
  Cycle at = from;
  end.perform(access, at);
  engine.wake();
  // What a foreign model has waited for meanwhile is over, and no delay any more.
  const sc_core::sc_time over = made + (engine.start_of(at) - engine.start_of(from - 1));
  delay = std::max(over, engine.time()) - engine.time();
}

unsigned QueueDeviceModule::State::transport_dbg(tlm::tlm_generic_payload& p) {
  const std::uint64_t address = p.get_address(), memory = BusEnd::memory_at(memory_bytes);
  const unsigned length = p.get_data_length();
  if (p.get_byte_enable_ptr() != nullptr || (!p.is_read() && !p.is_write())) return 0;
  if (address < kMessageTable) {
    if (!p.is_read()) return 0;
    const RegisterFile::Read read = device.core().registers().peek(address, length);
    if (read.outcome != AccessOutcome::done) return 0;
    put_number(p.get_data_ptr(), length, read.value);
    return length;
  }
  if (address < memory || address - memory >= memory_bytes) return 0;
  const auto bytes =
      static_cast<unsigned>(std::min<std::uint64_t>(length, memory_bytes - (address - memory)));
  unsigned char* const at = device.core().buffer().data() + (address - memory);
  if (p.is_read()) {
    std::memcpy(p.get_data_ptr(), at, bytes);
  } else {
    std::memcpy(at, p.get_data_ptr(), bytes);
  }
  return bytes;
}

QueueDeviceModule::State::Burst& QueueDeviceModule::State::take() {
  if (unused.empty()) unused.push_back(&bursts.emplace_back(static_cast<tlm::tlm_mm_interface&>(*this)));
  Burst& burst = *unused.back();
  unused.pop_back();
  burst.payload.acquire();
  return burst;
}

QueueDeviceModule::State::Burst* QueueDeviceModule::State::find(const tlm::tlm_generic_payload& payload) {
  for (Burst& b : bursts)
    if (&b.payload == &payload) return &b;
  return nullptr;
}

void QueueDeviceModule::State::begin(Cycle now, BusTransfer& transfer) {
  Burst& burst = take();
  describe(burst, transfer);
  requesting = &burst;
  begun = now;
  free_at = kNever;
  ++calls;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = engine.tick_of(now) - engine.time();
  const tlm::tlm_sync_enum status = to_memory->nb_transport_fw(burst.payload, phase, delay);
  const sc_core::sc_time at = engine.time() + delay;
  if (status == tlm::TLM_COMPLETED) {
    request_ended(burst, at);
    finish(burst, at);
    burst.payload.release();
  } else if (status == tlm::TLM_UPDATED && phase == tlm::END_REQ) {
    request_ended(burst, at);
  } else if (status == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP) {
    response_begun(burst, at);
  } else if (status == tlm::TLM_UPDATED) {
    protest(to_memory, "the target returned a phase that does not follow BEGIN_REQ");
  }
}

/// The next request may begin, but not in the cycle of this one.
void QueueDeviceModule::State::request_ended(const Burst& burst, const sc_core::sc_time& at) {
  if (requesting != &burst) return;
  requesting = nullptr;
  free_at = std::max(engine.freed_by_end_at(at), begun + 1);
  end.wake(free_at);
  engine.wake();
}

void QueueDeviceModule::State::response_begun(Burst& burst, const sc_core::sc_time& at) {
  if (std::exchange(burst.answered, true)) return protest(to_memory, "a second response to one request");
  request_ended(burst, at);
  finish(burst, at);
  engine.at_start_of(engine.cycle_of(at) + 1, [this, &burst] {
    tlm::tlm_phase phase = tlm::END_RESP;
    sc_core::sc_time delay;
    static_cast<void>(to_memory->nb_transport_fw(burst.payload, phase, delay));
    burst.payload.release();
  });
}

void QueueDeviceModule::State::finish(Burst& burst, const sc_core::sc_time& at) {
  if (burst.payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE)
    protest(to_memory, "the target answered and left the response status unset");
  --calls;
  take_answer(burst);
  end.finish(*burst.transfer, std::max(engine.freed_by_end_at(at), begun + 1));
  engine.wake();
}

tlm::tlm_sync_enum QueueDeviceModule::State::nb_transport_bw(tlm::tlm_generic_payload& payload,
                                                             tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  Burst* const burst = find(payload);
  if (burst == nullptr || burst->payload.get_ref_count() == 0) {
    protest(to_memory, "nb_transport_bw was called with a payload that is not in flight here");
    return tlm::TLM_COMPLETED;
  }
  const sc_core::sc_time at = engine.time() + delay;
  if (phase == tlm::END_REQ) {
    if (requesting != burst) protest(to_memory, "END_REQ for a request that has ended");
    request_ended(*burst, at);
  } else if (phase == tlm::BEGIN_RESP) {
    response_begun(*burst, at);
  } else if (phase == tlm::BEGIN_REQ || phase == tlm::END_RESP) {
    protest(to_memory, "a target does not send this phase");
  }
  return tlm::TLM_ACCEPTED;
}

void QueueDeviceModule::State::perform(BusTransfer& transfer, Cycle& at) {
  Burst& burst = take();
  describe(burst, transfer);
  const sc_core::sc_time& now = engine.time();
  sc_core::sc_time delay = std::max(engine.tick_of(at), now) - now;
  to_memory->b_transport(burst.payload, delay);
  at = std::max(at, engine.cycle_of(now + delay));
  take_answer(burst);
  burst.payload.release();
}

void QueueDeviceModule::State::interrupt(unsigned vector, Cycle at) {
  if (module.interrupts[vector].size() == 0) return;
  Pulse& pulse = pulses[vector];
  if (pulse.active) {
    pulse.again = true;
  } else {
    pulse = {true, false, true, device.domain().align(at + 1)};
    await(pulse);
  }
}

void QueueDeviceModule::State::await(const Pulse& pulse) {
  const sc_core::sc_time& now = engine.time();
  wires_change.notify(std::max(engine.start_of(pulse.next), now) - now);  // the earliest of all counts
}

/// Wires change at the start of a cycle, whether or not the engine has work then.
void QueueDeviceModule::State::drive_wires() {
  for (unsigned v = 0; v < kVectors; ++v) {
    Pulse& pulse = pulses[v];
    if (pulse.active && engine.start_of(pulse.next) <= engine.time()) {
      module.interrupts[v]->write(pulse.high);
      pulse.active = pulse.high || std::exchange(pulse.again, false);
      pulse.high = !pulse.high;
      pulse.next = device.domain().align(pulse.next + 1);
    }
    if (pulse.active) await(pulse);
  }
}

void QueueDeviceModule::State::reset() {
  end.reset();
  engine.wake();
  for (Pulse& pulse : pulses) {
    if (!pulse.active) continue;
    pulse = {true, false, false, engine.cycle_of(engine.time())};
    await(pulse);
  }
}

QueueDeviceModule::QueueDeviceModule(const sc_core::sc_module_name& name, EngineModule& engine,
                                     const QueueDeviceModuleParameters& parameters, const ClockDomain& clock)
    : sc_module(name),
      interrupts("interrupt", kVectors),
      reset_wire("reset_wire"),
      state_(std::make_unique<State>(*this, process_of(engine), fit(parameters), clock)) {
  SC_HAS_PROCESS(QueueDeviceModule);
  SC_METHOD(respond);
  dont_initialize();
  sensitive << state_->done;
}

void QueueDeviceModule::respond() {
  state_->respond();
}

QueueDeviceModule::~QueueDeviceModule() = default;

void QueueDeviceModule::end_of_elaboration() {
  sc_core::sc_spawn_options changing;
  changing.spawn_method();
  changing.dont_initialize();
  changing.set_sensitivity(&state_->wires_change);
  sc_core::sc_spawn([this] { state_->drive_wires(); }, sc_core::sc_gen_unique_name("wires"), &changing);
  if (reset_wire.size() == 0) return;
  sc_core::sc_spawn_options rising;
  rising.spawn_method();
  rising.dont_initialize();
  rising.set_sensitivity(&reset_wire->posedge_event());
  sc_core::sc_spawn([this] { reset(); }, sc_core::sc_gen_unique_name("reset"), &rising);
}

QueueDeviceModule::TargetSocket& QueueDeviceModule::from_bus() {
  return state_->from_bus;
}

QueueDeviceModule::InitiatorSocket& QueueDeviceModule::to_memory() {
  return state_->to_memory;
}

std::uint64_t QueueDeviceModule::memory_at() const {
  return BusEnd::memory_at(state_->memory_bytes);
}

std::uint64_t QueueDeviceModule::window_bytes() const {
  return memory_at() + state_->memory_bytes;
}

void QueueDeviceModule::reset() {
  state_->reset();
}

const AccessLog& QueueDeviceModule::access_log() const {
  return state_->device.core().log();
}

void QueueDeviceModule::visit(CounterVisitor& visitor) const {
  visit_counters(name(), state_->device.core().counters(), visitor);
  visit_counters(std::string(name()) + ".endpoint", state_->device.endpoint().counters(), visitor);
}

}  // namespace warpline
