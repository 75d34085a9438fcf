#include "rtl_models/tlm/sockets.h"

#include "rtl_models/tlm/initiator_end.h"
#include "rtl_models/tlm/target_end.h"

namespace warpline {

InitiatorSocket::InitiatorSocket(const char* name, EngineModule& engine, Out<RequestMessage>& out,
                                 In<ResponseMessage>& in)
    : tlm_initiator_socket(name), end_(std::make_unique<InitiatorEnd>(*this, process_of(engine), out, in)) {}

InitiatorSocket::~InitiatorSocket() = default;

void InitiatorSocket::bind(base_target_socket_type& target) {
  if (const auto* object = dynamic_cast<const sc_core::sc_object*>(&target))
    end_->name_target(object->name());
  tlm_initiator_socket::bind(target);
}

void InitiatorSocket::set_channel(const ChannelParameters& response, const ClockDomain& responder) {
  end_->set_channel(response, responder);
}

void InitiatorSocket::set_with_data(bool with_data) {
  end_->set_with_data(with_data);
}

InitiatorSocket::Ports InitiatorSocket::hand_over() {
  return end_->hand_over();
}

void InitiatorSocket::set_end_response(EndResponse form) {
  end_->set_end_response(form);
}

void InitiatorSocket::on_invalidate(std::function<void(sc_dt::uint64, sc_dt::uint64)> callback) {
  end_->on_invalidate(std::move(callback));
}

bool InitiatorSocket::is_direct() const {
  return end_->is_direct();
}

bool InitiatorSocket::shows_data() const {
  return end_->shows_data();
}

std::uint64_t InitiatorSocket::refused_writes() const {
  return end_->refused_writes();
}

void InitiatorSocket::end_of_elaboration() {
  end_->join();
}

TargetSocket::TargetSocket(const char* name, EngineModule& engine, In<RequestMessage>& in,
                           Out<ResponseMessage>& out, UntimedAccess& untimed)
    : tlm_target_socket(name),
      end_(std::make_unique<TargetEnd>(*this, process_of(engine), in, out, untimed)) {}

TargetSocket::~TargetSocket() = default;

void TargetSocket::set_channel(const ChannelParameters& request, const ClockDomain& requester) {
  end_->set_channel(request, requester);
}

void TargetSocket::set_with_data(bool with_data) {
  end_->set_with_data(with_data);
}

TargetSocket::Ports TargetSocket::hand_over() {
  return end_->hand_over();
}

void TargetSocket::set_taken(const TakenCommands& taken) {
  end_->set_taken(taken);
}

void TargetSocket::set_memories(std::uint64_t vidmem_bytes, std::uint64_t sysmem_bytes) {
  end_->set_memories({vidmem_bytes, sysmem_bytes});
}

std::uint64_t TargetSocket::address_errors() const {
  return end_->address_errors();
}

void TargetSocket::hint_direct_memory() {
  end_->hint_direct_memory();
}

void TargetSocket::take_back_direct_memory(sc_dt::uint64 first, sc_dt::uint64 last) {
  end_->take_back_direct_memory(first, last);
}

void TargetSocket::end_of_elaboration() {
  end_->join();
}

}  // namespace warpline
