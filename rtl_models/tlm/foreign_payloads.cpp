#include "rtl_models/tlm/foreign_payloads.h"

#include <algorithm>
#include <cstring>

#include "rtl_models/tlm/transaction.h"

namespace warpline {
namespace {

bool enabled(const tlm::tlm_generic_payload& p, unsigned i) {
  return p.get_byte_enable_ptr()[i % p.get_byte_enable_length()] == TLM_BYTE_ENABLED;
}

/// Whether a read or write moves a byte at all.
bool any_enabled(const tlm::tlm_generic_payload& p) {
  const unsigned char* enables = p.get_byte_enable_ptr();
  if (enables == nullptr) return true;
  const unsigned char* end = enables + std::min(p.get_data_length(), p.get_byte_enable_length());
  return std::find(enables, end, TLM_BYTE_ENABLED) != end;
}

}  // namespace

ForeignPayload::ForeignPayload(tlm::tlm_generic_payload& payload)
    : payload_(&payload), offset_(static_cast<unsigned>(payload.get_address() % kLineBytes)) {
  auto* extension = payload.get_extension<RequestExtension>();
  if (extension == nullptr || extension->request == nullptr) return;
  extension_ = extension;
  model_ = extension->request;
  by_extension_ = payload.get_command() == tlm::TLM_IGNORE_COMMAND && model_->command != Command::read &&
                  model_->command != Command::write;
}

tlm::tlm_response_status ForeignPayload::fault(const TakenCommands& taken, const Memories* memories) const {
  const tlm::tlm_generic_payload& p = *payload_;
  if (by_extension_) return taken.take(*model_) ? tlm::TLM_OK_RESPONSE : tlm::TLM_COMMAND_ERROR_RESPONSE;
  if (p.get_command() == tlm::TLM_IGNORE_COMMAND || (p.is_write() && !taken.writes))
    return tlm::TLM_COMMAND_ERROR_RESPONSE;
  const std::uint64_t length = p.get_data_length();
  if (length == 0 || p.get_data_ptr() == nullptr) return tlm::TLM_GENERIC_ERROR_RESPONSE;
  if (p.get_byte_enable_ptr() != nullptr && p.get_byte_enable_length() == 0)
    return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  if (p.get_streaming_width() < length || offset_ + length > kLineBytes) return tlm::TLM_BURST_ERROR_RESPONSE;
  // A read hears of it from the memory; of a write, a cache answers before anybody knows.
  const bool lost =
      p.is_write() && memories != nullptr && !memories->hold(PhysicalAddress{p.get_address()}, length);
  return lost ? tlm::TLM_ADDRESS_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE;
}

bool ForeignPayload::settle(const TakenCommands& taken, const Memories* memories) {
  const tlm::tlm_response_status status = fault(taken, memories);
  if (status == tlm::TLM_OK_RESPONSE && (by_extension_ || any_enabled(*payload_))) return false;
  payload_->set_response_status(status);
  return true;
}

void ForeignPayload::describe(Request& r, RequestPool& pool, bool with_data) {
  const tlm::tlm_generic_payload& p = *payload_;
  r.line = PhysicalAddress{p.get_address() & ~std::uint64_t{kLineBytes - 1}};
  if (model_ == nullptr) r.virtual_line = VirtualAddress{r.line.value};
  if (by_extension_) {
    r.command = model_->command;
    r.maintenance = model_->maintenance;
    r.control = model_->control;
    if (r.command == Command::atomic || r.command == Command::reduce) {
      r.atomics = pool.allocate_atomics();
      *r.atomics = *model_->atomics;
    }
    extension_->accepted = true;
    return;
  }
  r.command = p.is_read() ? Command::read : Command::write;
  const bool moves = with_data && r.command == Command::write;
  if (p.get_byte_enable_ptr() == nullptr) {
    r.sectors = sectors_of(offset_, p.get_data_length());
    if (r.command == Command::read && !r.exact) return;
    r.bytes = {};
    r.bytes.set(offset_, p.get_data_length());
    if (moves) std::memcpy(&r.data[offset_], p.get_data_ptr(), p.get_data_length());
    return;
  }
  r.bytes = {};
  for (unsigned i = 0; i < p.get_data_length(); ++i) {
    if (!enabled(p, i)) continue;
    r.bytes.set(offset_ + i, 1);
    if (moves) r.data[offset_ + i] = p.get_data_ptr()[i];
  }
  r.sectors = r.bytes.sectors();
}

void ForeignPayload::answer(const Request& r, bool with_data) const {
  tlm::tlm_generic_payload& p = *payload_;
  p.set_response_status(response_status(r));
  if (r.command == Command::read && r.status == Status::ok && with_data) {
    if (p.get_byte_enable_ptr() == nullptr) {
      std::memcpy(p.get_data_ptr(), &r.data[offset_], p.get_data_length());
    } else {
      for (unsigned i = 0; i < p.get_data_length(); ++i)
        if (enabled(p, i)) p.get_data_ptr()[i] = r.data[offset_ + i];
    }
  } else if (r.command == Command::atomic) {
    *extension_->request->atomics = *r.atomics;
  }
  if (extension_ != nullptr) extension_->request->status = r.status;
}

Request* ForeignPayloads::make_request(ForeignPayload& payload, bool with_data) {
  const Request* model = payload.model();
  Request* r = model != nullptr ? pool_.allocate_child(*model, this) : pool_.allocate();
  r->maker = this;
  if (model != nullptr) {
    r->no_l1 = model->no_l1;
    r->exact = model->exact;
    if (model->last_use) r->bytes = model->bytes;
  }
  if (model == nullptr) r->id = kForeignIds | ++made_;
  payload.describe(*r, pool_, with_data);
  return r;
}

Request* ForeignPayloads::adopt(tlm::tlm_generic_payload& payload, const TakenCommands& taken,
                                const Memories* memories, bool with_data) {
  ForeignPayload foreign(payload);
  if (foreign.settle(taken, memories)) return nullptr;
  Request* r = make_request(foreign, with_data);
  foreign_.emplace_back(foreign).enter(*r);
  if (payload.has_mm()) payload.acquire();
  return r;
}

void ForeignPayloads::answer(Request& r, bool with_data) {
  const auto f = std::find_if(foreign_.begin(), foreign_.end(), [&r](const Foreign& x) {
    return static_cast<const SocketHop*>(&x) == r.carried;
  });
  f->payload.answer(r, with_data);
  f->leave();
  pool_.release(&r);
  foreign_.erase(f);
}

}  // namespace warpline
