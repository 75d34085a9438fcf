#include "warpline/fabric/tlm_payload.h"

#include "warpline/base/contract.h"

namespace warpline {

void RequestExtension::assign(const RequestExtension& other) {
  accepted = other.accepted;
  request_end = other.request_end;
  request = nullptr;
  if (other.request == nullptr) return;
  own_ = std::make_unique<Request>(*other.request);
  own_->carried = nullptr;
  request = own_.get();
  const bool atomic = request->command == Command::atomic || request->command == Command::reduce;
  if (!atomic || request->atomics == nullptr) return;
  own_atomics_ = std::make_unique<AtomicBlock>(*request->atomics);
  request->atomics = own_atomics_.get();
}

void Transaction::describe(const Request& r, bool with_data) {
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  payload.set_dmi_allowed(false);
  payload.set_byte_enable_ptr(nullptr);
  payload.set_byte_enable_length(0);
  extension.request = const_cast<Request*>(&r);
  extension.accepted = false;
  extension.request_end = kNever;
  const bool moves_bytes = r.command == Command::read || r.command == Command::write;
  payload.set_command(r.command == Command::read    ? tlm::TLM_READ_COMMAND
                      : r.command == Command::write ? tlm::TLM_WRITE_COMMAND
                                                    : tlm::TLM_IGNORE_COMMAND);
  // From the first to the last sector touched; byte enables where not all in between are.
  const unsigned touched = moves_bytes && r.sectors != 0 ? r.sectors : 1U;
  const auto first = static_cast<unsigned>(__builtin_ctz(touched)) * kSectorBytes;
  const auto end = (32U - static_cast<unsigned>(__builtin_clz(touched))) * kSectorBytes;
  address = r.line.value + first;
  command = payload.get_command();
  payload.set_address(address);
  payload.set_data_ptr(&data[first]);
  payload.set_data_length(end - first);
  payload.set_streaming_width(end - first);
  if (!moves_bytes) return;
  const ByteMask bytes = r.command == Command::write ? r.bytes : ByteMask::of_sectors(r.sectors);
  if (with_data && r.command == Command::write) copy_masked(data.data(), r.data.data(), bytes);
  ByteMask span;
  span.set(first, end - first);
  if ((bytes & span) == span) return;
  for (unsigned i = first; i < end; ++i) enables[i] = bytes.test(i) ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED;
  payload.set_byte_enable_ptr(&enables[first]);
  payload.set_byte_enable_length(end - first);
}

Transaction* Transaction::of(tlm::tlm_generic_payload& payload) {
  const auto* extension = payload.get_extension<RequestExtension>();
  Transaction* t = extension == nullptr ? nullptr : extension->transaction;
  return t != nullptr && &t->payload == &payload && t->hop.request != nullptr ? t : nullptr;
}

Transaction& TransactionPool::take(Cycle now) {
  Transaction* t = nullptr;
  // The one used last is the one the host's caches hold.
  if (!free_.empty() && free_.back()->free_from <= now) {
    t = free_.back();
    free_.pop_back();
  } else if (!free_.empty() && free_.front()->free_from <= now) {
    t = free_.front();
    free_.pop_front();
  } else {
    t = &all_.emplace_back(static_cast<tlm::tlm_mm_interface&>(*this));
  }
  t->payload.acquire();
  return *t;
}

void TransactionPool::give_back(Transaction& transaction, Cycle from) {
  transaction.free_from = from;
  transaction.owner = nullptr;
  transaction.hop.request = nullptr;
  transaction.extension.request = nullptr;
  transaction.payload.release();
}

void TransactionPool::free(tlm::tlm_generic_payload* payload) {
  payload->reset();  // extensions that others have added go
  free_.push_back(payload->get_extension<RequestExtension>()->transaction);
}

}  // namespace warpline
