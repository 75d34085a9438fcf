#include "tests/equivalence/outside_client.h"

#include <algorithm>
#include <array>

#include "rtl_models/base/random.h"

namespace warpline::test {

struct OutsideClient::Access {
  Access(OutsideClient& client, const Item& item, bool qualified)
      : payload(static_cast<tlm::tlm_mm_interface*>(&client)), model(item.request) {
    if (item.atomics) atomics = *item.atomics;
    if (model.command == Command::atomic || model.command == Command::reduce) model.atomics = &atomics;
    extension.request = &model;
    const bool moves = model.command == Command::read || model.command == Command::write;
    if (qualified || !moves) payload.set_extension(&extension);
    payload.set_command(model.command == Command::read    ? tlm::TLM_READ_COMMAND
                        : model.command == Command::write ? tlm::TLM_WRITE_COMMAND
                                                          : tlm::TLM_IGNORE_COMMAND);
    const ByteMask bytes =
        model.command == Command::write ? model.bytes : ByteMask::of_sectors(model.sectors);
    const unsigned first = moves ? bytes.first() : 0, end = moves ? bytes.end() : 4;
    data = model.data;
    for (unsigned i = first; i < end; ++i)
      enables[i] = bytes.test(i) || !moves ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED;
    payload.set_address(model.line.value + first);
    payload.set_data_ptr(&data[first]);
    payload.set_data_length(end - first);
    payload.set_streaming_width(end - first);
    payload.set_byte_enable_ptr(&enables[first]);
    payload.set_byte_enable_length(end - first);
    payload.acquire();
  }
  ~Access() { payload.clear_extension<RequestExtension>(); }
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;

  Payload payload;
  Request model;
  AtomicBlock atomics;
  RequestExtension extension;
  std::array<std::uint8_t, kLineBytes> data{};
  std::array<std::uint8_t, kLineBytes> enables{};
  bool answered = false;
  sc_core::sc_event event;
};

struct OutsideClient::Lane final : sc_core::sc_module {
  Lane(const sc_core::sc_module_name& name, OutsideClient& its_client, unsigned its_number)
      : sc_module(name), client(its_client), number(its_number) {
    SC_HAS_PROCESS(Lane);
    SC_THREAD(run);
  }
  void run() { client.run(number); }
  OutsideClient& client;
  unsigned number;
};

OutsideClient::OutsideClient(const sc_core::sc_module_name& name, EngineProcess& engine,
                             std::vector<Item> items, Cycle gap, Kind kind, std::uint64_t seed)
    : sc_module(name),
      answers(items.size()),
      engine_(engine),
      items_(std::move(items)),
      gap_(gap),
      kind_(kind),
      seed_(seed) {
  socket.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
  for (unsigned n = 0; n < kThreads; ++n)
    lanes_.push_back(std::make_unique<Lane>(("lane_" + std::to_string(n)).c_str(), *this, n));
  SC_HAS_PROCESS(OutsideClient);
  SC_METHOD(begin_next);
  dont_initialize();
  sensitive << begin_;
}

OutsideClient::~OutsideClient() = default;

void OutsideClient::run(unsigned lane) {
  Random random(splitmix64(seed_ * kThreads + lane));
  Cycle next = 0;
  for (std::size_t i = lane; i < items_.size(); i += kThreads) {
    const Cycle soonest = std::max(items_[i].at, next);
    const Cycle at = soonest + (lane + kThreads - soonest % kThreads) % kThreads;
    const bool qualified = random.below(2) == 0, ahead = random.below(2) == 0;
    Access access(*this, items_[i], qualified);
    Answer& answer = answers[i];
    answer.sent = at;
    if (kind_ == Kind::loose) {
      call(access, ahead, at);
    } else {
      send(access, at);
    }
    answer.answered = engine_.cycle_of(sc_core::sc_time_stamp());
    answer.status = access.payload.is_response_ok() ? Status::ok : Status::address_error;
    // Behind video memory is time, and no bytes.
    if (access.payload.is_read() && aperture_of(access.model.line) == Aperture::sysmem)
      answer.data = access.data;
    answer.atomics = access.atomics;
    next = answer.answered + gap_;
    ++done_;
  }
}

void OutsideClient::call(Access& access, bool ahead, Cycle at) {
  sc_core::sc_time delay = engine_.tick_of(at) - sc_core::sc_time_stamp();
  if (!ahead) {
    wait(delay);
    delay = sc_core::SC_ZERO_TIME;
  }
  socket->b_transport(access.payload, delay);
  delayed = delayed || delay != sc_core::SC_ZERO_TIME;
}

void OutsideClient::send(Access& access, Cycle at) {
  wait(engine_.tick_of(at) - sc_core::sc_time_stamp());
  queued_.push_back(&access);
  begin_next();
  while (!access.answered) wait(access.event);
}

void OutsideClient::begin_next() {
  if (requesting_ != nullptr || queued_.empty()) return;
  if (free_ > sc_core::sc_time_stamp()) return begin_.notify(free_ - sc_core::sc_time_stamp());
  Access& access = *queued_.front();
  queued_.pop_front();
  requesting_ = &access;
  under_way_.push_back(&access);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay;
  const tlm::tlm_sync_enum status = socket->nb_transport_fw(access.payload, phase, delay);
  if (status != tlm::TLM_ACCEPTED) request_ended(delay);
  if (status != tlm::TLM_COMPLETED) return;
  access.answered = true;
  access.event.notify(delay);
}

void OutsideClient::request_ended(const sc_core::sc_time& delay) {
  requesting_ = nullptr;
  free_ = sc_core::sc_time_stamp() + delay;
  begin_.notify(delay);
}

tlm::tlm_sync_enum OutsideClient::nb_transport_bw(Payload& payload, tlm::tlm_phase& phase,
                                                  sc_core::sc_time& delay) {
  if (requesting_ != nullptr && &requesting_->payload == &payload) request_ended(delay);
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  const auto answered = std::find_if(under_way_.begin(), under_way_.end(),
                                     [&payload](const Access* a) { return &a->payload == &payload; });
  (*answered)->answered = true;
  (*answered)->event.notify(delay);
  under_way_.erase(answered);
  return tlm::TLM_COMPLETED;
}

}  // namespace warpline::test
